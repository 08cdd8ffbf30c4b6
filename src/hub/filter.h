/*
 * filter.h - which of a server's tools exist for our callers (settings/config.h, struct config_filter).
 * Private to hub/.
 *
 * A tool that is filtered out is in no list and is not called by name. Names are the server's own. The
 * patterns were checked when the configuration was read; one that is not understood here hides rather than
 * shows.
 */
#ifndef HUB_FILTER_H
#define HUB_FILTER_H

#include "base/base.h"
#include "base/str.h"
#include "hub/catalogue.h"
#include "settings/config.h"

/* Excluded never; else everything when there is no allow-list, and what one of its patterns matches when
 * there is. */
bool filter_allows(const struct config_filter *filter, struct str tool);

/* Whether there is any pattern at all. */
bool filter_hides(const struct config_filter *filter);

/* The snapshot without the tools that are hidden: a new reference, to the same one when none is. */
struct catalogue_snapshot *filter_apply(const struct config_filter *filter, struct catalogue_snapshot *all,
					uint64_t seed);

#endif

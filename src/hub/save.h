/*
 * save.h - keeping files in the cache directory, written on the worker pool. Private to hub/.
 *
 * Of one file at most one writing runs: what is to be written meanwhile waits, and only the newest text is
 * written then. A file that cannot be written is an event for the log and nothing else: the cache only saves
 * time.
 */
#ifndef HUB_SAVE_H
#define HUB_SAVE_H

#include "base/base.h"
#include "base/str.h"
#include "hub/hub.h"

/* Takes over text (from buf_take()). The hub has a cache directory. */
void save_file(struct hub *hub, struct str name, struct str text);

/* The path of a file in the cache directory; to be freed. */
char *save_path(const struct hub *hub, struct str name);

#endif

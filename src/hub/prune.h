/*
 * prune.h - removing the catalogues on disk that no server needs any more. Private to hub/.
 *
 * The cache directory is shared by the daemons of all sets of configuration files, so a catalogue that no
 * server of ours has may be another daemon's: it goes when nobody has written it for long, which every daemon
 * does whenever it reads the list anew.
 */
#ifndef HUB_PRUNE_H
#define HUB_PRUNE_H

#include "base/base.h"
#include "base/str.h"
#include "hub/hub.h"

/* The name in the cache directory of the catalogue of a process. */
struct str prune_catalogue_name(struct str process_id, struct arena *arena);

/* Looks for such catalogues on the worker pool, and forgets the eras of those that went. One that runs
 * already will do. */
void prune_begin(struct hub *hub);
/* The hub goes; files may still be removed. */
void prune_cancel(struct hub *hub);

#endif

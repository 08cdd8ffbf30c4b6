/*
 * refresh.h - reading a server's list of tools anew, and keeping it on disk. Private to hub/.
 */
#ifndef HUB_REFRESH_H
#define HUB_REFRESH_H

#include "base/base.h"
#include "hub/hub.h"

/* Reads the tools of `server` through `instance`, or when that is NULL through one that is acquired for it,
 * which may have to wait for its turn: no more than limits.reads_max are acquired at once. At most one
 * refresh of a server runs: while it does, asking again makes it run once more afterwards. */
void refresh_begin(struct hub_server *server, struct instance *instance);
/* Somebody waits for the refresh of `server`, if there is one: its turn comes before those that the hub does
 * by itself, or is now. */
void refresh_hurry(struct hub_server *server, bool now);
/* Begins those whose turn it is, after the limit has changed. */
void refresh_begin_next(struct hub *hub);
/* `instance`, which may be NULL, tells that the tools of `server` have changed. A server that tells so again
 * and again is read once in change_ms. */
void refresh_changed(struct hub_server *server, struct instance *instance);
void refresh_cancel(struct hub_server *server);

/* Takes the snapshot that an earlier life left on disk, if there is one. Blocking, for start-up. */
void refresh_load_cached(struct hub_server *server);

/* What is to be seen of server->all, as the configuration says now. */
void refresh_show(struct hub_server *server);

/* For the others of the room. */
/* `era` -1 forgets. */
void hub_remember_era(struct hub *hub, struct str process_id, int era);
void hub_tell_event(struct hub *hub, enum log_level level, struct str event, struct str server,
		    struct str detail);
void hub_tools_changed(struct hub *hub);
void hub_check_readies(struct hub *hub);
/* Where limits.warm is set: every list is read once, behind what the cache knew, and what could not be read
 * again and again. To be called when a server or a failure has come or gone; between these the hub sleeps. */
void hub_read_unasked(struct hub *hub);
/* After a reload: begins what those who wait need of servers that are new or different. */
void ready_ask_again(struct hub *hub);
/* To be called when a call or a file has ended. */
void hub_check_stopped(struct hub *hub);

#endif

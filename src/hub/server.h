/*
 * server.h - making, moving and removing the servers of a hub. Private to hub/.
 */
#ifndef HUB_SERVER_H
#define HUB_SERVER_H

#include "base/base.h"
#include "hub/hub.h"

/* A server for this entry, on no list and not attached yet; one use, the list's. */
struct hub_server *server_new(struct hub *hub, const struct config_server *config);

/* Points the server at the group of its process definition, as its configuration now says. Its snapshot stays
 * when that is the same as before. */
void server_attach(struct hub_server *server);

/* The same when only hot settings have changed: limits, and so neither its process nor what is known of
 * it. */
void server_adjust(struct hub_server *server);

/* Takes it off its list for good. It goes when the last call on it has ended. */
void server_remove(struct hub_server *server);

#endif

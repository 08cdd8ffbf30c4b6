/*
 * daemon_private.h - what the files of the daemon share: the daemon, and what each of them does for it.
 *
 * daemon.c opens everything from the ground up and releases it from the top down; the others are each about
 * one thing that happens in between. All on the loop thread. Where a parameter is a void *, it is the daemon:
 * other rooms call the function back.
 */
#ifndef DAEMON_DAEMON_PRIVATE_H
#define DAEMON_DAEMON_PRIVATE_H

#include "api/api.h"
#include "artifacts/store.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/log.h"
#include "daemon/config_watch.h"
#include "daemon/daemon.h"
#include "daemon/leftovers.h"
#include "daemon/log_file.h"
#include "daemon/log_stream.h"
#include "daemon/places_watch.h"
#include "hub/hub.h"
#include "io/files.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "settings/places.h"

struct daemon {
	const struct daemon_options *options;
	struct settings *settings;
	struct config *config;
	struct arena arena;
	struct places places;
	struct lock_file lock;
	struct logger logger;
	struct log_file log_file;
	struct log_stream log_stream;
	struct loop *loop;
	struct http_server *server;
	struct artifact_store *artifacts;
	struct hub *hub;
	struct str client_info; /* raw Implementation: who servers are told we are */
	struct hub_listener listener;
	struct api api;
	bool api_ready;
	bool listening;
	uint64_t started_ms; /* loop_wall_ms() */
	struct str token;
	struct config_watch watch;
	struct places_watch places_watch;
	struct leftovers leftovers;
	struct timer tick;
	struct signal_watch terminate, interrupt, hangup;
	enum { DAEMON_SERVES, DAEMON_DRAINS, DAEMON_ENDS, DAEMON_CLOSES } stage;
	struct timer grace; /* of the stage */
	bool hub_stopped;
};

/* -- the log: daemon_log.c ------------------------------------------------------------------------------- */

/* Opens it, as the settings say: the file, and standard error unless the daemon is detached. */
int daemon_open_log(struct daemon *daemon, struct err *err);

/* Takes the level from the settings. */
void daemon_set_log_level(struct daemon *daemon);

/* Of the hub: logs what happens to its servers. */
void daemon_event(struct hub_listener *listener, enum log_level level, struct str event, struct str server,
		  struct str detail);

/* -- what others find it by: daemon_places.c ------------------------------------------------------------- */

/* Listens on the unix socket, and on the TCP address if one is set, whose token is made and written then.
 * Refuses an address beyond loopback that would need no token. */
int daemon_listen(struct daemon *daemon, struct err *err);

/* Writes what the running daemon says of itself, for people and for `mcpx status`, to the info file. */
int daemon_write_info(struct daemon *daemon, struct err *err);

/* From now on, what somebody removes is made anew; a daemon that has lost its lock stops. After
 * daemon_listen(). */
void daemon_watch_places(struct daemon *daemon);

/* At the end. Leaves what is not ours, or may be another's since the lock was lost. */
void daemon_remove_places(const struct daemon *daemon);

/* -- taking other settings and files: daemon_reload.c ---------------------------------------------------- */

/* The limits of the hub, as the settings are now. */
void daemon_limits(const struct daemon *daemon, struct hub_limits *ret_limits);

/* Hot settings have changed: whoever keeps values of them takes the new ones. */
void daemon_adjust(void *context);

/* Reads the configuration files anew. Files that are wrong change nothing. ERR_BUSY once the daemon stops.
 * Counts as hub_reload(). */
int daemon_reload(void *context, unsigned *ret_added, unsigned *ret_removed, struct err *err);

/* From now on, files that change are read without being asked to, and the log says so. */
void daemon_watch_config(struct daemon *daemon);

/* SIGHUP: reloads, and follows a log file that was moved away. */
void daemon_hung_up(struct signal_watch *watch, int number);

/* -- the orderly stop: daemon_stop.c --------------------------------------------------------------------- */

/*
 * It has three stages. While it drains, nothing new is taken, and what runs may end for http.shutdownGrace.
 * Then what is left is ended, which is an answer for everybody who waits: servers stop, and their calls say
 * so; scripts are stopped, and their frames tell it; requests that are still being sent are refused. When
 * nobody is connected any more, or reads too slowly, the store is closed, and with it the loop ends.
 */

/* Begins it, and logs why; returns at once. Does nothing when it has begun. */
void daemon_stop(void *context, const char *why);

/* The last script has ended, or the last stdio channel has closed. */
void daemon_emptied(void *context);

/* SIGTERM, SIGINT: begins the stop; the second ends the grace, the third cuts off who has not read its
 * answer. */
void daemon_terminated(struct signal_watch *watch, int number);

#endif

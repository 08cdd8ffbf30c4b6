/*
 * places.h - where this user's daemon keeps things: directories, socket, lock, log.
 *
 * A daemon is identified by the configuration files that it serves, nearest first, and not by their contents,
 * so that editing one does not lose the daemon. Client and daemon compute the same places from the same
 * settings. The names of a daemon's own files carry its key, so that daemons of several projects live side by
 * side in one state directory.
 */
#ifndef SETTINGS_PLACES_H
#define SETTINGS_PLACES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/config.h"
#include "settings/environment.h"
#include "settings/settings.h"

enum { DAEMON_KEY_BYTES = 8 }; /* of a key, as twice as many digits */

/* All absolute and followed by a NUL. */
struct places {
	struct str key;	       /* 16 hexadecimal digits: the configuration files */
	struct str state;      /* directory, 0700: databases, artifacts */
	struct str cache;      /* directory, 0700: schemas, generated clients; may be deleted at any time */
	struct str socket;     /* <state>/daemon-<key>.sock; when that is too long, one under $TMPDIR */
	struct str socket_dir; /* 0700 */
	struct str lock;       /* <state>/daemon-<key>.lock: held by the running daemon */
	struct str info;       /* <state>/daemon-<key>.json: what the running daemon says about itself */
	struct str token;      /* <state>/daemon-<key>.token: the bearer token of its TCP listener, 0600 */
	struct str log_dir;    /* logging.dir, or the state directory */
	struct str log;	       /* <log_dir>/daemon-<key>.log */
};

/* Computes them; touches nothing. ERR_INVALID when neither a setting nor $HOME says where; a $HOME that is
 * not absolute counts as none. */
int places_find(struct places *places, const struct settings *set, const struct config *config,
		const struct environment *environment, struct arena *arena, struct err *err);

/* The lock of a daemon with another key in the same state directory. */
struct str places_lock_of(const struct places *places, struct str key, struct arena *arena);

/* Creates the directories with mode 0700, the log's only where none is. A state or cache directory of ours
 * that is open to others is closed; one that belongs to somebody else is ERR_DENIED. */
int places_prepare(const struct places *places, struct err *err);

/* Whether the socket, if there is one, can only be our own daemon's. In the state directory it is; under
 * $TMPDIR anybody may have made the directory before us: ERR_DENIED unless it is ours and closed to
 * others. */
int places_check_socket(const struct places *places, struct err *err);

/* A daemon whose socket is under its own $TMPDIR listens elsewhere for who has another. Takes the path that
 * its info file says; false, and nothing is changed, when that is no other. */
bool places_follow_daemon(struct places *places, struct arena *arena);

#endif

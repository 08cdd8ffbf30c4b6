/*
 * places_watch.h - noticing that what others find the daemon by is taken away.
 *
 * Cleaners of temporary directories, and people, remove sockets and whole state directories under a running
 * daemon, which nobody would reach any more. The kernel tells when something happens in those directories; a
 * look now and then finds what it did not tell.
 */
#ifndef DAEMON_PLACES_WATCH_H
#define DAEMON_PLACES_WATCH_H

#include "base/base.h"
#include "io/file_watch.h"
#include "io/files.h"
#include "io/loop.h"
#include "settings/places.h"
#include "settings/settings.h"

#include <sys/types.h>

struct places_watch_events {
	/* The lock's name leads to no file or another's: nothing keeps a second daemon from starting. */
	void (*lock_lost)(void *context);
	/* The socket's name does not lead to our socket, or the info file is missing. */
	void (*files_lost)(void *context);
};

struct places_watch {
	struct loop *loop; /* NULL while it is not started */
	const struct settings *settings;
	const struct places *places;
	const struct lock_file *lock;
	const struct places_watch_events *events;
	void *context;
	struct file_watch state, sockets; /* directories */
	struct timer settle; /* whoever removes one of the files may be about to remove them all */
	dev_t socket_device;
	ino_t socket_inode;
};

/* The socket is there. What is given must outlive the watch. */
void places_watch_start(struct places_watch *watch, struct loop *loop, const struct settings *settings,
			const struct places *places, const struct lock_file *lock,
			const struct places_watch_events *events, void *context);
/* Harmless on one that is not started. */
void places_watch_stop(struct places_watch *watch);

/* There is another socket of ours, maybe in a directory that was made anew. */
void places_watch_follow(struct places_watch *watch);

/* Looks, and tells of the first of the events that has come about. */
void places_watch_look(struct places_watch *watch);

/* Whether the socket's name leads to the socket that was there at the start, or was followed last. Also once
 * the watch has been stopped. */
bool places_watch_socket_is_ours(const struct places_watch *watch);

#endif

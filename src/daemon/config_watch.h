/*
 * config_watch.h - noticing that configuration files have changed.
 *
 * The directories of the files, and those of the places where none was, are watched. Something that happens
 * there to a name on the way to such a file is looked into after daemon.watchDelay, so that an edit of
 * several steps is one reload, or before the next request, so that nobody who asks after an edit is answered
 * from before it. What watching cannot see (a network file system, a directory that was replaced, more
 * directories than are watched) the owner's periodic look finds.
 *
 * A change that cannot be taken leaves everything as it was, and is told once however often it is looked at.
 * A file in a place where none was belongs to another set of files, and so to another daemon
 * (settings/places.h): that is told once, too.
 *
 * Loop thread.
 */
#ifndef DAEMON_CONFIG_WATCH_H
#define DAEMON_CONFIG_WATCH_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"
#include "settings/config.h"
#include "settings/settings.h"

struct config_watch_events {
	/* Reads the files again. On success config_watch_follow() was called with what was read. */
	int (*reload)(void *context, struct err *err);
	/* They cannot be taken as they are. */
	void (*refused)(void *context, const struct err *err);
	/* A file that commands of now read, and this daemon does not. */
	void (*appeared)(void *context, struct str path);
};

struct watched_directory;

struct config_watch {
	struct loop *loop; /* NULL: not started, or stopped */
	const struct settings *settings;
	const struct config *config;
	const struct config_watch_events *events;
	void *context;
	struct watched_directory *directories;
	size_t count;
	struct timer settle;
	bool dirty;	/* something happened that was not looked into */
	struct err err; /* why the files as they are now are not in force; code 0 when they are */
	char *appeared; /* the last file that was told of; NULL: none */
};

/* `events` and `settings` must outlive the watch. */
void config_watch_start(struct config_watch *watch, struct loop *loop, const struct settings *settings,
			const struct config *config, const struct config_watch_events *events, void *context);
void config_watch_stop(struct config_watch *watch);

/* Another configuration is in force, which must live until the next one is: its directories are watched from
 * now on. Does nothing once the watch has been stopped. */
void config_watch_follow(struct config_watch *watch, const struct config *config);

/* Looks at the files, and reloads them when they differ. Does nothing while daemon.watchConfig is off. */
void config_watch_look(struct config_watch *watch);

/* Before a request is answered; costs nothing while nothing happened. */
void config_watch_before_request(struct config_watch *watch);

#endif

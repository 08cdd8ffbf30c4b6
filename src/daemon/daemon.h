/*
 * daemon.h - the process that serves: from the settings to a running hub, through reloads, to an orderly end.
 *
 * daemon_run() takes the daemon's lock, opens its log, its sockets, the artifact store and the hub, and runs
 * the loop until somebody asks it to stop: a signal, the operation shutdown, or having been idle for
 * daemon.idleExit. Then it stops accepting (except from scripts that run), lets what runs end for
 * http.shutdownGrace, ends every server and script, which answers whoever still waits, and leaves no file
 * behind but its databases, caches and log. A second signal ends the grace, a third cuts off who has not read
 * its answer.
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/config.h"
#include "settings/environment.h"
#include "settings/settings.h"

/* What mcpx-daemon exits with when another daemon for the same files runs already (sysexits' "unavailable"):
 * whoever started this one may use that. 75 is kept for a command that waits for its user's answer. */
enum { DAEMON_EXIT_BUSY = 69 };

struct daemon_options {
	struct settings *settings; /* loaded; stays the caller's */
	struct config *config;	   /* taken over */
	struct environment environment;
	struct str cwd;
	const char *version;
	const char *supervisor; /* path of the supervisor program */
	bool detached;		/* nobody watches standard error: log to the file alone */
	void (*ready)(void);	/* NULL, or called once when requests are answered */
};

/* Runs until the end. 0, or why it could not start: ERR_BUSY when a daemon for the same configuration files
 * runs already. */
int daemon_run(const struct daemon_options *options, struct err *err);

#endif

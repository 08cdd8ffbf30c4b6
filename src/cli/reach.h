/*
 * reach.h - finding the daemon, and starting it on first use.
 *
 * The daemon of a set of configuration files listens on one unix socket, whose path client and daemon compute
 * alike (settings/places.h). When nobody listens there, this program is started once more as `daemon
 * --detached` in a session of its own, and the socket is tried whenever it says that it is ready, and every
 * autostart.pollInterval. Of many that are started at once the kernel-held lock lets one live; the others end
 * with DAEMON_EXIT_BUSY (daemon/daemon.h), and their starters wait for the one, or start another when that
 * was just ending.
 */
#ifndef CLI_REACH_H
#define CLI_REACH_H

#include "base/base.h"
#include "base/err.h"

struct cli;

/*
 * Makes cli->daemon a fresh connection. ERR_NOT_FOUND: none is running, and the command, or daemon.autostart,
 * says that none is to be started; one that is starting is waited for, for autostart.pingTimeout, and then
 * ERR_BUSY. ERR_TIMEOUT and ERR_CLOSED: it was started and did not come up; the
 * message has the end of its log.
 */
int daemon_reach(struct cli *cli, struct err *err);

/* The same without ever starting one. ERR_BUSY: one holds the lock, and nobody listens: it is just starting
 * or ending, or its socket was removed. */
int daemon_reach_running(struct cli *cli, struct err *err);

/* Whether daemon_reach() may start one. */
bool daemon_may_be_started(const struct cli *cli);

/* What an orderly end takes at the most. */
uint64_t daemon_end_patience(const struct cli *cli);

/* Waits for so long until the daemon that runs as `process` has ended: its answer comes before that, since it
 * first lets go of its servers. ERR_TIMEOUT: daemon_not_ended(). Closes the connection to it. */
int daemon_wait_end(struct cli *cli, pid_t process, struct err *err);

/* Says that it has not. ERR_TIMEOUT. */
int daemon_not_ended(const struct cli *cli, pid_t process, struct err *err);

/* Whether the daemon that holds the lock has lost its socket: the info file comes after the socket, so that
 * one with it and without that is not just starting. */
bool daemon_lost_socket(const struct cli *cli);

/* Says that `holder` holds the lock and does not answer. ERR_BUSY. */
int daemon_unreachable(const struct cli *cli, pid_t holder, struct err *err);

/* The process at the other end of the connection, as the kernel says; 0 when it does not. */
int daemon_process(const struct cli *cli);

#endif

/*
 * autostart.h - starting the daemon in the background and waiting until it answers.
 */
#ifndef CLI_AUTOSTART_H
#define CLI_AUTOSTART_H

#include "base/base.h"
#include "base/err.h"

struct cli;

/* Starts it and calls `connect` until that succeeds. ERR_TIMEOUT after autostart.connectTimeout, ERR_CLOSED
 * when it ended before. */
int autostart(struct cli *cli, int (*connect)(struct cli *cli, struct err *err), struct err *err);

#endif

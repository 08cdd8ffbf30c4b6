/*
 * run_limits.h - the bounds of runs, from settings: the same for every program that runs scripts.
 *
 * Durations are in milliseconds, sizes in bytes, as struct exec_limits (run.h) has them:
 *
 *	exec.timeout, exec.termGrace, exec.killGrace, exec.probeTimeout, exec.keep	times
 *	exec.outputMax, exec.frameMax, exec.stderrKeep					sizes
 *	exec.keepFiles, json.maxDepth							counts
 *
 * The registry has checked each value, so there is nothing that can fail. A caller that knows better changes
 * what it got: `mcpx exec` takes output_max away where it keeps nothing, a request may bring a time-out of
 * its own.
 */
#ifndef EXEC_RUN_LIMITS_H
#define EXEC_RUN_LIMITS_H

#include "base/base.h"
#include "exec/run.h"
#include "settings/settings.h"

/* Sets all of *ret_limits. The settings may change or go afterwards: numbers are copied. */
void exec_limits_from_settings(const struct settings *set, struct exec_limits *ret_limits);

#endif

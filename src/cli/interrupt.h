/*
 * interrupt.h - the interrupt key while a command waits for the daemon.
 *
 * Ending is all there is to do: the connection closes with the process, and the daemon cancels what was asked
 * over it. The progress line is wiped first, so that the prompt finds a clean one, and the exit status is 128
 * and the signal's number, as of a script that is interrupted.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/base.h"

/* From now on SIGINT and SIGTERM write `wipe` (a constant, or NULL) to standard error and end the process. */
void interrupt_ends(const char *wipe);

#endif

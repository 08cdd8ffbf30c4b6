/*
 * show_log.h - a log record of a script, one line in the form that logging.format asks for.
 */
#ifndef CLI_SHOW_LOG_H
#define CLI_SHOW_LOG_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "exec/frame.h"

/* Appends the line with its newline. `frame` is an EXEC_FRAME_LOG. */
void show_log(const struct cli *cli, const struct exec_frame *frame, struct buf *out);

#endif

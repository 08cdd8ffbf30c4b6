/*
 * help.h - the help of the command line, written from the table of commands and the table of settings.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "cli/cli.h"

/* Help on a command ("artifact put"), on a family ("artifact"), or, for empty words, on everything. Returns the exit status. */
int help_show(struct cli *cli, struct str words);

/* "mcpx call [flags] TOOL [ARGS...]" */
void help_usage(const struct command *command, struct buf *out);

/* How an input is spelled on the command line: "--timeout-ms N", "TOOL". */
void help_spelling(const struct operation_input *input, struct buf *out);

#endif

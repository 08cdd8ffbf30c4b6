/*
 * help.h - the help of the command line, written from the table of commands and the table of settings.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "cli/cli.h"
#include "settings/registry.h"

/* Help on a command ("artifact put"), on a family ("artifact"), or, for empty words, on everything. Returns
 * the exit status. */
int help_show(struct cli *cli, struct str words);

/* "mcpx call [flags] TOOL [ARGUMENTS...]" */
void help_usage(const struct command *command, struct buf *out);

/* How an input is spelled on the command line: "--timeout-ms N", "TOOL". */
void help_spelling(const struct operation_input *input, struct buf *out);

/* A title on a line of its own, and below it "  name                    what it is": the description on the
 * next line when the name is long, broken to fit. Both are one line as they come. */
void help_heading(const struct cli *cli, struct buf *out, struct str title);
void help_entry(const struct cli *cli, struct buf *out, struct str name, struct str description);

/* What stands for a setting's value: "DURATION"; nothing for one that is true or false. */
struct str help_setting_value(const struct setting_declaration *setting);

#endif

/*
 * command.h - the table of commands: what can be typed after `mcpx`.
 *
 * A command is a row of the operation table (api/operation.h), or one of the few that ask the daemon for no
 * operation: run, serve, daemon and so on. Both kinds have the same shape, so parsing, help, completion and
 * the manual know no difference. An operation that is added to operations.json is a command at once; it needs
 * code here only if its answer is to be shown in a way of its own.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "api/operation.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

struct cli;

/* Runs a command whose arguments were parsed. Returns the exit status; has said on standard error what
 * failed. */
typedef int command_run(struct cli *cli);

struct command {
	struct str words; /* "artifact put" */
	struct str group; /* its heading in the help */
	struct str summary, detail;
	const struct operation_input *inputs;
	size_t input_count;
	const struct operation *operation; /* NULL: none of the daemon's */
	command_run *run;
	/* The rest of the line from the first positional argument on belongs to somebody else: a script. */
	bool passes_rest;
	/* Needs neither settings nor configuration, so that it also works when those are broken. */
	bool bare;
	bool starts_no_daemon; /* asks a running daemon, and never starts one */
	bool needs_files;      /* is about the configuration files, so that one which is broken ends it */
};

/* Every command, in the order of the help. */
size_t command_count(void);
const struct command *command_at(size_t at);

/* The command of these words ("artifact put", or another name of it), or NULL. */
const struct command *command_find(struct str words);

/* Whether `word` is the first of several words of a command: "artifact". */
bool command_is_family(struct str word);
/* ERR_INVALID: there is no WHAT of that name; with the command that comes nearest. `next` is the word after
 * it, if any: "server list" is meant for "servers list" rather than for "serve". */
int command_unknown(struct str words, const char *next, const char *what, struct err *err);

/* What a group is called in headings: "tools" gives "Tools". */
struct command_group {
	struct str name, title;
};
extern const struct command_group command_groups[];
extern const size_t command_group_count;

/* "timeoutMs" as it is spelled in a flag: "timeout-ms". At most COMMAND_FLAG_MAX bytes, which every name of
 * the table is. */
enum { COMMAND_FLAG_MAX = 40 };
struct str command_flag_text(char storage[COMMAND_FLAG_MAX], struct str name);

/* The input of `command` that the flag (without dashes, on the command line's side of the table) is for, or
 * NULL. */
const struct operation_input *command_find_flag(const struct command *command, struct str flag);

/* The `at`-th positional argument of `command`, or NULL; and its rest argument, or NULL. */
const struct operation_input *command_positional(const struct command *command, size_t at);
const struct operation_input *command_rest(const struct command *command);

#endif

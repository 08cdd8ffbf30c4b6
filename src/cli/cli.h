/*
 * cli.h - one run of the command line: from the words typed to an exit status.
 *
 * The command line starts in a millisecond, so it links no event loop where it can do without, no database
 * and no cryptography, reads nothing that its command does not need, and does everything on one thread with
 * blocking calls that have deadlines. It lives for one command: what it allocates from `arena` is freed at
 * the end.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "io/http_client.h"
#include "settings/config.h"
#include "settings/environment.h"
#include "settings/places.h"
#include "settings/settings.h"

enum cli_status {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_TIMED_OUT = 124, /* as timeout(1) says it */
};

struct cli {
	const char *version;
	struct environment environment;
	struct str cwd; /* absolute */
	struct arena arena;
	struct arguments arguments;
	struct settings *settings;
	struct config *config;	    /* NULL for a bare command */
	struct places places;	    /* empty for a bare command */
	struct terminal out, error; /* standard output and standard error */
	struct http_client daemon;  /* the connection, once daemon_reach() made it */
	uint64_t patience_ms;	    /* how long the command means to wait for an answer; 0: it does not say */
};

/* Runs the command line `argv` and returns its exit status. */
int cli_main(int argc, char **argv, const char *version);

/* Whether the command prints one JSON document. */
bool cli_wants_json(const struct cli *cli);

/* Says on standard error what failed, as "mcpx: message", and with --json prints {"error": message}; returns
 * the exit status for it. */
int cli_fail(struct cli *cli, const struct err *err);
/* The same, with a document that says more than the message for --json; empty: there is none. */
int cli_fail_with(struct cli *cli, const struct err *err, struct str document);
/* The same for a mistake in how the command was typed: CLI_USAGE, with a word on where help is. */
int cli_fail_usage(struct cli *cli, const struct err *err);
/* "mcpx: message" on standard error, and nothing else. */
void cli_say(struct cli *cli, struct str message);
/* The same for a short one, at most ERR_MESSAGE_MAX bytes. */
void cli_note(struct cli *cli, const char *format, ...) _printf_(2, 3);

/* The operation of another name than the command's own, for commands that ask more than one thing. */
#define CLI_OPERATION(id) (&operations[OPERATION_##id])

#endif

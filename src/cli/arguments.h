/*
 * arguments.h - the words typed after `mcpx`, taken apart by the table of commands and the table of settings.
 *
 *	mcpx [flags of settings] COMMAND [flags of the command or of settings] [positional arguments]
 *
 * Flags stand anywhere, in the forms --flag value, --flag=value, --flag and --no-flag for yes and no, -f
 * value; "--" ends them. A first word that is no command but a script, by its path or its name, runs that
 * script. Errors name the word and what comes nearest to it.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/command.h"
#include "settings/environment.h"
#include "settings/settings.h"

struct argument {
	const struct operation_input *input; /* NULL: not given */
	struct str text;		     /* followed by a NUL; "true" or "false" for a boolean */
};

/* A flag of a setting, for handing it on to a daemon. */
struct setting_flag {
	enum setting setting;
	struct str typed; /* "-n" */
	const char *text; /* "--search-limit=3": short spellings bind on some commands only */
};

struct arguments {
	const struct command *command; /* NULL: none was given */
	struct str family;	       /* "artifact", when that was all; then `command` is NULL */
	struct argument *values;       /* one for each of the command's inputs */
	const char *const *rest;       /* what belongs to its rest argument, and to a script */
	size_t rest_count;
	bool help, version;
	struct setting_flag *setting_flags;
	size_t setting_flag_count;
};

/* Where scripts are looked for, and what the arguments are put into. */
struct argument_context {
	struct settings *settings;
	const struct environment *environment;
	struct str cwd;
	struct arena *arena;
};

/* argv[0] is the program. Strings of the result are those of argv or the arena's. ERR_INVALID, or what
 * script_missing() says of a first word that is a path. */
int arguments_parse(struct arguments *arguments, int argc, char **argv,
		    const struct argument_context *context, struct err *err);

/* Whether everything that the command needs was given. ERR_INVALID names what is missing. */
int arguments_check(const struct arguments *arguments, struct err *err);

/* The text of the input `name`; .p NULL when it was not given. Asking for an input that the command does not
 * have is a BUG. */
struct str argument_text(const struct arguments *arguments, struct str name);
bool argument_bool(const struct arguments *arguments, struct str name);

/* Whether a daemon that this command starts, or becomes, must be given the flag too. */
bool arguments_hand_on(const struct arguments *arguments, const struct setting_flag *flag);

/* The first flag, as typed, of a setting that acts on the daemon alone, and so has no effect on one that runs
 * already; empty: none. */
struct str arguments_daemon_flag(const struct arguments *arguments);

/* The words of the rest argument with blanks between them. */
struct str arguments_joined(const struct arguments *arguments, struct arena *arena);

#endif

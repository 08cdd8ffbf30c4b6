/*
 * settings.h - what every number is: the typed value of each setting, and where it came from.
 *
 * A setting is declared once, in settings.json; the build makes `enum setting` from it
 * (SETTING_POOL_CALL_TIMEOUT for pool.callTimeout), the declarations of registry.h, the configuration file's
 * JSON Schema and docs/settings.md. So adding one is one edit, and reading one is settings_duration(set,
 * SETTING_POOL_CALL_TIMEOUT).
 *
 * A value can come from six layers, lowest first: the default, configuration files (the nearest highest), the
 * environment, flags, a change at run time, and the one call that asks for it. A struct settings keeps all of
 * them, so that it can tell what displaced what. The layers may be added in any order.
 *
 * Only this room reads the environment and configuration files; every other room is handed values. A program
 * begins with:
 *
 *	set = settings_new();
 *	... settings_add_flag() for each argument that is a setting's flag ...
 *	settings_load(set, &config, environment, cwd, &err);
 *
 * Accessors never fail: every value was checked when it was added. Asking for the wrong kind is a BUG. Not
 * thread-safe, but a set that nobody changes may be read from any thread. A string or list that an accessor
 * returns is valid until the set is next changed, so a room that keeps one copies it.
 */
#ifndef SETTINGS_SETTINGS_H
#define SETTINGS_SETTINGS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/environment.h"
#include "settings/setting_names.h"

struct config;
struct settings;

enum setting_source {
	SETTING_FROM_DEFAULT,
	SETTING_FROM_FILE,
	SETTING_FROM_ENV,
	SETTING_FROM_FLAG,
	SETTING_FROM_RUNTIME,
	SETTING_FROM_CALL
};

/* A list of strings. An element of a `paths` setting whose .p is NULL is the null of the configuration
 * file. */
struct setting_items {
	const struct str *items;
	size_t count;
};

/* A set in which everything has its default. */
struct settings *settings_new(void);
void settings_free(struct settings **set);

/* -- reading --------------------------------------------------------------------------------------------- */

bool settings_bool(const struct settings *set, enum setting setting);
int64_t settings_int(const struct settings *set, enum setting setting);
uint64_t settings_duration(const struct settings *set, enum setting setting); /* milliseconds */
uint64_t settings_bytes(const struct settings *set, enum setting setting);
/* An enum's value as CHOICE_EXEC_OUTPUT_TEXT and the like; settings_string() gives its word. */
unsigned settings_choice(const struct settings *set, enum setting setting);
/* The text of a string or an enum; followed by a NUL. */
struct str settings_string(const struct settings *set, enum setting setting);
/* The elements of a list or of paths. */
struct setting_items settings_items(const struct settings *set, enum setting setting);

enum setting_source settings_source(const struct settings *set, enum setting setting);

/* -- layers ---------------------------------------------------------------------------------------------- */

/*
 * One argument of a command line, with the one that follows it (NULL at the end): "--pool-max=3",
 * "--pool-max" "3", "--json", "--json=false", "--no-json", "-n" "5". 1 when it was a setting's flag that
 * binds on `command` (empty: before the command); *ret_used says how many arguments that took. 0 when it is
 * none. Negative when the value is wrong, missing, or when another spelling of the same flag came before with
 * another value. A repeated flag replaces the earlier one.
 */
int settings_add_flag(struct settings *set, struct str command, const char *argument, const char *next,
		      unsigned *ret_used, struct err *err);

/* Every MCPX_ variable that is a setting's. An empty value is the same as none. Two spellings of one setting
 * with two values are an error. */
int settings_add_environment(struct settings *set, const struct environment *environment, struct err *err);

/* Finds the next variable that is nobody's and looks like a setting's, from entry *at on, which it moves: a
 * slip of the pen, which has no effect and says nothing. *ret_meant is the setting's name for it. Other names
 * beginning with MCPX_ belong to scripts and sessions. False when there is no other. */
bool settings_next_misspelt(const struct environment *environment, size_t *at, struct str *ret_name,
			    struct str *ret_meant);

/* What the configuration files say; replaces what an earlier call added. When the daemon reloads (`running`),
 * a setting that is not hot keeps its value until a restart, and its record says what it will be then. */
int settings_add_config(struct settings *set, const struct config *config, bool running, struct err *err);

/* The environment, then the configuration files that it and the flags lead to (config.h), then what those
 * say. */
int settings_load(struct settings *set, struct config **ret_config, const struct environment *environment,
		  struct str cwd, struct err *err);

/* The same to find a daemon that runs already, by files of which one may be such that settings_load() fails
 * on it: that one counts as empty. No daemon may be started with the result. */
int settings_load_lenient(struct settings *set, struct config **ret_config,
			  const struct environment *environment, struct str cwd, struct err *err);

/* -- changes at run time --------------------------------------------------------------------------------- */

/* What came of a change: in force now, or why not. */
struct setting_change {
	bool applied;
	bool restart_required;
	const char *note; /* NULL, or a sentence for the user */
};

/* Overrides one setting in this process. A setting that is not hot, or that another process acts on, is left
 * as it is and *ret_change says so. ERR_INVALID: the value is wrong. */
int settings_set_runtime(struct settings *set, enum setting setting, struct str value,
			 struct setting_change *ret_change, struct err *err);

/* Takes the override back: true when there was one. */
bool settings_unset_runtime(struct settings *set, enum setting setting);

/* -- one call -------------------------------------------------------------------------------------------- */

/*
 * The X-Mcpx-Settings header: a JSON object from path to text. A client sends the call-scoped settings that
 * its own environment and flags decide (files and defaults the daemon reads itself); nothing is appended when
 * there are none.
 */
int settings_write_header(const struct settings *set, struct buf *out);

/*
 * The set for one request: `base` under what the header asks for. Only call-scoped settings are honoured,
 * others are skipped. It comes from the arena and needs `base` to live as long. Gives `base` itself for an
 * empty header, and for a malformed one, with ERR_INVALID, for the caller to log and go on.
 */
int settings_for_call(const struct settings **ret_set, const struct settings *base, struct str header,
		      struct arena *arena, struct err *err);

#endif

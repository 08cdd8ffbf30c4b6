/*
 * config.h - configuration files: which are read, what they say together, and the servers in them.
 *
 * Files are JSON with comments. They are searched from the working directory upwards and then in the user's
 * and the system's places (docs/configuration.md has the list), or exactly one is named. A nearer file wins:
 * per server whole entries, per setting and `pool` field the value. A file that cannot be read as JSON is an
 * error with line and column. A mistake within one server's entry disables only that server: `error` then
 * says what is wrong and where.
 *
 * A struct config is one block of memory, unchanged once loaded; a reload gives a new one. The struct may be
 * read from any thread.
 */
#ifndef SETTINGS_CONFIG_H
#define SETTINGS_CONFIG_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "json/writer.h"
#include "settings/environment.h"
#include "settings/settings.h"

enum config_transport { CONFIG_STDIO, CONFIG_HTTP, CONFIG_SSE };

/* How a server is reached. Servers with equal processes (and equal limits) may share one. Strings are
 * followed by a NUL. */
struct config_process {
	enum config_transport transport;
	struct str command; /* looked up in the PATH of its environment unless it has a slash */
	struct setting_items args;
	const struct variable *env; /* laid over our own environment */
	size_t env_count;
	struct str cwd; /* absolute: the entry's, or the directory that its file speaks for */
	struct str url; /* remote servers only */
	const struct variable *headers;
	size_t header_count;
};

/* Which of a server's tools are offered: patterns as written (exact name or glob). */
struct config_filter {
	struct setting_items tools; /* the server's own, else the pool's; none: no allow-list */
	struct setting_items extra; /* the pool's and the server's: added to the allow-list, or being it */
	/* the pool's and the server's, and what lacks a precondition: beats both */
	struct setting_items excluded;
};

struct config_server {
	struct str name;
	struct str namespace;	 /* an identifier, unique among servers that are on */
	struct str file;	 /* that defines it */
	unsigned line, column;	 /* of its entry there */
	const struct err *error; /* NULL, or why it cannot be used */
	bool disabled;
	struct str alias_of; /* the server whose process it uses, or empty */
	struct config_process process;
	int protocol;		      /* a CHOICE_UPSTREAM_PROTOCOL_ constant, or -1: the setting decides */
	struct str description;	      /* for listings */
	struct str prelude;	      /* put in front of its generated types */
	struct setting_items secrets; /* names of the variables that it needs */
	struct config_filter filter;
	const struct config_block *block; /* private: what its mcpx block says */
};

/* A key that has no effect, for doctor. */
struct config_ignored_key {
	struct str file, key; /* the key with its path: mcpServers.files.alwaysAllow */
	unsigned line, column;
	bool unclaimed; /* misspelled, or another program's; else ours, and this version does not act on it */
};

/* One place that was looked at, nearest first. */
struct config_source {
	struct str path;     /* as found */
	struct str real;     /* with symbolic links resolved; empty when it does not exist */
	struct str named_by; /* the file, flag or variable that names it; empty for a default place */
	struct str note;     /* empty, or why something in it has no effect */
	bool loaded;
	bool seen; /* not loaded, and there: read already under another name, or somebody else's */
};

struct config {
	const struct config_server *servers; /* by file, nearest first, then in the file's order */
	size_t server_count;
	const struct config_source *sources;
	size_t source_count;
	const struct config_ignored_key *ignored;
	size_t ignored_count;
	struct config_contents *contents; /* private */
};

/*
 * Reads everything. `set` has the flags and the environment: paths.configFile, paths.config. `cwd` is
 * absolute. Errors carry file, line and column in the message. The environment is what ${NAME} is looked up
 * in.
 */
int config_load(struct config **ret_config, const struct settings *set, const struct environment *environment,
		struct str cwd, struct err *err);

/* The same for who only looks for the daemon of these files, which is known by their paths. One that cannot
 * be read or taken counts as empty; where it had a paths.config, what the other files say is the list. */
int config_load_lenient(struct config **ret_config, const struct settings *set,
			const struct environment *environment, struct str cwd, struct err *err);

/* Reads the files of `old` again, in the same order; one that vanished counts as empty. `old` stays as it
 * is. */
int config_reload(struct config **ret_config, const struct config *old, const struct settings *set,
		  const struct environment *environment, struct err *err);

/* Whether a file that was loaded is gone: for ever, or because an editor is just about to put the next one
 * into its place. */
bool config_lacks_file(const struct config *config);

/* A file in a place of the search where none was when the configuration was loaded. It does not belong to it:
 * whoever searches now finds another set of files. NULL when there is none. */
const struct config_source *config_appeared(const struct config *config);

void config_free(struct config **config);

/* The path of the nearest file that was loaded; empty when there is none. */
struct str config_nearest_file(const struct config *config);

/* Whether a file's contents differ from what was loaded. Looks at sizes and times first, reads only what
 * those say may have changed. */
bool config_changed(const struct config *config, const struct settings *set);

/* Of the texts of all files that are loaded, in order: another one when a text is another. No secret. */
uint64_t config_hash(const struct config *config);

/* The server of this name or namespace, or NULL. Also finds servers that are disabled or in error. */
const struct config_server *config_find(const struct config *config, struct str name);

/* What the pool needs to know of one server: its own `mcpx` block over the pool settings. Ask at each use:
 * pool settings are hot. */
struct config_limits {
	unsigned scope;	  /* CHOICE_POOL_SCOPE_ */
	unsigned sharing; /* CHOICE_POOL_SHARING_ */
	int64_t max, min; /* max is 1 for global scope */
	uint64_t idle_ms, call_ms, start_ms;
};
void config_server_limits(const struct config_server *server, const struct settings *set,
			  struct config_limits *ret_limits);

/* {name, namespace, transport, command, args, envKeys, url, headerKeys, sharing, scope, max, disabled, from,
 * error}: no values of variables or headers. */
void config_write_server(const struct config_server *server, const struct settings *set,
			 struct json_writer *w);

#endif

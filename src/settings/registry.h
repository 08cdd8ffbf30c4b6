/*
 * registry.h - the declarations of all settings, as settings.json has them.
 *
 * For those who show, complete or document settings; who only wants a value needs settings.h. Constant data;
 * any thread.
 */
#ifndef SETTINGS_REGISTRY_H
#define SETTINGS_REGISTRY_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/setting_names.h"

enum setting_kind {
	SETTING_KIND_BOOL,
	SETTING_KIND_INT,
	SETTING_KIND_DURATION, /* "1m30s"; milliseconds within */
	SETTING_KIND_BYTES,    /* "64KiB" */
	SETTING_KIND_ENUM,
	SETTING_KIND_LIST,  /* comma-separated as text, an array in a file */
	SETTING_KIND_PATHS, /* a list that may hold null */
	SETTING_KIND_STRING
};

/* Which process acts on it. */
enum setting_scope { SETTING_SCOPE_DAEMON, SETTING_SCOPE_CLIENT, SETTING_SCOPE_CALL, SETTING_SCOPE_PLUGIN };

/* What a text must be beyond its kind. */
enum setting_form {
	SETTING_FORM_ANY,
	SETTING_FORM_VARIABLES, /* each element is NAME=VALUE */
	SETTING_FORM_URL_PATH	/* begins with "/", and is no more than a path */
};

struct setting_words {
	const struct str *words;
	size_t count;
};

struct setting_declaration {
	struct str path;	  /* pool.callTimeout */
	struct str text;	  /* what it decides; begins in lower case, has no full stop */
	struct str detail;	  /* whole sentences, or empty */
	struct str default_value; /* as one would write it */
	enum setting_kind kind;
	enum setting_scope scope;
	enum setting_form form;
	struct str file_key; /* a top-level key of a file that says the same; or empty */
	bool hot;	     /* in force at once, for all that begins from then on */
	bool plumbing;	     /* works, and is left out of ordinary listings */
	bool repeats;	     /* of a list: each flag adds one element, which may hold commas */
	bool not_in_file;    /* decides which files are read, so no file may set it */
	int64_t min, max;    /* of a number, a duration (ms) or a size */
	struct str env;	     /* MCPX_POOL_CALL_TIMEOUT */
	struct str flag;     /* pool-call-timeout, without the dashes */
	struct setting_words env_aliases, flag_aliases;
	struct setting_words commands;	     /* the flag binds on these only; none: on every command */
	struct setting_words alias_commands; /* the same for the flag's aliases */
	struct setting_words choices;	     /* of an enum, in the order of its CHOICE_ constants */
	struct setting_words synonyms; /* of an enum: pairs of a further word and the choice that it means */
};

extern const struct setting_declaration setting_declarations[SETTING_COUNT];

static inline const struct setting_declaration *setting_declaration(enum setting setting)
{
	return &setting_declarations[setting];
}

/* The setting with this path, environment name or flag (without dashes; on `command`). False when there is
 * none. */
bool setting_find(struct str path, enum setting *ret_setting);
bool setting_find_env(struct str name, enum setting *ret_setting);
bool setting_find_flag(struct str flag, struct str command, enum setting *ret_setting);

/* As setting_find(); ERR_NOT_FOUND says which one may have been meant, or where they all are. */
int setting_named(struct str path, enum setting *ret_setting, struct err *err);

/* The environment name that looks most like `name`, or empty: for a variable that is nobody's. */
struct str setting_env_suggestion(struct str name);

bool setting_words_have(const struct setting_words *words, struct str word);

const char *setting_kind_name(enum setting_kind kind);
const char *setting_scope_name(enum setting_scope scope);

#endif

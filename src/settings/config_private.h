/*
 * config_private.h - how a configuration is put together. For this room's config_*.c only.
 *
 * config_load() runs in stages, one file each: config_search.c finds the files, config_file.c reads one,
 * config_settings.c takes the settings out of it, config_server.c and config_block.c the servers, and
 * config_merge.c makes one whole of what the files say. All of it lives in one arena.
 */
#ifndef SETTINGS_CONFIG_PRIVATE_H
#define SETTINGS_CONFIG_PRIVATE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "json/json.h"
#include "settings/config.h"
#include "settings/expand.h"
#include "settings/settings_private.h"
#include "settings/spot.h"

#include <time.h>

/* What of a file's metadata changes when its contents do. */
struct config_stamp {
	uint64_t device, inode, size;
	struct timespec modified;
};

/* A file that was read. `text` and `doc` are there while a configuration is being loaded. */
struct config_file {
	struct str path, real; /* as found, and with symbolic links resolved */
	struct str base;       /* the directory that it speaks for: relative paths in it start here */
	struct config_stamp stamp;
	uint64_t hash; /* of the text */
	bool absent; /* counts as empty: gone when it was read again, or what a lenient loader cannot take */
	struct str text;
	struct json_doc doc;
	struct spot_finder *spots; /* in text */
	struct config_file *next;
};

/* The fields of an `mcpx` block, as in servers.json. */
enum config_field {
	FIELD_SHARING,
	FIELD_SCOPE,
	FIELD_MAX,
	FIELD_MIN,
	FIELD_IDLE_TIMEOUT,
	FIELD_CALL_TIMEOUT,
	FIELD_START_TIMEOUT,
	FIELD_NAMESPACE,
	FIELD_DISABLED,
	FIELD_DESCRIPTION,
	FIELD_PRELUDE,
	FIELD_TOOLS,
	FIELD_EXTRA_INCLUDE_TOOLS,
	FIELD_EXCLUDE_TOOLS,
	FIELD_WRITE_POLICY,
	FIELD_ARGUMENT_RULES,
	FIELD_REQUIRES_SECRETS,
	FIELD_REQUIRES_SERVERS,
	FIELD_PRECONDITIONS,
	FIELD_PROFILES,
	FIELD_DEFAULT,
	FIELD_LOGGING,
	FIELD_COUNT
};

/* One thing that must be there for a tool to be offered. */
struct config_precondition {
	struct str tools;  /* a pattern */
	bool server;	   /* else a variable */
	struct str needed; /* its namespace, or its name */
};

struct config_block {
	bool given[FIELD_COUNT];
	struct setting_value values[FIELD_COUNT]; /* but of preconditions */
	const struct config_precondition *preconditions;
	size_t precondition_count;
};

struct config_server_node {
	struct config_server server;
	struct config_block block;
	struct config_server_node *next;
};
struct config_source_node {
	struct config_source source;
	struct config_source_node *next;
};
struct config_ignored_node {
	struct config_ignored_key key;
	struct config_ignored_node *next;
};

struct config_contents {
	struct arena arena;
	struct config_file *files; /* nearest first */
	struct config_setting *settings;
	struct config_block pool; /* of all files together */
};

/* The state of one config_load(). Lists grow at their tails. */
struct config_loader {
	const struct settings *set;
	const struct environment *environment;
	struct str cwd;
	bool lenient; /* config_load_lenient() */
	struct expander expander;
	struct arena *arena;
	struct config_contents *contents;
	struct config_file **file_tail;
	struct config_setting **setting_tail;
	struct config_source_node *sources, **source_tail;
	struct config_server_node *servers, **server_tail;
	struct map names; /* of the servers so far */
	struct config_ignored_node *ignored, **ignored_tail;
};

/* -- config_file.c --------------------------------------------------------------------------------------- */

/* Reads and parses the file at `path`: an object at its root, or ERR_INVALID with line and column. Release it
 * with config_file_release(). For a lenient loader one that fails is there all the same, and absent. */
int config_file_read(struct config_loader *l, struct str path, struct config_file **ret_file,
		     struct err *err);
void config_file_release(struct config_file *file);

/* What becomes of the error `code` in a file: for a lenient loader it is none, and the file is absent. */
int config_file_failed(const struct config_loader *l, struct config_file *file, int code);

/* The stamp of what is at `path` now; false when there is nothing. */
bool config_stamp_of(struct str path, struct config_stamp *ret_stamp);
bool config_stamp_same(const struct config_stamp *a, const struct config_stamp *b);

/* "file:line:column" */
struct str config_where(const struct config_file *file, const struct spot *spot, struct arena *arena);

/* Puts the place in front of an error's message and into its position. Returns `code`. */
int config_blame(const struct config_file *file, const struct spot *spot, int code, struct err *err);

/* ERR_INVALID when a key is given twice in `object`, which `spot` names. */
int config_check_duplicates(const struct config_file *file, const struct spot *spot,
			    const struct json *object, struct err *err);

void config_note_ignored(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			 struct str key, bool unclaimed);

/* `path` as written in a file or a flag, made absolute: "~/" is $HOME, everything relative starts at
 * `base`. */
struct str config_resolve(const struct config_loader *l, struct str base, struct str path);

/* -- config_search.c ------------------------------------------------------------------------------------- */

/* Fills contents->files, with their documents, and the sources. */
int config_search(struct config_loader *l, struct err *err);

/* -- config_settings.c ----------------------------------------------------------------------------------- */

/* What `json` gives, with ${NAME} expanded in its strings. */
int config_value(struct config_loader *l, const struct setting_declaration *declaration,
		 const struct json *json, struct setting_value *ret_value, struct err *err);

/* The same for a setting at `spot`, which an error names. */
int config_setting_value(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			 enum setting setting, const struct json *json, struct setting_value *ret_value,
			 struct err *err);

/* Takes settings, the pool block and servers out of a file. Farther files come later. */
int config_take(struct config_loader *l, const struct config_file *file, struct err *err);

/* -- config_block.c -------------------------------------------------------------------------------------- */

/* Reads an `mcpx` block, whose own path is `path`. `at` is the spot of its first member; after an error, of
 * the member that the error is about. The message says which field and leaves the place to the caller. */
int config_block_read(struct config_loader *l, struct config_block *block, const struct config_file *file,
		      struct str path, struct spot *at, const struct json *object, struct err *err);

/* Reads one field of the `pool` block that is no setting; false in *ret_known when it is none. */
int config_pool_field(struct config_loader *l, struct str key, const struct json *value, bool *ret_known,
		      struct err *err);

/* -- config_server.c ------------------------------------------------------------------------------------- */

/* Reads one entry of mcpServers. What is wrong with it is kept in the server. */
void config_server_read(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			const struct json *name, const struct json *entry);

/* -- config_merge.c -------------------------------------------------------------------------------------- */

/* Aliases, namespaces, filters, requirements: what depends on more than one entry. Fills the arrays of
 * `config`. */
void config_merge(struct config_loader *l, struct config *config);

#endif

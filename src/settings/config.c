#include "base/base.h"
#include "settings/config.h"

#include "io/files.h"
#include "settings/config_private.h"

/* A configuration is bounded by its files and by EXPAND_BUDGET; this only catches a mistake of ours. */
enum { CONFIG_ARENA_MAX = 1 << 30 };

static struct config *config_new(void)
{
	struct config *config = xnew(struct config);

	config->contents = xnew(struct config_contents);
	arena_init(&config->contents->arena, CONFIG_ARENA_MAX);
	return config;
}

void config_free(struct config **config)
{
	if (!*config)
		return;
	for (struct config_file *file = (*config)->contents->files; file; file = file->next)
		config_file_release(file);
	arena_release(&(*config)->contents->arena);
	free((*config)->contents);
	free_ptr(config);
}

struct str config_nearest_file(const struct config *config)
{
	for (size_t i = 0; i < config->source_count; i++)
		if (config->sources[i].loaded)
			return config->sources[i].path;
	return STR("");
}

static void loader_init(struct config_loader *l, struct config *config, const struct settings *set,
			const struct environment *environment, struct str cwd)
{
	*l = (struct config_loader){ .set = set,
				     .environment = environment,
				     .cwd = cwd,
				     .arena = &config->contents->arena,
				     .contents = config->contents };
	l->expander = (struct expander){ environment, l->arena, EXPAND_BUDGET };
	l->file_tail = &config->contents->files;
	l->setting_tail = &config->contents->settings;
	l->source_tail = &l->sources;
	l->server_tail = &l->servers;
	l->ignored_tail = &l->ignored;
	/* The names come from the user's own files, so the hash needs no secret. */
	map_init(&l->names, 0);
}

/* The settings of a file that fails are not taken by half. */
static int take_file(struct config_loader *l, struct config_file *file, struct err *err)
{
	struct config_setting **tail = l->setting_tail;
	int r = file->absent ? 0 : config_take(l, file, err);

	if (r == 0)
		return 0;
	*tail = NULL;
	l->setting_tail = tail;
	return config_file_failed(l, file, r);
}

/* What the files that were found say. Texts and documents are not needed any more afterwards. */
static int take_files(struct config_loader *l, struct config *config, struct err *err)
{
	int r = 0;

	for (struct config_file *file = l->contents->files; file && r == 0; file = file->next)
		r = take_file(l, file, err);
	if (r == 0)
		config_merge(l, config);
	for (struct config_file *file = l->contents->files; file; file = file->next)
		config_file_release(file);
	return r;
}

/* Ends a load of which `found` is what finding the files came to: 0, or the error. */
static int load_end(struct config_loader *l, int found, struct config *config, struct config **ret_config,
		    struct err *err)
{
	int r = found == 0 ? take_files(l, config, err) : found;

	map_release(&l->names);
	if (r < 0)
		config_free(&config);
	else
		*ret_config = config;
	return r;
}

static int load(struct config **ret_config, const struct settings *set, const struct environment *environment,
		struct str cwd, bool lenient, struct err *err)
{
	struct config *config = config_new();
	struct config_loader l;

	loader_init(&l, config, set, environment, cwd);
	l.lenient = lenient;
	return load_end(&l, config_search(&l, err), config, ret_config, err);
}

int config_load(struct config **ret_config, const struct settings *set, const struct environment *environment,
		struct str cwd, struct err *err)
{
	return load(ret_config, set, environment, cwd, false, err);
}

int config_load_lenient(struct config **ret_config, const struct settings *set,
			const struct environment *environment, struct str cwd, struct err *err)
{
	return load(ret_config, set, environment, cwd, true, err);
}

/* Keeps the place of a file that is gone, so that it is noticed when it is back. */
static struct config_file *absent_file(struct config_loader *l, const struct config_file *before)
{
	struct config_file *file = arena_new(l->arena, struct config_file);

	file->path = arena_copy(l->arena, before->path);
	file->real = arena_copy(l->arena, before->real);
	file->base = arena_copy(l->arena, before->base);
	file->absent = true;
	return file;
}

/* The same files as before. Not a new search: a daemon is known by its set of files, and another set has
 * another daemon. */
static int read_again(struct config_loader *l, const struct config *old, struct err *err)
{
	for (const struct config_file *before = old->contents->files; before; before = before->next) {
		struct config_stamp stamp;
		struct config_file *file;
		int r = 0;

		if (config_stamp_of(before->path, &stamp))
			r = config_file_read(l, before->path, &file, err);
		else
			file = absent_file(l, before);
		if (r < 0)
			return r;
		*l->file_tail = file;
		l->file_tail = &file->next;
	}
	return 0;
}

#define GONE "is gone; it counts as empty until it is back or the daemon ends"

/* The sources of a reload are those of the search, except that a file may be gone, or back. */
static void copy_sources(struct config_loader *l, const struct config *old)
{
	for (size_t i = 0; i < old->source_count; i++) {
		struct config_source_node *node = arena_new(l->arena, struct config_source_node);
		const struct config_source *source = &old->sources[i];
		struct config_stamp stamp;

		node->source = (struct config_source){ .path = arena_copy(l->arena, source->path),
						       .real = arena_copy(l->arena, source->real),
						       .named_by = arena_copy(l->arena, source->named_by),
						       .note = str_eq(source->note, STR(GONE))
								       ? STR("")
								       : arena_copy(l->arena, source->note),
						       .loaded = source->loaded,
						       .seen = source->seen };
		if (source->loaded && !config_stamp_of(source->path, &stamp))
			node->source.note = STR(GONE);
		*l->source_tail = node;
		l->source_tail = &node->next;
	}
}

int config_reload(struct config **ret_config, const struct config *old, const struct settings *set,
		  const struct environment *environment, struct err *err)
{
	struct config *config = config_new();
	struct config_loader l;

	loader_init(&l, config, set, environment, STR("/"));
	copy_sources(&l, old);
	return load_end(&l, read_again(&l, old, err), config, ret_config, err);
}

static bool file_changed(const struct config_file *file, size_t limit)
{
	struct config_stamp stamp;
	struct str text;
	bool same;

	if (!config_stamp_of(file->path, &stamp))
		return !file->absent;
	if (file->absent)
		return true;
	if (config_stamp_same(&stamp, &file->stamp))
		return false;
	if (file_read(file->path.p, limit, &text, NULL) < 0)
		return true;
	same = hash_str(text, 0) == file->hash;
	free((char *)text.p);
	return !same;
}

bool config_changed(const struct config *config, const struct settings *set)
{
	size_t limit = settings_bytes(set, SETTING_PLUMBING_CONFIG_LIMIT);

	for (const struct config_file *file = config->contents->files; file; file = file->next)
		if (file_changed(file, limit))
			return true;
	return false;
}

uint64_t config_hash(const struct config *config)
{
	uint64_t hash = 0;

	for (const struct config_file *file = config->contents->files; file; file = file->next)
		hash = hash_str(str_make((const char *)&file->hash, sizeof(file->hash)), hash);
	return hash;
}

bool config_lacks_file(const struct config *config)
{
	struct config_stamp stamp;

	for (const struct config_file *file = config->contents->files; file; file = file->next)
		if (!file->absent && !config_stamp_of(file->path, &stamp))
			return true;
	return false;
}

const struct config_source *config_appeared(const struct config *config)
{
	struct config_stamp stamp;

	for (size_t i = 0; i < config->source_count; i++) {
		const struct config_source *source = &config->sources[i];

		if (!source->loaded && source->real.n == 0 && !source->seen &&
		    config_stamp_of(source->path, &stamp))
			return source;
	}
	return NULL;
}

const struct config_server *config_find(const struct config *config, struct str name)
{
	const struct config_server *found = NULL;

	for (size_t i = 0; i < config->server_count; i++) {
		const struct config_server *server = &config->servers[i];
		bool usable = !server->error && !server->disabled;

		if (str_eq(server->name, name))
			return server;
		if (str_eq(server->namespace, name) && (!found || usable))
			found = server;
	}
	return found;
}

static bool own_value(const struct config_server *server, enum config_field field,
		      const struct setting_value **ret_value)
{
	*ret_value = &server->block->values[field];
	return server->block->given[field];
}

void config_server_limits(const struct config_server *server, const struct settings *set,
			  struct config_limits *ret_limits)
{
	const struct setting_value *own;
	struct config_limits limits;

	limits.scope = own_value(server, FIELD_SCOPE, &own) ? own->u.choice
							    : settings_choice(set, SETTING_POOL_SCOPE);
	limits.sharing = own_value(server, FIELD_SHARING, &own) ? own->u.choice
								: settings_choice(set, SETTING_POOL_SHARING);
	limits.max = own_value(server, FIELD_MAX, &own) ? own->u.number : settings_int(set, SETTING_POOL_MAX);
	limits.min = own_value(server, FIELD_MIN, &own) ? own->u.number : settings_int(set, SETTING_POOL_MIN);
	limits.idle_ms = own_value(server, FIELD_IDLE_TIMEOUT, &own)
				 ? own->u.size
				 : settings_duration(set, SETTING_POOL_IDLE_TIMEOUT);
	limits.call_ms = own_value(server, FIELD_CALL_TIMEOUT, &own)
				 ? own->u.size
				 : settings_duration(set, SETTING_POOL_CALL_TIMEOUT);
	limits.start_ms = own_value(server, FIELD_START_TIMEOUT, &own)
				  ? own->u.size
				  : settings_duration(set, SETTING_POOL_START_TIMEOUT);
	if (limits.scope == CHOICE_POOL_SCOPE_GLOBAL)
		limits.max = 1;
	if (limits.min > limits.max)
		limits.min = limits.max;
	*ret_limits = limits;
}

/* -- showing --------------------------------------------------------------------------------------------- */

static void write_names(struct json_writer *w, struct str key, const struct variable *variables, size_t count)
{
	if (count == 0)
		return;
	json_write_key(w, key);
	json_write_array_begin(w);
	for (size_t i = 0; i < count; i++)
		json_write_str(w, variables[i].name);
	json_write_array_end(w);
}

static void write_process(const struct config_process *process, struct json_writer *w)
{
	static const struct str transports[] = { STR_INIT("stdio"), STR_INIT("http"), STR_INIT("sse") };

	json_member_str(w, STR("transport"), transports[process->transport]);
	if (process->command.n > 0)
		json_member_str(w, STR("command"), process->command);
	if (process->args.count > 0) {
		json_write_key(w, STR("args"));
		json_write_array_begin(w);
		for (size_t i = 0; i < process->args.count; i++)
			json_write_str(w, process->args.items[i]);
		json_write_array_end(w);
	}
	write_names(w, STR("envKeys"), process->env, process->env_count);
	if (process->cwd.n > 0)
		json_member_str(w, STR("cwd"), process->cwd);
	if (process->url.n > 0)
		json_member_str(w, STR("url"), process->url);
	write_names(w, STR("headerKeys"), process->headers, process->header_count);
}

void config_write_server(const struct config_server *server, const struct settings *set,
			 struct json_writer *w)
{
	const struct setting_words *scopes = &setting_declarations[SETTING_POOL_SCOPE].choices;
	const struct setting_words *sharings = &setting_declarations[SETTING_POOL_SHARING].choices;
	struct config_limits limits;

	config_server_limits(server, set, &limits);
	json_write_object_begin(w);
	json_member_str(w, STR("name"), server->name);
	json_member_str(w, STR("namespace"), server->namespace);
	if (server->alias_of.n > 0)
		json_member_str(w, STR("aliasOf"), server->alias_of);
	write_process(&server->process, w);
	json_member_str(w, STR("sharing"), sharings->words[limits.sharing]);
	json_member_str(w, STR("scope"), scopes->words[limits.scope]);
	json_member_i64(w, STR("max"), limits.max);
	json_member_bool(w, STR("disabled"), server->disabled);
	if (server->description.n > 0)
		json_member_str(w, STR("description"), server->description);
	json_member_str(w, STR("from"), server->file);
	if (server->error)
		json_member_str(w, STR("error"), str_of(server->error->message));
	json_write_object_end(w);
}

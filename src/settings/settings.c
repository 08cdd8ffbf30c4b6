/*
 * A set is one slot per setting, and a slot one layer per source. Nothing is resolved ahead of time: an
 * accessor takes the highest layer that is there, so layers may come and go in any order.
 */
#include "base/base.h"
#include "settings/settings.h"

#include "settings/config.h"
#include "settings/settings_private.h"

/* Bounds on the text of all layers together; what fills them is bounded by the file limit and the kernel's
 * limit on arguments. */
enum { SETTINGS_ARENA_MAX = 256 << 20 };

struct settings *settings_new(void)
{
	struct settings *set = xnew(struct settings);

	arena_init(&set->arena, SETTINGS_ARENA_MAX);
	arena_init(&set->hot_arena, SETTINGS_ARENA_MAX);
	set->slots = arena_array(&set->arena, struct setting_slot, SETTING_COUNT);
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *declaration = &setting_declarations[i];
		struct setting_layer *layer = arena_new(&set->arena, struct setting_layer);

		layer->setting = (enum setting)i;
		layer->source = SETTING_FROM_DEFAULT;
		BUG_ON(setting_value_parse(&layer->value, declaration, declaration->default_value,
					   &set->arena, NULL) < 0);
		set->slots[i].layers[SETTING_FROM_DEFAULT] = layer;
	}
	return set;
}

static void override_free(struct setting_override **override)
{
	if (!*override)
		return;
	arena_release(&(*override)->arena);
	free_ptr(override);
}

void settings_free(struct settings **set)
{
	if (!*set)
		return;
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		override_free(&(*set)->slots[i].override);
	arena_release(&(*set)->hot_arena);
	arena_release(&(*set)->arena);
	free_ptr(set);
}

const struct setting_layer *settings_top(const struct settings *set, enum setting setting)
{
	const struct setting_slot *slot;
	unsigned source = SETTING_SOURCE_COUNT;

	for (; set->base; set = set->base)
		for (const struct setting_layer *layer = set->call; layer; layer = layer->farther)
			if (layer->setting == setting)
				return layer;
	slot = &set->slots[setting];
	do
		source--;
	while (!slot->layers[source]);
	return slot->layers[source];
}

/* -- reading --------------------------------------------------------------------------------------------- */

static const struct setting_value *value_of(const struct settings *set, enum setting setting,
					    enum setting_kind kind)
{
	BUG_ON(setting_declarations[setting].kind != kind);
	return &settings_top(set, setting)->value;
}

bool settings_bool(const struct settings *set, enum setting setting)
{
	return value_of(set, setting, SETTING_KIND_BOOL)->u.truth;
}

int64_t settings_int(const struct settings *set, enum setting setting)
{
	return value_of(set, setting, SETTING_KIND_INT)->u.number;
}

uint64_t settings_duration(const struct settings *set, enum setting setting)
{
	return value_of(set, setting, SETTING_KIND_DURATION)->u.size;
}

uint64_t settings_bytes(const struct settings *set, enum setting setting)
{
	return value_of(set, setting, SETTING_KIND_BYTES)->u.size;
}

unsigned settings_choice(const struct settings *set, enum setting setting)
{
	return value_of(set, setting, SETTING_KIND_ENUM)->u.choice;
}

struct str settings_string(const struct settings *set, enum setting setting)
{
	enum setting_kind kind = setting_declarations[setting].kind;

	BUG_ON(kind != SETTING_KIND_STRING && kind != SETTING_KIND_ENUM);
	return settings_top(set, setting)->value.text;
}

struct setting_items settings_items(const struct settings *set, enum setting setting)
{
	enum setting_kind kind = setting_declarations[setting].kind;

	BUG_ON(kind != SETTING_KIND_LIST && kind != SETTING_KIND_PATHS);
	return settings_top(set, setting)->value.u.items;
}

enum setting_source settings_source(const struct settings *set, enum setting setting)
{
	return settings_top(set, setting)->source;
}

/* -- the environment ------------------------------------------------------------------------------------- */

static int add_variable(struct settings *set, enum setting setting, struct str name, struct str text,
			struct err *err)
{
	struct setting_layer **at = &set->slots[setting].layers[SETTING_FROM_ENV];
	struct setting_layer *layer = arena_new(&set->arena, struct setting_layer);
	int r = setting_value_parse(&layer->value, &setting_declarations[setting], text, &set->arena, err);

	if (r < 0)
		return err_prefix(err, r, "%.*s", STR_ARG(name));
	if (*at && !str_eq((*at)->value.text, layer->value.text))
		return err_set(
			err, ERR_INVALID,
			"%s=%s and %.*s=%s are two spellings of one setting, %s, with two values: unset one of them",
			(*at)->origin.p, (*at)->value.text.p, STR_ARG(name), layer->value.text.p,
			setting_declarations[setting].path.p);
	if (*at)
		return 0;
	layer->setting = setting;
	layer->source = SETTING_FROM_ENV;
	layer->origin = arena_copy(&set->arena, name);
	*at = layer;
	return 0;
}

int settings_add_environment(struct settings *set, const struct environment *environment, struct err *err)
{
	for (const char *const *entry = environment->entries; *entry; entry++) {
		struct str rest = str_of(*entry), name;
		enum setting setting;
		int r;

		if (!str_starts_with(rest, STR("MCPX_")) || !str_split(&rest, '=', &name) || rest.n == 0 ||
		    !setting_find_env(name, &setting))
			continue;
		r = add_variable(set, setting, name, rest, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What mcpx gives to scripts (exec/run.c) and takes from sessions. Some are a slip away from a setting. */
static bool is_of_a_run(struct str name)
{
	static const struct str names[] = {
		STR_INIT("MCPX_SOCKET"),
		STR_INIT("MCPX_RUN"),
		STR_INIT("MCPX_SESSION"),
		STR_INIT("MCPX_SESSION_ID"),
		STR_INIT("MCPX_CWD"),
		STR_INIT("MCPX_PID"),
		STR_INIT("MCPX_RUNTIME"),
		STR_INIT("MCPX_CHANNEL"),
		STR_INIT("MCPX_CLIENT"),
		STR_INIT("MCPX_CONFIG_PATH"),
		STR_INIT("MCPX_SCRIPT_DIRS"),
		STR_INIT("MCPX_ENTRY"),
		STR_INIT("MCPX_ENTRY_NAME"),
		STR_INIT("MCPX_ENTRY_OFFSET"),
		STR_INIT("MCPX_EXPORT"),
		STR_INIT("MCPX_CAPTURE_CONSOLE"),
		STR_INIT("MCPX_ARTIFACTS_DIR"),
		STR_INIT("MCPX_ARTIFACTS_LOCAL"),
		STR_INIT("MCPX_PARENT_SESSION_ID"),
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

bool settings_next_misspelt(const struct environment *environment, size_t *at, struct str *ret_name,
			    struct str *ret_meant)
{
	for (; environment->entries[*at]; (*at)++) {
		struct str rest = str_of(environment->entries[*at]), name;
		enum setting setting;

		if (!str_starts_with(rest, STR("MCPX_")) || !str_split(&rest, '=', &name) ||
		    setting_find_env(name, &setting) || is_of_a_run(name))
			continue;
		*ret_meant = setting_env_suggestion(name);
		if (ret_meant->n == 0)
			continue;
		*ret_name = name;
		(*at)++;
		return true;
	}
	return false;
}

/* -- configuration files --------------------------------------------------------------------------------- */

static struct setting_layer *layer_of_file(const struct config_setting *from, struct arena *arena)
{
	struct setting_layer *layer = arena_new(arena, struct setting_layer);

	layer->setting = from->setting;
	layer->source = SETTING_FROM_FILE;
	layer->origin = arena_copy(arena, from->origin);
	layer->value = setting_value_copy(&from->value, &setting_declarations[from->setting], arena);
	return layer;
}

/* Forgets what files said, of hot settings or of all. */
static void drop_files(struct settings *set, bool all)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		struct setting_slot *slot = &set->slots[i];

		slot->pending = (struct str){ NULL, 0 };
		if (all || setting_changes_at_once(&setting_declarations[i]))
			slot->layers[SETTING_FROM_FILE] = NULL;
	}
	arena_release(&set->hot_arena);
}

static void append_file_layers(struct settings *set, const struct config *config, bool running)
{
	for (const struct config_setting *from = config_settings(config); from; from = from->next) {
		bool hot = setting_changes_at_once(&setting_declarations[from->setting]);
		struct setting_layer **at = &set->slots[from->setting].layers[SETTING_FROM_FILE];

		if (!hot && running)
			continue;
		while (*at)
			at = &(*at)->farther;
		*at = layer_of_file(from, hot ? &set->hot_arena : &set->arena);
	}
}

/* What a setting that is not hot will be after a restart, where that differs from what it is. */
static void note_pending(struct settings *set, const struct config *config)
{
	const struct config_setting *nearest[SETTING_COUNT] = { NULL };

	for (const struct config_setting *from = config_settings(config); from; from = from->next)
		if (!nearest[from->setting])
			nearest[from->setting] = from;
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		struct setting_slot *slot = &set->slots[i];
		const struct setting_value *next =
			nearest[i] ? &nearest[i]->value : &slot->layers[SETTING_FROM_DEFAULT]->value;
		const struct setting_layer *now = settings_top(set, (enum setting)i);

		if (setting_changes_at_once(&setting_declarations[i]) || now->source > SETTING_FROM_FILE ||
		    str_eq(now->value.text, next->text))
			continue;
		slot->pending = arena_copy(&set->hot_arena, next->text);
	}
}

static bool strict_about_keys(const struct settings *set, const struct config *config)
{
	const struct setting_layer *top = settings_top(set, SETTING_PLUMBING_STRICT_UNKNOWN_KEYS);

	if (top->source > SETTING_FROM_FILE)
		return top->value.u.truth;
	for (const struct config_setting *from = config_settings(config); from; from = from->next)
		if (from->setting == SETTING_PLUMBING_STRICT_UNKNOWN_KEYS)
			return from->value.u.truth;
	return false;
}

static const struct config_ignored_key *first_unclaimed(const struct config *config)
{
	for (size_t i = 0; i < config->ignored_count; i++)
		if (config->ignored[i].unclaimed)
			return &config->ignored[i];
	return NULL;
}

static void take_config(struct settings *set, const struct config *config, bool running)
{
	drop_files(set, !running);
	append_file_layers(set, config, running);
	if (running)
		note_pending(set, config);
}

int settings_add_config(struct settings *set, const struct config *config, bool running, struct err *err)
{
	const struct config_ignored_key *key = first_unclaimed(config);

	if (key && strict_about_keys(set, config))
		return err_set(err, ERR_INVALID,
			       "%s:%u:%u: unknown key %s (plumbing.strictUnknownKeys makes that an error)",
			       key->file.p, key->line, key->column, key->key.p);
	take_config(set, config, running);
	return 0;
}

int settings_load(struct settings *set, struct config **ret_config, const struct environment *environment,
		  struct str cwd, struct err *err)
{
	struct config *config;
	int r = settings_add_environment(set, environment, err);

	if (r < 0)
		return r;
	r = config_load(&config, set, environment, cwd, err);
	if (r < 0)
		return r;
	r = settings_add_config(set, config, false, err);
	if (r < 0) {
		config_free(&config);
		return r;
	}
	*ret_config = config;
	return 0;
}

int settings_load_lenient(struct settings *set, struct config **ret_config,
			  const struct environment *environment, struct str cwd, struct err *err)
{
	int r = settings_add_environment(set, environment, err);

	if (r == 0)
		r = config_load_lenient(ret_config, set, environment, cwd, err);
	if (r == 0)
		take_config(set, *ret_config, false);
	return r;
}

/* -- changes at run time --------------------------------------------------------------------------------- */

bool settings_unset_runtime(struct settings *set, enum setting setting)
{
	struct setting_slot *slot = &set->slots[setting];

	if (!slot->override)
		return false;
	slot->layers[SETTING_FROM_RUNTIME] = NULL;
	override_free(&slot->override);
	return true;
}

static struct setting_change change_of(const struct setting_declaration *declaration)
{
	if (declaration->scope == SETTING_SCOPE_CLIENT)
		return (struct setting_change){
			.note = "the command line acts on this setting, not the daemon: set it there, or in a "
				"configuration file"
		};
	if (declaration->scope == SETTING_SCOPE_PLUGIN)
		return (struct setting_change){ .note = "the plugin acts on this setting, not the daemon" };
	if (!setting_changes_at_once(declaration))
		return (struct setting_change){
			.restart_required = true,
			.note = "the daemon reads this setting once, when it starts: set it in a configuration "
				"file and restart the daemon"
		};
	return (struct setting_change){ .applied = true };
}

int settings_set_runtime(struct settings *set, enum setting setting, struct str value,
			 struct setting_change *ret_change, struct err *err)
{
	const struct setting_declaration *declaration = &setting_declarations[setting];
	struct setting_override *override = xnew(struct setting_override);
	int r;

	arena_init(&override->arena, SETTINGS_ARENA_MAX);
	r = setting_value_parse(&override->layer.value, declaration, value, &override->arena, err);
	if (r < 0) {
		override_free(&override);
		return err_prefix(err, r, "%s", declaration->path.p);
	}
	*ret_change = change_of(declaration);
	if (!ret_change->applied) {
		override_free(&override);
		return 0;
	}
	settings_unset_runtime(set, setting);
	override->layer.setting = setting;
	override->layer.source = SETTING_FROM_RUNTIME;
	set->slots[setting].layers[SETTING_FROM_RUNTIME] = &override->layer;
	set->slots[setting].override = override;
	return 0;
}

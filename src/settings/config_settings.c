/* The sections of a file: settings by their paths, mcpServers, and what the pool block says beside its
 * settings. */
#include "base/base.h"
#include "settings/config_private.h"

#include "base/quote.h"
#include "text/nearest.h"

const struct config_setting *config_settings(const struct config *config)
{
	return config->contents->settings;
}

static int expand_items(struct config_loader *l, struct setting_value *value, struct err *err)
{
	struct setting_items list = value->u.items;
	struct str *items = arena_array(l->arena, struct str, list.count + 1);

	for (size_t i = 0; i < list.count; i++) {
		int r;

		items[i] = list.items[i];
		r = items[i].p ? expand(&l->expander, list.items[i], &items[i], err) : 0;
		if (r < 0)
			return r;
	}
	setting_value_of_items(value, (struct setting_items){ items, list.count }, l->arena);
	return 0;
}

int config_value(struct config_loader *l, const struct setting_declaration *declaration,
		 const struct json *json, struct setting_value *ret_value, struct err *err)
{
	bool list = declaration->kind == SETTING_KIND_LIST || declaration->kind == SETTING_KIND_PATHS;
	struct str text;
	int r;

	/* A variable's value is text whatever the setting asks for. */
	if (!list && json_is(json, JSON_STRING) && str_find(json_str(json), STR("${")) != STR_NONE) {
		r = expand(&l->expander, json_str(json), &text, err);
		return r < 0 ? r : setting_value_parse(ret_value, declaration, text, l->arena, err);
	}
	r = setting_value_from_json(ret_value, declaration, json, l->arena, err);
	if (r == 0 && list)
		r = expand_items(l, ret_value, err);
	return r < 0 ? r : setting_value_check(ret_value, declaration, err);
}

int config_setting_value(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			 enum setting setting, const struct json *json, struct setting_value *ret_value,
			 struct err *err)
{
	const struct setting_declaration *declaration = &setting_declarations[setting];
	int r = config_value(l, declaration, json, ret_value, err);

	if (r < 0) {
		r = err_prefix(err, r, "%s", declaration->path.p);
		return config_blame(file, spot, r, err);
	}
	return 0;
}

static int take_setting(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			enum setting setting, const struct json *json, struct err *err)
{
	struct config_setting *taken = arena_new(l->arena, struct config_setting);
	int r;

	if (setting_declarations[setting].not_in_file) {
		r = err_set(err, ERR_INVALID,
			    "%s cannot be set in a file: it decides how files are read; use %s",
			    setting_declarations[setting].path.p, setting_declarations[setting].env.p);
		return config_blame(file, spot, r, err);
	}
	r = config_setting_value(l, file, spot, setting, json, &taken->value, err);
	if (r < 0)
		return r;
	taken->setting = setting;
	taken->origin = config_where(file, spot, l->arena);
	*l->setting_tail = taken;
	l->setting_tail = &taken->next;
	return 0;
}

/* Keys at the top of a file that other versions of mcpx act on. */
static bool is_planned(struct str key)
{
	static const struct str planned[] = { STR_INIT("permissions"), STR_INIT("socketPath") };

	for (size_t i = 0; i < ARRAY_LEN(planned); i++)
		if (str_eq(planned[i], key))
			return true;
	return false;
}

static bool find_file_key(struct str key, enum setting *ret_setting)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (setting_declarations[i].file_key.n > 0 && str_eq(setting_declarations[i].file_key, key)) {
			*ret_setting = (enum setting)i;
			return true;
		}
	return false;
}

/* A setting by its short key. Its path may stand in the file as well, but not in the same one. */
static int take_file_key(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			 enum setting setting, const struct json *value, struct err *err)
{
	struct str section, key = setting_declarations[setting].path;
	const struct json *other;
	int r;

	str_split(&key, '.', &section);
	other = json_get(json_get(json_root(&file->doc), section), key);
	if (!other)
		return take_setting(l, file, spot, setting, value, err);
	r = err_set(err, ERR_INVALID, "%s and %s are two spellings of one setting: leave out one of them",
		    setting_declarations[setting].file_key.p, setting_declarations[setting].path.p);
	return config_blame(file, spot, r, err);
}

/* Whether the path of some setting begins with `section` and a dot. */
static bool is_section(struct str section)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		struct str path = setting_declarations[i].path;

		if (str_starts_with(path, section) && path.n > section.n && path.p[section.n] == '.')
			return true;
	}
	return false;
}

static int no_pool_key(const struct config_file *file, const struct spot *spot, struct str key,
		       struct err *err)
{
	static const struct str section = STR_INIT("pool."),
				others[] = { STR_INIT("tools"), STR_INIT("extraIncludeTools"),
					     STR_INIT("excludeTools"), STR_INIT("default") };
	struct nearest nearest;
	int r;

	nearest_init(&nearest, key);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		nearest_consider(&nearest, others[i]);
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (str_starts_with(setting_declarations[i].path, section))
			nearest_consider(&nearest, str_from(setting_declarations[i].path, section.n));
	if (nearest.best.n)
		r = err_set(err, ERR_INVALID, "pool: unknown key %s; did you mean %.*s?", QUOTE(key),
			    STR_ARG(nearest.best));
	else
		r = err_set(
			err, ERR_INVALID,
			"pool: unknown key %s; besides the pool settings it may hold tools, extraIncludeTools, "
			"excludeTools and default",
			QUOTE(key));
	return config_blame(file, spot, r, err);
}

/*
 * One member of a section. A key of the pool block that nothing knows is refused, as in an mcpx block and
 * unlike elsewhere: a misspelled excludeTools must not silently hide nothing.
 */
static int take_member(struct config_loader *l, const struct config_file *file, const struct spot *spot,
		       struct str section, const struct json *key, const struct json *value, struct err *err)
{
	struct str path = arena_concat(l->arena, section, STR("."), json_str(key));
	bool pool = str_eq(section, STR("pool")), known = false;
	enum setting setting;
	int r;

	if (setting_find(path, &setting))
		return take_setting(l, file, spot, setting, value, err);
	if (!pool) {
		config_note_ignored(l, file, spot, path, true);
		return 0;
	}
	r = config_pool_field(l, json_str(key), value, &known, err);
	if (r < 0) {
		r = err_prefix(err, r, "pool.%.*s", STR_ARG(json_str(key)));
		return config_blame(file, spot, r, err);
	}
	return known ? 0 : no_pool_key(file, spot, json_str(key), err);
}

static int take_section(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			struct str section, const struct json *object, struct err *err)
{
	const struct json *key, *value;
	struct spot at = { spot, 0 };
	int r = config_check_duplicates(file, spot, object, err);

	if (r < 0)
		return r;
	json_for_each_member(key, value, object) {
		r = take_member(l, file, &at, section, key, value, err);
		if (r < 0)
			return r;
		at.index++;
	}
	return 0;
}

static int take_servers(struct config_loader *l, const struct config_file *file, const struct spot *spot,
			const struct json *object, struct err *err)
{
	const struct json *name, *entry;
	struct spot at = { spot, 0 };
	int r = config_check_duplicates(file, spot, object, err);

	if (r < 0)
		return r;
	json_for_each_member(name, entry, object) {
		config_server_read(l, file, &at, name, entry);
		at.index++;
	}
	return 0;
}

static int take_top(struct config_loader *l, const struct config_file *file, const struct spot *spot,
		    struct str key, const struct json *value, struct err *err)
{
	bool servers = str_eq(key, STR("mcpServers"));
	enum setting setting;

	if (str_eq(key, STR("$schema")))
		return 0;
	if (find_file_key(key, &setting))
		return take_file_key(l, file, spot, setting, value, err);
	if (!servers && !is_section(key)) {
		config_note_ignored(l, file, spot, key, !is_planned(key));
		return 0;
	}
	if (!json_is(value, JSON_OBJECT)) {
		int r = err_set(err, ERR_INVALID, "%.*s: expected an object", STR_ARG(key));

		return config_blame(file, spot, r, err);
	}
	return servers ? take_servers(l, file, spot, value, err)
		       : take_section(l, file, spot, key, value, err);
}

int config_take(struct config_loader *l, const struct config_file *file, struct err *err)
{
	const struct json *key, *value;
	struct spot at = { NULL, 0 };
	int r = config_check_duplicates(file, NULL, json_root(&file->doc), err);

	if (r < 0)
		return r;
	json_for_each_member(key, value, json_root(&file->doc)) {
		r = take_top(l, file, &at, json_str(key), value, err);
		if (r < 0)
			return r;
		at.index++;
	}
	return 0;
}

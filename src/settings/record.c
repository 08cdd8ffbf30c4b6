#include "base/base.h"
#include "settings/record.h"

#include "settings/settings_private.h"

static const char *source_name(enum setting_source source)
{
	static const char *const names[] = { "default", "file", "env", "flag", "runtime", "call" };

	return names[source];
}

bool setting_scope_parse(struct str word, enum setting_scope *ret_scope)
{
	for (unsigned i = SETTING_SCOPE_DAEMON; i <= SETTING_SCOPE_PLUGIN; i++)
		if (str_eq(word, str_of(setting_scope_name((enum setting_scope)i)))) {
			*ret_scope = (enum setting_scope)i;
			return true;
		}
	return false;
}

static bool filter_has(const struct setting_filter *filter, const struct settings *set, enum setting setting)
{
	const struct setting_declaration *declaration = &setting_declarations[setting];

	return (filter->plumbing || !declaration->plumbing) &&
	       (!filter->changed || settings_source(set, setting) != SETTING_FROM_DEFAULT) &&
	       (!filter->scoped || declaration->scope == filter->scope) &&
	       str_starts_with(declaration->path, filter->prefix);
}

/* Steps from `layer` to the one that it displaces, or NULL after the default. */
static const struct setting_layer *layer_below(const struct setting_slot *slot,
					       const struct setting_layer *layer)
{
	unsigned source = layer->source;

	if (layer->farther && layer->source == SETTING_FROM_FILE)
		return layer->farther;
	while (source-- > 0)
		if (slot->layers[source])
			return slot->layers[source];
	return NULL;
}

static void write_words(struct json_writer *w, struct str key, const struct setting_words *words)
{
	if (words->count == 0)
		return;
	json_write_key(w, key);
	json_write_array_begin(w);
	for (size_t i = 0; i < words->count; i++)
		json_write_str(w, words->words[i]);
	json_write_array_end(w);
}

static void write_synonyms(struct json_writer *w, const struct setting_words *synonyms)
{
	if (synonyms->count == 0)
		return;
	json_write_key(w, STR("enumAliases"));
	json_write_object_begin(w);
	for (size_t i = 0; i + 1 < synonyms->count; i += 2)
		json_member_str(w, synonyms->words[i], synonyms->words[i + 1]);
	json_write_object_end(w);
}

static void write_source(struct json_writer *w, const struct setting_layer *layer)
{
	json_member_str(w, STR("source"), str_of(source_name(layer->source)));
	if (layer->origin.n > 0)
		json_member_str(w, STR("origin"), layer->origin);
}

static void write_shadowed(struct json_writer *w, const struct setting_slot *slot,
			   const struct setting_layer *layer)
{
	json_write_key(w, STR("shadowed"));
	json_write_array_begin(w);
	while ((layer = layer_below(slot, layer))) {
		json_write_object_begin(w);
		json_member_str(w, STR("value"), layer->value.text);
		write_source(w, layer);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

/* "pool call timeout" */
static void write_name(struct json_writer *w, struct str flag)
{
	char name[64];
	size_t n = size_min(flag.n, sizeof(name));

	for (size_t i = 0; i < n; i++)
		name[i] = flag.p[i] == '-' ? ' ' : flag.p[i];
	json_member_str(w, STR("name"), str_make(name, n));
}

static void write_declaration(struct json_writer *w, const struct setting_declaration *declaration)
{
	json_member_str(w, STR("env"), declaration->env);
	write_words(w, STR("envAliases"), &declaration->env_aliases);
	json_member_str(w, STR("flag"), declaration->flag);
	write_words(w, STR("flagAliases"), &declaration->flag_aliases);
	write_name(w, declaration->flag);
	json_member_str(w, STR("description"), declaration->text);
	if (declaration->detail.n > 0)
		json_member_str(w, STR("detail"), declaration->detail);
	write_words(w, STR("enum"), &declaration->choices);
	write_synonyms(w, &declaration->synonyms);
	json_member_str(w, STR("scope"), str_of(setting_scope_name(declaration->scope)));
	json_member_bool(w, STR("hot"), declaration->hot);
	json_member_bool(w, STR("plumbing"), declaration->plumbing);
	write_words(w, STR("commands"), &declaration->commands);
}

void setting_write_record(const struct settings *set, enum setting setting, struct json_writer *w)
{
	const struct setting_declaration *declaration = &setting_declarations[setting];
	const struct setting_layer *top = settings_top(set, setting);
	const struct setting_slot *slot = settings_slot(set, setting);

	json_write_object_begin(w);
	json_member_str(w, STR("path"), declaration->path);
	json_member_str(w, STR("kind"), str_of(setting_kind_name(declaration->kind)));
	json_member_str(w, STR("value"), top->value.text);
	json_member_str(w, STR("default"), slot->layers[SETTING_FROM_DEFAULT]->value.text);
	write_source(w, top);
	if (slot->pending.p)
		json_member_str(w, STR("pending"), slot->pending);
	write_shadowed(w, slot, top);
	write_declaration(w, declaration);
	json_write_object_end(w);
}

void settings_write_records(const struct settings *set, const struct setting_filter *filter,
			    struct json_writer *w)
{
	json_write_array_begin(w);
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (filter_has(filter, set, (enum setting)i))
			setting_write_record(set, (enum setting)i, w);
	json_write_array_end(w);
}

void setting_write_change(const struct settings *set, enum setting setting,
			  const struct setting_change *change, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("path"), setting_declarations[setting].path);
	json_member_str(w, STR("value"), settings_top(set, setting)->value.text);
	json_member_bool(w, STR("applied"), change->applied);
	if (change->restart_required)
		json_member_bool(w, STR("restartRequired"), true);
	if (change->note)
		json_member_str(w, STR("note"), str_of(change->note));
	json_write_object_end(w);
}

void setting_write_unset(const struct settings *set, enum setting setting, bool removed,
			 struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("path"), setting_declarations[setting].path);
	json_member_bool(w, STR("removed"), removed);
	json_member_str(w, STR("value"), settings_top(set, setting)->value.text);
	write_source(w, settings_top(set, setting));
	json_write_object_end(w);
}

/* Flags: the one layer in which order and spelling matter. */
#include "base/base.h"
#include "settings/settings.h"

#include "settings/settings_private.h"

/* A flag as it was written. */
struct flag {
	struct str name; /* without dashes */
	struct str value;
	bool has_value; /* "--name=value" */
	bool negated;	/* "--no-name" */
	enum setting setting;
};

/* "--name", "--name=value", "-n", "-n=value": false for everything else. */
static bool flag_split(struct flag *flag, struct str argument)
{
	bool two_dashes = str_starts_with(argument, STR("--"));
	struct str rest = str_from(argument, two_dashes ? 2 : 1);

	if (!str_starts_with(argument, STR("-")) || rest.n == 0)
		return false;
	*flag = (struct flag){ .has_value = str_find_char(rest, '=') != STR_NONE };
	str_split(&rest, '=', &flag->name);
	if (flag->has_value)
		flag->value = rest;
	return two_dashes || flag->name.n == 1;
}

static bool flag_find(struct flag *flag, struct str command)
{
	if (setting_find_flag(flag->name, command, &flag->setting))
		return true;
	if (flag->has_value || !str_starts_with(flag->name, STR("no-")))
		return false;
	flag->name = str_from(flag->name, strlen("no-"));
	flag->negated = true;
	return setting_find_flag(flag->name, command, &flag->setting) &&
	       setting_declarations[flag->setting].kind == SETTING_KIND_BOOL;
}

/* The value, from the flag itself or from the next argument. */
static int flag_value(struct flag *flag, const char *next, unsigned *ret_used, struct err *err)
{
	const struct setting_declaration *declaration = &setting_declarations[flag->setting];

	*ret_used = 1;
	if (flag->has_value)
		return 0;
	if (declaration->kind == SETTING_KIND_BOOL) {
		flag->value = flag->negated ? STR("false") : STR("true");
		return 0;
	}
	if (!next)
		return err_set(err, ERR_INVALID, "%s%.*s needs a value: %s", flag->name.n == 1 ? "-" : "--",
			       STR_ARG(flag->name), declaration->text.p);
	flag->value = str_of(next);
	*ret_used = 2;
	return 0;
}

/* One more element behind those that earlier flags gave. */
static void value_append(struct setting_value *value, const struct setting_layer *before, struct str element,
			 struct arena *arena)
{
	size_t count = before ? before->value.u.items.count : 0;
	struct str *items = arena_array(arena, struct str, count + 1);

	for (size_t i = 0; i < count; i++)
		items[i] = before->value.u.items.items[i];
	items[count] = arena_copy(arena, element);
	setting_value_of_items(value, (struct setting_items){ items, count + 1 }, arena);
}

static int flag_add(struct settings *set, const struct flag *flag, struct err *err)
{
	const struct setting_declaration *declaration = &setting_declarations[flag->setting];
	struct setting_layer **at = &set->slots[flag->setting].layers[SETTING_FROM_FLAG];
	struct setting_layer *layer = arena_new(&set->arena, struct setting_layer);
	int r = 0;

	layer->setting = flag->setting;
	layer->source = SETTING_FROM_FLAG;
	layer->origin =
		arena_concat(&set->arena, flag->name.n == 1 ? STR("-") : STR("--"), flag->name, STR(""));
	if (*at && !str_eq((*at)->origin, layer->origin))
		return err_set(err, ERR_INVALID,
			       "%s and %s are two spellings of one setting, %s: give one of them",
			       (*at)->origin.p, layer->origin.p, declaration->path.p);
	if (declaration->repeats)
		value_append(&layer->value, *at, flag->value, &set->arena);
	if (declaration->repeats)
		r = setting_value_check(&layer->value, declaration, err);
	else
		r = setting_value_parse(&layer->value, declaration, flag->value, &set->arena, err);
	if (r < 0)
		return err_prefix(err, r, "%s", layer->origin.p);
	*at = layer;
	return 0;
}

int settings_add_flag(struct settings *set, struct str command, const char *argument, const char *next,
		      unsigned *ret_used, struct err *err)
{
	struct flag flag;
	unsigned used;
	int r;

	if (!flag_split(&flag, str_of(argument)) || !flag_find(&flag, command))
		return 0;
	r = flag_value(&flag, next, &used, err);
	if (r == 0)
		r = flag_add(set, &flag, err);
	if (r < 0)
		return r;
	*ret_used = used;
	return 1;
}

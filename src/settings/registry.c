#include "base/base.h"
#include "settings/registry.h"
#include "base/quote.h"
#include "text/nearest.h"

bool setting_words_have(const struct setting_words *words, struct str word)
{
	for (size_t i = 0; i < words->count; i++)
		if (str_eq(words->words[i], word))
			return true;
	return false;
}

bool setting_find(struct str path, enum setting *ret_setting)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (str_eq(setting_declarations[i].path, path)) {
			*ret_setting = (enum setting)i;
			return true;
		}
	return false;
}

bool setting_find_env(struct str name, enum setting *ret_setting)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *d = &setting_declarations[i];

		if (str_eq(d->env, name) || setting_words_have(&d->env_aliases, name)) {
			*ret_setting = (enum setting)i;
			return true;
		}
	}
	return false;
}

/* No list of commands means all of them. */
static bool binds_on(const struct setting_words *commands, struct str command)
{
	return commands->count == 0 || setting_words_have(commands, command);
}

bool setting_find_flag(struct str flag, struct str command, enum setting *ret_setting)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *d = &setting_declarations[i];

		if (!binds_on(&d->commands, command))
			continue;
		if (str_eq(d->flag, flag) ||
		    (setting_words_have(&d->flag_aliases, flag) && binds_on(&d->alias_commands, command))) {
			*ret_setting = (enum setting)i;
			return true;
		}
	}
	return false;
}

/* The path of a setting that was named without its section. */
static struct str path_that_ends_in(struct str name)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		struct str path = setting_declarations[i].path;

		if (name.n && str_ends_with(path, name) && path.n > name.n &&
		    path.p[path.n - name.n - 1] == '.')
			return path;
	}
	return STR("");
}

/* Empty when no path looks like it. */
static struct str setting_suggestion(struct str path)
{
	struct nearest nearest;

	nearest_init(&nearest, path);
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		nearest_consider(&nearest, setting_declarations[i].path);
	return nearest.best.n ? nearest.best : path_that_ends_in(path);
}

int setting_named(struct str path, enum setting *ret_setting, struct err *err)
{
	struct str near;

	if (setting_find(path, ret_setting))
		return 0;
	near = setting_suggestion(path);
	return err_set(err, ERR_NOT_FOUND, "there is no setting %s%s%.*s%s", QUOTE(path),
		       near.n ? "; did you mean " : "", STR_ARG(near),
		       near.n ? "?" : "; `mcpx settings list --plumbing` has them all");
}

/* Without the prefix, which all have: else every short name would be near to every other. */
struct str setting_env_suggestion(struct str name)
{
	static const struct str prefix = STR_INIT("MCPX_");
	struct nearest nearest;

	if (!str_starts_with(name, prefix))
		return STR("");
	nearest_init(&nearest, str_from(name, prefix.n));
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *d = &setting_declarations[i];

		nearest_consider(&nearest, str_from(d->env, prefix.n));
		for (size_t k = 0; k < d->env_aliases.count; k++)
			nearest_consider(&nearest, str_from(d->env_aliases.words[k], prefix.n));
	}
	return nearest.best.n > 0 ? str_make(nearest.best.p - prefix.n, nearest.best.n + prefix.n)
				  : nearest.best;
}

const char *setting_kind_name(enum setting_kind kind)
{
	static const char *const names[] = { "bool", "int",  "duration", "bytes",
					     "enum", "list", "paths",	 "string" };

	return names[kind];
}

const char *setting_scope_name(enum setting_scope scope)
{
	static const char *const names[] = { "daemon", "client", "call", "plugin" };

	return names[scope];
}

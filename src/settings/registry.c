#include "base/base.h"
#include "settings/registry.h"

static bool words_have(const struct setting_words *words, struct str word)
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

		if (str_eq(d->env, name) || words_have(&d->env_aliases, name)) {
			*ret_setting = (enum setting)i;
			return true;
		}
	}
	return false;
}

/* No list of commands means all of them. */
static bool binds_on(const struct setting_words *commands, struct str command)
{
	return commands->count == 0 || words_have(commands, command);
}

bool setting_find_flag(struct str flag, struct str command, enum setting *ret_setting)
{
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *d = &setting_declarations[i];

		if (!binds_on(&d->commands, command))
			continue;
		if (str_eq(d->flag, flag) ||
		    (words_have(&d->flag_aliases, flag) && binds_on(&d->alias_commands, command))) {
			*ret_setting = (enum setting)i;
			return true;
		}
	}
	return false;
}

/* The longest path for which this can be asked; none of ours comes near it. */
enum { SUGGESTION_PATH_MAX = 64 };

/* The edits (one character put in, taken out or changed) between two texts that are not longer than
 * SUGGESTION_PATH_MAX. */
static size_t edit_distance(struct str a, struct str b)
{
	size_t row[SUGGESTION_PATH_MAX + 1];

	for (size_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t above = row[j];
			size_t changed = diagonal + (a.p[i - 1] != b.p[j - 1]);

			row[j] = size_min(changed, size_min(above, row[j - 1]) + 1);
			diagonal = above;
		}
	}
	return row[b.n];
}

struct str setting_suggestion(struct str path)
{
	struct str best = { NULL, 0 };
	size_t best_distance = path.n / 3 + 1; /* farther than that is another word, not a slip */

	if (path.n > SUGGESTION_PATH_MAX)
		return best;
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		struct str candidate = setting_declarations[i].path;
		size_t distance;

		if (candidate.n > SUGGESTION_PATH_MAX)
			continue;
		distance = edit_distance(path, candidate);
		if (distance < best_distance) {
			best_distance = distance;
			best = candidate;
		}
	}
	return best;
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

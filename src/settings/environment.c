#include "base/base.h"
#include "settings/environment.h"
#include "base/map.h"

extern char **environ;

struct environment environment_current(void)
{
	return (struct environment){ (const char *const *)environ };
}

/* The value in `entry` when it is the variable `name`; .p NULL otherwise. */
static struct str entry_value(const char *entry, struct str name)
{
	struct str whole = str_of(entry);

	if (!str_starts_with(whole, name) || whole.n == name.n || whole.p[name.n] != '=')
		return (struct str){ NULL, 0 };
	return str_from(whole, name.n + 1);
}

struct str environment_get(const struct environment *environment, struct str name)
{
	for (const char *const *entry = environment->entries; *entry; entry++) {
		struct str value = entry_value(*entry, name);

		if (value.p)
			return value;
	}
	return (struct str){ NULL, 0 };
}

static bool overlaid(const char *entry, const struct map *variables)
{
	struct str text = str_of(entry);
	size_t equals = str_find_char(text, '=');

	return equals != STR_NONE && map_get(variables, str_slice(text, 0, equals));
}

const char *const *environment_with(const struct environment *environment, const struct variable *variables,
				    size_t count, struct arena *arena)
{
	size_t old_count = 0, at = 0;
	const char **entries;
	struct map last; /* by name, the variable that counts */

	while (environment->entries[old_count])
		old_count++;
	entries = arena_array(arena, const char *, old_count + count + 1);
	map_init(&last, 0);
	for (size_t i = 0; i < count; i++)
		map_set(&last, variables[i].name, (void *)&variables[i]);
	for (size_t i = 0; i < old_count; i++)
		if (!overlaid(environment->entries[i], &last))
			entries[at++] = environment->entries[i];
	for (size_t i = 0; i < count; i++)
		if (map_get(&last, variables[i].name) == &variables[i])
			entries[at++] =
				arena_concat(arena, variables[i].name, STR("="), variables[i].value).p;
	map_release(&last);
	return entries;
}

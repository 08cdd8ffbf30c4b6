#include "base/base.h"
#include "cli/script_names.h"

#include "cli/script.h"

#include <dirent.h>

struct listing {
	struct arena *arena;
	struct str *names;
	size_t count;
	script_name_found *found;
	void *owner;
};

static bool is_listed(const struct listing *listing, struct str name)
{
	for (size_t i = 0; i < listing->count; i++)
		if (str_eq(listing->names[i], name))
			return true;
	return false;
}

/* "tour" for "tour.ts"; empty when no name leads to this file. Declarations (.d.ts) run nothing. */
static struct str script_name(struct str file)
{
	if (str_starts_with(file, STR(".")) || str_ends_with(file, STR(".d.ts")))
		return str_make(NULL, 0);
	if (str_ends_with(file, STR(".ts")) || str_ends_with(file, STR(".js")))
		return str_slice(file, 0, file.n - strlen(".ts"));
	return str_make(NULL, 0);
}

static void list_directory(struct listing *listing, struct str directory)
{
	DIR *handle = opendir(directory.p);
	const struct dirent *entry;

	while (handle && listing->count < SCRIPT_NAMES_MAX && (entry = readdir(handle))) {
		struct str file = str_of(entry->d_name), name = script_name(file);

		if (!name.n || is_listed(listing, name))
			continue;
		file = arena_concat(listing->arena, directory, STR("/"), file);
		name = str_slice(file, directory.n + 1, name.n);
		listing->names[listing->count++] = name;
		listing->found(listing->owner, name, file);
	}
	if (handle)
		closedir(handle);
}

void script_names(const struct environment *environment, struct str cwd, struct arena *arena,
		  script_name_found *found, void *owner)
{
	struct script_directories list = script_directories(environment, cwd, arena);
	struct listing listing = { .arena = arena, .found = found, .owner = owner };

	listing.names = arena_array(arena, struct str, SCRIPT_NAMES_MAX);
	for (size_t i = 0; i < list.count; i++)
		list_directory(&listing, list.paths[i]);
}

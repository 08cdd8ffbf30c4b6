#include "base/base.h"
#include "cli/script.h"

#include "base/quote.h"

#include <errno.h>
#include <sys/stat.h>

static const struct str extensions[] = { STR_INIT(".ts"), STR_INIT(".mts"), STR_INIT(".js") };

bool script_has_extension(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
		if (str_ends_with(word, extensions[i]))
			return true;
	return false;
}

bool script_word_is_path(struct str word)
{
	return str_find_char(word, '/') != STR_NONE || script_has_extension(word);
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* -- where ----------------------------------------------------------------------------------------------- */

static void add_directory(struct script_directories *list, struct str above, struct str below,
			  struct arena *arena)
{
	list->paths[list->count++] = arena_concat(arena, above, below, STR(""));
}

static void add_upwards(struct script_directories *list, struct str directory, struct arena *arena)
{
	size_t slash;

	do {
		add_directory(list, directory, STR("/.mcpx/scripts"), arena);
		add_directory(list, directory, STR("/.config/mcpx/scripts"), arena);
		slash = str_find_last_char(directory, '/');
		directory = str_slice(directory, 0, slash);
	} while (slash != STR_NONE);
}

struct script_directories script_directories(const struct environment *environment, struct str cwd,
					     struct arena *arena)
{
	struct str xdg = environment_get(environment, STR("XDG_CONFIG_HOME"));
	struct str home = environment_get(environment, STR("HOME"));
	struct script_directories list = { 0 };
	size_t levels = 1;

	for (size_t i = 0; i < cwd.n; i++)
		levels += cwd.p[i] == '/';
	list.paths = arena_array(arena, struct str, 2 * levels + 2);
	add_upwards(&list, str_eq(cwd, STR("/")) ? STR("") : cwd, arena);
	if (str_starts_with(xdg, STR("/")))
		add_directory(&list, xdg, STR("/mcpx/scripts"), arena);
	if (str_starts_with(home, STR("/")))
		add_directory(&list, home, STR("/.config/mcpx/scripts"), arena);
	return list;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

struct str script_search_path(const struct environment *environment, struct str cwd, struct arena *arena)
{
	struct script_directories list = script_directories(environment, cwd, arena);
	struct str all = STR("");

	for (size_t i = 0; i < list.count; i++)
		if (is_directory(list.paths[i].p) && str_find_char(list.paths[i], ':') == STR_NONE)
			all = all.n ? arena_concat(arena, all, STR(":"), list.paths[i]) : list.paths[i];
	return all;
}

/* -- which ----------------------------------------------------------------------------------------------- */

/* 1, 0 or ERR_INVALID, as script_find(). */
static int look_in(struct str directory, struct str name, struct script *script, struct arena *arena,
		   struct err *err)
{
	struct str stem = arena_concat(arena, directory, STR("/"), name);
	struct str ts = arena_concat(arena, stem, STR(".ts"), STR(""));
	struct str js = arena_concat(arena, stem, STR(".js"), STR(""));
	bool has_ts = is_file(ts.p), has_js = is_file(js.p);

	if (has_ts && has_js)
		return err_set(err, ERR_INVALID, "both %s and %s are there: name one of them with its path",
			       ts.p, js.p);
	if (!has_ts && !has_js)
		return 0;
	script->path = has_ts ? ts : js;
	return 1;
}

/* A name becomes part of paths: nothing that leads elsewhere, and no hidden file. */
static bool name_is_plain(struct str name)
{
	return name.n > 0 && name.p[0] != '.' && str_find_char(name, '\0') == STR_NONE;
}

int script_find(struct script *script, struct str word, const struct environment *environment, struct str cwd,
		struct arena *arena, struct err *err)
{
	struct script_directories list;
	int r = 0;

	if (script_word_is_path(word)) {
		struct str path = arena_copy(arena, word);

		if (!script_has_extension(word) || !is_file(path.p))
			return 0;
		script->path = path;
		return 1;
	}
	if (!name_is_plain(word))
		return 0;
	list = script_directories(environment, cwd, arena);
	for (size_t i = 0; i < list.count && r == 0; i++)
		r = look_in(list.paths[i], word, script, arena, err);
	return r;
}

/* -- why there is none ----------------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISFIFO(mode))
		return "a pipe";
	return S_ISSOCK(mode) ? "a socket" : "a device";
}

/* The path ends like a script, and is_file() said no. */
static int path_missing(struct str word, struct arena *arena, struct err *err)
{
	const char *path = arena_cstr(arena, word);
	struct stat status;

	if (stat(path, &status) == 0)
		return err_set(
			err, ERR_NOT_FOUND,
			"%s is %s, and a script is a regular file; `mcpx run -` reads one from standard input",
			QUOTE(word), kind_of(status.st_mode));
	if (errno != ENOENT && errno != ENOTDIR)
		return err_errno(err, "cannot look for the script %s", QUOTE(word));
	if (lstat(path, &status) == 0)
		return err_set(err, ERR_NOT_FOUND, "%s is a link to a file that is not there", QUOTE(word));
	return err_set(err, ERR_NOT_FOUND, "there is no file %s", QUOTE(word));
}

int script_missing(struct str word, struct arena *arena, struct err *err)
{
	if (script_has_extension(word))
		return path_missing(word, arena, err);
	if (script_word_is_path(word))
		return err_set(err, ERR_NOT_FOUND,
			       "%s is no script: a script is a file that ends in .ts, .mts or .js",
			       QUOTE(word));
	return err_set(err, ERR_NOT_FOUND,
		       "there is no script %s: give a file, or put %.*s.ts into .mcpx/scripts/", QUOTE(word),
		       STR_ARG(word));
}

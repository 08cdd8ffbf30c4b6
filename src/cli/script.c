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

struct search {
	struct str name;
	struct arena *arena;
	struct script *script;
	struct err *err;
};

/* 1, 0 or ERR_INVALID, as script_find(). */
static int look_in(const struct search *search, struct str directory, struct str below)
{
	struct str stem = arena_printf(search->arena, "%.*s%.*s/%.*s", STR_ARG(directory), STR_ARG(below),
				       STR_ARG(search->name));
	struct str ts = arena_concat(search->arena, stem, STR(".ts"), STR(""));
	struct str js = arena_concat(search->arena, stem, STR(".js"), STR(""));
	bool has_ts = is_file(ts.p), has_js = is_file(js.p);

	if (has_ts && has_js)
		return err_set(search->err, ERR_INVALID,
			       "both %s and %s are there: name one of them with its path", ts.p, js.p);
	if (!has_ts && !has_js)
		return 0;
	search->script->path = has_ts ? ts : js;
	return 1;
}

static int look_upwards(const struct search *search, struct str directory)
{
	for (;;) {
		size_t slash = str_find_last_char(directory, '/');
		int r = look_in(search, directory, STR("/.mcpx/scripts"));

		if (r == 0)
			r = look_in(search, directory, STR("/.config/mcpx/scripts"));
		if (r || slash == STR_NONE)
			return r;
		directory = str_slice(directory, 0, slash);
	}
}

static int look_at_the_users(const struct search *search, const struct environment *environment)
{
	struct str xdg = environment_get(environment, STR("XDG_CONFIG_HOME"));
	struct str home = environment_get(environment, STR("HOME"));
	int r = str_starts_with(xdg, STR("/")) ? look_in(search, xdg, STR("/mcpx/scripts")) : 0;

	if (r == 0 && str_starts_with(home, STR("/")))
		r = look_in(search, home, STR("/.config/mcpx/scripts"));
	return r;
}

/* A name becomes part of paths: nothing that leads elsewhere, and no hidden file. */
static bool name_is_plain(struct str name)
{
	return name.n > 0 && name.p[0] != '.' && str_find_char(name, '\0') == STR_NONE;
}

int script_find(struct script *script, struct str word, const struct environment *environment, struct str cwd,
		struct arena *arena, struct err *err)
{
	const struct search search = { word, arena, script, err };
	int r;

	if (script_word_is_path(word)) {
		struct str path = arena_copy(arena, word);

		if (!script_has_extension(word) || !is_file(path.p))
			return 0;
		script->path = path;
		return 1;
	}
	if (!name_is_plain(word))
		return 0;
	r = look_upwards(&search, str_eq(cwd, STR("/")) ? STR("") : cwd);
	return r ? r : look_at_the_users(&search, environment);
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

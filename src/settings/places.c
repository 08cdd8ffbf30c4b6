#include "base/base.h"
#include "settings/places.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/quote.h"
#include "io/files.h"
#include "json/json.h"
#include "settings/registry.h"

/* The longest socket path that every system takes, with its NUL (sun_path of sockaddr_un: 104 on BSD, 108 on
 * Linux). */
enum {
	SOCKET_PATH_MAX = 104,
	INFO_MAX = 64 * 1024, /* bytes of an info file, far above what a daemon writes */
};

/* 16 hexadecimal digits. */
static struct str hash_text(struct str s, struct arena *arena)
{
	return arena_printf(arena, "%016" PRIx64, hash_str(s, 0));
}

/* The key of the files: their real paths, nearest first. */
static struct str key_of(const struct config *config, struct arena *arena)
{
	size_t length = 0, at = 0;
	char *all;

	for (size_t i = 0; i < config->source_count; i++)
		if (config->sources[i].loaded)
			length += config->sources[i].real.n + 1;
	all = arena_alloc(arena, length);
	for (size_t i = 0; i < config->source_count; i++) {
		struct str path = config->sources[i].real;

		if (!config->sources[i].loaded)
			continue;
		memcpy(all + at, path.p, path.n + 1);
		at += path.n + 1;
	}
	return hash_text(str_make(all, at), arena);
}

/* The directory that `setting` names, or <variable>/mcpx, or <home>/<otherwise>/mcpx. */
static int directory_find(struct str *ret_path, const struct settings *set, enum setting setting,
			  const struct environment *environment, struct str variable, struct str otherwise,
			  struct arena *arena, struct err *err)
{
	struct str home = environment_get(environment, STR("HOME"));
	struct str given = settings_string(set, setting);
	struct str xdg = environment_get(environment, variable);
	const char *path = setting_declaration(setting)->path.p;

	if (!str_starts_with(home, STR("/")))
		home = STR("");
	if (str_starts_with(given, STR("~/")) && home.n > 0)
		given = arena_concat(arena, home, str_from(given, 1), STR(""));
	if (given.n > 0 && given.p[0] != '/')
		return err_set(err, ERR_INVALID, "%s: %s must be an absolute path", path, QUOTE(given));
	if (given.n > 0)
		*ret_path = arena_copy(arena, given);
	else if (str_starts_with(xdg, STR("/"))) /* the XDG specification has relative ones ignored */
		*ret_path = arena_concat(arena, xdg, STR("/mcpx"), STR(""));
	else if (home.n > 0)
		*ret_path = arena_concat(arena, home, otherwise, STR("/mcpx"));
	else
		return err_set(err, ERR_INVALID,
			       "neither %s nor $HOME is set, so there is no directory to use: set %s", path,
			       setting_declaration(setting)->env.p);
	return 0;
}

static void socket_find(struct places *places, const struct environment *environment, struct arena *arena)
{
	struct str temporary = environment_get(environment, STR("TMPDIR"));
	struct str name;

	places->socket_dir = places->state;
	places->socket = arena_printf(arena, "%s/daemon-%s.sock", places->state.p, places->key.p);
	if (places->socket.n < SOCKET_PATH_MAX)
		return;
	name = hash_text(places->socket, arena);
	if (!str_starts_with(temporary, STR("/")))
		temporary = STR("/tmp");
	for (;;) {
		places->socket_dir =
			arena_printf(arena, "%.*s/mcpx-%u", STR_ARG(temporary), (unsigned)geteuid());
		places->socket = arena_printf(arena, "%s/%s.sock", places->socket_dir.p, name.p);
		if (places->socket.n < SOCKET_PATH_MAX)
			return;
		temporary = STR("/tmp");
	}
}

struct str places_lock_of(const struct places *places, struct str key, struct arena *arena)
{
	return arena_printf(arena, "%s/daemon-%.*s.lock", places->state.p, STR_ARG(key));
}

int places_find(struct places *places, const struct settings *set, const struct config *config,
		const struct environment *environment, struct arena *arena, struct err *err)
{
	struct places found = { .key = key_of(config, arena) };
	int r = directory_find(&found.state, set, SETTING_PATHS_STATE, environment, STR("XDG_STATE_HOME"),
			       STR("/.local/state"), arena, err);

	if (r == 0)
		r = directory_find(&found.cache, set, SETTING_PATHS_CACHE, environment, STR("XDG_CACHE_HOME"),
				   STR("/.cache"), arena, err);
	found.log_dir = found.state;
	if (r == 0 && settings_string(set, SETTING_LOGGING_DIR).n > 0)
		r = directory_find(&found.log_dir, set, SETTING_LOGGING_DIR, environment, STR(""), STR(""),
				   arena, err);
	if (r < 0)
		return r;
	socket_find(&found, environment, arena);
	found.lock = places_lock_of(&found, found.key, arena);
	found.info = arena_printf(arena, "%s/daemon-%s.json", found.state.p, found.key.p);
	found.token = arena_printf(arena, "%s/daemon-%s.token", found.state.p, found.key.p);
	found.log = arena_printf(arena, "%s/daemon-%s.log", found.log_dir.p, found.key.p);
	*places = found;
	return 0;
}

/*
 * A state or cache directory that its owner made with an ordinary umask is closed rather than refused. Only
 * ours: whose it is, and whether it is a directory, directory_make_private() judges.
 */
static int make_private(struct str path, struct err *err)
{
	struct stat st;

	if (lstat(path.p, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & 077) != 0 && chmod(path.p, 0700) < 0)
		return err_errno(err, "cannot close the directory %s to others", path.p);
	return directory_make_private(path.p, err);
}

int places_prepare(const struct places *places, struct err *err)
{
	int r = make_private(places->state, err);

	if (r == 0)
		r = make_private(places->cache, err);
	if (r == 0 && !str_eq(places->socket_dir, places->state))
		r = directory_make_private(places->socket_dir.p, err);
	/* Of one that is there others may be meant to read the logs. */
	if (r == 0 && access(places->log_dir.p, F_OK) < 0)
		r = directory_make_private(places->log_dir.p, err);
	return r;
}

int places_check_socket(const struct places *places, struct err *err)
{
	struct stat st;

	if (str_eq(places->socket_dir, places->state) || lstat(places->socket_dir.p, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return 0;
	return err_set(
		err, ERR_DENIED,
		"%s, where the daemon's socket would be, is not a directory of ours that is closed to others: remove it, or set TMPDIR",
		places->socket_dir.p);
}

bool places_follow_daemon(struct places *places, struct arena *arena)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	struct str text, socket;

	if (str_eq(places->socket_dir, places->state) || file_read(places->info.p, INFO_MAX, &text, NULL) < 0)
		return false;
	if (json_parse(&doc, text, NULL, NULL) == 0) {
		socket = json_str(json_get(json_root(&doc), STR("socket")));
		if (socket.n > 0 && !str_eq(socket, places->socket)) {
			places->socket = arena_copy(arena, socket);
			places->socket_dir =
				arena_copy(arena, str_slice(socket, 0, str_find_last_char(socket, '/')));
			free((char *)text.p);
			return true;
		}
	}
	free((char *)text.p);
	return false;
}

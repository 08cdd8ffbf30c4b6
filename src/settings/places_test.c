#include "base/base.h"
#include "settings/places.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/scratch.h"

struct world {
	struct scratch scratch;
	struct settings *set;
	struct places places;
	struct err err;
};

static int set_up(void **state)
{
	struct world *w = xnew(struct world);

	scratch_init(&w->scratch);
	w->set = settings_new();
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	settings_free(&w->set);
	scratch_release(&w->scratch);
	free(w);
	return 0;
}

/* Finds the places for a client in `cwd` with this environment. */
static int find(struct world *w, const struct environment *environment, const char *cwd)
{
	struct config *config;
	int r;

	settings_free(&w->set);
	w->set = settings_new();
	assert_int_equal(settings_load(w->set, &config, environment, scratch_path(&w->scratch, cwd), NULL),
			 0);
	r = places_find(&w->places, w->set, config, environment, &w->scratch.arena, &w->err);
	config_free(&config);
	return r;
}

static void is_below(struct world *w, struct str path, const char *expected)
{
	assert_true(str_starts_with(path, w->scratch.root));
	assert_string_equal(path.p + w->scratch.root.n, expected);
}

static const char *entry(struct world *w, const char *name, const char *below)
{
	return arena_printf(&w->scratch.arena, "%s=%s%s", name, w->scratch.root.p, below).p;
}

static void directories_follow_settings_then_xdg_then_home(void **state)
{
	struct world *w = *state;
	struct environment home = ENVIRONMENT(entry(w, "HOME", "/h"));
	struct environment xdg = ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "XDG_STATE_HOME", "/xs"),
					     entry(w, "XDG_CACHE_HOME", "/xc"));
	struct environment given = ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", "/s"),
					       "MCPX_CACHE_DIR=~/c", entry(w, "XDG_STATE_HOME", "/xs"));
	struct environment relative = ENVIRONMENT(entry(w, "HOME", "/h"), "XDG_STATE_HOME=xs");

	assert_int_equal(find(w, &home, "x"), 0);
	is_below(w, w->places.state, "/h/.local/state/mcpx");
	is_below(w, w->places.cache, "/h/.cache/mcpx");
	assert_int_equal(find(w, &xdg, "x"), 0);
	is_below(w, w->places.state, "/xs/mcpx");
	is_below(w, w->places.cache, "/xc/mcpx");
	assert_int_equal(find(w, &given, "x"), 0);
	is_below(w, w->places.state, "/s");
	is_below(w, w->places.cache, "/h/c");
	assert_int_equal(find(w, &relative, "x"), 0);
	is_below(w, w->places.state, "/h/.local/state/mcpx");
}

static void a_place_must_be_known_and_absolute(void **state)
{
	struct world *w = *state;
	struct environment nothing = ENVIRONMENT("PATH=/bin");
	struct environment relative = ENVIRONMENT(entry(w, "HOME", "/h"), "MCPX_STATE_DIR=s");

	assert_int_equal(find(w, &nothing, "x"), ERR_INVALID);
	assert_string_equal(w->err.message,
			    "neither paths.state nor $HOME is set, so there is no directory to use: set "
			    "MCPX_PATHS_STATE");
	assert_int_equal(find(w, &relative, "x"), ERR_INVALID);
	assert_string_equal(w->err.message, "paths.state: \"s\" must be an absolute path");
	assert_int_equal(find(w, &ENVIRONMENT("HOME=h"), "x"), ERR_INVALID);
	assert_string_equal(w->err.message,
			    "neither paths.state nor $HOME is set, so there is no directory to use: set "
			    "MCPX_PATHS_STATE");
	assert_int_equal(find(w, &ENVIRONMENT("HOME=h", "MCPX_STATE_DIR=~/s"), "x"), ERR_INVALID);
	assert_string_equal(w->err.message, "paths.state: \"~/s\" must be an absolute path");
}

static void the_key_is_the_set_of_files_and_not_their_contents(void **state)
{
	struct world *w = *state;
	struct environment environment = ENVIRONMENT(entry(w, "HOME", "/h"));
	struct str none, with_file;

	assert_int_equal(find(w, &environment, "a"), 0);
	none = w->places.key;
	assert_int_equal(none.n, 16);
	assert_int_equal(find(w, &environment, "b"), 0);
	assert_true(str_eq(w->places.key, none));
	scratch_write(&w->scratch, "a/.mcpx.json", "{}");
	assert_int_equal(find(w, &environment, "a"), 0);
	with_file = w->places.key;
	assert_false(str_eq(with_file, none));
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"pool\":{\"max\":2}}");
	assert_int_equal(find(w, &environment, "a/deeper"), 0);
	assert_true(str_eq(w->places.key, with_file));
	assert_int_equal(symlink("a", scratch_path(&w->scratch, "link").p), 0);
	assert_int_equal(find(w, &environment, "link"), 0);
	assert_true(str_eq(w->places.key, with_file));
}

/* The nearest has the last word, so the same files the other way round are another configuration. */
static void the_key_depends_on_the_order_of_files(void **state)
{
	struct world *w = *state;
	struct environment there =
		ENVIRONMENT(entry(w, "HOME", "/h"),
			    arena_printf(&w->scratch.arena, "MCPX_PATHS_CONFIG=%s/f/1.json,%s/f/2.json",
					 w->scratch.root.p, w->scratch.root.p)
				    .p);
	struct environment back =
		ENVIRONMENT(entry(w, "HOME", "/h"),
			    arena_printf(&w->scratch.arena, "MCPX_PATHS_CONFIG=%s/f/2.json,%s/f/1.json",
					 w->scratch.root.p, w->scratch.root.p)
				    .p);
	struct str key;

	scratch_write(&w->scratch, "f/1.json", "{}");
	scratch_write(&w->scratch, "f/2.json", "{}");
	assert_int_equal(find(w, &there, "a"), 0);
	key = w->places.key;
	assert_int_equal(find(w, &there, "b"), 0);
	assert_true(str_eq(w->places.key, key));
	assert_int_equal(find(w, &back, "a"), 0);
	assert_false(str_eq(w->places.key, key));
}

static void a_daemons_files_carry_its_key(void **state)
{
	struct world *w = *state;
	struct environment environment = ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", "/s"),
						     entry(w, "MCPX_LOGGING_DIR", "/l"));

	assert_int_equal(find(w, &environment, "a"), 0);
	is_below(w, w->places.socket,
		 arena_printf(&w->scratch.arena, "/s/daemon-%s.sock", w->places.key.p).p);
	is_below(w, w->places.lock, arena_printf(&w->scratch.arena, "/s/daemon-%s.lock", w->places.key.p).p);
	is_below(w, w->places.info, arena_printf(&w->scratch.arena, "/s/daemon-%s.json", w->places.key.p).p);
	is_below(w, w->places.token,
		 arena_printf(&w->scratch.arena, "/s/daemon-%s.token", w->places.key.p).p);
	is_below(w, w->places.log, arena_printf(&w->scratch.arena, "/l/daemon-%s.log", w->places.key.p).p);
	assert_true(str_eq(w->places.socket_dir, w->places.state));
}

static void a_long_socket_path_moves_to_a_short_directory(void **state)
{
	static const char long_name[] =
		"/a-state-directory-whose-name-is-much-too-long-to-be-followed-by-a-socket-name/"
		"as-is-easily-the-case";
	struct world *w = *state;
	struct environment environment = ENVIRONMENT(
		entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", long_name), entry(w, "TMPDIR", "/t"));
	struct environment hopeless = ENVIRONMENT(
		entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", long_name), entry(w, "TMPDIR", long_name));
	struct str first;

	assert_int_equal(find(w, &environment, "a"), 0);
	assert_true(w->places.socket.n < 104);
	is_below(w, w->places.socket_dir,
		 arena_printf(&w->scratch.arena, "/t/mcpx-%u", (unsigned)geteuid()).p);
	assert_true(str_starts_with(w->places.socket, w->places.socket_dir));
	first = w->places.socket;
	assert_int_equal(find(w, &environment, "a"), 0);
	assert_true(str_eq(w->places.socket, first));
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	assert_int_equal(access(w->places.socket_dir.p, W_OK), 0);
	assert_int_equal(find(w, &hopeless, "a"), 0);
	assert_true(str_starts_with(w->places.socket, STR("/tmp/")));
}

static void a_daemon_elsewhere_is_followed(void **state)
{
	struct world *w = *state;
	struct environment near = ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", "/s"));
	struct environment far = ENVIRONMENT(
		entry(w, "HOME", "/h"), entry(w, "TMPDIR", "/t"),
		entry(w, "MCPX_STATE_DIR",
		      "/a-state-directory-whose-name-is-much-too-long-to-be-followed-by-a-socket"));
	struct str socket;

	assert_int_equal(find(w, &far, "a"), 0);
	socket = w->places.socket;
	assert_false(places_follow_daemon(&w->places, &w->scratch.arena));
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	static const char *const silent[] = { "", "{\"socket\":", "{\"pid\":1}", "{\"socket\":7}" };

	for (size_t i = 0; i < ARRAY_LEN(silent); i++) {
		scratch_write(&w->scratch, w->places.info.p + w->scratch.root.n + 1, silent[i]);
		assert_false(places_follow_daemon(&w->places, &w->scratch.arena));
		assert_true(str_eq(w->places.socket, socket));
	}
	scratch_write(&w->scratch, w->places.info.p + w->scratch.root.n + 1, "{\"socket\":\"/u/x.sock\"}");
	assert_true(places_follow_daemon(&w->places, &w->scratch.arena));
	assert_string_equal(w->places.socket.p, "/u/x.sock");
	assert_string_equal(w->places.socket_dir.p, "/u");
	assert_false(places_follow_daemon(&w->places, &w->scratch.arena));
	/* Where the state directory has room for it, there is no other place. */
	assert_int_equal(find(w, &near, "a"), 0);
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	scratch_write(&w->scratch, w->places.info.p + w->scratch.root.n + 1, "{\"socket\":\"/u/x.sock\"}");
	assert_false(places_follow_daemon(&w->places, &w->scratch.arena));
}

/* Whoever makes the directory first could listen there, and be sent our calls. */
static void a_socket_of_somebody_else_is_not_spoken_to(void **state)
{
	struct world *w = *state;
	struct environment environment = ENVIRONMENT(
		entry(w, "HOME", "/h"), entry(w, "TMPDIR", "/t"),
		entry(w, "MCPX_STATE_DIR",
		      "/a-state-directory-whose-name-is-much-too-long-to-be-followed-by-a-socket"));

	assert_int_equal(find(w, &environment, "a"), 0);
	assert_int_equal(places_check_socket(&w->places, NULL), 0);
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	assert_int_equal(places_check_socket(&w->places, NULL), 0);
	assert_int_equal(chmod(w->places.socket_dir.p, 0770), 0);
	assert_int_equal(places_check_socket(&w->places, &w->err), ERR_DENIED);
	assert_string_equal(
		w->err.message,
		arena_printf(
			&w->scratch.arena,
			"%s, where the daemon's socket would be, is not a directory of ours that is closed to others: remove it, or set TMPDIR",
			w->places.socket_dir.p)
			.p);
	assert_int_equal(chmod(w->places.socket_dir.p, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(w->places.socket_dir.p, 4711, 4711), 0);
		assert_int_equal(places_check_socket(&w->places, NULL), ERR_DENIED);
	}
	assert_int_equal(rmdir(w->places.socket_dir.p), 0);
	assert_int_equal(symlink("/tmp", w->places.socket_dir.p), 0);
	assert_int_equal(places_check_socket(&w->places, NULL), ERR_DENIED);
}

static unsigned mode_of(struct str path)
{
	struct stat st;

	assert_int_equal(stat(path.p, &st), 0);
	return st.st_mode & 0777;
}

static void directories_are_made_and_closed(void **state)
{
	struct world *w = *state;
	struct environment environment =
		ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", "/s"));

	assert_int_equal(mkdir(scratch_path(&w->scratch, "s").p, 0755), 0);
	assert_int_equal(find(w, &environment, "a"), 0);
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	assert_int_equal(mode_of(w->places.state), 0700);
	assert_int_equal(mode_of(w->places.cache), 0700);
	assert_int_equal(places_prepare(&w->places, NULL), 0);
}

/* One that is there is left as it is: its owner may want others to read the logs. */
static void the_logs_directory_is_made_where_none_is(void **state)
{
	struct world *w = *state;
	struct environment environment =
		ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "MCPX_LOGGING_DIR", "/l/m"));

	assert_int_equal(find(w, &environment, "a"), 0);
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	assert_int_equal(mode_of(w->places.log_dir), 0700);
	assert_int_equal(chmod(w->places.log_dir.p, 0755), 0);
	assert_int_equal(places_prepare(&w->places, NULL), 0);
	assert_int_equal(mode_of(w->places.log_dir), 0755);
}

static void a_directory_of_somebody_else_is_refused(void **state)
{
	struct world *w = *state;
	struct environment environment =
		ENVIRONMENT(entry(w, "HOME", "/h"), entry(w, "MCPX_STATE_DIR", "/s"));

	if (geteuid() != 0) {
		print_message("skipped: only root can make a directory of somebody else\n");
		skip();
	}
	assert_int_equal(mkdir(scratch_path(&w->scratch, "s").p, 0700), 0);
	assert_int_equal(chown(scratch_path(&w->scratch, "s").p, 4711, 4711), 0);
	assert_int_equal(find(w, &environment, "a"), 0);
	assert_int_equal(places_prepare(&w->places, &w->err), ERR_DENIED);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(directories_follow_settings_then_xdg_then_home),
		IN_WORLD(a_place_must_be_known_and_absolute),
		IN_WORLD(the_key_is_the_set_of_files_and_not_their_contents),
		IN_WORLD(the_key_depends_on_the_order_of_files),
		IN_WORLD(a_daemons_files_carry_its_key),
		IN_WORLD(a_long_socket_path_moves_to_a_short_directory),
		IN_WORLD(a_daemon_elsewhere_is_followed),
		IN_WORLD(a_socket_of_somebody_else_is_not_spoken_to),
		IN_WORLD(directories_are_made_and_closed),
		IN_WORLD(the_logs_directory_is_made_where_none_is),
		IN_WORLD(a_directory_of_somebody_else_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "settings/config.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/config_scratch.h"

static void files_are_searched_upwards_and_then_at_home(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.config/mcpx/config.json", "{}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{}");
	scratch_write(&w->scratch, "a/.mcpx/config.json", "{}");
	scratch_write(&w->scratch, "a/.mcp.json", "{}");
	scratch_write(&w->scratch, "a/b/.mcp.json", "{}");
	scratch_write(&w->scratch, "a/b/c/d/.mcpx.json", "{}");
	scratch_write(&w->scratch, "home/.config/mcpx/config.json", "{}");
	scratch_write(&w->scratch, "home/.mcpx.json", "{}");
	scratch_write(&w->scratch, "xdg/mcpx/config.json", "{}");
	set_variable(w, "XDG_CONFIG_HOME", scratch_path(&w->scratch, "xdg"));
	assert_int_equal(search_from(w, "a/b/c"), 0);
	are_loaded(w, "a/b/.mcp.json|a/.config/mcpx/config.json|a/.mcpx.json|a/.mcpx/config.json|a/.mcp.json|"
		      "xdg/mcpx/config.json|home/.config/mcpx/config.json|home/.mcpx.json");
}

/* Directories of the environment that are not absolute would be others in each working directory. */
static void relative_homes_are_not_searched(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/home/.mcpx.json", "{}");
	scratch_write(&w->scratch, "a/xdg/mcpx/config.json", "{}");
	set_variable(w, "HOME", STR("home"));
	set_variable(w, "XDG_CONFIG_HOME", STR("xdg"));
	assert_int_equal(search_from(w, "a"), 0);
	for (size_t i = 0; i < w->config->source_count; i++)
		assert_true(str_starts_with(w->config->sources[i].path, STR("/")));
}

static void one_file_can_be_named_instead(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "one/.mcpx.json", "{\"pool\":{\"max\":2}}");
	must_load(w, "{}");
	are_loaded(w, "one/mcpx.json");
	assert_string_equal(source(w, "one/mcpx.json")->named_by.p, "MCPX_CONFIG");
	assert_int_equal(settings_int(w->set, SETTING_POOL_MAX), 4);
}

static void a_named_file_must_exist(void **state)
{
	struct world *w = *state;
	unsigned used;

	assert_int_equal(settings_add_flag(w->set, STR("call"), "--config", "none.json", &used, NULL), 1);
	assert_int_equal(search_from(w, "one"), ERR_NOT_FOUND);
	assert_string_equal(w->err.message,
			    at_root(w, "cannot read the configuration file @/one/none.json: No such "
				       "file or directory"));
	scratch_write(&w->scratch, "folder/inside", "");
	w->environment.entries = (const char *const *)arena_array(&w->scratch.arena, const char *, 16);
	set_variable(w, "MCPX_CONFIG", scratch_path(&w->scratch, "folder"));
	settings_free(&w->set);
	w->set = settings_new();
	assert_true(search_from(w, "one") < 0);
	assert_string_equal(w->err.message,
			    at_root(w, "configuration: cannot read @/folder: it is a directory"));
}

static void the_nearest_file_wins_per_value(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"pool\":{\"max\":2},\"mcpServers\":{\"s\":{\"command\":\"near\"}}}");
	scratch_write(
		&w->scratch, "a/.mcpx.json",
		"{\"pool\":{\"max\":7,\"min\":1},"
		"\"mcpServers\":{\"s\":{\"command\":\"far\",\"args\":[\"x\"]},\"t\":{\"command\":\"t\"}}}");
	assert_int_equal(search_from(w, "a/b"), 0);
	assert_int_equal(settings_int(w->set, SETTING_POOL_MAX), 2);
	assert_int_equal(settings_int(w->set, SETTING_POOL_MIN), 1);
	assert_int_equal(w->config->server_count, 2);
	assert_string_equal(server(w, "s")->process.command.p, "near");
	assert_int_equal(server(w, "s")->process.args.count, 0);
	assert_string_equal(server(w, "t")->file.p, at_root(w, "@/a/.mcpx.json"));
}

static void a_nearer_file_can_switch_a_server_off(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"mcpServers\":{\"s\":{\"mcpx\":{\"disabled\":true}}}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"mcpServers\":{\"s\":{\"command\":\"far\"}}}");
	assert_int_equal(search_from(w, "a/b"), 0);
	assert_int_equal(w->config->server_count, 1);
	assert_true(server(w, "s")->disabled);
	assert_null(server(w, "s")->error);
}

static void a_server_is_switched_off_in_the_words_of_other_programs_too(void **state)
{
	struct world *w = *state;

	must_load(w, "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"disabled\":true},"
		     "\"b\":{\"command\":\"x\",\"enabled\":false},"
		     "\"c\":{\"command\":\"x\",\"disabled\":false,\"enabled\":true},"
		     "\"d\":{\"mcpx\":{\"disabled\":false},\"command\":\"x\",\"disabled\":true},"
		     "\"e\":{\"command\":\"x\",\"disabled\":\"true\"},"
		     "\"f\":{\"command\":\"x\",\"enabled\":0}}}");
	assert_true(server(w, "a")->disabled && server(w, "b")->disabled);
	assert_false(server(w, "c")->disabled || server(w, "d")->disabled);
	assert_null(server(w, "a")->error);
	assert_non_null(strstr(server(w, "e")->error->message, "disabled: expected true or false"));
	assert_non_null(strstr(server(w, "f")->error->message, "enabled: expected true or false"));
}

static void a_list_replaces_what_would_come_after_it(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json",
		      "{\"paths\":{\"config\":[\"extra.json\",null,\"../../last.json\"]}}");
	scratch_write(&w->scratch, "a/b/extra.json", "{\"paths\":{\"config\":[]}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"paths\":{\"config\":[\"dir\",\"none.json\"]}}");
	scratch_write(&w->scratch, "a/dir/.mcp.json", "{}");
	scratch_write(&w->scratch, "last.json", "{}");
	scratch_write(&w->scratch, "home/.mcpx.json", "{}");
	assert_int_equal(search_from(w, "a/b"), 0);
	are_loaded(w, "a/b/.mcpx.json|a/b/extra.json|a/.mcpx.json|a/dir/.mcp.json");
	assert_string_equal(source(w, "a/b/extra.json")->named_by.p, at_root(w, "@/a/b/.mcpx.json"));
	assert_string_equal(
		source(w, "a/b/extra.json")->note.p,
		at_root(w, "its paths.config has no effect, because @/a/b/.mcpx.json brought the file in"));
	assert_string_equal(source(w, "a/none.json")->note.p, "does not exist");
	assert_false(source(w, "a/none.json")->loaded);
}

static void the_environment_can_begin_the_list(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json", "{}");
	scratch_write(&w->scratch, "first.json", "{}");
	scratch_write(&w->scratch, "home/last.json", "{}");
	set_variable(w, "MCPX_PATHS_CONFIG", STR("../first.json,null,~/last.json"));
	assert_int_equal(search_from(w, "a"), 0);
	are_loaded(w, "a/../first.json|a/.mcpx.json|home/last.json");
	assert_string_equal(source(w, "a/../first.json")->named_by.p, "MCPX_PATHS_CONFIG");
}

static void a_circle_is_refused_where_it_closes(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/b/.mcpx.json", "{\n \"paths\":{\"config\":[null]}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"paths\": {\"config\": [\"b/.mcpx.json\"]}}");
	assert_int_equal(search_from(w, "a/b"), ERR_INVALID);
	assert_string_equal(w->err.message,
			    at_root(w, "@/a/.mcpx.json:1:12: paths.config leads in a circle: it names "
				       "b/.mcpx.json, which led here"));
	assert_int_equal(w->err.line, 1);
	assert_int_equal(w->err.column, 12);
}

static void a_file_is_read_once_whatever_names_it(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json",
		      "{\"paths\":{\"config\":[\"link.json\",\"link.json\",\"real.json\"]}}");
	scratch_write(&w->scratch, "a/real.json", "{}");
	assert_int_equal(symlink("real.json", scratch_path(&w->scratch, "a/link.json").p), 0);
	assert_int_equal(search_from(w, "a"), 0);
	are_loaded(w, "a/.mcpx.json|a/link.json");
	assert_string_equal(source(w, "a/link.json")->real.p, at_root(w, "@/a/real.json"));
	assert_string_equal(source(w, "a/real.json")->note.p,
			    at_root(w, "is @/a/link.json, which was read already"));
}

static void a_file_of_somebody_else_is_not_found_by_searching(void **state)
{
	struct world *w = *state;
	struct str path =
		scratch_write(&w->scratch, "a/.mcpx.json", "{\"mcpServers\":{\"s\":{\"command\":\"evil\"}}}");

	if (geteuid() != 0) {
		print_message("skipped: only root can make a file of somebody else\n");
		skip();
	}
	assert_int_equal(chown(path.p, 4711, 4711), 0);
	assert_int_equal(search_from(w, "a"), 0);
	assert_int_equal(w->config->server_count, 0);
	assert_string_equal(source(w, "a/.mcpx.json")->note.p,
			    "not read: it belongs to another user; name it with --config to read it");
}

/* -- for who looks for a daemon that runs ---------------------------------------------------------------- */

static void finds(struct world *w, const char *cwd)
{
	config_free(&w->config);
	settings_free(&w->set);
	w->set = settings_new();
	if (settings_load_lenient(w->set, &w->config, &w->environment, scratch_path(&w->scratch, cwd),
				  &w->err) < 0)
		fail_msg("%s", w->err.message);
}

static void a_file_that_cannot_be_taken_keeps_its_place_and_says_nothing(void **state)
{
	static const char *const faults[] = {
		"{\"search\":{\"limit\":3},",				  /* no JSON */
		"[]",							  /* no object */
		"{\"search\":{\"limit\":3},\"pool\":{\"max\":\"many\"}}", /* a wrong value behind a good one */
		"{\"search\":{\"limit\":3},\"paths\":{\"config\":5}}",	  /* no list */
		"{\"search\":{\"limit\":3},\"paths\":{\"config\":[\".mcpx.json\"]}}", /* a circle */
	};
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json", "{\"search\":{\"limit\":7},\"pool\":{\"max\":2}}");
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		scratch_write(&w->scratch, "a/b/.mcpx.json", faults[i]);
		assert_true(search_from(w, "a/b") < 0);
		finds(w, "a/b");
		are_loaded(w, "a/b/.mcpx.json|a/.mcpx.json");
		assert_string_equal(source(w, "a/b/.mcpx.json")->real.p, at_root(w, "@/a/b/.mcpx.json"));
		assert_int_equal(settings_int(w->set, SETTING_SEARCH_LIMIT), 7);
		assert_int_equal(settings_int(w->set, SETTING_POOL_MAX), 2);
	}
}

static void a_broken_file_is_one_file_whatever_names_it(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "a/.mcpx.json", "{\"paths\":{\"config\":[\"link.json\",\"real.json\"]}}");
	scratch_write(&w->scratch, "a/real.json", "{");
	assert_int_equal(symlink("real.json", scratch_path(&w->scratch, "a/link.json").p), 0);
	finds(w, "a");
	are_loaded(w, "a/.mcpx.json|a/link.json");
}

static void keys_that_are_refused_do_not_matter_for_finding(void **state)
{
	struct world *w = *state;

	assert_int_equal(load_text(w, "{\"plumbing\":{\"strictUnknownKeys\":true},\"colour\":1}"),
			 ERR_INVALID);
	finds(w, "one");
	are_loaded(w, "one/mcpx.json");
}

/* The one file, named by the environment, is known by the path `real`. */
static void is_real(struct world *w, const char *name, const char *real)
{
	w->environment.entries = (const char *const *)arena_array(&w->scratch.arena, const char *, 16);
	set_variable(w, "MCPX_CONFIG", scratch_path(&w->scratch, name));
	finds(w, "home");
	assert_int_equal(w->config->source_count, 1);
	assert_string_equal(w->config->sources[0].path.p, scratch_path(&w->scratch, name).p);
	assert_string_equal(w->config->sources[0].real.p, at_root(w, real));
}

static void links_to(struct world *w, const char *name, const char *target)
{
	assert_int_equal(symlink(target, scratch_path(&w->scratch, name).p), 0);
}

/* As its path was resolved while it was there. */
static void a_named_file_that_is_gone_is_known_by_where_it_was(void **state)
{
	struct world *w = *state;

	scratch_write(&w->scratch, "real/other.json", "{}");
	links_to(w, "link", "real");
	links_to(w, "real/relative.json", "../link/gone.json");
	links_to(w, "real/absolute.json", scratch_path(&w->scratch, "link/gone.json").p);
	links_to(w, "real/round.json", "round.json");
	is_real(w, "link/gone.json", "@/real/gone.json");
	is_real(w, "link/relative.json", "@/real/gone.json");
	is_real(w, "link/absolute.json", "@/real/gone.json");
	is_real(w, "link/none/at/all.json", "@/real/none/at/all.json");
	is_real(w, "link/round.json", "@/link/round.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(files_are_searched_upwards_and_then_at_home),
		IN_WORLD(relative_homes_are_not_searched),
		IN_WORLD(one_file_can_be_named_instead),
		IN_WORLD(a_named_file_must_exist),
		IN_WORLD(the_nearest_file_wins_per_value),
		IN_WORLD(a_nearer_file_can_switch_a_server_off),
		IN_WORLD(a_server_is_switched_off_in_the_words_of_other_programs_too),
		IN_WORLD(a_list_replaces_what_would_come_after_it),
		IN_WORLD(the_environment_can_begin_the_list),
		IN_WORLD(a_circle_is_refused_where_it_closes),
		IN_WORLD(a_file_is_read_once_whatever_names_it),
		IN_WORLD(a_file_of_somebody_else_is_not_found_by_searching),
		IN_WORLD(a_file_that_cannot_be_taken_keeps_its_place_and_says_nothing),
		IN_WORLD(a_broken_file_is_one_file_whatever_names_it),
		IN_WORLD(keys_that_are_refused_do_not_matter_for_finding),
		IN_WORLD(a_named_file_that_is_gone_is_known_by_where_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

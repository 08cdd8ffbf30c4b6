#include "base/base.h"
#include "settings/settings.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/config.h"
#include "settings/scratch.h"

/* One flag of `mcpx call`; what came of it and how many arguments it took. */
static int flag(struct settings *set, const char *argument, const char *next, unsigned *ret_used,
		struct err *err)
{
	return settings_add_flag(set, STR("call"), argument, next, ret_used, err);
}

static void flag_fails(struct settings *set, const char *argument, const char *next, const char *message)
{
	struct err err;
	unsigned used;

	assert_int_equal(flag(set, argument, next, &used, &err), ERR_INVALID);
	assert_string_equal(err.message, message);
}

static void everything_begins_at_its_default(void **state)
{
	struct settings *set = settings_new();

	(void)state;
	assert_int_equal(settings_duration(set, SETTING_POOL_CALL_TIMEOUT), 120000);
	assert_int_equal(settings_bytes(set, SETTING_ARTIFACTS_MAX_BYTES), 64 << 20);
	assert_int_equal(settings_int(set, SETTING_POOL_MAX), 4);
	assert_true(settings_bool(set, SETTING_DAEMON_AUTOSTART));
	assert_int_equal(settings_choice(set, SETTING_EXEC_OUTPUT), CHOICE_EXEC_OUTPUT_TEXT);
	assert_string_equal(settings_string(set, SETTING_SERVE_MODE).p, "code-mode");
	assert_string_equal(settings_string(set, SETTING_PROTO_MCP_PATH).p, "/mcp");
	assert_int_equal(settings_items(set, SETTING_SCRIPT_RUNTIME_ORDER).count, 2);
	assert_string_equal(settings_items(set, SETTING_SCRIPT_RUNTIME_ORDER).items[0].p, "deno");
	assert_int_equal(settings_items(set, SETTING_PATHS_CONFIG).count, 0);
	assert_int_equal(settings_source(set, SETTING_POOL_MAX), SETTING_FROM_DEFAULT);
	settings_free(&set);
	assert_null(set);
	settings_free(&set);
}

static void flags_take_their_value_from_either_side(void **state)
{
	struct settings *set = settings_new();
	unsigned used = 0;

	(void)state;
	assert_int_equal(flag(set, "--pool-max=3", "x", &used, NULL), 1);
	assert_int_equal(used, 1);
	assert_int_equal(settings_int(set, SETTING_POOL_MAX), 3);
	assert_int_equal(flag(set, "--pool-call-timeout", "1m30s", &used, NULL), 1);
	assert_int_equal(used, 2);
	assert_int_equal(settings_duration(set, SETTING_POOL_CALL_TIMEOUT), 90000);
	assert_int_equal(flag(set, "--json", "next", &used, NULL), 1);
	assert_int_equal(used, 1);
	assert_true(settings_bool(set, SETTING_OUTPUT_JSON));
	assert_int_equal(flag(set, "--no-json", NULL, &used, NULL), 1);
	assert_false(settings_bool(set, SETTING_OUTPUT_JSON));
	assert_int_equal(flag(set, "--json=on", NULL, &used, NULL), 1);
	assert_true(settings_bool(set, SETTING_OUTPUT_JSON));
	assert_int_equal(settings_add_flag(set, STR("search"), "-n", "7", &used, NULL), 1);
	assert_int_equal(settings_int(set, SETTING_SEARCH_LIMIT), 7);
	settings_free(&set);
}

static void what_is_no_setting_is_left_to_others(void **state)
{
	struct settings *set = settings_new();
	unsigned used = 77;

	(void)state;
	assert_int_equal(flag(set, "--unknown", "1", &used, NULL), 0);
	assert_int_equal(flag(set, "files.read", NULL, &used, NULL), 0);
	assert_int_equal(flag(set, "--", NULL, &used, NULL), 0);
	assert_int_equal(flag(set, "-", NULL, &used, NULL), 0);
	assert_int_equal(flag(set, "-json", NULL, &used, NULL), 0);
	assert_int_equal(flag(set, "--limit", "1", &used, NULL), 0);
	assert_int_equal(flag(set, "--no-pool-max", "1", &used, NULL), 0);
	assert_int_equal(flag(set, "", NULL, &used, NULL), 0);
	assert_int_equal(used, 77);
	settings_free(&set);
}

static void a_wrong_flag_says_what_is_wrong(void **state)
{
	struct settings *set = settings_new();

	(void)state;
	flag_fails(
		set, "--pool-max", NULL,
		"--pool-max needs a value: most instances of one server at once; a server of global scope has one");
	flag_fails(set, "--pool-max", "many", "--pool-max: expected an integer, got \"many\"");
	flag_fails(set, "--pool-max=0", NULL, "--pool-max: 0 is too small; the least is 1");
	flag_fails(set, "--daemon-port=65536", NULL, "--daemon-port: 65536 is too large; the most is 65535");
	flag_fails(set, "--logging-format=xml", NULL,
		   "--logging-format: expected text, json or logfmt, got \"xml\"");
	flag_fails(set, "--json=2", NULL, "--json: expected true or false, got \"2\"");
	flag_fails(set, "--artifacts-gc-interval=10ms", NULL,
		   "--artifacts-gc-interval: 10ms is too short; the least is 1s");
	flag_fails(set, "--http-header-limit=1B", NULL,
		   "--http-header-limit: 1B is too small; the least is 4KiB");
	settings_free(&set);
}

static void a_repeated_flag_replaces_and_a_second_spelling_is_refused(void **state)
{
	struct settings *set = settings_new();
	unsigned used;

	(void)state;
	assert_int_equal(flag(set, "--log-level=debug", NULL, &used, NULL), 1);
	assert_int_equal(flag(set, "--log-level=warn", NULL, &used, NULL), 1);
	assert_int_equal(settings_choice(set, SETTING_LOGGING_LEVEL), CHOICE_LOGGING_LEVEL_WARN);
	flag_fails(
		set, "--logging-level=warn", NULL,
		"--log-level and --logging-level are two spellings of one setting, logging.level: give one of them");
	settings_free(&set);
}

static void a_flag_that_repeats_adds_elements(void **state)
{
	struct settings *set = settings_new();
	struct setting_items items;
	unsigned used;

	(void)state;
	assert_int_equal(settings_add_flag(set, STR("run"), "--env", "A=1,2", &used, NULL), 1);
	assert_int_equal(settings_add_flag(set, STR("run"), "--env", "B=", &used, NULL), 1);
	items = settings_items(set, SETTING_SCRIPT_ENV);
	assert_int_equal(items.count, 2);
	assert_string_equal(items.items[0].p, "A=1,2");
	assert_string_equal(items.items[1].p, "B=");
	settings_free(&set);
}

static void the_environment_lies_below_flags(void **state)
{
	struct environment environment =
		ENVIRONMENT("PATH=/bin", "MCPX_POOL_MAX=9", "MCPX_SESSION=x",
			    "MCPX_SEARCH_LIMIT=", "MCPX_PATHS_CONFIG=a.json, null ,,b.json", "MCPX_BROKEN",
			    "MCPX_LOG_LEVEL=debug", "MCPX_LOGGING_LEVEL=debug");
	struct settings *set = settings_new();
	struct setting_items paths;
	unsigned used;

	(void)state;
	assert_int_equal(flag(set, "--pool-max=3", NULL, &used, NULL), 1);
	assert_int_equal(settings_add_environment(set, &environment, NULL), 0);
	assert_int_equal(settings_int(set, SETTING_POOL_MAX), 3);
	assert_int_equal(settings_source(set, SETTING_POOL_MAX), SETTING_FROM_FLAG);
	assert_int_equal(settings_source(set, SETTING_SEARCH_LIMIT), SETTING_FROM_DEFAULT);
	assert_int_equal(settings_source(set, SETTING_LOGGING_LEVEL), SETTING_FROM_ENV);
	paths = settings_items(set, SETTING_PATHS_CONFIG);
	assert_int_equal(paths.count, 3);
	assert_string_equal(paths.items[0].p, "a.json");
	assert_null(paths.items[1].p);
	assert_string_equal(paths.items[2].p, "b.json");
	settings_free(&set);
}

static void two_variables_with_two_values_are_refused(void **state)
{
	struct environment environment = ENVIRONMENT("MCPX_LOG_LEVEL=debug", "MCPX_LOGGING_LEVEL=info");
	struct environment wrong = ENVIRONMENT("MCPX_POOL_MAX=x");
	struct settings *set = settings_new();
	struct err err;

	(void)state;
	assert_int_equal(settings_add_environment(set, &environment, &err), ERR_INVALID);
	assert_string_equal(
		err.message,
		"MCPX_LOG_LEVEL=debug and MCPX_LOGGING_LEVEL=info are two spellings of one setting, "
		"logging.level, with two values: unset one of them");
	assert_int_equal(settings_add_environment(set, &wrong, &err), ERR_INVALID);
	assert_string_equal(err.message, "MCPX_POOL_MAX: expected an integer, got \"x\"");
	settings_free(&set);
}

static void a_slip_in_a_variables_name_is_found(void **state)
{
	struct environment environment = ENVIRONMENT("MCPX_SERCH_LIMIT=1", "MCPX_POOL_MAX=1", "PATH=/bin",
						     "MCPX_LOG_LEVLE=info", "MCPX_");
	/* What exec/run.c and sessions define, and what is far from everything. */
	struct environment others = ENVIRONMENT(
		"MCPX_SOCKET=s", "MCPX_RUN=r", "MCPX_SESSION=s", "MCPX_SESSION_ID=s", "MCPX_CWD=/",
		"MCPX_PID=1", "MCPX_RUNTIME=deno", "MCPX_CHANNEL=1", "MCPX_CLIENT=c", "MCPX_ENTRY=e",
		"MCPX_ENTRY_NAME=n", "MCPX_ENTRY_OFFSET=0", "MCPX_EXPORT=", "MCPX_CAPTURE_CONSOLE=1",
		"MCPX_ARTIFACTS_LOCAL=1", "MCPX_ARTIFACTS_DIR=/a", "MCPX_PARENT_SESSION_ID=p", "MCPX_BIN=/b",
		"MCPX_TEST_SERVER=/t", "MCPX_FAVOURITE_COLOUR=red");
	struct str name, meant;
	size_t at = 0;

	(void)state;
	assert_true(settings_next_misspelt(&environment, &at, &name, &meant));
	assert_true(str_eq(name, STR("MCPX_SERCH_LIMIT")));
	assert_true(str_eq(meant, STR("MCPX_SEARCH_LIMIT")));
	assert_true(settings_next_misspelt(&environment, &at, &name, &meant));
	assert_true(str_eq(name, STR("MCPX_LOG_LEVLE")));
	assert_true(str_eq(meant, STR("MCPX_LOG_LEVEL")));
	assert_false(settings_next_misspelt(&environment, &at, &name, &meant));
	at = 0;
	if (settings_next_misspelt(&others, &at, &name, &meant))
		fail_msg("%.*s is no slip for %.*s", STR_ARG(name), STR_ARG(meant));
}

static void flags_and_variables_have_the_form_that_their_setting_asks_for(void **state)
{
	struct environment environment = ENVIRONMENT("MCPX_SCRIPT_ENV=A=1,B");
	struct settings *set = settings_new();
	struct setting_change change;
	struct err err;

	(void)state;
	assert_int_equal(settings_add_environment(set, &environment, &err), ERR_INVALID);
	assert_string_equal(err.message, "MCPX_SCRIPT_ENV: \"B\" has no =: a variable is written NAME=VALUE");
	flag_fails(set, "--script-env", "B",
		   "--script-env: \"B\" has no =: a variable is written NAME=VALUE");
	flag_fails(set, "--proto-mcp-path=mcp", NULL,
		   "--proto-mcp-path: \"mcp\" does not begin with /: a path such as /mcp is expected");
	assert_int_equal(settings_set_runtime(set, SETTING_PROTO_MCP_PATH, STR("x"), &change, &err),
			 ERR_INVALID);
	settings_free(&set);
}

static void a_hot_setting_changes_at_run_time(void **state)
{
	struct settings *set = settings_new();
	struct setting_change change;
	unsigned used;

	(void)state;
	assert_int_equal(flag(set, "--pool-max=3", NULL, &used, NULL), 1);
	assert_int_equal(settings_set_runtime(set, SETTING_POOL_MAX, STR("5"), &change, NULL), 0);
	assert_true(change.applied);
	assert_false(change.restart_required);
	assert_null(change.note);
	assert_int_equal(settings_int(set, SETTING_POOL_MAX), 5);
	assert_int_equal(settings_source(set, SETTING_POOL_MAX), SETTING_FROM_RUNTIME);
	assert_int_equal(settings_set_runtime(set, SETTING_POOL_MAX, STR("6"), &change, NULL), 0);
	assert_int_equal(settings_int(set, SETTING_POOL_MAX), 6);
	assert_true(settings_unset_runtime(set, SETTING_POOL_MAX));
	assert_int_equal(settings_int(set, SETTING_POOL_MAX), 3);
	assert_false(settings_unset_runtime(set, SETTING_POOL_MAX));
	assert_int_equal(settings_set_runtime(set, SETTING_SEARCH_LIMIT, STR("6"), &change, NULL), 0);
	assert_true(change.applied);
	settings_free(&set);
}

static void a_change_that_cannot_take_effect_says_so(void **state)
{
	struct settings *set = settings_new();
	struct setting_change change;
	struct err err;

	(void)state;
	assert_int_equal(settings_set_runtime(set, SETTING_DAEMON_PORT, STR("80"), &change, NULL), 0);
	assert_false(change.applied);
	assert_true(change.restart_required);
	assert_string_equal(change.note, "the daemon reads this setting once, when it starts: set it in a "
					 "configuration file and restart the daemon");
	assert_int_equal(settings_int(set, SETTING_DAEMON_PORT), 0);
	assert_int_equal(settings_set_runtime(set, SETTING_OUTPUT_JSON, STR("true"), &change, NULL), 0);
	assert_false(change.applied);
	assert_false(change.restart_required);
	assert_string_equal(change.note,
			    "the command line acts on this setting, not the daemon: set it there, or "
			    "in a configuration file");
	assert_int_equal(settings_set_runtime(set, SETTING_POOL_MAX, STR("x"), &change, &err), ERR_INVALID);
	assert_string_equal(err.message, "pool.max: expected an integer, got \"x\"");
	settings_free(&set);
}

/* The header that a client with this one flag sends. */
static struct str header_of(const char *command, const char *argument, struct buf *out)
{
	struct settings *client = settings_new();
	unsigned used;

	assert_int_equal(settings_add_flag(client, str_of(command), argument, NULL, &used, NULL), 1);
	assert_int_equal(settings_write_header(client, out), 0);
	settings_free(&client);
	return buf_str(out);
}

static void a_client_sends_what_its_flags_decide_about_a_call(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 4096);
	assert_true(str_eq(header_of("search", "--limit=3", &out), STR("{\"search.limit\":\"3\"}")));
	buf_clear(&out, 0);
	assert_int_equal(header_of("call", "--pool-max=3", &out).n, 0);
	buf_clear(&out, 0);
	/* The default is worth sending too, when a flag asks for it: the daemon's files may say otherwise. */
	assert_true(str_eq(header_of("search", "--limit=20", &out), STR("{\"search.limit\":\"20\"}")));
}

static void a_call_has_its_own_values_over_the_daemons(void **state)
{
	struct settings *set = settings_new();
	const struct settings *call = NULL;
	struct setting_change change;
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(settings_for_call(&call, set,
					   STR("{\"search.limit\":\"3\",\"pool.max\":\"9\",\"no.such\":\"1\","
					       "\"exec.timeout\":\"1s\"}"),
					   &arena, NULL),
			 0);
	assert_int_equal(settings_int(call, SETTING_SEARCH_LIMIT), 3);
	assert_int_equal(settings_source(call, SETTING_SEARCH_LIMIT), SETTING_FROM_CALL);
	assert_int_equal(settings_duration(call, SETTING_EXEC_TIMEOUT), 1000);
	assert_int_equal(settings_int(call, SETTING_POOL_MAX), 4);
	assert_int_equal(settings_int(set, SETTING_SEARCH_LIMIT), 20);
	/* What changes in the daemon meanwhile is seen through the call's set. */
	assert_int_equal(settings_set_runtime(set, SETTING_POOL_MAX, STR("2"), &change, NULL), 0);
	assert_int_equal(settings_int(call, SETTING_POOL_MAX), 2);
	arena_release(&arena);
	settings_free(&set);
}

static void a_malformed_header_is_told_and_has_no_effect(void **state)
{
	static const struct {
		struct str header;
		const char *message;
	} cases[] = {
		{ STR_INIT("[]"), "X-Mcpx-Settings: expected an object from path to text" },
		{ STR_INIT("{\"search.limit\":\"x\"}"),
		  "X-Mcpx-Settings: search.limit: expected an integer, got \"x\"" },
		{ STR_INIT("{\"search.limit\":null}"),
		  "X-Mcpx-Settings: search.limit: expected an integer, got null" },
	};
	struct settings *set = settings_new();
	const struct settings *call = NULL;
	struct arena arena;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(settings_for_call(&call, set, cases[i].header, &arena, &err), ERR_INVALID);
		assert_string_equal(err.message, cases[i].message);
		assert_ptr_equal(call, set);
	}
	assert_int_equal(settings_for_call(&call, set, STR("{"), &arena, &err), ERR_INVALID);
	assert_true(str_starts_with(str_of(err.message), STR("X-Mcpx-Settings: line 1, column 2: ")));
	assert_int_equal(settings_for_call(&call, set, STR(""), &arena, &err), 0);
	assert_ptr_equal(call, set);
	arena_release(&arena);
	settings_free(&set);
}

/* -- files ----------------------------------------------------------------------------------------------- */

struct loaded {
	struct scratch scratch;
	struct settings *set;
	struct config *config;
	struct environment environment;
};

static void load(struct loaded *l, const char *text)
{
	struct str path;
	struct err err;

	scratch_init(&l->scratch);
	path = scratch_write(&l->scratch, "mcpx.json", text);
	l->environment = (struct environment){ arena_array(&l->scratch.arena, const char *, 2) };
	((const char **)(uintptr_t)l->environment.entries)[0] =
		arena_printf(&l->scratch.arena, "MCPX_CONFIG=%s", path.p).p;
	l->set = settings_new();
	if (settings_load(l->set, &l->config, &l->environment, l->scratch.root, &err) < 0)
		fail_msg("%s", err.message);
}

static void reload(struct loaded *l, const char *text)
{
	struct config *next = NULL;

	scratch_write(&l->scratch, "mcpx.json", text);
	assert_int_equal(config_reload(&next, l->config, l->set, &l->environment, NULL), 0);
	assert_int_equal(settings_add_config(l->set, next, true, NULL), 0);
	config_free(&l->config);
	l->config = next;
}

static void unload(struct loaded *l)
{
	config_free(&l->config);
	settings_free(&l->set);
	scratch_release(&l->scratch);
}

static void files_lie_below_the_environment(void **state)
{
	struct loaded l;
	unsigned used;

	(void)state;
	load(&l,
	     "{\"pool\":{\"max\":2,\"callTimeout\":\"5s\"},\"serve\":{\"mode\":\"full\"},\"policy\":{\"write\":\"allow\"}}");
	assert_int_equal(settings_int(l.set, SETTING_POOL_MAX), 2);
	assert_int_equal(settings_source(l.set, SETTING_POOL_MAX), SETTING_FROM_FILE);
	assert_int_equal(settings_choice(l.set, SETTING_SERVE_MODE), CHOICE_SERVE_MODE_FULL);
	/* A section of a later version: no error, and noted. */
	assert_int_equal(l.config->ignored_count, 1);
	assert_string_equal(l.config->ignored[0].key.p, "policy");
	assert_true(l.config->ignored[0].unclaimed);
	assert_int_equal(flag(l.set, "--pool-max=3", NULL, &used, NULL), 1);
	assert_int_equal(settings_int(l.set, SETTING_POOL_MAX), 3);
	unload(&l);
}

static void a_reload_changes_hot_settings_only(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "{\"pool\":{\"max\":2},\"http\":{\"connections\":100},\"proto\":{\"mcpPath\":\"/x\"}}");
	reload(&l, "{\"pool\":{\"max\":5},\"http\":{\"connections\":200}}");
	assert_int_equal(settings_int(l.set, SETTING_POOL_MAX), 5);
	assert_int_equal(settings_int(l.set, SETTING_HTTP_CONNECTIONS), 100);
	assert_string_equal(settings_string(l.set, SETTING_PROTO_MCP_PATH).p, "/x");
	reload(&l, "{}");
	assert_int_equal(settings_int(l.set, SETTING_POOL_MAX), 4);
	assert_int_equal(settings_int(l.set, SETTING_HTTP_CONNECTIONS), 100);
	unload(&l);
}

static void strictness_makes_an_unclaimed_key_an_error(void **state)
{
	struct loaded l;
	struct config *next = NULL;
	struct err err;

	(void)state;
	load(&l, "{\"pool\":{},\n \"colour\":1}");
	assert_int_equal(l.config->ignored_count, 1);
	scratch_write(&l.scratch, "mcpx.json", "{\"plumbing\":{\"strictUnknownKeys\":true},\n \"colour\":1}");
	assert_int_equal(config_reload(&next, l.config, l.set, &l.environment, NULL), 0);
	assert_int_equal(settings_add_config(l.set, next, true, &err), ERR_INVALID);
	assert_string_equal(
		err.message,
		arena_printf(&l.scratch.arena,
			     "%s/mcpx.json:2:2: unknown key colour (plumbing.strictUnknownKeys makes that "
			     "an error)",
			     l.scratch.root.p)
			.p);
	config_free(&next);
	unload(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_begins_at_its_default),
		cmocka_unit_test(flags_take_their_value_from_either_side),
		cmocka_unit_test(what_is_no_setting_is_left_to_others),
		cmocka_unit_test(a_wrong_flag_says_what_is_wrong),
		cmocka_unit_test(a_repeated_flag_replaces_and_a_second_spelling_is_refused),
		cmocka_unit_test(a_flag_that_repeats_adds_elements),
		cmocka_unit_test(the_environment_lies_below_flags),
		cmocka_unit_test(two_variables_with_two_values_are_refused),
		cmocka_unit_test(a_slip_in_a_variables_name_is_found),
		cmocka_unit_test(flags_and_variables_have_the_form_that_their_setting_asks_for),
		cmocka_unit_test(a_hot_setting_changes_at_run_time),
		cmocka_unit_test(a_change_that_cannot_take_effect_says_so),
		cmocka_unit_test(a_client_sends_what_its_flags_decide_about_a_call),
		cmocka_unit_test(a_call_has_its_own_values_over_the_daemons),
		cmocka_unit_test(a_malformed_header_is_told_and_has_no_effect),
		cmocka_unit_test(files_lie_below_the_environment),
		cmocka_unit_test(a_reload_changes_hot_settings_only),
		cmocka_unit_test(strictness_makes_an_unclaimed_key_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

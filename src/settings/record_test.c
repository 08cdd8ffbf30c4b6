#include "base/base.h"
#include "settings/record.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/config.h"
#include "settings/scratch.h"

/* A set in which pool.max comes from two files, the environment, a flag and a change at run time. */
struct world {
	struct scratch scratch;
	struct settings *set;
	struct config *config;
	struct environment environment;
	struct buf out;
	struct json_writer w;
};

static int set_up(void **state)
{
	struct world *w = xnew(struct world);
	const char **entries;
	struct setting_change change;
	unsigned used;

	scratch_init(&w->scratch);
	scratch_write(&w->scratch, "a/b/.mcpx.json", "{\"pool\":{\"max\":2},\"http\":{\"connections\":70}}");
	scratch_write(&w->scratch, "a/.mcpx.json", "{\"pool\":\n{\"max\":3}}");
	entries = arena_array(&w->scratch.arena, const char *, 3);
	entries[0] = arena_printf(&w->scratch.arena, "HOME=%s/home", w->scratch.root.p).p;
	entries[1] = "MCPX_POOL_MAX=5";
	w->environment.entries = entries;
	w->set = settings_new();
	assert_int_equal(settings_add_flag(w->set, STR("call"), "--pool-max=6", NULL, &used, NULL), 1);
	assert_int_equal(
		settings_load(w->set, &w->config, &w->environment, scratch_path(&w->scratch, "a/b"), NULL),
		0);
	assert_int_equal(settings_set_runtime(w->set, SETTING_POOL_MAX, STR("9"), &change, NULL), 0);
	buf_init(&w->out, 1 << 20);
	json_writer_init(&w->w, &w->out, false);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	buf_release(&w->out);
	config_free(&w->config);
	settings_free(&w->set);
	scratch_release(&w->scratch);
	free(w);
	return 0;
}

/* What was written, with the scratch directory as "@". */
static const char *written(struct world *w)
{
	struct str rest = buf_str(&w->out), all = STR("");
	size_t at;

	while ((at = str_find(rest, w->scratch.root)) != STR_NONE) {
		all = arena_concat(&w->scratch.arena, all, str_slice(rest, 0, at), STR("@"));
		rest = str_from(rest, at + w->scratch.root.n);
	}
	return arena_concat(&w->scratch.arena, all, rest, STR("")).p;
}

/* For the next document. */
static void start_anew(struct world *w)
{
	buf_clear(&w->out, 0);
	json_writer_init(&w->w, &w->out, false);
}

static void a_record_tells_what_was_displaced(void **state)
{
	struct world *w = *state;

	setting_write_record(w->set, SETTING_POOL_MAX, &w->w);
	assert_string_equal(
		written(w),
		"{\"path\":\"pool.max\",\"kind\":\"int\",\"value\":\"9\",\"default\":\"4\",\"source\":\"runtime\",\"shadowed\":["
		"{\"value\":\"6\",\"source\":\"flag\",\"origin\":\"--pool-max\"},"
		"{\"value\":\"5\",\"source\":\"env\",\"origin\":\"MCPX_POOL_MAX\"},"
		"{\"value\":\"2\",\"source\":\"file\",\"origin\":\"@/a/b/.mcpx.json:1:10\"},"
		"{\"value\":\"3\",\"source\":\"file\",\"origin\":\"@/a/.mcpx.json:2:2\"},"
		"{\"value\":\"4\",\"source\":\"default\"}],"
		"\"env\":\"MCPX_POOL_MAX\",\"flag\":\"pool-max\",\"name\":\"pool max\","
		"\"description\":\"most instances of one server at once; a server of global scope has one\","
		"\"scope\":\"daemon\",\"hot\":true,\"plumbing\":false}");
}

static void a_record_has_what_the_declaration_says(void **state)
{
	struct world *w = *state;

	setting_write_record(w->set, SETTING_LOGGING_LEVEL, &w->w);
	assert_string_equal(
		written(w),
		"{\"path\":\"logging.level\",\"kind\":\"enum\",\"value\":\"info\",\"default\":\"info\","
		"\"source\":\"default\",\"shadowed\":[],\"env\":\"MCPX_LOGGING_LEVEL\","
		"\"envAliases\":[\"MCPX_LOG_LEVEL\"],\"flag\":\"logging-level\",\"flagAliases\":[\"log-level\"],"
		"\"name\":\"logging level\",\"description\":\"lowest level that is logged\","
		"\"enum\":[\"debug\",\"info\",\"warn\",\"error\"],\"scope\":\"daemon\",\"hot\":true,"
		"\"plumbing\":false}");
}

/* As the value is, so that the two can be compared: it is declared as 120s. */
static void the_default_is_spelled_as_the_value_is(void **state)
{
	struct world *w = *state;

	setting_write_record(w->set, SETTING_POOL_CALL_TIMEOUT, &w->w);
	assert_int_not_equal(str_find(buf_str(&w->out), STR("\"value\":\"2m\",\"default\":\"2m\"")),
			     STR_NONE);
}

static void what_waits_for_a_restart_is_shown(void **state)
{
	struct world *w = *state;
	struct config *next;

	scratch_write(&w->scratch, "a/b/.mcpx.json", "{\"http\":{\"connections\":80}}");
	assert_int_equal(config_reload(&next, w->config, w->set, &w->environment, NULL), 0);
	config_free(&w->config);
	w->config = next;
	assert_int_equal(settings_add_config(w->set, w->config, true, NULL), 0);
	setting_write_record(w->set, SETTING_HTTP_CONNECTIONS, &w->w);
	assert_int_not_equal(str_find(buf_str(&w->out), STR("\"pending\":\"80\"")), STR_NONE);
}

static size_t count_records(struct world *w, const struct setting_filter *filter)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	start_anew(w);
	settings_write_records(w->set, filter, &w->w);
	assert_int_equal(json_parse(&doc, buf_str(&w->out), NULL, NULL), 0);
	return json_count(json_root(&doc));
}

static void a_list_can_be_narrowed(void **state)
{
	struct world *w = *state;
	struct setting_filter all = { .plumbing = true }, changed = { .plumbing = true, .changed = true };
	struct setting_filter ordinary = { .prefix = STR("pool.") },
			      whole_pool = { .plumbing = true, .prefix = STR("pool.") };
	struct setting_filter of_calls = { .scoped = true, .scope = SETTING_SCOPE_CALL };

	assert_int_equal(count_records(w, &all), SETTING_COUNT);
	assert_int_equal(count_records(w, &changed), 2);
	assert_int_equal(count_records(w, &ordinary), 7);
	assert_true(count_records(w, &whole_pool) > 7);
	assert_in_range(count_records(w, &of_calls), 1, SETTING_COUNT / 2);
}

static void a_change_is_answered(void **state)
{
	struct world *w = *state;
	struct setting_change change;

	assert_int_equal(settings_set_runtime(w->set, SETTING_POOL_MIN, STR("2"), &change, NULL), 0);
	setting_write_change(w->set, SETTING_POOL_MIN, &change, &w->w);
	assert_string_equal(written(w), "{\"path\":\"pool.min\",\"value\":\"2\",\"applied\":true}");
	start_anew(w);
	assert_int_equal(settings_set_runtime(w->set, SETTING_DAEMON_PORT, STR("2"), &change, NULL), 0);
	setting_write_change(w->set, SETTING_DAEMON_PORT, &change, &w->w);
	assert_string_equal(
		written(w),
		"{\"path\":\"daemon.port\",\"value\":\"0\",\"applied\":false,\"restartRequired\":true,"
		"\"note\":\"the daemon reads this setting once, when it starts: set it in a "
		"configuration file and restart the daemon\"}");
}

static void scopes_have_words(void **state)
{
	enum setting_scope scope = SETTING_SCOPE_DAEMON;

	(void)state;
	assert_true(setting_scope_parse(STR("call"), &scope));
	assert_int_equal(scope, SETTING_SCOPE_CALL);
	assert_false(setting_scope_parse(STR("planet"), &scope));
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(a_record_tells_what_was_displaced),
		IN_WORLD(a_record_has_what_the_declaration_says),
		IN_WORLD(the_default_is_spelled_as_the_value_is),
		IN_WORLD(what_waits_for_a_restart_is_shown),
		IN_WORLD(a_list_can_be_narrowed),
		IN_WORLD(a_change_is_answered),
		cmocka_unit_test(scopes_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "settings/registry.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"

static const struct setting_declaration *named(const char *path)
{
	enum setting setting;

	assert_true(setting_find(str_of(path), &setting));
	return setting_declaration(setting);
}

static void spellings_follow_from_the_path(void **state)
{
	(void)state;
	assert_string_equal(named("pool.callTimeout")->env.p, "MCPX_POOL_CALL_TIMEOUT");
	assert_string_equal(named("pool.callTimeout")->flag.p, "pool-call-timeout");
	assert_string_equal(named("proto.serveMCP")->env.p, "MCPX_PROTO_SERVE_MCP");
	assert_string_equal(named("proto.serveMCP")->flag.p, "proto-serve-mcp");
	assert_string_equal(named("protoMessages.listMaxAge")->env.p, "MCPX_PROTO_MESSAGES_LIST_MAX_AGE");
	assert_string_equal(named("daemon.tcp")->flag.p, "daemon-tcp");
	assert_string_equal(named("transport.sseKeepAlive")->env.p, "MCPX_TRANSPORT_SSE_KEEP_ALIVE");
	assert_string_equal(named("paths.configFile")->env.p, "MCPX_CONFIG");
	assert_string_equal(named("paths.configFile")->flag.p, "config");
}

static void every_setting_is_found_by_all_its_spellings(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *d = &setting_declarations[i];
		struct str command = d->alias_commands.count > 0 ? d->alias_commands.words[0] : STR("call");
		enum setting found = SETTING_COUNT;

		assert_true(setting_find(d->path, &found) && found == i);
		assert_true(setting_find_env(d->env, &found) && found == i);
		assert_true(setting_find_flag(d->flag, command, &found) && found == i);
		for (size_t k = 0; k < d->env_aliases.count; k++)
			assert_true(setting_find_env(d->env_aliases.words[k], &found) && found == i);
		for (size_t k = 0; k < d->flag_aliases.count; k++)
			assert_true(setting_find_flag(d->flag_aliases.words[k], command, &found) &&
				    found == i);
	}
}

static void no_spelling_means_two_settings(void **state)
{
	struct map seen;

	(void)state;
	map_init(&seen, 0);
	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *d = &setting_declarations[i];

		assert_null(map_set(&seen, d->path, &seen));
		assert_null(map_set(&seen, d->env, &seen));
		assert_null(map_set(&seen, d->flag, &seen));
	}
	map_release(&seen);
}

static void a_short_flag_binds_only_where_it_was_declared(void **state)
{
	enum setting setting = SETTING_COUNT;

	(void)state;
	assert_true(setting_find_flag(STR("limit"), STR("search"), &setting));
	assert_int_equal(setting, SETTING_SEARCH_LIMIT);
	assert_false(setting_find_flag(STR("limit"), STR("call"), &setting));
	assert_true(setting_find_flag(STR("search-limit"), STR("call"), &setting));
	assert_false(setting_find_flag(STR("nonsense"), STR("call"), &setting));
	assert_false(setting_find(STR("pool"), &setting));
	assert_false(setting_find_env(STR("MCPX_SESSION"), &setting));
}

static void assert_unknown(const char *path, const char *what_then)
{
	char expected[ERR_MESSAGE_MAX];
	enum setting setting;
	struct err err;

	snprintf(expected, sizeof(expected), "there is no setting \"%s\"; %s", path, what_then);
	assert_int_equal(setting_named(str_of(path), &setting, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, expected);
}

static void a_slip_gets_a_suggestion_and_nonsense_none(void **state)
{
	static const char all[] = "`mcpx settings list --plumbing` has them all";
	enum setting setting;

	(void)state;
	assert_int_equal(setting_named(STR("pool.callTimeout"), &setting, NULL), 0);
	assert_int_equal(setting, SETTING_POOL_CALL_TIMEOUT);
	assert_unknown("pool.calltimeout", "did you mean pool.callTimeout?");
	assert_unknown("loging.level", "did you mean logging.level?");
	assert_unknown("callTimeout", "did you mean pool.callTimeout?");
	assert_unknown("Timeout", all);
	assert_unknown("xyzzy", all);
	assert_unknown("a.very.long.path.that.goes.on.and.on.and.on.until.it.is.too.long.to.compare", all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings_follow_from_the_path),
		cmocka_unit_test(every_setting_is_found_by_all_its_spellings),
		cmocka_unit_test(no_spelling_means_two_settings),
		cmocka_unit_test(a_short_flag_binds_only_where_it_was_declared),
		cmocka_unit_test(a_slip_gets_a_suggestion_and_nonsense_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

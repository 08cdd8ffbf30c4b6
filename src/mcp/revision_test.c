#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "mcp/revision.h"

static void names_find_their_revision(void **state)
{
	enum mcp_revision revision = MCP_LATEST;

	(void)state;
	for (unsigned i = 0; i < MCP_REVISION_COUNT; i++) {
		assert_true(mcp_revision_find(mcp_revision_name((enum mcp_revision)i), &revision));
		assert_int_equal(revision, i);
	}
	revision = MCP_2025_03_26;
	assert_false(mcp_revision_find(STR("2024-10-07"), &revision));
	assert_false(mcp_revision_find(STR(""), &revision));
	assert_int_equal(revision, MCP_2025_03_26);
}

static void initialize_gets_the_same_revision_or_the_latest_legacy_one(void **state)
{
	static const struct {
		struct str asked;
		enum mcp_revision answered;
	} rows[] = {
		{ STR_INIT("2024-11-05"), MCP_2024_11_05 }, { STR_INIT("2025-03-26"), MCP_2025_03_26 },
		{ STR_INIT("2025-06-18"), MCP_2025_06_18 }, { STR_INIT("2025-11-25"), MCP_2025_11_25 },
		{ STR_INIT("2026-07-28"), MCP_2025_11_25 }, { STR_INIT("2024-10-07"), MCP_2025_11_25 },
		{ STR_INIT("v999.0.0"), MCP_2025_11_25 },   { STR_INIT(""), MCP_2025_11_25 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(mcp_negotiate(rows[i].asked), rows[i].answered);
}

static void revisions_are_listed_newest_first(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 1024);
	mcp_write_revisions(&out, MCP_LEGACY);
	assert_string_equal(buf_cstr(&out), "[\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"]");
	buf_clear(&out, 0);
	mcp_write_revisions(&out, MCP_MODERN);
	assert_string_equal(buf_cstr(&out), "[\"2026-07-28\"]");
}

/* A letter per revision: the columns of the specification's matrix. */
static const char *columns(bool (*exists)(unsigned row, enum mcp_revision revision), unsigned row, char *text)
{
	for (unsigned i = 0; i < MCP_REVISION_COUNT; i++)
		text[i] = exists(row, (enum mcp_revision)i) ? 'x' : '-';
	text[MCP_REVISION_COUNT] = '\0';
	return text;
}

static bool has_feature(unsigned row, enum mcp_revision revision)
{
	return mcp_has(revision, (enum mcp_feature)row);
}

static bool has_method(unsigned row, enum mcp_revision revision)
{
	return mcp_method_exists((enum mcp_method)row, revision);
}

static void features_stand_in_the_columns_of_the_matrix(void **state)
{
	static const struct {
		enum mcp_feature feature;
		const char *columns;
	} rows[] = {
		{ MCP_HAS_HANDSHAKE, "xxxx-" },	       { MCP_HAS_REQUEST_META, "----x" },
		{ MCP_HAS_STREAMABLE_HTTP, "-xxxx" },  { MCP_HAS_HTTP_SESSIONS, "-xxx-" },
		{ MCP_HAS_VERSION_HEADER, "--xxx" },   { MCP_HAS_ROUTING_HEADERS, "----x" },
		{ MCP_HAS_STREAM_PRIMING, "---x-" },   { MCP_HAS_BATCHES, "-x---" },
		{ MCP_HAS_PROGRESS_MESSAGE, "-xxxx" }, { MCP_HAS_AUDIO, "-xxxx" },
		{ MCP_HAS_RESOURCE_LINK, "--xxx" },    { MCP_HAS_STRUCTURED_CONTENT, "--xxx" },
		{ MCP_HAS_ANY_STRUCTURED, "----x" },   { MCP_HAS_RESULT_TYPE, "----x" },
		{ MCP_HAS_CACHE_HINTS, "----x" },      { MCP_HAS_LISTEN, "----x" },
		{ MCP_HAS_SERVER_REQUESTS, "xxxx-" },  { MCP_HAS_ELICITATION, "--xxx" },
		{ MCP_HAS_CORE_TASKS, "---x-" },       { MCP_HAS_COMPLETIONS_CAPABILITY, "-xxxx" },
	};
	char text[MCP_REVISION_COUNT + 1];

	(void)state;
	assert_int_equal(ARRAY_LEN(rows), MCP_FEATURE_COUNT);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(columns(has_feature, rows[i].feature, text), rows[i].columns);
}

static void methods_exist_where_the_specification_has_them(void **state)
{
	static const struct {
		struct str name;
		enum mcp_method method;
		const char *columns;
	} rows[] = {
		{ STR_INIT("initialize"), MCP_INITIALIZE, "xxxx-" },
		{ STR_INIT("server/discover"), MCP_DISCOVER, "----x" },
		{ STR_INIT("ping"), MCP_PING, "xxxx-" },
		{ STR_INIT("tools/list"), MCP_TOOLS_LIST, "xxxxx" },
		{ STR_INIT("tools/call"), MCP_TOOLS_CALL, "xxxxx" },
		{ STR_INIT("logging/setLevel"), MCP_SET_LEVEL, "xxxx-" },
		{ STR_INIT("subscriptions/listen"), MCP_LISTEN, "----x" },
		{ STR_INIT("resources/subscribe"), MCP_RESOURCES_SUBSCRIBE, "xxxx-" },
		{ STR_INIT("elicitation/create"), MCP_ELICITATION_CREATE, "--xx-" },
		{ STR_INIT("tasks/result"), MCP_TASKS_RESULT, "---x-" },
		{ STR_INIT("tasks/update"), MCP_TASKS_UPDATE, "----x" },
		{ STR_INIT("notifications/initialized"), MCP_INITIALIZED, "xxxx-" },
		{ STR_INIT("no/such"), MCP_METHOD_UNKNOWN, "-----" },
		{ STR_INIT(""), MCP_METHOD_UNKNOWN, "-----" },
	};
	char text[MCP_REVISION_COUNT + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(mcp_method_find(rows[i].name), rows[i].method);
		assert_string_equal(columns(has_method, rows[i].method, text), rows[i].columns);
	}
}

static void every_method_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned i = MCP_METHOD_UNKNOWN + 1; i < MCP_METHOD_COUNT; i++)
		assert_int_equal(mcp_method_find(mcp_method_name((enum mcp_method)i)), i);
}

static void reserved_meta_keys_stay_on_their_hop(void **state)
{
	(void)state;
	assert_true(mcp_meta_is_per_hop(STR("progressToken")));
	assert_true(mcp_meta_is_per_hop(STR("io.modelcontextprotocol/protocolVersion")));
	assert_true(mcp_meta_is_per_hop(STR("io.modelcontextprotocol/subscriptionId")));
	assert_false(mcp_meta_is_per_hop(STR("traceparent")));
	assert_false(mcp_meta_is_per_hop(STR("io.modelcontextprotocol/related-task")));
}

static void log_levels_compare_by_severity(void **state)
{
	enum mcp_log_level level;

	(void)state;
	for (unsigned i = MCP_LOG_DEBUG; i < MCP_LOG_LEVELS; i++) {
		assert_true(mcp_log_level_find(mcp_log_level_name((enum mcp_log_level)i), &level));
		assert_int_equal(level, i);
	}
	assert_false(mcp_log_level_find(STR("loud"), &level));
	assert_false(mcp_log_level_find(STR(""), &level));
	assert_true(mcp_log_admits(MCP_LOG_INFO, MCP_LOG_INFO));
	assert_true(mcp_log_admits(MCP_LOG_INFO, MCP_LOG_ALERT));
	assert_false(mcp_log_admits(MCP_LOG_INFO, MCP_LOG_DEBUG));
	assert_false(mcp_log_admits(MCP_LOG_NONE, MCP_LOG_EMERGENCY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_find_their_revision),
		cmocka_unit_test(initialize_gets_the_same_revision_or_the_latest_legacy_one),
		cmocka_unit_test(revisions_are_listed_newest_first),
		cmocka_unit_test(features_stand_in_the_columns_of_the_matrix),
		cmocka_unit_test(methods_exist_where_the_specification_has_them),
		cmocka_unit_test(every_method_has_a_name_of_its_own),
		cmocka_unit_test(reserved_meta_keys_stay_on_their_hop),
		cmocka_unit_test(log_levels_compare_by_severity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

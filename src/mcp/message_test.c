#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "mcp/message.h"

static struct arena arena;

static int set_up(void **state)
{
	(void)state;
	arena_init(&arena, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void progress_is_read_as_far_as_it_is_valid(void **state)
{
	static const struct {
		const char *params;
		bool valid;
		const char *token, *progress, *total, *message;
	} rows[] = {
		{ "{\"progressToken\":7,\"progress\":0.50,\"total\":1e2,\"message\":\"\\u0061\"}", true, "7",
		  "0.50", "1e2", "a" },
		{ "{\"progressToken\":\"t\",\"progress\":-1}", true, "\"t\"", "-1", "", "" },
		{ "{\"progressToken\":1,\"progress\":2,\"total\":\"3\",\"message\":4}", true, "1", "2", "",
		  "" },
		{ "{\"progress\":1}", false, "", "", "", "" },
		{ "{\"progressToken\":1.5,\"progress\":1}", false, "", "", "", "" },
		{ "{\"progressToken\":null,\"progress\":1}", false, "", "", "", "" },
		{ "{\"progressToken\":1,\"progress\":\"1\"}", false, "", "", "", "" },
		{ "{\"progressToken\":1}", false, "", "", "", "" },
		{ "[]", false, "", "", "", "" },
		{ "", false, "", "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mcp_progress progress;
		struct str token;

		assert_int_equal(mcp_progress_read(str_of(rows[i].params), &arena, &progress, &token),
				 rows[i].valid);
		if (!rows[i].valid)
			continue;
		assert_true(str_eq(token, str_of(rows[i].token)));
		assert_true(str_eq(progress.progress, str_of(rows[i].progress)));
		assert_true(str_eq(progress.total, str_of(rows[i].total)));
		assert_true(str_eq(progress.message, str_of(rows[i].message)));
	}
}

static void log_messages_are_read_as_far_as_they_are_valid(void **state)
{
	static const struct {
		const char *params;
		bool valid;
		enum mcp_log_level level;
		const char *logger, *data;
	} rows[] = {
		{ "{\"level\":\"error\",\"logger\":\"l\\n\",\"data\":{ \"a\":1 }}", true, MCP_LOG_ERROR,
		  "l\n", "{ \"a\":1 }" },
		{ "{\"level\":\"debug\",\"data\":null}", true, MCP_LOG_DEBUG, NULL, "null" },
		{ "{\"level\":\"loud\",\"data\":1}", false, MCP_LOG_NONE, NULL, NULL },
		{ "{\"level\":3,\"data\":1}", false, MCP_LOG_NONE, NULL, NULL },
		{ "{\"level\":\"info\"}", false, MCP_LOG_NONE, NULL, NULL },
		{ "7", false, MCP_LOG_NONE, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mcp_log log;

		assert_int_equal(mcp_log_read(str_of(rows[i].params), &arena, &log), rows[i].valid);
		if (!rows[i].valid)
			continue;
		assert_int_equal(log.level, rows[i].level);
		assert_int_equal(log.logger.p != NULL, rows[i].logger != NULL);
		assert_true(str_eq(log.logger, str_of(rows[i].logger)));
		assert_true(str_eq(log.data, str_of(rows[i].data)));
	}
}

static void what_is_written_is_read_again(void **state)
{
	const struct mcp_log log = { MCP_LOG_ALERT, STR("a\"b"), STR("[1, 2]") };
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonrpc_message message;
	struct jsonrpc_fault fault;
	struct mcp_log again;

	(void)state;
	buf_init(&out, 1000);
	mcp_log_write(&out, &log);
	assert_int_equal(jsonrpc_read(buf_str(&out), NULL, &arena, &message, &fault), 0);
	assert_int_equal(message.kind, JSONRPC_NOTIFICATION);
	assert_true(mcp_log_read(message.params, &arena, &again));
	assert_int_equal(again.level, MCP_LOG_ALERT);
	assert_true(str_eq(again.logger, log.logger));
	assert_true(str_eq(again.data, log.data));
}

static void an_implementation_is_an_object(void **state)
{
	struct mcp_implementation info;

	(void)state;
	assert_true(mcp_implementation_read(STR("{\"name\":\"n\",\"version\":2}"), &arena, &info));
	assert_true(str_eq(info.name, STR("n")));
	assert_null(info.version.p);
	assert_true(str_eq(info.raw, STR("{\"name\":\"n\",\"version\":2}")));
	assert_false(mcp_implementation_read(STR("\"n\""), &arena, &info));
	assert_false(mcp_implementation_read(STR(""), &arena, &info));
}

static void only_foreign_metadata_is_relayed(void **state)
{
	static const struct {
		const char *meta, *relayed;
		bool first;
	} rows[] = {
		{ "{\"progressToken\":1,\"a/b\":{ \"c\":1 },\"traceparent\":\"x\"}",
		  "\"a/b\":{ \"c\":1 },\"traceparent\":\"x\"", true },
		{ "{\"a\\n\":1}", ",\"a\\n\":1", false },
		{ "{\"io.modelcontextprotocol/logLevel\":\"info\"}", "", true },
		{ "{}", "", true },
		{ "[1]", "", true },
		{ "", "", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf out = { 0 };
		bool first = rows[i].first;

		buf_init(&out, 1000);
		mcp_meta_relay(&out, str_of(rows[i].meta), &first);
		assert_string_equal(buf_cstr(&out), rows[i].relayed);
		assert_int_equal(first, rows[i].first && !*rows[i].relayed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(progress_is_read_as_far_as_it_is_valid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(log_messages_are_read_as_far_as_they_are_valid, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_written_is_read_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_implementation_is_an_object, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_foreign_metadata_is_relayed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

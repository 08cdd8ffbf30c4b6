/* Calls of tools: what the handler sees, and what its peer gets. */
#include "base/base.h"
#include "mcp/server_fixture.h"

#include <stdio.h>

static void the_handler_sees_what_was_sent(void **state)
{
	struct rig *rig = *state;

	exchange(
		rig,
		HEAD
		"\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{ \"x\":1.0 },\"_meta\":"
		"{\"progressToken\":\"t\",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"m\"},"
		"\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{}}}}}",
		HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]," SERVER_META
		"}}");
	assert_string_equal(rig->seen,
			    "echo|{ \"x\":1.0 }|\"t\"|2026-07-28|{\"name\":\"m\"}|{\"sampling\":{}}");
	open_session(rig, INITIALIZE("2024-11-05"));
	exchange(rig,
		 HEAD "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":null}}",
		 HEAD "\"id\":2,\"result\":" TEXT("hi") "}");
	assert_string_equal(rig->seen,
			    "echo|{}||2024-11-05|{\"name\":\"cli\",\"version\":\"9\"}|{\"roots\":{}}");
	assert_true(str_eq(rig->stdio.session.principal, STR("uid:1")));
	assert_int_equal(rig->stdio.session.number, 1);
}

#define TEXT_RESULT(words) "{\"content\":[{\"type\":\"text\",\"text\":\"" words "\"}],\"isError\":false}"

/* The same result for a peer of every revision; NULL: as the tool gave it. */
static void results_are_brought_into_the_peers_revision(void **state)
{
	static const char *const opened[] = { INITIALIZE("2024-11-05"), INITIALIZE("2025-03-26"),
					      INITIALIZE("2025-06-18"), INITIALIZE("2025-11-25") };
	static const struct {
		const char *name, *given, *by_revision[MCP_REVISION_COUNT];
	} rows[] = {
		{ "audio",
		  "{\"content\":[{\"type\":\"audio\",\"data\":\"UklG\",\"mimeType\":\"audio/wav\"},{\"type\":\"text\",\"text\":\"x\"}]}",
		  { "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"audio:content\",\"mimeType\":\"audio/wav\","
		    "\"blob\":\"UklG\"}},{\"type\":\"text\",\"text\":\"x\"}]}",
		    NULL, NULL, NULL,
		    "{\"resultType\":\"complete\",\"content\":[{\"type\":\"audio\",\"data\":\"UklG\",\"mimeType\":\"audio/wav\"},"
		    "{\"type\":\"text\",\"text\":\"x\"}]," SERVER_META "}" } },
		{ "link",
		  "{\"content\":[{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"file:///n\",\"mimeType\":\"a/b\",\"description\":\"d\"}]}",
		  { "{\"content\":[{\"type\":\"text\",\"text\":\"n: file:///n (a/b)\\nd\"}]}",
		    "{\"content\":[{\"type\":\"text\",\"text\":\"n: file:///n (a/b)\\nd\"}]}", NULL, NULL,
		    "{\"resultType\":\"complete\",\"content\":[{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"file:///n\","
		    "\"mimeType\":\"a/b\",\"description\":\"d\"}]," SERVER_META "}" } },
		{ "object",
		  "{\"content\":[],\"structuredContent\":{\"a\":1}}",
		  { "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],\"structuredContent\":{\"a\":1}}",
		    "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],\"structuredContent\":{\"a\":1}}",
		    NULL, NULL,
		    "{\"resultType\":\"complete\",\"content\":[],\"structuredContent\":{\"a\":1}," SERVER_META
		    "}" } },
		{ "array",
		  NULL,
		  { TEXT_RESULT("[1]"), TEXT_RESULT("[1]"), TEXT_RESULT("[1]"), TEXT_RESULT("[1]"),
		    "{\"resultType\":\"complete\",\"content\":[],\"structuredContent\":[1],\"isError\":false," SERVER_META
		    "}" } },
		{ "bare",
		  NULL,
		  { TEXT_RESULT("7"), TEXT_RESULT("7"), TEXT_RESULT("7"), TEXT_RESULT("7"),
		    "{\"resultType\":\"complete\",\"structuredContent\":7,\"isError\":false," SERVER_META
		    "}" } },
		{ "both",
		  NULL,
		  { TEXT_RESULT("x"), TEXT_RESULT("x"), TEXT_RESULT("x"), TEXT_RESULT("x"),
		    "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"structuredContent\":7,"
		    "\"isError\":false," SERVER_META "}" } },
		{ "modern",
		  NULL,
		  { "{\"content\":[],\"_meta\":{\"a/b\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"up\",\"version\":"
		    "\"0\"}}}",
		    "{\"content\":[],\"_meta\":{\"a/b\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"up\",\"version\":"
		    "\"0\"}}}",
		    "{\"content\":[],\"_meta\":{\"a/b\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"up\",\"version\":"
		    "\"0\"}}}",
		    "{\"content\":[],\"_meta\":{\"a/b\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"up\",\"version\":"
		    "\"0\"}}}",
		    "{\"resultType\":\"complete\",\"content\":[],\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO
		    ",\"a/b\":1}}" } },
		{ "spaced",
		  "{  \"content\" :  [ ] }",
		  { NULL, NULL, NULL, NULL,
		    "{\"resultType\":\"complete\",\"content\":[ ]," SERVER_META "}" } },
	};

	for (unsigned revision = 0; revision < MCP_REVISION_COUNT; revision++) {
		struct rig *rig;

		rig_teardown(state);
		rig_setup(state);
		rig = *state;
		if (revision < ARRAY_LEN(opened))
			open_session(rig, opened[revision]);
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			const char *result =
				rows[i].by_revision[revision] ? rows[i].by_revision[revision] : rows[i].given;
			char in[512], out[1024];

			snprintf(in, sizeof(in),
				 HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"%s}}",
				 rows[i].name, revision == MCP_2026_07_28 ? "," META "}" : "");
			snprintf(out, sizeof(out), HEAD "\"id\":1,\"result\":%s}", result);
			exchange(rig, in, out);
		}
	}
}

static void failures_of_tools_are_told_apart(void **state)
{
	struct rig *rig = *state;

	exchange(
		rig, MODERN_CALL("1", "fail"),
		HEAD
		"\"id\":1,\"error\":{\"code\":-32603,\"message\":\"upstream \\\"x\\\"\",\"data\":{\"a\": 1}}}");
	exchange(
		rig, MODERN_CALL("2", "needs"),
		HEAD
		"\"id\":2,\"error\":{\"code\":-32021,\"message\":\"the tool needs a capability that the client did not "
		"declare\",\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}}}");
	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(
		rig, CALL("3", "needs"),
		HEAD
		"\"id\":3,\"error\":{\"code\":-32603,\"message\":\"the tool needs a capability that the client did not "
		"declare\"}}");
	exchange(
		rig, CALL("4", "sorry"),
		HEAD
		"\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no \\\"disk\\\"\"}],\"isError\":true}}");
	exchange(rig, CALL("5", "odd"),
		 HEAD
		 "\"id\":5,\"error\":{\"code\":-32603,\"message\":\"the tool's result is no JSON object\"}}");
}

static void error_codes_fit_the_peer(void **state)
{
	static const struct {
		int64_t code, legacy, modern;
	} rows[] = {
		{ -32602, -32602, -32602 }, { -32020, -32603, -32603 },
		{ -32021, -32603, -32603 }, { -32022, -32603, -32603 },
		{ -32002, -32002, -32602 }, { -32042, -32042, -32603 },
		{ -32099, -32099, -32603 }, { -32100, -32100, -32100 },
		{ -32019, -32019, -32019 }, { 42, 42, 42 },
	};
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-11-25"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int modern = 0; modern < 2; modern++) {
			char out[256];

			rig->held_count = 0;
			exchange(rig, modern ? MODERN_CALL("1", "hold") : CALL("1", "hold"), NULL);
			mcp_answer_error(rig->held[0],
					 &(struct mcp_error){ .code = rows[i].code, .message = STR("m") });
			snprintf(out, sizeof(out),
				 HEAD "\"id\":1,\"error\":{\"code\":%lld,\"message\":\"m\"}}",
				 (long long)(modern ? rows[i].modern : rows[i].legacy));
			expect(rig, out);
		}
}

static void a_result_over_the_limit_is_an_error(void **state)
{
	struct rig *rig = *state;
	struct buf large;

	buf_init(&large, 4000);
	buf_printf(&large, "{\"a\":\"%02992d\"}", 0);
	assert_int_equal(large.n, 3000);
	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, CALL("1", "hold"), NULL);
	mcp_answer_result(rig->held[0], buf_str(&large));
	expect(rig, HEAD
	       "\"id\":1,\"error\":{\"code\":-32603,\"message\":\"the result is 3000 bytes long, which is more "
	       "than 2000\"}}");
	buf_release(&large);
}

/* -- running calls --------------------------------------------------------------------------------------- */

static void answers_go_out_in_any_order(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, CALL("\"first\"", "hold"), NULL);
	exchange(rig, CALL("123456789012345678901234567890", "hold"), NULL);
	exchange(
		rig, CALL("3", "hold"),
		HEAD
		"\"id\":3,\"error\":{\"code\":-32603,\"message\":\"2 requests of this client are running already: wait for one "
		"to end\"}}");
	exchange(
		rig, CALL("\"f\\u0069rst\"", "hold"),
		HEAD
		"\"id\":\"f\\u0069rst\",\"error\":{\"code\":-32600,\"message\":\"a request with the id \\\"f\\\\u0069rst\\\" is "
		"running already\"}}");
	exchange(rig, HEAD "\"id\":4,\"method\":\"ping\"}", HEAD "\"id\":4,\"result\":{}}");
	mcp_answer_result(rig->held[1], STR(TEXT("2")));
	expect(rig, HEAD "\"id\":123456789012345678901234567890,\"result\":" TEXT("2") "}");
	mcp_answer_result(rig->held[0], STR(TEXT("1")));
	expect(rig, HEAD "\"id\":\"first\",\"result\":" TEXT("1") "}");
	assert_int_equal(rig->stdio.session.call_count, 0);
}

static void a_cancelled_call_gets_no_answer(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, CALL("\"x\"", "hold"), NULL);
	exchange(rig, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"y\"}}", NULL);
	assert_int_equal(rig->cancelled, 0);
	exchange(
		rig,
		HEAD
		"\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"\\u0078\",\"reason\":\"bored\"}}",
		NULL);
	assert_int_equal(rig->cancelled, 1);
	assert_string_equal(rig->reason, "bored");
	assert_int_equal(rig->stdio.session.call_count, 0);
}

static void the_end_of_the_session_cancels_its_calls(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, CALL("1", "hold"), NULL);
	exchange(rig, CALL("2", "hold"), NULL);
	mcp_stdio_release(&rig->stdio);
	assert_int_equal(rig->cancelled, 2);
	assert_int_equal(rig->closed, 1);
	assert_string_equal(rig->reason, "the session has ended");
	assert_true(list_empty(&rig->server.sessions));
	expect(rig, NULL);
}

static void progress_goes_to_those_who_gave_a_token(void **state)
{
	const struct mcp_progress progress = { STR("0.50"), STR("1e2"), STR("half \"way\"") };
	const struct mcp_progress bare = { STR("1"), { 0 }, { 0 } };
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2024-11-05"));
	exchange(
		rig,
		HEAD
		"\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\",\"_meta\":{\"progressToken\":7}}}",
		NULL);
	exchange(
		rig,
		HEAD
		"\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\",\"_meta\":{\"progressToken\":1.5}}}",
		NULL);
	mcp_call_progress(rig->held[0], &progress);
	expect(rig, HEAD
	       "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":7,\"progress\":0.50,\"total\":1e2}}");
	mcp_call_progress(rig->held[1], &progress);
	expect(rig, NULL);
	mcp_answer_result(rig->held[0], STR("{}"));
	mcp_answer_result(rig->held[1], STR("{}"));
	buf_clear(&rig->sent, 0);
	exchange(rig,
		 HEAD "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"," META
		      ",\"progressToken\":\"p\\n\"}}}",
		 NULL);
	mcp_call_progress(rig->held[2], &progress);
	expect(rig, HEAD
	       "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\\n\",\"progress\":0.50,\"total\":1e2,"
	       "\"message\":\"half \\\"way\\\"\"}}");
	mcp_call_progress(rig->held[2], &bare);
	expect(rig, HEAD
	       "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\\n\",\"progress\":1}}");
	mcp_answer_result(rig->held[2], STR("{}"));
}

static void log_messages_pass_the_level_that_was_set(void **state)
{
	const struct mcp_log info = { MCP_LOG_INFO, STR("l\"1\""), STR("{ \"a\":\n1 }") };
	const struct mcp_log error = { MCP_LOG_ERROR, { 0 }, STR("\"bad\"") };
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, CALL("1", "hold"), NULL);
	mcp_call_log(rig->held[0], &info); /* the default level */
	expect(rig, HEAD
	       "\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"logger\":\"l\\\"1\\\"\",\"data\":"
	       "{ \"a\": 1 }}}");
	exchange(rig, HEAD "\"id\":2,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"error\"}}",
		 HEAD "\"id\":2,\"result\":{}}");
	assert_int_equal(rig->levels, 1);
	mcp_call_log(rig->held[0], &info);
	mcp_server_log(&rig->server, &info);
	expect(rig, NULL);
	mcp_call_log(rig->held[0], &error);
	expect(rig, HEAD
	       "\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"bad\"}}");
	mcp_server_log(&rig->server, &error);
	expect(rig, HEAD
	       "\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"bad\"}}");
	rig->server.logging = false;
	mcp_call_log(rig->held[0], &error);
	mcp_server_log(&rig->server, &error);
	expect(rig, NULL);
	exchange(rig, HEAD "\"id\":3,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"error\"}}",
		 HEAD "\"id\":3,\"error\":{\"code\":-32601,\"message\":\"logging is not offered\"}}");
	mcp_answer_result(rig->held[0], STR("{}"));
}

static void modern_log_messages_are_asked_for_per_request(void **state)
{
	const struct mcp_log error = { MCP_LOG_ERROR, { 0 }, STR("1") };
	struct rig *rig = *state;

	exchange(rig, MODERN_CALL("1", "hold"), NULL);
	exchange(rig,
		 HEAD "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"," META
		      ",\"io.modelcontextprotocol/logLevel\":\"warning\"}}}",
		 NULL);
	assert_int_equal(rig->held[0]->log_level, MCP_LOG_NONE);
	assert_int_equal(rig->held[1]->log_level, MCP_LOG_WARNING);
	mcp_call_log(rig->held[0], &error);
	mcp_server_log(&rig->server, &error);
	expect(rig, NULL);
	mcp_call_log(rig->held[1], &error);
	expect(rig, HEAD "\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":1}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(the_handler_sees_what_was_sent),
		RIGGED(results_are_brought_into_the_peers_revision),
		RIGGED(failures_of_tools_are_told_apart),
		RIGGED(error_codes_fit_the_peer),
		RIGGED(a_result_over_the_limit_is_an_error),
		RIGGED(answers_go_out_in_any_order),
		RIGGED(a_cancelled_call_gets_no_answer),
		RIGGED(the_end_of_the_session_cancels_its_calls),
		RIGGED(progress_goes_to_those_who_gave_a_token),
		RIGGED(log_messages_pass_the_level_that_was_set),
		RIGGED(modern_log_messages_are_asked_for_per_request),
	};

	return cmocka_run_group_tests_name("mcp/server_call", tests, NULL, NULL);
}

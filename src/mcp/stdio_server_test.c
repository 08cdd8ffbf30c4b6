/* Lines, and what of them is a batch. */
#include "base/base.h"
#include "mcp/server_fixture.h"

static void batches_belong_to_one_revision(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(
		rig, "[" CALL("1", "echo") "]",
		HEAD
		"\"error\":{\"code\":-32600,\"message\":\"batches exist in protocol version 2025-03-26 only, after "
		"initialize\"}}");
	rig_teardown(state);
	rig_setup(state);
	rig = *state;
	open_session(rig, INITIALIZE("2025-03-26"));
	exchange(
		rig, "[" CALL("1", "echo") " , " INITIALIZED "," CALL("\"b\"", "nope") "]",
		"[" HEAD "\"id\":1,\"result\":" TEXT(
			"hi") "}," HEAD
			      "\"id\":\"b\",\"error\":{\"code\":-32602,\"message\":\"unknown tool: nope\"}}]");
	exchange(rig, "[" INITIALIZED "]", NULL);
	exchange(rig, "[]", HEAD "\"error\":{\"code\":-32600,\"message\":\"an empty batch\"}}");
	exchange(rig, "[1]",
		 "[" HEAD "\"error\":{\"code\":-32600,\"message\":\"a message is a JSON object\"}}]");
	exchange(rig, "[1,2,3,4]",
		 HEAD "\"error\":{\"code\":-32600,\"message\":\"more than 3 elements in one array\"}}");
	exchange(
		rig, "[" INITIALIZE("2025-03-26") "]",
		"[" HEAD
		"\"id\":0,\"error\":{\"code\":-32600,\"message\":\"\\\"initialize\\\" cannot be part of a batch\"}}]");
	exchange(
		rig, "[" MODERN_CALL("4", "echo") "]",
		"[" HEAD
		"\"id\":4,\"error\":{\"code\":-32600,\"message\":\"a request with per-request metadata cannot be part of a "
		"batch\"}}]");
	send_line(rig, "[{]");
	assert_non_null(strstr(buf_cstr(&rig->sent), "\"code\":-32700"));
}

static void a_batch_is_answered_when_all_of_it_is(void **state)
{
	const struct mcp_progress progress = { STR("1"), { 0 }, { 0 } };
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-03-26"));
	exchange(rig,
		 "[" CALL("1", "hold") "," CALL(
			 "2", "echo") "," HEAD
				      "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\","
				      "\"_meta\":{\"progressToken\":5}}}]",
		 NULL);
	/* Other messages are not held up. */
	exchange(rig, HEAD "\"id\":4,\"method\":\"ping\"}", HEAD "\"id\":4,\"result\":{}}");
	mcp_call_progress(rig->held[1], &progress);
	expect(rig,
	       HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5,\"progress\":1}}");
	mcp_answer_result(rig->held[1], STR("{\n}"));
	expect(rig, NULL);
	mcp_answer_result(rig->held[0], STR("{}"));
	expect(rig, "[" HEAD "\"id\":2,\"result\":" TEXT("hi") "}," HEAD "\"id\":3,\"result\":{ }}," HEAD
							       "\"id\":1,\"result\":{}}]");
	expect(rig, NULL);
}

/* What is cancelled has no answer, and a batch of nothing else has none either. */
static void a_batch_may_lose_requests(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-03-26"));
	exchange(rig, "[" CALL("1", "hold") "," CALL("2", "echo") "]", NULL);
	exchange(rig, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
		 "[" HEAD "\"id\":2,\"result\":" TEXT("hi") "}]");
	exchange(
		rig,
		"[" CALL("3", "hold") "," HEAD
				      "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}}]",
		NULL);
	exchange(rig, "[" CALL("5", "echo") "," CALL("6", "hold") "]", NULL);
	mcp_stdio_release(&rig->stdio);
	expect(rig, "[" HEAD "\"id\":5,\"result\":" TEXT("hi") "}]");
	expect(rig, NULL);
}

static void what_is_too_long_for_one_line_takes_several(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-03-26"));
	/* Just one answer fits with its brackets and the end of the line. */
	rig->server.limits.answer_max = sizeof("[" HEAD "\"id\":1,\"result\":" TEXT("hi") "}]\n") - 1;
	send_line(rig, "[" CALL("1", "echo") "," CALL("2", "echo") "]");
	expect(rig, "[" HEAD "\"id\":1,\"result\":" TEXT("hi") "}]");
	expect(rig, "[" HEAD "\"id\":2,\"result\":" TEXT("hi") "}]");
	rig->server.limits.answer_max--;
	send_line(rig, "[" CALL("1", "echo") "," CALL("2", "echo") "]");
	expect(rig, HEAD "\"id\":1,\"result\":" TEXT("hi") "}");
	expect(rig, HEAD "\"id\":2,\"result\":" TEXT("hi") "}");
	expect(rig, NULL);
}

static void a_line_may_be_cut_anywhere(void **state)
{
	static const char line[] = CALL("\"q\"", "echo") "\n" HEAD "\"id\":2,\"method\":\"ping\"}\n";
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-06-18"));
	for (size_t cut = 0; cut < sizeof(line); cut++) {
		mcp_stdio_feed(&rig->stdio, str_make(line, cut));
		mcp_stdio_feed(&rig->stdio,
			       str_make(line + cut, sizeof(line) - 1 - size_min(cut, sizeof(line) - 1)));
		expect(rig, HEAD "\"id\":\"q\",\"result\":" TEXT("hi") "}");
		expect(rig, HEAD "\"id\":2,\"result\":{}}");
		expect(rig, NULL);
	}
	for (size_t i = 0; i < sizeof(line) - 1; i++)
		mcp_stdio_feed(&rig->stdio, str_make(&line[i], 1));
	expect(rig, HEAD "\"id\":\"q\",\"result\":" TEXT("hi") "}");
	expect(rig, HEAD "\"id\":2,\"result\":{}}");
	expect(rig, NULL);
}

static void a_line_that_is_too_long_is_refused_once_and_skipped(void **state)
{
	struct rig *rig = *state;
	char *line = xmalloc(3000);

	open_session(rig, INITIALIZE("2025-06-18"));
	memset(line, 'x', 3000);
	mcp_stdio_feed(&rig->stdio, STR(HEAD "\"id\":5,\"method\":\""));
	mcp_stdio_feed(&rig->stdio, str_make(line, 3000));
	expect(rig,
	       HEAD "\"id\":5,\"error\":{\"code\":-32600,\"message\":\"a message longer than 1000 bytes\"}}");
	mcp_stdio_feed(&rig->stdio, str_make(line, 3000));
	mcp_stdio_feed(&rig->stdio, STR("\"}\n" HEAD "\"id\":6,\"method\":\"ping\"}\n"));
	expect(rig, HEAD "\"id\":6,\"result\":{}}");
	expect(rig, NULL);
	/* What is no id cannot be sent back. */
	mcp_stdio_feed(&rig->stdio, STR(HEAD "\"id\":\"\\q\",\"method\":\""));
	mcp_stdio_feed(&rig->stdio, str_make(line, 3000));
	expect(rig, HEAD "\"error\":{\"code\":-32600,\"message\":\"a message longer than 1000 bytes\"}}");
	mcp_stdio_feed(&rig->stdio, STR("\n"));
	line[2999] = '\n';
	mcp_stdio_feed(&rig->stdio, str_make(line, 3000));
	expect(rig, HEAD "\"error\":{\"code\":-32600,\"message\":\"a message longer than 1000 bytes\"}}");
	expect(rig, NULL);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(batches_belong_to_one_revision),
		RIGGED(a_batch_is_answered_when_all_of_it_is),
		RIGGED(a_batch_may_lose_requests),
		RIGGED(what_is_too_long_for_one_line_takes_several),
		RIGGED(a_line_may_be_cut_anywhere),
		RIGGED(a_line_that_is_too_long_is_refused_once_and_skipped),
	};

	return cmocka_run_group_tests_name("mcp/stdio_server", tests, NULL, NULL);
}

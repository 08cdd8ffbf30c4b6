/* The requests of an open client. */
#include "base/base.h"
#include "mcp/client_fixture.h"

#include <stdio.h>

static void a_result_comes_back_byte_for_byte(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "echo \"x\"", "{\"a\" :\n\t1.0,\r\n\"b\":\"\\n\"}", false);
	expect_sent(
		rig, HEAD
		"\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo \\\"x\\\"\",\"arguments\":"
		"{\"a\" : \t1.0,  \"b\":\"\\n\"}}}");
	assert_true(mcp_request_running(&request));
	feed(rig, HEAD "\"id\":2,\"result\": { \"content\" : [ ], \"x\":1e400 } }");
	assert_false(mcp_request_running(&request));
	assert_int_equal(rig->answers, 1);
	assert_int_equal(rig->code, 0);
	assert_int_equal(rig->outcome, MCP_ANSWERED);
	assert_string_equal(rig->text, "{ \"content\" : [ ], \"x\":1e400 }");
	assert_string_equal(rig->type, "complete");
}

static void a_tool_without_arguments_is_called_without_them(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "t", "", false);
	expect_sent(rig, HEAD "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}");
	mcp_request_cancel(&request);
}

static void modern_requests_carry_their_metadata(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;
	const struct mcp_tool_call call = {
		.name = STR("t"),
		.arguments = STR("{}"),
		.meta = STR(
			"{\"progressToken\":9,\"traceparent\":\"00-1\",\"io.modelcontextprotocol/protocolVersion\":\"x\","
			"\"a/b\":[1, 2]}"),
		.log_level = MCP_LOG_WARNING,
	};

	open_modern(rig);
	mcp_tool_call_start(&request, &rig->client, &call, &patient, rig_progressed, rig_answered, rig);
	expect_sent(
		rig, HEAD
		"\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{}," MODERN_META
		",\"io.modelcontextprotocol/logLevel\":\"warning\",\"progressToken\":2,\"traceparent\":\"00-1\","
		"\"a/b\":[1, 2]}}}");
	feed(rig, HEAD "\"id\":2,\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\"}}");
	assert_int_equal(rig->code, 0);
	assert_string_equal(rig->type, "input_required");
}

static void a_modern_result_may_have_no_type_but_not_an_unknown_one(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_modern(rig);
	call_tool(rig, &request, "t", "", false);
	feed(rig, HEAD "\"id\":2,\"result\":{\"content\":[]}}");
	assert_int_equal(rig->code, 0);
	assert_string_equal(rig->type, "complete");
	call_tool(rig, &request, "t", "", false);
	feed(rig, HEAD "\"id\":3,\"result\":{\"resultType\":\"magic\"}}");
	assert_int_equal(rig->code, ERR_PROTOCOL);
	assert_string_equal(rig->text,
			    "tools/call: the server's result has the unknown resultType \"magic\"");
	call_tool(rig, &request, "t", "", false);
	feed(rig, HEAD "\"id\":4,\"result\":7}");
	assert_int_equal(rig->code, ERR_PROTOCOL);
	assert_string_equal(rig->text, "tools/call: the server's result is no object");
}

static void answers_come_in_any_order(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b, c;

	open_legacy(rig);
	call_tool(rig, &a, "a", "", false);
	call_tool(rig, &b, "b", "", false);
	call_tool(rig, &c, "c", "", false);
	feed(rig, HEAD "\"id\":4,\"result\":{\"c\":3}}");
	assert_string_equal(rig->text, "{\"c\":3}");
	feed(rig, HEAD "\"id\":2,\"error\":{\"code\":-32602,\"message\":\"bad a\",\"data\":{}}}");
	assert_int_equal(rig->code, ERR_UPSTREAM);
	assert_int_equal(rig->outcome, MCP_ANSWERED);
	assert_int_equal(rig->error_code, -32602);
	assert_string_equal(rig->text, "tools/call: the server answered with error -32602: bad a");
	assert_true(mcp_request_running(&b));
	feed(rig, HEAD "\"id\":3,\"result\":{\"b\":2}}");
	assert_string_equal(rig->text, "{\"b\":2}");
	assert_int_equal(rig->answers, 3);
	assert_int_equal(rig->client.pending_count, 0);
}

static void batches_are_understood(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b;

	open_legacy(rig);
	call_tool(rig, &a, "a", "", false);
	call_tool(rig, &b, "b", "", false);
	feed(rig, "[" HEAD "\"id\":3,\"result\":{}}," HEAD "\"id\":2,\"result\":{\"n\":2}}]");
	assert_int_equal(rig->answers, 2);
	assert_string_equal(rig->text, "{\"n\":2}");
}

static void answers_to_nothing_are_counted(void **state)
{
	struct rig *rig = *state;

	open_legacy(rig);
	feed(rig, HEAD "\"id\":77,\"result\":{}}");
	feed(rig, HEAD "\"id\":\"2\",\"result\":{}}");
	feed(rig, HEAD "\"id\":1,\"result\":{}}");
	feed(rig, HEAD "\"error\":{\"code\":1,\"message\":\"m\"}}");
	assert_int_equal(rig->client.strays, 4);
	assert_int_equal(rig->answers, 0);
}

static void an_id_as_text_is_taken_for_the_number(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b;

	open_legacy(rig);
	call_tool(rig, &a, "a", "", true);
	call_tool(rig, &b, "b", "", false);
	feed(rig, HEAD
	     "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"2\",\"progress\":1}}");
	assert_int_equal(rig->progressed, 1);
	feed(rig, HEAD "\"id\":\"3\",\"result\":{\"b\":1}}");
	assert_string_equal(rig->text, "{\"b\":1}");
	feed(rig, HEAD "\"id\":\"2\",\"error\":{\"code\":7,\"message\":\"m\"}}");
	assert_int_equal(rig->error_code, 7);
	assert_int_equal(rig->answers, 2);
	assert_int_equal(rig->client.respelled, 3);
	assert_int_equal(rig->client.strays, 0);
}

static void an_answer_to_what_was_never_asked_ends_the_only_request(void **state)
{
	static const char *const never[] = { "77", "\"77\"", "\"abc\"", "-1", "0", "\"\"" };
	struct rig *rig = *state;
	struct mcp_request a;

	open_legacy(rig);
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		char line[128];

		call_tool(rig, &a, "a", "", false);
		snprintf(line, sizeof(line), HEAD "\"id\":%s,\"result\":{}}", never[i]);
		feed(rig, line);
		assert_int_equal(rig->answers, i + 1);
		assert_int_equal(rig->code, ERR_PROTOCOL);
		assert_int_equal(rig->outcome, MCP_OUTCOME_UNKNOWN);
		snprintf(
			line, sizeof(line),
			"tools/call: the server answered with the id %s, which no request has, while only this one ran",
			never[i]);
		assert_string_equal(rig->text, line);
		assert_false(mcp_request_running(&a));
	}
	assert_int_equal(rig->client.unasked, ARRAY_LEN(never));
	assert_int_equal(rig->client.strays, ARRAY_LEN(never));
	assert_true(str_eq(mcp_client_unasked(&rig->client), STR("77")));
}

static void an_answer_to_nothing_may_be_to_any_of_two(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b;

	open_legacy(rig);
	call_tool(rig, &a, "a", "", false);
	call_tool(rig, &b, "b", "", false);
	feed(rig, HEAD "\"id\":\"a much longer id\",\"result\":{}}");
	feed(rig, HEAD "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}");
	feed(rig, HEAD "\"id\":null,\"result\":{}}");
	assert_int_equal(rig->answers, 0);
	assert_int_equal(rig->client.unasked, 2);
	assert_int_equal(rig->client.noise, 1);
	/* Kept as long as noise is. */
	assert_true(str_eq(mcp_client_unasked(&rig->client), STR("\"a much ")));
	feed(rig, HEAD "\"id\":2,\"result\":{}}");
	assert_int_equal(rig->answers, 1);
	/* Late answers to what was cancelled are to be expected, and belong to nobody. */
	feed(rig, HEAD "\"id\":2,\"result\":{}}");
	feed(rig, HEAD "\"id\":\"2\",\"result\":{}}");
	assert_int_equal(rig->client.unasked, 2);
	assert_true(mcp_request_running(&b));
	mcp_request_cancel(&b);
}

static void an_error_without_id_is_the_only_requests_when_it_could_not_be_read(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a;

	open_legacy(rig);
	call_tool(rig, &a, "a", "", false);
	/* This may be about a notification. */
	feed(rig, HEAD "\"id\":null,\"error\":{\"code\":-32601,\"message\":\"what?\"}}");
	assert_int_equal(rig->answers, 0);
	feed(rig, HEAD "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}");
	assert_int_equal(rig->answers, 1);
	assert_int_equal(rig->code, ERR_UPSTREAM);
	assert_int_equal(rig->error_code, -32700);
	call_tool(rig, &a, "a", "", false);
	feed(rig, HEAD "\"error\":{\"code\":-32600,\"message\":\"what?\"}}");
	assert_int_equal(rig->answers, 2);
	assert_int_equal(rig->error_code, -32600);
	call_tool(rig, &a, "a", "", false);
	feed(rig, HEAD "\"id\":null,\"result\":{}}");
	assert_int_equal(rig->code, ERR_PROTOCOL);
	assert_string_equal(
		rig->text,
		"tools/call: the server's answer is malformed: a result needs the id of its request");
}

static size_t rig_unread(struct mcp_transport *transport)
{
	(void)transport;
	return 70000;
}

static void a_timeout_says_what_else_is_known(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b;

	open_legacy(rig);
	call_tool_within(rig, &a, 1);
	call_tool(rig, &b, "b", "", false);
	feed(rig, HEAD "\"id\":\"x\",\"result\":{}}");
	run(rig);
	assert_int_equal(rig->code, ERR_TIMEOUT);
	assert_string_equal(
		rig->text,
		"tools/call: no answer within 1 ms; 1 answer came meanwhile with ids that no request has, such as \"x\"");
	rig->transport.unread = rig_unread;
	call_tool_within(rig, &a, 1);
	run(rig);
	assert_string_equal(
		rig->text,
		"tools/call: no answer within 1 ms; the server has not read 70000 bytes of what it was sent");
	mcp_request_cancel(&b);
}

static void noise_is_counted_and_the_first_is_kept(void **state)
{
	struct rig *rig = *state;

	open_legacy(rig);
	feed(rig, "Listening on port 8080");
	feed(rig, "");
	feed(rig, "   \r");
	feed(rig, "{\"not\":\"json-rpc\"}");
	feed(rig, "[]");
	feed(rig, "[1");
	assert_int_equal(rig->client.noise, 4);
	assert_true(str_eq(mcp_client_noise(&rig->client), STR("Listenin")));
	expect_sent(rig, NULL);
}

/* A line of 64 MiB has room for 32 million elements. */
static void a_batch_of_too_many_is_noise(void **state)
{
	struct rig *rig = *state;

	open_legacy(rig);
	feed(rig, "[0,0,0,0]");
	assert_int_equal(rig->client.noise, 4);
	feed(rig, "[0,0,0,0,0]");
	assert_int_equal(rig->client.noise, 5);
	expect_sent(rig, NULL);
}

static void a_malformed_answer_ends_its_request(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "t", "", false);
	feed(rig, "{\"id\":2,\"result\":{}}");
	assert_int_equal(rig->code, ERR_PROTOCOL);
	assert_int_equal(rig->outcome, MCP_OUTCOME_UNKNOWN);
	assert_string_equal(rig->text,
			    "tools/call: the server's answer is malformed: \"jsonrpc\" must be \"2.0\"");
	assert_int_equal(rig->client.noise, 0);
}

/* One answer to the request with id 2: how it ends. */
static void answer_is_malformed(struct rig *rig, const char *answer, const char *message)
{
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "t", "", false);
	feed(rig, answer);
	assert_int_equal(rig->code, ERR_PROTOCOL);
	assert_string_equal(rig->text, message);
}

static void broken_json_with_our_id_ends_its_request(void **state)
{
	answer_is_malformed(
		*state, HEAD "\"id\":2,\"result\":{\"a\":\"\xff\"}}",
		"tools/call: the server's answer is malformed: line 1, column 40: expected valid UTF-8");
}

static void a_message_that_says_nothing_ends_its_request(void **state)
{
	answer_is_malformed(*state, HEAD "\"id\":2}",
			    "tools/call: the server's answer is malformed: "
			    "a message needs a method, a result or an error");
}

static void a_result_is_an_object(void **state)
{
	answer_is_malformed(*state, HEAD "\"id\":2,\"result\":\"text\"}",
			    "tools/call: the server's result is no object");
	assert_int_equal(((struct rig *)*state)->outcome, MCP_ANSWERED);
}

/* A server that prints what it receives has our ids in its noise. */
static void a_broken_request_of_ours_is_noise(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "t", "", false);
	feed(rig, HEAD "\"id\":2,\"method\":\"tools/call\",\"params\":{\"na");
	assert_true(mcp_request_running(&request));
	assert_int_equal(rig->client.noise, 1);
	mcp_request_cancel(&request);
}

static void an_answer_that_is_too_long_ends_its_request(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "t", "", false);
	mcp_client_receive(&rig->client, STR(HEAD "\"id\":2,\"result\":{\"content\":[\"xx"), true);
	assert_int_equal(rig->code, ERR_TOO_LARGE);
	assert_string_equal(rig->text, "tools/call: the server's answer is longer than 4096 bytes");
	mcp_client_receive(&rig->client, STR("xxxxxxxxxxxxx"), true);
	assert_int_equal(rig->client.noise, 1);
	assert_int_equal(rig->client.too_long, 2);
}

/* Starts `owner`'s request again, as an owner may. */
static void start_again(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct rig *rig = request->owner;

	rig_answered(request, answer);
	call_tool(rig, request, "again", "", false);
}

static void what_is_too_long_and_may_be_any_answer_ends_all_that_run(void **state)
{
	static const char *const known[] = {
		HEAD "\"method\":\"notifications/message\",\"params\":{\"data\":\"xx",
		HEAD "\"id\":1,\"result\":{\"xx", /* the handshake's, long over */
	};
	struct rig *rig = *state;
	struct mcp_request one, two;

	rig->client.limits.message_setting = STR("lineMax");
	open_legacy(rig);
	call_tool(rig, &one, "a", "", false);
	call_tool(rig, &two, "b", "", false);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		mcp_client_receive(&rig->client, str_of(known[i]), true);
	assert_int_equal(rig->answers, 0);
	one.done = start_again;
	mcp_client_receive(&rig->client, STR("{\"result\":{\"content\":[\"xx"), true);
	assert_int_equal(rig->answers, 2);
	assert_int_equal(rig->code, ERR_TOO_LARGE);
	assert_int_equal(rig->outcome, MCP_OUTCOME_UNKNOWN);
	assert_string_equal(
		rig->text,
		"tools/call: the server wrote a message, perhaps the answer, longer than 4096 bytes (lineMax)");
	assert_true(mcp_request_running(&one));
	assert_false(mcp_request_running(&two));
	mcp_request_cancel(&one);
}

static void progress_finds_its_request(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b;

	open_legacy(rig);
	call_tool(rig, &a, "a", "{}", true);
	expect_sent(
		rig, HEAD
		"\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{},\"_meta\":"
		"{\"progressToken\":2}}}");
	call_tool(rig, &b, "b", "{}", false);
	feed(rig, HEAD
	     "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":0.10,\"total\":1,"
	     "\"message\":\"ten\"}}");
	assert_int_equal(rig->progressed, 1);
	assert_string_equal(rig->progress, "0.10/1 ten");
	feed(rig,
	     HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3,\"progress\":1}}");
	feed(rig,
	     HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":9,\"progress\":1}}");
	feed(rig, HEAD
	     "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":\"1\"}}");
	feed(rig, HEAD "\"method\":\"notifications/progress\"}");
	assert_int_equal(rig->progressed, 1);
	mcp_request_cancel(&a);
	mcp_request_cancel(&b);
	feed(rig,
	     HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}");
	assert_int_equal(rig->progressed, 1);
}

static void a_cancelled_request_is_silent_and_told(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;

	open_legacy(rig);
	call_tool(rig, &request, "t", "", false);
	expect_sent(rig, HEAD "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}");
	mcp_request_cancel_because(&request, STR("user said \"no\""));
	expect_sent(
		rig, HEAD
		"\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2,\"reason\":\"user said "
		"\\\"no\\\"\"}}");
	mcp_request_cancel(&request);
	expect_sent(rig, NULL);
	feed(rig, HEAD "\"id\":2,\"result\":{}}");
	assert_int_equal(rig->answers, 0);
	assert_int_equal(rig->client.strays, 1);
	request = (struct mcp_request){ 0 };
	mcp_request_cancel(&request);
}

static void silence_times_out_and_cancels(void **state)
{
	struct rig *rig = *state;
	struct mcp_request request;
	const struct mcp_tool_call call = { .name = STR("t") };
	const struct mcp_patience short_idle = { 5, 60000, STR("idleTimeout"), STR("callTimeout") };
	const struct mcp_patience short_total = { 60000, 5, STR("idleTimeout"), { 0 } };

	open_legacy(rig);
	mcp_tool_call_start(&request, &rig->client, &call, &short_idle, rig_progressed, rig_answered, rig);
	run(rig);
	assert_int_equal(rig->code, ERR_TIMEOUT);
	assert_int_equal(rig->outcome, MCP_OUTCOME_UNKNOWN);
	assert_string_equal(rig->text, "tools/call: no answer and no progress within 5 ms (idleTimeout)");
	expect_sent(
		rig, HEAD
		"\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"_meta\":{\"progressToken\":2}}}");
	expect_sent(
		rig, HEAD
		"\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2,\"reason\":\"timed out\"}}");
	mcp_tool_call_start(&request, &rig->client, &call, &short_total, NULL, rig_answered, rig);
	run(rig);
	assert_int_equal(rig->code, ERR_TIMEOUT);
	assert_string_equal(rig->text, "tools/call: no answer within 5 ms");
}

/* Progress keeps coming, so that only the absolute deadline can end the call. */
struct reports {
	struct rig *rig;
	struct timer timer;
};

static void keep_progressing(struct timer *timer)
{
	struct reports *reports = container_of(timer, struct reports, timer);

	feed(reports->rig,
	     HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}");
	timer_start(timer, reports->rig->loop, 2, keep_progressing);
}

static void progress_puts_the_idle_deadline_off_but_not_the_absolute_one(void **state)
{
	struct rig *rig = *state;
	struct reports reports = { .rig = rig };
	struct mcp_request request;
	const struct mcp_tool_call call = { .name = STR("t") };
	const struct mcp_patience patience = { 500, 1000, STR("idleTimeout"), STR("callTimeout") };

	open_legacy(rig);
	mcp_tool_call_start(&request, &rig->client, &call, &patience, rig_progressed, rig_answered, rig);
	timer_start(&reports.timer, rig->loop, 2, keep_progressing);
	run(rig);
	timer_stop(&reports.timer);
	assert_int_equal(rig->code, ERR_TIMEOUT);
	assert_string_equal(rig->text, "tools/call: no answer within 1 s (callTimeout)");
	assert_true(rig->progressed > 2);
}

static void the_end_of_the_connection_fails_all_requests_at_once(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b, late;
	struct err why;

	open_legacy(rig);
	call_tool(rig, &a, "a", "", false);
	call_tool(rig, &b, "b", "", false);
	err_set(&why, ERR_CLOSED, "killed by signal 9");
	mcp_client_closed(&rig->client, &why);
	mcp_client_closed(&rig->client, NULL);
	assert_int_equal(rig->answers, 2);
	assert_int_equal(rig->code, ERR_CLOSED);
	assert_int_equal(rig->outcome, MCP_OUTCOME_UNKNOWN);
	assert_string_equal(
		rig->text, "tools/call: the request was sent, and whether the server acted on it is unknown: "
			   "killed by signal 9");
	call_tool(rig, &late, "late", "", false);
	assert_int_equal(rig->answers, 2); /* never from within start */
	run(rig);
	assert_int_equal(rig->answers, 3);
	assert_int_equal(rig->outcome, MCP_NOT_SENT);
	assert_string_equal(rig->text, "tools/call: not sent: killed by signal 9");
}

static size_t rig_unread_now(struct mcp_transport *transport)
{
	return container_of(transport, struct rig, transport)->send_code < 0 ? 70000 : 0;
}

/* The failure comes from the loop, and says what was in the way at the start, whatever ended since. */
static void what_was_in_the_way_is_told_as_it_was_at_the_start(void **state)
{
	struct rig *rig = *state;
	struct mcp_request running[3], late;

	open_legacy(rig);
	rig->transport.unread = rig_unread_now;
	rig->send_code = ERR_BUSY;
	call_tool(rig, &late, "busy", "", false);
	rig->send_code = 0;
	run(rig);
	assert_int_equal(rig->code, ERR_BUSY);
	assert_string_equal(
		rig->text,
		"tools/call: not sent: the server does not read what it was sent before: 70000 bytes wait "
		"(0 requests are running)");
	for (size_t i = 0; i < ARRAY_LEN(running); i++)
		call_tool(rig, &running[i], "a", "", false);
	call_tool(rig, &late, "one too many", "", false);
	for (size_t i = 0; i < ARRAY_LEN(running); i++)
		mcp_request_cancel(&running[i]);
	run(rig);
	assert_int_equal(rig->code, ERR_BUSY);
	assert_string_equal(rig->text, "tools/call: not sent: 3 requests are running already");
}

static void what_cannot_be_sent_fails_from_the_loop(void **state)
{
	struct rig *rig = *state;
	struct mcp_request a, b, c, d;
	char *large = xmalloc(5000);

	call_tool(rig, &a, "early", "", false);
	run(rig);
	assert_int_equal(rig->code, ERR_INVALID);
	assert_string_equal(rig->text, "tools/call: not sent: the handshake is not over");

	rig->client.last_id = 0;
	open_legacy(rig);
	rig->send_code = ERR_BUSY;
	call_tool(rig, &a, "busy", "", false);
	run(rig);
	assert_int_equal(rig->code, ERR_BUSY);
	assert_string_equal(
		rig->text,
		"tools/call: not sent: the server does not read what it was sent before (0 requests are running)");
	rig->send_code = ERR_CLOSED;
	call_tool(rig, &a, "closed", "", false);
	run(rig);
	assert_int_equal(rig->code, ERR_CLOSED);
	assert_string_equal(rig->text, "tools/call: not sent: the server takes no more messages");

	rig->send_code = 0;
	memset(large, 'x', 4999);
	large[4999] = '\0';
	call_tool(rig, &a, large, "", false);
	run(rig);
	assert_int_equal(rig->code, ERR_TOO_LARGE);
	assert_string_equal(rig->text, "tools/call: not sent: the request is longer than 4096 bytes");
	free(large);

	call_tool(rig, &a, "1", "", false);
	call_tool(rig, &b, "2", "", false);
	call_tool(rig, &c, "3", "", false);
	call_tool(rig, &d, "4", "", false);
	run(rig);
	assert_int_equal(rig->code, ERR_BUSY);
	assert_string_equal(rig->text, "tools/call: not sent: 3 requests are running already");
	call_tool(rig, &d, "5", "", false);
	mcp_request_cancel(&d); /* before its failure was delivered */
	call_tool(rig, &d, "6", "", false);
	assert_int_equal(rig->answers, 5);
	mcp_client_closed(&rig->client, NULL); /* the three, then the one that was not sent */
	assert_int_equal(rig->answers, 5 + 3 + 1);
	assert_int_equal(rig->code, ERR_BUSY);
	assert_int_equal(rig->outcome, MCP_NOT_SENT);
}

/* Between messages an instance may idle for hours, and there are many. */
static void a_large_message_leaves_no_storage_behind(void **state)
{
	enum { LARGE = 500 * 1000, KEPT_MAX = 64 * 1024 };
	static const int sent_or_not[] = { 0, ERR_BUSY };
	struct rig *rig = *state;
	char *large = xcalloc(LARGE + 1, 1);
	struct mcp_request request;

	open_legacy(rig);
	rig->client.out.max = 2 * LARGE; /* the limit of the rig is too low for this */
	memset(large, 'x', LARGE);
	for (size_t i = 0; i < ARRAY_LEN(sent_or_not); i++) {
		rig->send_code = sent_or_not[i];
		call_tool(rig, &request, large, "", false);
		assert_true(rig->client.out.capacity <= KEPT_MAX);
		mcp_request_cancel(&request);
	}
	assert_true(rig->sent.n > LARGE);
	free(large);
}

/* -- the server speaks ----------------------------------------------------------------------------------- */

static void the_server_is_answered(void **state)
{
	struct rig *rig = *state;

	open_legacy(rig);
	feed(rig, HEAD "\"id\":\"p\\u0041\",\"method\":\"ping\"}");
	expect_sent(rig, HEAD "\"id\":\"p\\u0041\",\"result\":{}}");
	feed(rig, HEAD "\"id\":12345678901234567890123,\"method\":\"roots/list\"}");
	expect_sent(
		rig, HEAD
		"\"id\":12345678901234567890123,\"error\":{\"code\":-32601,\"message\":\"roots/list: this client "
		"does not offer that\"}}");
	rig->take_requests = true;
	feed(rig, HEAD "\"id\":5,\"method\":\"elicitation/create\",\"params\":{}}");
	expect_sent(rig, NULL);
	assert_string_equal(rig->noted, "5");
	mcp_client_answer(&rig->client, STR("5"), STR("{\"action\":\"decline\"}"));
	expect_sent(rig, HEAD "\"id\":5,\"result\":{\"action\":\"decline\"}}");
	feed(rig, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"q\"}}");
	assert_int_equal(rig->cancelled_requests, 1);
	assert_string_equal(rig->noted, "\"q\"");
}

static void a_modern_server_asks_in_vain(void **state)
{
	struct rig *rig = *state;

	open_modern(rig);
	feed(rig, HEAD "\"id\":1,\"method\":\"roots/list\"}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->client.strays, 1);
}

static void notifications_reach_the_owner(void **state)
{
	struct rig *rig = *state;

	open_legacy(rig);
	feed(rig, HEAD "\"method\":\"notifications/tools/list_changed\"}");
	assert_string_equal(rig->noted, "notifications/tools/list_changed");
	feed(rig, HEAD "\"method\":\"notifications/of/tomorrow\",\"params\":{}}");
	assert_string_equal(rig->noted, "notifications/of/tomorrow");
	assert_int_equal(rig->notifications, 2);
}

static void unsent_answers_are_counted(void **state)
{
	struct rig *rig = *state;

	open_legacy(rig);
	rig->send_code = ERR_BUSY;
	feed(rig, HEAD "\"id\":1,\"method\":\"ping\"}");
	assert_int_equal(mcp_client_notify(&rig->client, MCP_ROOTS_CHANGED, STR("")), ERR_BUSY);
	assert_int_equal(rig->client.unsent, 2);
}

/* -- lists ----------------------------------------------------------------------------------------------- */

static void rig_listed(struct mcp_listing *listing, const struct err *err)
{
	struct rig *rig = listing->owner;

	rig->answers++;
	rig->code = err ? err->code : 0;
	copy_text(rig->text, sizeof(rig->text), err ? str_of(err->message) : STR(""));
}

static const struct mcp_listing_limits list_limits = {
	.pages_max = 3,
	.items_max = 4,
	.bytes_max = 60,
	.patience = { 60000, 60000, { 0 }, { 0 } },
};

static void pages_are_collected(void **state)
{
	struct rig *rig = *state;
	struct mcp_listing listing;

	open_legacy(rig);
	mcp_listing_start(&listing, &rig->client, MCP_TOOLS_LIST, &list_limits, rig_listed, rig);
	expect_sent(rig, HEAD "\"id\":2,\"method\":\"tools/list\"}");
	feed(rig, HEAD
	     "\"id\":2,\"result\":{\"tools\":[{\"name\": \"a\"},{\"name\":\"b\"}],\"nextCursor\":\"x\\\"y\"}}");
	expect_sent(rig, HEAD "\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\\\"y\"}}");
	feed(rig, HEAD "\"id\":3,\"result\":{\"tools\":[],\"nextCursor\":\"z\"}}");
	expect_sent(rig, HEAD "\"id\":4,\"method\":\"tools/list\",\"params\":{\"cursor\":\"z\"}}");
	feed(rig, HEAD "\"id\":4,\"result\":{\"tools\":[ 7 ],\"nextCursor\":\"\"}}");
	assert_int_equal(rig->answers, 1);
	assert_int_equal(rig->code, 0);
	assert_int_equal(listing.count, 3);
	assert_true(str_eq(listing.items[0], STR("{\"name\": \"a\"}")));
	assert_true(str_eq(listing.items[1], STR("{\"name\":\"b\"}")));
	assert_true(str_eq(listing.items[2], STR("7")));
	assert_int_equal(listing.ttl_ms, 0);
	assert_false(listing.cache_public);
	mcp_listing_release(&listing);
}

static void cache_hints_are_the_least_of_all_pages(void **state)
{
	struct rig *rig = *state;
	struct mcp_listing listing;

	open_modern(rig);
	mcp_listing_start(&listing, &rig->client, MCP_TOOLS_LIST, &list_limits, rig_listed, rig);
	feed(rig, HEAD
	     "\"id\":2,\"result\":{\"tools\":[],\"nextCursor\":\"\",\"ttlMs\":500,\"cacheScope\":\"public\"}}");
	feed(rig, HEAD "\"id\":3,\"result\":{\"tools\":[],\"ttlMs\":700,\"cacheScope\":\"public\"}}");
	assert_int_equal(rig->code, 0);
	assert_int_equal(rig->answers, 1);
	assert_int_equal(listing.ttl_ms, 500);
	assert_true(listing.cache_public);
	mcp_listing_release(&listing);
}

static void bad_lists_are_refused(void **state)
{
	static const struct {
		const char *pages[4];
		int code;
		const char *message;
	} rows[] = {
		{ { "{\"tools\":[],\"nextCursor\":\"a\"}", "{\"tools\":[],\"nextCursor\":\"a\"}" },
		  ERR_PROTOCOL,
		  "tools/list: the server gives the same cursor again after page 2" },
		{ { "{\"tools\":[],\"nextCursor\":\"a\"}", "{\"tools\":[],\"nextCursor\":\"b\"}",
		    "{\"tools\":[],\"nextCursor\":\"c\"}" },
		  ERR_TOO_LARGE,
		  "tools/list: the list has more than 3 pages" },
		{ { "{\"tools\":[1,2,3],\"nextCursor\":\"a\"}", "{\"tools\":[4,5]}" },
		  ERR_TOO_LARGE,
		  "tools/list: page 2: the list has more than 4 items" },
		{ { "{\"tools\":[\"0123456789012345678901234567890123456789012345678901234567890123456789\"]}" },
		  ERR_TOO_LARGE,
		  "tools/list: the list is longer than 60 bytes" },
		{ { "{\"tools\":{}}" }, ERR_PROTOCOL, "tools/list: page 1 has no array \"tools\"" },
		{ { "{}" }, ERR_PROTOCOL, "tools/list: page 1 has no array \"tools\"" },
		{ { "[]" }, ERR_PROTOCOL, "tools/list: the server's result is no object" },
		{ { "{\"tools\":[],\"nextCursor\":7}" },
		  ERR_PROTOCOL,
		  "tools/list: page 1: nextCursor is no string" },
	};
	struct rig *rig = *state;
	unsigned id = 2;

	open_legacy(rig);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mcp_listing listing;

		mcp_listing_start(&listing, &rig->client, MCP_TOOLS_LIST, &list_limits, rig_listed, rig);
		for (size_t k = 0; k < ARRAY_LEN(rows[i].pages) && rows[i].pages[k]; k++) {
			char line[512];

			snprintf(line, sizeof(line), HEAD "\"id\":%u,\"result\":%s}", id++, rows[i].pages[k]);
			feed(rig, line);
		}
		assert_int_equal(rig->answers, i + 1);
		assert_int_equal(rig->code, rows[i].code);
		assert_string_equal(rig->text, rows[i].message);
		mcp_listing_release(&listing);
	}
}

/* Each page costs what is on it, not what was on the pages before. */
static void many_pages_cost_what_their_items_do(void **state)
{
	enum { PAGES = 500 };
	struct mcp_listing_limits limits = list_limits;
	struct rig *rig = *state;
	struct mcp_listing listing;

	limits.pages_max = PAGES;
	limits.items_max = PAGES + 1;
	limits.bytes_max = PAGES * 16;
	open_legacy(rig);
	mcp_listing_start(&listing, &rig->client, MCP_TOOLS_LIST, &limits, rig_listed, rig);
	for (unsigned i = 0; i < PAGES; i++) {
		char line[512];

		snprintf(line, sizeof(line), HEAD "\"id\":%u,\"result\":{\"tools\":[%s%u]%s%u\"}}", i + 2,
			 i ? "" : "-1,", i, i + 1 < PAGES ? ",\"nextCursor\":\"" : ",\"last\":\"", i);
		feed(rig, line);
	}
	assert_int_equal(rig->answers, 1);
	assert_int_equal(rig->code, 0);
	assert_int_equal(listing.count, PAGES + 1);
	assert_true(str_eq(listing.items[PAGES], STR("499")));
	assert_in_range(listing.arena.total, 1, PAGES * 128);
	mcp_listing_release(&listing);
}

static void a_released_listing_is_silent(void **state)
{
	struct rig *rig = *state;
	struct mcp_listing listing;

	open_legacy(rig);
	mcp_listing_start(&listing, &rig->client, MCP_TOOLS_LIST, &list_limits, rig_listed, rig);
	mcp_listing_release(&listing);
	feed(rig, HEAD "\"id\":2,\"result\":{\"tools\":[]}}");
	assert_int_equal(rig->answers, 0);
	mcp_listing_release(&listing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(a_result_comes_back_byte_for_byte),
		RIGGED(a_tool_without_arguments_is_called_without_them),
		RIGGED(modern_requests_carry_their_metadata),
		RIGGED(a_modern_result_may_have_no_type_but_not_an_unknown_one),
		RIGGED(answers_come_in_any_order),
		RIGGED(batches_are_understood),
		RIGGED(answers_to_nothing_are_counted),
		RIGGED(an_id_as_text_is_taken_for_the_number),
		RIGGED(an_answer_to_what_was_never_asked_ends_the_only_request),
		RIGGED(an_answer_to_nothing_may_be_to_any_of_two),
		RIGGED(an_error_without_id_is_the_only_requests_when_it_could_not_be_read),
		RIGGED(a_timeout_says_what_else_is_known),
		RIGGED(noise_is_counted_and_the_first_is_kept),
		RIGGED(a_batch_of_too_many_is_noise),
		RIGGED(a_malformed_answer_ends_its_request),
		RIGGED(broken_json_with_our_id_ends_its_request),
		RIGGED(a_message_that_says_nothing_ends_its_request),
		RIGGED(a_result_is_an_object),
		RIGGED(a_broken_request_of_ours_is_noise),
		RIGGED(an_answer_that_is_too_long_ends_its_request),
		RIGGED(what_is_too_long_and_may_be_any_answer_ends_all_that_run),
		RIGGED(progress_finds_its_request),
		RIGGED(a_cancelled_request_is_silent_and_told),
		RIGGED(silence_times_out_and_cancels),
		RIGGED(progress_puts_the_idle_deadline_off_but_not_the_absolute_one),
		RIGGED(the_end_of_the_connection_fails_all_requests_at_once),
		RIGGED(what_was_in_the_way_is_told_as_it_was_at_the_start),
		RIGGED(what_cannot_be_sent_fails_from_the_loop),
		RIGGED(a_large_message_leaves_no_storage_behind),
		RIGGED(the_server_is_answered),
		RIGGED(a_modern_server_asks_in_vain),
		RIGGED(notifications_reach_the_owner),
		RIGGED(unsent_answers_are_counted),
		RIGGED(pages_are_collected),
		RIGGED(cache_hints_are_the_least_of_all_pages),
		RIGGED(bad_lists_are_refused),
		RIGGED(many_pages_cost_what_their_items_do),
		RIGGED(a_released_listing_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The client against a scripted server: what was sent is compared line by line, and lines are fed back. */
#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "mcp/client.h"

#define HEAD "{\"jsonrpc\":\"2.0\","

struct rig {
	struct loop *loop;
	struct mcp_transport transport;
	struct mcp_client client;
	struct buf sent; /* lines not yet looked at */
	int send_code;	 /* what the transport answers */

	/* the last answer */
	unsigned answers;
	int code;
	enum mcp_outcome outcome;
	char text[2048]; /* the result or the error's message */
	char type[64];
	int64_t error_code;

	unsigned progressed;
	char progress[256];
	unsigned notifications, cancelled_requests;
	char noted[256];
	bool take_requests;
	bool running;

	unsigned opens;
	int open_code;
	char open_text[ERR_MESSAGE_MAX];
};

static struct rig *rig_of(struct mcp_client *client)
{
	return client->owner;
}

static void copy_text(char *out, size_t size, struct str s)
{
	snprintf(out, size, "%.*s", STR_ARG(s));
}

static int rig_send(struct mcp_transport *transport, struct str line)
{
	struct rig *rig = container_of(transport, struct rig, transport);

	if (rig->send_code < 0)
		return rig->send_code;
	assert_int_equal(str_find_char(line, '\n'), line.n - 1);
	buf_append(&rig->sent, line);
	return 0;
}

static void rig_notification(struct mcp_client *client, enum mcp_method method,
			     const struct jsonrpc_message *message)
{
	(void)method;
	rig_of(client)->notifications++;
	copy_text(rig_of(client)->noted, sizeof(rig_of(client)->noted), message->method);
}

static bool rig_request(struct mcp_client *client, enum mcp_method method,
			const struct jsonrpc_message *message)
{
	(void)method;
	copy_text(rig_of(client)->noted, sizeof(rig_of(client)->noted), message->id);
	return rig_of(client)->take_requests;
}

static void rig_request_cancelled(struct mcp_client *client, struct str id)
{
	rig_of(client)->cancelled_requests++;
	copy_text(rig_of(client)->noted, sizeof(rig_of(client)->noted), id);
}

static const struct mcp_client_events rig_events = { rig_notification, rig_request, rig_request_cancelled };
static const struct mcp_client_limits rig_limits = {
	.message_max = 4096,
	.requests_max = 3,
	.noise_keep = 8,
};

static int rig_setup(void **state)
{
	struct rig *rig = xnew(struct rig);

	assert_int_equal(loop_new(&rig->loop, NULL), 0);
	buf_init(&rig->sent, 1 << 20);
	rig->transport.send = rig_send;
	mcp_client_init(&rig->client, rig->loop, &rig->transport, &rig_limits, &rig_events, rig);
	*state = rig;
	return 0;
}

static int rig_teardown(void **state)
{
	struct rig *rig = *state;

	mcp_client_release(&rig->client);
	loop_free(&rig->loop);
	buf_release(&rig->sent);
	free(rig);
	return 0;
}

static void expect_sent(struct rig *rig, const char *line)
{
	struct str sent = rig->sent.n ? buf_str(&rig->sent) : STR("");
	size_t n = str_find_char(sent, '\n');

	if (!line) {
		assert_int_equal(sent.n, 0);
		return;
	}
	assert_int_not_equal(n, STR_NONE);
	rig->sent.p[n] = '\0';
	assert_string_equal(rig->sent.p, line);
	buf_drop(&rig->sent, n + 1);
}

/* Runs the loop until a callback has come. */
static void run(struct rig *rig)
{
	rig->running = true;
	loop_run(rig->loop);
	rig->running = false;
}

static void feed(struct rig *rig, const char *line)
{
	mcp_client_receive(&rig->client, str_of(line), false);
}

/* -- opening --------------------------------------------------------------------------------------------- */

static void rig_opened(struct mcp_open *open, const struct err *err)
{
	struct rig *rig = open->owner;

	rig->opens++;
	rig->open_code = err ? err->code : 0;
	copy_text(rig->open_text, sizeof(rig->open_text), err ? str_of(err->message) : STR(""));
	if (rig->running)
		loop_stop(rig->loop);
}

#define CLIENT_INFO "{\"name\":\"t\",\"version\":\"1\"}"
#define MODERN_META                                                                                          \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"   \
	"clientInfo\":" CLIENT_INFO ",\"io.modelcontextprotocol/clientCapabilities\":{}"
#define DISCOVER(id) HEAD "\"id\":" id ",\"method\":\"server/discover\",\"params\":{" MODERN_META "}}}"
#define INITIALIZE(id)                                                                                        \
	HEAD "\"id\":" id                                                                                     \
	     ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}," \
	     "\"clientInfo\":" CLIENT_INFO "}}"
#define INITIALIZED HEAD "\"method\":\"notifications/initialized\"}"
#define INITIALIZE_RESULT                                                                                                    \
	"\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}}," \
	"\"serverInfo\":{\"name\":\"srv\",\"version\":\"2\",\"title\":\"T\"},\"instructions\":\"be\\nkind\"}}"
#define DISCOVER_RESULT                                                                                              \
	"\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2027-01-01\",\"2026-07-28\"],"             \
	"\"capabilities\":{\"tools\":{},\"resources\":{\"subscribe\":true}},\"ttlMs\":0,\"cacheScope\":\"private\"," \
	"\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"new\",\"version\":\"3\"}}}}"

static void start_open(struct rig *rig, struct mcp_open *open, enum mcp_open_order order, uint64_t probe_ms,
		       uint64_t open_ms)
{
	const struct mcp_open_options options = {
		.order = order,
		.legacy_revision = MCP_LATEST_LEGACY,
		.client_info = STR(CLIENT_INFO),
		.capabilities = STR("{}"),
		.probe_ms = probe_ms,
		.open_ms = open_ms,
		.open_setting = STR("startTimeout"),
	};

	mcp_open_start(open, &rig->client, &options, rig_opened, rig);
}

static void open_legacy(struct rig *rig)
{
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1," INITIALIZE_RESULT);
	expect_sent(rig, INITIALIZED);
	assert_int_equal(rig->opens, 1);
	assert_int_equal(rig->open_code, 0);
}

static void open_modern(struct rig *rig)
{
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_DISCOVER, 1000, 60000);
	expect_sent(rig, DISCOVER("1"));
	feed(rig, HEAD "\"id\":1," DISCOVER_RESULT);
	expect_sent(rig, NULL);
	assert_int_equal(rig->opens, 1);
	assert_int_equal(rig->open_code, 0);
}

static void initialize_fills_the_facts(void **state)
{
	struct rig *rig = *state;
	const struct mcp_server_facts *facts = &rig->client.facts;

	open_legacy(rig);
	assert_true(rig->client.open);
	assert_int_equal(facts->revision, MCP_2025_06_18);
	assert_true(str_eq(facts->info.name, STR("srv")));
	assert_true(str_eq(facts->info.title, STR("T")));
	assert_true(str_eq(facts->info.raw, STR("{\"name\":\"srv\",\"version\":\"2\",\"title\":\"T\"}")));
	assert_true(str_eq(facts->instructions, STR("be\nkind")));
	assert_true(facts->tools && facts->tools_changed && facts->logging);
	assert_false(facts->prompts || facts->resources || facts->completions);
	assert_int_equal(rig->client.sent, 2);
	assert_int_equal(rig->client.received, 1);
}

static void discover_fills_the_facts(void **state)
{
	struct rig *rig = *state;
	const struct mcp_server_facts *facts = &rig->client.facts;

	open_modern(rig);
	assert_int_equal(facts->revision, MCP_2026_07_28);
	assert_true(str_eq(facts->info.name, STR("new")));
	assert_true(str_eq(facts->supported, STR("[\"2027-01-01\",\"2026-07-28\"]")));
	assert_null(facts->instructions.p);
	assert_true(facts->tools && facts->resources && facts->resources_subscribe);
	assert_false(facts->tools_changed || facts->logging);
}

/* What a server may answer to the probe, and that initialize follows. */
static void anything_but_a_modern_answer_leads_to_initialize(void **state)
{
	static const char *const answers[] = {
		HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}",
		HEAD "\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid request parameters\"}}",
		HEAD "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\"}}",
		HEAD
		"\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2025-11-25\"]}}}",
		HEAD "\"id\":1,\"result\":{}}",
		HEAD "\"id\":1,\"result\":[]}",
		HEAD "\"id\":1,\"result\":{\"supportedVersions\":[\"2025-11-25\"]}}",
		HEAD "\"id\":1,\"result\":{\"supportedVersions\":\"2026-07-28\"}}",
		HEAD "\"id\":1,\"result\":{\"resultType\":\"odd\",\"supportedVersions\":[\"2026-07-28\"]}}",
		HEAD "\"id\":1,\"result\":{},\"error\":{}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct rig *rig;
		struct mcp_open open;

		if (i > 0)
			rig_setup(state);
		rig = *state;
		start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
		expect_sent(rig, DISCOVER("1"));
		feed(rig, answers[i]);
		expect_sent(rig, INITIALIZE("2"));
		feed(rig, HEAD "\"id\":2," INITIALIZE_RESULT);
		expect_sent(rig, INITIALIZED);
		assert_int_equal(rig->opens, 1);
		assert_int_equal(rig->open_code, 0);
		assert_int_equal(rig->client.facts.revision, MCP_2025_06_18);
		if (i + 1 < ARRAY_LEN(answers))
			rig_teardown(state);
	}
}

static void an_unsupported_version_is_retried_once(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_DISCOVER, 1000, 60000);
	expect_sent(rig, DISCOVER("1"));
	feed(rig, HEAD
	     "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"x\"}}}");
	expect_sent(rig, DISCOVER("2"));
	feed(rig, HEAD
	     "\"id\":2,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->open_code, ERR_UPSTREAM);
	assert_string_equal(rig->open_text, "server/discover: the server answered with error -32022: no");
}

struct late {
	struct rig *rig;
	struct timer timer;
	const char *lines[3];
};

static void late_feed(struct timer *timer)
{
	struct late *late = container_of(timer, struct late, timer);

	for (size_t i = 0; i < ARRAY_LEN(late->lines) && late->lines[i]; i++)
		feed(late->rig, late->lines[i]);
}

/* The server is silent until initialize has been sent beside the probe, then says `lines`. */
static void open_slow_server(struct rig *rig, struct mcp_open *open, const char *first, const char *second)
{
	struct late late = { .rig = rig, .lines = { first, second } };

	start_open(rig, open, MCP_PREFER_DISCOVER, 1, 60000);
	timer_start(&late.timer, rig->loop, 30, late_feed);
	run(rig);
	expect_sent(rig, DISCOVER("1"));
	expect_sent(rig, INITIALIZE("2"));
}

static void a_silent_probe_gets_initialize_beside_it(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	open_slow_server(rig, &open, HEAD "\"id\":2," INITIALIZE_RESULT, NULL);
	expect_sent(rig, INITIALIZED);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2025_06_18);
	feed(rig, HEAD "\"id\":1," DISCOVER_RESULT);
	assert_int_equal(rig->client.strays, 1);
	assert_int_equal(rig->opens, 1);
}

static void a_slow_modern_server_is_still_modern(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	open_slow_server(rig, &open, HEAD "\"id\":1," DISCOVER_RESULT,
			 HEAD "\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no\"}}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2026_07_28);
	assert_int_equal(rig->client.strays, 1);
}

static void an_early_refusal_waits_for_the_probe(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	open_slow_server(rig, &open, HEAD "\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no\"}}",
			 HEAD "\"id\":1," DISCOVER_RESULT);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2026_07_28);
}

static void a_refused_initialize_leads_to_discover(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"modern only\"}}");
	expect_sent(rig, DISCOVER("2"));
	feed(rig, HEAD "\"id\":2," DISCOVER_RESULT);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2026_07_28);
}

static void the_first_refusal_is_reported_when_both_fail(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_INITIALIZE, 1000, 60000);
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no licence\"}}");
	feed(rig, HEAD "\"id\":2,\"error\":{\"code\":-32601,\"message\":\"unknown\"}}");
	assert_int_equal(rig->open_code, ERR_UPSTREAM);
	assert_string_equal(rig->open_text, "initialize: the server answered with error -32000: no licence");
}

static void a_forced_handshake_does_not_try_the_other(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->open_code, ERR_UPSTREAM);
}

static void a_foreign_revision_is_refused(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1,\"result\":{\"protocolVersion\":\"1999-01-01\",\"capabilities\":{}}}");
	assert_int_equal(rig->open_code, ERR_PROTOCOL);
	assert_string_equal(
		rig->open_text,
		"initialize: the server wants protocol version \"1999-01-01\", which this client does not speak");
}

static void a_server_that_dies_on_the_probe_is_told_apart(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;
	struct err why;

	start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
	err_set(&why, ERR_CLOSED, "the server exited with code 1");
	mcp_client_closed(&rig->client, &why);
	assert_int_equal(rig->open_code, ERR_CLOSED);
	assert_true(open.probe_unanswered);
	assert_string_equal(rig->open_text,
			    "server/discover: the request was sent, and whether the server acted on it is "
			    "unknown: the server exited with code 1");
}

static void a_server_that_dies_on_initialize_is_not(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}");
	mcp_client_closed(&rig->client, NULL);
	assert_int_equal(rig->open_code, ERR_CLOSED);
	assert_false(open.probe_unanswered);
}

static void opening_ends_at_its_deadline(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1, 20);
	run(rig);
	assert_int_equal(rig->open_code, ERR_TIMEOUT);
	assert_string_equal(rig->open_text, "initialize: no answer within 20 ms (startTimeout)");
	expect_sent(rig, INITIALIZE("1"));
	expect_sent(rig, NULL); /* initialize is never cancelled */
}

static void a_cancelled_opening_is_silent(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
	mcp_open_cancel(&open);
	mcp_open_cancel(&open);
	feed(rig, HEAD "\"id\":1," DISCOVER_RESULT);
	assert_int_equal(rig->opens, 0);
	assert_int_equal(rig->client.strays, 1);
}

/* -- requests -------------------------------------------------------------------------------------------- */

static void rig_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct rig *rig = request->owner;

	rig->answers++;
	rig->code = answer->code;
	rig->outcome = answer->outcome;
	rig->error_code = answer->error.code;
	copy_text(rig->text, sizeof(rig->text), answer->code ? str_of(answer->err.message) : answer->result);
	copy_text(rig->type, sizeof(rig->type), answer->result_type);
	if (rig->running)
		loop_stop(rig->loop);
}

static void rig_progressed(struct mcp_request *request, const struct mcp_progress *progress,
			   struct str params)
{
	struct rig *rig = request->owner;

	assert_true(str_starts_with(params, STR("{\"progressToken\":")));
	rig->progressed++;
	snprintf(rig->progress, sizeof(rig->progress), "%.*s/%.*s %.*s", STR_ARG(progress->progress),
		 STR_ARG(progress->total), STR_ARG(progress->message));
}

static const struct mcp_patience patient = { 60000, 120000, STR_INIT("idleTimeout"),
					     STR_INIT("callTimeout") };

static void call_tool(struct rig *rig, struct mcp_request *request, const char *name, const char *arguments,
		      bool progress)
{
	const struct mcp_tool_call call = { .name = str_of(name), .arguments = str_of(arguments) };

	mcp_tool_call_start(request, &rig->client, &call, &patient, progress ? rig_progressed : NULL,
			    rig_answered, rig);
}

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
static void keep_progressing(struct timer *timer)
{
	struct late *late = container_of(timer, struct late, timer);

	feed(late->rig,
	     HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}");
	timer_start(timer, late->rig->loop, 2, keep_progressing);
}

static void progress_puts_the_idle_deadline_off_but_not_the_absolute_one(void **state)
{
	struct rig *rig = *state;
	struct late late = { .rig = rig };
	struct mcp_request request;
	const struct mcp_tool_call call = { .name = STR("t") };
	const struct mcp_patience patience = { 500, 1000, STR("idleTimeout"), STR("callTimeout") };

	open_legacy(rig);
	mcp_tool_call_start(&request, &rig->client, &call, &patience, rig_progressed, rig_answered, rig);
	timer_start(&late.timer, rig->loop, 2, keep_progressing);
	run(rig);
	timer_stop(&late.timer);
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
		"tools/call: not sent: the server does not read what it was sent before (0 requests are "
		"running)");
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
		  "tools/list: page 2: more than 1 elements in one array" },
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

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(initialize_fills_the_facts),
		RIGGED(discover_fills_the_facts),
		RIGGED(anything_but_a_modern_answer_leads_to_initialize),
		RIGGED(an_unsupported_version_is_retried_once),
		RIGGED(a_silent_probe_gets_initialize_beside_it),
		RIGGED(a_slow_modern_server_is_still_modern),
		RIGGED(an_early_refusal_waits_for_the_probe),
		RIGGED(a_refused_initialize_leads_to_discover),
		RIGGED(the_first_refusal_is_reported_when_both_fail),
		RIGGED(a_forced_handshake_does_not_try_the_other),
		RIGGED(a_foreign_revision_is_refused),
		RIGGED(a_server_that_dies_on_the_probe_is_told_apart),
		RIGGED(a_server_that_dies_on_initialize_is_not),
		RIGGED(opening_ends_at_its_deadline),
		RIGGED(a_cancelled_opening_is_silent),
		RIGGED(a_result_comes_back_byte_for_byte),
		RIGGED(a_tool_without_arguments_is_called_without_them),
		RIGGED(modern_requests_carry_their_metadata),
		RIGGED(a_modern_result_may_have_no_type_but_not_an_unknown_one),
		RIGGED(answers_come_in_any_order),
		RIGGED(batches_are_understood),
		RIGGED(answers_to_nothing_are_counted),
		RIGGED(noise_is_counted_and_the_first_is_kept),
		RIGGED(a_malformed_answer_ends_its_request),
		RIGGED(broken_json_with_our_id_ends_its_request),
		RIGGED(a_message_that_says_nothing_ends_its_request),
		RIGGED(a_result_is_an_object),
		RIGGED(a_broken_request_of_ours_is_noise),
		RIGGED(an_answer_that_is_too_long_ends_its_request),
		RIGGED(progress_finds_its_request),
		RIGGED(a_cancelled_request_is_silent_and_told),
		RIGGED(silence_times_out_and_cancels),
		RIGGED(progress_puts_the_idle_deadline_off_but_not_the_absolute_one),
		RIGGED(the_end_of_the_connection_fails_all_requests_at_once),
		RIGGED(what_cannot_be_sent_fails_from_the_loop),
		RIGGED(the_server_is_answered),
		RIGGED(a_modern_server_asks_in_vain),
		RIGGED(notifications_reach_the_owner),
		RIGGED(unsent_answers_are_counted),
		RIGGED(pages_are_collected),
		RIGGED(cache_hints_are_the_least_of_all_pages),
		RIGGED(bad_lists_are_refused),
		RIGGED(a_released_listing_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sessions by scripted exchanges over the stdio transport: a line goes in, the expected bytes come out. */
#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "mcp/stdio_server.h"

#define HEAD "{\"jsonrpc\":\"2.0\","
#define INFO "{\"name\":\"srv\",\"version\":\"1\"}"
#define META                                                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                             \
	"\"io.modelcontextprotocol/clientCapabilities\":{}"
#define SERVER_META "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "}"
#define TEXT(words) "{\"content\":[{\"type\":\"text\",\"text\":\"" words "\"}]}"

struct rig {
	struct mcp_server server;
	struct mcp_stdio_server stdio;
	struct buf sent;
	struct mcp_server_call *held[4];
	unsigned held_count, cancelled, opened, closed, levels;
	char reason[64];
	char seen[512]; /* what the handler saw of the last call */
};

static struct rig *rig_of(struct mcp_session *session)
{
	return session->server->owner;
}

static const struct str tools[] = {
	STR_INIT("{\"name\":\"a\", \"inputSchema\":{\"type\":\"object\"}}"),
	STR_INIT(
		"{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"array\"}}"),
	STR_INIT(
		"{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\"}}"),
};

static void rig_tools_list(struct mcp_server_call *call)
{
	mcp_answer_list(call, tools, ARRAY_LEN(tools));
}

static const struct {
	struct str name, result;
} canned[] = {
	{ STR_INIT("echo"), STR_INIT(TEXT("hi")) },
	{ STR_INIT("spaced"), STR_INIT("{\n \"content\" :\r\n[ ] }") },
	{ STR_INIT("audio"),
	  STR_INIT("{\"content\":[{\"type\":\"audio\",\"data\":\"UklG\",\"mimeType\":\"audio/wav\"},"
		   "{\"type\":\"text\",\"text\":\"x\"}]}") },
	{ STR_INIT("link"),
	  STR_INIT("{\"content\":[{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"file:///n\","
		   "\"mimeType\":\"a/b\",\"description\":\"d\"}]}") },
	{ STR_INIT("object"), STR_INIT("{\"content\":[],\"structuredContent\":{\"a\":1}}") },
	{ STR_INIT("array"), STR_INIT("{\"content\":[],\"structuredContent\":[1],\"isError\":false}") },
	{ STR_INIT("modern"),
	  STR_INIT("{\"resultType\":\"complete\",\"content\":[],\"_meta\":{\"a/b\":1,"
		   "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"up\",\"version\":\"0\"}}}") },
	{ STR_INIT("odd"), STR_INIT("[1]") },
};

static void rig_answer(struct mcp_server_call *call)
{
	for (size_t i = 0; i < ARRAY_LEN(canned); i++)
		if (str_eq(call->name, canned[i].name)) {
			mcp_answer_result(call, canned[i].result);
			return;
		}
	mcp_answer_unknown_tool(call);
}

static void rig_tools_call(struct mcp_server_call *call)
{
	struct rig *rig = rig_of(call->session);

	snprintf(rig->seen, sizeof(rig->seen), "%.*s|%.*s|%.*s|%.*s|%.*s|%.*s", STR_ARG(call->name),
		 STR_ARG(call->arguments), STR_ARG(call->progress_token),
		 STR_ARG(mcp_revision_name(call->revision)), STR_ARG(call->client_info),
		 STR_ARG(call->client_capabilities));
	if (str_eq(call->name, STR("hold")))
		rig->held[rig->held_count++] = call;
	else if (str_eq(call->name, STR("fail")))
		mcp_answer_error(call,
				 &(struct mcp_error){ -32022, STR("upstream \"x\""), STR("{\"a\": 1}") });
	else if (str_eq(call->name, STR("sorry")))
		mcp_answer_tool_error(call, STR("no \"disk\""));
	else if (str_eq(call->name, STR("needs")))
		mcp_answer_missing_capability(call, STR("{\"sampling\":{}}"));
	else
		rig_answer(call);
}

static void rig_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct rig *rig = rig_of(call->session);

	rig->cancelled++;
	snprintf(rig->reason, sizeof(rig->reason), "%.*s", STR_ARG(reason));
	for (unsigned i = 0; i < rig->held_count; i++)
		if (rig->held[i] == call)
			rig->held[i] = NULL;
}

static void rig_opened(struct mcp_session *session)
{
	rig_of(session)->opened++;
}

static void rig_closed(struct mcp_session *session)
{
	rig_of(session)->closed++;
}

static void rig_level_set(struct mcp_session *session)
{
	rig_of(session)->levels++;
}

static const struct mcp_handler rig_handler = {
	.tools_list = rig_tools_list,
	.tools_call = rig_tools_call,
	.cancelled = rig_cancelled,
	.session_opened = rig_opened,
	.session_closed = rig_closed,
	.log_level_set = rig_level_set,
};

static const struct mcp_server_limits rig_limits = {
	.message_max = 1000,
	.answer_max = 2000,
	.calls_max = 2,
	.listens_max = 1,
	.batch_max = 3,
	.page_items = 2,
	.page_bytes = 1000,
};

static int rig_output(struct mcp_stdio_server *stdio, struct str line)
{
	struct rig *rig = stdio->owner;

	assert_int_equal(str_find_char(line, '\n'), line.n - 1);
	return buf_append(&rig->sent, line);
}

static int rig_setup(void **state)
{
	struct rig *rig = xnew(struct rig);

	buf_init(&rig->sent, 1 << 20);
	mcp_server_init(&rig->server, &rig_handler, &rig_limits, rig);
	rig->server.info = STR(INFO);
	rig->server.logging = true;
	rig->server.tools_changed = true;
	mcp_stdio_init(&rig->stdio, &rig->server, STR("uid:1"), rig_output, rig);
	*state = rig;
	return 0;
}

static int rig_teardown(void **state)
{
	struct rig *rig = *state;

	mcp_stdio_release(&rig->stdio);
	buf_release(&rig->sent);
	free(rig);
	return 0;
}

static void send_line(struct rig *rig, const char *line)
{
	mcp_stdio_feed(&rig->stdio, str_of(line));
	mcp_stdio_feed(&rig->stdio, STR("\n"));
}

static void expect(struct rig *rig, const char *line)
{
	struct str sent = rig->sent.n ? buf_str(&rig->sent) : STR("");
	size_t n = str_find_char(sent, '\n');

	if (!line) {
		if (sent.n)
			fail_msg("unexpected: %.*s", STR_ARG(sent));
		return;
	}
	assert_int_not_equal(n, STR_NONE);
	rig->sent.p[n] = '\0';
	assert_string_equal(rig->sent.p, line);
	buf_drop(&rig->sent, n + 1);
}

static void exchange(struct rig *rig, const char *in, const char *out)
{
	send_line(rig, in);
	expect(rig, out);
	expect(rig, NULL);
}

#define INITIALIZE(version)                                                                                  \
	HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version                 \
	     "\",\"capabilities\":{\"roots\":{}},"                                                           \
	     "\"clientInfo\":{\"name\":\"cli\",\"version\":\"9\"}}}"
#define INITIALIZE_RESULT(version)                                                                           \
	HEAD "\"id\":0,\"result\":{\"protocolVersion\":\"" version                                           \
	     "\",\"capabilities\":{\"tools\":{\"listChanged\":true},"                                        \
	     "\"logging\":{}},\"serverInfo\":" INFO "}}"
#define INITIALIZED HEAD "\"method\":\"notifications/initialized\"}"
#define CALL(id, name) HEAD "\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define MODERN_CALL(id, name)                                                                                \
	HEAD "\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"," META "}}}"

static void open_session(struct rig *rig, const char *initialize)
{
	send_line(rig, initialize);
	buf_clear(&rig->sent, 0);
	exchange(rig, INITIALIZED, NULL);
	assert_int_equal(rig->stdio.session.state, MCP_SESSION_OPEN);
}

/* -- handshake ------------------------------------------------------------------------------------------- */

static void every_legacy_revision_is_agreed_on(void **state)
{
	static const struct {
		const char *in, *out;
		enum mcp_revision revision;
	} rows[] = {
		{ INITIALIZE("2024-11-05"), INITIALIZE_RESULT("2024-11-05"), MCP_2024_11_05 },
		{ INITIALIZE("2025-03-26"), INITIALIZE_RESULT("2025-03-26"), MCP_2025_03_26 },
		{ INITIALIZE("2025-06-18"), INITIALIZE_RESULT("2025-06-18"), MCP_2025_06_18 },
		{ INITIALIZE("2025-11-25"), INITIALIZE_RESULT("2025-11-25"), MCP_2025_11_25 },
		{ INITIALIZE("2026-07-28"), INITIALIZE_RESULT("2025-11-25"), MCP_2025_11_25 },
		{ INITIALIZE("v999"), INITIALIZE_RESULT("2025-11-25"), MCP_2025_11_25 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig *rig = *state;

		if (i > 0) {
			rig_teardown(state);
			rig_setup(state);
			rig = *state;
		}
		exchange(rig, rows[i].in, rows[i].out);
		assert_int_equal(rig->stdio.session.revision, rows[i].revision);
		assert_true(str_eq(rig->stdio.session.client.name, STR("cli")));
		assert_int_equal(rig->opened, 0);
		exchange(rig, INITIALIZED, NULL);
		assert_int_equal(rig->opened, 1);
		exchange(rig, INITIALIZED, NULL);
		assert_int_equal(rig->opened, 1);
	}
}

static void instructions_are_passed_in_both_eras(void **state)
{
	struct rig *rig = *state;

	rig->server.instructions = STR("be \"kind\"");
	rig->server.tools_changed = rig->server.logging = false;
	exchange(
		rig, INITIALIZE("2025-06-18"),
		HEAD
		"\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":" INFO
		",\"instructions\":\"be \\\"kind\\\"\"}}");
	exchange(
		rig, HEAD "\"id\":\"d\",\"method\":\"server/discover\",\"params\":{" META "}}}",
		HEAD
		"\"id\":\"d\",\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
		"\"capabilities\":{\"tools\":{}},\"instructions\":\"be \\\"kind\\\"\",\"ttlMs\":0,\"cacheScope\":\"private\"," SERVER_META
		"}}");
}

static void a_session_opens_once_and_properly(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ CALL("1", "echo"), HEAD
		  "\"id\":1,\"error\":{\"code\":-32600,\"message\":\"not initialized: send \\\"initialize\\\" "
		  "first, or put \\\"io.modelcontextprotocol/protocolVersion\\\" into params._meta\"}}" },
		{ HEAD "\"id\":2,\"method\":\"server/discover\"}",
		  HEAD "\"id\":2,\"error\":{\"code\":-32602,\"message\":\"params._meta must have "
		       "\\\"io.modelcontextprotocol/protocolVersion\\\", a string, and "
		       "\\\"io.modelcontextprotocol/clientCapabilities\\\", an object\"}}" },
		{ HEAD "\"id\":3,\"method\":\"ping\"}", HEAD "\"id\":3,\"result\":{}}" },
		{ INITIALIZED, NULL },
		{ HEAD "\"id\":4,\"method\":\"initialize\"}", HEAD
		  "\"id\":4,\"error\":{\"code\":-32602,\"message\":\"\\\"protocolVersion\\\" must be a string\"}}" },
		{ HEAD
		  "\"id\":5,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\",\"clientInfo\":1}}",
		  HEAD
		  "\"id\":5,\"error\":{\"code\":-32602,\"message\":\"\\\"clientInfo\\\" must be an object\"}}" },
		{ HEAD
		  "\"id\":6,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\",\"capabilities\":[]}}",
		  HEAD
		  "\"id\":6,\"error\":{\"code\":-32602,\"message\":\"\\\"capabilities\\\" must be an object\"}}" },
		{ INITIALIZE("2025-06-18"), INITIALIZE_RESULT("2025-06-18") },
		{ CALL("7", "echo"),
		  HEAD "\"id\":7,\"result\":" TEXT("hi") "}" }, /* before notifications/initialized */
		{ INITIALIZE("2025-06-18"), HEAD
		  "\"id\":0,\"error\":{\"code\":-32600,\"message\":\"this session is initialized already\"}}" },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		exchange(rig, rows[i].in, rows[i].out);
	assert_int_equal(rig->opened, 0);
}

/* -- messages -------------------------------------------------------------------------------------------- */

static void bad_messages_are_answered(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "{\"jsonrpc\":", HEAD "\"error\":{\"code\":-32700,\"message\":" },
		{ "17", HEAD "\"error\":{\"code\":-32600,\"message\":\"a message is a JSON object\"}}" },
		{ "{\"id\":1,\"method\":\"ping\"}", HEAD
		  "\"id\":1,\"error\":{\"code\":-32600,\"message\":\"\\\"jsonrpc\\\" must be \\\"2.0\\\"\"}}" },
		{ HEAD "\"id\":2,\"method\":\"ping\",\"params\":[]}", HEAD
		  "\"id\":2,\"error\":{\"code\":-32600,\"message\":\"\\\"params\\\" must be an object\"}}" },
		{ HEAD "\"id\":3,\"method\":\"ping\",\"params\":{\"_meta\":3}}", HEAD
		  "\"id\":3,\"error\":{\"code\":-32602,\"message\":\"\\\"_meta\\\" must be an object\"}}" },
		{ HEAD "\"id\":4,\"method\":\"no/such\"}", HEAD
		  "\"id\":4,\"error\":{\"code\":-32601,\"message\":\"unknown method \\\"no/such\\\"\"}}" },
		{ HEAD "\"id\":5,\"method\":\"prompts/list\"}", HEAD
		  "\"id\":5,\"error\":{\"code\":-32601,\"message\":\"unknown method \\\"prompts/list\\\"\"}}" },
		{ HEAD "\"id\":6,\"method\":\"server/discover\"}", HEAD
		  "\"id\":6,\"error\":{\"code\":-32601,\"message\":\"unknown method \\\"server/discover\\\"\"}}" },
		{ HEAD "\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":7}}", HEAD
		  "\"id\":7,\"error\":{\"code\":-32602,\"message\":\"\\\"name\\\" must be a string\"}}" },
		{ HEAD "\"id\":8,\"method\":\"tools/call\"}", HEAD
		  "\"id\":8,\"error\":{\"code\":-32602,\"message\":\"\\\"name\\\" must be a string\"}}" },
		{ HEAD "\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":[]}}",
		  HEAD
		  "\"id\":9,\"error\":{\"code\":-32602,\"message\":\"\\\"arguments\\\" must be an object\"}}" },
		{ CALL("10", "n\\u00f3"),
		  HEAD "\"id\":10,\"error\":{\"code\":-32602,\"message\":\"unknown tool: n\xc3\xb3\"}}" },
		{ HEAD "\"id\":11,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:x\"}}", HEAD
		  "\"id\":11,\"error\":{\"code\":-32602,\"message\":\"\\\"cursor\\\" is not one that this server gave\"}}" },
		{ HEAD "\"id\":12,\"method\":\"tools/list\",\"params\":{\"cursor\":4}}", HEAD
		  "\"id\":12,\"error\":{\"code\":-32602,\"message\":\"\\\"cursor\\\" is not one that this server gave\"}}" },
		{ HEAD "\"id\":13,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"loud\"}}", HEAD
		  "\"id\":13,\"error\":{\"code\":-32602,\"message\":\"\\\"level\\\" must be one of debug, info, notice, "
		  "warning, error, critical, alert, emergency\"}}" },
		{ HEAD "\"id\":14,\"result\":{}}", NULL },
		{ HEAD "\"id\":15,\"error\":{\"code\":1,\"message\":\"m\"}}", NULL },
		{ "{\"id\":16,\"result\":{}}", NULL },
		{ HEAD "\"method\":\"notifications/unknown\"}", NULL },
		{ HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}", NULL },
		{ HEAD "\"method\":\"notifications/cancelled\"}", NULL },
		{ "", NULL },
		{ " \t\r", NULL },
	};
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-11-25"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		send_line(rig, rows[i].in);
		if (i == 0) {
			assert_non_null(strstr(buf_cstr(&rig->sent), rows[i].out));
			buf_clear(&rig->sent, 0);
			continue;
		}
		expect(rig, rows[i].out);
		expect(rig, NULL);
	}
}

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
	send_line(rig, "[" CALL("1", "echo") " , " INITIALIZED "," CALL("\"b\"", "nope") "]");
	expect(rig, HEAD "\"id\":1,\"result\":" TEXT("hi") "}");
	expect(rig, HEAD "\"id\":\"b\",\"error\":{\"code\":-32602,\"message\":\"unknown tool: nope\"}}");
	expect(rig, NULL);
	exchange(rig, "[]", HEAD "\"error\":{\"code\":-32600,\"message\":\"an empty batch\"}}");
	exchange(rig, "[1]", HEAD "\"error\":{\"code\":-32600,\"message\":\"a message is a JSON object\"}}");
	exchange(rig, "[1,2,3,4]",
		 HEAD "\"error\":{\"code\":-32600,\"message\":\"more than 3 elements in one array\"}}");
	exchange(
		rig, "[" INITIALIZE("2025-03-26") "]",
		HEAD
		"\"id\":0,\"error\":{\"code\":-32600,\"message\":\"\\\"initialize\\\" cannot be part of a batch\"}}");
	exchange(
		rig, "[" MODERN_CALL("4", "echo") "]",
		HEAD
		"\"id\":4,\"error\":{\"code\":-32600,\"message\":\"a request with per-request metadata cannot be part of a "
		"batch\"}}");
	send_line(rig, "[{]");
	assert_non_null(strstr(buf_cstr(&rig->sent), "\"code\":-32700"));
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
	line[2999] = '\n';
	mcp_stdio_feed(&rig->stdio, str_make(line, 3000));
	expect(rig, HEAD "\"error\":{\"code\":-32600,\"message\":\"a message longer than 1000 bytes\"}}");
	expect(rig, NULL);
	free(line);
}

/* -- tools ----------------------------------------------------------------------------------------------- */

static void tools_are_listed_in_pages(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-11-25"));
	exchange(rig, HEAD "\"id\":1,\"method\":\"tools/list\"}",
		 HEAD
		 "\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\", \"inputSchema\":{\"type\":\"object\"}},"
		 "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":\"from:2\"}}");
	exchange(
		rig, HEAD "\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:2\"}}",
		HEAD
		"\"id\":2,\"result\":{\"tools\":[{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":"
		"{\"type\":\"object\"}}]}}");
	exchange(rig, HEAD "\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:99999999999\"}}",
		 HEAD "\"id\":3,\"result\":{\"tools\":[]}}");
	rig->server.limits.page_bytes = 1;
	exchange(
		rig, HEAD "\"id\":4,\"method\":\"tools/list\",\"params\":{\"cursor\":null}}",
		HEAD
		"\"id\":4,\"result\":{\"tools\":[{\"name\":\"a\", \"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":"
		"\"from:1\"}}");
	rig->server.limits.answer_max = 60;
	exchange(rig, HEAD "\"id\":5,\"method\":\"tools/list\"}",
		 HEAD "\"id\":5,\"error\":{\"code\":-32603,\"message\":\"the error's text is too long\"}}");
}

static void modern_lists_have_their_extras(void **state)
{
	struct rig *rig = *state;

	rig->server.tools_ttl_ms = 5000;
	rig->server.cache_public = true;
	exchange(
		rig, HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:1\"," META "}}}",
		HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"tools\":[{\"name\":\"b\",\"inputSchema\":{\"type\":"
		"\"object\"},\"outputSchema\":{\"type\":\"array\"}},{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},"
		"\"outputSchema\":{\"type\":\"object\"}}],\"ttlMs\":5000,\"cacheScope\":\"public\"," SERVER_META
		"}}");
}

static void rig_resources_list(struct mcp_server_call *call)
{
	static const struct str resources[] = { STR_INIT("{\"uri\":\"a:1\",\"name\":\"1\"}"),
						STR_INIT("{\"uri\":\"a:2\",\"name\":\"2\"}"),
						STR_INIT("{\"uri\":\"a:3\",\"name\":\"3\"}") };

	mcp_answer_list(call, resources, ARRAY_LEN(resources));
}

static void rig_templates_list(struct mcp_server_call *call)
{
	static const struct str templates[] = { STR_INIT("{\"uriTemplate\":\"a:{n}\",\"name\":\"n\"}") };

	mcp_answer_list(call, templates, ARRAY_LEN(templates));
}

static void rig_resources_read(struct mcp_server_call *call)
{
	if (str_eq(call->name, STR("a:1")))
		mcp_answer_contents(call, STR("[{\"uri\":\"a:1\",\"text\":\"one\"}]"));
	else
		mcp_answer_unknown_resource(call, str_eq(call->name, STR("a:gone")) ? STR("it is gone")
										    : (struct str){ 0 });
}

static void resources_are_listed_and_read(void **state)
{
	static const struct {
		const char *method, *params, *answer;
	} rows[] = {
		{ "resources/list", "",
		  "\"result\":{\"resources\":[{\"uri\":\"a:1\",\"name\":\"1\"},{\"uri\":\"a:2\",\"name\":\"2\"}],\"nextCursor\":\"from:2\"}" },
		{ "resources/list", "\"cursor\":\"from:2\"",
		  "\"result\":{\"resources\":[{\"uri\":\"a:3\",\"name\":\"3\"}]}" },
		{ "resources/list", "\"cursor\":5",
		  "\"error\":{\"code\":-32602,\"message\":\"\\\"cursor\\\" is not one that this server gave\"}" },
		{ "resources/templates/list", "",
		  "\"result\":{\"resourceTemplates\":[{\"uriTemplate\":\"a:{n}\",\"name\":\"n\"}]}" },
		{ "resources/read", "\"uri\":\"a:1\"",
		  "\"result\":{\"contents\":[{\"uri\":\"a:1\",\"text\":\"one\"}]}" },
		{ "resources/read", "\"uri\":\"a:9\"",
		  "\"error\":{\"code\":-32002,\"message\":\"unknown resource: a:9\",\"data\":{\"uri\":\"a:9\"}}" },
		{ "resources/read", "\"uri\":\"a:gone\"",
		  "\"error\":{\"code\":-32002,\"message\":\"it is gone\",\"data\":{\"uri\":\"a:gone\"}}" },
		{ "resources/read", "\"uri\":5",
		  "\"error\":{\"code\":-32602,\"message\":\"\\\"uri\\\" must be a string\"}" },
		{ "resources/subscribe", "\"uri\":\"a:1\"",
		  "\"error\":{\"code\":-32601,\"message\":\"unknown method \\\"resources/subscribe\\\"\"}" },
	};
	struct rig *rig = *state;
	struct mcp_handler handler = *rig->server.handler;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, HEAD "\"id\":1,\"method\":\"resources/list\"}",
		 HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"resources are not offered\"}}");
	handler.resources_list = rig_resources_list;
	handler.resource_templates_list = rig_templates_list;
	handler.resources_read = rig_resources_read;
	rig->server.handler = &handler;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char in[256], out[512];

		snprintf(in, sizeof(in), HEAD "\"id\":1,\"method\":\"%s\",\"params\":{%s}}", rows[i].method,
			 rows[i].params);
		snprintf(out, sizeof(out), HEAD "\"id\":1,%s}", rows[i].answer);
		exchange(rig, in, out);
	}
	exchange(
		rig, HEAD "\"id\":2,\"method\":\"resources/read\",\"params\":{\"uri\":\"a:9\"," META "}}}",
		HEAD
		"\"id\":2,\"error\":{\"code\":-32602,\"message\":\"unknown resource: a:9\",\"data\":{\"uri\":\"a:9\"}}}");
	exchange(
		rig, HEAD "\"id\":3,\"method\":\"resources/read\",\"params\":{\"uri\":\"a:1\"," META "}}}",
		HEAD
		"\"id\":3,\"result\":{\"resultType\":\"complete\",\"contents\":[{\"uri\":\"a:1\",\"text\":\"one\"}],"
		"\"ttlMs\":0,\"cacheScope\":\"private\"," SERVER_META "}}");
	exchange(
		rig, HEAD "\"id\":\"d\",\"method\":\"server/discover\",\"params\":{" META "}}}",
		HEAD
		"\"id\":\"d\",\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
		"\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{},\"logging\":{}},\"ttlMs\":0,"
		"\"cacheScope\":\"private\"," SERVER_META "}}");
	/* The rig ends with the handler that it began with. */
	rig->server.handler = &rig_handler;
}

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
		  { NULL, NULL, NULL, NULL,
		    "{\"resultType\":\"complete\",\"content\":[],\"structuredContent\":{\"a\":1}," SERVER_META
		    "}" } },
		{ "array",
		  NULL,
		  { "{\"content\":[],\"isError\":false}", "{\"content\":[],\"isError\":false}",
		    "{\"content\":[],\"isError\":false}", "{\"content\":[],\"isError\":false}",
		    "{\"resultType\":\"complete\",\"content\":[],\"structuredContent\":[1],\"isError\":false," SERVER_META
		    "}" } },
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
		{ -32602, -32602, -32602 },
		{ -32020, -32603, -32603 },
		{ -32021, -32603, -32603 },
		{ -32022, -32603, -32603 },
		{ -32002, -32002, -32602 },
		{ -32042, -32042, -32603 },
		{ 42, 42, 42 },
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

/* -- modern requests ------------------------------------------------------------------------------------- */

static void modern_requests_are_checked_in_order(void **state)
{
#define WITH_META(method, meta) HEAD "\"id\":1,\"method\":\"" method "\",\"params\":{\"_meta\":{" meta "}}}"
#define VERSION(v) "\"io.modelcontextprotocol/protocolVersion\":" v
#define CAPABILITIES(c) "\"io.modelcontextprotocol/clientCapabilities\":" c
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ WITH_META("tools/list", CAPABILITIES("{}")),
		  "-32602,\"message\":\"params._meta must have \\\"io.modelcontextprotocol/protocolVersion\\\", a string\"}}" },
		{ WITH_META("tools/list", VERSION("1") "," CAPABILITIES("{}")),
		  "-32602,\"message\":\"params._meta must have \\\"io.modelcontextprotocol/protocolVersion\\\", a string\"}}" },
		{ WITH_META("tools/list", VERSION("\"v9\"")),
		  "-32602,\"message\":\"params._meta must have \\\"io.modelcontextprotocol/clientCapabilities\\\", an object\"}}" },
		{ WITH_META("tools/list", VERSION("\"v9\"") "," CAPABILITIES("[]")),
		  "-32602,\"message\":\"params._meta must have \\\"io.modelcontextprotocol/clientCapabilities\\\", an object\"}}" },
		{ WITH_META("no/such", VERSION("\"v9\"") "," CAPABILITIES("{}")),
		  "-32022,\"message\":\"unsupported protocol version \\\"v9\\\"\",\"data\":{\"supported\":[\"2026-07-28\"],"
		  "\"requested\":\"v9\"}}}" },
		{ WITH_META("tools/list", VERSION("\"2025-11-25\"") "," CAPABILITIES("{}")),
		  "-32022,\"message\":\"unsupported protocol version \\\"2025-11-25\\\"\",\"data\":{\"supported\":[\"2026-07-28\"],"
		  "\"requested\":\"2025-11-25\"}}}" },
		{ WITH_META("tools/list", VERSION("\"2026-07-28\"") "," CAPABILITIES(
						  "{}") ",\"io.modelcontextprotocol/logLevel\":\"loud\""),
		  "-32602,\"message\":\"unknown log level \\\"loud\\\"\"}}" },
		{ WITH_META("initialize", VERSION("\"2026-07-28\"") "," CAPABILITIES("{}")),
		  "-32601,\"message\":\"unknown method \\\"initialize\\\"\"}}" },
		{ WITH_META("ping", VERSION("\"2026-07-28\"") "," CAPABILITIES("{}")),
		  "-32601,\"message\":\"unknown method \\\"ping\\\"\"}}" },
		{ WITH_META("logging/setLevel", VERSION("\"2026-07-28\"") "," CAPABILITIES("{}")),
		  "-32601,\"message\":\"unknown method \\\"logging/setLevel\\\"\"}}" },
		{ WITH_META("tools/call", VERSION("\"2026-07-28\"") "," CAPABILITIES("{}")),
		  "-32602,\"message\":\"\\\"name\\\" must be a string\"}}" },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[512];

		snprintf(out, sizeof(out), HEAD "\"id\":1,\"error\":{\"code\":%s", rows[i].out);
		exchange(rig, rows[i].in, out);
	}
}

static void both_eras_are_served_side_by_side(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-03-26"));
	exchange(
		rig, MODERN_CALL("1", "link"),
		HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"resource_link\",\"name\":\"n\","
		"\"uri\":\"file:///n\",\"mimeType\":\"a/b\",\"description\":\"d\"}]," SERVER_META "}}");
	exchange(
		rig, CALL("2", "link"),
		HEAD
		"\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"n: file:///n (a/b)\\nd\"}]}}");
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

/* -- changes of the list --------------------------------------------------------------------------------- */

static void legacy_peers_hear_of_changes_once_they_are_open(void **state)
{
	struct rig *rig = *state;

	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	exchange(rig, INITIALIZE("2025-06-18"), INITIALIZE_RESULT("2025-06-18"));
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	exchange(rig, INITIALIZED, HEAD "\"method\":\"notifications/tools/list_changed\"}");
	mcp_server_tools_changed(&rig->server);
	expect(rig, HEAD "\"method\":\"notifications/tools/list_changed\"}");
	mcp_session_unrelated_ready(&rig->stdio.session);
	expect(rig, NULL);
	rig->server.tools_changed = false;
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
}

#define LISTEN(id, filter)                                                                                   \
	HEAD "\"id\":" id ",\"method\":\"subscriptions/listen\",\"params\":{" filter META "}}}"
#define SUBSCRIPTION(id) "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}"

static void modern_peers_hear_of_changes_where_they_listen(void **state)
{
	struct rig *rig = *state;

	exchange(
		rig,
		LISTEN("\"s\"", "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true},"),
		HEAD
		"\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true}," SUBSCRIPTION(
			"\"s\"") "}}");
	mcp_server_tools_changed(&rig->server);
	expect(rig, HEAD
	       "\"method\":\"notifications/tools/list_changed\",\"params\":{" SUBSCRIPTION("\"s\"") "}}");
	expect(rig, NULL);
	exchange(
		rig, LISTEN("2", "\"notifications\":{},"),
		HEAD
		"\"id\":2,\"error\":{\"code\":-32603,\"message\":\"1 requests of this client are running already: wait for one to "
		"end\"}}");
	exchange(rig, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"s\"}}", NULL);
	assert_int_equal(rig->cancelled, 0);
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	exchange(
		rig, LISTEN("3", "\"notifications\":{},"),
		HEAD
		"\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{}," SUBSCRIPTION(
			"3") "}}");
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	mcp_session_end_listens(&rig->stdio.session);
	expect(rig, HEAD "\"id\":3,\"result\":{\"resultType\":\"complete\"," SUBSCRIPTION("3") "}}");
	assert_int_equal(rig->stdio.session.listen_count, 0);
}

static void bad_filters_are_refused(void **state)
{
	static const char *const filters[] = { "", "\"notifications\":[],",
					       "\"notifications\":{\"toolsListChanged\":1}," };
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		char in[512];

		snprintf(in, sizeof(in), LISTEN("1", "%s"), filters[i]);
		exchange(
			rig, in,
			HEAD
			"\"id\":1,\"error\":{\"code\":-32602,\"message\":\"\\\"notifications\\\" must be an object, and its "
			"\\\"toolsListChanged\\\" a boolean\"}}");
	}
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(every_legacy_revision_is_agreed_on),
		RIGGED(instructions_are_passed_in_both_eras),
		RIGGED(a_session_opens_once_and_properly),
		RIGGED(bad_messages_are_answered),
		RIGGED(batches_belong_to_one_revision),
		RIGGED(a_line_may_be_cut_anywhere),
		RIGGED(a_line_that_is_too_long_is_refused_once_and_skipped),
		RIGGED(tools_are_listed_in_pages),
		RIGGED(resources_are_listed_and_read),
		RIGGED(modern_lists_have_their_extras),
		RIGGED(the_handler_sees_what_was_sent),
		RIGGED(results_are_brought_into_the_peers_revision),
		RIGGED(failures_of_tools_are_told_apart),
		RIGGED(error_codes_fit_the_peer),
		RIGGED(a_result_over_the_limit_is_an_error),
		RIGGED(modern_requests_are_checked_in_order),
		RIGGED(both_eras_are_served_side_by_side),
		RIGGED(answers_go_out_in_any_order),
		RIGGED(a_cancelled_call_gets_no_answer),
		RIGGED(the_end_of_the_session_cancels_its_calls),
		RIGGED(progress_goes_to_those_who_gave_a_token),
		RIGGED(log_messages_pass_the_level_that_was_set),
		RIGGED(modern_log_messages_are_asked_for_per_request),
		RIGGED(legacy_peers_hear_of_changes_once_they_are_open),
		RIGGED(modern_peers_hear_of_changes_where_they_listen),
		RIGGED(bad_filters_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

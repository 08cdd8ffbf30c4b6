/* What a session makes of messages: the handshake, the eras, and what it refuses. */
#include "base/base.h"
#include "mcp/server_fixture.h"

#include <stdio.h>

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

/* An id may be longer than an answer may be: it is answered all the same. */
static void every_bad_message_is_answered(void **state)
{
	struct rig *rig = *state;

	rig->server.limits.answer_max = 10;
	exchange(
		rig, HEAD "\"id\":\"0123456789\",\"method\":5}",
		HEAD
		"\"id\":\"0123456789\",\"error\":{\"code\":-32600,\"message\":\"\\\"method\\\" must be a string\"}}");
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

/* Clients of both eras may put some of the metadata into whatever they send. */
static void a_handshake_may_mention_metadata(void **state)
{
#define INITIALIZE_WITH(meta)                                                                                     \
	HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"_meta\":{" meta \
	     "}}}"
	static const char *const handshakes[] = {
		INITIALIZE_WITH("\"io.modelcontextprotocol/clientInfo\":{\"name\":\"m\"}"),
		INITIALIZE_WITH(VERSION("\"2026-07-28\"")),
		INITIALIZE_WITH(VERSION("\"2025-11-25\"") "," CAPABILITIES("{}")),
	};

	for (size_t i = 0; i < ARRAY_LEN(handshakes); i++) {
		exchange(*state, handshakes[i], INITIALIZE_RESULT("2025-11-25"));
		rig_teardown(state);
		rig_setup(state);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(every_legacy_revision_is_agreed_on), RIGGED(instructions_are_passed_in_both_eras),
		RIGGED(a_session_opens_once_and_properly),  RIGGED(bad_messages_are_answered),
		RIGGED(every_bad_message_is_answered),	    RIGGED(modern_requests_are_checked_in_order),
		RIGGED(a_handshake_may_mention_metadata),   RIGGED(both_eras_are_served_side_by_side),
	};

	return cmocka_run_group_tests_name("mcp/server", tests, NULL, NULL);
}

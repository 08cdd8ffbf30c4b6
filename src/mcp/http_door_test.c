/* What the door answers, by revision. */
#include "base/base.h"

#include "mcp/http_door_fixture.h"
#include "mcp/http_headers.h"

/* -- headers --------------------------------------------------------------------------------------------- */

static void accept_is_read_as_the_standard_says(void **state)
{
	static const struct {
		const char *accept;
		bool json, events;
	} rows[] = {
		{ "application/json, text/event-stream", true, true },
		{ "text/event-stream;q=0.5 ,APPLICATION/JSON; charset=utf-8", true, true },
		{ "*/*", true, true },
		{ "application/*", true, false },
		{ "text/*, application/json;q=0.001", true, true },
		{ "application/json;q=0", false, false },
		{ "application/json; a=b; Q=0.000, */*;q=0.0", false, false },
		{ "application/jsonx", false, false },
		{ "text/html", false, false },
		{ "*", false, false },
		{ ",,", false, false },
		{ "", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(accept_admits(str_of(rows[i].accept), STR("application/json")),
				 rows[i].json);
		assert_int_equal(accept_admits(str_of(rows[i].accept), STR("text/event-stream")),
				 rows[i].events);
	}
	assert_true(accept_admits((struct str){ 0 }, STR("application/json")));
}

static void content_type_must_be_json(void **state)
{
	(void)state;
	assert_true(content_type_is_json(STR("application/json")));
	assert_true(content_type_is_json(STR("Application/JSON ; charset=utf-8")));
	assert_false(content_type_is_json(STR("application/json-seq")));
	assert_false(content_type_is_json(STR("text/plain")));
	assert_false(content_type_is_json(STR("")));
	assert_false(content_type_is_json((struct str){ 0 }));
}

static void header_values_are_decoded(void **state)
{
	static const struct {
		const char *value, *decoded; /* NULL: malformed */
	} rows[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "=?base64?SGVsbG8=?=", "Hello" },
		{ "=?base64?"
		  "?=",
		  "" },
		{ "=?base64?w6k=?=", "\xc3\xa9" },
		{ "=?base64?SGVsbG8?=", NULL },
		{ "=?base64?SGV%bG8=?=", NULL },
		{ "=?base64?SGVsbG8=", "=?base64?SGVsbG8=" },
		{ "SGVsbG8=?=", "SGVsbG8=?=" },
		{ "=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=" },
		{ "=?base64?=", "=?base64?=" },
	};
	_cleanup_arena_ struct arena arena = { 0 };
	struct str decoded;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(header_value_decode(str_of(rows[i].value), &arena, &decoded),
				 rows[i].decoded != NULL);
		if (rows[i].decoded)
			assert_true(str_eq(decoded, str_of(rows[i].decoded)));
	}
}

static void methods_and_types_are_checked(void **state)
{
	(void)state;
	send_to(&peer, "PUT", "", "");
	peer_expect(
		&peer,
		"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nX-Content-Type-Options: nosniff\r\nAllow: GET, "
		"POST, DELETE\r\n\r\n");
	send_to(&peer, "POST", "Content-Type: text/plain\r\nAccept: */*\r\n", "{}");
	expect_error("415 Unsupported Media Type", "", -32600,
		     "the header Content-Type must be application/json");
	send_to(&peer, "POST", "Content-Type: application/json\r\nAccept: application/json\r\n", "{}");
	expect_error("406 Not Acceptable", "", -32600,
		     "the header Accept must admit both application/json and text/event-stream");
	send_to(&peer, "GET", "Accept: application/json\r\n", "");
	expect_error("406 Not Acceptable", "", -32600, "the header Accept must admit text/event-stream");
	send_to(&peer, "GET", "Accept: text/event-stream\r\n", "");
	expect_error("400 Bad Request", "", -32600,
		     "the header Mcp-Session-Id is missing: send \\\"initialize\\\" first");
}

/* -- legacy ---------------------------------------------------------------------------------------------- */

static void a_session_lives_from_initialize_to_delete(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	assert_int_equal(mcp_http_door_sessions(door), 1);
	post_in_session(CALL("1", "echo"));
	expect_json("200 OK", HEAD "\"id\":1,\"result\":" TEXT("hi") "}");
	post_in_session(HEAD "\"id\":\"l\",\"method\":\"tools/list\"}");
	expect_json(
		"200 OK", HEAD
		"\"id\":\"l\",\"result\":{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}}");
	post_in_session(CALL("2", "nope"));
	expect_error("200 OK", "2", -32602, "unknown tool: nope");
	post_in_session(HEAD "\"id\":3,\"method\":\"no/such\"}");
	expect_error("200 OK", "3", -32601, "unknown method \\\"no/such\\\"");
	post_in_session(HEAD "\"id\":4,\"result\":{}}");
	expect_accepted();
	delete_session(&peer);
	assert_int_equal(mcp_http_door_sessions(door), 0);
	post_in_session(CALL("5", "echo"));
	expect_no_such_session();
}

static void sessions_belong_to_their_principal(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	principal = "uid:2";
	post_in_session(CALL("1", "echo"));
	expect_no_such_session();
	principal = "uid:1";
	post_in_session(CALL("1", "echo"));
	expect_json("200 OK", HEAD "\"id\":1,\"result\":" TEXT("hi") "}");
}

static void malformed_messages_are_bad_requests(void **state)
{
	(void)state;
	post("", "{\"jsonrpc\":");
	peer_expect_status(&peer, "HTTP/1.1 400 Bad Request\r\n");
	while (peer.got.n < 60)
		bench_run(&bench);
	assert_non_null(strstr(buf_cstr(&peer.got), "\"code\":-32700"));
	buf_clear(&peer.got, 0);
	post("", "");
	peer_expect_status(&peer, "HTTP/1.1 400 Bad Request\r\n");
	while (peer.got.n < 60)
		bench_run(&bench);
	buf_clear(&peer.got, 0);
	post("", "{\"id\":7}");
	expect_error("400 Bad Request", "7", -32600, "\\\"jsonrpc\\\" must be \\\"2.0\\\"");
	post("", CALL("1", "echo"));
	expect_error("400 Bad Request", "", -32600,
		     "the header Mcp-Session-Id is missing: send \\\"initialize\\\" first");
	post("", HEAD "\"id\":1,\"method\":\"initialize\"}");
	expect_error("200 OK", "1", -32602, "\\\"protocolVersion\\\" must be a string");
	assert_int_equal(mcp_http_door_sessions(door), 0);
	post("MCP-Protocol-Version: 1999-01-01\r\n", CALL("1", "echo"));
	expect_error("400 Bad Request", "", -32600,
		     "the header MCP-Protocol-Version names no version that has sessions");
}

static void a_body_over_the_limit_is_413(void **state)
{
	char head[256];

	(void)state;
	snprintf(head, sizeof(head),
		 "POST /mcp HTTP/1.1\r\nHost: a\r\n" JSON_HEADERS "Content-Length: 100001\r\n\r\n");
	peer_send(&peer, str_of(head));
	peer_expect_status(&peer, "HTTP/1.1 413 ");
	peer_read_to_end(&peer);
	bench_settle(&bench);
}

static void batches_are_answered_as_arrays(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-03-26"));
	post_in_session("[" CALL("1", "echo") "," INITIALIZED "," CALL("2", "nope") ",7]");
	expect_json(
		"200 OK",
		"[" HEAD "\"id\":1,\"result\":" TEXT(
			"hi") "}," HEAD
			      "\"id\":2,\"error\":{\"code\":-32602,\"message\":\"unknown tool: nope\"}}," HEAD
			      "\"error\":{\"code\":-32600,\"message\":\"a message is a JSON object\"}}]");
	post_in_session("[" INITIALIZED "]");
	expect_accepted();
	post_in_session("[]");
	expect_error("400 Bad Request", "", -32600, "an empty batch");
	post_in_session("[" CALL("1", "hold") "," CALL("2", "echo") "," CALL("3", "hold") "]");
	wait_held(2);
	mcp_answer_result(held[1], STR("{\"b\":1}"));
	mcp_answer_result(held[0], STR("{\"a\":1}"));
	expect_json("200 OK",
		    "[" HEAD "\"id\":2,\"result\":" TEXT("hi") "}," HEAD
							       "\"id\":3,\"result\":{\"b\":1}}," HEAD
							       "\"id\":1,\"result\":{\"a\":1}}]");
}

#define HI(id) HEAD "\"id\":" id ",\"result\":" TEXT("hi") "}"

/* Tools have run: what they gave arrives. */
static void a_batch_that_is_too_long_for_one_text_becomes_events(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-03-26"));
	server.limits.answer_max = sizeof("[" HI("1") "," HI("2") "]") - 1;
	post_in_session("[" CALL("1", "echo") "," CALL("2", "echo") "]");
	expect_json("200 OK", "[" HI("1") "," HI("2") "]");
	server.limits.answer_max--;
	post_in_session("[" CALL("1", "echo") "," CALL("2", "echo") "]");
	peer_expect(&peer, STREAM_HEAD);
	expect_event(&peer, "[" HI("1") "]");
	expect_event(&peer, HI("2"));
	peer_expect(&peer, "0\r\n\r\n");
	/* Not even one with its brackets. */
	server.limits.answer_max = sizeof("[" HI("1")) - 1;
	post_in_session("[" CALL("1", "echo") "]");
	peer_expect(&peer, STREAM_HEAD);
	expect_event(&peer, HI("1"));
	peer_expect(&peer, "0\r\n\r\n");
}

static void other_revisions_have_no_batches(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	post_in_session("[" CALL("1", "echo") "]");
	expect_error("400 Bad Request", "", -32600,
		     "batches exist in protocol version 2025-03-26 only, after initialize");
	post("", "[" CALL("1", "echo") "]");
	expect_error("400 Bad Request", "", -32600,
		     "the header Mcp-Session-Id is missing: send \\\"initialize\\\" first");
}

static void progress_makes_the_answer_a_stream(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	post_in_session(CALL_WITH_TOKEN);
	wait_held(1);
	mcp_call_progress(held[0], &half);
	peer_expect(&peer, STREAM_HEAD);
	expect_event(&peer, PROGRESS);
	mcp_call_log(held[0], &(struct mcp_log){ MCP_LOG_ERROR, { 0 }, STR("\"x\"") });
	expect_event(&peer, HEAD
		     "\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"x\"}}");
	mcp_answer_result(held[0], STR("{\n}"));
	expect_event(&peer, HEAD "\"id\":1,\"result\":{ }}");
	peer_expect(&peer, "0\r\n\r\n");
	post_in_session(CALL("2", "echo"));
	expect_json("200 OK", HEAD "\"id\":2,\"result\":" TEXT("hi") "}");
}

static void progress_within_a_batch_turns_it_into_events(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-03-26"));
	post_in_session("[" CALL("2", "echo") "," CALL_WITH_TOKEN "]");
	wait_held(1);
	mcp_call_progress(held[0], &half);
	peer_expect(&peer, STREAM_HEAD);
	expect_event(&peer, "[" HEAD "\"id\":2,\"result\":" TEXT("hi") "}]");
	expect_event(&peer, PROGRESS);
	mcp_answer_result(held[0], STR("{}"));
	expect_event(&peer, HEAD "\"id\":1,\"result\":{}}");
	peer_expect(&peer, "0\r\n\r\n");
}

static void a_cancelled_request_ends_without_a_response(void **state)
{
	struct peer other;

	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	post_in_session(CALL("1", "hold"));
	wait_held(1);
	peer_connect(&other, &bench);
	send_in_session(&other, "POST", JSON_HEADERS,
			HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
	peer_expect_status(&other, "HTTP/1.1 202 Accepted\r\n");
	assert_int_equal(cancelled, 1);
	peer_expect(&peer, STREAM_HEAD "0\r\n\r\n");
	peer_close(&other);
}

static void a_legacy_client_that_leaves_does_not_cancel(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	post_in_session(CALL("1", "hold"));
	wait_held(1);
	peer_close(&peer);
	bench_settle(&bench);
	assert_int_equal(cancelled, 0);
	mcp_call_progress(held[0], &half);
	mcp_answer_result(held[0], STR("{}"));
	bench_settle(&bench);
	peer_connect(&peer, &bench);
	post_in_session(CALL("1", "echo"));
	expect_json("200 OK", HEAD "\"id\":1,\"result\":" TEXT("hi") "}");
}

static void deleting_a_session_ends_its_calls_and_streams(void **state)
{
	struct peer stream, other;

	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	open_stream_of_changes(&stream);
	post_in_session(CALL("1", "hold"));
	wait_held(1);
	peer_connect(&other, &bench);
	delete_session(&other);
	assert_int_equal(cancelled, 1);
	peer_expect(&peer, STREAM_HEAD "0\r\n\r\n");
	peer_expect(&stream, "0\r\n\r\n");
	peer_close(&stream);
	peer_close(&other);
}

static void changes_travel_on_the_get_stream(void **state)
{
	struct peer stream;

	(void)state;
	open_session(INITIALIZE("2025-11-25"));
	mcp_server_tools_changed(&server); /* nobody listens yet: told when somebody does */
	mcp_server_tools_changed(&server);
	open_stream_of_changes(&stream);
	expect_event(&stream, CHANGED);
	mcp_server_tools_changed(&server);
	expect_event(&stream, CHANGED);
	send_in_session(&peer, "GET", "Accept: text/event-stream\r\n", "");
	expect_error("409 Conflict", "", -32600, "this session has all the streams it may have");
	peer_close(&stream);
	bench_settle(&bench);
	send_in_session(&peer, "GET", "Accept: text/event-stream\r\n", "");
	peer_expect(&peer, STREAM_HEAD);
	mcp_server_tools_changed(&server);
	expect_event(&peer, CHANGED);
}

/* Never on several streams of one session (transports, "Multiple Connections"). */
static void a_change_travels_on_one_stream(void **state)
{
	struct mcp_http_door_options two = usual;
	struct peer older, newer;

	two.streams_max = 2;
	rig_start(&two);
	open_session(INITIALIZE("2025-06-18"));
	open_stream_of_changes(&older);
	open_stream_of_changes(&newer);
	mcp_server_tools_changed(&server);
	expect_event(&newer, CHANGED);
	bench_settle(&bench);
	assert_int_equal(older.got.n, 0);
	peer_close(&newer);
	bench_settle(&bench);
	mcp_server_tools_changed(&server);
	expect_event(&older, CHANGED);
	peer_close(&older);
	tear_down(state);
}

/* -- many sessions --------------------------------------------------------------------------------------- */

static void sessions_make_room_for_new_ones(void **state)
{
	char first[64];

	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	memcpy(first, session_id, sizeof(first));
	for (int i = 0; i < 3; i++)
		open_session(INITIALIZE("2025-06-18"));
	assert_int_equal(mcp_http_door_sessions(door), 3);
	memcpy(session_id, first, sizeof(first));
	post_in_session(CALL("1", "echo"));
	expect_no_such_session();
}

static void sessions_in_use_are_not_thrown_out(void **state)
{
	struct peer users[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		open_session(INITIALIZE("2025-06-18"));
		peer_connect(&users[i], &bench);
		send_in_session(&users[i], "POST", JSON_HEADERS, CALL("1", "hold"));
		wait_held(i + 1);
	}
	post("", INITIALIZE("2025-06-18"));
	expect_error("503 Service Unavailable", "0", -32603,
		     "too many sessions are open, and all are in use: try again later");
	/* A call whose client has left still is a use. */
	peer_close(&users[0]);
	bench_settle(&bench);
	post("", INITIALIZE("2025-06-18"));
	expect_error("503 Service Unavailable", "0", -32603,
		     "too many sessions are open, and all are in use: try again later");
	mcp_answer_result(held[0], STR("{}"));
	open_session(INITIALIZE("2025-06-18"));
	peer_close(&users[1]);
	peer_close(&users[2]);
}

static void idle_sessions_expire(void **state)
{
	const struct mcp_http_door_options brief = { .sessions_max = 3,
						     .session_idle_ms = 1,
						     .streams_max = 1 };

	(void)state;
	rig_start(&brief);
	post("", INITIALIZE("2025-06-18"));
	read_session_id();
	while (mcp_http_door_sessions(door) > 0)
		bench_settle(&bench);
	buf_clear(&peer.got, 0);
	tear_down(state);
}

/* -- modern ---------------------------------------------------------------------------------------------- */

static void modern_requests_need_no_session(void **state)
{
	(void)state;
	post(MODERN_HEADERS("tools/call", "echo") "Mcp-Session-Id: made-up\r\n", MODERN_CALL("1", "echo"));
	expect_json(
		"200 OK", HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]," SERVER_META
		"}}");
	post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n",
	     HEAD "\"id\":2,\"method\":\"server/discover\",\"params\":{" META "}}}");
	expect_json(
		"200 OK", HEAD
		"\"id\":2,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
		"\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{},\"logging\":{}},\"ttlMs\":0,\"cacheScope\":"
		"\"private\"," SERVER_META "}}");
	post("MCP-Protocol-Version: 2026-07-28\r\n",
	     HEAD "\"method\":\"notifications/whatever\",\"params\":{" META "}}}");
	expect_accepted();
	assert_int_equal(mcp_http_door_sessions(door), 0);
	bench_settle(&bench);
	assert_true(list_empty(&server.sessions));
}

#define NO_CAPABILITIES                                                                                      \
	HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"_meta\":{" VERSION(         \
		"2026-07-28") "}}}"
#define MISSING(what) "params._meta must have " what
#define SAYS(header, value, body)                                                                            \
	"the header " header " is \\\"" value "\\\", but the body says \\\"" body "\\\""

static void modern_requests_are_checked_in_the_right_order(void **state)
{
	static const struct {
		const char *headers, *body, *status;
		int code;
		const char *message;
	} rows[] = {
		/* metadata before headers */
		{ "", NO_CAPABILITIES, "400 Bad Request", -32602,
		  MISSING("\\\"io.modelcontextprotocol/clientCapabilities\\\", an object") },
		{ "MCP-Protocol-Version: 2026-07-28\r\n", CALL("1", "echo"), "400 Bad Request", -32602,
		  MISSING("\\\"io.modelcontextprotocol/protocolVersion\\\", a string, and "
			  "\\\"io.modelcontextprotocol/clientCapabilities\\\", an object") },
		/* headers */
		{ "", MODERN_CALL("1", "echo"), "400 Bad Request", -32020,
		  "the header MCP-Protocol-Version is missing" },
		{ "MCP-Protocol-Version: 2025-11-25\r\n", MODERN_CALL("1", "echo"), "400 Bad Request", -32020,
		  SAYS("MCP-Protocol-Version", "2025-11-25", "2026-07-28") },
		{ "MCP-Protocol-Version: 2026-07-28\r\n", MODERN_CALL("1", "echo"), "400 Bad Request", -32020,
		  "the header Mcp-Method is missing" },
		{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: Tools/Call\r\n", MODERN_CALL("1", "echo"),
		  "400 Bad Request", -32020, SAYS("Mcp-Method", "Tools/Call", "tools/call") },
		{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n", MODERN_CALL("1", "echo"),
		  "400 Bad Request", -32020, "the header Mcp-Name is missing" },
		{ MODERN_HEADERS("tools/call", "ECHO"), MODERN_CALL("1", "echo"), "400 Bad Request", -32020,
		  SAYS("Mcp-Name", "ECHO", "echo") },
		{ MODERN_HEADERS("tools/call", "=?base64?ZWNob?="), MODERN_CALL("1", "echo"),
		  "400 Bad Request", -32020, "the header Mcp-Name is malformed Base64" },
		{ "MCP-Protocol-Version: v9\r\nMcp-Method: tools/list\r\n",
		  HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" META_OF("v8") "}}}",
		  "400 Bad Request", -32020, SAYS("MCP-Protocol-Version", "v9", "v8") },
		/* then the method */
		{ MODERN_HEADERS("initialize", "x"),
		  HEAD "\"id\":1,\"method\":\"initialize\",\"params\":{" META "}}}", "404 Not Found", -32601,
		  "unknown method \\\"initialize\\\"" },
		{ MODERN_HEADERS("ping", "x"), HEAD "\"id\":1,\"method\":\"ping\",\"params\":{" META "}}}",
		  "404 Not Found", -32601, "unknown method \\\"ping\\\"" },
		{ MODERN_HEADERS("no/such", "x"),
		  HEAD "\"id\":1,\"method\":\"no/such\",\"params\":{" META "}}}", "404 Not Found", -32601,
		  "unknown method \\\"no/such\\\"" },
		/* then the parameters, and at last the tool */
		{ "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n",
		  HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{" META "}}}", "400 Bad Request",
		  -32602, "\\\"name\\\" must be a string" },
		{ MODERN_HEADERS("tools/call", "nope"), MODERN_CALL("1", "nope"), "200 OK", -32602,
		  "unknown tool: nope" },
		/* half a modern request */
		{ "MCP-Protocol-Version: 2026-07-28\r\n", INITIALIZE("2025-06-18"), "400 Bad Request", -32020,
		  "the header MCP-Protocol-Version names a version that has no \\\"initialize\\\"" },
		{ "", HEAD "\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":[]}}", "400 Bad Request",
		  -32602, "\\\"_meta\\\" must be an object" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		post(rows[i].headers, rows[i].body);
		expect_error(rows[i].status, strstr(rows[i].body, "\"id\":0") ? "0" : "1", rows[i].code,
			     rows[i].message);
	}
}

static void headers_are_read_tolerantly_where_they_may_be(void **state)
{
	(void)state;
	post("mcp-protocol-VERSION:   2026-07-28  \r\nMCP-METHOD: tools/call\r\nmcp-name: =?base64?ZWNobw==?=\r\n",
	     MODERN_CALL("1", "echo"));
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	while (!strstr(buf_cstr(&peer.got), "\"hi\""))
		bench_run(&bench);
	buf_clear(&peer.got, 0);
}

static void headers_repeat_what_the_tool_says(void **state)
{
#define ROUTED(meta)                                                                                                \
	HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"routed\",\"arguments\":{\"to\":\"x\"}" meta \
	     "}}"
	(void)state;
	post(MODERN_HEADERS("tools/call", "routed"), ROUTED("," META "}"));
	expect_error("400 Bad Request", "1", MCP_HEADER_MISMATCH,
		     "the header Mcp-Param-To is missing: the tool's input schema asks for it");
	post(MODERN_HEADERS("tools/call", "routed") "Mcp-Param-To: y\r\n", ROUTED("," META "}"));
	expect_error("400 Bad Request", "1", MCP_HEADER_MISMATCH,
		     "the header Mcp-Param-To does not say what the body says");
	post(MODERN_HEADERS("tools/call", "routed") "mcp-param-to:  x \r\nMcp-Param-Other: y\r\n",
	     ROUTED("," META "}"));
	expect_json(
		"200 OK", HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]," SERVER_META
		"}}");
	/* A version that we do not speak has rules that we do not know. */
	post("MCP-Protocol-Version: 2030-01-01\r\nMcp-Method: tools/call\r\nMcp-Name: routed\r\n",
	     ROUTED("," META_OF("2030-01-01") "}"));
	expect_json(
		"400 Bad Request", HEAD
		"\"id\":1,\"error\":{\"code\":-32022,\"message\":\"unsupported protocol version \\\"2030-01-01\\\"\","
		"\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"2030-01-01\"}}}");
}

/* A resource's name in the header is its URI. */
static void headers_repeat_what_is_read(void **state)
{
#define READ(uri) HEAD "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"" uri "\"," META "}}}"
	(void)state;
	post(MODERN_HEADERS("resources/read", "=?base64?YTrDqQ==?="), READ("a:\\u00e9"));
	expect_json(
		"200 OK", HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"contents\":[],\"ttlMs\":0,\"cacheScope\":\"private\"," SERVER_META
		"}}");
	post(MODERN_HEADERS("resources/read", "a:1"), READ("a:1"));
	expect_json(
		"200 OK", HEAD
		"\"id\":1,\"error\":{\"code\":-32602,\"message\":\"unknown resource: a:1\",\"data\":{\"uri\":\"a:1\"}}}");
	post(MODERN_HEADERS("resources/read", "a:2"), READ("a:1"));
	expect_error("400 Bad Request", "1", MCP_HEADER_MISMATCH, SAYS("Mcp-Name", "a:2", "a:1"));
	post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/subscribe\r\n",
	     HEAD "\"id\":1,\"method\":\"resources/subscribe\",\"params\":{" META "}}}");
	expect_error("404 Not Found", "1", -32601, "unknown method \\\"resources/subscribe\\\"");
}

/* What looks like the body to us must look like it to everyone in between. */
static void names_travel_as_visible_ascii(void **state)
{
	(void)state;
	post(MODERN_HEADERS("tools/call", "\xc3\xa9"), MODERN_CALL("1", "\xc3\xa9"));
	expect_error("400 Bad Request", "1", MCP_HEADER_MISMATCH,
		     "the header Mcp-Name has characters that must be sent in Base64");
}

static void errors_with_data_have_it(void **state)
{
	(void)state;
	post("MCP-Protocol-Version: v9\r\nMcp-Method: tools/list\r\n",
	     HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{" META_OF("v9") "}}}");
	expect_json(
		"400 Bad Request", HEAD
		"\"id\":1,\"error\":{\"code\":-32022,\"message\":\"unsupported protocol version \\\"v9\\\"\",\"data\":"
		"{\"supported\":[\"2026-07-28\"],\"requested\":\"v9\"}}}");
	post(MODERN_HEADERS("tools/call", "needs"), MODERN_CALL("2", "needs"));
	expect_json(
		"400 Bad Request", HEAD
		"\"id\":2,\"error\":{\"code\":-32021,\"message\":\"the tool needs a capability that the client did not "
		"declare\",\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}}}");
}

/* The request was right, and the tool has run. */
static void a_result_that_is_too_long_is_no_bad_request(void **state)
{
	(void)state;
	server.limits.answer_max = 100;
	post(MODERN_HEADERS("tools/call", "echo"), MODERN_CALL("1", "echo"));
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	while (!strstr(buf_cstr(&peer.got), "\"code\":-32603"))
		bench_run(&bench);
	buf_clear(&peer.got, 0);
}

static void a_modern_client_that_leaves_cancels(void **state)
{
	(void)state;
	post(MODERN_HEADERS("tools/call", "hold"), MODERN_CALL("1", "hold"));
	wait_held(1);
	peer_close(&peer);
	while (!cancelled)
		bench_run(&bench);
	assert_null(held[0]);
	bench_settle(&bench);
	assert_true(list_empty(&server.sessions));
	peer_connect(&peer, &bench);
}

#define LISTEN(id)                                                                                                  \
	HEAD "\"id\":" id                                                                                           \
	     ",\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{\"toolsListChanged\":true}," META \
	     "}}}"
#define LISTEN_HEADERS "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
#define SUBSCRIPTION "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"s\"}"
#define ACKNOWLEDGED                                                                                                                           \
	HEAD "\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true}," SUBSCRIPTION \
	     "}}"

static void subscriptions_are_streams(void **state)
{
	(void)state;
	post(LISTEN_HEADERS, LISTEN("\"s\""));
	peer_expect(&peer, STREAM_HEAD);
	expect_event(&peer, ACKNOWLEDGED);
	mcp_server_tools_changed(&server);
	expect_event(&peer,
		     HEAD "\"method\":\"notifications/tools/list_changed\",\"params\":{" SUBSCRIPTION "}}");
	mcp_http_door_drain(door);
	expect_event(&peer, HEAD "\"id\":\"s\",\"result\":{\"resultType\":\"complete\"," SUBSCRIPTION "}}");
	peer_expect(&peer, "0\r\n\r\n");
	post("", INITIALIZE("2025-06-18"));
	expect_error("503 Service Unavailable", "", -32600, "the server is shutting down");
}

static void a_subscriber_that_leaves_is_forgotten(void **state)
{
	(void)state;
	post(LISTEN_HEADERS, LISTEN("\"s\""));
	peer_expect(&peer, STREAM_HEAD);
	peer_close(&peer);
	bench_settle(&bench);
	assert_true(list_empty(&server.sessions));
	mcp_server_tools_changed(&server);
	peer_connect(&peer, &bench);
}

/* -- slow readers and silence ---------------------------------------------------------------------------- */

static void a_long_silence_makes_the_answer_a_stream(void **state)
{
	const struct mcp_http_door_options chatty = {
		.sessions_max = 3, .session_idle_ms = 3600000, .streams_max = 1, .keep_alive_ms = 1
	};

	(void)state;
	rig_start(&chatty);
	post(MODERN_HEADERS("tools/call", "hold"), MODERN_CALL("1", "hold"));
	peer_expect(&peer, STREAM_HEAD "e\r\n: keep-alive\n\n\r\ne\r\n: keep-alive\n\n\r\n");
	mcp_answer_result(held[0], STR("{}"));
	while (!strstr(buf_cstr(&peer.got), "\r\n0\r\n\r\n"))
		bench_run(&bench);
	assert_non_null(strstr(buf_cstr(&peer.got),
			       "\nevent: message\ndata: " HEAD
			       "\"id\":1,\"result\":{\"resultType\":\"complete\"," SERVER_META
			       "}}\n\n\r\n0\r\n\r\n"));
	buf_clear(&peer.got, 0);
	tear_down(state);
}

/* The reader takes nothing while progress and a large answer are sent: some progress may be lost, the answer
 * is not. */
static void a_slow_reader_gets_its_answer(void **state)
{
	static char padding[2000000];
	const struct mcp_progress wordy = { STR("1"), { 0 }, str_make(padding, 5000) };
	struct buf result;

	(void)state;
	memset(padding, 'x', sizeof(padding));
	open_session(INITIALIZE("2025-06-18"));
	post_in_session(CALL_WITH_TOKEN);
	wait_held(1);
	peer_set_deaf(&peer, true);
	for (int i = 0; i < 200; i++)
		mcp_call_progress(held[0], &wordy);
	bench_settle(&bench);
	buf_init(&result, 3000000);
	buf_printf(&result, "{\"a\":\"%.*s\"}", (int)sizeof(padding), padding);
	mcp_answer_result(held[0], buf_str(&result));
	buf_release(&result);
	bench_settle(&bench);
	peer_set_deaf(&peer, false);
	while (!str_ends_with(buf_str(&peer.got), STR("x\"}}\n\n\r\n0\r\n\r\n")))
		bench_run(&bench);
	assert_true(peer.got.n > sizeof(padding) && peer.got.n < sizeof(padding) + 1000000);
	buf_clear(&peer.got, 0);
	post_in_session(CALL("2", "echo"));
	expect_json("200 OK", HEAD "\"id\":2,\"result\":" TEXT("hi") "}");
}

static void a_reader_that_leaves_a_full_stream_is_forgotten(void **state)
{
	static char padding[5000];
	const struct mcp_progress wordy = { STR("1"), { 0 }, str_make(padding, sizeof(padding)) };

	(void)state;
	memset(padding, 'x', sizeof(padding));
	open_session(INITIALIZE("2025-06-18"));
	post_in_session(CALL_WITH_TOKEN);
	wait_held(1);
	peer_set_deaf(&peer, true);
	for (int i = 0; i < 200; i++)
		mcp_call_progress(held[0], &wordy);
	mcp_answer_result(held[0], STR("{}"));
	bench_settle(&bench);
	peer_close(&peer);
	bench_settle(&bench);
	peer_connect(&peer, &bench);
	post_in_session(CALL("2", "echo"));
	expect_json("200 OK", HEAD "\"id\":2,\"result\":" TEXT("hi") "}");
}

/* A session whose listener does not read, and more for it than its stream holds. */
static void fill_stream_of_changes(struct peer *stream, const struct mcp_log *log)
{
	open_session(INITIALIZE("2025-06-18"));
	open_stream_of_changes(stream);
	peer_set_deaf(stream, true);
	for (int i = 0; i < 200; i++)
		mcp_server_log(&server, log);
}

/* Log messages may be lost on a full stream; that the list has changed is told when there is room again,
 * once. */
static void a_slow_listener_hears_of_changes_in_the_end(void **state)
{
	static char padding[5000];
	const struct mcp_log log = { MCP_LOG_ERROR, { 0 }, str_make(padding, sizeof(padding)) };
	struct peer stream;
	struct str got;
	size_t at;

	(void)state;
	memset(padding, '1', sizeof(padding));
	fill_stream_of_changes(&stream, &log);
	mcp_server_tools_changed(&server);
	mcp_server_tools_changed(&server);
	peer_set_deaf(&stream, false);
	while ((at = str_find(buf_str(&stream.got), STR(CHANGED))) == STR_NONE)
		bench_run(&bench);
	bench_settle(&bench);
	got = buf_str(&stream.got);
	assert_true(at < 200 * sizeof(padding));
	assert_int_equal(str_find(str_from(got, at + 1), STR(CHANGED)), STR_NONE);
	peer_close(&stream);
}

/* The session ends while its stream is full: what waits still arrives. */
static void a_slow_listener_gets_the_end_of_its_stream(void **state)
{
	static char padding[5000];
	const struct mcp_log log = { MCP_LOG_ERROR, { 0 }, str_make(padding, sizeof(padding)) };
	struct peer stream;

	(void)state;
	memset(padding, '1', sizeof(padding));
	fill_stream_of_changes(&stream, &log);
	delete_session(&peer);
	mcp_server_log(&server, &log);
	peer_set_deaf(&stream, false);
	while (!str_ends_with(buf_str(&stream.got), STR("\r\n0\r\n\r\n")))
		bench_run(&bench);
	peer_close(&stream);
}

/* Everything is open when the door is freed. */
static void a_door_may_be_freed_at_any_time(void **state)
{
	struct peer stream, modern;

	(void)state;
	rig_start(&usual);
	open_session(INITIALIZE("2025-06-18"));
	open_stream_of_changes(&stream);
	post_in_session(CALL("1", "hold"));
	wait_held(1);
	peer_connect(&modern, &bench);
	send_to(&modern, "POST", JSON_HEADERS LISTEN_HEADERS, LISTEN("1"));
	peer_expect(&modern, STREAM_HEAD);
	mcp_http_door_free(&door);
	mcp_http_door_free(&door);
	assert_int_equal(cancelled, 1);
	assert_true(list_empty(&server.sessions));
	http_server_free(&bench.server);
	peer_close(&peer);
	peer_close(&stream);
	peer_close(&modern);
	bench_stop(&bench);
}

static void an_endpoint_needs_room_for_a_session(void **state)
{
	const struct mcp_http_door_options none = { .session_idle_ms = 1 };
	struct err err;

	(void)state;
	assert_int_equal(mcp_http_door_new(&door, NULL, NULL, &none, &err), ERR_INVALID);
	assert_string_equal(err.message, "the MCP endpoint needs room and time for at least one session");
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accept_is_read_as_the_standard_says),
		cmocka_unit_test(content_type_must_be_json),
		cmocka_unit_test(header_values_are_decoded),
		RIGGED(methods_and_types_are_checked),
		RIGGED(a_session_lives_from_initialize_to_delete),
		RIGGED(sessions_belong_to_their_principal),
		RIGGED(malformed_messages_are_bad_requests),
		RIGGED(a_body_over_the_limit_is_413),
		RIGGED(batches_are_answered_as_arrays),
		RIGGED(a_batch_that_is_too_long_for_one_text_becomes_events),
		RIGGED(other_revisions_have_no_batches),
		RIGGED(progress_makes_the_answer_a_stream),
		RIGGED(progress_within_a_batch_turns_it_into_events),
		RIGGED(a_cancelled_request_ends_without_a_response),
		RIGGED(a_legacy_client_that_leaves_does_not_cancel),
		RIGGED(deleting_a_session_ends_its_calls_and_streams),
		RIGGED(changes_travel_on_the_get_stream),
		cmocka_unit_test(a_change_travels_on_one_stream),
		RIGGED(sessions_make_room_for_new_ones),
		RIGGED(sessions_in_use_are_not_thrown_out),
		cmocka_unit_test(idle_sessions_expire),
		RIGGED(modern_requests_need_no_session),
		RIGGED(modern_requests_are_checked_in_the_right_order),
		RIGGED(headers_are_read_tolerantly_where_they_may_be),
		RIGGED(headers_repeat_what_the_tool_says),
		RIGGED(headers_repeat_what_is_read),
		RIGGED(names_travel_as_visible_ascii),
		RIGGED(errors_with_data_have_it),
		RIGGED(a_result_that_is_too_long_is_no_bad_request),
		RIGGED(a_modern_client_that_leaves_cancels),
		RIGGED(subscriptions_are_streams),
		RIGGED(a_subscriber_that_leaves_is_forgotten),
		cmocka_unit_test(a_long_silence_makes_the_answer_a_stream),
		RIGGED(a_slow_reader_gets_its_answer),
		RIGGED(a_reader_that_leaves_a_full_stream_is_forgotten),
		RIGGED(a_slow_listener_hears_of_changes_in_the_end),
		RIGGED(a_slow_listener_gets_the_end_of_its_stream),
		cmocka_unit_test(a_door_may_be_freed_at_any_time),
		cmocka_unit_test(an_endpoint_needs_room_for_a_session),
	};

	return cmocka_run_group_tests_name("mcp/http_door", tests, NULL, NULL);
}

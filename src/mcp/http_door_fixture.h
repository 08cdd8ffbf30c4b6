/* A door behind a real HTTP server on a unix socket, and a peer that speaks to it: bytes in, bytes out. One
 * for a program. */
#ifndef MCP_HTTP_DOOR_FIXTURE_H
#define MCP_HTTP_DOOR_FIXTURE_H

#include "base/base.h"
#include "io/http_fixture.h"

#include <stdio.h>

#include "mcp/http_door.h"

#define HEAD "{\"jsonrpc\":\"2.0\","
#define INFO "{\"name\":\"srv\",\"version\":\"1\"}"
#define SERVER_META "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "}"
#define VERSION(v) "\"io.modelcontextprotocol/protocolVersion\":\"" v "\""
#define META_OF(v) "\"_meta\":{" VERSION(v) ",\"io.modelcontextprotocol/clientCapabilities\":{}"
#define META META_OF("2026-07-28")
#define TEXT(words) "{\"content\":[{\"type\":\"text\",\"text\":\"" words "\"}]}"

/* -- the rig --------------------------------------------------------------------------------------------- */

static struct bench bench;
static struct mcp_server server;
static struct mcp_http_door *door;
static struct peer peer;
static struct mcp_server_call *held[4];
static unsigned held_count, cancelled;
static const char *principal;
static char session_id[64];

static inline void rig_tools_list(struct mcp_server_call *call)
{
	static const struct str tool = STR_INIT("{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}");

	mcp_answer_list(call, &tool, 1);
}

static inline void rig_tools_call(struct mcp_server_call *call)
{
	if (str_eq(call->name, STR("echo")) || str_eq(call->name, STR("routed"))) {
		mcp_answer_result(call, STR(TEXT("hi")));
	} else if (str_eq(call->name, STR("hold"))) {
		held[held_count++] = call;
		bench_wake(&bench);
	} else if (str_eq(call->name, STR("needs"))) {
		mcp_answer_missing_capability(call, STR("{\"sampling\":{}}"));
	} else {
		mcp_answer_unknown_tool(call);
	}
}

static inline void rig_resources_list(struct mcp_server_call *call)
{
	mcp_answer_list(call, NULL, 0);
}

static inline void rig_resources_read(struct mcp_server_call *call)
{
	if (str_eq(call->name, STR("a:\xc3\xa9")))
		mcp_answer_contents(call, STR("[]"));
	else
		mcp_answer_unknown_resource(call, (struct str){ 0 });
}

static inline void rig_cancelled(struct mcp_server_call *call, struct str reason)
{
	(void)reason;
	for (unsigned i = 0; i < held_count; i++)
		if (held[i] == call)
			held[i] = NULL;
	cancelled++;
	bench_wake(&bench);
}

static inline struct str rig_find_tool(struct mcp_server *of, struct str name, struct arena *arena)
{
	(void)of;
	(void)arena;
	if (!str_eq(name, STR("routed")))
		return (struct str){ 0 };
	return STR("{\"name\":\"routed\",\"inputSchema\":{\"properties\":"
		   "{\"to\":{\"type\":\"string\",\"x-mcp-header\":\"To\"}}}}");
}

static const struct mcp_handler handler = {
	.tools_list = rig_tools_list,
	.tools_call = rig_tools_call,
	.find_tool = rig_find_tool,
	.resources_list = rig_resources_list,
	.resource_templates_list = rig_resources_list,
	.resources_read = rig_resources_read,
	.cancelled = rig_cancelled,
};

static const struct mcp_server_limits server_limits = {
	.message_max = 100000,
	.answer_max = 4000000,
	.calls_max = 10,
	.listens_max = 2,
	.batch_max = 10,
	.page_items = 10,
	.page_bytes = 10000,
};

static inline void handle(struct bench *b, struct http_request *request)
{
	(void)b;
	mcp_http_door_request(door, request, str_of(principal));
}

static inline void rig_start(const struct mcp_http_door_options *options)
{
	const struct http_limits limits = bench_limits();

	principal = "uid:1";
	held_count = cancelled = 0;
	mcp_server_init(&server, &handler, &server_limits, NULL);
	server.info = STR(INFO);
	server.logging = server.tools_changed = true;
	bench_start(&bench, &limits, handle);
	assert_int_equal(mcp_http_door_new(&door, bench.loop, &server, options, NULL), 0);
	peer_connect(&peer, &bench);
}

static const struct mcp_http_door_options usual = {
	.sessions_max = 3,
	.session_idle_ms = 3600000,
	.streams_max = 1,
};

static inline int set_up(void **state)
{
	(void)state;
	rig_start(&usual);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	peer_close(&peer);
	bench_settle(&bench);
	mcp_http_door_free(&door);
	bench_stop(&bench);
	return 0;
}

/* -- requests and answers -------------------------------------------------------------------------------- */

static inline void send_to(struct peer *to, const char *method, const char *headers, const char *body)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s /mcp HTTP/1.1\r\nHost: a\r\n%sContent-Length: %zu\r\n\r\n%s", method,
		 headers, strlen(body), body);
	peer_send(to, str_of(text));
}

#define JSON_HEADERS "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

static inline void post(const char *headers, const char *body)
{
	char all[1024];

	snprintf(all, sizeof(all), JSON_HEADERS "%s", headers);
	send_to(&peer, "POST", all, body);
}

/* The same as send_to(), with the header of the session behind the others. */
static inline void send_in_session(struct peer *to, const char *method, const char *headers, const char *body)
{
	char all[1024];

	snprintf(all, sizeof(all), "%sMcp-Session-Id: %s\r\n", headers, session_id);
	send_to(to, method, all, body);
}

static inline void post_in_session(const char *body)
{
	send_in_session(&peer, "POST", JSON_HEADERS, body);
}

static inline void expect_json(const char *status, const char *body)
{
	char head[256];

	snprintf(
		head, sizeof(head),
		"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nX-Content-Type-Options: nosniff\r\n\r\n",
		status, strlen(body));
	peer_expect(&peer, head);
	peer_expect(&peer, body);
}

static inline void expect_error(const char *status, const char *id, int code, const char *message)
{
	char body[1024];

	snprintf(body, sizeof(body), HEAD "%s%s%s\"error\":{\"code\":%d,\"message\":\"%s\"}}",
		 *id ? "\"id\":" : "", id, *id ? "," : "", code, message);
	expect_json(status, body);
}

#define STREAM_HEAD                                                                                          \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"               \
	"X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n\r\n"

static inline void expect_chunk(struct peer *from, const char *text)
{
	char chunk[1100];

	snprintf(chunk, sizeof(chunk), "%zx\r\n%s\r\n", strlen(text), text);
	peer_expect(from, chunk);
}

static inline void expect_event(struct peer *from, const char *message)
{
	char event[1024];

	snprintf(event, sizeof(event), "event: message\ndata: %s\n\n", message);
	expect_chunk(from, event);
}

static inline void expect_event_with_id(struct peer *from, const char *id, const char *message)
{
	char event[1024];

	snprintf(event, sizeof(event), "event: message\nid: %s\ndata: %s\n\n", id, message);
	expect_chunk(from, event);
}

#define INITIALIZE(version)                                                                                  \
	HEAD "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version                 \
	     "\",\"capabilities\":{}}}"
#define INITIALIZED HEAD "\"method\":\"notifications/initialized\"}"
#define CALL(id, name) HEAD "\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define MODERN_CALL(id, name)                                                                                \
	HEAD "\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"," META "}}}"
#define MODERN_HEADERS(method, name)                                                                         \
	"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\nMcp-Name: " name "\r\n"

static inline void read_session_id(void)
{
	const char *at;

	while (!(at = strstr(buf_cstr(&peer.got), "\r\n\r\n")))
		bench_run(&bench);
	at = strstr(buf_cstr(&peer.got), "Mcp-Session-Id: sess-");
	assert_non_null(at);
	snprintf(session_id, sizeof(session_id), "%.37s", at + strlen("Mcp-Session-Id: "));
}

static inline void expect_accepted(void)
{
	peer_expect_status(&peer, "HTTP/1.1 202 Accepted\r\n");
}

static inline void open_session(const char *initialize)
{
	post("", initialize);
	read_session_id();
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	while (!strstr(buf_cstr(&peer.got), "\"serverInfo\":" INFO "}}"))
		bench_run(&bench);
	buf_clear(&peer.got, 0);
	post_in_session(INITIALIZED);
	expect_accepted();
}

static inline void delete_session(struct peer *by)
{
	send_in_session(by, "DELETE", "", "");
	peer_expect_status(by, "HTTP/1.1 204 No Content\r\n");
}

static inline void expect_no_such_session(void)
{
	expect_error(
		"404 Not Found", "", -32600,
		"there is no such session: send \\\"initialize\\\" without Mcp-Session-Id to open a new one");
}

/* A new connection on which the session's changes come. */
static inline void open_stream_of_changes(struct peer *stream)
{
	peer_connect(stream, &bench);
	send_in_session(stream, "GET", "", "");
	peer_expect(stream, STREAM_HEAD);
}

static inline void wait_held(unsigned count)
{
	while (held_count < count)
		bench_run(&bench);
}

#define CALL_WITH_TOKEN                                                                                      \
	HEAD "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\",\"_meta\":{\"progressToken\":5}}}"

static const struct mcp_progress half = { STR_INIT("1"), STR_INIT("2"), { NULL, 0 } };
#define PROGRESS                                                                                             \
	HEAD "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5,\"progress\":1,\"total\":2}}"
#define CHANGED HEAD "\"method\":\"notifications/tools/list_changed\"}"

#endif

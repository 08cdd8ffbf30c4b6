/*
 * Random histories of the door: each line of the input is a step that a client, the handler or the network
 * takes. The first character says which (see `steps`), the second which of a few connections; the rest is
 * text for it. Whatever comes, what is kept stays within its bounds, every call that the handler holds is its
 * own to answer or is cancelled, and nothing is left when the door has been freed.
 */
#include "base/base.h"
#include "io/http_connection.h"

#include <sys/un.h>

#include "json/writer.h"
#include "mcp/http_door_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FAR_MS = 1000000, /* no time-out shall decide anything here */
	CONNECTIONS = 3,
	HELD = 4,
	STEPS_MAX = 60,
	REQUEST_MAX = 4096
};

#define META                                                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                             \
	"\"io.modelcontextprotocol/clientCapabilities\":{},\"progressToken\":1}"
#define CALL_HEAD "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\",\"params\":{\"name\":\"routed\","

static struct fuzz {
	struct loop *loop;
	struct http_server *http;
	struct http_listener listener;
	struct mcp_server server;
	struct mcp_http_door *door;
	struct timer stop;
	int peers[CONNECTIONS];	   /* -1: not connected */
	bool deaf[CONNECTIONS];	   /* takes nothing of what is sent to it */
	char session[ID_TEXT_MAX]; /* the last that was opened */
	struct mcp_server_call *held[HELD];
	size_t calls;
	bool other; /* the next requests come from another principal */
} fuzz;

/* -- the handler ----------------------------------------------------------------------------------------- */

static void fuzz_list(struct mcp_server_call *call)
{
	mcp_answer_list(call, NULL, 0);
}

/* One that is kept, until a step answers it. */
static bool fuzz_hold(struct mcp_server_call *call)
{
	for (size_t i = 0; i < HELD; i++)
		if (!fuzz.held[i]) {
			fuzz.held[i] = call;
			return true;
		}
	return false;
}

static void fuzz_read(struct mcp_server_call *call)
{
	if (!fuzz_hold(call))
		mcp_answer_contents(call, STR("[]"));
}

static void fuzz_call(struct mcp_server_call *call)
{
	if (!fuzz_hold(call))
		mcp_answer_result(call, call->arguments);
}

static struct str fuzz_find_tool(struct mcp_server *server, struct str name, struct arena *arena)
{
	(void)server;
	(void)arena;
	(void)name;
	return STR("{\"inputSchema\":{\"properties\":{\"s\":{\"type\":\"string\",\"x-mcp-header\":\"S\"},"
		   "\"i\":{\"type\":\"integer\",\"x-mcp-header\":\"I\"},"
		   "\"o\":{\"properties\":{\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}}}}}}");
}

static void fuzz_cancelled(struct mcp_server_call *call, struct str reason)
{
	bool known = false;

	(void)reason;
	for (size_t i = 0; i < HELD; i++)
		if (fuzz.held[i] == call) {
			fuzz.held[i] = NULL;
			known = true;
		}
	BUG_ON(!known);
}

static const struct mcp_handler handler = {
	.tools_list = fuzz_list,
	.tools_call = fuzz_call,
	.find_tool = fuzz_find_tool,
	.resources_list = fuzz_list,
	.resource_templates_list = fuzz_list,
	.resources_read = fuzz_read,
	.cancelled = fuzz_cancelled,
};

static void handle(void *context, struct http_request *request)
{
	(void)context;
	mcp_http_door_request(fuzz.door, request, fuzz.other ? STR("other") : STR("one"));
}

/* -- the network ----------------------------------------------------------------------------------------- */

static void stop_loop(struct timer *timer)
{
	(void)timer;
	loop_stop(fuzz.loop);
}

static void turn(void)
{
	timer_start(&fuzz.stop, fuzz.loop, 0, stop_loop);
	loop_run(fuzz.loop);
}

static void drain(void)
{
	char room[4096];

	for (size_t i = 0; i < CONNECTIONS; i++)
		while (fuzz.peers[i] >= 0 && !fuzz.deaf[i] &&
		       recv(fuzz.peers[i], room, sizeof(room), MSG_DONTWAIT) > 0)
			;
}

static void send_to(size_t at, struct str bytes)
{
	struct sockaddr_storage none = { .ss_family = AF_UNIX };
	int fds[2];

	if (fuzz.peers[at] < 0) {
		BUG_ON(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0);
		http_connection_new(&fuzz.listener, fds[0], &none);
		fuzz.peers[at] = fds[1];
		fuzz.deaf[at] = false;
	}
	if (send(fuzz.peers[at], bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		close_fd(&fuzz.peers[at]);
}

static void send_request(size_t at, const char *method, struct str headers, struct str body)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, REQUEST_MAX);
	buf_printf(&text,
		   "%s /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
		   "Accept: application/json, text/event-stream\r\n%.*sContent-Length: %zu\r\n\r\n",
		   method, STR_ARG(headers), body.n);
	buf_append(&text, body);
	if (!buf_failed(&text))
		send_to(at, buf_str(&text));
}

/* -- steps ----------------------------------------------------------------------------------------------- */

static struct str session_headers(struct arena *arena, struct str last)
{
	if (!last.n)
		return arena_printf(arena, "Mcp-Session-Id: %s\r\n", fuzz.session);
	return arena_printf(arena, "Mcp-Session-Id: %s\r\nLast-Event-ID: %.*s\r\n", fuzz.session,
			    STR_ARG(last));
}

static void remember_session(void)
{
	const struct map_entry *entry;
	uint64_t newest = 0;
	size_t cursor = 0;

	while ((entry = map_next(&fuzz.door->sessions, &cursor))) {
		const struct door_session *ds = entry->value;

		if (ds->session.number <= newest)
			continue;
		newest = ds->session.number;
		snprintf(fuzz.session, sizeof(fuzz.session), "%.*s", STR_ARG(ds->id));
	}
}

static void step_open(size_t at, struct str text, struct arena *arena)
{
	struct str revision =
		mcp_revision_name((enum mcp_revision)(text.n ? (uint8_t)text.p[0] % MCP_REVISION_COUNT : 0));

	send_request(at, "POST", STR(""),
		     arena_printf(arena,
				  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
				  "{\"protocolVersion\":\"%.*s\",\"capabilities\":{}}}",
				  STR_ARG(revision)));
	turn();
	turn();
	remember_session();
	send_request(at, "POST", session_headers(arena, STR("")),
		     STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
}

static void step_post(size_t at, struct str text, struct arena *arena)
{
	send_request(at, "POST", session_headers(arena, STR("")), text);
}

static void step_call(size_t at, struct str text, struct arena *arena)
{
	(void)text;
	send_request(at, "POST", session_headers(arena, STR("")),
		     arena_printf(arena, CALL_HEAD "\"_meta\":{\"progressToken\":1}}}", ++fuzz.calls));
}

/* Arguments, "|", and what a header says. */
static void step_modern(size_t at, struct str text, struct arena *arena)
{
	size_t bar = str_find_char(text, '|');
	struct str arguments = str_slice(text, 0, bar);
	struct str value = bar == STR_NONE ? STR("") : str_from(text, bar + 1);

	send_request(
		at, "POST",
		arena_printf(
			arena,
			"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: routed\r\n"
			"Mcp-Param-S: %.*s\r\nMcp-Param-I: %.*s\r\n",
			STR_ARG(value), STR_ARG(value)),
		arena_printf(arena, CALL_HEAD "\"arguments\":%.*s," META "}}", ++fuzz.calls,
			     STR_ARG(arguments)));
}

/* A URI, "|", and what the header says. */
static void step_read(size_t at, struct str text, struct arena *arena)
{
	size_t bar = str_find_char(text, '|');
	struct str value = bar == STR_NONE ? STR("") : str_from(text, bar + 1);
	_cleanup_buf_ struct buf uri = { 0 };

	buf_init(&uri, REQUEST_MAX);
	json_quote(&uri, str_slice(text, 0, bar));
	if (buf_failed(&uri))
		return;
	send_request(
		at, "POST",
		arena_printf(
			arena,
			"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: %.*s\r\n",
			STR_ARG(value)),
		arena_printf(
			arena,
			"{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"resources/read\",\"params\":{\"uri\":%.*s," META
			"}}",
			++fuzz.calls, STR_ARG(buf_str(&uri))));
}

static void step_raw(size_t at, struct str text, struct arena *arena)
{
	struct str headers = STR(""), line;

	while (str_split(&text, '|', &line))
		headers = arena_concat(arena, headers, line, STR("\r\n"));
	send_request(at, "POST", headers,
		     STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META "}}"));
}

static void step_get(size_t at, struct str text, struct arena *arena)
{
	send_request(at, "GET", session_headers(arena, text), STR(""));
}

static void step_delete(size_t at, struct str text, struct arena *arena)
{
	(void)text;
	send_request(at, "DELETE", session_headers(arena, STR("")), STR(""));
}

static void step_leave(size_t at, struct str text, struct arena *arena)
{
	(void)text;
	(void)arena;
	close_fd(&fuzz.peers[at]);
}

static void step_deaf(size_t at, struct str text, struct arena *arena)
{
	(void)text;
	(void)arena;
	fuzz.deaf[at] = !fuzz.deaf[at];
}

static void step_progress(size_t at, struct str text, struct arena *arena)
{
	const struct mcp_progress progress = { STR("1"), { NULL, 0 }, text };

	(void)arena;
	for (size_t i = 0; i < HELD; i++)
		if (fuzz.held[i] && i >= at)
			mcp_call_progress(fuzz.held[i], &progress);
}

static void step_answer(size_t at, struct str text, struct arena *arena)
{
	struct mcp_server_call *call = fuzz.held[at];

	(void)arena;
	fuzz.held[at] = NULL;
	if (call && call->method == MCP_RESOURCES_READ)
		mcp_answer_unknown_resource(call, text);
	else if (call)
		mcp_answer_tool_error(call, text);
}

static void step_change(size_t at, struct str text, struct arena *arena)
{
	(void)at;
	(void)text;
	(void)arena;
	mcp_server_tools_changed(&fuzz.server);
}

static void step_other(size_t at, struct str text, struct arena *arena)
{
	(void)at;
	(void)text;
	(void)arena;
	fuzz.other = !fuzz.other;
}

static const struct {
	char name;
	void (*step)(size_t at, struct str text, struct arena *arena);
} steps[] = {
	{ 'o', step_open },  { 'p', step_post },     { 'c', step_call },   { 'm', step_modern },
	{ 'r', step_raw },   { 'g', step_get },	     { 'd', step_delete }, { 'x', step_leave },
	{ 's', step_deaf },  { 'P', step_progress }, { 'a', step_answer }, { 'C', step_change },
	{ 'O', step_other }, { 'R', step_read },
};

static void check_bounds(void)
{
	const struct map_entry *entry;
	size_t cursor = 0;

	while ((entry = map_next(&fuzz.door->sessions, &cursor))) {
		const struct door_session *ds = entry->value;

		BUG_ON(ds->replay.count > fuzz.door->options.replay.events_max);
		BUG_ON(ds->replay.bytes > fuzz.door->options.replay.bytes_max);
		BUG_ON(ds->stream_count > fuzz.door->options.streams_max);
	}
	BUG_ON(fuzz.door->replays.bytes > fuzz.door->options.replay.total_max);
	BUG_ON(map_count(&fuzz.door->sessions) > fuzz.door->options.sessions_max);
}

static void take_step(struct str line)
{
	struct arena arena;

	if (line.n < 2)
		return;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (steps[i].name == line.p[0])
			steps[i].step((uint8_t)line.p[1] % CONNECTIONS, str_from(line, 2), &arena);
	arena_release(&arena);
	for (int i = 0; i < 3; i++) {
		turn();
		drain();
	}
	check_bounds();
}

/* -- a history ------------------------------------------------------------------------------------------- */

static void begin(void)
{
	static const struct http_limits limits = {
		.header_bytes = 2048,
		.header_fields = 32,
		.target_bytes = 128,
		.connections = CONNECTIONS + 2,
		.header_ms = FAR_MS,
		.body_ms = FAR_MS,
		.idle_ms = FAR_MS,
		.write_ms = FAR_MS,
		.linger_ms = FAR_MS,
		.unsent_bytes = 256,
		.accept_retry_ms = FAR_MS,
	};
	static const struct mcp_server_limits server_limits = { 4096, 32, 4096, 5, 2, 4, 2, 100 };
	static const struct mcp_http_door_options options = {
		.sessions_max = 2,
		.session_idle_ms = FAR_MS,
		.streams_max = 2,
		.replay = { .events_max = 4, .bytes_max = 512, .total_max = 700, .age_ms = FAR_MS },
		.prime_ms = 1,
		.retry_ms = 5,
	};
	const struct http_handler http_handler = { .request = handle };

	fuzz = (struct fuzz){ .peers = { -1, -1, -1 } };
	BUG_ON(loop_new(&fuzz.loop, NULL) < 0);
	BUG_ON(http_server_new(&fuzz.http, fuzz.loop, &limits, &http_handler, NULL) < 0);
	fuzz.listener = (struct http_listener){ .local = true, .server = fuzz.http };
	mcp_server_init(&fuzz.server, &handler, &server_limits, NULL);
	fuzz.server.logging = fuzz.server.tools_changed = true;
	BUG_ON(mcp_http_door_new(&fuzz.door, fuzz.loop, &fuzz.server, &options, NULL) < 0);
}

/* In the middle of whatever goes on. */
static void end(void)
{
	mcp_http_door_free(&fuzz.door);
	for (size_t i = 0; i < HELD; i++)
		BUG_ON(fuzz.held[i]);
	BUG_ON(!list_empty(&fuzz.server.sessions));
	http_server_free(&fuzz.http);
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (fuzz.peers[i] >= 0)
			close_fd(&fuzz.peers[i]);
	loop_free(&fuzz.loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make((const char *)data, size), line;

	begin();
	for (int i = 0; i < STEPS_MAX && str_split(&text, '\n', &line); i++)
		take_step(line);
	end();
	return 0;
}

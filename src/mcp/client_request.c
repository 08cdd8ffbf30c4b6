/*
 * A request is sent from within its start, so everything that can be known then is known; a failure is
 * delivered from the loop. From then on one of four things ends it: an answer, a timer, the end of the
 * connection, or a cancellation.
 */
#include "base/base.h"
#include "mcp/client.h"

#include <stdarg.h>
#include <stdio.h>

#include "json/writer.h"
#include "mcp/client_private.h"

enum {
	ENVELOPE_ROOM = 1024, /* reserved beside the parameters; more is allocated when needed */
	QUOTED_BYTES_MAX = 6, /* a byte of a string becomes at most "\\u00XX" */
};

/* -- the text -------------------------------------------------------------------------------------------- */

/* 2026-07-28, basic, "Per-request metadata". */
static void write_modern_meta(struct buf *out, bool *first, const struct mcp_client *client,
			      enum mcp_log_level log_level)
{
	char version[32], level[32];
	int n = snprintf(version, sizeof(version), "\"%.*s\"",
			 STR_ARG(mcp_revision_name(client->facts.revision)));

	jsonrpc_write_member(out, first, STR(MCP_META_PROTOCOL_VERSION), str_make(version, (size_t)n));
	if (client->client_info.n)
		jsonrpc_write_member(out, first, STR(MCP_META_CLIENT_INFO), client->client_info);
	jsonrpc_write_member(out, first, STR(MCP_META_CLIENT_CAPABILITIES), client->client_capabilities);
	if (log_level == MCP_LOG_NONE)
		return;
	n = snprintf(level, sizeof(level), "\"%.*s\"", STR_ARG(mcp_log_level_name(log_level)));
	jsonrpc_write_member(out, first, STR(MCP_META_LOG_LEVEL), str_make(level, (size_t)n));
}

/* Appends `,"_meta":{...}` (the comma unless `first_param`) when there is anything to put into it. */
static bool write_meta(struct buf *out, const struct mcp_request *request, const struct mcp_message *message,
		       bool first_param)
{
	size_t before = out->n, begin;
	bool first = true;

	buf_append(out, first_param ? STR("\"_meta\":{") : STR(",\"_meta\":{"));
	begin = out->n;
	/* Not on `initialize`, which would make it a modern request. */
	if (mcp_has(request->client->facts.revision, MCP_HAS_REQUEST_META) &&
	    mcp_method_exists(request->method, request->client->facts.revision))
		write_modern_meta(out, &first, request->client, message->log_level);
	if (request->progressed) {
		char token[24];
		int n = snprintf(token, sizeof(token), "%llu", (unsigned long long)request->id);

		jsonrpc_write_member(out, &first, STR("progressToken"), str_make(token, (size_t)n));
	}
	mcp_meta_relay(out, message->meta, &first);
	if (out->n == begin) {
		out->n = before;
		return false;
	}
	buf_append_char(out, '}');
	return true;
}

static void write_params(struct buf *out, const struct mcp_request *request,
			 const struct mcp_message *message)
{
	size_t before = out->n;
	bool first = true;

	buf_append(out, STR(",\"params\":{"));
	for (size_t i = 0; i < message->param_count; i++) {
		const struct json_member *param = &message->params[i];

		if (!str_eq(param->key, STR("_meta")))
			jsonrpc_write_member(out, &first, param->key, param->raw);
	}
	if (!write_meta(out, request, message, first) && first) {
		out->n = before;
		return;
	}
	buf_append_char(out, '}');
}

static void write_request(struct buf *out, const struct mcp_request *request,
			  const struct mcp_message *message)
{
	size_t size = 0;

	for (size_t i = 0; i < message->param_count; i++)
		size += message->params[i].raw.n;
	buf_reserve(out, size_min(size + ENVELOPE_ROOM, out->max));
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%.*s\"",
		   (unsigned long long)request->id, STR_ARG(mcp_method_name(message->method)));
	write_params(out, request, message);
	buf_append_char(out, '}');
}

/* -- the end --------------------------------------------------------------------------------------------- */

static void request_end(struct mcp_request *request)
{
	timer_stop(&request->idle);
	timer_stop(&request->total);
	deferred_cancel(&request->refused);
	list_remove(&request->node);
	if (request->refused_code == 0)
		request->client->pending_count--;
	request->client = NULL;
}

void request_fail(struct mcp_request *request, int code, enum mcp_outcome outcome, const char *format, ...)
{
	struct mcp_answer answer = { .code = code, .outcome = outcome };
	char text[ERR_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err_set(&answer.err, code, "%.*s: %s", STR_ARG(mcp_method_name(request->method)), text);
	request_end(request);
	request->done(request, &answer);
}

void request_fail_long(struct mcp_request *request, enum mcp_outcome outcome, const char *what)
{
	const struct mcp_client_limits *limits = &request->client->limits;
	struct str setting = limits->message_setting;

	request_fail(request, ERR_TOO_LARGE, outcome, "%s longer than %zu bytes%s%.*s%s", what,
		     limits->message_max, setting.n ? " (" : "", STR_ARG(setting), setting.n ? ")" : "");
}

/* The result's type. 0, or ERR_PROTOCOL for a value that no revision or extension of ours defines ("clients
 * MUST treat an unknown resultType as an invalid response"). */
static int read_result_type(struct mcp_answer *answer, struct arena *arena, struct err *err)
{
	static const struct str known[] = { STR_INIT("complete"), STR_INIT("input_required"),
					    STR_INIT("task") };
	struct jsonrpc_members members;
	struct str type;

	if (jsonrpc_members(answer->result, arena, &members, NULL) < 0)
		return err_set(err, ERR_PROTOCOL, "the server's result is no object");
	if (!jsonrpc_member_find(&members, STR("resultType")))
		return 0;
	type = jsonrpc_member_str(&members, STR("resultType"), arena);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(type, known[i])) {
			answer->result_type = known[i];
			return 0;
		}
	return err_set(err, ERR_PROTOCOL, "the server's result has the unknown resultType \"%.*s\"",
		       STR_ARG(type));
}

static void answer_with_result(struct mcp_request *request, struct str result, struct arena *arena)
{
	struct mcp_answer answer = { .result = result, .result_type = STR("complete") };
	struct err err;

	if (!str_starts_with(result, STR("{"))) {
		request_fail(request, ERR_PROTOCOL, MCP_ANSWERED, "the server's result is no object");
		return;
	}
	if (mcp_has(request->client->facts.revision, MCP_HAS_RESULT_TYPE) &&
	    read_result_type(&answer, arena, &err) < 0) {
		request_fail(request, ERR_PROTOCOL, MCP_ANSWERED, "%s", err.message);
		return;
	}
	request_end(request);
	request->done(request, &answer);
}

void request_answered(struct mcp_request *request, const struct jsonrpc_message *message, struct arena *arena)
{
	struct mcp_answer answer = { .code = ERR_UPSTREAM };

	if (message->kind == JSONRPC_RESULT) {
		answer_with_result(request, message->result, arena);
		return;
	}
	answer.error = (struct mcp_error){ message->error_code, message->error_message, message->error_data };
	err_set(&answer.err, ERR_UPSTREAM, "%.*s: the server answered with error %lld: %.*s",
		STR_ARG(mcp_method_name(request->method)), (long long)message->error_code,
		STR_ARG(message->error_message));
	request_end(request);
	request->done(request, &answer);
}

void request_progressed(struct mcp_request *request, const struct mcp_progress *progress, struct str params)
{
	if (!request->progressed)
		return;
	timer_start(&request->idle, request->client->loop, request->patience.idle_ms, request->idle.done);
	request->progressed(request, progress, params);
}

static void tell_cancelled(struct mcp_client *client, uint64_t id, struct str reason)
{
	struct buf *out = client_out(client);

	buf_printf(
		out,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%llu",
		(unsigned long long)id);
	if (reason.n) {
		buf_append(out, STR(",\"reason\":"));
		json_quote(out, reason);
	}
	buf_append(out, STR("}}"));
	client_send_unasked(client);
}

/* -- time ------------------------------------------------------------------------------------------------ */

/* What else is known when the time is over: "; ...", or nothing. */
static struct str waited_in_vain(const struct mcp_request *request, char *storage, size_t size)
{
	const struct mcp_client *client = request->client;
	uint64_t unasked = client->unasked - request->unasked_before;
	size_t unread = mcp_client_unread(client);
	int n = 0;

	if (unread)
		n = snprintf(storage, size, "; the server has not read %zu bytes of what it was sent",
			     unread);
	else if (unasked)
		n = snprintf(storage, size,
			     "; %llu answer%s came meanwhile with ids that no request has, such as %.*s",
			     (unsigned long long)unasked, unasked == 1 ? "" : "s",
			     STR_ARG(mcp_client_unasked(client)));
	return str_make(storage, size_min((size_t)n, size - 1));
}

/* "tools/call: no answer within 60 s (callTimeout)". Whole seconds are written as such. */
static void request_timed_out(struct mcp_request *request, const char *what, uint64_t ms, struct str setting)
{
	struct mcp_client *client = request->client;
	bool seconds = ms % 1000 == 0;
	uint64_t id = request->id;
	char storage[ERR_MESSAGE_MAX];
	struct str more = waited_in_vain(request, storage, sizeof(storage));

	if (!request->handshake)
		tell_cancelled(client, id, STR("timed out"));
	request_fail(request, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN, "%s within %llu %s%s%.*s%s%.*s", what,
		     (unsigned long long)(seconds ? ms / 1000 : ms), seconds ? "s" : "ms",
		     setting.n ? " (" : "", STR_ARG(setting), setting.n ? ")" : "", STR_ARG(more));
}

static void request_idle(struct timer *timer)
{
	struct mcp_request *request = container_of(timer, struct mcp_request, idle);

	request_timed_out(request, request->progressed ? "no answer and no progress" : "no answer",
			  request->patience.idle_ms, request->patience.idle_setting);
}

static void request_overdue(struct timer *timer)
{
	struct mcp_request *request = container_of(timer, struct mcp_request, total);

	request_timed_out(request, "no answer", request->patience.total_ms, request->patience.total_setting);
}

/* -- the start ------------------------------------------------------------------------------------------- */

static void request_fail_busy(struct mcp_request *request)
{
	char waiting[64] = "";

	if (request->refused_running >= request->client->limits.requests_max) {
		request_fail(request, ERR_BUSY, MCP_NOT_SENT, "not sent: %zu requests are running already",
			     request->refused_running);
		return;
	}
	if (request->refused_unread)
		snprintf(waiting, sizeof(waiting), ": %zu bytes wait", request->refused_unread);
	request_fail(
		request, ERR_BUSY, MCP_NOT_SENT,
		"not sent: the server does not read what it was sent before%s (%zu requests are running)",
		waiting, request->refused_running);
}

void request_deliver_refusal(struct mcp_request *request)
{
	const struct mcp_client *client = request->client;

	switch (request->refused_code) {
	case ERR_CLOSED:
		request_fail(request, ERR_CLOSED, MCP_NOT_SENT, "not sent: %s",
			     client->closed ? client->closed_why.message
					    : "the server takes no more messages");
		break;
	case ERR_BUSY:
		request_fail_busy(request);
		break;
	case ERR_TOO_LARGE:
		request_fail_long(request, MCP_NOT_SENT, "not sent: the request is");
		break;
	case ERR_INVALID:
		request_fail(request, ERR_INVALID, MCP_NOT_SENT, "not sent: the handshake is not over");
		break;
	default:
		request_fail(request, request->refused_code, MCP_NOT_SENT, "not sent: %s",
			     err_code_name(request->refused_code));
		break;
	}
}

static void request_refused(struct deferred *deferred)
{
	request_deliver_refusal(container_of(deferred, struct mcp_request, refused));
}

static int request_send(struct mcp_request *request, const struct mcp_message *message)
{
	struct mcp_client *client = request->client;

	if (client->closed)
		return ERR_CLOSED;
	if (!client->open && !request->handshake)
		return ERR_INVALID;
	if (client->pending_count >= client->limits.requests_max)
		return ERR_BUSY;
	write_request(client_out(client), request, message);
	return client_send(client);
}

void mcp_request_start(struct mcp_request *request, struct mcp_client *client,
		       const struct mcp_message *message, const struct mcp_patience *patience,
		       mcp_request_progressed *progressed, mcp_request_done *done, void *owner)
{
	BUG_ON(patience->idle_ms == 0 || patience->total_ms == 0);
	*request = (struct mcp_request){
		.client = client,
		.id = ++client->last_id,
		.method = message->method,
		.handshake = message->method == MCP_INITIALIZE || message->method == MCP_DISCOVER,
		.patience = *patience,
		.started = loop_now(client->loop),
		.unasked_before = client->unasked,
		.done = done,
		.progressed = progressed,
		.owner = owner,
	};
	list_init(&request->refused.node);
	request->refused_code = request_send(request, message);
	if (request->refused_code < 0) {
		request->refused_running = client->pending_count;
		request->refused_unread = mcp_client_unread(client);
		list_append(&client->refused, &request->node);
		loop_defer(client->loop, &request->refused, request_refused);
		return;
	}
	list_append(&client->pending[request->id % MCP_CLIENT_BUCKETS], &request->node);
	client->pending_count++;
	timer_start(&request->idle, client->loop, patience->idle_ms, request_idle);
	timer_start(&request->total, client->loop, patience->total_ms, request_overdue);
}

void mcp_request_cancel_because(struct mcp_request *request, struct str reason)
{
	struct mcp_client *client = request->client;

	if (!client)
		return;
	if (request->refused_code == 0 && !request->handshake && !client->closed)
		tell_cancelled(client, request->id, reason);
	request_end(request);
}

void mcp_request_cancel(struct mcp_request *request)
{
	mcp_request_cancel_because(request, (struct str){ 0 });
}

void mcp_tool_call_start(struct mcp_request *request, struct mcp_client *client,
			 const struct mcp_tool_call *call, const struct mcp_patience *patience,
			 mcp_request_progressed *progressed, mcp_request_done *done, void *owner)
{
	struct buf name;
	struct json_member params[2] = { { .key = STR("name") },
					 { .key = STR("arguments"), .raw = call->arguments } };
	const struct mcp_message message = {
		.method = MCP_TOOLS_CALL,
		.params = params,
		.param_count = call->arguments.n ? 2 : 1,
		.meta = call->meta,
		.log_level = call->log_level,
	};

	buf_init(&name, call->name.n * QUOTED_BYTES_MAX + sizeof("\"\""));
	json_quote(&name, call->name);
	params[0].raw = buf_str(&name);
	mcp_request_start(request, client, &message, patience, progressed, done, owner);
	buf_release(&name);
}

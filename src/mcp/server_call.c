/*
 * The life of one request on the server. A call lives in the arena that holds its message, so it costs one
 * allocation and is freed whole; every way out of it goes through call_finish().
 */
#include "base/base.h"
#include "mcp/server.h"

#include <stdarg.h>
#include <stdio.h>

#include "json/writer.h"
#include "mcp/convert.h"
#include "mcp/server_private.h"

struct mcp_server_call *call_new(struct mcp_session *session, const struct jsonrpc_message *message,
				 struct arena *storage, void *route)
{
	struct mcp_server_call *call = arena_new(storage, struct mcp_server_call);

	call->session = session;
	call->revision = session->revision;
	call->id = message->id;
	call->params = message->params;
	call->route = route;
	list_init(&call->node);
	call->storage = *storage;
	call->arena = &call->storage;
	arena_init(storage, 0);
	return call;
}

struct mcp_server_call *call_find(const struct mcp_session *session, struct str id)
{
	struct mcp_server_call *call;

	list_for_each(call, &session->calls, node)
		if (jsonrpc_id_equal(call->id, id))
			return call;
	list_for_each(call, &session->listens, node)
		if (jsonrpc_id_equal(call->id, id))
			return call;
	return NULL;
}

bool call_list(struct mcp_server_call *call, bool listen)
{
	struct mcp_session *session = call->session;
	size_t max = listen ? session->server->limits.listens_max : session->server->limits.calls_max;
	size_t *count = listen ? &session->listen_count : &session->call_count;

	if (call_find(session, call->id)) {
		call_refuse(call, MCP_INVALID_REQUEST, "a request with the id %.*s is running already",
			    STR_ARG(call->id));
		return false;
	}
	if (*count >= max) {
		call_refuse(call, MCP_INTERNAL_ERROR,
			    "%zu requests of this client are running already: wait for one to end", *count);
		return false;
	}
	++*count;
	call->listed = true;
	list_append(listen ? &session->listens : &session->calls, &call->node);
	return true;
}

/* -- the end --------------------------------------------------------------------------------------------- */

static void call_free(struct mcp_server_call *call)
{
	struct mcp_session *session = call->session;
	struct arena arena;

	if (call->listed) {
		list_remove(&call->node);
		--*(call->method == MCP_LISTEN ? &session->listen_count : &session->call_count);
	}
	arena = call->storage;
	arena_release(&arena);
}

/* Sends the text that ends the call, unless nobody is there to hear it, and frees the call. */
static void call_finish(struct mcp_server_call *call, struct mcp_outgoing *outgoing)
{
	outgoing->route = call->route;
	if (!call->deaf)
		call->session->transport->send(call->session, outgoing);
	if (outgoing->text)
		buf_release(outgoing->text);
	call_free(call);
}

void call_end_silently(struct mcp_server_call *call)
{
	call_finish(call, &(struct mcp_outgoing){ .kind = MCP_OUT_NOTHING });
}

void call_cancel(struct mcp_server_call *call, struct str reason)
{
	call->session->server->handler->cancelled(call, reason);
	call_end_silently(call);
}

void call_refuse_with(struct mcp_server_call *call, const struct mcp_error *error, bool refused)
{
	struct buf text;

	buf_init(&text, call->session->server->limits.answer_max);
	jsonrpc_write_error(&text, call->id, error->code, error->message, error->data);
	if (buf_failed(&text)) {
		buf_release(&text);
		buf_init(&text, JSON_BYTES_MAX);
		jsonrpc_write_error(&text, call->id, error->code, STR("the error's text is too long"),
				    (struct str){ 0 });
	}
	call_finish(call, &(struct mcp_outgoing){ .kind = MCP_OUT_ANSWER,
						  .text = &text,
						  .error_code = error->code,
						  .refused = refused });
}

void call_refuse(struct mcp_server_call *call, int64_t code, const char *format, ...)
{
	char text[ERR_MESSAGE_MAX];
	struct err err;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err_set(&err, ERR_INVALID, "%s", text);
	call_refuse_with(call, &(struct mcp_error){ .code = code, .message = str_of(err.message) }, true);
}

/* Nothing was wrong with the request. */
static void call_fail(struct mcp_server_call *call, const struct err *err)
{
	call_refuse_with(call,
			 &(struct mcp_error){ .code = MCP_INTERNAL_ERROR, .message = str_of(err->message) },
			 false);
}

void call_answer(struct mcp_server_call *call, struct str result, bool initialized)
{
	size_t max = call->session->server->limits.answer_max;
	struct buf text;
	struct err err;

	buf_init(&text, max);
	jsonrpc_write_result(&text, call->id, result);
	if (buf_failed(&text)) {
		buf_release(&text);
		err_set(&err, ERR_TOO_LARGE, "the result is %zu bytes long, which is more than %zu", result.n,
			max);
		call_fail(call, &err);
		return;
	}
	call_finish(call, &(struct mcp_outgoing){
				  .kind = MCP_OUT_ANSWER, .text = &text, .initialized = initialized });
}

void call_answer_written(struct mcp_server_call *call, struct buf *result, bool initialized)
{
	struct err err;

	if (buf_failed(result)) {
		err_set(&err, ERR_TOO_LARGE, "the result is longer than %zu bytes",
			call->session->server->limits.answer_max);
		call_fail(call, &err);
	} else {
		call_answer(call, buf_str(result), initialized);
	}
	buf_release(result);
}

/* -- the handler's answers ------------------------------------------------------------------------------- */

void mcp_answer_result(struct mcp_server_call *call, struct str result)
{
	struct str converted;
	struct err err;

	if (mcp_convert_result(result, call->revision, call->session->server->info, call->arena, &converted,
			       &err) < 0)
		call_fail(call, &err);
	else
		call_answer(call, converted, false);
}

void mcp_answer_tool_error(struct mcp_server_call *call, struct str text)
{
	struct buf result;

	buf_init(&result, JSON_BYTES_MAX);
	buf_append(&result, STR("{\"content\":[{\"type\":\"text\",\"text\":"));
	json_quote(&result, text);
	buf_append(&result, STR("}],\"isError\":true}"));
	mcp_answer_result(call, buf_str(&result));
	buf_release(&result);
}

/* Codes that mean something else, or nothing, on this hop. */
static int64_t code_for(int64_t code, enum mcp_revision revision)
{
	bool modern = mcp_era_of(revision) == MCP_MODERN;

	switch (code) {
	case MCP_HEADER_MISMATCH:
	case MCP_MISSING_CAPABILITY:
	case MCP_UNSUPPORTED_VERSION:
		return MCP_INTERNAL_ERROR;
	case MCP_RESOURCE_NOT_FOUND:
		return modern ? MCP_INVALID_PARAMS : code;
	case MCP_URL_ELICITATION_REQUIRED:
		return revision == MCP_2025_11_25 ? code : MCP_INTERNAL_ERROR;
	default:
		return modern && code >= MCP_RESERVED_LEAST && code <= MCP_RESERVED_MOST ? MCP_INTERNAL_ERROR
											 : code;
	}
}

void mcp_answer_error(struct mcp_server_call *call, const struct mcp_error *error)
{
	struct mcp_error known = *error;

	known.code = code_for(error->code, call->revision);
	call_refuse_with(call, &known, false);
}

void mcp_answer_unknown_tool(struct mcp_server_call *call)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "unknown tool: %.*s", STR_ARG(call->name));
	call_refuse_with(call,
			 &(struct mcp_error){ .code = MCP_INVALID_PARAMS, .message = str_of(err.message) },
			 false);
}

void mcp_answer_missing_capability(struct mcp_server_call *call, struct str required)
{
	bool modern = mcp_era_of(call->revision) == MCP_MODERN;
	struct mcp_error error = {
		.code = modern ? MCP_MISSING_CAPABILITY : MCP_INTERNAL_ERROR,
		.message = STR("the tool needs a capability that the client did not declare"),
	};

	if (modern)
		error.data = arena_concat(call->arena, STR("{\"requiredCapabilities\":"), required, STR("}"));
	call_refuse_with(call, &error, modern);
}

/* -- beside the answer ----------------------------------------------------------------------------------- */

void call_relate(struct mcp_server_call *call, struct buf *text)
{
	if (!call->deaf && !buf_failed(text))
		call->session->transport->send(call->session, &(struct mcp_outgoing){ .kind = MCP_OUT_RELATED,
										      .route = call->route,
										      .text = text });
	buf_release(text);
}

void mcp_call_progress(struct mcp_server_call *call, const struct mcp_progress *progress)
{
	struct buf text;

	if (!call->progress_token.n || call->deaf)
		return;
	buf_init(&text, call->session->server->limits.answer_max);
	mcp_progress_write(&text, call->progress_token, progress, call->revision);
	call_relate(call, &text);
}

static enum mcp_log_level level_now(const struct mcp_server_call *call)
{
	if (!call->session->server->logging)
		return MCP_LOG_NONE;
	return mcp_era_of(call->revision) == MCP_MODERN ? call->log_level : call->session->log_level;
}

void mcp_call_log(struct mcp_server_call *call, const struct mcp_log *log)
{
	struct buf text;

	if (call->deaf || !mcp_log_admits(level_now(call), log->level))
		return;
	buf_init(&text, call->session->server->limits.answer_max);
	mcp_log_write(&text, log);
	call_relate(call, &text);
}

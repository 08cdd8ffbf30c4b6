/*
 * POST /v1/call, POST /v1/call/{server}/{tool} and the tool mcpx_call: one call of an upstream tool. With
 * `relay` the answer is a stream of lines, one for each progress and log notification of the server and the
 * ordinary answer last as {"status", "body"}; a call that sends none is answered plainly. With `links` media
 * in the result become artifacts.
 *
 * A model gets links unless it says otherwise, and of a result longer than mcp.textMax the beginning and a
 * link (long_text.h); with `links` false it gets the result as the server sent it. What went wrong is told to
 * it as the tool's error, which it can read and mend, not as one of the protocol.
 */
#include "base/base.h"
#include "api/api.h"
#include "api/caller.h"
#include "api/long_text.h"
#include "api/relay.h"
#include "artifacts/media.h"
#include "io/random.h"
#include "mcp/jsonrpc.h"

enum {
	/* Blocks of media in one result that become links; a result with more keeps the rest as it is. */
	MEDIA_BLOCKS_MAX = 64,
};

struct tool_call {
	struct api_call *call;
	struct hub_call hub_call;
	struct media_intercept media;
	struct long_text long_text;
	struct http_stream stream;
	bool streaming;	      /* a progress line was sent */
	struct str last_line; /* storage of the last line, while the client has no room for it */
	struct str result;    /* a copy, while its media are stored */
	bool is_error;	      /* the tool says that it failed */
	uint64_t duration_ms;
	struct str trace_id;
};

static const struct http_answer lines_answer = { .status = 200,
						 .content_type = STR_INIT("application/x-ndjson") };

/* Where the route names the tool, its arguments are the body, and the answer says first whether it went
 * well. */
static bool is_routed(const struct tool_call *state)
{
	return state->call->operation->id == OPERATION_CALL_TOOL;
}

static void write_call_result(struct tool_call *state, struct str result, struct json_writer *w)
{
	json_write_object_begin(w);
	if (is_routed(state))
		json_member_bool(w, STR("ok"), true);
	json_member_raw(w, STR("result"), result);
	json_member_u64(w, STR("durationMs"), state->duration_ms);
	if (!is_routed(state))
		json_member_str(w, STR("traceId"), state->trace_id);
	json_write_object_end(w);
}

/* Sends the last line and ends the stream; false when the client has to read first what it was sent. */
static bool send_last_line(struct tool_call *state)
{
	struct api_call *call = state->call;
	struct str line = state->last_line;

	if (http_stream_write(&state->stream, line) == ERR_BUSY)
		return false;
	api_call_over(call);
	state->last_line = str_make(NULL, 0);
	http_stream_end(&state->stream);
	free((char *)line.p);
	return true;
}

static void stream_has_room(struct http_stream *stream)
{
	struct tool_call *state = container_of(stream, struct tool_call, stream);

	if (state->last_line.p)
		(void)send_last_line(state);
}

static void drop_last_line(struct api_call *call)
{
	struct tool_call *state = call->state;

	free((char *)state->last_line.p);
}

/* The last line of a relayed call: the ordinary answer, and its status. */
static void finish_stream(struct tool_call *state, unsigned status, struct buf *body)
{
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_u64(&w, STR("status"), buf_failed(body) ? 500 : status);
	json_member_raw(&w, STR("body"),
			buf_failed(body) ? STR("{\"error\":\"the answer is too long to be told\"}")
					 : buf_str(body));
	json_write_object_end(&w);
	buf_append_char(&out, '\n');
	buf_release(body);
	state->last_line = buf_take(&out);
	state->call->cancelled = drop_last_line;
	(void)send_last_line(state);
}

/* -- for a model ----------------------------------------------------------------------------------------- */

static void answer_model(struct tool_call *state, struct str result)
{
	api_call_over(state->call);
	mcp_answer_result(state->call->mcp, result);
}

/* The text of a result that is nothing but text; .p NULL for any other. */
static struct str text_of(const struct jsonrpc_members *result, struct arena *arena)
{
	struct str content = jsonrpc_member(result, STR("content"));
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	const struct json *block;

	if (jsonrpc_member(result, STR("structuredContent")).n || json_parse(&doc, content, NULL, NULL) < 0)
		return str_make(NULL, 0);
	buf_init(&text, content.n); /* a text and a line end are shorter than the block that they are of */
	json_for_each(block, json_root(&doc)) {
		if (!str_eq(json_str(json_get(block, STR("type"))), STR("text")))
			return str_make(NULL, 0);
		if (text.n)
			buf_append_char(&text, '\n');
		buf_append(&text, json_str(json_get(block, STR("text"))));
	}
	return arena_copy(arena, buf_str(&text));
}

static void result_kept(struct long_text *text)
{
	struct tool_call *state = container_of(text, struct tool_call, long_text);
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	api_writer_init(&w, &out);
	long_text_write_result(text, state->is_error, &w);
	api_answer_model(state->call, &out);
}

/* Text is kept as text, anything else as the JSON that the server sent. */
static void keep_result(struct tool_call *state, struct str result)
{
	struct api_call *call = state->call;
	struct artifact_spec spec = {
		.name = STR("result.txt"),
		.mime = STR("text/plain"),
		.run = call->caller.run,
		.session = call->caller.session,
	};
	struct jsonrpc_members members = { 0 };
	struct str text = { NULL, 0 };

	if (jsonrpc_members(result, call->arena, &members, NULL) == 0)
		text = text_of(&members, call->arena);
	state->is_error = str_eq(jsonrpc_member(&members, STR("isError")), STR("true"));
	if (!text.p) {
		spec.name = STR("result.json");
		spec.mime = STR("application/json");
		text = arena_copy(call->arena, result);
	}
	long_text_start(&state->long_text, call, text, &spec, result_kept);
}

static bool wants_everything(const struct api_call *call)
{
	return !api_input_bool(call, STR("links"), true);
}

/* -- answers --------------------------------------------------------------------------------------------- */

static void answer_call(struct tool_call *state, struct str result)
{
	struct json_writer w;
	struct buf out;

	if (long_text_is(state->call, result) && !wants_everything(state->call)) {
		keep_result(state, result);
		return;
	}
	if (state->call->mcp) {
		answer_model(state, result);
		return;
	}
	api_writer_init(&w, &out);
	write_call_result(state, result, &w);
	if (state->streaming)
		finish_stream(state, 200, &out);
	else
		api_answer_json(state->call, 200, &out);
}

static const char *outcome_name(enum mcp_outcome outcome)
{
	static const char *const names[] = {
		[MCP_ANSWERED] = "answered", [MCP_NOT_SENT] = "not-sent", [MCP_OUTCOME_UNKNOWN] = "unknown"
	};

	return names[outcome];
}

static struct str failure_message(const struct hub_call_result *result)
{
	if (result->err)
		return str_of(result->err->message);
	return result->error->message.n
		       ? result->error->message
		       : STR("the server answered with an error and did not say what is wrong");
}

/* {"error", "outcome", "upstream"}: `outcome` says whether the call may be repeated without fear. */
static void write_failure(const struct tool_call *state, const struct hub_call_result *result,
			  struct json_writer *w)
{
	json_write_object_begin(w);
	if (is_routed(state))
		json_member_bool(w, STR("ok"), false);
	json_member_str(w, STR("error"), failure_message(result));
	json_member_str(w, STR("outcome"), str_of(outcome_name(result->outcome)));
	if (result->error) {
		json_write_key(w, STR("upstream"));
		json_write_object_begin(w);
		json_member_i64(w, STR("code"), result->error->code);
		json_member_str(w, STR("message"), result->error->message);
		if (result->error->data.n)
			json_member_raw(w, STR("data"), result->error->data);
		json_write_object_end(w);
	}
	json_write_object_end(w);
}

/* The message for the model to read, and all that is known for a program. */
static void fail_model(struct tool_call *state, const struct hub_call_result *result)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	api_write_text_content(&w, failure_message(result));
	json_write_key(&w, STR("structuredContent"));
	write_failure(state, result, &w);
	json_member_bool(&w, STR("isError"), true);
	json_write_object_end(&w);
	api_answer_model(state->call, &out);
}

static void fail_call(struct tool_call *state, const struct hub_call_result *result)
{
	/* A name that does not exist, or is hidden, is the caller's mistake, as any other malformed request
	 * is. */
	bool callers = result->err && (result->err->code == ERR_NOT_FOUND || result->err->code == ERR_DENIED);
	unsigned status = result->error ? 502 : callers ? 400 : api_status_of(result->err->code);
	struct json_writer w;
	struct buf out;

	if (state->call->mcp) {
		fail_model(state, result);
		return;
	}
	api_writer_init(&w, &out);
	write_failure(state, result, &w);
	if (state->streaming)
		finish_stream(state, status, &out);
	else
		api_answer_json(state->call, status, &out);
}

static void media_stored(struct media_intercept *media, struct str value, const struct artifact *artifacts,
			 size_t count, const struct err *err)
{
	struct tool_call *state = container_of(media, struct tool_call, media);

	(void)artifacts;
	(void)count;
	(void)err; /* what could not be stored is still in the value */
	answer_call(state, value);
}

/* A model has no use for bytes. One that knows no links gets them as text instead of what it could not take
 * at all. */
static bool wants_links(const struct api_call *call, struct str result)
{
	bool model = call->mcp &&
		     (mcp_has(call->mcp->revision, MCP_HAS_RESOURCE_LINK) || long_text_is(call, result));

	return call->api->artifacts && api_input_bool(call, STR("links"), model) &&
	       settings_bool(call->settings, SETTING_ARTIFACTS_INTERCEPT_IMAGES);
}

static void call_done(struct hub_call *hub_call, const struct hub_call_result *result)
{
	struct tool_call *state = hub_call->owner;
	struct api_call *call = state->call;

	state->duration_ms = result->duration_ms;
	if (!result->result.p) {
		fail_call(state, result);
	} else if (wants_links(call, result->result) && media_possible(result->result)) {
		state->result = arena_copy(call->arena, result->result);
		media_intercept_start(&state->media, call->api->artifacts, call->api->loop, state->result,
				      call->caller.run, call->caller.session, MEDIA_BLOCKS_MAX, media_stored);
	} else {
		answer_call(state, result->result);
	}
}

/* One line of a relayed call: a notification's method and parameters, which the caller writes between the
 * two. */
static void line_begin(struct json_writer *w, struct buf *out, struct str method)
{
	api_writer_init(w, out);
	json_write_object_begin(w);
	json_member_str(w, STR("method"), method);
	json_write_key(w, STR("params"));
	json_write_object_begin(w);
}

static void line_end(struct tool_call *state, struct json_writer *w, struct buf *out)
{
	json_write_object_end(w);
	json_write_object_end(w);
	buf_append_char(out, '\n');
	if (!state->streaming) {
		state->streaming = true;
		state->stream.on_room = stream_has_room;
		http_stream_start(&state->stream, state->call->http, &lines_answer);
	}
	/* What the client is too slow for is dropped: the next line says more. */
	(void)http_stream_write(&state->stream, buf_str(out));
	buf_release(out);
}

static void call_progressed(struct hub_call *hub_call, const struct mcp_progress *progress)
{
	struct tool_call *state = hub_call->owner;
	struct json_writer w;
	struct buf out;

	if (state->call->mcp) {
		mcp_call_progress(state->call->mcp, progress);
		return;
	}
	line_begin(&w, &out, STR("notifications/progress"));
	json_member_raw(&w, STR("progress"), progress->progress);
	if (progress->total.n)
		json_member_raw(&w, STR("total"), progress->total);
	if (progress->message.p)
		json_member_str(&w, STR("message"), progress->message);
	line_end(state, &w, &out);
}

static void call_logged(struct hub_call *hub_call, const struct mcp_log *log)
{
	struct tool_call *state = hub_call->owner;
	struct json_writer w;
	struct buf out;

	if (state->call->mcp) {
		mcp_call_log(state->call->mcp, log);
		return;
	}
	if (!mcp_log_admits(hub_call->spec.log_level, log->level))
		return;
	line_begin(&w, &out, STR("notifications/message"));
	json_member_str(&w, STR("level"), mcp_log_level_name(log->level));
	if (log->logger.p)
		json_member_str(&w, STR("logger"), log->logger);
	json_member_raw(&w, STR("data"), log->data);
	line_end(state, &w, &out);
}

static void call_cancelled(struct api_call *call)
{
	struct tool_call *state = call->state;

	hub_call_cancel(&state->hub_call, STR("the caller has gone"));
	media_intercept_cancel(&state->media);
	long_text_cancel(&state->long_text);
}

/* -- who calls ------------------------------------------------------------------------------------------- */

/* What the inputs say of the caller, over what the request's fields said. */
static int take_caller(struct api_call *call, struct err *err)
{
	struct str context = { NULL, 0 }, session = api_input_str(call, STR("session"));

	if (call->operation->id == OPERATION_CALL)
		context = api_input_raw(call, STR("context"));
	if (caller_take_context(&call->caller, context, call->arena, err) < 0)
		return err->code;
	if (session.n)
		call->caller.session = session;
	return 0;
}

void api_tool_call(struct api_call *call)
{
	static const struct id_kind trace = { STR_INIT(""), 8 };
	struct tool_call *state = arena_new(call->arena, struct tool_call);
	bool relay = call->operation->id == OPERATION_CALL && api_input_bool(call, STR("relay"), false);
	char storage[ID_TEXT_MAX];
	struct hub_call_spec spec;
	struct err err;

	if (take_caller(call, &err) < 0) {
		api_answer_error(call, &err);
		return;
	}
	spec = (struct hub_call_spec){
		.server = api_input_str(call, STR("server")),
		.tool = api_input_str(call, STR("tool")),
		.arguments = api_input_raw(call, STR("args")),
		.caller = call->caller,
		.timeout_ms = (uint64_t)api_input_int(call, STR("timeoutMs"), 0),
		.log_level = relay ? MCP_LOG_INFO : MCP_LOG_NONE,
		.logged = relay || call->mcp ? call_logged : NULL,
	};
	if (call->mcp) {
		relay = call->mcp->progress_token.n > 0;
		spec.meta = call->mcp->meta;
		spec.log_level = call->mcp->log_level;
		relay_want_logs(call->mcp, call->api);
	}
	state->call = call;
	state->trace_id = arena_copy(call->arena, random_id(storage, &trace));
	call->state = state;
	call->cancelled = call_cancelled;
	hub_call_start(&state->hub_call, call->api->hub, &spec, relay ? call_progressed : NULL, call_done,
		       state);
}

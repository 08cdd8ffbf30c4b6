/*
 * A session turns texts into calls. Which requests exist is a table of functions by method; whether a peer
 * may use one is a question of its era and revision, decided here once for all of them.
 */
#include "base/base.h"
#include "mcp/server.h"

#include "json/writer.h"
#include "mcp/server_private.h"

/* What we answer. A method without an entry is unknown to every peer. */
static void (*const served[MCP_METHOD_COUNT])(struct mcp_server_call *call, const struct mcp_incoming *in) = {
	[MCP_INITIALIZE] = serve_initialize,
	[MCP_PING] = serve_ping,
	[MCP_DISCOVER] = serve_discover,
	[MCP_SET_LEVEL] = serve_set_level,
	[MCP_LISTEN] = serve_listen,
	[MCP_TOOLS_LIST] = serve_tools_list,
	[MCP_TOOLS_CALL] = serve_tools_call,
	[MCP_RESOURCES_LIST] = serve_resources_list,
	[MCP_RESOURCES_TEMPLATES_LIST] = serve_resource_templates_list,
	[MCP_RESOURCES_READ] = serve_resources_read,
};

void mcp_server_init(struct mcp_server *server, const struct mcp_handler *handler,
		     const struct mcp_server_limits *limits, void *owner)
{
	*server = (struct mcp_server){
		.info = STR("{\"name\":\"\",\"version\":\"\"}"),
		.default_log_level = MCP_LOG_INFO,
		.owner = owner,
		.handler = handler,
		.limits = *limits,
	};
	list_init(&server->sessions);
}

/* -- sessions -------------------------------------------------------------------------------------------- */

void mcp_session_init(struct mcp_session *session, struct mcp_server *server,
		      const struct mcp_session_transport *transport, struct str principal)
{
	*session = (struct mcp_session){
		.server = server,
		.number = ++server->last_session,
		.transport = transport,
		.revision = MCP_LATEST_LEGACY,
		.log_level = server->default_log_level,
	};
	arena_init(&session->arena, 0);
	session->principal = arena_copy(&session->arena, principal);
	list_init(&session->calls);
	list_init(&session->listens);
	list_append(&server->sessions, &session->node);
}

void mcp_session_release(struct mcp_session *session)
{
	if (!session->server)
		return;
	while (!list_empty(&session->calls))
		call_cancel(list_first(&session->calls, struct mcp_server_call, node),
			    STR("the session has ended"));
	while (!list_empty(&session->listens))
		call_end_silently(list_first(&session->listens, struct mcp_server_call, node));
	list_remove(&session->node);
	if (session->server->handler->session_closed)
		session->server->handler->session_closed(session);
	arena_release(&session->arena);
	*session = (struct mcp_session){ 0 };
}

/* -- requests -------------------------------------------------------------------------------------------- */

static void refuse_version(struct mcp_server_call *call, struct str requested, const struct err *err)
{
	struct buf data;

	buf_init(&data, call->session->server->limits.answer_max);
	buf_append(&data, STR("{\"supported\":"));
	mcp_write_revisions(&data, MCP_MODERN);
	buf_append(&data, STR(",\"requested\":"));
	json_quote(&data, requested);
	buf_append_char(&data, '}');
	call_refuse_with(
		call,
		&(struct mcp_error){ .code = MCP_UNSUPPORTED_VERSION,
				     .message = str_of(err->message),
				     .data = buf_failed(&data) ? (struct str){ 0 } : buf_str(&data) },
		true);
	buf_release(&data);
}

static void serve(struct mcp_server_call *call, const struct mcp_incoming *in, struct str method)
{
	call->method = in->method;
	call->meta = in->meta;
	call->progress_token = in->progress_token;
	if (!served[in->method] || !mcp_method_exists(in->method, call->revision))
		call_refuse(call, MCP_METHOD_NOT_FOUND, "unknown method \"%.*s\"", STR_ARG(method));
	else
		served[in->method](call, in);
}

/* 2026-07-28: everything that is needed to serve the request is in the request. */
static void serve_modern(struct mcp_server_call *call, const struct mcp_incoming *in, struct str method)
{
	struct err err;
	int64_t code = incoming_check_metadata(in, call->arena, &call->log_level, &err);

	if (code == 0)
		code = incoming_check_version(in, &call->revision, &err);
	if (code == MCP_UNSUPPORTED_VERSION) {
		refuse_version(call, in->version, &err);
		return;
	}
	if (code != 0) {
		call_refuse(call, code, "%s", err.message);
		return;
	}
	if (call->session->in_batch) {
		call_refuse(call, MCP_INVALID_REQUEST,
			    "a request with per-request metadata cannot be part of a batch");
		return;
	}
	call->client_info = in->client_info;
	call->client_capabilities = in->client_capabilities;
	serve(call, in, method);
}

/* Before the handshake a legacy peer may only open it, or ping. */
static bool legacy_is_early(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	if (call->session->state != MCP_SESSION_NEW || in->method == MCP_INITIALIZE || in->method == MCP_PING)
		return false;
	if (in->method == MCP_DISCOVER || in->method == MCP_LISTEN)
		call_refuse(call, MCP_INVALID_PARAMS,
			    "params._meta must have \"" MCP_META_PROTOCOL_VERSION
			    "\", a string, and \"" MCP_META_CLIENT_CAPABILITIES "\", an object");
	else
		call_refuse(call, MCP_INVALID_REQUEST,
			    "not initialized: send \"initialize\" first, or put \"" MCP_META_PROTOCOL_VERSION
			    "\" into params._meta");
	return true;
}

static void serve_legacy(struct mcp_server_call *call, const struct mcp_incoming *in, struct str method)
{
	struct mcp_session *session = call->session;

	if (legacy_is_early(call, in))
		return;
	call->revision = session->revision;
	call->log_level = session->server->logging ? session->log_level : MCP_LOG_NONE;
	call->client_info = session->client.raw;
	call->client_capabilities = session->client_capabilities;
	serve(call, in, method);
}

void session_serve(struct mcp_session *session, const struct jsonrpc_message *message,
		   const struct mcp_incoming *in, struct arena *storage, void *route)
{
	struct mcp_server_call *call = call_new(session, message, storage, route);

	if (in->modern)
		serve_modern(call, in, message->method);
	else
		serve_legacy(call, in, message->method);
}

static void receive_request(struct mcp_session *session, const struct jsonrpc_message *message,
			    struct arena *storage, void *route)
{
	struct mcp_incoming in;
	struct err err;
	int64_t code = incoming_read(&in, message, storage, &err);

	if (code != 0)
		call_refuse(call_new(session, message, storage, route), code, "%s", err.message);
	else
		session_serve(session, message, &in, storage, route);
}

/* -- notifications --------------------------------------------------------------------------------------- */

static void receive_initialized(struct mcp_session *session)
{
	if (session->state != MCP_SESSION_INITIALIZING)
		return;
	session->state = MCP_SESSION_OPEN;
	if (session->server->handler->session_opened)
		session->server->handler->session_opened(session);
	mcp_session_unrelated_ready(session);
}

static void receive_cancelled(struct mcp_session *session, const struct jsonrpc_message *message,
			      struct arena *arena)
{
	struct jsonrpc_members params;
	struct mcp_server_call *call;

	if (jsonrpc_members(message->params, arena, &params, NULL) < 0)
		return;
	call = call_find(session, jsonrpc_member(&params, STR("requestId")));
	if (!call)
		return;
	if (call->method == MCP_LISTEN)
		call_end_silently(call);
	else
		call_cancel(call, jsonrpc_member_str(&params, STR("reason"), arena));
}

static void receive_notification(struct mcp_session *session, const struct jsonrpc_message *message,
				 struct arena *arena)
{
	switch (mcp_method_find(message->method)) {
	case MCP_INITIALIZED:
		receive_initialized(session);
		break;
	case MCP_CANCELLED:
		receive_cancelled(session, message, arena);
		break;
	default: /* unknown notifications are ignored (JSON-RPC 2.0, section 4.1) */
		break;
	}
}

/* -- texts ----------------------------------------------------------------------------------------------- */

size_t mcp_session_dispatch(struct mcp_session *session, const struct jsonrpc_message *message,
			    struct arena *storage, void *route)
{
	if (message->kind == JSONRPC_REQUEST) {
		receive_request(session, message, storage, route);
		return 1;
	}
	/* Nothing was asked of the peer, so a response is a stray. */
	if (message->kind == JSONRPC_NOTIFICATION)
		receive_notification(session, message, storage);
	arena_release(storage);
	return 0;
}

/* An answer to what could not be read as a request. */
static void answer_fault(struct mcp_session *session, const struct jsonrpc_fault *fault, void *route)
{
	struct buf text;

	/* Not more than the message that it answers and a few words; the transport counts on it. */
	buf_init(&text, JSON_BYTES_MAX);
	jsonrpc_write_error(&text, fault->id, fault->code, str_of(fault->err.message), (struct str){ 0 });
	session->transport->send(session, &(struct mcp_outgoing){ .kind = MCP_OUT_ANSWER,
								  .route = route,
								  .text = &text,
								  .error_code = fault->code,
								  .refused = true,
								  .for_all = !session->in_batch });
	buf_release(&text);
}

static size_t receive_one(struct mcp_session *session, struct str text, void *route)
{
	const struct json_limits limits = { session->server->limits.message_max,
					    session->server->limits.depth_max };
	struct jsonrpc_message message;
	struct jsonrpc_fault fault;
	struct arena storage;

	arena_init(&storage, 0);
	if (jsonrpc_read(arena_copy(&storage, text), &limits, &storage, &message, &fault) == 0)
		return mcp_session_dispatch(session, &message, &storage, route);
	if (fault.code != 0)
		answer_fault(session, &fault, route);
	arena_release(&storage);
	return fault.code != 0;
}

static size_t refuse_batch(struct mcp_session *session, int64_t code, const struct err *err, void *route)
{
	answer_fault(session, &(struct jsonrpc_fault){ .code = code, .err = *err }, route);
	return 1;
}

static size_t receive_batch(struct mcp_session *session, struct str text, void *route)
{
	const struct mcp_server_limits *of = &session->server->limits;
	const struct json_limits limits = { of->message_max, of->depth_max };
	_cleanup_arena_ struct arena arena = { 0 };
	const struct str *items;
	size_t count, answers = 0;
	struct err err;
	int code;

	arena_init(&arena, 0);
	code = jsonrpc_split(text, &limits, &arena, of->batch_max, &items, &count, &err);
	if (code < 0)
		return refuse_batch(session, code == ERR_INVALID ? MCP_PARSE_ERROR : MCP_INVALID_REQUEST,
				    &err, route);
	if (session->state == MCP_SESSION_NEW || !mcp_has(session->revision, MCP_HAS_BATCHES)) {
		err_set(&err, ERR_UNSUPPORTED,
			"batches exist in protocol version 2025-03-26 only, after initialize");
		return refuse_batch(session, MCP_INVALID_REQUEST, &err, route);
	}
	if (count == 0) {
		err_set(&err, ERR_INVALID, "an empty batch");
		return refuse_batch(session, MCP_INVALID_REQUEST, &err, route);
	}
	session->in_batch = true;
	for (size_t i = 0; i < count; i++)
		answers += receive_one(session, items[i], route);
	session->in_batch = false;
	return answers;
}

size_t mcp_session_receive(struct mcp_session *session, struct str text, void *route)
{
	return jsonrpc_is_batch(text) ? receive_batch(session, text, route)
				      : receive_one(session, text, route);
}

/* -- routes ---------------------------------------------------------------------------------------------- */

void mcp_session_route_gone(struct mcp_session *session, void *route, bool cancels)
{
	struct mcp_server_call *call;

	list_for_each(call, &session->listens, node)
		if (call->route == route) {
			call->deaf = true;
			call_end_silently(call);
		}
	list_for_each(call, &session->calls, node) {
		if (call->route != route)
			continue;
		call->deaf = true;
		if (cancels)
			call_cancel(call, STR("the client has gone"));
	}
}

/* -- change notices -------------------------------------------------------------------------------------- */

static void session_tell_tools_changed(struct mcp_session *session)
{
	struct buf text;

	session->tools_changed_unsent = true;
	if (session->state != MCP_SESSION_OPEN)
		return;
	buf_init(&text, session->server->limits.answer_max);
	jsonrpc_write_notification(&text, mcp_method_name(MCP_TOOLS_CHANGED), (struct str){ 0 });
	if (session->transport->send(session,
				     &(struct mcp_outgoing){ .kind = MCP_OUT_UNRELATED, .text = &text }))
		session->tools_changed_unsent = false;
	buf_release(&text);
}

void mcp_session_unrelated_ready(struct mcp_session *session)
{
	if (session->tools_changed_unsent)
		session_tell_tools_changed(session);
}

void mcp_server_tools_changed(struct mcp_server *server)
{
	struct mcp_session *session;
	struct mcp_server_call *listen;

	if (!server->tools_changed)
		return;
	list_for_each(session, &server->sessions, node) {
		if (session->state != MCP_SESSION_NEW)
			session_tell_tools_changed(session);
		list_for_each(listen, &session->listens, node)
			listen_tools_changed(listen);
	}
}

void mcp_server_log(struct mcp_server *server, const struct mcp_log *log)
{
	struct mcp_session *session;

	list_for_each(session, &server->sessions, node) {
		struct buf text;

		if (session->state != MCP_SESSION_OPEN || !server->logging ||
		    !mcp_log_admits(session->log_level, log->level))
			continue;
		buf_init(&text, server->limits.answer_max);
		mcp_log_write(&text, log);
		if (!buf_failed(&text))
			session->transport->send(
				session, &(struct mcp_outgoing){ .kind = MCP_OUT_UNRELATED, .text = &text });
		buf_release(&text);
	}
}

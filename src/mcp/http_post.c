/* What a POST brings: which era its message belongs to, and which session serves it (2026-07-28, versioning,
 * "Dual-era servers"). */
#include "base/base.h"
#include "mcp/http_door.h"

#include "mcp/http_door_private.h"
#include "mcp/http_headers.h"
#include "mcp/http_params.h"

/* -- modern messages ------------------------------------------------------------------------------------- */

/* The headers that repeat arguments. What they are is only known of a version that we speak; the session will
 * name the trouble of any other. */
static int64_t check_params(const struct door_exchange *exchange, const struct mcp_incoming *in,
			    struct arena *arena, struct err *err)
{
	struct mcp_server *server = exchange->door->server;
	enum mcp_revision revision;
	struct str name;

	if (in->method != MCP_TOOLS_CALL || !server->handler->find_tool ||
	    !mcp_revision_find(in->version, &revision) || !mcp_has(revision, MCP_HAS_ROUTING_HEADERS))
		return 0;
	name = jsonrpc_member_str(&in->params, STR("name"), arena);
	if (!name.p)
		return 0;
	return params_check(exchange->request, server->handler->find_tool(server, name, arena),
			    jsonrpc_member(&in->params, STR("arguments")), arena, err);
}

/* The order of the checks is that of the conformance suite; the version itself and the method are checked by
 * the session. */
static void serve_modern_request(struct door_exchange *exchange, const struct jsonrpc_message *message,
				 const struct mcp_incoming *in, struct arena *storage)
{
	enum mcp_log_level level;
	struct err err;
	int64_t code = incoming_check_metadata(in, storage, &level, &err);

	if (code == 0)
		code = headers_check(exchange->request, in, message->method, storage, &err);
	if (code == 0)
		code = check_params(exchange, in, storage, &err);
	if (code != 0) {
		exchange_refuse(exchange, 400, message->id, code, str_of(err.message));
		return;
	}
	exchange->modern = true;
	door_init_session(exchange->door, &exchange->session, exchange->principal, exchange->request);
	session_serve(&exchange->session, message, in, storage, exchange);
	exchange_wait(exchange, 1);
}

static bool header_is_modern(const struct door_exchange *exchange)
{
	enum mcp_revision revision;

	return mcp_revision_find(http_field(exchange->request, STR(MCP_HEADER_PROTOCOL_VERSION)),
				 &revision) &&
	       mcp_era_of(revision) == MCP_MODERN;
}

/* A modern header on a body without metadata. */
static void refuse_half_modern(struct door_exchange *exchange, const struct jsonrpc_message *message,
			       const struct mcp_incoming *in, struct arena *storage)
{
	enum mcp_log_level level;
	struct err err;

	if (in->method == MCP_INITIALIZE) {
		exchange_refuse(exchange, 400, message->id, MCP_HEADER_MISMATCH,
				STR("the header " MCP_HEADER_PROTOCOL_VERSION
				    " names a version that has no \"initialize\""));
		return;
	}
	incoming_check_metadata(in, storage, &level, &err);
	exchange_refuse(exchange, 400, message->id, MCP_INVALID_PARAMS, str_of(err.message));
}

/* -- legacy messages ------------------------------------------------------------------------------------- */

static bool exchange_find_session(struct door_exchange *exchange)
{
	struct door_session *ds = door_session_of(exchange->door, exchange->request, exchange->principal);

	if (ds)
		exchange_use(exchange, ds);
	else
		exchange_finish(exchange);
	return ds;
}

static bool exchange_open_session(struct door_exchange *exchange, struct str id)
{
	struct door_session *ds = door_session_new(exchange->door, exchange->principal, exchange->request);

	if (ds)
		exchange_use(exchange, ds);
	else
		exchange_refuse(exchange, 503, id, MCP_INTERNAL_ERROR,
				STR("too many sessions are open, and all are in use: try again later"));
	return ds;
}

static void serve_legacy_request(struct door_exchange *exchange, const struct jsonrpc_message *message,
				 const struct mcp_incoming *in, struct arena *storage)
{
	bool ready = in->method == MCP_INITIALIZE ? exchange_open_session(exchange, message->id)
						  : exchange_find_session(exchange);

	if (!ready)
		return;
	session_serve(&exchange->ds->session, message, in, storage, exchange);
	exchange_wait(exchange, 1);
}

static void serve_batch(struct door_exchange *exchange, struct str body)
{
	if (!exchange_find_session(exchange))
		return;
	exchange->batch = true;
	exchange_wait(exchange, mcp_session_receive(&exchange->ds->session, body, exchange));
}

/* -- messages -------------------------------------------------------------------------------------------- */

static void serve_request(struct door_exchange *exchange, const struct jsonrpc_message *message,
			  struct arena *storage)
{
	struct mcp_incoming in;
	struct err err;
	int64_t code = incoming_read(&in, message, storage, &err);

	if (code != 0)
		exchange_refuse(exchange, 400, message->id, code, str_of(err.message));
	else if (in.modern)
		serve_modern_request(exchange, message, &in, storage);
	else if (header_is_modern(exchange))
		refuse_half_modern(exchange, message, &in, storage);
	else
		serve_legacy_request(exchange, message, &in, storage);
}

/* Modern clients have nothing to notify about over HTTP, and nothing to respond to. */
static void serve_other(struct door_exchange *exchange, const struct jsonrpc_message *message,
			struct arena *storage)
{
	struct mcp_incoming in = { 0 };

	if (message->kind == JSONRPC_NOTIFICATION &&
	    (header_is_modern(exchange) || (incoming_read(&in, message, storage, NULL) == 0 && in.modern))) {
		exchange_wait(exchange, 0);
		return;
	}
	if (exchange_find_session(exchange))
		exchange_wait(exchange,
			      mcp_session_dispatch(&exchange->ds->session, message, storage, exchange));
}

static void serve_message(struct door_exchange *exchange, struct str body)
{
	const struct mcp_server_limits *of = &exchange->door->server->limits;
	const struct json_limits limits = { of->message_max, of->depth_max };
	_cleanup_arena_ struct arena storage = { 0 };
	struct jsonrpc_message message;
	struct jsonrpc_fault fault;

	arena_init(&storage, 0);
	/* A call may outlive its request, so it gets a copy of the body. */
	if (jsonrpc_read(arena_copy(&storage, body), &limits, &storage, &message, &fault) < 0)
		exchange_refuse(exchange, 400, fault.id, fault.code ? fault.code : MCP_INVALID_REQUEST,
				str_of(fault.err.message));
	else if (message.kind == JSONRPC_REQUEST)
		serve_request(exchange, &message, &storage);
	else
		serve_other(exchange, &message, &storage);
}

static void exchange_body(struct http_request *request, struct str body)
{
	struct door_exchange *exchange = request->owner;

	if (jsonrpc_is_batch(body))
		serve_batch(exchange, body);
	else
		serve_message(exchange, body);
}

static const char *headers_problem(const struct http_request *request, unsigned *ret_status)
{
	struct str accept = http_field(request, STR("accept"));

	*ret_status = 415;
	if (!content_type_is_json(http_field(request, STR("content-type"))))
		return "the header Content-Type must be application/json";
	*ret_status = 406;
	if (!accept_admits(accept, STR("application/json")) ||
	    !accept_admits(accept, STR("text/event-stream")))
		return "the header Accept must admit both application/json and text/event-stream";
	return NULL;
}

void exchange_start(struct mcp_http_door *door, struct http_request *request, struct str principal)
{
	unsigned status;
	const char *problem = headers_problem(request, &status);

	if (problem) {
		door_refuse_plainly(request, status, problem);
		return;
	}
	exchange_new(door, request, principal);
	http_read_body(request, door->server->limits.message_max, exchange_body);
}

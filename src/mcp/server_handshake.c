#include "base/base.h"
#include "mcp/server.h"

#include "json/writer.h"
#include "mcp/server_private.h"

static void write_capabilities(struct json_writer *w, const struct mcp_server *server)
{
	json_write_key(w, STR("capabilities"));
	json_write_object_begin(w);
	json_write_key(w, STR("tools"));
	json_write_object_begin(w);
	if (server->tools_changed)
		json_member_bool(w, STR("listChanged"), true);
	json_write_object_end(w);
	if (server->handler->resources_read)
		json_member_raw(w, STR("resources"), STR("{}"));
	if (server->logging)
		json_member_raw(w, STR("logging"), STR("{}"));
	json_write_object_end(w);
}

/* -- initialize ------------------------------------------------------------------------------------------ */

/* The member when it is an object or absent; false when it is something else. */
static bool take_object(const struct mcp_incoming *in, struct str key, struct str *ret_raw)
{
	const struct json_member *member = jsonrpc_member_find(&in->params, key);

	if (member && member->type != JSON_OBJECT)
		return false;
	*ret_raw = member ? member->raw : (struct str){ 0 };
	return true;
}

static void session_remember(struct mcp_session *session, struct str version, struct str info,
			     struct str capabilities)
{
	struct arena *arena = &session->arena;

	session->state = MCP_SESSION_INITIALIZING;
	session->revision = mcp_negotiate(version);
	session->client_capabilities = arena_copy(arena, capabilities.n ? capabilities : STR("{}"));
	mcp_implementation_read(arena_copy(arena, info), arena, &session->client);
}

static void answer_initialize(struct mcp_server_call *call)
{
	const struct mcp_server *server = call->session->server;
	struct json_writer w;
	struct buf result;

	buf_init(&result, server->limits.answer_max);
	json_writer_init(&w, &result, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("protocolVersion"), mcp_revision_name(call->session->revision));
	write_capabilities(&w, server);
	json_member_raw(&w, STR("serverInfo"), server->info);
	if (server->instructions.n)
		json_member_str(&w, STR("instructions"), server->instructions);
	json_write_object_end(&w);
	call_answer_written(call, &result, true);
}

void serve_initialize(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	struct str version = jsonrpc_member_str(&in->params, STR("protocolVersion"), call->arena);
	struct str info, capabilities;

	if (call->session->in_batch)
		call_refuse(call, MCP_INVALID_REQUEST, "\"initialize\" cannot be part of a batch");
	else if (call->session->state != MCP_SESSION_NEW)
		call_refuse(call, MCP_INVALID_REQUEST, "this session is initialized already");
	else if (!version.p)
		call_refuse(call, MCP_INVALID_PARAMS, "\"protocolVersion\" must be a string");
	else if (!take_object(in, STR("clientInfo"), &info))
		call_refuse(call, MCP_INVALID_PARAMS, "\"clientInfo\" must be an object");
	else if (!take_object(in, STR("capabilities"), &capabilities))
		call_refuse(call, MCP_INVALID_PARAMS, "\"capabilities\" must be an object");
	else {
		session_remember(call->session, version, info, capabilities);
		answer_initialize(call);
	}
}

/* -- the others ------------------------------------------------------------------------------------------ */

void serve_ping(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	(void)in;
	call_answer(call, STR("{}"), false);
}

void serve_set_level(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	struct mcp_session *session = call->session;
	struct str level = jsonrpc_member_str(&in->params, STR("level"), call->arena);

	if (!session->server->logging) {
		call_refuse(call, MCP_METHOD_NOT_FOUND, "logging is not offered");
		return;
	}
	if (!mcp_log_level_find(level, &session->log_level)) {
		call_refuse(call, MCP_INVALID_PARAMS,
			    "\"level\" must be one of debug, info, notice, warning, error, "
			    "critical, alert, emergency");
		return;
	}
	if (session->server->handler->log_level_set)
		session->server->handler->log_level_set(session);
	call_answer(call, STR("{}"), false);
}

void serve_discover(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	const struct mcp_server *server = call->session->server;
	struct json_writer w;
	struct buf versions, result;

	(void)in;
	buf_init(&versions, server->limits.answer_max);
	mcp_write_revisions(&versions, MCP_MODERN);
	buf_init(&result, server->limits.answer_max);
	json_writer_init(&w, &result, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("resultType"), STR("complete"));
	json_member_raw(&w, STR("supportedVersions"), buf_str(&versions));
	write_capabilities(&w, server);
	if (server->instructions.n)
		json_member_str(&w, STR("instructions"), server->instructions);
	json_member_i64(&w, STR("ttlMs"), server->cache_ttl_ms);
	json_member_str(&w, STR("cacheScope"), server->cache_public ? STR("public") : STR("private"));
	json_write_key(&w, STR("_meta"));
	json_write_object_begin(&w);
	json_member_raw(&w, STR(MCP_META_SERVER_INFO), server->info);
	json_write_object_end(&w);
	json_write_object_end(&w);
	call_answer_written(call, &result, false);
	buf_release(&versions);
}

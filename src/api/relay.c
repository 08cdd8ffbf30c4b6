#include "base/base.h"
#include "api/relay.h"

struct relay {
	struct door_work work;
	struct hub_call hub_call;
	struct mcp_server_call *call;
	struct api *api;
};

struct str relay_session(const struct mcp_session *session, struct arena *arena)
{
	const struct api_door *door = session->server->owner;
	const struct hub_caller *peer = session->peer;

	if (peer->session.n)
		return peer->session;
	if (session->state != MCP_SESSION_OPEN)
		return str_make(NULL, 0);
	return arena_printf(arena, "%s-http-%llu", door->api->session_prefix,
			    (unsigned long long)session->number);
}

struct hub_caller relay_caller(const struct mcp_server_call *call)
{
	struct hub_caller caller = *(const struct hub_caller *)call->session->peer;

	caller.is_client = true;
	caller.era = mcp_era_of(call->revision);
	caller.session = relay_session(call->session, call->arena);
	return caller;
}

void relay_answer(struct mcp_server_call *call, const struct hub_call_result *result)
{
	struct mcp_error error = { .code = MCP_INTERNAL_ERROR };

	if (result->result.p) {
		mcp_answer_result(call, result->result);
		return;
	}
	if (result->error) {
		mcp_answer_error(call, result->error);
		return;
	}
	error.message = str_of(result->err->message);
	mcp_answer_error(call, &error);
}

static void relay_done(struct hub_call *hub_call, const struct hub_call_result *result)
{
	struct relay *relay = hub_call->owner;
	struct mcp_server_call *call = relay->call;

	relay->api->active--;
	call->owner = NULL;
	relay_answer(call, result);
}

static void relay_progressed(struct hub_call *hub_call, const struct mcp_progress *progress)
{
	struct relay *relay = hub_call->owner;

	mcp_call_progress(relay->call, progress);
}

static void relay_logged(struct hub_call *hub_call, const struct mcp_log *log)
{
	struct relay *relay = hub_call->owner;

	mcp_call_log(relay->call, log);
}

static void relay_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct relay *relay = container_of(call->owner, struct relay, work);

	relay->api->active--;
	hub_call_cancel(&relay->hub_call, reason);
}

/* A modern request says what it wants itself; a legacy session said so once (door.c). */
void relay_want_logs(const struct mcp_server_call *call, struct api *api)
{
	if (mcp_era_of(call->revision) == MCP_MODERN && call->log_level != MCP_LOG_NONE)
		hub_want_logs(api->hub, call->log_level);
}

void relay_start(struct mcp_server_call *call, struct api *api, struct hub_server *server, struct str tool)
{
	struct relay *relay = arena_new(call->arena, struct relay);
	const struct hub_call_spec spec = {
		.server = server->name,
		.tool = tool,
		.arguments = call->arguments,
		.meta = call->meta,
		.caller = relay_caller(call),
		.log_level = call->log_level,
		.logged = relay_logged,
	};

	relay_want_logs(call, api);
	relay->work.cancelled = relay_cancelled;
	relay->call = call;
	relay->api = api;
	call->owner = &relay->work;
	api->active++;
	hub_call_start(&relay->hub_call, api->hub, &spec, call->progress_token.n ? relay_progressed : NULL,
		       relay_done, relay);
}

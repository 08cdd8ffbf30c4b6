#include "base/base.h"
#include "api/door_private.h"
#include "api/relay.h"

struct door_waiting {
	struct door_work work;
	struct hub_ready ready;
	struct mcp_server_call *call;
};

static struct api_door *door_of(const struct mcp_server_call *call)
{
	return call->session->server->owner;
}

static void door_answer_list(struct mcp_server_call *call)
{
	struct api_door *door = door_of(call);

	door_make_list(door);
	call->owner = NULL;
	if (door->names_err.code)
		mcp_answer_error(call, &(struct mcp_error){ .code = MCP_INTERNAL_ERROR,
							    .message = str_of(door->names_err.message) });
	else
		mcp_answer_list(call, door->tools, door->tool_count);
}

static void door_listed(struct hub_ready *ready)
{
	door_answer_list(container_of(ready, struct door_waiting, ready)->call);
}

static void door_wait_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct door_waiting *waiting = container_of(call->owner, struct door_waiting, work);

	(void)reason;
	hub_ready_cancel(&waiting->ready);
}

/* A server that has never been seen is waited for, but not for long. */
static void door_wait(struct mcp_server_call *call, void (*then)(struct hub_ready *ready))
{
	struct api *api = door_of(call)->api;
	struct door_waiting *waiting = arena_new(call->arena, struct door_waiting);
	const struct hub_wait wait = { .deadline_ms =
					       settings_duration(api->settings, SETTING_MCP_LIST_WAIT) };

	waiting->call = call;
	waiting->work.cancelled = door_wait_cancelled;
	call->owner = &waiting->work;
	hub_ready_start(&waiting->ready, api->hub, &wait, then, waiting);
}

/* The facade is known without any server. The tools of one that is not waited for longer are told of by
 * list_changed when they come. */
static void door_tools_list(struct mcp_server_call *call)
{
	struct api_door *door = door_of(call);

	door->api->last_use = loop_now(door->api->loop);
	if (!door->full && !door->passthrough.count)
		door_answer_list(call);
	else
		door_wait(call, door_listed);
}

/* -- calls ----------------------------------------------------------------------------------------------- */

struct door_facade {
	struct door_work work;
	struct api_call call;
};

static void door_facade_cancelled(struct mcp_server_call *mcp, struct str reason)
{
	struct api_call *call = &container_of(mcp->owner, struct door_facade, work)->call;

	(void)reason;
	call->api->active--;
	if (call->cancelled)
		call->cancelled(call);
}

static void door_facade_call(struct api_door *door, struct mcp_server_call *mcp,
			     const struct operation *operation)
{
	struct door_facade *facade = arena_new(mcp->arena, struct door_facade);
	struct api_call *call = &facade->call;
	struct err err;

	facade->work.cancelled = door_facade_cancelled;
	mcp->owner = &facade->work;
	call->api = door->api;
	call->operation = operation;
	call->arena = mcp->arena;
	call->values = arena_array(call->arena, struct api_value, operation->input_count + 1);
	call->caller = relay_caller(mcp);
	call->settings = door->api->settings;
	call->mcp = mcp;
	door->api->active++;
	if (api_take_object(call, mcp->arguments, &err) < 0 || api_check_required(call, &err) < 0)
		api_answer_error(call, &err);
	else
		api_operations[operation->id](call);
}

static bool door_find(struct api_door *door, const struct mcp_server_call *call,
		      struct hub_server **ret_server, struct str *ret_tool)
{
	return hub_resolve_tool(door->api->hub, call->name, &door->passthrough, call->arena, ret_server,
				ret_tool, NULL) == 0 &&
	       (door->full || door_passes_through(door, *ret_server));
}

static void door_relay(struct mcp_server_call *call, struct hub_server *server, struct str tool)
{
	struct api_door *door = door_of(call);
	struct err err;

	if (door_check_name(door, call->name, &err) < 0)
		mcp_answer_error(call, &(struct mcp_error){ .code = MCP_INVALID_PARAMS,
							    .message = str_of(err.message) });
	else
		relay_start(call, door->api, server, tool);
}

static void door_named(struct hub_ready *ready)
{
	struct mcp_server_call *call = container_of(ready, struct door_waiting, ready)->call;
	struct hub_server *server;
	struct str tool;

	call->owner = NULL;
	if (door_find(door_of(call), call, &server, &tool))
		door_relay(call, server, tool);
	else
		mcp_answer_unknown_tool(call);
}

/* A client may know names from an earlier daemon's list, which this one has to read before it knows them. */
static void door_relay_when_known(struct mcp_server_call *call)
{
	struct api_door *door = door_of(call);
	struct hub_server *server;
	struct str tool;

	if (door_find(door, call, &server, &tool))
		door_relay(call, server, tool);
	else if (door->full || door->passthrough.count)
		door_wait(call, door_named);
	else
		mcp_answer_unknown_tool(call);
}

static void door_tools_call(struct mcp_server_call *call)
{
	struct api_door *door = door_of(call);
	const struct operation *operation = door->full ? NULL : operation_tool(call->name);

	door->api->last_use = loop_now(door->api->loop);
	if (operation)
		door_facade_call(door, call, operation);
	else
		door_relay_when_known(call);
}

/* None of our own tools asks for headers. */
static struct str door_find_tool(struct mcp_server *mcp, struct str name, struct arena *arena)
{
	struct api_door *door = mcp->owner;
	const struct catalogue_tool *known;
	struct hub_server *server;
	struct str tool;

	if ((!door->full && operation_tool(name)) ||
	    hub_resolve_tool(door->api->hub, name, &door->passthrough, arena, &server, &tool, NULL) < 0 ||
	    !server->snapshot)
		return str_make(NULL, 0);
	/* Of tools with one name it is the name here that tells which is meant. */
	known = catalogue_find(server->snapshot, name);
	if (!known || !str_eq(known->name, tool))
		known = catalogue_find(server->snapshot, tool);
	return known ? known->raw : str_make(NULL, 0);
}

static void door_cancelled(struct mcp_server_call *call, struct str reason)
{
	const struct door_work *work = call->owner;

	if (work)
		work->cancelled(call, reason);
}

/* Nobody else can use the instances of its servers any more, unless the client named its session. A channel
 * has named its own, and ends it (stdio.c). */
static void door_session_closed(struct mcp_session *session)
{
	const struct hub_caller *peer = session->peer;
	struct api_door *door = session->server->owner;

	if (!peer->session.n)
		(void)pool_end_session(door->api->hub->pool, relay_session(session, &session->arena));
}

static void door_log_level_set(struct mcp_session *session)
{
	struct api_door *door = session->server->owner;

	hub_want_logs(door->api->hub, session->log_level);
}

static const struct mcp_handler door_handler = {
	.tools_list = door_tools_list,
	.tools_call = door_tools_call,
	.find_tool = door_find_tool,
	.resources_list = door_resources_list,
	.resource_templates_list = door_resource_templates_list,
	.resources_read = door_resources_read,
	.cancelled = door_cancelled,
	.session_closed = door_session_closed,
	.log_level_set = door_log_level_set,
};

/* -- life ------------------------------------------------------------------------------------------------ */

static struct setting_items copy_items(struct setting_items items, struct arena *arena)
{
	struct str *copy = arena_array(arena, struct str, items.count + 1);

	for (size_t i = 0; i < items.count; i++)
		copy[i] = arena_copy(arena, items.items[i]);
	return (struct setting_items){ copy, items.count };
}

/* Two of them are hot: http.callBodyLimit and pool.lineMax. */
static struct mcp_server_limits door_limits(const struct settings *set)
{
	return (struct mcp_server_limits){
		.message_max = settings_bytes(set, SETTING_HTTP_CALL_BODY_LIMIT),
		.depth_max = (unsigned)settings_int(set, SETTING_JSON_MAX_DEPTH),
		.calls_max = (size_t)settings_int(set, SETTING_PROTO_CALL_MAX),
		.batch_max = (size_t)settings_int(set, SETTING_PROTO_BATCH_MAX),
		.answer_max = settings_bytes(set, SETTING_POOL_LINE_MAX),
		.page_items = (size_t)settings_int(set, SETTING_MCP_PAGE_SIZE),
		.page_bytes = settings_bytes(set, SETTING_MCP_PAGE_BYTES),
		.listens_max = (size_t)settings_int(set, SETTING_PROTO_STREAM_MAX),
	};
}

void door_init(struct api_door *door, struct api *api, unsigned mode, struct setting_items passthrough)
{
	const struct settings *set = api->settings;
	const struct mcp_server_limits limits = door_limits(set);

	*door = (struct api_door){ .api = api,
				   .full = mode == CHOICE_SERVE_MODE_FULL,
				   .generation = UINT64_MAX };
	arena_init(&door->arena, 0);
	arena_init(&door->list_arena, 0);
	door->passthrough = copy_items(passthrough, &door->arena);
	mcp_server_init(&door->server, &door_handler, &limits, door);
	door->server.info =
		arena_printf(&door->arena, "{\"name\":\"mcpx\",\"version\":\"%s\"}", api->version);
	door->server.tools_changed = true;
	door->server.logging = true;
	door->server.cache_ttl_ms = (int64_t)settings_duration(set, SETTING_PROTO_MESSAGES_LIST_MAX_AGE);
	door_describe(door);
}

int door_check(struct api_door *door, struct err *err)
{
	door_make_list(door);
	if (door->names_err.code)
		*err = door->names_err;
	return door->names_err.code;
}

void door_tools_changed(struct api_door *door)
{
	door_describe(door);
	mcp_server_tools_changed(&door->server);
}

void door_adjust(struct api_door *door)
{
	door->server.limits = door_limits(door->api->settings);
	door_describe(door);
}

void door_release(struct api_door *door)
{
	buf_release(&door->instructions);
	arena_release(&door->list_arena);
	arena_release(&door->arena);
}

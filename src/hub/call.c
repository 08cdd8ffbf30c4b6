/*
 * The life of one call, from the top: call_step() reads like the story that call.h tells. Callbacks store
 * what came and step on.
 */
#include "base/base.h"
#include "hub/call.h"
#include "hub/filter.h"
#include "hub/hub.h"
#include "hub/refresh.h"
#include "io/random.h"
#include "mcp/jsonrpc.h"
#include "text/plain.h"

static void call_step(struct hub_call *call);

/* Ends the call: nothing of it is touched after `done`, since the owner may free it there. */
static void call_finish(struct hub_call *call, const struct hub_call_result *outcome)
{
	struct hub_call_result result = *outcome;
	struct hub *hub = call->hub;
	struct arena arena = call->arena;
	struct instance *instance = take_ptr(call->instance);

	result.duration_ms = loop_now(hub->loop) - call->started;
	list_remove(&call->node);
	hub_server_drop(&call->server);
	call->state = HUB_CALL_IDLE;
	call->done(call, &result);
	pool_release(&instance);
	arena_release(&arena);
	hub_check_stopped(hub);
}

static void call_fail(struct hub_call *call, enum mcp_outcome outcome)
{
	struct err err = call->err;

	call_finish(call, &(struct hub_call_result){ .outcome = outcome, .err = &err });
}

static void call_refused(struct deferred *deferred)
{
	call_fail(container_of(deferred, struct hub_call, refused), MCP_NOT_SENT);
}

static void call_refuse(struct hub_call *call)
{
	call->state = HUB_CALL_REFUSED;
	loop_defer(call->hub->loop, &call->refused, call_refused);
}

/* -- patience -------------------------------------------------------------------------------------------- */

/* Names whatever it was that ran out. */
static struct mcp_patience call_patience(const struct hub_call *call)
{
	uint64_t call_ms = hub_server_limits(call->server)->call_ms, max_ms = call->hub->limits.call_max_ms;
	struct mcp_patience patience = { max_ms, max_ms, STR("pool.callMax"), STR("pool.callMax") };

	if (call->spec.timeout_ms) {
		patience.idle_ms = call->spec.timeout_ms;
		patience.idle_setting = STR("the caller's time-out");
	} else if (call_ms) {
		patience.idle_ms = call_ms;
		patience.idle_setting = STR("pool.callTimeout");
	}
	return patience;
}

static uint64_t call_acquire_patience(const struct hub_call *call)
{
	const struct hub_limits *limits = &call->hub->limits;
	uint64_t acquire_ms = limits->acquire_ms ? limits->acquire_ms : limits->call_max_ms, both;

	if (call->spec.timeout_ms)
		return call->spec.timeout_ms;
	return add_overflows(acquire_ms, hub_server_limits(call->server)->start_ms, &both) ? acquire_ms
											   : both;
}

/* -- the steps ------------------------------------------------------------------------------------------- */

static int call_unknown_tool(struct hub_call *call)
{
	struct str nearest = catalogue_nearest(call->server->snapshot, call->spec.tool);

	return err_set(
		&call->err, ERR_NOT_FOUND,
		"%.*s: no tool is called \"%.*s\"%s%.*s%s (a server with tools or excludeTools is called by names of its list only; `mcpx refresh` reads that anew)",
		STR_ARG(call->server->namespace), STR_ARG(call->spec.tool),
		nearest.n ? "; did you mean \"" : "", STR_ARG(nearest), nearest.n ? "\"?" : "");
}

/*
 * What the server calls the tool, and whether it is shown. A name that the catalogue does not have goes to
 * the server as it is, since the catalogue may be older than the server; but not past a filter, for some
 * servers are not particular about names ("Read", "read..file") and would run what is hidden.
 */
static int call_name(struct hub_call *call)
{
	const struct hub_server *server = call->server;
	bool filtered = server->config && filter_hides(&server->config->filter);
	const struct catalogue_tool *tool;

	call->named = server->snapshot != NULL;
	tool = call->named ? catalogue_find(server->snapshot, call->spec.tool) : NULL;
	if (!tool && call->named && filtered)
		tool = catalogue_find(server->all, call->spec.tool);
	if (tool)
		call->spec.tool = arena_copy(&call->arena, tool->name);
	if (filtered && !filter_allows(&server->config->filter, call->spec.tool))
		return err_set(
			&call->err, ERR_DENIED,
			"%.*s: the tool \"%.*s\" is hidden by the configuration (tools, excludeTools, preconditions)",
			STR_ARG(server->namespace), STR_ARG(call->spec.tool));
	return filtered && call->named && !tool ? call_unknown_tool(call) : 0;
}

static int call_resolve(struct hub_call *call)
{
	call->server = hub_server_find(call->hub, call->spec.server, &call->err);
	if (!call->server)
		return ERR_NOT_FOUND;
	call->server->users++;
	if (!call->server->group) {
		call->err = call->server->err;
		return call->err.code;
	}
	if (call_name(call) < 0)
		return call->err.code;
	call->server->calls++;
	return 0;
}

static void call_acquired(struct pool_acquire *acquire, struct instance *instance, const struct err *err);

/* The server is looked at anew each time: a reload may have given it another process, or broken its entry. */
static void call_acquire(struct hub_call *call)
{
	struct hub_server *server = call->server;

	call->group = server->group;
	if (!call->group) {
		call->err = server->err;
		call_refuse(call);
		return;
	}
	call->scope_key = hub_scope_key(pool_group_scope(call->group), &call->spec.caller,
					call->spec.caller.call_id, &call->arena);
	pool_acquire_start(&call->acquire, call->group, call->scope_key,
			   call->spec.caller.is_client ? (int)call->spec.caller.era : -1,
			   call_acquire_patience(call), call_acquired, call);
}

static void call_acquired(struct pool_acquire *acquire, struct instance *instance, const struct err *err)
{
	struct hub_call *call = acquire->owner;

	if (err && err->code == ERR_CLOSED && call->server->group != call->group) {
		call_step(call);
		return;
	}
	if (err) {
		call->err = *err;
		call_fail(call, MCP_NOT_SENT);
		return;
	}
	call->instance = instance;
	instance->calls++;
	call->state = HUB_CALL_LIST;
	call_step(call);
}

static void call_listed(struct hub_ready *ready)
{
	struct hub_call *call = ready->owner;

	call->state = HUB_CALL_SEND;
	call_step(call);
}

/* The list of a server that was never seen is being read since the instance started. Until it is known, only
 * the tool's own name can be told from a name that is made of it. */
static bool call_await_list(struct hub_call *call)
{
	const struct hub_server *server = call->server;
	struct hub_wait wait = { .only = server->namespace, .deadline_ms = call->hub->limits.list_ms };

	if (call->spec.timeout_ms && call->spec.timeout_ms < wait.deadline_ms)
		wait.deadline_ms = call->spec.timeout_ms;
	if (server->snapshot || !server->refresh || server->waited_ms >= wait.deadline_ms)
		return false;
	hub_ready_start(&call->listed, call->hub, &wait, call_listed, call);
	return true;
}

/* The process died between being handed to us and taking the request: nobody has seen it, so another process
 * may. */
static bool call_repeat(struct hub_call *call, const struct mcp_answer *answer)
{
	if (answer->outcome != MCP_NOT_SENT || answer->code != ERR_CLOSED || call->repeated)
		return false;
	call->repeated = true;
	pool_release(&call->instance);
	call->state = HUB_CALL_ACQUIRE;
	call_step(call);
	return true;
}

/* What happens next, and what may explain it: last, because it may be long. */
static void call_timed_out(struct hub_call *call)
{
	const struct mcp_client *client = &call->instance->client;
	uint64_t noise = client->noise - call->noise_before;
	_cleanup_arena_ struct arena arena = { 0 };
	struct str first;

	arena_init(&arena, 0);
	instance_doubt(call->instance, &call->err);
	first = plain_text(mcp_client_noise(client), &arena);
	if (noise)
		err_append(&call->err, "; it wrote %llu %s, the first%s: \"%.*s\"", (unsigned long long)noise,
			   noise == 1 ? "line that was no message" : "lines that were no messages",
			   call->noise_before ? " since it started" : "", STR_ARG(first));
}

static void call_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct hub_call *call = request->owner;
	struct hub_call_result result = { .outcome = answer->outcome };

	if (answer->code == 0) {
		result.result = answer->result;
	} else if (answer->code == ERR_UPSTREAM) {
		result.error = &answer->error;
	} else {
		if (call_repeat(call, answer))
			return;
		call->err = answer->err;
		if (answer->code == ERR_TIMEOUT)
			call_timed_out(call);
		err_prefix(&call->err, answer->code, "%.*s.%.*s", STR_ARG(call->server->namespace),
			   STR_ARG(call->spec.tool));
		call_fail(call, answer->outcome);
		return;
	}
	call_finish(call, &result);
}

static void call_relay_progress(struct mcp_request *request, const struct mcp_progress *progress,
				struct str params)
{
	struct hub_call *call = request->owner;

	(void)params;
	if (call->progressed)
		call->progressed(call, progress);
}

static void call_send(struct hub_call *call)
{
	const struct mcp_tool_call tool_call = {
		.name = call->spec.tool,
		.arguments = call->spec.arguments.n ? call->spec.arguments : STR("{}"),
		.meta = call->spec.meta,
		.log_level = call->spec.log_level,
	};
	const struct mcp_patience patience = call_patience(call);

	call->noise_before = call->instance->client.noise;
	mcp_tool_call_start(&call->upstream, &call->instance->client, &tool_call, &patience,
			    call_relay_progress, call_answered, call);
}

static void call_step(struct hub_call *call)
{
	switch (call->state) {
	case HUB_CALL_IDLE:
		if (call_resolve(call) < 0) {
			call_refuse(call);
			return;
		}
		call->state = HUB_CALL_ACQUIRE;
		_fallthrough_;
	case HUB_CALL_ACQUIRE:
		call_acquire(call);
		return;
	case HUB_CALL_LIST:
		if (call_await_list(call))
			return;
		call->state = HUB_CALL_SEND;
		_fallthrough_;
	case HUB_CALL_SEND:
		if (!call->named && call_name(call) < 0)
			call_fail(call, MCP_NOT_SENT);
		else
			call_send(call);
		return;
	case HUB_CALL_REFUSED:
		return;
	}
}

/* -- the doors ------------------------------------------------------------------------------------------- */

static struct hub_call_spec call_copy_spec(struct arena *arena, const struct hub_call_spec *spec)
{
	struct hub_call_spec copy = *spec;
	static const struct id_kind anonymous = { STR_INIT("anon-"), 8 };
	char storage[ID_TEXT_MAX];

	copy.server = arena_copy(arena, spec->server);
	copy.tool = arena_copy(arena, spec->tool);
	copy.arguments = arena_copy(arena, spec->arguments);
	copy.meta = arena_copy(arena, spec->meta);
	copy.caller.session = arena_copy(arena, spec->caller.session);
	copy.caller.parent_session = arena_copy(arena, spec->caller.parent_session);
	copy.caller.cwd = arena_copy(arena, spec->caller.cwd);
	copy.caller.run = arena_copy(arena, spec->caller.run);
	copy.caller.call_id = arena_copy(arena, spec->caller.call_id.n ? spec->caller.call_id
								       : random_id(storage, &anonymous));
	return copy;
}

void hub_call_start(struct hub_call *call, struct hub *hub, const struct hub_call_spec *spec,
		    hub_call_progressed *progressed, hub_call_done *done, void *owner)
{
	*call = (struct hub_call){ .hub = hub,
				   .progressed = progressed,
				   .done = done,
				   .owner = owner,
				   .started = loop_now(hub->loop) };
	arena_init(&call->arena, 0);
	call->spec = call_copy_spec(&call->arena, spec);
	list_append(&hub->calls, &call->node);
	call_step(call);
}

void hub_call_cancel(struct hub_call *call, struct str reason)
{
	if (call->state == HUB_CALL_IDLE)
		return;
	deferred_cancel(&call->refused);
	mcp_request_cancel_because(&call->upstream, reason);
	hub_ready_cancel(&call->listed);
	pool_acquire_cancel(&call->acquire);
	pool_release(&call->instance);
	list_remove(&call->node);
	hub_server_drop(&call->server);
	call->state = HUB_CALL_IDLE;
	arena_release(&call->arena);
	hub_check_stopped(call->hub);
}

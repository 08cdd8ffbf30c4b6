#include "base/base.h"
#include "api/api.h"
#include "api/caller.h"
#include "io/http_origin.h"
#include "io/random.h"

api_operation *const api_operations[OPERATION_COUNT] = {
	[OPERATION_HEALTH] = api_health,
	[OPERATION_STATUS] = api_status,
	[OPERATION_NAMESPACES] = api_namespaces,
	[OPERATION_TOOLS] = api_tools,
	[OPERATION_SEARCH] = api_search,
	[OPERATION_TYPES] = api_types,
	[OPERATION_CLIENT] = api_client,
	[OPERATION_CALL] = api_tool_call,
	[OPERATION_EXEC] = api_exec,
	[OPERATION_ARTIFACT_PUT] = api_artifact_put,
	[OPERATION_ARTIFACTS] = api_artifacts,
	[OPERATION_ARTIFACT_GET] = api_artifact_get,
	[OPERATION_ARTIFACT_DELETE] = api_artifact_delete,
	[OPERATION_SETTINGS_LIST] = api_settings_list,
	[OPERATION_SETTINGS_GET] = api_settings_get,
	[OPERATION_SETTINGS_SET] = api_settings_set,
	[OPERATION_SETTINGS_UNSET] = api_settings_unset,
	[OPERATION_SERVERS_LIST] = api_servers_list,
	[OPERATION_REFRESH] = api_refresh,
	[OPERATION_SESSION_RELEASE] = api_session_release,
	[OPERATION_OPENAPI] = api_openapi,
	[OPERATION_SHUTDOWN] = api_shutdown,
	[OPERATION_CALL_TOOL] = api_tool_call,
};

/* -- /v1 ------------------------------------------------------------------------------------------------- */

static void v1_gone(struct http_request *request)
{
	struct api_call *call = request->owner;

	call->api->active--;
	if (call->cancelled)
		call->cancelled(call);
}

static void v1_run(struct api_call *call)
{
	struct err err;

	if (api_check_required(call, &err) < 0)
		api_answer_error(call, &err);
	else
		api_operations[call->operation->id](call);
}

static void v1_body(struct http_request *request, struct str body)
{
	struct api_call *call = request->owner;
	struct err err;

	if (body.n && api_take_object(call, body, &err) < 0)
		api_answer_error(call, &err);
	else
		v1_run(call);
}

static size_t body_limit(const struct api_call *call)
{
	switch (call->operation->id) {
	case OPERATION_CALL:
	case OPERATION_CALL_TOOL:
		return settings_bytes(call->api->settings, SETTING_HTTP_CALL_BODY_LIMIT);
	case OPERATION_EXEC:
		return settings_bytes(call->api->settings, SETTING_EXEC_SOURCE_MAX);
	case OPERATION_REFRESH:
	case OPERATION_SHUTDOWN:
		return settings_bytes(call->api->settings, SETTING_HTTP_CONTROL_BODY_LIMIT);
	default:
		return settings_bytes(call->api->settings, SETTING_HTTP_BODY_LIMIT);
	}
}

static struct api_call *v1_call(struct api *api, struct http_request *request,
				const struct operation *operation)
{
	struct api_call *call = arena_new(&request->arena, struct api_call);

	call->api = api;
	call->operation = operation;
	call->arena = &request->arena;
	call->values = arena_array(call->arena, struct api_value, operation->input_count + 1);
	call->caller = caller_of_request(request);
	call->http = request;
	request->owner = call;
	request->gone = v1_gone;
	api->active++;
	return call;
}

/* The parameters of the path, for the inputs that stand there, in order. */
static int take_path(struct api_call *call, const struct operation_parameters *parameters, struct err *err)
{
	size_t taken = 0;

	for (size_t i = 0; i < call->operation->input_count; i++) {
		const struct operation_input *input = &call->operation->inputs[i];

		if (input->place == INPUT_PATH && taken < parameters->count &&
		    api_take_text(call, input, parameters->at[taken++], err) < 0)
			return err->code;
	}
	return 0;
}

/* There is no such route, or not for this method. */
static void v1_refuse_route(struct http_request *request)
{
	char storage[OPERATION_ALLOW_MAX];
	struct str allow = operation_allow(request->path, storage);

	if (allow.n)
		api_respond_error(request, 405,
				  arena_concat(&request->arena, STR("this route takes "), allow, STR("")),
				  &(struct http_field){ STR("Allow"), allow }, 1);
	else
		api_respond_error(request, 404,
				  STR("there is no such route; GET /v1/openapi.json has them all"), NULL, 0);
}

/* RFC 9110, section 9.3.7: of the server as a whole, and not of one route. */
static void answer_options(struct http_request *request)
{
	static const struct http_field allow = { STR_INIT("Allow"),
						 STR_INIT("GET, HEAD, POST, PUT, DELETE, OPTIONS") };

	http_respond(request, &(struct http_answer){ .status = 204, .fields = &allow, .field_count = 1 },
		     str_make(NULL, 0));
}

static void v1_request(struct api *api, struct http_request *request)
{
	struct operation_parameters parameters;
	const struct operation *operation = operation_route(request->method, request->path, &parameters);
	struct api_call *call;
	struct err err = { 0 };

	if (!operation) {
		v1_refuse_route(request);
		return;
	}
	call = v1_call(api, request, operation);
	/* A malformed header of settings is as if it were not there: it must not make an old client fail. */
	(void)settings_for_call(&call->settings, api->settings, http_field(request, STR("x-mcpx-settings")),
				call->arena, NULL);
	if (take_path(call, &parameters, &err) < 0 || api_take_query(call, request->query, &err) < 0)
		api_answer_error(call, &err);
	else if ((operation->flags & OPERATION_BODY) || !request->has_body)
		v1_run(call);
	else
		http_read_body(request, body_limit(call), v1_body);
}

/* -- the entry ------------------------------------------------------------------------------------------- */

static void refuse(struct http_request *request, unsigned status, const struct err *err)
{
	static const struct http_field challenge = { STR_INIT("WWW-Authenticate"),
						     STR_INIT("Bearer realm=\"mcpx\"") };

	api_respond_error(request, status, str_of(err->message), &challenge, status == 401 ? 1 : 0);
}

/* Of a session at the MCP endpoint. */
static void *make_caller(const struct http_request *request, struct arena *arena)
{
	struct hub_caller *caller = arena_new(arena, struct hub_caller);

	*caller = caller_for_session(request, arena);
	return caller;
}

/* Retry-After tells this refusal from others with its status: nothing was done, and another daemon may
 * come. */
static void refuse_draining(struct http_request *request)
{
	static const struct http_field later = { STR_INIT("Retry-After"), STR_INIT("1") };

	api_respond_error(request, 503, STR("the daemon is shutting down"), &later, 1);
}

void api_request(void *context, struct http_request *request)
{
	struct api *api = context;
	struct err err;
	unsigned status = access_check(&api->access, request, &err);

	api->last_use = loop_now(api->loop);
	if (status)
		refuse(request, status, &err);
	else if (api->draining && !api_exec_runs(api, http_field(request, STR("x-mcpx-run"))))
		refuse_draining(request);
	else if (api->mcp && str_eq(request->path, settings_string(api->settings, SETTING_PROTO_MCP_PATH)))
		mcp_http_door_request(api->mcp, request, access_principal(&api->access, request));
	else if (str_eq(request->path, STR("*")))
		answer_options(request);
	else if (str_eq(request->path, STR("/v1/stdio")))
		door_stdio_request(api, request);
	else
		v1_request(api, request);
}

/* -- life ------------------------------------------------------------------------------------------------ */

static void api_tools_changed(struct hub_listener *listener)
{
	struct api *api = container_of(listener, struct api, listener);

	door_tools_changed(&api->door);
	door_stdio_tools_changed(api);
}

int api_init(struct api *api, struct err *err)
{
	static const struct id_kind prefix = { STR_INIT("mcp-"), 4 };
	const struct settings *set = api->settings;
	const struct mcp_http_door_options options = {
		.sessions_max = (size_t)settings_int(set, SETTING_PROTO_SESSION_MAX),
		.session_idle_ms = settings_duration(set, SETTING_PROTO_SESSION_IDLE),
		.keep_alive_ms = settings_duration(set, SETTING_TRANSPORT_SSE_KEEP_ALIVE),
		.streams_max = (size_t)settings_int(set, SETTING_PROTO_STREAM_MAX),
		.replay = { .events_max = (size_t)settings_int(set, SETTING_PROTO_REPLAY_EVENTS),
			    .bytes_max = settings_bytes(set, SETTING_PROTO_REPLAY_BYTES),
			    .total_max = settings_bytes(set, SETTING_PROTO_REPLAY_TOTAL),
			    .age_ms = settings_duration(set, SETTING_PROTO_REPLAY_AGE) },
		.prime_ms = settings_duration(set, SETTING_PROTO_STREAM_AFTER),
		.retry_ms = settings_duration(set, SETTING_PROTO_RETRY),
		.make_peer = make_caller,
	};

	(void)random_id(api->session_prefix, &prefix);
	list_init(&api->stdio_doors);
	list_init(&api->runs);
	api->last_use = loop_now(api->loop);
	door_init(&api->door, api, settings_choice(set, SETTING_SERVE_MODE),
		  settings_items(set, SETTING_MCP_PASSTHROUGH));
	api->listener = (struct hub_listener){ .tools_changed = api_tools_changed };
	hub_listen(api->hub, &api->listener);
	if (!settings_bool(set, SETTING_PROTO_SERVE_MCP))
		return 0;
	return mcp_http_door_new(&api->mcp, api->loop, &api->door.server, &options, err);
}

void api_adjust(struct api *api)
{
	door_adjust(&api->door);
}

void api_drain(struct api *api)
{
	api->draining = true;
	if (api->mcp)
		mcp_http_door_drain(api->mcp);
	door_stdio_drain(api);
}

void api_end(struct api *api)
{
	api->ending = true;
	api_exec_end(api);
}

void api_close_channels(struct api *api)
{
	door_stdio_close(api);
}

void api_release(struct api *api)
{
	api_close_channels(api);
	hub_unlisten(&api->listener);
	buf_release(&api->client);
	mcp_http_door_free(&api->mcp);
	door_release(&api->door);
}

/* Operations that describe the daemon and its servers. */
#include "base/base.h"
#include "api/api.h"
#include "base/units.h"
#include "io/process.h"

static void write_daemon(const struct api *api, struct json_writer *w)
{
	uint64_t seconds = (loop_now(api->loop) - api->started) / MS_PER_SECOND;
	char text[DURATION_TEXT_MAX];

	json_member_str(w, STR("version"), str_of(api->version));
	json_member_i64(w, STR("pid"), getpid());
	json_member_str(w, STR("uptime"), duration_text(text, seconds * MS_PER_SECOND));
	json_member_u64(w, STR("uptimeSec"), seconds);
	json_member_str(w, STR("endpoint"), str_of(api->endpoint));
}

void api_health(struct api_call *call)
{
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_str(&w, STR("status"), STR("ok"));
	write_daemon(call->api, &w);
	json_write_object_end(&w);
	api_answer_written(call, &out);
}

static void write_artifact_usage(const struct api *api, struct json_writer *w)
{
	const struct err *trouble;
	struct artifact_usage usage;

	if (!api->artifacts)
		return;
	trouble = artifact_store_trouble(api->artifacts);
	artifact_store_usage(api->artifacts, &usage);
	json_write_key(w, STR("artifacts"));
	json_write_object_begin(w);
	json_member_u64(w, STR("count"), usage.artifacts);
	json_member_u64(w, STR("bytes"), usage.bytes);
	json_member_u64(w, STR("quota"), usage.quota);
	if (trouble)
		json_member_str(w, STR("error"), str_of(trouble->message));
	json_write_object_end(w);
}

static void write_config_files(const struct api *api, struct json_writer *w)
{
	const struct config *config = api->hub->config;

	json_write_key(w, STR("config"));
	json_write_array_begin(w);
	for (size_t i = 0; i < config->source_count; i++)
		if (config->sources[i].loaded)
			json_write_str(w, config->sources[i].path);
	json_write_array_end(w);
}

void api_status(struct api_call *call)
{
	const struct api *api = call->api;
	const struct hub_server *server;
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	write_daemon(api, &w);
	json_member_str(&w, STR("socket"), api->places->socket);
	write_config_files(api, &w);
	if (api->config_err->code)
		json_member_str(&w, STR("configError"), str_of(api->config_err->message));
	json_member_u64(&w, STR("memoryBytes"), process_memory());
	json_member_u64(&w, STR("connections"), api->server ? http_server_connections(api->server) : 0);
	json_member_u64(&w, STR("acceptPauses"), api->server ? http_server_accept_pauses(api->server) : 0);
	json_member_u64(&w, STR("sessions"), api->mcp ? mcp_http_door_sessions(api->mcp) : 0);
	json_member_u64(&w, STR("runs"), api->run_count);
	write_artifact_usage(api, &w);
	json_write_key(&w, STR("servers"));
	json_write_array_begin(&w);
	list_for_each(server, &api->hub->servers, node)
		hub_server_describe(server, &w);
	json_write_array_end(&w);
	json_write_object_end(&w);
	api_answer_written(call, &out);
}

/* -- namespaces: what is known of each server, waited for where nothing is ------------------------------- */

static void write_secrets(const struct config_server *server, struct json_writer *w)
{
	if (!server->secrets.count)
		return;
	json_write_key(w, STR("requiresSecrets"));
	json_write_array_begin(w);
	for (size_t i = 0; i < server->secrets.count; i++)
		json_write_str(w, server->secrets.items[i]);
	json_write_array_end(w);
}

static void write_namespace(const struct hub_server *server, const struct settings *set,
			    struct json_writer *w)
{
	struct config_limits limits;

	config_server_limits(server->config, set, &limits);
	json_write_object_begin(w);
	json_member_str(w, STR("namespace"), server->namespace);
	json_member_str(w, STR("server"), server->name);
	if (server->snapshot)
		json_member_u64(w, STR("tools"), server->snapshot->count);
	if (server->description.n)
		json_member_str(w, STR("description"), server->description);
	json_member_str(w, STR("state"), hub_server_state(server));
	json_member_u64(w, STR("live"), server->group ? pool_group_live(server->group) : 0);
	json_member_str(w, STR("sharing"),
			limits.sharing == CHOICE_POOL_SHARING_EXCLUSIVE ? STR("exclusive") : STR("shared"));
	json_member_str(w, STR("scope"), str_of(hub_scope_name((enum hub_scope)limits.scope)));
	json_member_bool(w, STR("cached"),
			 server->snapshot && (!server->group || !pool_group_live(server->group)));
	write_secrets(server->config, w);
	if (hub_server_error(server)->code)
		json_member_str(w, STR("error"), str_of(hub_server_error(server)->message));
	json_write_object_end(w);
}

static void namespaces_ready(struct hub_ready *ready)
{
	struct api_call *call = ready->owner;
	const struct hub_server *server;
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_array_begin(&w);
	list_for_each(server, &call->api->hub->servers, node)
		write_namespace(server, call->api->settings, &w);
	json_write_array_end(&w);
	api_answer_written(call, &out);
}

void api_namespaces(struct api_call *call)
{
	api_when_ready(call, namespaces_ready);
}

void api_servers_list(struct api_call *call)
{
	const struct config *config = call->api->hub->config;
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_write_key(&w, STR("servers"));
	json_write_array_begin(&w);
	for (size_t i = 0; i < config->server_count; i++)
		config_write_server(&config->servers[i], call->api->settings, &w);
	json_write_array_end(&w);
	json_write_object_end(&w);
	api_answer_written(call, &out);
}

void api_openapi(struct api_call *call)
{
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	operation_write_openapi(&w, str_of(call->api->version));
	api_answer_written(call, &out);
}

/* -- refresh and shutdown -------------------------------------------------------------------------------- */

struct refresh_state {
	struct hub_ready ready;
	unsigned added, removed;
};

/* Why what is known of a server is not fresh; code 0 when it is. */
static struct err refresh_failure(const struct hub_server *server, uint64_t waited_ms)
{
	const struct err *last = hub_server_error(server);
	char waited[DURATION_TEXT_MAX];
	struct err err;

	if (!server->refresh)
		return *last;
	err_set(&err, ERR_TIMEOUT, "its tools were not read within %.*s (daemon.refreshTimeout): it %s%s%s",
		STR_ARG(duration_text(waited, waited_ms)),
		pool_group_has(server->group, INSTANCE_READY) ? "runs and has not answered yet"
		: pool_group_live(server->group)	      ? "has not started yet"
							      : "waits for others",
		last->code ? "; what went wrong before: " : "", last->code ? last->message : "");
	return err;
}

static void refreshed(struct hub_ready *ready)
{
	struct api_call *call = ready->owner;
	struct refresh_state *state = container_of(ready, struct refresh_state, ready);
	const struct hub_server *server;
	struct json_writer w;
	struct buf out;
	size_t count = 0;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_u64(&w, STR("added"), state->added);
	json_member_u64(&w, STR("removed"), state->removed);
	json_write_key(&w, STR("errors"));
	json_write_array_begin(&w);
	list_for_each(server, &call->api->hub->servers, node) {
		const struct err err = refresh_failure(server, ready->wait.deadline_ms);

		count++;
		if (!err.code)
			continue;
		json_write_object_begin(&w);
		json_member_str(&w, STR("server"), server->name);
		json_member_str(&w, STR("error"), str_of(err.message));
		json_write_object_end(&w);
	}
	json_write_array_end(&w);
	json_member_u64(&w, STR("namespaces"), count);
	json_write_object_end(&w);
	api_answer_written(call, &out);
}

static void refresh_cancelled(struct api_call *call)
{
	struct refresh_state *state = call->state;

	hub_ready_cancel(&state->ready);
}

void api_refresh(struct api_call *call)
{
	struct api *api = call->api;
	struct refresh_state *state = arena_new(call->arena, struct refresh_state);
	struct hub_wait wait = { .fresh = true };
	struct err err;

	if (api->program.reload(api->program.context, &state->added, &state->removed, &err) < 0) {
		api_answer_error(call, &err);
		return;
	}
	call->state = state;
	call->cancelled = refresh_cancelled;
	wait.deadline_ms = settings_duration(api->settings, SETTING_DAEMON_REFRESH_TIMEOUT);
	hub_ready_start(&state->ready, api->hub, &wait, refreshed, call);
}

void api_session_release(struct api_call *call)
{
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_u64(&w, STR("released"),
			pool_end_session(call->api->hub->pool, api_input_str(call, STR("session"))));
	json_write_object_end(&w);
	api_answer_written(call, &out);
}

void api_shutdown(struct api_call *call)
{
	struct api *api = call->api;
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_member_bool(&w, STR("stopping"), true);
	json_write_object_end(&w);
	api_answer_written(call, &out);
	api->program.stop(api->program.context, "asked to");
}

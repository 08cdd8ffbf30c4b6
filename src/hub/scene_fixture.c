#include "base/base.h"
#include "hub/scene_fixture.h"
#include "io/files.h"

enum {
	TEXT_MAX = 1 << 20,
};

/* -- the configuration ----------------------------------------------------------------------------------- */

static const char *expand(const char *text)
{
	struct buf out;
	const char *expanded;

	buf_init(&out, TEXT_MAX);
	for (; *text; text++)
		if (*text == '@')
			buf_append(&out, str_of(server_program()));
		else if (*text == '~')
			buf_append(&out, hub_scratch.root);
		else
			buf_append_char(&out, *text);
	expanded = arena_copy(&hub_scratch.arena, buf_str(&out)).p;
	buf_release(&out);
	return expanded;
}

const char *one_server(const char *arguments, const char *block)
{
	return arena_printf(&hub_scratch.arena,
			    "{\"mcpServers\":{\"files\":{\"command\":\"@\",\"args\":[%s],\"mcpx\":{%s}}}}",
			    arguments, block)
		.p;
}

static void write_config(const char *text)
{
	scratch_write(&hub_scratch, "mcpx.json", expand(text));
}

/* -- the hub --------------------------------------------------------------------------------------------- */

static void scene_changed(struct hub_listener *listener)
{
	container_of(listener, struct hub_scene, listener)->changes++;
}

static void scene_event(struct hub_listener *listener, enum log_level level, struct str event,
			struct str server, struct str detail)
{
	struct hub_scene *scene = container_of(listener, struct hub_scene, listener);

	buf_printf(&scene->events, "%.*s %.*s %d: %.*s;\n", STR_ARG(event), STR_ARG(server), (int)level,
		   STR_ARG(detail));
	if (scene->on_event)
		scene->on_event(scene, event, server);
}

void hub_scene_init(struct hub_scene *scene)
{
	*scene = (struct hub_scene){
		.set = settings_new(),
		.environment = { stage_environment },
		.limits = { .acquire_ms = PLENTY_MS,
			    .call_max_ms = PLENTY_MS,
			    .refresh_ms = PLENTY_MS,
			    .list_ms = PLENTY_MS,
			    .change_ms = 1,
			    .reads_max = 100,
			    .tools_max = 1000,
			    .pages_max = 100,
			    .list_max = TEXT_MAX,
			    .seed = 7 },
		.listener = { .tools_changed = scene_changed, .event = scene_event },
	};
	test_pool_limits(&scene->limits.pool);
	buf_init(&scene->events, TEXT_MAX);
}

void hub_scene_open(struct hub_scene *scene, const char *config)
{
	struct err err;

	stage_environment[2] = arena_printf(&hub_scratch.arena, "MCPX_CONFIG=%s", in_scratch("mcpx.json")).p;
	stage_environment[3] = arena_printf(&hub_scratch.arena, "HOME=%s", hub_scratch.root.p).p;
	write_config(config);
	if (settings_load(scene->set, &scene->config, &scene->environment, hub_scratch.root, &err) < 0)
		fail_msg("%s", err.message);
	scene->hub = hub_new(stage_loop, &scene->limits, scene->set, scene->config, scene->environment);
	hub_listen(scene->hub, &scene->listener);
}

void hub_scene_reload(struct hub_scene *scene, const char *config)
{
	struct config *old = scene->config;
	struct err err;

	write_config(config);
	if (config_reload(&scene->config, old, scene->set, &scene->environment, &err) < 0)
		fail_msg("%s", err.message);
	if (settings_add_config(scene->set, scene->config, true, &err) < 0)
		fail_msg("%s", err.message);
	hub_reload(scene->hub, scene->config, &scene->added, &scene->removed);
	config_free(&old);
}

static void scene_stopped(void *context)
{
	((struct hub_scene *)context)->stopped = true;
}

void hub_scene_stop(struct hub_scene *scene)
{
	hub_stop(scene->hub, scene_stopped, scene);
	scene->stopping = true;
	/* Never from within. */
	assert_false(scene->stopped);
}

void hub_scene_close(struct hub_scene *scene)
{
	if (!scene->stopping)
		hub_scene_stop(scene);
	AWAIT(scene->stopped);
	hub_unlisten(&scene->listener);
	hub_free(&scene->hub);
	assert_null(scene->hub);
	hub_free(&scene->hub);
	config_free(&scene->config);
	settings_free(&scene->set);
	buf_release(&scene->events);
}

struct hub_server *server_named(struct hub_scene *scene, const char *name)
{
	struct hub_server *server = hub_server_find(scene->hub, str_of(name), NULL);

	assert_non_null(server);
	return server;
}

static void scene_ready(struct hub_ready *ready)
{
	*(bool *)ready->owner = true;
}

void know_tools(struct hub_scene *scene, const char *name)
{
	const struct hub_wait wait = { .only = str_of(name), .deadline_ms = PLENTY_MS };
	struct hub_ready ready;
	bool done = false;

	hub_ready_start(&ready, scene->hub, &wait, scene_ready, &done);
	AWAIT(done);
	assert_non_null(server_named(scene, name)->snapshot);
}

const char *describe_server(struct hub_scene *scene, const char *name)
{
	struct json_writer w;
	const char *text;
	struct buf out;

	buf_init(&out, TEXT_MAX);
	json_writer_init(&w, &out, false);
	hub_server_describe(server_named(scene, name), &w);
	text = arena_copy(&hub_scratch.arena, buf_str(&out)).p;
	buf_release(&out);
	return text;
}

unsigned events_of(const struct hub_scene *scene, const char *event)
{
	struct str rest = buf_str(&scene->events);
	unsigned count = 0;

	for (size_t at; (at = str_find(rest, str_of(event))) != STR_NONE; count++)
		rest = str_from(rest, at + strlen(event));
	return count;
}

/* -- opening and waiting --------------------------------------------------------------------------------- */

void open_hub(struct hub_scene *scene, const char *config)
{
	hub_scene_init(scene);
	hub_scene_open(scene, config);
}

const char *cache_dir(void)
{
	const char *path = in_scratch("cache");

	assert_int_equal(directory_make_private(path, NULL), 0);
	return path;
}

void open_keeping(struct hub_scene *scene, const char *config)
{
	hub_scene_init(scene);
	scene->limits.cache_dir = cache_dir();
	scene->limits.keep_eras = true;
	hub_scene_open(scene, config);
}

static void waiter_done(struct hub_ready *ready)
{
	((struct waiter *)ready->owner)->done++;
}

void wait_for(struct hub_scene *scene, struct waiter *waiter, const char *only, bool fresh,
	      uint64_t deadline_ms)
{
	const struct hub_wait wait = { only ? str_of(only) : STR(""), fresh, deadline_ms };

	waiter->done = 0;
	hub_ready_start(&waiter->ready, scene->hub, &wait, waiter_done, waiter);
	/* Never from within the start. */
	assert_int_equal(waiter->done, 0);
}

void all_ready(struct hub_scene *scene)
{
	struct waiter waiter;

	wait_for(scene, &waiter, NULL, false, PLENTY_MS);
	AWAIT(waiter.done);
	assert_int_equal(waiter.done, 1);
}

size_t snapshot_count(struct hub_scene *scene)
{
	_cleanup_arena_ struct arena arena = { 0 };
	size_t count;

	arena_init(&arena, 0);
	(void)hub_snapshots(scene->hub, &arena, &count);
	return count;
}

bool lists(struct hub_scene *scene, const char *server, const char *tool)
{
	const struct catalogue_snapshot *snapshot = server_named(scene, server)->snapshot;

	return snapshot && catalogue_find(snapshot, str_of(tool));
}

/* -- calls ----------------------------------------------------------------------------------------------- */

static void copy_text(char *to, size_t size, struct str text)
{
	snprintf(to, size, "%.*s", STR_ARG(text));
}

static void caller_done(struct hub_call *hub_call, const struct hub_call_result *result)
{
	struct caller *caller = hub_call->owner;

	assert_int_equal((result->result.p ? 1 : 0) + (result->error ? 1 : 0) + (result->err ? 1 : 0), 1);
	caller->done++;
	caller->outcome = result->outcome;
	if (result->result.p)
		buf_append(&caller->result, result->result);
	if (result->error) {
		caller->upstream_code = result->error->code;
		copy_text(caller->upstream_message, sizeof(caller->upstream_message), result->error->message);
		copy_text(caller->upstream_data, sizeof(caller->upstream_data), result->error->data);
	}
	if (result->err) {
		caller->code = result->err->code;
		copy_text(caller->message, sizeof(caller->message), str_of(result->err->message));
	}
	if (caller->on_done)
		caller->on_done(caller);
}

static void caller_progressed(struct hub_call *hub_call, const struct mcp_progress *progress)
{
	struct caller *caller = hub_call->owner;

	assert_int_equal(caller->done, 0);
	caller->progress++;
	snprintf(caller->last_progress, sizeof(caller->last_progress), "%.*s/%.*s %.*s",
		 STR_ARG(progress->progress), STR_ARG(progress->total), STR_ARG(progress->message));
	if (caller->on_progress)
		caller->on_progress(caller);
}

static void caller_start(struct caller *caller, struct hub_scene *scene, const struct hub_call_spec *spec,
			 hub_call_progressed *progressed)
{
	*caller = (struct caller){ .on_progress = caller->on_progress, .on_done = caller->on_done };
	buf_init(&caller->result, TEXT_MAX);
	hub_call_start(&caller->call, scene->hub, spec, progressed, caller_done, caller);
	/* Never from within the start. */
	assert_int_equal(caller->done, 0);
}

void call_spec(struct caller *caller, struct hub_scene *scene, const struct hub_call_spec *spec)
{
	*caller = (struct caller){ 0 };
	caller_start(caller, scene, spec, NULL);
}

void call(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool,
	  const char *arguments)
{
	call_spec(caller, scene,
		  &(struct hub_call_spec){
			  .server = str_of(server), .tool = str_of(tool), .arguments = str_of(arguments) });
}

void call_with_progress(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool)
{
	caller_start(caller, scene, &(struct hub_call_spec){ .server = str_of(server), .tool = str_of(tool) },
		     caller_progressed);
}

void call_and_leave(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool)
{
	call(caller, scene, server, tool, "{}");
	AWAIT(caller->call.state == HUB_CALL_SEND);
}

void call_end(struct caller *caller)
{
	buf_release(&caller->result);
}

void call_drop(struct caller *caller)
{
	hub_call_cancel(&caller->call, STR(""));
	call_end(caller);
}

static void await_answer(struct caller *caller)
{
	AWAIT(caller->done);
	if (caller->code || caller->upstream_code)
		fail_msg("%s%s", caller->message, caller->upstream_message);
	assert_int_equal(caller->outcome, MCP_ANSWERED);
}

const char *call_now(struct caller *caller, struct hub_scene *scene, const char *server, const char *tool,
		     const char *arguments)
{
	struct str text;
	size_t at;

	call(caller, scene, server, tool, arguments);
	await_answer(caller);
	text = arena_copy(&hub_scratch.arena, buf_str(&caller->result));
	call_end(caller);
	at = str_find(text, STR("\"text\":\""));
	if (at == STR_NONE)
		return text.p;
	text = str_from(text, at + strlen("\"text\":\""));
	return arena_copy(&hub_scratch.arena, str_slice(text, 0, str_find(text, STR("\"}")))).p;
}

void expect_answer(struct caller *caller, const char *part)
{
	await_answer(caller);
	assert_int_equal(caller->done, 1);
	assert_has(buf_cstr(&caller->result), part);
	call_end(caller);
}

void expect_error(struct caller *caller, int code, enum mcp_outcome outcome, const char *part)
{
	AWAIT(caller->done);
	assert_int_equal(caller->done, 1);
	assert_has(caller->message, part);
	assert_int_equal(caller->code, code);
	assert_int_equal(caller->outcome, outcome);
	call_end(caller);
}

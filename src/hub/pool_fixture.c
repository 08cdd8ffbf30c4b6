#include "base/base.h"
#include "hub/pool_fixture.h"

/* -- the pool -------------------------------------------------------------------------------------------- */

static void scene_started(void *context, struct pool_group *group, struct instance *instance)
{
	struct pool_scene *scene = context;

	(void)group;
	assert_int_equal(instance->state, INSTANCE_READY);
	scene->started++;
}

static void scene_stopped(void *context, struct pool_group *group, struct instance *instance)
{
	struct pool_scene *scene = context;

	scene->stopped++;
	scene->pause = pool_group_retry_in(group);
	snprintf(scene->reason, sizeof(scene->reason), "%s", instance->ended.message);
}

static void scene_notified(void *context, struct pool_group *group, struct instance *instance,
			   enum mcp_method method, const struct jsonrpc_message *message)
{
	struct pool_scene *scene = context;

	(void)message;
	assert_ptr_equal(pool_group_of(instance), group);
	scene->notified += method == MCP_TOOLS_CHANGED;
}

void pool_scene_init(struct pool_scene *scene)
{
	*scene = (struct pool_scene){ 0 };
	test_pool_limits(&scene->limits);
}

void pool_scene_open(struct pool_scene *scene)
{
	const struct pool_events events = { .started = scene_started,
					    .stopped = scene_stopped,
					    .notified = scene_notified,
					    .context = scene };

	scene->pool = pool_new(stage_loop, &scene->limits, &events);
}

static void scene_over(void *context)
{
	((struct pool_scene *)context)->ended = true;
}

void pool_scene_stop(struct pool_scene *scene)
{
	pool_stop(scene->pool, scene_over, scene);
	scene->stopping = true;
	/* Never from within. */
	assert_false(scene->ended);
}

void pool_scene_close(struct pool_scene *scene)
{
	if (!scene->stopping)
		pool_scene_stop(scene);
	AWAIT(scene->ended);
	pool_free(&scene->pool);
	assert_null(scene->pool);
}

bool pool_scene_stops(const struct pool_scene *scene, const char *reason)
{
	return scene->stopped && str_ends_with(str_of(scene->reason), str_of(reason));
}

void test_definition(struct pool_definition *definition, const char *const *argv)
{
	*definition = (struct pool_definition){
		.id = STR("0123456789abcdef"),
		.name = STR("files"),
		.argv = argv,
		.env = stage_environment,
		.scope = HUB_SCOPE_CWD,
		.max = 4,
		.idle_ms = 0,
		.start_ms = PLENTY_MS,
		.order = MCP_PREFER_DISCOVER,
		.known_era = -1,
	};
}

/* -- takers ---------------------------------------------------------------------------------------------- */

static void taken(struct pool_acquire *acquire, struct instance *instance, const struct err *err)
{
	struct taker *taker = acquire->owner;

	assert_true(!instance != !err);
	taker->done++;
	taker->instance = instance;
	taker->code = err ? err->code : 0;
	snprintf(taker->message, sizeof(taker->message), "%s", err ? err->message : "");
}

static void take_as(struct taker *taker, struct pool_group *group, const char *key, int era,
		    uint64_t patience_ms)
{
	*taker = (struct taker){ 0 };
	pool_acquire_start(&taker->acquire, group, str_of(key), era, patience_ms, taken, taker);
	/* Never from within the start. */
	assert_int_equal(taker->done, 0);
}

void take_within(struct taker *taker, struct pool_group *group, const char *key, uint64_t patience_ms)
{
	take_as(taker, group, key, -1, patience_ms);
}

void take(struct taker *taker, struct pool_group *group, const char *key)
{
	take_within(taker, group, key, PLENTY_MS);
}

static void await_instance(struct taker *taker)
{
	AWAIT(taker->done);
	if (!taker->instance)
		fail_msg("%s", taker->message);
}

void take_now(struct taker *taker, struct pool_group *group, const char *key)
{
	take(taker, group, key);
	await_instance(taker);
}

void take_now_as(struct taker *taker, struct pool_group *group, const char *key, int era)
{
	take_as(taker, group, key, era, PLENTY_MS);
	await_instance(taker);
}

void give_back(struct taker *taker)
{
	assert_non_null(taker->instance);
	pool_release(&taker->instance);
	assert_null(taker->instance);
}

void expect_failure(struct taker *taker, int code, const char *part)
{
	AWAIT(taker->done);
	assert_int_equal(taker->done, 1);
	assert_null(taker->instance);
	assert_int_equal(taker->code, code);
	assert_has(taker->message, part);
}

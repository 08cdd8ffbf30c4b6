#include "base/base.h"
#include "hub/pool_fixture.h"

/* -- the pool -------------------------------------------------------------------------------------------- */

struct pool_scene scene;

static void scene_started(void *context, struct pool_group *group, struct instance *instance)
{
	(void)context;
	(void)group;
	assert_int_equal(instance->state, INSTANCE_READY);
	scene.started++;
}

static void scene_stopped(void *context, struct pool_group *group, struct instance *instance)
{
	(void)context;
	scene.stopped++;
	scene.pause = pool_group_retry_in(group);
	snprintf(scene.reason, sizeof(scene.reason), "%s", instance->ended.message);
}

static void scene_notified(void *context, struct pool_group *group, struct instance *instance,
			   enum mcp_method method, const struct jsonrpc_message *message)
{
	(void)context;
	(void)message;
	assert_ptr_equal(pool_group_of(instance), group);
	scene.notified += method == MCP_TOOLS_CHANGED;
}

static void scene_silent(void *context, struct pool_group *group, struct instance *instance)
{
	(void)context;
	(void)group;
	(void)instance;
}

void pool_scene_init(void)
{
	static const char *argv[2];

	argv[0] = server_program();
	scene = (struct pool_scene){
		.definition = {
			.id = STR("0123456789abcdef"),
			.name = STR("files"),
			.argv = argv,
			.env = stage_environment,
			.scope = HUB_SCOPE_CWD,
			.max = 4,
			.start_ms = PLENTY_MS,
			.order = MCP_PREFER_DISCOVER,
			.known_era = -1,
		},
	};
	test_pool_limits(&scene.limits);
}

int pool_set_up(void **state)
{
	pool_scene_init();
	return hub_set_up(state);
}

void open_pool(void)
{
	const struct pool_events events = { .started = scene_started,
					    .stopped = scene_stopped,
					    .silent = scene_silent,
					    .notified = scene_notified };

	scene.pool = pool_new(stage_loop, &scene.limits, &events);
}

struct pool_group *use_group(void)
{
	if (!scene.pool)
		open_pool();
	return pool_group_use(scene.pool, &scene.definition);
}

static void scene_over(void *context)
{
	(void)context;
	scene.ended = true;
}

void stop_pool(void)
{
	pool_stop(scene.pool, scene_over, NULL);
	scene.stopping = true;
	/* Never from within. */
	assert_false(scene.ended);
}

void close_pool(void)
{
	if (!scene.stopping)
		stop_pool();
	AWAIT(scene.ended);
	pool_free(&scene.pool);
	assert_null(scene.pool);
}

void close_group(struct pool_group **group)
{
	pool_group_drop(group);
	close_pool();
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

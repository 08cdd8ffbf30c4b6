/*
 * The whole of it: the idle sweep, the stop, sessions that end. queue.c has who waits for an instance,
 * group.c the instances themselves.
 */
#include "base/base.h"
#include "hub/pool_private.h"

#include <errno.h>
#include <signal.h>

/* -- the idle sweep -------------------------------------------------------------------------------------- */

/* An instance whose client process is gone is of no use to anyone, however short its rest was. */
static bool instance_orphaned(const struct instance *instance)
{
	uint64_t pid;

	return str_starts_with(instance->key, STR("pid:")) &&
	       str_to_u64(str_from(instance->key, STR("pid:").n), &pid) == 0 && kill((pid_t)pid, 0) < 0 &&
	       errno == ESRCH;
}

static bool group_spares(const struct pool_group *group, const struct instance *instance, uint64_t now,
			 unsigned live)
{
	uint64_t idle_ms = group->definition.idle_ms;

	return idle_ms == 0 || now - instance->used_at < idle_ms || live <= group->definition.min;
}

static void group_reap(struct pool_group *group)
{
	uint64_t now = loop_now(group->pool->loop);
	unsigned live = group_serving(group);
	struct instance *instance;

	list_for_each(instance, &group->instances, node) {
		bool orphaned = instance_orphaned(instance);

		if (instance->state != INSTANCE_READY || instance->holders)
			continue;
		if (!orphaned && group_spares(group, instance, now, live))
			continue;
		instance_stop(instance, orphaned ? "its client is gone" : "it was idle");
		live--;
	}
}

static void pool_reap(struct timer *timer)
{
	struct pool *pool = container_of(timer, struct pool, reaper);
	struct pool_group *group;

	list_for_each(group, &pool->groups, node)
		group_reap(group);
	timer_start(timer, pool->loop, pool->limits.reap_ms, pool_reap);
}

/* -- its life -------------------------------------------------------------------------------------------- */

struct pool *pool_new(struct loop *loop, const struct pool_limits *limits, const struct pool_events *events)
{
	struct pool *pool = xnew(struct pool);

	pool->loop = loop;
	pool->limits = *limits;
	pool->events = *events;
	pool->random = limits->seed | 1;
	list_init(&pool->groups);
	timer_start(&pool->reaper, loop, limits->reap_ms, pool_reap);
	return pool;
}

void pool_adjust(struct pool *pool, const struct pool_limits *limits)
{
	pool->limits = *limits;
	if (timer_running(&pool->reaper))
		timer_start(&pool->reaper, pool->loop, limits->reap_ms, pool_reap);
}

static void pool_empty(struct deferred *deferred)
{
	struct pool *pool = container_of(deferred, struct pool, empty);

	pool->stopped(pool->stopped_context);
}

void pool_check_empty(struct pool *pool)
{
	if (pool->stopping && pool->live == 0)
		loop_defer(pool->loop, &pool->empty, pool_empty);
}

void pool_stop(struct pool *pool, void (*stopped)(void *context), void *context)
{
	struct pool_group *group;
	struct instance *instance;

	pool->stopping = true;
	pool->stopped = stopped;
	pool->stopped_context = context;
	timer_stop(&pool->reaper);
	/* Calls end from within instance_stop(), and what their owners then do may drop any group: hold them
	 * all. */
	list_for_each(group, &pool->groups, node) {
		group->users++;
		group->held = true;
	}
	list_for_each(group, &pool->groups, node) {
		group_refuse_all(group, "mcpx is shutting down");
		list_for_each(instance, &group->instances, node)
			instance_stop(instance, "mcpx is shutting down");
	}
	list_for_each(group, &pool->groups, node) {
		struct pool_group *held = group->held ? group : NULL;

		group->held = false;
		pool_group_drop(&held);
	}
	pool_check_empty(pool);
}

void pool_free(struct pool **freed)
{
	struct pool *pool = *freed;

	*freed = NULL;
	if (!pool)
		return;
	BUG_ON(!list_empty(&pool->groups));
	timer_stop(&pool->reaper);
	deferred_cancel(&pool->empty);
	free(pool);
}

/* -- sessions and logs ----------------------------------------------------------------------------------- */

static bool instance_of_session(const struct instance *instance, struct str session)
{
	static const struct str prefixes[] = { STR_INIT("session:"), STR_INIT("psession:"),
					       STR_INIT("call:") };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (str_starts_with(instance->key, prefixes[i]))
			return str_eq(str_from(instance->key, prefixes[i].n), session);
	return false;
}

unsigned pool_end_session(struct pool *pool, struct str session)
{
	struct pool_group *group;
	struct instance *instance;
	unsigned ended = 0;

	list_for_each(group, &pool->groups, node)
		list_for_each(instance, &group->instances, node)
			if (instance->state <= INSTANCE_READY && !instance->retired &&
			    instance_of_session(instance, session)) {
				instance->retired = "its session is over";
				group_stop_useless(group, instance);
				ended++;
			}
	return ended;
}

void pool_want_logs(struct pool *pool, enum mcp_log_level level)
{
	struct pool_group *group;
	struct instance *instance;

	/* Callers that name no level are taken to want "info" (mcp/server.h): who wants less does not take it
	 * from them. */
	if (level > MCP_LOG_INFO)
		level = MCP_LOG_INFO;
	if (level == MCP_LOG_NONE || mcp_log_admits(pool->logs, level))
		return;
	pool->logs = level;
	list_for_each(group, &pool->groups, node)
		list_for_each(instance, &group->instances, node)
			instance_want_logs(instance, level);
}

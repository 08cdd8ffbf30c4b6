/*
 * Whenever something changes (a release, an end, a new acquire) the queue of a group is walked from its front
 * and each acquire is given what can be given: an instance of its key, a place among those that wait for one
 * to start, or a new instance where there is room. Nothing is ever handed over from within a caller's own
 * call: that is deferred.
 */
#include "base/base.h"
#include "hub/pool_private.h"
#include "base/units.h"

/* -- acquires -------------------------------------------------------------------------------------------- */

static void acquire_ready(struct deferred *deferred)
{
	struct pool_acquire *acquire = container_of(deferred, struct pool_acquire, ready);
	struct instance *instance = take_ptr(acquire->instance);

	timer_stop(&acquire->deadline);
	acquire->group = NULL;
	acquire->done(acquire, instance, instance ? NULL : &acquire->err);
}

/* True when it waited: then its group is still there. */
static bool acquire_unlink(struct pool_acquire *acquire)
{
	if (list_empty(&acquire->node))
		return false;
	list_remove(&acquire->node);
	acquire->group->waiting_count--;
	return true;
}

static void acquire_give(struct pool_acquire *acquire, struct instance *instance)
{
	(void)acquire_unlink(acquire);
	instance_hold(instance);
	acquire->instance = instance;
	loop_defer(acquire->group->pool->loop, &acquire->ready, acquire_ready);
}

static void acquire_fail(struct pool_acquire *acquire, const struct err *err)
{
	(void)acquire_unlink(acquire);
	acquire->err = *err;
	loop_defer(acquire->group->pool->loop, &acquire->ready, acquire_ready);
}

static bool group_starts_for(const struct pool_group *group, struct str key)
{
	struct instance *instance;

	list_for_each(instance, &group->instances, node)
		if (instance->state == INSTANCE_STARTING && str_eq(instance->key, key))
			return true;
	return false;
}

/* One that is retired and is still held. */
static const struct instance *group_leaving(const struct pool_group *group)
{
	struct instance *instance;

	list_for_each(instance, &group->instances, node)
		if (instance->retired && instance->state == INSTANCE_READY)
			return instance;
	return NULL;
}

static void acquire_expired(struct timer *timer)
{
	struct pool_acquire *acquire = container_of(timer, struct pool_acquire, deadline);
	struct pool_group *group = acquire->group;
	const struct instance *leaving = group_leaving(group);
	char waited[DURATION_TEXT_MAX];
	struct err err;

	if (acquire->ready.call)
		return;
	duration_text(waited, acquire->patience_ms);
	if (leaving)
		err_set(&err, ERR_TIMEOUT,
			"server %.*s: no instance became free within %s: %.*s gets no new calls and has not ended those it has (%s)",
			STR_ARG(group->definition.name), waited, STR_ARG(leaving->id), leaving->retired);
	else if (group_starts_for(group, acquire->key))
		err_set(&err, ERR_TIMEOUT,
			"server %.*s is still starting after %s; call again later, or allow the call more time",
			STR_ARG(group->definition.name), waited);
	else
		err_set(&err, ERR_TIMEOUT,
			"server %.*s: no instance became free within %s: %u of at most %u are in use (raise max, or set sharing to \"shared\")",
			STR_ARG(group->definition.name), waited, pool_group_live(group),
			group->definition.max);
	acquire_fail(acquire, &err);
	group_pump(group);
}

void pool_acquire_start(struct pool_acquire *acquire, struct pool_group *group, struct str key, int era,
			uint64_t patience_ms, pool_acquired *done, void *owner)
{
	struct err err;

	*acquire = (struct pool_acquire){ .group = group,
					  .patience_ms = patience_ms,
					  .era = era,
					  .key = key,
					  .done = done,
					  .owner = owner };
	list_init(&acquire->node);
	if (group->pool->stopping)
		err_set(&err, ERR_CLOSED, "mcpx is shutting down");
	else if (group->waiting_count >= group->pool->limits.waiting_max)
		err_set(&err, ERR_BUSY,
			"server %.*s: %zu calls are waiting for an instance already; try again later",
			STR_ARG(group->definition.name), group->waiting_count);
	else {
		list_append(&group->waiting, &acquire->node);
		group->waiting_count++;
		timer_start(&acquire->deadline, group->pool->loop, patience_ms, acquire_expired);
		group_pump(group);
		return;
	}
	acquire_fail(acquire, &err);
}

void pool_acquire_cancel(struct pool_acquire *acquire)
{
	struct pool_group *group = acquire->group;

	if (!group)
		return;
	timer_stop(&acquire->deadline);
	deferred_cancel(&acquire->ready);
	/* A start that was for it alone may make room now. */
	if (acquire_unlink(acquire))
		group_pump(group);
	pool_release(&acquire->instance);
	acquire->group = NULL;
}

/* -- giving back ----------------------------------------------------------------------------------------- */

unsigned group_serving(const struct pool_group *group)
{
	struct instance *instance;
	unsigned serving = 0;

	list_for_each(instance, &group->instances, node)
		serving += instance->state <= INSTANCE_READY;
	return serving;
}

void group_stop_useless(struct pool_group *group, struct instance *instance)
{
	if (instance->holders || instance->state != INSTANCE_READY)
		return;
	if (group->users == 0)
		instance_stop(instance, "its server was removed from the configuration");
	else if (instance->retired)
		instance_stop(instance, instance->retired);
	else if (str_starts_with(instance->key, STR("call:")))
		instance_stop(instance, "its call is over");
	else if (group_serving(group) > group->definition.max)
		instance_stop(instance, "fewer of it are allowed now");
}

void pool_release(struct instance **held)
{
	struct instance *instance = *held;
	struct pool_group *group;

	if (!instance)
		return;
	group = instance->owner;
	instance->used_at = loop_now(instance->loop);
	/* The group of one that has ended may be gone. */
	if (instance->state == INSTANCE_ENDED) {
		instance_drop(held);
		return;
	}
	instance_drop(held);
	group_stop_useless(group, instance);
	group_pump(group);
}

/* -- the queue ------------------------------------------------------------------------------------------- */

void group_settle_starters(struct instance *instance, const struct err *err)
{
	while (!list_empty(&instance->starters)) {
		struct pool_acquire *acquire = list_first(&instance->starters, struct pool_acquire, node);

		if (err)
			acquire_fail(acquire, err);
		else if (instance->holders == 0 || !acquire->group->definition.exclusive)
			acquire_give(acquire, instance);
		else {
			list_remove(&acquire->node);
			list_append(&acquire->group->waiting, &acquire->node);
		}
	}
}

void group_refuse_all(struct pool_group *group, const char *why)
{
	struct instance *instance;
	struct err err;

	err_set(&err, ERR_CLOSED, "server %.*s: %s", STR_ARG(group->definition.name), why);
	list_for_each(instance, &group->instances, node)
		group_settle_starters(instance, &err);
	while (!list_empty(&group->waiting))
		acquire_fail(list_first(&group->waiting, struct pool_acquire, node), &err);
}

static bool instance_is_for(const struct instance *instance, struct str key)
{
	return instance->state <= INSTANCE_READY && !instance->retired && str_eq(instance->key, key);
}

/* It runs and nobody holds it, or it starts and nobody waits for it any more. */
static bool instance_unwanted(const struct instance *instance)
{
	return instance->state <= INSTANCE_READY && instance->holders == 0 && list_empty(&instance->starters);
}

static struct instance *group_idle_longest(const struct pool_group *group)
{
	struct instance *instance, *idle = NULL;

	list_for_each(instance, &group->instances, node)
		if (instance_unwanted(instance) && (!idle || instance->used_at < idle->used_at))
			idle = instance;
	return idle;
}

/* Gives `acquire` an instance of its key that runs, or lets it wait for one that starts or is choked. */
static bool group_share(struct pool_group *group, struct pool_acquire *acquire)
{
	struct instance *instance;

	list_for_each(instance, &group->instances, node) {
		if (!instance_is_for(instance, acquire->key))
			continue;
		if (group->definition.exclusive && (instance->holders || !list_empty(&instance->starters)))
			continue;
		if (instance->state == INSTANCE_READY && instance->choked) {
			/* It recovers or ends soon: either way the queue is walked again. */
		} else if (instance->state == INSTANCE_READY) {
			acquire_give(acquire, instance);
		} else {
			list_remove(&acquire->node);
			list_append(&instance->starters, &acquire->node);
		}
		return true;
	}
	return false;
}

/* A command that failed is not started again at once; whoever asks meanwhile is told when it will be. */
static bool group_cooling(struct pool_group *group, struct pool_acquire *acquire)
{
	uint64_t wait = pool_group_retry_in(group);
	char text[DURATION_TEXT_MAX];
	struct err err = group->err;

	if (wait == 0)
		return false;
	duration_rough(text, wait);
	err.code = ERR_UNAVAILABLE;
	err_prefix(&err, err.code, "%u failed start%s, next try in %s", group->failures,
		   group->failures == 1 ? "" : "s", text);
	acquire_fail(acquire, &err);
	return true;
}

/* Serves one acquire if that is possible now. `coming` counts the places that instances on their way out will
 * leave. */
static void group_serve(struct pool_group *group, struct pool_acquire *acquire, unsigned *coming)
{
	struct instance *idle;

	if (group_share(group, acquire) || group_cooling(group, acquire))
		return;
	if (pool_group_live(group) < group->definition.max) {
		struct instance *started = group_start_instance(group, acquire->key, acquire->era);

		list_remove(&acquire->node);
		list_append(&started->starters, &acquire->node);
		return;
	}
	if (*coming) {
		(*coming)--;
		return;
	}
	idle = group_idle_longest(group);
	if (idle)
		instance_stop(idle, "another caller needs its place");
}

void group_pump(struct pool_group *group)
{
	struct pool_acquire *acquire;
	struct instance *instance;
	unsigned coming = 0;

	if (group->pool->stopping)
		return;
	list_for_each(instance, &group->instances, node)
		coming += instance->state == INSTANCE_STOPPING;
	list_for_each(acquire, &group->waiting, node)
		group_serve(group, acquire, &coming);
}

/*
 * A group is a list of instances and a queue of acquires. Whenever something changes (a release, an end, a new acquire) the queue is walked
 * from its front and each acquire is given what can be given: an instance of its key, a place among those that wait for one to start, or a new
 * instance where there is room. Nothing is ever handed over from within a caller's own call: that is deferred.
 */
#include "base/base.h"
#include "hub/pool.h"
#include "hub/last_words.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/units.h"
#include "mcp/revision.h"

#include <errno.h>
#include <signal.h>

struct pool_group {
	struct pool *pool;
	struct list_node node; /* in pool->groups */
	struct arena arena;    /* of the definition's texts but for */
	char *id;
	struct pool_definition definition;
	struct instance_definition process;
	unsigned users;
	bool held; /* by pool_stop(), which counts as a user */
	struct list_node instances;
	struct list_node waiting; /* struct pool_acquire, first come first */
	size_t waiting_count;
	unsigned sequence;
	unsigned failures; /* failed starts in a row */
	uint64_t retry_at; /* loop_now() from which a start is allowed again */
	struct err err;
	struct buf words; /* the end of what the last failed start wrote to stderr */
};

struct pool {
	struct loop *loop;
	struct pool_limits limits;
	struct pool_events events;
	struct list_node groups;
	struct timer reaper;
	uint64_t random;
	unsigned live;		 /* instances whose process is not gone */
	enum mcp_log_level logs; /* what pool_want_logs() asked for; MCP_LOG_NONE: nothing */
	bool stopping;
	struct deferred empty;
	void (*stopped)(void *context);
	void *stopped_context;
};

static void group_pump(struct pool_group *group);

/* -- acquires ------------------------------------------------------------------------------------------------------------ */

static void acquire_ready(struct deferred *deferred)
{
	struct pool_acquire *acquire = container_of(deferred, struct pool_acquire, ready);
	struct instance *instance = take_ptr(acquire->instance);

	timer_stop(&acquire->deadline);
	acquire->group = NULL;
	acquire->done(acquire, instance, instance ? NULL : &acquire->err);
}

static void acquire_unlink(struct pool_acquire *acquire)
{
	if (list_empty(&acquire->node))
		return;
	list_remove(&acquire->node);
	acquire->group->waiting_count--;
}

static void acquire_give(struct pool_acquire *acquire, struct instance *instance)
{
	acquire_unlink(acquire);
	instance_hold(instance);
	instance->calls++;
	acquire->instance = instance;
	loop_defer(acquire->group->pool->loop, &acquire->ready, acquire_ready);
}

static void acquire_fail(struct pool_acquire *acquire, const struct err *err)
{
	acquire_unlink(acquire);
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

static void acquire_expired(struct timer *timer)
{
	struct pool_acquire *acquire = container_of(timer, struct pool_acquire, deadline);
	struct pool_group *group = acquire->group;
	char waited[DURATION_TEXT_MAX];
	struct err err;

	if (acquire->ready.call)
		return;
	duration_text(waited, acquire->patience_ms);
	if (group_starts_for(group, acquire->key))
		err_set(&err, ERR_TIMEOUT,
			"server %.*s is still starting after %s; call again later, or allow the call more time",
			STR_ARG(group->definition.name), waited);
	else
		err_set(&err, ERR_TIMEOUT,
			"server %.*s: no instance became free within %s: %u of at most %u are in use (raise max, or set sharing to \"shared\")",
			STR_ARG(group->definition.name), waited, pool_group_live(group),
			group->definition.max);
	acquire_fail(acquire, &err);
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
		err_set(&err, ERR_CLOSED, "the hub is shutting down");
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
	acquire_unlink(acquire);
	pool_release(&acquire->instance);
	acquire->group = NULL;
}

/* Those that start or run, without those on their way out. */
static unsigned group_serving(const struct pool_group *group)
{
	struct instance *instance;
	unsigned serving = 0;

	list_for_each(instance, &group->instances, node)
		serving += instance->state <= INSTANCE_READY;
	return serving;
}

/* Stops an instance that nobody holds and nobody else will be given. */
static void group_stop_useless(struct pool_group *group, struct instance *instance)
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

/* -- instances ----------------------------------------------------------------------------------------------------------- */

/* Moves everyone who waits for this instance to start. */
static void starters_settle(struct instance *instance, const struct err *err)
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

static void group_instance_opened(struct instance *instance)
{
	struct pool_group *group = instance->owner;

	group->failures = 0;
	group->retry_at = 0;
	group->err.code = 0;
	buf_release(&group->words);
	group->definition.known_era = (int)mcp_era_of(instance->client.facts.revision);
	/* Those who waited come first: what the event holds the instance for must not keep an exclusive one from them. */
	starters_settle(instance, NULL);
	instance_want_logs(instance, group->pool->logs);
	group->pool->events.started(group->pool->events.context, group, instance);
	group_stop_useless(group, instance);
	group_pump(group);
}

/* xorshift64*: jitter needs no secrecy, only that daemons started together do not stay in step. */
static uint64_t pool_random(struct pool *pool)
{
	pool->random ^= pool->random >> 12;
	pool->random ^= pool->random << 25;
	pool->random ^= pool->random >> 27;
	return pool->random * 0x2545f4914f6cdd1d;
}

static void group_keep_words(struct pool_group *group, struct str words)
{
	_cleanup_arena_ struct arena arena = { 0 };

	arena_init(&arena, 0);
	words = last_words_clean(words, &arena);
	buf_release(&group->words);
	buf_init(&group->words, words.n);
	buf_append(&group->words, words);
}

static void group_start_failed(struct pool_group *group, const struct instance *instance)
{
	const struct pool_limits *limits = &group->pool->limits;
	uint64_t wait;

	group->failures++;
	wait = group->failures * limits->backoff_step_ms;
	wait = wait < limits->backoff_max_ms ? wait : limits->backoff_max_ms;
	wait += pool_random(group->pool) % (wait * limits->backoff_jitter / 100 + 1);
	group->retry_at = loop_now(group->pool->loop) + wait;
	group->err = instance->ended;
	group_keep_words(group, child_stderr(&instance->child));
	group->definition.known_era = -1;
}

/* Who waits need not wait for its end too. */
static void group_instance_failed(struct instance *instance)
{
	struct pool_group *group = instance->owner;

	group_start_failed(group, instance);
	starters_settle(instance, &instance->ended);
	group_pump(group);
}

static void pool_empty(struct deferred *deferred)
{
	struct pool *pool = container_of(deferred, struct pool, empty);

	pool->stopped(pool->stopped_context);
}

static void group_collect(struct pool_group *group);

static void group_instance_ended(struct instance *instance)
{
	struct pool_group *group = instance->owner;
	struct pool *pool = group->pool;

	list_remove(&instance->node);
	pool->live--;
	if (!instance->was_ready && !instance->failed && !instance->asked)
		group_start_failed(group, instance);
	pool->events.stopped(pool->events.context, group, instance);
	starters_settle(instance, &instance->ended);
	group_pump(group);
	group_collect(group);
	if (pool->stopping && pool->live == 0)
		loop_defer(pool->loop, &pool->empty, pool_empty);
}

static void group_instance_notified(struct instance *instance, enum mcp_method method,
				    const struct jsonrpc_message *message)
{
	struct pool_group *group = instance->owner;

	group->pool->events.notified(group->pool->events.context, group, instance, method, message);
}

static void group_instance_recovered(struct instance *instance)
{
	group_pump(instance->owner);
}

static const struct instance_events group_instance_events = {
	.opened = group_instance_opened,
	.failed = group_instance_failed,
	.ended = group_instance_ended,
	.recovered = group_instance_recovered,
	.notified = group_instance_notified,
};

/* `era` is the one of whom the instance is for, or -1. */
static enum mcp_open_order group_open_order(const struct pool_group *group, int era)
{
	const struct pool_definition *d = &group->definition;

	if (d->order == MCP_FORCE_DISCOVER || d->order == MCP_FORCE_INITIALIZE)
		return d->order;
	if (!d->follows || era < 0)
		era = d->known_era;
	if (era < 0)
		return d->order;
	return era == MCP_MODERN ? MCP_PREFER_DISCOVER : MCP_PREFER_INITIALIZE;
}

/* What the next instance is started with: the limits are as they are now. */
static void group_define_process(struct pool_group *group, int era)
{
	const struct pool_limits *limits = &group->pool->limits;
	const struct pool_definition *d = &group->definition;

	group->process = (struct instance_definition){
		.name = d->name,
		.argv = d->argv,
		.env = d->env,
		.cwd = d->cwd,
		.supervisor = limits->supervisor,
		.line_max = limits->line_max,
		.depth_max = limits->depth_max,
		.stderr_keep = limits->stderr_keep,
		.noise_keep = limits->noise_keep,
		.input_max = limits->input_max,
		.requests_max = limits->requests_max,
		.batch_max = limits->batch_max,
		.close_ms = limits->close_ms,
		.term_ms = limits->term_ms,
		.kill_ms = limits->kill_ms,
		.start_ms = d->start_ms,
		.probe_ms = limits->probe_ms,
		.order = group_open_order(group, era),
		.client_info = limits->client_info,
	};
}

static struct instance *group_start_instance(struct pool_group *group, struct str key, int era)
{
	struct instance *instance;

	group_define_process(group, era);
	instance = instance_start(group->pool->loop, &group->process, &group_instance_events, group);
	instance->key = arena_copy(&instance->arena, key);
	instance->id =
		arena_printf(&instance->arena, "%.*s#%u", STR_ARG(group->definition.name), ++group->sequence);
	list_append(&group->instances, &instance->node);
	group->pool->live++;
	return instance;
}

/* -- the queue ----------------------------------------------------------------------------------------------------------- */

static bool instance_is_for(const struct instance *instance, struct str key)
{
	return instance->state <= INSTANCE_READY && !instance->retired && str_eq(instance->key, key);
}

static struct instance *group_idle_longest(const struct pool_group *group)
{
	struct instance *instance, *idle = NULL;

	list_for_each(instance, &group->instances, node)
		if (instance->state == INSTANCE_READY && instance->holders == 0 &&
		    (!idle || instance->used_at < idle->used_at))
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

/* Serves one acquire if that is possible now. `coming` counts the places that instances on their way out will leave. */
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

static void group_pump(struct pool_group *group)
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

/* -- groups -------------------------------------------------------------------------------------------------------------- */

static const char *const *copy_strings(struct arena *arena, const char *const *strings)
{
	size_t count = 0;
	const char **copy;

	while (strings[count])
		count++;
	copy = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_cstr(arena, str_of(strings[i]));
	return copy;
}

/* Outside the arena, because it may change as often as the configuration does. */
static void group_set_id(struct pool_group *group, struct str id)
{
	free(group->id);
	group->id = xmalloc(id.n);
	memcpy(group->id, id.p, id.n);
	group->definition.id = str_make(group->id, id.n);
}

static void group_define(struct pool_group *group, const struct pool_definition *definition)
{
	struct pool_definition *d = &group->definition;

	*d = *definition;
	group_set_id(group, definition->id);
	d->name = arena_copy(&group->arena, definition->name);
	d->argv = copy_strings(&group->arena, definition->argv);
	d->env = copy_strings(&group->arena, definition->env);
	d->cwd = definition->cwd ? arena_cstr(&group->arena, str_of(definition->cwd)) : NULL;
}

static struct pool_group *pool_group_with(const struct pool *pool, struct str id)
{
	struct pool_group *group;

	list_for_each(group, &pool->groups, node)
		if (str_eq(group->definition.id, id))
			return group;
	return NULL;
}

bool pool_group_adapt(struct pool_group *group, const struct pool_definition *definition, unsigned users)
{
	struct pool_definition *d = &group->definition;
	struct instance *instance;

	if (group->users != users || pool_group_with(group->pool, definition->id))
		return false;
	group_set_id(group, definition->id);
	d->max = definition->max;
	d->min = definition->min;
	d->idle_ms = definition->idle_ms;
	d->start_ms = definition->start_ms;
	list_for_each(instance, &group->instances, node)
		group_stop_useless(group, instance);
	group_pump(group);
	return true;
}

struct pool_group *pool_group_use(struct pool *pool, const struct pool_definition *definition)
{
	struct pool_group *group = pool_group_with(pool, definition->id);

	if (group) {
		group->users++;
		return group;
	}
	group = xnew(struct pool_group);
	group->pool = pool;
	group->users = 1;
	arena_init(&group->arena, 0);
	list_init(&group->instances);
	list_init(&group->waiting);
	group_define(group, definition);
	list_append(&pool->groups, &group->node);
	return group;
}

/* Frees a group that nobody uses, when its last process is gone. */
static void group_collect(struct pool_group *group)
{
	if (group->users || !list_empty(&group->instances))
		return;
	BUG_ON(!list_empty(&group->waiting));
	list_remove(&group->node);
	free(group->id);
	buf_release(&group->words);
	arena_release(&group->arena);
	loop_free_later(group->pool->loop, group);
}

/* Nobody waits in this group any more, also not for an instance that starts. */
static void group_refuse_all(struct pool_group *group, const char *why)
{
	struct instance *instance;
	struct err err;

	err_set(&err, ERR_CLOSED, "server %.*s: %s", STR_ARG(group->definition.name), why);
	list_for_each(instance, &group->instances, node)
		starters_settle(instance, &err);
	while (!list_empty(&group->waiting))
		acquire_fail(list_first(&group->waiting, struct pool_acquire, node), &err);
}

void pool_group_drop(struct pool_group **dropped)
{
	struct pool_group *group = *dropped;
	struct instance *instance;

	*dropped = NULL;
	if (!group || --group->users)
		return;
	group_refuse_all(group, "its configuration changed; call again");
	list_for_each(instance, &group->instances, node)
		if (instance->holders == 0)
			instance_stop(instance, "its server was removed from the configuration");
	group_collect(group);
}

struct pool_group *pool_group_of(const struct instance *instance)
{
	return instance->owner;
}

enum hub_scope pool_group_scope(const struct pool_group *group)
{
	return group->definition.scope;
}

unsigned pool_group_live(const struct pool_group *group)
{
	struct instance *instance;
	unsigned live = 0;

	list_for_each(instance, &group->instances, node)
		live++;
	return live;
}

const struct err *pool_group_error(const struct pool_group *group)
{
	return &group->err;
}

struct str pool_group_last_words(const struct pool_group *group)
{
	return buf_str(&group->words);
}

uint64_t pool_group_retry_in(const struct pool_group *group)
{
	uint64_t now = loop_now(group->pool->loop);

	return group->retry_at > now ? group->retry_at - now : 0;
}

void pool_group_describe(const struct pool_group *group, struct json_writer *w)
{
	struct instance *instance;

	json_write_array_begin(w);
	list_for_each(instance, &group->instances, node)
		instance_describe(instance, w);
	json_write_array_end(w);
}

struct instance *pool_group_find(const struct pool_group *group, const struct instance *wanted)
{
	struct instance *instance;

	list_for_each(instance, &group->instances, node)
		if (instance == wanted && instance->state == INSTANCE_READY)
			return instance;
	return NULL;
}

/* -- the pool ------------------------------------------------------------------------------------------------------------ */

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

void pool_stop(struct pool *pool, void (*stopped)(void *context), void *context)
{
	struct pool_group *group;
	struct instance *instance;

	pool->stopping = true;
	pool->stopped = stopped;
	pool->stopped_context = context;
	timer_stop(&pool->reaper);
	/* Calls end from within instance_stop(), and what their owners then do may drop any group: hold them all. */
	list_for_each(group, &pool->groups, node) {
		group->users++;
		group->held = true;
	}
	list_for_each(group, &pool->groups, node) {
		group_refuse_all(group, "the hub is shutting down");
		list_for_each(instance, &group->instances, node)
			instance_stop(instance, "the hub is shutting down");
	}
	list_for_each(group, &pool->groups, node) {
		struct pool_group *held = group->held ? group : NULL;

		group->held = false;
		pool_group_drop(&held);
	}
	if (pool->live == 0)
		loop_defer(pool->loop, &pool->empty, pool_empty);
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

	/* Callers that name no level are taken to want "info" (mcp/server.h): who wants less does not take it from them. */
	if (level > MCP_LOG_INFO)
		level = MCP_LOG_INFO;
	if (level == MCP_LOG_NONE || mcp_log_admits(pool->logs, level))
		return;
	pool->logs = level;
	list_for_each(group, &pool->groups, node)
		list_for_each(instance, &group->instances, node)
			instance_want_logs(instance, level);
}

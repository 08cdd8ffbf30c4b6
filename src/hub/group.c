/*
 * A group: what its instances are started with, what becomes of them, and who uses it.
 */
#include "base/base.h"
#include "hub/pool_private.h"
#include "base/arena.h"
#include "mcp/revision.h"
#include "text/plain.h"

/* -- instances ------------------------------------------------------------------------------------------- */

static void group_instance_opened(struct instance *instance)
{
	struct pool_group *group = instance->owner;

	group->failures = 0;
	group->retry_at = 0;
	group->err.code = 0;
	buf_release(&group->words);
	group->definition.known_era = (int)mcp_era_of(instance->client.facts.revision);
	/* Those who waited come first: what the event holds the instance for must not keep an exclusive one
	 * from them. */
	group_settle_starters(instance, NULL);
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
	words = plain_text(words, &arena);
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
	group_settle_starters(instance, &instance->ended);
	group_pump(group);
}

static void group_instance_ended(struct instance *instance)
{
	struct pool_group *group = instance->owner;
	struct pool *pool = group->pool;

	list_remove(&instance->node);
	pool->live--;
	if (!instance->was_ready && !instance->failed && !instance->asked)
		group_start_failed(group, instance);
	pool->events.stopped(pool->events.context, group, instance);
	group_settle_starters(instance, &instance->ended);
	group_pump(group);
	group_collect(group);
	pool_check_empty(pool);
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

/* Who still waits for it holds it. */
static void group_instance_silent(struct instance *instance)
{
	struct pool_group *group = instance->owner;

	group->pool->events.silent(group->pool->events.context, group, instance);
	group_stop_useless(group, instance);
	group_pump(group);
}

static const struct instance_events group_instance_events = {
	.opened = group_instance_opened,
	.failed = group_instance_failed,
	.ended = group_instance_ended,
	.recovered = group_instance_recovered,
	.silent = group_instance_silent,
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
		.ping_ms = limits->ping_ms,
		.order = group_open_order(group, era),
		.client_info = limits->client_info,
	};
}

struct instance *group_start_instance(struct pool_group *group, struct str key, int era)
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

/* -- its life -------------------------------------------------------------------------------------------- */

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

void group_collect(struct pool_group *group)
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

/* -- looking --------------------------------------------------------------------------------------------- */

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

bool pool_group_has(const struct pool_group *group, enum instance_state state)
{
	struct instance *instance;

	list_for_each(instance, &group->instances, node)
		if (instance->state == state)
			return true;
	return false;
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

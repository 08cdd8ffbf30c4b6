#include "base/base.h"
#include "hub/refresh.h"
#include "hub/filter.h"
#include "hub/prune.h"
#include "hub/save.h"
#include "io/files.h"

struct hub_refresh {
	struct hub_server *server;
	struct pool_acquire acquire;
	struct instance *instance;
	struct mcp_listing listing;
	struct arena arena; /* of the scope key */
	bool queued;	    /* its turn has not come; */
	bool asked;	    /* somebody waits for it */
	bool counted;	    /* in hub->reading */
};

/* -- on disk --------------------------------------------------------------------------------------------- */

/* Takes over `all`. */
static void refresh_set(struct hub_server *server, struct catalogue_snapshot *all)
{
	catalogue_unref(&server->all);
	server->all = all;
	refresh_show(server);
}

void refresh_show(struct hub_server *server)
{
	struct catalogue_snapshot *old = server->snapshot;

	server->snapshot = NULL;
	if (server->all && server->config)
		server->snapshot =
			filter_apply(&server->config->filter, server->all, server->hub->limits.seed);
	catalogue_unref(&old);
}

void refresh_load_cached(struct hub_server *server)
{
	struct hub *hub = server->hub;
	_cleanup_arena_ struct arena arena = { 0 };
	struct catalogue_snapshot *all;
	_cleanup_free_ char *path = NULL;
	struct str text;

	arena_init(&arena, 0);
	if (!hub->limits.cache_dir)
		return;
	path = save_path(hub, prune_catalogue_name(server->process_id, &arena));
	if (file_read(path, hub->limits.list_max, &text, NULL) < 0)
		return;
	/* A damaged cache is as good as none: the server will be asked. */
	if (catalogue_decode(text, server->namespace, hub->limits.tools_max, hub->limits.seed, &all, NULL) ==
	    0)
		refresh_set(server, all);
	free((char *)text.p);
}

static void refresh_save(struct hub_server *server)
{
	struct hub *hub = server->hub;
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_buf_ struct buf out = { 0 };

	arena_init(&arena, 0);
	buf_init(&out, hub->limits.list_max);
	if (hub->limits.cache_dir && catalogue_encode(server->all, &out) == 0)
		save_file(hub, prune_catalogue_name(server->process_id, &arena), buf_take(&out));
}

/* -- one refresh ----------------------------------------------------------------------------------------- */

static void refresh_turn(struct deferred *deferred)
{
	refresh_begin_next(container_of(deferred, struct hub, read_next));
}

static void refresh_free(struct hub_refresh *refresh)
{
	struct hub_server *server = refresh->server;
	struct hub *hub = server->hub;

	server->refresh = NULL;
	/* Later: a reload that ends one is not done with the others yet. */
	if (refresh->counted) {
		hub->reading--;
		loop_defer(hub->loop, &hub->read_next, refresh_turn);
	}
	mcp_listing_release(&refresh->listing);
	pool_acquire_cancel(&refresh->acquire);
	pool_release(&refresh->instance);
	arena_release(&refresh->arena);
	loop_free_later(hub->loop, refresh);
	hub_server_drop(&server);
}

/* Failures put off what the hub does by itself; whoever asks is served at once. */
static void refresh_count(struct hub_server *server, const struct err *err)
{
	const struct pool_limits *limits = &server->hub->limits.pool;
	uint64_t wait;

	if (!err) {
		server->refresh_err.code = 0;
		server->refresh_failures = 0;
		server->read = true;
		return;
	}
	server->refresh_err = *err;
	wait = ++server->refresh_failures * limits->backoff_step_ms;
	server->refresh_at =
		loop_now(server->hub->loop) + (wait < limits->backoff_max_ms ? wait : limits->backoff_max_ms);
	/* Of a start that failed, the end of the process has told already. */
	if (!server->group || !str_eq(str_of(pool_group_error(server->group)->message), str_of(err->message)))
		hub_tell_event(server->hub, LOG_LEVEL_WARN, STR("server.list"), server->name,
			       str_of(err->message));
}

static void refresh_end(struct hub_refresh *refresh, const struct err *err)
{
	struct hub_server *server = refresh->server;
	struct hub *hub = server->hub;
	struct instance *instance = take_ptr(refresh->instance), *running;
	bool again = server->again, stale = server->stale;

	server->users++;
	server->again = server->stale = false;
	server->waited_ms = 0;
	refresh_count(server, err);
	refresh_free(refresh);
	/* What changed meanwhile is read from whom it changed at, if that still runs. Who asked is not kept
	 * waiting for it. */
	running = instance && instance->state == INSTANCE_READY ? instance : NULL;
	if (again)
		refresh_begin(server, running);
	else if (stale)
		refresh_changed(server, running);
	pool_release(&instance);
	hub_check_readies(hub);
	hub_read_unasked(hub);
	hub_server_drop(&server);
}

static void refresh_take(struct hub_server *server, const struct str *items, size_t count,
			 struct str instructions)
{
	bool known = server->snapshot != NULL;
	uint64_t hash = known ? server->snapshot->hash : 0;

	refresh_set(server, catalogue_build(server->namespace, items, count, instructions, loop_wall_ms(),
					    server->hub->limits.seed));
	refresh_save(server);
	if (server->snapshot && (!known || hash != server->snapshot->hash))
		hub_tools_changed(server->hub);
}

static void refresh_listed(struct mcp_listing *listing, const struct err *err)
{
	struct hub_refresh *refresh = listing->owner;

	struct err failure;

	if (!err) {
		refresh_take(refresh->server, listing->items, listing->count,
			     refresh->instance->client.facts.instructions);
		refresh_end(refresh, NULL);
		return;
	}
	failure = *err;
	if (err->code == ERR_TIMEOUT)
		instance_doubt(refresh->instance, &failure);
	refresh_end(refresh, &failure);
}

static void refresh_list(struct hub_refresh *refresh)
{
	const struct hub_limits *limits = &refresh->server->hub->limits;
	struct mcp_client *client = &refresh->instance->client;
	const struct mcp_listing_limits listing = {
		.pages_max = limits->pages_max,
		.items_max = limits->tools_max,
		.bytes_max = limits->list_max,
		.patience = { .idle_ms = limits->refresh_ms,
			      .total_ms = limits->refresh_ms,
			      .idle_setting = STR_INIT("daemon.refreshTimeout"),
			      .total_setting = STR_INIT("daemon.refreshTimeout") },
	};

	if (!client->facts.tools) {
		refresh_take(refresh->server, NULL, 0, client->facts.instructions);
		refresh_end(refresh, NULL);
		return;
	}
	mcp_listing_start(&refresh->listing, client, MCP_TOOLS_LIST, &listing, refresh_listed, refresh);
}

static void refresh_acquired(struct pool_acquire *acquire, struct instance *instance, const struct err *err)
{
	struct hub_refresh *refresh = acquire->owner;

	refresh->instance = instance;
	if (err)
		refresh_end(refresh, err);
	else
		refresh_list(refresh);
}

static void refresh_acquire(struct hub_refresh *refresh)
{
	const struct hub_server *server = refresh->server;
	struct hub_caller nobody = { 0 };

	refresh->queued = false;
	refresh->counted = true;
	server->hub->reading++;
	pool_acquire_start(
		&refresh->acquire, server->group,
		hub_scope_key(pool_group_scope(server->group), &nobody, STR("catalogue"), &refresh->arena),
		-1, server->hub->limits.refresh_ms, refresh_acquired, refresh);
}

static void refresh_through(struct hub_refresh *refresh, struct instance *instance)
{
	refresh->queued = false;
	instance_hold(instance);
	refresh->instance = instance;
	refresh_list(refresh);
}

/* -- whose turn it is ------------------------------------------------------------------------------------ */

/* Starting hundreds of servers in one turn of the loop would keep everybody else waiting. */
void refresh_begin_next(struct hub *hub)
{
	while (!hub->stopping && hub->reading < hub->limits.reads_max) {
		struct hub_refresh *next = NULL;
		struct hub_server *server;

		list_for_each(server, &hub->servers, node) {
			struct hub_refresh *refresh = server->refresh;

			if (refresh && refresh->queued && (!next || (refresh->asked && !next->asked)))
				next = refresh;
		}
		if (!next)
			return;
		refresh_acquire(next);
	}
}

void refresh_hurry(struct hub_server *server, bool now)
{
	struct hub_refresh *refresh = server->refresh;

	if (!refresh || !refresh->queued)
		return;
	refresh->asked = true;
	if (now)
		refresh_acquire(refresh);
}

void refresh_begin(struct hub_server *server, struct instance *instance)
{
	struct hub_refresh *refresh;

	if (!server->group || !server->config || server->hub->stopping)
		return;
	if (server->refresh && server->refresh->queued && instance) {
		refresh_through(server->refresh, instance);
		return;
	}
	if (server->refresh) {
		/* A refresh that waits for an instance will see what is new anyway. */
		server->again = server->refresh->instance != NULL;
		return;
	}
	refresh = xnew(struct hub_refresh);
	arena_init(&refresh->arena, 0);
	refresh->server = server;
	server->refresh = refresh;
	server->users++;
	if (instance) {
		refresh_through(refresh, instance);
		return;
	}
	refresh->queued = true;
	refresh_begin_next(server->hub);
}

static void refresh_read_change(struct hub_server *server, struct instance *instance)
{
	const struct hub *hub = server->hub;

	server->change_at = loop_now(hub->loop) + hub->limits.change_ms;
	refresh_begin(server, instance);
}

static void refresh_change_is_due(struct timer *timer)
{
	struct hub_server *server = container_of(timer, struct hub_server, change);

	refresh_read_change(server, server->group ? pool_group_find(server->group, server->changed) : NULL);
}

void refresh_changed(struct hub_server *server, struct instance *instance)
{
	uint64_t now = loop_now(server->hub->loop);

	server->changed = instance;
	if (server->refresh)
		/* As in refresh_begin(). */
		server->stale = server->refresh->instance != NULL;
	else if (now >= server->change_at)
		refresh_read_change(server, instance);
	else if (!timer_running(&server->change) && !server->hub->stopping)
		timer_start(&server->change, server->hub->loop, server->change_at - now,
			    refresh_change_is_due);
}

void refresh_cancel(struct hub_server *server)
{
	timer_stop(&server->change);
	if (server->refresh)
		refresh_free(server->refresh);
}

#include "base/base.h"
#include "hub/refresh.h"
#include "io/files.h"

enum { CACHE_FILE_MODE = 0600 };

struct hub_refresh {
	struct hub_server *server;
	struct pool_acquire acquire;
	struct instance *instance;
	struct mcp_listing listing;
	struct arena arena; /* of the scope key */
};

/* -- files --------------------------------------------------------------------------------------------------------------- */

struct hub_save {
	struct job job;
	struct hub *hub;
	char *path;
	struct str text;
	struct err err;
};

static void save_work(struct job *job)
{
	struct hub_save *save = container_of(job, struct hub_save, job);

	(void)file_write(save->path, save->text, &(struct file_write_options){ .mode = CACHE_FILE_MODE },
			 &save->err);
}

static void save_done(struct job *job, bool cancelled)
{
	struct hub_save *save = container_of(job, struct hub_save, job);
	struct hub *hub = save->hub;

	(void)cancelled;
	if (save->err.code)
		hub_tell_event(hub, LOG_LEVEL_WARN, STR("cache.write"), STR(""), str_of(save->err.message));
	free((char *)save->text.p);
	free(save->path);
	free(save);
	hub->saves--;
	hub_check_stopped(hub);
}

static char *cache_path(const struct hub *hub, struct str name)
{
	size_t size = strlen(hub->limits.cache_dir) + name.n + 2;
	char *path = xmalloc(size);

	snprintf(path, size, "%s/%.*s", hub->limits.cache_dir, STR_ARG(name));
	return path;
}

void hub_save_file(struct hub *hub, struct str name, struct str text)
{
	struct hub_save *save = xnew(struct hub_save);

	save->hub = hub;
	save->path = cache_path(hub, name);
	save->text = text;
	hub->saves++;
	loop_work(hub->loop, &save->job, save_work, save_done);
}

static struct str schemas_name(const struct hub_server *server, struct arena *arena)
{
	return arena_printf(arena, "schemas-%.*s.json", STR_ARG(server->pool_id));
}

void refresh_load_cached(struct hub_server *server)
{
	struct hub *hub = server->hub;
	_cleanup_arena_ struct arena arena = { 0 };
	struct catalogue_snapshot *snapshot;
	_cleanup_free_ char *path = NULL;
	struct str text;

	arena_init(&arena, 0);
	if (!hub->limits.cache_dir)
		return;
	path = cache_path(hub, schemas_name(server, &arena));
	if (file_read(path, hub->limits.list_max, &text, NULL) < 0)
		return;
	/* A damaged cache is as good as none: the server will be asked. */
	if (catalogue_decode(text, server->namespace, hub->limits.seed, &snapshot, NULL) == 0)
		server->snapshot = snapshot;
	free((char *)text.p);
}

static void refresh_save(struct hub_server *server)
{
	struct hub *hub = server->hub;
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_buf_ struct buf out = { 0 };

	arena_init(&arena, 0);
	buf_init(&out, hub->limits.list_max);
	if (hub->limits.cache_dir && catalogue_encode(server->snapshot, &out) == 0)
		hub_save_file(hub, schemas_name(server, &arena), buf_take(&out));
}

/* -- one refresh --------------------------------------------------------------------------------------------------------- */

static void refresh_free(struct hub_refresh *refresh)
{
	struct hub_server *server = refresh->server;

	server->refresh = NULL;
	mcp_listing_release(&refresh->listing);
	pool_acquire_cancel(&refresh->acquire);
	pool_release(&refresh->instance);
	arena_release(&refresh->arena);
	loop_free_later(server->hub->loop, refresh);
	hub_server_drop(&server);
}

static void refresh_end(struct hub_refresh *refresh, const struct err *err)
{
	struct hub_server *server = refresh->server;
	struct hub *hub = server->hub;
	bool again = server->stale && !err;

	server->refresh_err = err ? *err : (struct err){ 0 };
	if (err)
		hub_tell_event(hub, LOG_LEVEL_WARN, STR("server.list"), server->name, str_of(err->message));
	server->stale = false;
	server->users++;
	refresh_free(refresh);
	if (again && server->config)
		refresh_begin(server, NULL);
	hub_check_readies(hub);
	hub_server_drop(&server);
}

static void refresh_take(struct hub_server *server, const struct str *items, size_t count,
			 struct str instructions)
{
	struct catalogue_snapshot *old = server->snapshot;

	server->snapshot = catalogue_build(server->namespace, items, count, instructions, loop_wall_ms(),
					   server->hub->limits.seed);
	refresh_save(server);
	if (!old || old->hash != server->snapshot->hash)
		hub_tools_changed(server->hub);
	catalogue_unref(&old);
}

static void refresh_listed(struct mcp_listing *listing, const struct err *err)
{
	struct hub_refresh *refresh = listing->owner;

	if (!err)
		refresh_take(refresh->server, listing->items, listing->count,
			     refresh->instance->client.facts.instructions);
	refresh_end(refresh, err);
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

void refresh_begin(struct hub_server *server, struct instance *instance)
{
	struct hub_refresh *refresh;
	struct hub_caller nobody = { 0 };

	if (!server->group)
		return;
	if (server->refresh) {
		/* A refresh that waits for an instance will see what is new anyway. */
		server->stale = server->refresh->instance != NULL;
		return;
	}
	refresh = xnew(struct hub_refresh);
	arena_init(&refresh->arena, 0);
	refresh->server = server;
	server->refresh = refresh;
	server->users++;
	if (instance) {
		instance_hold(instance);
		refresh->instance = instance;
		refresh_list(refresh);
		return;
	}
	pool_acquire_start(
		&refresh->acquire, server->group,
		hub_scope_key(pool_group_scope(server->group), &nobody, STR("catalogue"), &refresh->arena),
		server->hub->limits.acquire_ms, refresh_acquired, refresh);
}

void refresh_cancel(struct hub_server *server)
{
	if (server->refresh)
		refresh_free(server->refresh);
}

#include "base/base.h"
#include "hub/hub.h"
#include "hub/eras.h"
#include "hub/filter.h"
#include "hub/prune.h"
#include "hub/refresh.h"
#include "hub/save.h"
#include "hub/server.h"
#include "io/files.h"

/* -- listeners ------------------------------------------------------------------------------------------- */

void hub_listen(struct hub *hub, struct hub_listener *listener)
{
	list_append(&hub->listeners, &listener->node);
}

void hub_unlisten(struct hub_listener *listener)
{
	list_remove(&listener->node);
}

void hub_tell_event(struct hub *hub, enum log_level level, struct str event, struct str server,
		    struct str detail)
{
	struct hub_listener *listener;

	list_for_each(listener, &hub->listeners, node)
		if (listener->event)
			listener->event(listener, level, event, server, detail);
}

void hub_tools_changed(struct hub *hub)
{
	struct hub_listener *listener;

	hub->generation++;
	list_for_each(listener, &hub->listeners, node)
		if (listener->tools_changed)
			listener->tools_changed(listener);
}

/* -- eras ------------------------------------------------------------------------------------------------ */

static void hub_load_eras(struct hub *hub)
{
	_cleanup_free_ char *path = NULL;
	struct str text = { NULL, 0 };

	if (hub->limits.keep_eras && hub->limits.cache_dir) {
		path = save_path(hub, STR(ERAS_FILE));
		if (file_read(path, ERAS_FILE_MAX, &text, NULL) < 0)
			text = str_make(NULL, 0);
	}
	hub->eras = eras_new(text, hub->limits.seed);
	free((char *)text.p);
}

void hub_remember_era(struct hub *hub, struct str process_id, int era)
{
	_cleanup_buf_ struct buf out = { 0 };

	if (!eras_set(hub->eras, process_id, era) || !hub->limits.keep_eras || !hub->limits.cache_dir)
		return;
	buf_init(&out, ERAS_FILE_MAX);
	if (eras_write(hub->eras, &out) == 0)
		save_file(hub, STR(ERAS_FILE), buf_take(&out));
}

/* -- the pool's events ----------------------------------------------------------------------------------- */

static struct hub_server *hub_server_of(struct hub *hub, const struct pool_group *group)
{
	struct hub_server *server;

	list_for_each(server, &hub->servers, node)
		if (server->group == group)
			return server;
	return NULL;
}

static void hub_instance_started(void *context, struct pool_group *group, struct instance *instance)
{
	struct hub *hub = context;
	struct hub_server *server;

	list_for_each(server, &hub->servers, node) {
		if (server->group != group)
			continue;
		hub_remember_era(hub, server->process_id, (int)mcp_era_of(instance->client.facts.revision));
		hub_tell_event(hub, LOG_LEVEL_INFO, STR("server.start"), server->name, instance->id);
		refresh_begin(server, instance);
	}
}

static void hub_instance_stopped(void *context, struct pool_group *group, struct instance *instance)
{
	struct hub *hub = context;
	const struct hub_server *server = hub_server_of(hub, group);

	if (!server)
		return;
	if (!instance->was_ready && !instance->asked)
		hub_remember_era(hub, server->process_id, -1);
	hub_tell_event(hub, instance->asked ? LOG_LEVEL_INFO : LOG_LEVEL_WARN, STR("server.stop"),
		       server->name, str_of(instance->ended.message));
}

static void hub_instance_silent(void *context, struct pool_group *group, struct instance *instance)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct hub *hub = context;
	const struct hub_server *server = hub_server_of(hub, group);

	arena_init(&arena, 0);
	if (server)
		hub_tell_event(hub, LOG_LEVEL_WARN, STR("server.silent"), server->name,
			       arena_printf(&arena, "%.*s is replaced: %s (pool.pingTimeout)",
					    STR_ARG(instance->id), instance->retired));
}

/* The call that alone runs at that instance; NULL when there is none, or another. */
static struct hub_call *hub_only_call(struct hub *hub, const struct instance *instance)
{
	struct hub_call *call, *only = NULL;

	list_for_each(call, &hub->calls, node) {
		if (call->instance != instance)
			continue;
		if (only)
			return NULL;
		only = call;
	}
	return only;
}

/* Nothing on a server's output says to which call a log message belongs (2026-07-28 on stdio no less): it is
 * given to nobody who might be the wrong one. */
static void hub_relay_log(struct hub *hub, const struct instance *instance, struct str params)
{
	struct hub_call *call = hub_only_call(hub, instance);
	_cleanup_arena_ struct arena arena = { 0 };
	struct mcp_log log;

	arena_init(&arena, 0);
	if (call && call->spec.logged && mcp_log_read(params, &arena, &log))
		call->spec.logged(call, &log);
}

static void hub_instance_notified(void *context, struct pool_group *group, struct instance *instance,
				  enum mcp_method method, const struct jsonrpc_message *message)
{
	struct hub *hub = context;
	struct hub_server *server;

	if (method == MCP_LOG_MESSAGE)
		hub_relay_log(hub, instance, message->params);
	list_for_each(server, &hub->servers, node) {
		if (server->group != group)
			continue;
		if (method == MCP_TOOLS_CHANGED && instance->state == INSTANCE_READY)
			refresh_changed(server, instance);
		else if (method == MCP_LOG_MESSAGE)
			hub_tell_event(hub, LOG_LEVEL_DEBUG, STR("server.log"), server->name,
				       message->params);
	}
}

/* -- reading unasked ------------------------------------------------------------------------------------- */

/* In how many ms the list of a server is read without being asked for; UINT64_MAX: it is not. */
static uint64_t server_reading_in(const struct hub_server *server)
{
	uint64_t now = loop_now(server->hub->loop), wait;

	if ((server->snapshot && server->read) || !server->group || server->refresh)
		return UINT64_MAX;
	wait = pool_group_retry_in(server->group);
	return server->refresh_at > now + wait ? server->refresh_at - now : wait;
}

static void hub_retry(struct timer *timer)
{
	struct hub *hub = container_of(timer, struct hub, retry);
	struct hub_server *server;

	list_for_each(server, &hub->servers, node)
		if (server_reading_in(server) == 0)
			refresh_begin(server, NULL);
	hub_read_unasked(hub);
}

void hub_read_unasked(struct hub *hub)
{
	uint64_t soonest = UINT64_MAX;
	struct hub_server *server;

	timer_stop(&hub->retry);
	if (!hub->limits.warm || hub->stopping)
		return;
	list_for_each(server, &hub->servers, node) {
		uint64_t wait = server_reading_in(server);

		soonest = wait < soonest ? wait : soonest;
	}
	if (soonest < UINT64_MAX)
		timer_start(&hub->retry, hub->loop, soonest, hub_retry);
}

/* -- configuration --------------------------------------------------------------------------------------- */

static void hub_move_servers(struct list_node *from, struct list_node *to)
{
	while (!list_empty(from)) {
		struct hub_server *server = list_first(from, struct hub_server, node);

		list_remove(&server->node);
		list_append(to, &server->node);
	}
}

/* The server of this entry, taken off `old` when it was there before. */
static struct hub_server *hub_adopt(struct hub *hub, struct list_node *old, const struct config_server *entry,
				    unsigned *added)
{
	struct hub_server *server;

	list_for_each(server, old, node)
		if (str_eq(server->name, entry->name) && str_eq(server->namespace, entry->namespace)) {
			list_remove(&server->node);
			return server;
		}
	(*added)++;
	return server_new(hub, entry);
}

static void hub_configure(struct hub *hub, const struct config *config, unsigned *ret_added,
			  unsigned *ret_removed)
{
	struct hub_server *attached;
	struct list_node old;

	list_init(&old);
	*ret_added = *ret_removed = 0;
	hub->config = config;
	hub_move_servers(&hub->servers, &old);
	for (size_t i = 0; i < config->server_count; i++) {
		const struct config_server *entry = &config->servers[i];
		struct hub_server *server;

		if (entry->disabled)
			continue;
		server = hub_adopt(hub, &old, entry, ret_added);
		server->config = entry;
		list_append(&hub->servers, &server->node);
	}
	/* When all know what they are: those that share a process look at each other. */
	list_for_each(attached, &hub->servers, node)
		server_attach(attached);
	while (!list_empty(&old)) {
		server_remove(list_first(&old, struct hub_server, node));
		(*ret_removed)++;
	}
}

void hub_reload(struct hub *hub, const struct config *config, unsigned *ret_added, unsigned *ret_removed)
{
	unsigned added, removed;

	hub_configure(hub, config, &added, &removed);
	ready_ask_again(hub);
	hub_read_unasked(hub);
	hub_tools_changed(hub);
	prune_begin(hub);
	if (ret_added)
		*ret_added = added;
	if (ret_removed)
		*ret_removed = removed;
}

void hub_adjust(struct hub *hub, const struct hub_limits *limits)
{
	struct hub_server *server;

	hub->limits = *limits;
	pool_adjust(hub->pool, &hub->limits.pool);
	list_for_each(server, &hub->servers, node)
		server_adjust(server);
	refresh_begin_next(hub);
	ready_ask_again(hub);
	hub_read_unasked(hub);
}

/* -- finding --------------------------------------------------------------------------------------------- */

static int hub_unknown_server(struct hub *hub, struct str name, struct err *err)
{
	_cleanup_buf_ struct buf names = { .max = ERR_MESSAGE_MAX / 2 };
	struct str known = STR("; none is configured");
	const struct config_server *off = config_find(hub->config, name);
	struct hub_server *server;

	if (off)
		return err_set(err, ERR_NOT_FOUND,
			       "the server \"%.*s\" is switched off (disabled, enabled or default in %s:%u)",
			       STR_ARG(name), off->file.p, off->line);
	list_for_each(server, &hub->servers, node)
		(void)buf_printf(&names, "%s%.*s",
				 names.n ? ", " : "; there are: ", STR_ARG(server->namespace));
	if (buf_failed(&names))
		known = STR("; `mcpx ls` lists those there are");
	else if (names.n)
		known = buf_str(&names);
	return err_set(err, ERR_NOT_FOUND, "no server is called \"%.*s\"%.*s", STR_ARG(name), STR_ARG(known));
}

struct hub_server *hub_server_find(struct hub *hub, struct str name, struct err *err)
{
	struct hub_server *server;

	list_for_each(server, &hub->servers, node)
		if (str_eq(server->namespace, name) || str_eq(server->name, name))
			return server;
	(void)hub_unknown_server(hub, name, err);
	return NULL;
}

static bool server_in(const struct hub_server *server, const struct setting_items *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (str_eq(names->items[i], server->name) || str_eq(names->items[i], server->namespace))
			return true;
	return false;
}

/* How good a server's claim to a name at the door is, best last. */
enum claim { CLAIM_NONE, CLAIM_PREFIX, CLAIM_FULL, CLAIM_LISTED, CLAIM_OWN };

static enum claim server_claim(const struct hub_server *server, struct str name,
			       const struct setting_items *passthrough, struct str *ret_tool)
{
	const struct catalogue_tool *tool = server->snapshot ? catalogue_find(server->snapshot, name) : NULL;
	struct str rest = str_from(name, server->namespace.n);

	if (tool)
		*ret_tool = tool->name;
	if (tool && str_eq(tool->name, name) && server_in(server, passthrough))
		return CLAIM_OWN;
	if (tool && str_eq(tool->listed_name, name))
		return CLAIM_LISTED;
	if (tool && str_eq(tool->full_name, name))
		return CLAIM_FULL;
	/* Not known yet, or not any more. */
	if (!str_starts_with(name, server->namespace) || !str_starts_with(rest, STR("__")) || rest.n == 2)
		return CLAIM_NONE;
	*ret_tool = str_from(rest, 2);
	return filter_allows(&server->config->filter, *ret_tool) ? CLAIM_PREFIX : CLAIM_NONE;
}

int hub_resolve_tool(struct hub *hub, struct str name, const struct setting_items *passthrough,
		     struct arena *arena, struct hub_server **ret_server, struct str *ret_tool,
		     struct err *err)
{
	struct hub_server *server, *best = NULL;
	enum claim best_claim = CLAIM_NONE;
	struct str tool, best_tool = { NULL, 0 };

	list_for_each(server, &hub->servers, node) {
		enum claim claim = server_claim(server, name, passthrough, &tool);

		if (claim < best_claim || claim == CLAIM_NONE ||
		    (claim == best_claim && server->namespace.n <= best->namespace.n))
			continue;
		best = server;
		best_claim = claim;
		best_tool = tool;
	}
	if (!best)
		return err_set(err, ERR_NOT_FOUND, "no tool is called \"%.*s\"", STR_ARG(name));
	*ret_server = best;
	*ret_tool = arena_copy(arena, best_tool);
	return 0;
}

const struct catalogue_snapshot *const *hub_snapshots(struct hub *hub, struct arena *arena, size_t *ret_count)
{
	const struct catalogue_snapshot **snapshots;
	struct hub_server *server;
	size_t count = 0;

	list_for_each(server, &hub->servers, node)
		count++;
	snapshots = arena_array(arena, const struct catalogue_snapshot *, count + 1);
	count = 0;
	list_for_each(server, &hub->servers, node)
		if (server->snapshot)
			snapshots[count++] = server->snapshot;
	*ret_count = count;
	return snapshots;
}

void hub_want_logs(struct hub *hub, enum mcp_log_level level)
{
	pool_want_logs(hub->pool, level);
}

/* -- life ------------------------------------------------------------------------------------------------ */

struct hub *hub_new(struct loop *loop, const struct hub_limits *limits, const struct settings *settings,
		    const struct config *config, struct environment environment)
{
	struct hub *hub = xnew(struct hub);
	const struct pool_events events = {
		.started = hub_instance_started,
		.stopped = hub_instance_stopped,
		.silent = hub_instance_silent,
		.notified = hub_instance_notified,
		.context = hub,
	};
	unsigned added, removed;

	hub->loop = loop;
	hub->limits = *limits;
	hub->settings = settings;
	hub->environment = environment;
	list_init(&hub->servers);
	list_init(&hub->calls);
	list_init(&hub->listeners);
	list_init(&hub->readies);
	list_init(&hub->saves);
	hub_load_eras(hub);
	hub->pool = pool_new(loop, &hub->limits.pool, &events);
	hub_configure(hub, config, &added, &removed);
	prune_begin(hub);
	hub_read_unasked(hub);
	return hub;
}

static void hub_pool_stopped(void *context)
{
	struct hub *hub = context;

	hub->pool_stopped = true;
	hub_check_stopped(hub);
}

static void hub_tell_stopped(struct deferred *deferred)
{
	struct hub *hub = container_of(deferred, struct hub, told);

	if (hub->stopped)
		take_ptr(hub->stopped)(hub->stopped_context);
}

void hub_check_stopped(struct hub *hub)
{
	if (hub->pool_stopped && list_empty(&hub->saves) && !hub->prune && list_empty(&hub->calls))
		loop_defer(hub->loop, &hub->told, hub_tell_stopped);
}

void hub_stop(struct hub *hub, void (*stopped)(void *context), void *context)
{
	struct hub_server *server;

	hub->stopping = true;
	hub->stopped = stopped;
	hub->stopped_context = context;
	timer_stop(&hub->retry);
	list_for_each(server, &hub->servers, node)
		refresh_cancel(server);
	hub_check_readies(hub);
	pool_stop(hub->pool, hub_pool_stopped, hub);
}

void hub_free(struct hub **freed)
{
	struct hub *hub = *freed;

	*freed = NULL;
	if (!hub)
		return;
	BUG_ON(!list_empty(&hub->calls) || !list_empty(&hub->readies));
	timer_stop(&hub->retry);
	prune_cancel(hub);
	while (!list_empty(&hub->servers))
		server_remove(list_first(&hub->servers, struct hub_server, node));
	deferred_cancel(&hub->read_next);
	deferred_cancel(&hub->told);
	pool_free(&hub->pool);
	eras_free(&hub->eras);
	free(hub);
}

#include "base/base.h"
#include "settings/config_private.h"

#include <stdarg.h>

#include "base/quote.h"
#include "text/identifier.h"

/* Whether the server is to be used: not switched off, and no mistake found so far. */
static bool active(const struct config_server *server)
{
	return !server->disabled && !server->error;
}

_printf_(4, 5) static void reject(struct config_loader *l, struct config_server *server, int code,
				  const char *format, ...)
{
	struct err *err = arena_new(l->arena, struct err);
	char problem[ERR_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(problem, sizeof(problem), format, args);
	va_end(args);
	err_set(err, code, "%s:%u:%u: server %s: %s", server->file.p, server->line, server->column,
		QUOTE(server->name), problem);
	err->line = server->line;
	err->column = server->column;
	server->error = err;
}

static void resolve_alias(struct config_loader *l, struct config_server *server)
{
	struct config_server_node *target;

	if (server->alias_of.n == 0 || !active(server))
		return;
	target = map_get(&l->names, server->alias_of);
	if (!target)
		reject(l, server, ERR_NOT_FOUND, "aliasOf: there is no server %s", QUOTE(server->alias_of));
	else if (target->server.alias_of.n > 0)
		reject(l, server, ERR_INVALID,
		       "aliasOf: %s is an alias itself; name the server that it stands for",
		       QUOTE(server->alias_of));
	else if (target->server.error)
		reject(l, server, target->server.error->code, "aliasOf: %s", target->server.error->message);
	else
		server->process = target->server.process;
}

/* Off unless chosen: mcpx.default, else pool.default, decides where no profile is chosen. */
static void apply_default(struct config_loader *l, struct config_server *server)
{
	const struct config_block *own = server->block, *pool = &l->contents->pool;
	bool on = true;

	if (own->given[FIELD_DEFAULT])
		on = own->values[FIELD_DEFAULT].u.truth;
	else if (pool->given[FIELD_DEFAULT])
		on = pool->values[FIELD_DEFAULT].u.truth;
	if (!on)
		server->disabled = true;
}

static void claim_namespace(struct config_loader *l, struct config_server *server, struct map *taken)
{
	const struct config_server *other;

	if (server->block->given[FIELD_NAMESPACE])
		server->namespace = server->block->values[FIELD_NAMESPACE].text;
	else
		server->namespace =
			arena_copy(l->arena, identifier_of(l->arena, server->name, IDENTIFIER_NAMESPACE));
	if (!active(server))
		return;
	other = map_get(taken, server->namespace);
	if (other)
		reject(l, server, ERR_EXISTS,
		       "its namespace %s belongs to server %s (%s:%u): give one of them another with mcpx.namespace",
		       server->namespace.p, QUOTE(other->name), other->file.p, other->line);
	else
		map_set(taken, server->namespace, server);
}

/* The number that a server without one of its own goes by: of the files the nearest counts, a flag or the
 * environment more. */
static int64_t pool_number(const struct config_loader *l, enum setting setting)
{
	/* What the set has from files is from before a reload. */
	if (settings_source(l->set, setting) > SETTING_FROM_FILE)
		return settings_int(l->set, setting);
	for (const struct config_setting *s = l->contents->settings; s; s = s->next)
		if (s->setting == setting)
			return s->value.u.number;
	return settings_slot(l->set, setting)->layers[SETTING_FROM_DEFAULT]->value.u.number;
}

/* A scope of global makes the most one, and whatever is the least with it: that is no mistake. */
static void check_limits(struct config_loader *l, struct config_server *server)
{
	const struct config_block *own = server->block;
	bool own_min = own->given[FIELD_MIN], own_max = own->given[FIELD_MAX];
	int64_t min = own_min ? own->values[FIELD_MIN].u.number : pool_number(l, SETTING_POOL_MIN);
	int64_t max = own_max ? own->values[FIELD_MAX].u.number : pool_number(l, SETTING_POOL_MAX);

	if (active(server) && min > max)
		reject(l, server, ERR_INVALID, "%s.min is %lld and %s.max only %lld",
		       own_min ? "mcpx" : "pool", (long long)min, own_max ? "mcpx" : "pool", (long long)max);
}

static bool variable_is_set(const struct config_loader *l, const struct config_server *server,
			    struct str name)
{
	for (size_t i = 0; i < server->process.env_count; i++)
		if (str_eq(server->process.env[i].name, name))
			return server->process.env[i].value.n > 0;
	return environment_get(l->environment, name).n > 0;
}

static void check_secrets(struct config_loader *l, struct config_server *server)
{
	if (!active(server))
		return;
	for (size_t i = 0; i < server->secrets.count; i++)
		if (!variable_is_set(l, server, server->secrets.items[i])) {
			reject(l, server, ERR_INVALID,
			       "mcpx.requiresSecrets: the variable %s is not set in our environment or the entry's env",
			       server->secrets.items[i].p);
			return;
		}
}

/* True when the server was rejected. */
static bool lacks_server(struct config_loader *l, struct config_server *server, const struct map *namespaces)
{
	struct setting_items needed = server->block->values[FIELD_REQUIRES_SERVERS].u.items;

	if (!active(server) || !server->block->given[FIELD_REQUIRES_SERVERS])
		return false;
	for (size_t i = 0; i < needed.count; i++) {
		const struct config_server *other = map_get(namespaces, needed.items[i]);

		if (other && active(other))
			continue;
		reject(l, server, ERR_NOT_FOUND,
		       "mcpx.requiresServers: no server that is on has the namespace %s",
		       QUOTE(needed.items[i]));
		return true;
	}
	return false;
}

/* One server that needs a namespace, and the next that does. */
struct need {
	struct config_server *server;
	struct need *next;
};

static void note_needs(struct config_server *server, struct map *needs, struct arena *arena)
{
	struct setting_items needed = server->block->values[FIELD_REQUIRES_SERVERS].u.items;

	if (!server->block->given[FIELD_REQUIRES_SERVERS])
		return;
	for (size_t i = 0; i < needed.count; i++) {
		struct need *need = arena_new(arena, struct need);

		*need = (struct need){ server, map_get(needs, needed.items[i]) };
		map_set(needs, needed.items[i], need);
	}
}

/* One that falls takes those with it that need it: only these are looked at again. */
static void check_servers(struct config_loader *l, const struct map *namespaces)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct config_server **fallen;
	struct map needs; /* namespace -> struct need */
	size_t count = 0;

	arena_init(&arena, 0);
	map_init(&needs, 0);
	fallen = arena_array(&arena, struct config_server *, map_count(&l->names));
	for (struct config_server_node *node = l->servers; node; node = node->next) {
		note_needs(&node->server, &needs, &arena);
		if (lacks_server(l, &node->server, namespaces))
			fallen[count++] = &node->server;
	}
	while (count > 0) {
		const struct need *need = map_get(&needs, fallen[--count]->namespace);

		for (; need; need = need->next)
			if (lacks_server(l, need->server, namespaces))
				fallen[count++] = need->server;
	}
	map_release(&needs);
}

static struct setting_items patterns_of(const struct config_block *block, enum config_field field)
{
	return block->given[field] ? block->values[field].u.items : (struct setting_items){ NULL, 0 };
}

static void apply_pool(struct config_loader *l, struct config_server *server)
{
	const struct config_block *own = server->block, *pool = &l->contents->pool;
	struct setting_items tools = patterns_of(own, FIELD_TOOLS);

	server->filter = (struct config_filter){
		.tools = tools.count > 0 ? tools : patterns_of(pool, FIELD_TOOLS),
		.extra = setting_items_join(patterns_of(pool, FIELD_EXTRA_INCLUDE_TOOLS),
					    patterns_of(own, FIELD_EXTRA_INCLUDE_TOOLS), l->arena),
		.excluded = setting_items_join(patterns_of(pool, FIELD_EXCLUDE_TOOLS),
					       patterns_of(own, FIELD_EXCLUDE_TOOLS), l->arena),
	};
}

static bool precondition_holds(const struct config_loader *l, const struct config_server *server,
			       const struct config_precondition *precondition, const struct map *namespaces)
{
	const struct config_server *other;

	if (!precondition->server)
		return variable_is_set(l, server, precondition->needed);
	other = map_get(namespaces, precondition->needed);
	return other && active(other);
}

/* Hides the tools that lack something. Once it is known which servers are on. */
static void apply_preconditions(struct config_loader *l, struct config_server *server,
				const struct map *namespaces)
{
	const struct config_block *own = server->block;
	struct str *hidden = arena_array(l->arena, struct str, own->precondition_count + 1);
	size_t count = 0;

	for (size_t i = 0; i < own->precondition_count; i++)
		if (!precondition_holds(l, server, &own->preconditions[i], namespaces))
			hidden[count++] = own->preconditions[i].tools;
	server->filter.excluded = setting_items_join(server->filter.excluded,
						     (struct setting_items){ hidden, count }, l->arena);
}

static void fill_servers(struct config_loader *l, struct config *config)
{
	struct config_server *servers;
	size_t at = 0;

	servers = arena_array(l->arena, struct config_server, map_count(&l->names) + 1);
	for (struct config_server_node *node = l->servers; node; node = node->next)
		servers[at++] = node->server;
	config->servers = servers;
	config->server_count = at;
}

static void fill_sources(struct config_loader *l, struct config *config)
{
	struct config_source *sources;
	size_t count = 0;

	for (struct config_source_node *node = l->sources; node; node = node->next)
		count++;
	sources = arena_array(l->arena, struct config_source, count + 1);
	for (struct config_source_node *node = l->sources; node; node = node->next)
		sources[config->source_count++] = node->source;
	config->sources = sources;
}

static void fill_ignored(struct config_loader *l, struct config *config)
{
	struct config_ignored_key *ignored;
	size_t count = 0;

	for (struct config_ignored_node *node = l->ignored; node; node = node->next)
		count++;
	ignored = arena_array(l->arena, struct config_ignored_key, count + 1);
	for (struct config_ignored_node *node = l->ignored; node; node = node->next)
		ignored[config->ignored_count++] = node->key;
	config->ignored = ignored;
}

void config_merge(struct config_loader *l, struct config *config)
{
	struct map namespaces;

	map_init(&namespaces, 0);
	for (struct config_server_node *node = l->servers; node; node = node->next) {
		apply_default(l, &node->server);
		resolve_alias(l, &node->server);
	}
	for (struct config_server_node *node = l->servers; node; node = node->next) {
		apply_pool(l, &node->server);
		check_limits(l, &node->server);
		check_secrets(l, &node->server);
		claim_namespace(l, &node->server, &namespaces);
	}
	check_servers(l, &namespaces);
	for (struct config_server_node *node = l->servers; node; node = node->next)
		apply_preconditions(l, &node->server, &namespaces);
	map_release(&namespaces);
	fill_servers(l, config);
	fill_sources(l, config);
	fill_ignored(l, config);
}

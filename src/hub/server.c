/*
 * One entry of the configuration made into something that can be called: its process definition, its group in the pool, its snapshot.
 */
#include "base/base.h"
#include "hub/server.h"
#include "hub/eras.h"
#include "hub/refresh.h"
#include "base/ids.h"
#include "base/units.h"

#include <openssl/evp.h>

/* The words of the settings and of hub/caller.h are the same, in the same order. */
_Static_assert((int)CHOICE_POOL_SCOPE_GLOBAL == (int)HUB_SCOPE_GLOBAL, "scopes");
_Static_assert((int)CHOICE_POOL_SCOPE_CALL == (int)HUB_SCOPE_CALL, "scopes");
_Static_assert((int)CHOICE_UPSTREAM_PROTOCOL_PREFER_DISCOVER == (int)MCP_PREFER_DISCOVER, "opening orders");
_Static_assert((int)CHOICE_UPSTREAM_PROTOCOL_FORCE_INITIALIZE == (int)MCP_FORCE_INITIALIZE, "opening orders");

void hub_server_drop(struct hub_server **dropped)
{
	struct hub_server *server = *dropped;

	*dropped = NULL;
	if (!server)
		return;
	BUG_ON(server->users == 0);
	if (--server->users)
		return;
	list_remove(&server->node);
	catalogue_unref(&server->snapshot);
	pool_group_drop(&server->group);
	arena_release(&server->arena);
	loop_free_later(server->hub->loop, server);
}

static void digest_add(EVP_MD_CTX *digest, struct str text)
{
	uint64_t n = text.n;

	/* The length in front keeps ("a", "bc") and ("ab", "c") apart. */
	BUG_ON(EVP_DigestUpdate(digest, &n, sizeof(n)) != 1 || EVP_DigestUpdate(digest, text.p, text.n) != 1);
}

/* The first 16 digits of a SHA-256 over all that makes a process what it is: equal ids share their processes. */
static struct str pool_id_of(const struct pool_definition *d, struct arena *arena)
{
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	unsigned char hash[EVP_MAX_MD_SIZE];
	char digits[17];

	BUG_ON(!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1);
	for (const char *const *arg = d->argv; *arg; arg++)
		digest_add(digest, str_of(*arg));
	digest_add(digest, str_of(d->cwd));
	for (const char *const *variable = d->env; *variable; variable++)
		digest_add(digest, str_of(*variable));
	digest_add(digest, arena_printf(arena, "%u %d %u %u %llu %llu %u", (unsigned)d->scope, d->exclusive,
					d->max, d->min, (unsigned long long)d->idle_ms,
					(unsigned long long)d->start_ms, (unsigned)d->order));
	BUG_ON(EVP_DigestFinal_ex(digest, hash, NULL) != 1);
	EVP_MD_CTX_free(digest);
	hex_encode(digits, hash, (sizeof(digits) - 1) / 2);
	return arena_copy(arena, str_make(digits, sizeof(digits) - 1));
}

static const char *const *server_argv(const struct config_process *process, struct arena *arena)
{
	const char **argv = arena_array(arena, const char *, process->args.count + 2);

	argv[0] = process->command.p;
	for (size_t i = 0; i < process->args.count; i++)
		argv[i + 1] = process->args.items[i].p;
	return argv;
}

/* What the pool needs; all in the arena, for the length of pool_group_use(). */
static void server_define(const struct hub_server *server, struct pool_definition *d, struct arena *arena)
{
	const struct hub *hub = server->hub;
	const struct config_process *process = &server->config->process;
	struct config_limits limits;

	config_server_limits(server->config, hub->settings, &limits);
	*d = (struct pool_definition){
		.name = server->name,
		.argv = server_argv(process, arena),
		.env = environment_with(&hub->environment, process->env, process->env_count, arena),
		.cwd = process->cwd.n ? process->cwd.p : NULL,
		.scope = (enum hub_scope)limits.scope,
		.exclusive = limits.sharing == CHOICE_POOL_SHARING_EXCLUSIVE,
		.max = (unsigned)limits.max,
		.min = (unsigned)limits.min,
		.idle_ms = limits.idle_ms,
		.start_ms = limits.start_ms,
		.order = (enum mcp_open_order)(
			server->config->protocol >= 0
				? (unsigned)server->config->protocol
				: settings_choice(hub->settings, SETTING_UPSTREAM_PROTOCOL)),
	};
	d->id = pool_id_of(d, arena);
	d->known_era = eras_get(hub->eras, d->id);
}

void server_attach(struct hub_server *server)
{
	struct pool_group *old = take_ptr(server->group);
	struct config_limits limits;
	struct pool_definition d;
	_cleanup_arena_ struct arena arena = { 0 };

	arena_init(&arena, 0);
	if (server->config->error)
		server->err = *server->config->error;
	else if (server->config->process.transport != CONFIG_STDIO)
		err_set(&server->err, ERR_UNSUPPORTED,
			"server %.*s (%.*s:%u): servers behind a url are not part of this version; give it a command",
			STR_ARG(server->name), STR_ARG(server->config->file), server->config->line);
	else
		server->err.code = 0;
	if (!server->err.code) {
		config_server_limits(server->config, server->hub->settings, &limits);
		server->call_ms = limits.call_ms;
		server_define(server, &d, &arena);
		server->group = pool_group_use(server->hub->pool, &d);
		if (!str_eq(server->pool_id, d.id)) {
			server->pool_id = arena_copy(&server->arena, d.id);
			refresh_cancel(server);
			catalogue_unref(&server->snapshot);
			refresh_load_cached(server);
		}
	}
	pool_group_drop(&old);
}

struct hub_server *server_new(struct hub *hub, const struct config_server *config)
{
	struct hub_server *server = xnew(struct hub_server);

	arena_init(&server->arena, 0);
	server->hub = hub;
	server->users = 1;
	server->name = arena_copy(&server->arena, config->name);
	server->namespace = arena_copy(&server->arena, config->namespace);
	server->description = arena_copy(&server->arena, config->description);
	list_init(&server->node);
	return server;
}

void server_remove(struct hub_server *server)
{
	refresh_cancel(server);
	list_remove(&server->node);
	server->config = NULL;
	hub_server_drop(&server);
}

static void describe_error(const struct hub_server *server, struct json_writer *w)
{
	const struct err *start = server->group ? pool_group_error(server->group) : &server->err;
	const struct err *err = start->code ? start : &server->refresh_err;

	if (err->code)
		json_member_str(w, STR("lastError"), str_of(err->message));
	if (server->group && pool_group_retry_in(server->group))
		json_member_u64(w, STR("retryInSec"), pool_group_retry_in(server->group) / MS_PER_SECOND + 1);
}

void hub_server_describe(const struct hub_server *server, struct json_writer *w)
{
	const struct catalogue_snapshot *snapshot = server->snapshot;
	struct config_limits limits;

	config_server_limits(server->config, server->hub->settings, &limits);
	json_write_object_begin(w);
	json_member_str(w, STR("name"), server->name);
	json_member_str(w, STR("namespace"), server->namespace);
	json_member_str(w, STR("sharing"),
			limits.sharing == CHOICE_POOL_SHARING_EXCLUSIVE ? STR("exclusive") : STR("shared"));
	json_member_str(w, STR("scope"), str_of(hub_scope_name((enum hub_scope)limits.scope)));
	json_member_i64(w, STR("max"), limits.max);
	json_member_u64(w, STR("live"), server->group ? pool_group_live(server->group) : 0);
	json_member_u64(w, STR("calls"), server->calls);
	if (snapshot) {
		json_member_u64(w, STR("tools"), snapshot->count);
		json_member_u64(w, STR("schemaAgeSec"),
				(loop_wall_ms() - snapshot->fetched_at) / MS_PER_SECOND);
	}
	if (snapshot && snapshot->skipped)
		json_member_u64(w, STR("skippedTools"), snapshot->skipped);
	describe_error(server, w);
	json_write_key(w, STR("instances"));
	if (server->group)
		pool_group_describe(server->group, w);
	else
		json_write_raw(w, STR("[]"));
	json_write_object_end(w);
}

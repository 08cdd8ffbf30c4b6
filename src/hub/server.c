/*
 * One entry of the configuration made into something that can be called: its process definition, its group in
 * the pool, its snapshot.
 */
#include "base/base.h"
#include "hub/server.h"
#include "hub/eras.h"
#include "hub/refresh.h"
#include "base/ids.h"
#include "base/units.h"

#include <openssl/evp.h>

enum {
	ID_DIGITS = sizeof(((struct hub_server *)0)->process_id_digits),
};

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
	catalogue_unref(&server->all);
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

static int variable_compare(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return str_compare(x->name, y->name);
}

/* In the order of their names, which says nothing. */
static void digest_add_variables(EVP_MD_CTX *digest, const struct config_process *process,
				 struct arena *arena)
{
	struct variable *sorted = arena_array(arena, struct variable, process->env_count + 1);

	if (process->env_count)
		memcpy(sorted, process->env, process->env_count * sizeof(*sorted));
	qsort(sorted, process->env_count, sizeof(*sorted), variable_compare);
	for (size_t i = 0; i < process->env_count; i++) {
		digest_add(digest, sorted[i].name);
		digest_add(digest, sorted[i].value);
	}
}

/*
 * The first 16 digits of a SHA-256 over all that makes a process what it is. Our own environment is not in
 * it: it is the same for all, and what is kept on disk by this id is to be found again from another terminal.
 */
static struct str process_id_of(const struct pool_definition *d, const struct config_process *process,
				struct arena *arena)
{
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	unsigned char hash[EVP_MAX_MD_SIZE];
	char digits[ID_DIGITS + 1];

	BUG_ON(!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1);
	digest_add(digest, arena_printf(arena, "%zu %zu %u %d %u%s", process->args.count, process->env_count,
					(unsigned)d->scope, d->exclusive, (unsigned)d->order,
					d->follows ? " follows" : ""));
	digest_add(digest, process->command);
	for (size_t i = 0; i < process->args.count; i++)
		digest_add(digest, process->args.items[i]);
	digest_add(digest, process->cwd);
	digest_add_variables(digest, process, arena);
	BUG_ON(EVP_DigestFinal_ex(digest, hash, NULL) != 1);
	EVP_MD_CTX_free(digest);
	hex_encode(digits, hash, ID_DIGITS / 2);
	return arena_copy(arena, str_make(digits, ID_DIGITS));
}

/* Equal ids share their processes, so the limits are in it, too. */
static struct str pool_id_of(const struct pool_definition *d, struct str process_id, struct arena *arena)
{
	return arena_printf(arena, "%.*s-%u-%u-%llu-%llu", STR_ARG(process_id), d->max, d->min,
			    (unsigned long long)d->idle_ms, (unsigned long long)d->start_ms);
}

static const char *const *server_argv(const struct config_process *process, struct arena *arena)
{
	const char **argv = arena_array(arena, const char *, process->args.count + 2);

	argv[0] = process->command.p;
	for (size_t i = 0; i < process->args.count; i++)
		argv[i + 1] = process->args.items[i].p;
	return argv;
}

const struct config_limits *hub_server_limits(struct hub_server *server)
{
	if (server->config)
		config_server_limits(server->config, server->hub->settings, &server->limits);
	return &server->limits;
}

/* What the pool needs; all in the arena, for the length of pool_group_use(). */
static void server_define(struct hub_server *server, struct pool_definition *d, struct str *ret_process_id,
			  struct arena *arena)
{
	const struct hub *hub = server->hub;
	const struct config_process *process = &server->config->process;
	const struct config_limits *limits = hub_server_limits(server);
	int protocol = server->config->protocol;
	bool follows;

	if (protocol < 0)
		protocol = (int)settings_choice(hub->settings, SETTING_UPSTREAM_PROTOCOL);
	follows = protocol == CHOICE_UPSTREAM_PROTOCOL_FOLLOW;
	*d = (struct pool_definition){
		.name = server->name,
		.argv = server_argv(process, arena),
		.env = environment_with(&hub->environment, process->env, process->env_count, arena),
		.cwd = process->cwd.n ? process->cwd.p : NULL,
		.scope = (enum hub_scope)limits->scope,
		.exclusive = limits->sharing == CHOICE_POOL_SHARING_EXCLUSIVE,
		.max = (unsigned)limits->max,
		.min = (unsigned)limits->min,
		.idle_ms = limits->idle_ms,
		.start_ms = limits->start_ms,
		.order = follows ? MCP_PREFER_DISCOVER : (enum mcp_open_order)protocol,
		.follows = follows,
	};
	*ret_process_id = process_id_of(d, process, arena);
	d->id = pool_id_of(d, *ret_process_id, arena);
	d->known_era = eras_get(hub->eras, *ret_process_id);
}

/* Whether the entry can be used at all; server->err says why not. */
static bool server_check(struct hub_server *server)
{
	const struct config_server *config = server->config;

	server->err.code = 0;
	if (config->error)
		server->err = *config->error;
	BUG_ON(!config->error && config->process.transport != CONFIG_STDIO);
	return server->err.code == 0;
}

/* What is known of another process, or of none, says nothing about this one. */
static void server_forget(struct hub_server *server)
{
	refresh_cancel(server);
	catalogue_unref(&server->all);
	server->read = false;
	server->refresh_failures = 0;
	server->refresh_at = 0;
	server->refresh_err.code = 0;
}

/* Other limits are given to the group as it stands when all servers that share it get the same ones; else
 * they part. */
static bool server_keeps_group(struct hub_server *server, struct pool_group *group,
			       const struct pool_definition *d, struct arena *arena)
{
	struct hub_server *other;
	unsigned together = 1;

	list_for_each(other, &server->hub->servers, node) {
		struct pool_definition theirs;
		struct str process_id;

		if (other == server || other->group != group)
			continue;
		if (other->config->error)
			return false;
		server_define(other, &theirs, &process_id, arena);
		if (!str_eq(theirs.id, d->id))
			return false;
		together++;
	}
	return pool_group_adapt(group, d, together);
}

/* Gives the server the group of its definition; true when its process is the same as before. */
static bool server_join(struct hub_server *server)
{
	struct pool_group *old = take_ptr(server->group);
	_cleanup_arena_ struct arena arena = { 0 };
	struct pool_definition d;
	struct str process_id;
	bool same;

	arena_init(&arena, 0);
	server_define(server, &d, &process_id, &arena);
	same = str_eq(server->process_id, process_id);
	if (same && old)
		(void)server_keeps_group(server, old, &d, &arena);
	server->group = pool_group_use(server->hub->pool, &d);
	/* A list that was being read through a process that goes is asked of the next. */
	if (old && old != server->group)
		refresh_cancel(server);
	pool_group_drop(&old);
	memcpy(server->process_id_digits, process_id.p, ID_DIGITS);
	server->process_id = str_make(server->process_id_digits, ID_DIGITS);
	return same;
}

void server_attach(struct hub_server *server)
{
	server->description = server->config->description;
	if (!server_check(server)) {
		server_forget(server);
		server->process_id = str_make(NULL, 0);
		pool_group_drop(&server->group);
	} else if (!server_join(server)) {
		server_forget(server);
		refresh_load_cached(server);
	}
	refresh_show(server);
}

void server_adjust(struct hub_server *server)
{
	if (server->group)
		(void)server_join(server);
}

struct hub_server *server_new(struct hub *hub, const struct config_server *config)
{
	struct hub_server *server = xnew(struct hub_server);

	arena_init(&server->arena, 0);
	server->hub = hub;
	server->users = 1;
	server->name = arena_copy(&server->arena, config->name);
	server->namespace = arena_copy(&server->arena, config->namespace);
	list_init(&server->node);
	return server;
}

void server_remove(struct hub_server *server)
{
	refresh_cancel(server);
	list_remove(&server->node);
	(void)hub_server_limits(server); /* for the calls that still run */
	server->config = NULL;
	server->description = str_make(NULL, 0);
	hub_server_drop(&server);
}

/* -- for people ------------------------------------------------------------------------------------------ */

static const struct err *server_start_error(const struct hub_server *server)
{
	return server->group ? pool_group_error(server->group) : &server->err;
}

const struct err *hub_server_error(const struct hub_server *server)
{
	const struct err *start = server_start_error(server);

	return start->code ? start : &server->refresh_err;
}

int hub_server_check_listed(const struct hub_server *server, struct err *err)
{
	const struct err *why = hub_server_error(server);

	if (server->snapshot)
		return 0;
	if (!why->code)
		return err_set(err, ERR_UNAVAILABLE, "the tools of %.*s are not known yet: it is %.*s",
			       STR_ARG(server->namespace), STR_ARG(hub_server_state(server)));
	return err_set(err, ERR_UNAVAILABLE, "the tools of %.*s are not known: %s",
		       STR_ARG(server->namespace), why->message);
}

struct str hub_server_state(const struct hub_server *server)
{
	if (hub_server_error(server)->code)
		return STR("failed");
	if (server->group && pool_group_has(server->group, INSTANCE_READY))
		return STR("running");
	if (server->group && pool_group_has(server->group, INSTANCE_STARTING))
		return STR("starting");
	return server->snapshot ? STR("ready") : STR("unknown");
}

static void describe_error(const struct hub_server *server, struct json_writer *w)
{
	const struct err *err = hub_server_error(server);

	if (err->code)
		json_member_str(w, STR("lastError"), str_of(err->message));
	if (server_start_error(server)->code && server->group && pool_group_last_words(server->group).n)
		json_member_str(w, STR("lastStderr"), pool_group_last_words(server->group));
	if (server->group && pool_group_retry_in(server->group))
		json_member_u64(w, STR("retryInSec"), pool_group_retry_in(server->group) / MS_PER_SECOND + 1);
}

static void describe_catalogue(const struct hub_server *server, struct json_writer *w)
{
	const struct catalogue_snapshot *shown = server->snapshot;
	uint64_t now = loop_wall_ms(), age;
	char text[DURATION_TEXT_MAX];

	if (!shown)
		return;
	/* Clocks are set back, and a file may say anything. */
	age = now > shown->fetched_at ? (now - shown->fetched_at) / MS_PER_SECOND : 0;
	json_member_u64(w, STR("tools"), shown->count);
	if (shown->count < server->all->count)
		json_member_u64(w, STR("hiddenTools"), server->all->count - shown->count);
	json_member_str(w, STR("schemaAge"), duration_text(text, age * MS_PER_SECOND));
	json_member_u64(w, STR("schemaAgeSec"), age);
	if (shown->skipped)
		json_member_u64(w, STR("skippedTools"), shown->skipped);
	if (shown->repeated) {
		json_member_u64(w, STR("repeatedTools"), shown->repeated);
		json_member_str(w, STR("repeatedTool"), shown->repeated_name);
	}
}

void hub_server_describe(const struct hub_server *server, struct json_writer *w)
{
	struct config_limits limits;

	config_server_limits(server->config, server->hub->settings, &limits);
	json_write_object_begin(w);
	json_member_str(w, STR("name"), server->name);
	json_member_str(w, STR("namespace"), server->namespace);
	if (server->description.n)
		json_member_str(w, STR("description"), server->description);
	json_member_str(w, STR("state"), hub_server_state(server));
	json_member_str(w, STR("sharing"),
			limits.sharing == CHOICE_POOL_SHARING_EXCLUSIVE ? STR("exclusive") : STR("shared"));
	json_member_str(w, STR("scope"), str_of(hub_scope_name((enum hub_scope)limits.scope)));
	json_member_i64(w, STR("max"), limits.max);
	json_member_u64(w, STR("live"), server->group ? pool_group_live(server->group) : 0);
	json_member_u64(w, STR("calls"), server->calls);
	describe_catalogue(server, w);
	describe_error(server, w);
	json_write_key(w, STR("instances"));
	if (server->group)
		pool_group_describe(server->group, w);
	else
		json_write_raw(w, STR("[]"));
	json_write_object_end(w);
}

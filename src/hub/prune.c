#include "base/base.h"
#include "hub/prune.h"
#include "hub/eras.h"
#include "hub/refresh.h"
#include "io/files.h"

#define CATALOGUE_PREFIX "schemas-"
#define CATALOGUE_SUFFIX ".json"

/* Everything that the job uses is its own. */
struct hub_prune {
	struct job job;
	struct hub *hub;
	struct arena arena;
	const char *directory;
	struct directory_prune options;
	struct map used;    /* names, of the servers that there were at the start */
	struct map removed; /* ids of processes */
};

struct str prune_catalogue_name(struct str process_id, struct arena *arena)
{
	return arena_printf(arena, CATALOGUE_PREFIX "%.*s" CATALOGUE_SUFFIX, STR_ARG(process_id));
}

static bool prune_takes(void *context, struct str name)
{
	const struct hub_prune *prune = context;

	return str_starts_with(name, STR(CATALOGUE_PREFIX)) && str_ends_with(name, STR(CATALOGUE_SUFFIX)) &&
	       !map_get(&prune->used, name);
}

static void prune_removed(void *context, struct str name)
{
	struct hub_prune *prune = context;
	const size_t around = sizeof(CATALOGUE_PREFIX CATALOGUE_SUFFIX) - 1;

	map_set(&prune->removed, str_slice(name, sizeof(CATALOGUE_PREFIX) - 1, name.n - around), prune);
}

static void prune_work(struct job *job)
{
	struct hub_prune *prune = container_of(job, struct hub_prune, job);

	directory_prune(prune->directory, &prune->options);
}

static void prune_done(struct job *job, bool cancelled)
{
	struct hub_prune *prune = container_of(job, struct hub_prune, job);
	struct hub *hub = prune->hub; /* NULL when it was cancelled */
	const struct map_entry *entry;
	size_t cursor = 0;

	while (!cancelled && (entry = map_next(&prune->removed, &cursor)))
		hub_remember_era(hub, entry->key, -1);
	map_release(&prune->used);
	map_release(&prune->removed);
	arena_release(&prune->arena);
	free(prune);
	if (cancelled)
		return;
	hub->prune = NULL;
	hub_check_stopped(hub);
}

void prune_cancel(struct hub *hub)
{
	if (!hub->prune)
		return;
	job_cancel(&hub->prune->job);
	hub->prune->hub = NULL;
	hub->prune = NULL;
}

void prune_begin(struct hub *hub)
{
	struct hub_server *server;
	struct hub_prune *prune;

	if (!hub->limits.cache_dir || hub->prune)
		return;
	prune = hub->prune = xnew(struct hub_prune);
	prune->hub = hub;
	arena_init(&prune->arena, 0);
	map_init(&prune->used, hub->limits.seed);
	map_init(&prune->removed, hub->limits.seed);
	prune->directory = arena_cstr(&prune->arena, str_of(hub->limits.cache_dir));
	prune->options = (struct directory_prune){ .takes = prune_takes,
						   .removed = prune_removed,
						   .context = prune,
						   .now_ms = loop_wall_ms(),
						   .keep_ms = hub->limits.keep_ms,
						   .keep_files = hub->limits.keep_files };
	list_for_each(server, &hub->servers, node)
		if (server->process_id.n)
			map_set(&prune->used, prune_catalogue_name(server->process_id, &prune->arena), prune);
	loop_work(hub->loop, &prune->job, prune_work, prune_done);
}

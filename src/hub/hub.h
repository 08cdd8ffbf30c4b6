/*
 * hub.h - the servers that the hub knows, their instances, their catalogue, and the calls under way.
 *
 * A hub is made from a configuration (settings/config.h) and can take a new one at any time: servers whose
 * process definition did not change keep their running instances. Everything else in the program reaches
 * servers through it. All on the loop thread.
 */
#ifndef HUB_HUB_H
#define HUB_HUB_H

#include "base/base.h"
#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "hub/call.h"
#include "hub/catalogue.h"
#include "hub/pool.h"
#include "hub/ready.h"
#include "io/loop.h"
#include "json/writer.h"
#include "settings/config.h"
#include "settings/environment.h"
#include "settings/settings.h"

struct hub_limits {
	struct pool_limits pool;
	/* of schemas-<process id>.json and upstream-eras.json; exists. NULL: nothing is kept on disk */
	const char *cache_dir;
	/* catalogues there that no server has any more go when nobody wrote them for so long, */
	uint64_t keep_ms;
	size_t keep_files; /* and the oldest beyond so many */
	bool keep_eras;	   /* remember on disk which era each server belongs to */
	/* patience with an instance that others hold, beside that with a start; 0: call_max_ms */
	uint64_t acquire_ms;
	uint64_t call_max_ms; /* absolute bound on one call, however much progress it reports */
	uint64_t change_ms;   /* from one reading of a server that says its tools changed to the next */
	uint64_t refresh_ms;  /* patience with one page of a server's list */
	uint64_t list_ms;     /* patience of a call with the first list of its server; 0: it does not wait */
	unsigned reads_max;   /* lists read at once of servers that have to be started for it */
	size_t tools_max;     /* of one server */
	unsigned pages_max;
	size_t list_max; /* bytes of one server's list, also on disk */
	uint64_t seed;	 /* random, for maps that are filled from outside */
	/* read the lists of all servers without being asked, and retry those that failed for ever */
	bool warm;
};

struct hub_prune;
struct hub_refresh;

/* One entry of `mcpServers` that is not disabled. */
struct hub_server {
	struct hub *hub;
	struct list_node node; /* in hub->servers, in order of configuration */
	unsigned users;	       /* the hub, and each call and refresh that runs */
	struct arena arena;    /* of name and namespace */
	struct str name, namespace;
	struct str description; /* the configuration's; empty once removed from it */
	/* of all that makes its process: a view of what follows; empty while the entry is broken */
	struct str process_id;
	char process_id_digits[16];
	const struct config_server *config; /* NULL once the server was removed from the configuration */
	struct pool_group *group;	    /* NULL when the entry is broken: then err says why */
	struct err err;
	struct catalogue_snapshot *all; /* what the server offers; NULL until something is known */
	/* ... without what the configuration hides; NULL when `all` is */
	struct catalogue_snapshot *snapshot;
	struct hub_refresh *refresh;	/* running, or NULL */
	struct err refresh_err;		/* of the last refresh; code 0 when it went well or there was none */
	bool stale;			/* the tools changed while they were being read: read them again */
	bool again;			/* somebody asked for them meanwhile: read them again at once */
	struct timer change;		/* runs while a change waits to be read */
	uint64_t change_at;		/* loop_now() from which a change is read at once */
	const struct instance *changed; /* that told of the last change; may be gone */
	bool read;			/* a refresh went well in this life */
	unsigned refresh_failures;	/* in a row */
	uint64_t waited_ms;	     /* the longest that somebody waited in vain for the refresh that runs */
	uint64_t refresh_at;	     /* loop_now() from which the hub reads the list again by itself */
	struct config_limits limits; /* hub_server_limits() has them as they are now */
	uint64_t calls;
};

struct hub {
	struct loop *loop;
	struct hub_limits limits;
	const struct settings *settings;
	const struct config *config;
	struct environment environment;
	struct pool *pool;
	struct list_node servers, calls, listeners, readies;
	struct hub_eras *eras;
	struct timer retry;
	unsigned reading; /* lists, of those that limits.reads_max counts */
	struct deferred read_next;
	struct list_node saves;	 /* files being written */
	struct hub_prune *prune; /* running, or NULL */
	uint64_t generation;	 /* counts changes of any catalogue and of the set of servers */
	bool stopping, pool_stopped;
	struct deferred told; /* calls `stopped` */
	void (*stopped)(void *context);
	void *stopped_context;
};

/*
 * Somebody who wants to know. Embedded in its owner; taken off before it is freed. From within these
 * callbacks the hub may be asked anything, and calls may be started and cancelled; to reload, adjust, stop or
 * free it, and to take another listener off, wait until they have returned.
 */
struct hub_listener {
	struct list_node node;
	/* NULL, or: the tools of some server changed, or the set of servers did. */
	void (*tools_changed)(struct hub_listener *listener);
	/* NULL, or an entry for the program's log. `event` is such as "server.start". */
	void (*event)(struct hub_listener *listener, enum log_level level, struct str event,
		      struct str server, struct str detail);
};

/* Settings, configuration and the limits' strings must stay until hub_reload() or hub_free(). Nothing starts
 * before it is needed, unless limits->warm. */
struct hub *hub_new(struct loop *loop, const struct hub_limits *limits, const struct settings *settings,
		    const struct config *config, struct environment environment);

/* Takes another configuration. A server whose process definition is as before keeps its instances; the
 * others' instances end once the calls on them have. The counts, of names, may be NULL. The old configuration
 * is not needed afterwards. */
void hub_reload(struct hub *hub, const struct config *config, unsigned *ret_added, unsigned *ret_removed);

/* Takes other limits, and looks at the settings of the pool anew: both are hot. */
void hub_adjust(struct hub *hub, const struct hub_limits *limits);

/* Somebody wants log messages from this level on; MCP_LOG_NONE: does not. Legacy servers, which have one
 * level for all, are asked for the lowest that somebody ever wanted, but at the least for "info", which those
 * get who ask for nothing. */
void hub_want_logs(struct hub *hub, enum mcp_log_level level);

/* Ends all instances, which fails the calls under way, then calls `stopped`, when no call and no file is
 * left. */
void hub_stop(struct hub *hub, void (*stopped)(void *context), void *context);
/* After `stopped`. */
void hub_free(struct hub **hub);

void hub_listen(struct hub *hub, struct hub_listener *listener);
void hub_unlisten(struct hub_listener *listener);

/* By name or namespace. NULL when there is none; then err (may be NULL) names those that exist. */
struct hub_server *hub_server_find(struct hub *hub, struct str name, struct err *err);
/* What the configuration says of this server now; of one that was removed from it, what it said last. */
const struct config_limits *hub_server_limits(struct hub_server *server);
/* Gives back a counted use (users++). Leaves NULL. */
void hub_server_drop(struct hub_server **server);

/*
 * The server and the server's own tool name behind a name at the MCP door. In this order: a bare name of the
 * servers of `passthrough`, a listed name, a full name; with several servers of one kind, the longest
 * namespace. A name whose part before "__" is a namespace is resolved even when that server's tools are not
 * known yet, unless the tool is hidden. The tool is copied to the arena.
 */
int hub_resolve_tool(struct hub *hub, struct str name, const struct setting_items *passthrough,
		     struct arena *arena, struct hub_server **ret_server, struct str *ret_tool,
		     struct err *err);

/* The snapshots that there are, in order of servers; an array from the arena, valid until the loop turns. */
const struct catalogue_snapshot *const *hub_snapshots(struct hub *hub, struct arena *arena,
						      size_t *ret_count);

/* Why the server cannot be used, did not start, or did not tell its tools when it was last asked for them;
 * code 0 when nothing is wrong. Valid until the loop turns. */
const struct err *hub_server_error(const struct hub_server *server);
/* Fails when its tools are not known, and says why: ERR_UNAVAILABLE. */
int hub_server_check_listed(const struct hub_server *server, struct err *err);
/* "failed" when there is such an error; "running" or "starting" when an instance does, the first if both are;
 * "ready" when its tools are known and the next call starts it; else "unknown". */
struct str hub_server_state(const struct hub_server *server);

/* One server for status: name, namespace, description, state, sharing, scope, max, live, calls, tools,
 * hiddenTools, schemaAge, schemaAgeSec, skippedTools, repeatedTools and repeatedTool (how many of the tools
 * have a name that came before, and the first such name), lastError, lastStderr (all that is kept of what a
 * start that failed wrote), retryInSec, instances. */
void hub_server_describe(const struct hub_server *server, struct json_writer *w);

#endif

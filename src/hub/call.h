/*
 * call.h - one tool call on its way through the hub, whoever asked: the only place where a call is made.
 *
 * resolve the server -> check that the tool is not hidden -> acquire an instance for the caller's scope ->
 * await the list, of a server that was never seen, since the caller may use any of a tool's names -> send ->
 * wait for the answer, relaying progress -> give the result back byte for byte. Argument rules, write policy
 * and questions have their place between checking and acquiring. Progress is asked for in any case, since it
 * puts the deadline off; it is relayed to who wants it.
 *
 * When the caller goes away its owner cancels, and the server is told. When the server dies during the call,
 * the error says what is known: whether the request was sent, how the process ended and the end of its
 * stderr. Such a call is repeated by nobody but the caller; only a request that certainly never reached its
 * server, because the process had just died, is sent once more to a new one.
 *
 * All on the loop thread; async.md's rules hold.
 */
#ifndef HUB_CALL_H
#define HUB_CALL_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "hub/caller.h"
#include "hub/pool.h"
#include "hub/ready.h"
#include "mcp/client.h"

struct hub;
struct hub_call;
struct hub_server;

/* A log message of the server, sent while this was the only call that its process had: whose it is cannot be
 * told otherwise. `log` is valid during the call. */
typedef void hub_call_logged(struct hub_call *call, const struct mcp_log *log);

/* Copied by hub_call_start(). */
struct hub_call_spec {
	struct str server;    /* name or namespace */
	struct str tool;      /* any name that catalogue_find() knows, or one that only the server knows */
	struct str arguments; /* raw JSON object; empty: {} */
	struct str meta;      /* raw `_meta` of the caller, relayed without its per-hop keys; empty: none */
	struct hub_caller caller;
	/* Bounds the wait for an instance, and then the wait without answer or progress. 0: pool.callTimeout
	 * or the server's own for the latter, and hub_limits.acquire_ms and the server's start time-out for
	 * the former. */
	uint64_t timeout_ms;
	enum mcp_log_level log_level; /* for modern servers; a legacy one: hub_want_logs() */
	hub_call_logged *logged;      /* NULL, or any number of times before `done` */
};

struct hub_call_result {
	enum mcp_outcome outcome;      /* how far the call came: the answer to "may I repeat it?" */
	struct str result;	       /* raw result object; empty when there is none */
	const struct mcp_error *error; /* the server answered with a JSON-RPC error; else NULL */
	const struct err *err;	       /* there is no answer; else NULL */
	uint64_t duration_ms;
};

/* Once. Exactly one of result, error and err is there; views are valid during the call. */
typedef void hub_call_done(struct hub_call *call, const struct hub_call_result *result);
typedef void hub_call_progressed(struct hub_call *call, const struct mcp_progress *progress);

enum hub_call_state { HUB_CALL_IDLE, HUB_CALL_REFUSED, HUB_CALL_ACQUIRE, HUB_CALL_LIST, HUB_CALL_SEND };

struct hub_call {
	struct hub *hub;
	struct hub_server *server;
	enum hub_call_state state;
	struct arena arena; /* what was copied from the specification */
	struct hub_call_spec spec;
	/* where an instance was asked for: a reload may move the server to another */
	struct pool_group *group;
	struct str scope_key;
	struct list_node node; /* in hub->calls */
	struct pool_acquire acquire;
	struct instance *instance;
	struct hub_ready listed;
	struct mcp_request upstream;
	uint64_t noise_before; /* lines of the instance that were no messages, when it was sent */
	struct deferred refused;
	struct err err;
	uint64_t started;
	bool named; /* spec.tool is what the lists made of the caller's name */
	bool repeated;
	hub_call_progressed *progressed; /* NULL: nobody wants to know */
	hub_call_done *done;
	void *owner;
};

void hub_call_start(struct hub_call *call, struct hub *hub, const struct hub_call_spec *spec,
		    hub_call_progressed *progressed, hub_call_done *done, void *owner);
/* Silent; the server is told with `reason`. Harmless on one that has ended or never began (zeroed). */
void hub_call_cancel(struct hub_call *call, struct str reason);

#endif

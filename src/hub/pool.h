/*
 * pool.h - the running instances of all servers.
 *
 * Servers whose process definition is the same (command, arguments, environment, directory, scope, sharing
 * and limits: the pool id) share one group of instances. A caller acquires an instance for its scope key and
 * releases it after the call. The pool starts one instance for any number of callers that ask at once (single
 * flight), holds at most `max` instances of a group, evicts the idle one that was used longest ago, or one
 * whose start nobody waits for any more, when another key needs room, ends instances that were idle for too
 * long, and after a failed start waits, longer each time and with jitter, before it starts the command again.
 * A crashed instance is gone from the pool at once; the next acquire starts a new one.
 *
 * All on the loop thread.
 */
#ifndef HUB_POOL_H
#define HUB_POOL_H

#include "base/base.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "hub/caller.h"
#include "hub/instance.h"
#include "io/loop.h"
#include "json/writer.h"

struct pool;
struct pool_group;

/* Everything that is the same for all servers. */
struct pool_limits {
	const char *supervisor;		/* path of the supervisor program */
	size_t line_max;		/* bytes of one message of a server */
	unsigned depth_max;		/* its nesting; 0: JSON_DEPTH_MAX */
	size_t stderr_keep, noise_keep; /* bytes kept for errors and status */
	size_t input_max;		/* unsent bytes on the way to a server */
	size_t requests_max;		/* in flight at one instance */
	size_t batch_max;		/* messages in one batch of a server */
	size_t waiting_max;		/* acquires that wait in one group; one more fails with ERR_BUSY */
	uint64_t close_ms, term_ms;	/* the stop ladder (io/child.h) */
	uint64_t kill_ms;		/* patience with what got SIGKILL (io/child.h) */
	uint64_t backoff_step_ms;	/* cool-down after the n-th failed start in a row: n steps, */
	uint64_t backoff_max_ms;	/* at most this, */
	unsigned backoff_jitter;	/* plus up to so many percent, so that daemons do not keep in step */
	uint64_t reap_ms;		/* period of the idle sweep */
	uint64_t probe_ms;		/* patience with server/discover before initialize is tried */
	uint64_t ping_ms;		/* patience with a ping after a request that was not answered */
	struct str client_info;		/* raw Implementation: who we say we are; must outlive the pool */
	uint64_t seed;			/* of the jitter */
};

/* What makes a group. Copied. */
struct pool_definition {
	struct str id;	 /* the pool id */
	struct str name; /* for messages: the first server that uses it */
	const char *const *argv;
	const char *const *env; /* complete */
	const char *cwd;	/* NULL: ours */
	enum hub_scope scope;
	bool exclusive;	   /* sharing: one holder at a time */
	unsigned max, min; /* instances at once; spared by the idle sweep */
	uint64_t idle_ms;  /* 0: never */
	uint64_t start_ms;
	enum mcp_open_order order;
	/* the era of whom it is started for comes first, where that is known; `order` is one that prefers */
	bool follows;
	/* an enum mcp_era from an earlier life, or -1: asked first, whatever `order` prefers */
	int known_era;
};

/* The program's ears. All set. */
struct pool_events {
	void (*started)(void *context, struct pool_group *group, struct instance *instance);
	/* `instance->ended` says why; a start that failed counts too. */
	void (*stopped)(void *context, struct pool_group *group, struct instance *instance);
	/* It left a request unanswered, and then a ping: it gets no new holder. */
	void (*silent)(void *context, struct pool_group *group, struct instance *instance);
	void (*notified)(void *context, struct pool_group *group, struct instance *instance,
			 enum mcp_method method, const struct jsonrpc_message *message);
	void *context;
};

struct pool *pool_new(struct loop *loop, const struct pool_limits *limits, const struct pool_events *events);
/* Takes other limits: from the next start, wait and sweep on. */
void pool_adjust(struct pool *pool, const struct pool_limits *limits);
/* Ends every instance by the ladder and calls `stopped` when none is left. New acquires fail with
 * ERR_CLOSED. */
void pool_stop(struct pool *pool, void (*stopped)(void *context), void *context);
void pool_free(struct pool **pool);

/* The group with this definition's id, made if need be. Each _use needs one _drop. In a group without users
 * nobody waits any more (they fail with ERR_CLOSED), idle instances are ended at once, others when they are
 * released, and then the group goes. */
struct pool_group *pool_group_use(struct pool *pool, const struct pool_definition *definition);
void pool_group_drop(struct pool_group **group);

/* Gives a group another id and other limits (max, min, idle_ms, start_ms), in place: its instances stay, and
 * those that are too many end as they become idle. `users` is how many uses that is meant for. False, and
 * nothing changed, when it has others, or when some group has the id already. */
bool pool_group_adapt(struct pool_group *group, const struct pool_definition *definition, unsigned users);

/* -- acquiring ------------------------------------------------------------------------------------------- */

struct pool_acquire;
/* Exactly one of instance and err. */
typedef void pool_acquired(struct pool_acquire *acquire, struct instance *instance, const struct err *err);

struct pool_acquire {
	struct pool_group *group;
	struct list_node node; /* in group->waiting or instance->starters */
	struct timer deadline;
	struct deferred ready;
	struct instance *instance; /* held for the caller until `done` hands it over */
	struct err err;
	uint64_t patience_ms;
	int era;	/* of whom it is for: an enum mcp_era, or -1 */
	struct str key; /* the caller's; must outlive the operation */
	pool_acquired *done;
	void *owner;
};

/* `patience_ms` bounds the whole wait; a start has the definition's own time-out as well. On success the
 * caller holds the instance and gives it back with pool_release(). `era` is for groups that follow their
 * callers; -1 where there is none. */
void pool_acquire_start(struct pool_acquire *acquire, struct pool_group *group, struct str key, int era,
			uint64_t patience_ms, pool_acquired *done, void *owner);
/* Silent. Harmless on one that has ended or never began (zeroed). */
void pool_acquire_cancel(struct pool_acquire *acquire);

/* Gives an instance back, also one that has ended meanwhile. Leaves NULL; accepts NULL. */
void pool_release(struct instance **instance);

/* -- looking and ending ---------------------------------------------------------------------------------- */

struct pool_group *pool_group_of(const struct instance *instance);
enum hub_scope pool_group_scope(const struct pool_group *group);
/* Instances whose process is not gone: those that start, run, or are being ended. */
unsigned pool_group_live(const struct pool_group *group);
/* Whether one of them is in this state. */
bool pool_group_has(const struct pool_group *group, enum instance_state state);
/* `wanted`, if it is an instance of the group that runs, else NULL. It is only compared: it may have been
 * freed. */
struct instance *pool_group_find(const struct pool_group *group, const struct instance *wanted);
/* The last failed start, until one succeeds; code 0 when there is none. And in how many ms the next start is
 * allowed. */
const struct err *pool_group_error(const struct pool_group *group);
/* What it wrote to stderr, as far as that is kept. */
struct str pool_group_last_words(const struct pool_group *group);
uint64_t pool_group_retry_in(const struct pool_group *group);
/* An array of instances for status. */
void pool_group_describe(const struct pool_group *group, struct json_writer *w);

/* Legacy servers, which have one level of log messages for all, are asked for this one if it is lower than
 * before; for "info" at the least, which those get who ask for nothing. */
void pool_want_logs(struct pool *pool, enum mcp_log_level level);

/* Ends the instances of a session or call that is over, those in use when they are released, and returns how
 * many there were. */
unsigned pool_end_session(struct pool *pool, struct str session);

#endif

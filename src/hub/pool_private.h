/*
 * pool_private.h - what the files behind pool.h know of each other.
 *
 * A group is a list of instances and a queue of acquires. queue.c has the acquires, group.c the instances and
 * the group itself, pool.c what concerns all groups.
 */
#ifndef HUB_POOL_PRIVATE_H
#define HUB_POOL_PRIVATE_H

#include "base/base.h"
#include "base/arena.h"
#include "base/buf.h"
#include "hub/pool.h"

struct pool_group {
	struct pool *pool;
	struct list_node node; /* in pool->groups */
	struct arena arena;    /* of the definition's texts but for */
	char *id;
	struct pool_definition definition;
	struct instance_definition process;
	unsigned users;
	bool held; /* by pool_stop(), which counts as a user */
	struct list_node instances;
	struct list_node waiting; /* struct pool_acquire, first come first */
	size_t waiting_count;
	unsigned sequence;
	unsigned failures; /* failed starts in a row */
	uint64_t retry_at; /* loop_now() from which a start is allowed again */
	struct err err;
	struct buf words; /* the end of what the last failed start wrote to stderr */
};

struct pool {
	struct loop *loop;
	struct pool_limits limits;
	struct pool_events events;
	struct list_node groups;
	struct timer reaper;
	uint64_t random;
	unsigned live;		 /* instances whose process is not gone */
	enum mcp_log_level logs; /* what pool_want_logs() asked for; MCP_LOG_NONE: nothing */
	bool stopping;
	struct deferred empty;
	void (*stopped)(void *context);
	void *stopped_context;
};

/* Walks the queue: gives what can be given. */
void group_pump(struct pool_group *group);
/* Moves everyone who waits for this instance to start: it has, or `err` says why not. */
void group_settle_starters(struct instance *instance, const struct err *err);
/* Nobody waits in this group any more, also not for an instance that starts. */
void group_refuse_all(struct pool_group *group, const char *why);
/* Those that start or run, without those on their way out. */
unsigned group_serving(const struct pool_group *group);
/* Stops an instance that nobody holds and nobody else will be given. */
void group_stop_useless(struct pool_group *group, struct instance *instance);

struct instance *group_start_instance(struct pool_group *group, struct str key, int era);
/* Frees a group that nobody uses, when its last process is gone. */
void group_collect(struct pool_group *group);

/* The pool has stopped when the last process is gone. */
void pool_check_empty(struct pool *pool);

#endif

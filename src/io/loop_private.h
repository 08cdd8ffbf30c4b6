/*
 * loop_private.h - what the files that make up the loop know of each other. Nothing outside io/ includes it.
 *
 * libuv closes a handle asynchronously: it may look at it until the close callback. So every handle that
 * somebody else starts and stops is a heap object whose close callback frees it, and the owner's embedded
 * struct only points to it. The loop's own two handles (one timer for all timers, one idle handle for
 * deferred calls) are part of struct loop.
 */
#ifndef IO_LOOP_PRIVATE_H
#define IO_LOOP_PRIVATE_H

#include "base/base.h"
#include "io/loop.h"

#include <uv.h>

struct timer_heap {
	struct timer **timers; /* a binary heap: the next to end is first */
	size_t count, capacity;
	/* number of the next start, so that equal deadlines end in the order of their starts */
	uint64_t next_order;
	bool firing;
	uv_timer_t alarm; /* set to the first of the heap; inactive when that is empty */
};

struct loop {
	uv_loop_t uv;
	struct timer_heap heap;
	uv_idle_t idle; /* active while something is deferred or doomed; then the loop does not sleep */
	struct list_node deferred;
	void **doomed; /* loop_free_later() */
	size_t doomed_count, doomed_capacity;
	struct file_watcher *files; /* file_watch.c; NULL while nothing is watched */
	size_t started; /* watches, signal watches and file watches that somebody must still stop */
	size_t holds;	/* jobs and children that end by themselves, and for which loop_free() waits */
	bool running, stopped;
};

void timers_init(struct loop *loop);
void timers_release(struct loop *loop);

/* Closes a handle that is the first member of a heap object, and frees that object when libuv has forgotten
 * it. */
void loop_close_handle(uv_handle_t *handle);

/* Fills `err` from a libuv error, which on unix is a negated errno. */
int loop_uv_error(struct err *err, int status, const char *what);

/* Something is under way that ends by itself soon and may outlive its owner: loop_free() waits until it is
 * let go. */
void loop_hold(struct loop *loop);
void loop_let_go(struct loop *loop);

#endif

/*
 * loop.h - the event loop: time, timers, descriptors, deferred work, the worker pool and signals.
 *
 * One thread owns a loop and calls everything here, except where it says otherwise. Nothing on that thread
 * blocks. It stands on libuv; no other room sees that. Everything that waits follows async.md's rules: a
 * callback never comes from within the call that asked for it, comes once or (after a stop or cancel) not at
 * all, and an object is never freed while one of its own callbacks is on the stack (loop_free_later()).
 *
 * Storage of timers, watches, jobs and deferred calls is embedded in their owners. All of them must be
 * stopped before their storage goes; a zeroed or initialised one may be stopped harmlessly.
 */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include "base/base.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"

struct loop;

/* Also makes the process ignore SIGPIPE, unless it has a handler of its own: a peer that closed is an EPIPE
 * here. Fails when descriptors or memory have run out. */
int loop_new(struct loop **ret_loop, struct err *err);

/*
 * Frees a loop. Timers, watches and deferred calls that are still active are a BUG; running jobs and children
 * that were released are waited for, so that nothing of them is left. Accepts a pointer to NULL; sets the
 * pointer to NULL.
 */
void loop_free(struct loop **loop);

/* Runs until loop_stop(), or until nothing is left that could ever happen. May be called again; not from a
 * callback. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Monotonic milliseconds, read once per turn of the loop; and the wall clock in milliseconds since 1970. */
uint64_t loop_now(const struct loop *loop);
uint64_t loop_wall_ms(void);

/* -- timers ---------------------------------------------------------------------------------------------- */

struct timer;
typedef void timer_done(struct timer *timer);

struct timer {
	struct loop *loop; /* NULL while it is not running */
	uint64_t due;	   /* in loop_now() */
	uint64_t order;	   /* of the start: equal deadlines end in the order of their starts */
	size_t heap_at;
	timer_done *done;
};

/* Calls `done` once, `ms` from now. Starting a running timer moves it. Cheap: no system call, and no
 * allocation but that of an array that holds as many pointers as timers ever ran at once. */
void timer_start(struct timer *timer, struct loop *loop, uint64_t ms, timer_done *done);
void timer_stop(struct timer *timer);
static inline bool timer_running(const struct timer *timer)
{
	return timer->loop != NULL;
}

/* -- descriptors ----------------------------------------------------------------------------------------- */

enum watch_events { WATCH_READ = 1, WATCH_WRITE = 2, WATCH_HANGUP = 4, WATCH_GONE = 8 };

struct watch;
typedef void watch_ready(struct watch *watch, unsigned events);

struct watch {
	struct watch_handle *handle; /* NULL while it is not started */
	watch_ready *ready;
	unsigned wanted;
};

/*
 * Calls `ready` whenever the descriptor is readable or writable as asked (level-triggered). WATCH_HANGUP
 * reports that the peer closed, or only stopped sending, without the need to read or write; WATCH_GONE that
 * nothing can be sent to it either, which a peer over TCP shows only when something is sent. A descriptor in
 * error is reported as all that was asked for: the next read() or write() tells the error. `events` 0 keeps
 * the watch registered and silent. The descriptor is made non-blocking, stays the caller's, has at most one
 * watch, and must not be closed before watch_stop(). ERR_DENIED for a regular file, which never blocks.
 */
int watch_start(struct watch *watch, struct loop *loop, int fd, unsigned events, watch_ready *ready,
		struct err *err);
void watch_set(struct watch *watch, unsigned events);
void watch_stop(struct watch *watch);

/* -- later ----------------------------------------------------------------------------------------------- */

struct deferred;
typedef void deferred_call(struct deferred *deferred);

struct deferred {
	struct list_node node;
	deferred_call *call; /* NULL while nothing is pending */
};

/* Calls `call` once, from the loop, before it next waits. Asking again before that changes nothing. What is
 * deferred from within a deferred call comes after a look at the descriptors, which does not wait. The struct
 * must begin zeroed. */
void loop_defer(struct loop *loop, struct deferred *deferred, deferred_call *call);
void deferred_cancel(struct deferred *deferred);
static inline bool deferred_pending(const struct deferred *deferred)
{
	return deferred->call != NULL;
}

/* free()s `p` when no callback is on the stack any more. */
void loop_free_later(struct loop *loop, void *p);

/* -- the worker pool ------------------------------------------------------------------------------------- */

struct job;

/* Runs on a worker thread. Touches only what the job owns; knows nothing of the loop or of any operation. */
typedef void job_work(struct job *job);
/* Runs on the loop thread when the work is over. `cancelled` when job_cancel() came meanwhile (then `work`
 * may never have run): only free what the job owns. */
typedef void job_done(struct job *job, bool cancelled);

struct job {
	void *handle;
	job_work *work;
	job_done *done;
	bool cancelled;
};

/* The job's storage must be on the heap and owned by the job itself: `done` is always called and frees it. */
void loop_work(struct loop *loop, struct job *job, job_work *work, job_done *done);

/* The owner has lost interest. `done` still comes, with cancelled = true. */
void job_cancel(struct job *job);

/* -- signals --------------------------------------------------------------------------------------------- */

struct signal_watch {
	void *handle;
	void (*arrived)(struct signal_watch *watch, int number);
};
/* Calls `arrived`, from the loop, when the signal came; signals that come quickly may be told as one. ERR_IO
 * for one that cannot be caught. Children begin with the default again. */
int signal_watch_start(struct signal_watch *watch, struct loop *loop, int number,
		       void (*arrived)(struct signal_watch *watch, int number), struct err *err);
void signal_watch_stop(struct signal_watch *watch);

/* Lets a signal pass unnoticed from now on: SIGPIPE, whose message write(2) gives as EPIPE too. Children
 * begin with the default again. */
int signal_ignore(int number, struct err *err);

#endif

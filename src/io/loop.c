#include "base/base.h"
#include "io/loop_private.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

/* Deferred calls run from an idle handle: libuv calls it before it computes how long to wait, and does not
 * wait while one is active. A batch takes only what was deferred before it began, so that a call which defers
 * itself cannot keep the loop from its descriptors. */

enum { DOOMED_FIRST = 16 };

static void loop_free_doomed(struct loop *loop)
{
	size_t count = loop->doomed_count;

	loop->doomed_count = 0;
	for (size_t i = 0; i < count; i++)
		free(loop->doomed[i]);
}

static void loop_run_deferred(struct loop *loop)
{
	struct list_node batch;

	list_init(&batch);
	if (!list_empty(&loop->deferred)) {
		batch = loop->deferred;
		batch.next->prev = batch.prev->next = &batch;
		list_init(&loop->deferred);
	}
	while (!list_empty(&batch)) {
		struct deferred *deferred = list_first(&batch, struct deferred, node);
		deferred_call *call = deferred->call;

		deferred_cancel(deferred);
		call(deferred);
	}
}

static void loop_idle(uv_idle_t *idle)
{
	struct loop *loop = container_of(idle, struct loop, idle);

	loop_free_doomed(loop);
	loop_run_deferred(loop);
	if (list_empty(&loop->deferred) && loop->doomed_count == 0)
		uv_idle_stop(idle);
}

int loop_uv_error(struct err *err, int status, const char *what)
{
	errno = -status;
	return err_errno(err, "%s", what);
}

/* A peer that closes its end must cost us an EPIPE, not the process. An own handler of the program is left
 * alone. */
static void loop_ignore_sigpipe(void)
{
	struct sigaction old;

	if (sigaction(SIGPIPE, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

int loop_new(struct loop **ret_loop, struct err *err)
{
	struct loop *loop = xnew(struct loop);
	int status = uv_loop_init(&loop->uv);

	if (status < 0) {
		free(loop);
		return loop_uv_error(err, status, "cannot create the event loop");
	}
	loop_ignore_sigpipe();
	list_init(&loop->deferred);
	timers_init(loop);
	uv_idle_init(&loop->uv, &loop->idle);
	*ret_loop = loop;
	return 0;
}

void loop_free(struct loop **ret_loop)
{
	struct loop *loop = *ret_loop;

	if (!loop)
		return;
	BUG_ON(loop->running);
	while (loop->holds)
		uv_run(&loop->uv, UV_RUN_ONCE);
	loop_free_doomed(loop);
	BUG_ON(loop->started || loop->heap.count || !list_empty(&loop->deferred));
	uv_close((uv_handle_t *)&loop->idle, NULL);
	timers_release(loop);
	/* A loop_stop() that came too late ends the first turn early. */
	while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0)
		;
	BUG_ON(uv_loop_close(&loop->uv) < 0);
	free(loop->doomed);
	free(loop);
	*ret_loop = NULL;
}

void loop_run(struct loop *loop)
{
	BUG_ON(loop->running);
	loop->running = true;
	uv_update_time(&loop->uv);
	/* Turn by turn: libuv from 1.45 on ends a whole run that is stopped by its first timers before it
	 * looked at any descriptor, where it used to finish the turn. */
	while (uv_run(&loop->uv, UV_RUN_ONCE) != 0 && !loop->stopped)
		;
	loop->stopped = false;
	loop->running = false;
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
	uv_stop(&loop->uv);
}

uint64_t loop_now(const struct loop *loop)
{
	return uv_now(&loop->uv);
}

uint64_t loop_wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void loop_wake(struct loop *loop)
{
	uv_idle_start(&loop->idle, loop_idle);
}

void loop_defer(struct loop *loop, struct deferred *deferred, deferred_call *call)
{
	if (deferred->call)
		return;
	deferred->call = call;
	list_init(&deferred->node);
	list_append(&loop->deferred, &deferred->node);
	loop_wake(loop);
}

void deferred_cancel(struct deferred *deferred)
{
	if (!deferred->call)
		return;
	deferred->call = NULL;
	list_remove(&deferred->node);
}

void loop_free_later(struct loop *loop, void *p)
{
	if (!p)
		return;
	if (loop->doomed_count == loop->doomed_capacity) {
		loop->doomed_capacity = size_max(loop->doomed_capacity * 2, DOOMED_FIRST);
		loop->doomed = xrealloc(loop->doomed, loop->doomed_capacity * sizeof(*loop->doomed));
	}
	loop->doomed[loop->doomed_count++] = p;
	loop_wake(loop);
}

static void loop_handle_closed(uv_handle_t *handle)
{
	free(handle);
}

void loop_close_handle(uv_handle_t *handle)
{
	uv_close(handle, loop_handle_closed);
}

void loop_hold(struct loop *loop)
{
	loop->holds++;
}

void loop_let_go(struct loop *loop)
{
	BUG_ON(loop->holds == 0);
	loop->holds--;
}

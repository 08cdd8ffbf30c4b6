#include "base/base.h"
#include "io/loop_private.h"

struct watch_handle {
	uv_poll_t poll; /* first: loop_close_handle() */
	struct watch *watch;
};

/* Epoll reports a hangup (EPOLLHUP) whatever was asked for, and libuv passes it on as all that was asked for.
 * Asking for urgent data, which nobody sends, keeps a descriptor polled for that alone. */
static int watch_to_uv(unsigned events)
{
	return (events & WATCH_READ ? UV_READABLE : 0) | (events & WATCH_WRITE ? UV_WRITABLE : 0) |
	       (events & WATCH_HANGUP ? UV_DISCONNECT : 0) | (events & WATCH_GONE ? UV_PRIORITIZED : 0);
}

static unsigned watch_from_uv(int events)
{
	return (events & UV_READABLE ? WATCH_READ : 0u) | (events & UV_WRITABLE ? WATCH_WRITE : 0u) |
	       (events & UV_DISCONNECT ? WATCH_HANGUP : 0u) | (events & UV_PRIORITIZED ? WATCH_GONE : 0u);
}

static void watch_event(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = container_of(poll, struct watch_handle, poll)->watch;
	unsigned ready = watch_from_uv(events) & watch->wanted;

	/* The descriptor is in error (EPOLLERR): libuv has stopped polling. Everything asked for is "ready",
	 * because the call that the owner makes next tells the error. */
	if (status < 0) {
		ready = watch->wanted;
		uv_poll_start(poll, watch_to_uv(watch->wanted), watch_event);
	}
	if (ready)
		watch->ready(watch, ready);
}

int watch_start(struct watch *watch, struct loop *loop, int fd, unsigned events, watch_ready *ready,
		struct err *err)
{
	struct watch_handle *handle = xnew(struct watch_handle);
	int status = uv_poll_init(&loop->uv, &handle->poll, fd);

	BUG_ON(watch->handle);
	if (status < 0) {
		free(handle);
		return loop_uv_error(err, status, "cannot watch a descriptor");
	}
	handle->watch = watch;
	handle->poll.data = loop;
	watch->handle = handle;
	watch->ready = ready;
	watch->wanted = 0;
	loop->started++;
	watch_set(watch, events);
	return 0;
}

void watch_set(struct watch *watch, unsigned events)
{
	if (!watch->handle || watch->wanted == events)
		return;
	watch->wanted = events;
	if (events)
		BUG_ON(uv_poll_start(&watch->handle->poll, watch_to_uv(events), watch_event) < 0);
	else
		uv_poll_stop(&watch->handle->poll);
}

void watch_stop(struct watch *watch)
{
	struct watch_handle *handle = watch->handle;

	if (!handle)
		return;
	((struct loop *)handle->poll.data)->started--;
	watch->handle = NULL;
	watch->wanted = 0;
	loop_close_handle((uv_handle_t *)&handle->poll);
}

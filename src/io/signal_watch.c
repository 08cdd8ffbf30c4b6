#include "base/base.h"
#include "io/loop_private.h"

#include <signal.h>

struct signal_watch_handle {
	uv_signal_t signal; /* first: loop_close_handle() */
	struct signal_watch *watch;
};

static void signal_event(uv_signal_t *signal, int number)
{
	struct signal_watch *watch = container_of(signal, struct signal_watch_handle, signal)->watch;

	watch->arrived(watch, number);
}

int signal_watch_start(struct signal_watch *watch, struct loop *loop, int number,
		       void (*arrived)(struct signal_watch *watch, int number), struct err *err)
{
	struct signal_watch_handle *handle = xnew(struct signal_watch_handle);
	int status;

	BUG_ON(watch->handle);
	BUG_ON(uv_signal_init(&loop->uv, &handle->signal) < 0);
	handle->watch = watch;
	handle->signal.data = loop;
	status = uv_signal_start(&handle->signal, signal_event, number);
	if (status < 0) {
		loop_close_handle((uv_handle_t *)&handle->signal);
		return loop_uv_error(err, status, "cannot watch a signal");
	}
	watch->handle = handle;
	watch->arrived = arrived;
	loop->started++;
	return 0;
}

void signal_watch_stop(struct signal_watch *watch)
{
	struct signal_watch_handle *handle = watch->handle;

	if (!handle)
		return;
	((struct loop *)handle->signal.data)->started--;
	watch->handle = NULL;
	loop_close_handle((uv_handle_t *)&handle->signal);
}

int signal_ignore(int number, struct err *err)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (sigaction(number, &ignore, NULL) < 0)
		return err_errno(err, "cannot ignore signal %d", number);
	return 0;
}

#include "base/base.h"
#include "io/file_watch.h"
#include "io/loop_private.h"

#include <errno.h>

struct file_watch_handle {
	uv_fs_event_t event; /* first: loop_close_handle() */
	struct file_watch *watch;
};

static void file_event(uv_fs_event_t *event, const char *name, _unused_ int events, _unused_ int status)
{
	struct file_watch *watch = container_of(event, struct file_watch_handle, event)->watch;

	watch->changed(watch, name);
}

int file_watch_start(struct file_watch *watch, struct loop *loop, const char *path,
		     void (*changed)(struct file_watch *watch, const char *name), struct err *err)
{
	struct file_watch_handle *handle = xnew(struct file_watch_handle);
	int status;

	BUG_ON(watch->handle);
	BUG_ON(uv_fs_event_init(&loop->uv, &handle->event) < 0);
	handle->watch = watch;
	handle->event.data = loop;
	status = uv_fs_event_start(&handle->event, file_event, path, 0);
	if (status < 0) {
		loop_close_handle((uv_handle_t *)&handle->event);
		errno = -status;
		return err_errno(err, "cannot watch %s", path);
	}
	watch->handle = handle;
	watch->changed = changed;
	loop->started++;
	return 0;
}

void file_watch_stop(struct file_watch *watch)
{
	struct file_watch_handle *handle = watch->handle;

	if (!handle)
		return;
	((struct loop *)handle->event.data)->started--;
	watch->handle = NULL;
	loop_close_handle((uv_handle_t *)&handle->event);
}

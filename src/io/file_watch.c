/*
 * inotify(7) by hand, because libuv's file events ask for every write and read on until nothing is left: a
 * program that writes fast to a file beside those that matter would keep the loop for itself. Here a file
 * counts when its writer closes it, and one turn reads once.
 */
#include "base/base.h"
#include "io/file_watch.h"
#include "io/loop_private.h"

#include <errno.h>
#include <sys/inotify.h>

enum {
	INTERESTING = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
		      IN_DELETE_SELF | IN_MOVE_SELF,
	EVENTS_SIZE = 8192, /* of one read; room for the longest name 30 times */
};

/* One inotify instance for all watches of a loop: a user has 128 of them. It is there while anything is
 * watched. */
struct file_watcher {
	struct loop *loop;
	int fd;
	struct watch readable;
	struct list_node watches;
	uint64_t events;  /* read so far */
	uint64_t changes; /* of the list */
};

/* Tells those who have not heard of the event. True when one of them started or stopped a watch, so that the
 * list is to be gone through anew. */
static bool tell_some(struct file_watcher *watcher, const struct inotify_event *event)
{
	uint64_t changes = watcher->changes;
	struct file_watch *watch;

	list_for_each(watch, &watcher->watches, node) {
		bool concerned = event->wd == watch->descriptor || event->mask & IN_Q_OVERFLOW;

		if (!concerned || watch->heard == watcher->events)
			continue;
		watch->heard = watcher->events;
		watch->changed(watch, event->len ? event->name : NULL);
		if (watcher->changes != changes)
			return true;
	}
	return false;
}

static void tell(struct file_watcher *watcher, const struct inotify_event *event)
{
	watcher->events++;
	while (tell_some(watcher, event))
		;
}

static void events_came(struct watch *readable, unsigned events)
{
	struct file_watcher *watcher = container_of(readable, struct file_watcher, readable);
	_Alignas(struct inotify_event) char bytes[EVENTS_SIZE];
	ssize_t n = read(watcher->fd, bytes, sizeof(bytes));

	(void)events;
	for (ssize_t at = 0; at < n && watcher->fd >= 0;) {
		const struct inotify_event *event = (const struct inotify_event *)(bytes + at);

		at += (ssize_t)sizeof(*event) + event->len;
		tell(watcher, event);
	}
}

/* -- the instance ---------------------------------------------------------------------------------------- */

static int watcher_start(struct loop *loop, struct err *err)
{
	struct file_watcher *watcher;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), r;

	if (fd < 0)
		return err_errno(err, "cannot watch files");
	watcher = xnew(struct file_watcher);
	watcher->loop = loop;
	watcher->fd = fd;
	list_init(&watcher->watches);
	r = watch_start(&watcher->readable, loop, fd, WATCH_READ, events_came, err);
	if (r < 0) {
		close_fd(&watcher->fd);
		free(watcher);
		return r;
	}
	loop->files = watcher;
	return 0;
}

static void watcher_stop_unused(struct loop *loop)
{
	struct file_watcher *watcher = loop->files;

	if (!list_empty(&watcher->watches))
		return;
	loop->files = NULL;
	watch_stop(&watcher->readable);
	close_fd(&watcher->fd);
	loop_free_later(loop, watcher);
}

/* -- watches --------------------------------------------------------------------------------------------- */

int file_watch_start(struct file_watch *watch, struct loop *loop, const char *path,
		     void (*changed)(struct file_watch *watch, const char *name), struct err *err)
{
	int descriptor, r;

	BUG_ON(watch->loop);
	if (!loop->files && (r = watcher_start(loop, err)) < 0)
		return r;
	descriptor = inotify_add_watch(loop->files->fd, path, INTERESTING);
	if (descriptor < 0) {
		r = err_errno(err, "cannot watch %s", path);
		watcher_stop_unused(loop);
		return r;
	}
	watch->loop = loop;
	watch->descriptor = descriptor;
	watch->changed = changed;
	watch->heard = loop->files->events;
	list_append(&loop->files->watches, &watch->node);
	loop->files->changes++;
	return 0;
}

/* The kernel has one watch for each file, which all that follow the file share. */
static bool is_shared(const struct file_watcher *watcher, int descriptor)
{
	const struct file_watch *watch;

	list_for_each(watch, &watcher->watches, node)
		if (watch->descriptor == descriptor)
			return true;
	return false;
}

void file_watch_stop(struct file_watch *watch)
{
	struct loop *loop = watch->loop;

	if (!loop)
		return;
	watch->loop = NULL;
	list_remove(&watch->node);
	loop->files->changes++;
	if (!is_shared(loop->files, watch->descriptor))
		(void)inotify_rm_watch(loop->files->fd, watch->descriptor);
	watcher_stop_unused(loop);
}

/*
 * file_watch.h - telling when something happens in a directory (inotify).
 *
 * A watch follows the file or directory itself and not its name: to notice that a file is created, or
 * replaced by a rename, watch its directory. It sees what this machine does to it, and not what others do
 * through a network file system, so whoever needs to know looks now and then as well. Loop thread.
 */
#ifndef IO_FILE_WATCH_H
#define IO_FILE_WATCH_H

#include "base/base.h"
#include "base/err.h"
#include "base/list.h"
#include "io/loop.h"

struct file_watch {
	struct loop *loop; /* NULL while it is not started */
	struct list_node node;
	int descriptor; /* the kernel's */
	uint64_t heard; /* the number of the last event that it was told, or that it came too late for */
	/* `name` is what it happened to within the directory, or NULL when the kernel does not say. Several
	 * changes may come as one; what is written to a file comes when its writer closes it. Watches may be
	 * started and stopped from within. */
	void (*changed)(struct file_watch *watch, const char *name);
};

/* ERR_NOT_FOUND, ERR_DENIED; ERR_IO also when the kernel's bounds on watches are reached. */
int file_watch_start(struct file_watch *watch, struct loop *loop, const char *path,
		     void (*changed)(struct file_watch *watch, const char *name), struct err *err);
/* Harmless on one that is not started (zeroed). */
void file_watch_stop(struct file_watch *watch);

#endif

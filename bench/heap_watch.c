/*
 * heap_watch - preloaded into the daemon for soak_bench.mjs: says how much of its heap is in use. Its pages
 * alone do not tell, because what was freed before leaves room in them.
 *
 * A thread of its own writes the number of bytes to the file $HEAP_WATCH, over the last one, every PERIOD_MS.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

enum { PERIOD_MS = 40 };

static int file = -1;

static void *heap_watch(_unused_ void *nothing)
{
	const struct timespec period = { .tv_nsec = PERIOD_MS * 1000L * 1000 };

	for (;;) {
		struct mallinfo2 heap = mallinfo2();
		char text[32];
		int n = snprintf(text, sizeof(text), "%24zu\n", heap.uordblks + heap.hblkhd);

		BUG_ON(pwrite(file, text, (size_t)n, 0) != n);
		nanosleep(&period, NULL);
	}
	return NULL;
}

/* In no other program that has the same environment. The daemon's signals are for its own threads. */
__attribute__((constructor)) static void heap_watch_begin(void)
{
	const char *path = getenv("HEAP_WATCH");
	sigset_t all, before;
	pthread_t thread;

	if (!path || strcmp(program_invocation_short_name, "mcpx-daemon") != 0)
		return;
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	BUG_ON(file < 0);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	BUG_ON(pthread_create(&thread, NULL, heap_watch, NULL) != 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

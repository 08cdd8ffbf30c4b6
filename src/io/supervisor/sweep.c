#include "base/base.h"
#include "io/supervisor/sweep.h"
#include "io/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/*
 * We are a subreaper: whatever loses its parent below us becomes our child. So it is enough to kill our own
 * children again and again: each death hands us the next generation, and when waitid() says ECHILD, nothing
 * that ever came from us exists. The order, parents first, leaves nobody who could see a child die and start
 * another.
 *
 * Killing the process group along with each child reaches its members in one step, which no fork() can slip
 * through (the kernel holds the same lock in both). A group of a descendant holds only descendants, because
 * the child was put into a session of its own. While a process is our unreaped child, its id and its group's
 * id cannot be taken by another.
 */

enum {
	LIST_CHUNK = 4096,	    /* bytes of the list of children that are read at once */
	PATIENCE_NS = 10 * 1000000, /* between two rounds when no death is reported */
	DECIMAL = 10,
};

bool offspring_reap(struct offspring *offspring)
{
	for (;;) {
		siginfo_t info = { 0 };
		int status = 0;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (info.si_pid == 0)
			return true;
		/* Its group dies with it, and while the child is not yet reaped the group's id is certain. */
		if (info.si_pid == offspring->child)
			kill(-info.si_pid, SIGKILL);
		waitpid(info.si_pid, &status, 0);
		if (info.si_pid == offspring->child) {
			offspring->ended = true;
			offspring->status = status;
		}
	}
}

static void kill_with_group(pid_t pid)
{
	pid_t group = getpgid(pid);

	if (group > 1 && group != getpgrp())
		kill(-group, SIGKILL);
	kill(pid, SIGKILL);
}

/* One round. /proc/thread-self/children is a list of decimal numbers, each followed by a space. A list that
 * changes while it is read may lack some, who are found in the next round. Returns how many there were. */
static unsigned kill_children(void)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char list[LIST_CHUNK];
	unsigned count = 0;
	pid_t pid = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while ((n = read(fd, list, sizeof(list))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (list[i] >= '0' && list[i] <= '9') {
				pid = pid * DECIMAL + (list[i] - '0');
			} else if (pid > 0) {
				kill_with_group(pid);
				count++;
				pid = 0;
			}
		}
	}
	close(fd);
	return count;
}

static void wait_for_a_death(void)
{
	static const struct timespec patience = { .tv_nsec = PATIENCE_NS };
	sigset_t deaths;

	sigemptyset(&deaths);
	sigaddset(&deaths, SIGCHLD);
	sigtimedwait(&deaths, NULL, &patience);
}

unsigned offspring_sweep(struct offspring *offspring, uint64_t kill_ms)
{
	uint64_t start = clock_monotonic_ms();
	unsigned left = 0;

	while (offspring_reap(offspring)) {
		/* Also without /proc: the child itself, and what stayed in its group. */
		if (offspring->child && !offspring->ended)
			kill(-offspring->child, SIGKILL);
		left = kill_children();
		if (kill_ms && clock_monotonic_ms() - start > kill_ms)
			return left ? left : 1;
		wait_for_a_death();
	}
	return 0;
}

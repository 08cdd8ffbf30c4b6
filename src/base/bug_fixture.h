/*
 * bug_fixture.h - for tests: whether a call ends in a BUG. The call runs in a child process, so that the test
 * lives on.
 */
#ifndef BASE_BUG_FIXTURE_H
#define BASE_BUG_FIXTURE_H

#include "base/base.h"
#include "base/str.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { BUG_MESSAGE_MAX = 512 };

static inline bool is_bug(void (*call)(void *argument), void *argument)
{
	char message[BUG_MESSAGE_MAX];
	int pipe_ends[2], status;
	ssize_t n;
	pid_t child;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		abort();
	child = fork();
	if (child == 0) {
		dup3(pipe_ends[1], STDERR_FILENO, O_CLOEXEC);
		call(argument);
		_exit(0);
	}
	close(pipe_ends[1]);
	n = read(pipe_ends[0], message, sizeof(message));
	close(pipe_ends[0]);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && n > 0 &&
	       str_starts_with(str_make(message, (size_t)n), STR("BUG: "));
}

#endif

#include "base/base.h"
#include "io/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	SIGNALLED = 128,     /* what shells add to the number of a signal */
	OUTPUT_PIECE = 4096, /* read at once of what a program prints before it is ready; nobody sees it */
};

/* -- becoming -------------------------------------------------------------------------------------------- */

int program_become(const char *path, const char *const *arguments, const char *const *environment,
		   struct err *err)
{
	execve(path, (char *const *)arguments, (char *const *)environment);
	return err_errno(err, "cannot run %s", path);
}

int program_self(char *path, size_t size, struct err *err)
{
	ssize_t n = readlink("/proc/self/exe", path, size);

	if (n < 0)
		return err_errno(err, "cannot tell where this program is");
	if ((size_t)n >= size)
		return err_set(err, ERR_TOO_LARGE, "the path of this program is longer than %zu bytes", size);
	path[n] = '\0';
	return 0;
}

/* -- starting -------------------------------------------------------------------------------------------- */

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0); /* always close-on-exec */
}

/* 0, or an errno. Descriptors other than the three are close-on-exec, as all of ours are. */
static int spawn_in_session(pid_t *ret_pid, const char *path, const char *const *arguments,
			    const char *const *environment, int output_fd, int error_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, error_fd, STDERR_FILENO);
	if (r == 0)
		r = posix_spawnattr_setsigmask(&attributes, &none);
	if (r == 0)
		r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, &attributes, (char *const *)arguments,
				(char *const *)environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return r;
}

int background_start(struct background *background, const char *path, const char *const *arguments,
		     const char *const *environment, int error_fd, struct err *err)
{
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(err, "cannot make a pipe to %s", path);
	r = spawn_in_session(&pid, path, arguments, environment, ends[1], error_fd);
	close_fd(&ends[1]);
	if (r) {
		close_fd(&ends[0]);
		errno = r;
		return err_errno(err, "cannot start %s", path);
	}
	*background = (struct background){ .pid = pid, .process_fd = open_process(pid), .ready_fd = ends[0] };
	if (background->process_fd < 0) {
		r = err_errno(err, "cannot watch the process of %s", path);
		background_release(background);
		return r;
	}
	return 0;
}

void background_release(struct background *background)
{
	if (background->pid == 0)
		return;
	close_fd(&background->process_fd);
	close_fd(&background->ready_fd);
	background->pid = 0;
}

/* -- waiting --------------------------------------------------------------------------------------------- */

static int poll_timeout(uint64_t ms)
{
	return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static enum background_event background_ended(struct background *background)
{
	int status = 0;

	while (waitpid(background->pid, &status, 0) < 0 && errno == EINTR)
		;
	background->status = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
	close_fd(&background->process_fd);
	return BACKGROUND_ENDED;
}

/* What it prints meanwhile is nobody's business. */
static enum background_event background_output(struct background *background)
{
	char piece[OUTPUT_PIECE];

	if (read(background->ready_fd, piece, sizeof(piece)) > 0)
		return BACKGROUND_NOTHING;
	close_fd(&background->ready_fd);
	return BACKGROUND_READY;
}

enum background_event background_wait(struct background *background, uint64_t ms)
{
	/* poll(2) passes over descriptors of -1. */
	struct pollfd watched[] = {
		{ .fd = background->process_fd, .events = POLLIN },
		{ .fd = background->ready_fd, .events = POLLIN },
	};

	if (poll(watched, ARRAY_LEN(watched), poll_timeout(ms)) <= 0)
		return BACKGROUND_NOTHING;
	if (watched[0].revents)
		return background_ended(background);
	return background_output(background);
}

int process_wait_end(pid_t pid, uint64_t ms, struct err *err)
{
	_cleanup_close_ int fd = open_process(pid);
	struct pollfd watched = { .fd = fd, .events = POLLIN };
	int n;

	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0)
		return err_errno(err, "cannot watch process %d", (int)pid);
	do
		n = poll(&watched, 1, ms ? poll_timeout(ms) : -1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, "cannot wait for process %d", (int)pid);
	return n ? 0 : err_set(err, ERR_TIMEOUT, "process %d has not ended in time", (int)pid);
}

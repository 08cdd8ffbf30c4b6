#include "base/base.h"
#include "base/str.h"
#include "io/supervisor.h"
#include "io/supervisor/launch.h"
#include "io/supervisor/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

/*
 * mcpx-supervisor stands between the daemon and one child. It waits for two things: the end of the child, and
 * the end of the daemon (or its word to kill), and in both cases ends all that came from the child before it
 * ends itself. It has one page of state, allocates nothing, and blocks every signal, so that nothing but
 * SIGKILL can keep it from doing so.
 */

struct supervisor {
	struct launch launch;
	struct offspring offspring;
	uint64_t kill_ms;
	pid_t daemon;
	int signals;  /* reports SIGCHLD, and SIGCONT when the daemon has died */
	bool killing; /* the daemon said so, or is gone */
};

static void tell(enum supervisor_message_kind kind, int32_t value, int32_t detail)
{
	struct supervisor_message message = { (int32_t)kind, value, detail };

	/* Nobody to tell it to is no reason to do anything else. */
	(void)!send(SUPERVISOR_CONTROL_FD, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int supervisor_read_arguments(struct supervisor *s, int argc, char **argv)
{
	if (argc <= SUPERVISOR_ARG_PROGRAM ||
	    !str_eq(str_of(argv[SUPERVISOR_ARG_VERSION]), STR(SUPERVISOR_VERSION)))
		return -1;
	s->launch.directory = argv[SUPERVISOR_ARG_DIRECTORY];
	s->launch.argv = argv + SUPERVISOR_ARG_PROGRAM;
	return str_to_u64(str_of(argv[SUPERVISOR_ARG_MEMORY]), &s->launch.memory_max) < 0 ||
			       str_to_u64(str_of(argv[SUPERVISOR_ARG_FILES]), &s->launch.files_max) < 0 ||
			       str_to_u64(str_of(argv[SUPERVISOR_ARG_FILES_SOFT]), &s->launch.files_soft) <
				       0 ||
			       str_to_u64(str_of(argv[SUPERVISOR_ARG_KILL_MS]), &s->kill_ms) < 0
		       ? -1
		       : 0;
}

static int supervisor_prepare(struct supervisor *s)
{
	sigset_t all, wanted;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	s->daemon = getppid();
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGCONT);
	/* SIGCONT, because it also wakes us when somebody has stopped us. */
	if (prctl(PR_SET_PDEATHSIG, SIGCONT) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    fcntl(SUPERVISOR_CONTROL_FD, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	close_range(SUPERVISOR_CONTROL_FD + 1, ~0u, 0);
	s->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? -1 : 0;
}

static void supervisor_hear(struct supervisor *s)
{
	struct supervisor_message message = { 0 };
	ssize_t n = recv(SUPERVISOR_CONTROL_FD, &message, sizeof(message), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof(message) || message.kind == SUPERVISOR_KILL) {
		s->killing = true;
	} else if (message.kind == SUPERVISOR_TERM && !s->offspring.ended) {
		kill(-s->offspring.child, SIGTERM);
		kill(-s->offspring.child, SIGCONT); /* a stopped process would not notice */
	}
}

static void supervisor_wait(struct supervisor *s)
{
	struct pollfd ready[] = { { .fd = SUPERVISOR_CONTROL_FD, .events = POLLIN },
				  { .fd = s->signals, .events = POLLIN } };
	struct signalfd_siginfo signal;

	poll(ready, ARRAY_LEN(ready), -1);
	while (read(s->signals, &signal, sizeof(signal)) > 0)
		;
	offspring_reap(&s->offspring);
	if (getppid() != s->daemon)
		s->killing = true;
	if (ready[0].revents)
		supervisor_hear(s);
}

/* Once the child has its words they are wiped here: they may hold a secret, and lists of processes would show
 * every child twice. */
static void supervisor_forget_words(struct supervisor *s)
{
	for (char **word = s->launch.argv; *word; word++)
		explicit_bzero(*word, strlen(*word));
}

static int supervisor_run(struct supervisor *s)
{
	unsigned left;

	if (supervisor_prepare(s) < 0) {
		tell(SUPERVISOR_FAILED, SUPERVISOR_STEP_PREPARE, errno);
		return 1;
	}
	s->offspring.child = launch_run(&s->launch);
	if (s->offspring.child < 0) {
		tell(SUPERVISOR_FAILED, (int32_t)s->launch.failed, s->launch.error);
		return 1;
	}
	supervisor_forget_words(s);
	tell(SUPERVISOR_STARTED, s->offspring.child, 0);
	/* Whoever waits for the end of the child's pipes must not wait for us. */
	close_range(STDIN_FILENO, STDERR_FILENO, 0);
	while (!s->offspring.ended && !s->killing)
		supervisor_wait(s);
	left = offspring_sweep(&s->offspring, s->kill_ms);
	if (!s->offspring.ended) /* it is one of those left, with the signal waiting for it */
		s->offspring.status = SIGKILL;
	tell(SUPERVISOR_ENDED, s->offspring.status, (int32_t)left);
	return 0;
}

int main(int argc, char **argv)
{
	static const char usage[] =
		"mcpx-supervisor: mcpx starts this program, and only one of its own version\n";
	struct supervisor s = { 0 };

	if (supervisor_read_arguments(&s, argc, argv) < 0) {
		(void)!write(STDERR_FILENO, usage, sizeof(usage) - 1);
		return 2;
	}
	return supervisor_run(&s);
}

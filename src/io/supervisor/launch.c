#include "base/base.h"
#include "io/supervisor/launch.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* vfork(2): the new process runs in our memory until it has loaded its program, so it tells a failure by
 * writing it down, and we need neither a pipe nor a copy of ourselves. It calls nothing that leaves a trace
 * in that memory. */

/* 0 leaves a limit as it is. */
static bool launch_limit(__rlimit_resource_t resource, uint64_t max, uint64_t soft)
{
	struct rlimit limit;

	if (max == 0 && soft == 0)
		return true;
	if (getrlimit(resource, &limit) < 0)
		return false;
	/* The hard limit can only be lowered by an ordinary user: a larger wish gets what there is. */
	if (max > 0 && max < limit.rlim_max)
		limit.rlim_max = max;
	limit.rlim_cur = soft > 0 && soft < limit.rlim_max ? soft : limit.rlim_max;
	return setrlimit(resource, &limit) == 0;
}

static void launch_fail(struct launch *launch, enum supervisor_step step)
{
	launch->failed = step;
	launch->error = errno;
}

static _noreturn_ void launch_child(struct launch *launch, pid_t supervisor)
{
	sigset_t none;

	sigemptyset(&none);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor) /* it died before the line above */
		_exit(1);
	if (!launch_limit(RLIMIT_NOFILE, launch->files_max, launch->files_soft)) {
		launch_fail(launch, SUPERVISOR_STEP_FILES);
	} else if (launch->directory[0] && chdir(launch->directory) < 0) {
		launch_fail(launch, SUPERVISOR_STEP_DIRECTORY);
	} else if (!launch_limit(RLIMIT_AS, launch->memory_max, 0)) {
		launch_fail(launch, SUPERVISOR_STEP_MEMORY);
	} else {
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(launch->argv[0], launch->argv);
		launch_fail(launch, SUPERVISOR_STEP_EXECUTE);
	}
	_exit(1);
}

pid_t launch_run(struct launch *launch)
{
	pid_t supervisor = getpid(), child;

	launch->error = 0;
	child = vfork();
	if (child == 0)
		launch_child(launch, supervisor);
	if (child < 0)
		launch_fail(launch, SUPERVISOR_STEP_PREPARE);
	else if (launch->error)
		waitpid(child, NULL, 0);
	return launch->error ? -1 : child;
}

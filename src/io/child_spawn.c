#include "base/base.h"
#include "io/child_private.h"
#include "io/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* posix_spawn(3), because it neither copies our page tables nor runs our code in the new process: starting a
 * child costs the same at 10 MB and at 1 GB. All that it cannot do is the supervisor's work. */

/* The descriptors that the supervisor is to have, at the numbers that supervisor.h gives them. */
struct child_ends {
	int input, output, error, control;
	bool input_is_theirs; /* the caller's: not ours to close */
};

static void child_ends_release(struct child_ends *ends)
{
	if (!ends->input_is_theirs)
		close_fd(&ends->input);
	close_fd(&ends->output);
	close_fd(&ends->error);
	close_fd(&ends->control);
}

void child_spawned_release(struct child_spawned *spawned)
{
	close_fd(&spawned->supervisor_fd);
	close_fd(&spawned->control_fd);
	close_fd(&spawned->input_fd);
	close_fd(&spawned->output_fd);
	close_fd(&spawned->error_fd);
}

/* Away from the numbers that dup2() will overwrite in the new process, should our own stdin, stdout or stderr
 * be closed. */
static int descriptor_lift(int *fd)
{
	int lifted;

	if (*fd > SUPERVISOR_CONTROL_FD)
		return 0;
	lifted = fcntl(*fd, F_DUPFD_CLOEXEC, SUPERVISOR_CONTROL_FD + 1);
	if (lifted < 0)
		return -1;
	close_fd(fd);
	*fd = lifted;
	return 0;
}

static int descriptor_unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* A pair whose end `ours` is non-blocking; the child's is not, because programs do not expect that. */
static int make_pipe(int *ret_read, int *ret_write, const int *ours)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	*ret_read = fds[0];
	*ret_write = fds[1];
	return descriptor_lift(ret_read) < 0 || descriptor_lift(ret_write) < 0 ? -1
									       : descriptor_unblock(*ours);
}

static int make_control(int *ret_ours, int *ret_theirs)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	*ret_ours = fds[0];
	*ret_theirs = fds[1];
	return descriptor_lift(ret_ours) < 0 || descriptor_lift(ret_theirs) < 0
		       ? -1
		       : descriptor_unblock(*ret_ours);
}

static int make_input(const struct child_spec *spec, struct child_ends *ends, struct child_spawned *spawned)
{
	switch (spec->stdin_fd) {
	case CHILD_STDIN_PIPE:
		return make_pipe(&ends->input, &spawned->input_fd, &spawned->input_fd);
	case CHILD_STDIN_NULL:
		ends->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return ends->input < 0 ? -1 : descriptor_lift(&ends->input);
	default:
		ends->input = spec->stdin_fd;
		ends->input_is_theirs = true;
		return 0;
	}
}

static int make_ends(const struct child_spec *spec, struct child_ends *ends, struct child_spawned *spawned)
{
	return make_input(spec, ends, spawned) < 0 ||
			       make_pipe(&spawned->output_fd, &ends->output, &spawned->output_fd) < 0 ||
			       make_pipe(&spawned->error_fd, &ends->error, &spawned->error_fd) < 0 ||
			       make_control(&spawned->control_fd, &ends->control) < 0
		       ? -1
		       : 0;
}

/* -- the command line of the supervisor ------------------------------------------------------------------ */

enum { NUMBER_TEXT_MAX = 24 };

struct supervisor_command {
	char memory[NUMBER_TEXT_MAX], files[NUMBER_TEXT_MAX], files_soft[NUMBER_TEXT_MAX],
		kill_ms[NUMBER_TEXT_MAX];
	const char **argv; /* points into the above and into the spec */
};

static void supervisor_command_release(struct supervisor_command *command)
{
	free_ptr(&command->argv);
}

static void supervisor_command_init(struct supervisor_command *command, const struct child_spec *spec)
{
	size_t count = 0;

	while (spec->argv[count])
		count++;
	BUG_ON(count == 0);
	snprintf(command->memory, NUMBER_TEXT_MAX, "%llu", (unsigned long long)spec->memory_max);
	snprintf(command->files, NUMBER_TEXT_MAX, "%llu", (unsigned long long)spec->files_max);
	snprintf(command->files_soft, NUMBER_TEXT_MAX, "%llu", (unsigned long long)descriptors_inherited());
	snprintf(command->kill_ms, NUMBER_TEXT_MAX, "%llu", (unsigned long long)spec->kill_ms);
	command->argv = xcalloc(SUPERVISOR_ARG_PROGRAM + count + 1, sizeof(*command->argv));
	command->argv[0] = "mcpx-supervisor";
	command->argv[SUPERVISOR_ARG_VERSION] = SUPERVISOR_VERSION;
	command->argv[SUPERVISOR_ARG_DIRECTORY] = spec->cwd ? spec->cwd : "";
	command->argv[SUPERVISOR_ARG_MEMORY] = command->memory;
	command->argv[SUPERVISOR_ARG_FILES] = command->files;
	command->argv[SUPERVISOR_ARG_FILES_SOFT] = command->files_soft;
	command->argv[SUPERVISOR_ARG_KILL_MS] = command->kill_ms;
	for (size_t i = 0; i < count; i++)
		command->argv[SUPERVISOR_ARG_PROGRAM + i] = spec->argv[i];
}

/* -- the environment of the child ------------------------------------------------------------------------ */

static const struct str pwd = STR_INIT("PWD=");

struct child_environment {
	char pwd[sizeof("PWD=") + PATH_MAX];
	const char **all; /* points into the above and into the spec */
};

static void child_environment_release(struct child_environment *environment)
{
	free_ptr(&environment->all);
}

static bool is_same_directory(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* PWD is the name of the working directory (POSIX, "Other Environment Variables"), and programs believe it.
 * The one that is there is kept when it names the directory of the child, perhaps through a link. */
static const char *const *child_environment_init(struct child_environment *environment,
						 const struct child_spec *spec)
{
	const char *const *env = spec->env ? spec->env : (const char *const *)environ;
	size_t count = 0, at = SIZE_MAX;

	for (; env[count]; count++)
		if (str_starts_with(str_of(env[count]), pwd))
			at = count;
	if (!spec->cwd || strlen(spec->cwd) >= PATH_MAX ||
	    (at != SIZE_MAX && is_same_directory(env[at] + pwd.n, spec->cwd)))
		return env;
	snprintf(environment->pwd, sizeof(environment->pwd), "%s%s", pwd.p, spec->cwd);
	environment->all = xcalloc(count + 2, sizeof(*environment->all));
	memcpy(environment->all, env, count * sizeof(*env));
	environment->all[at == SIZE_MAX ? count : at] = environment->pwd;
	return environment->all;
}

/* -- posix_spawn ----------------------------------------------------------------------------------------- */

/* stdin first: it may be a number that the others overwrite. */
static int place_descriptors(posix_spawn_file_actions_t *actions, const struct child_ends *ends)
{
	int error = posix_spawn_file_actions_adddup2(actions, ends->input, STDIN_FILENO);

	error = error ? error : posix_spawn_file_actions_adddup2(actions, ends->output, STDOUT_FILENO);
	error = error ? error : posix_spawn_file_actions_adddup2(actions, ends->error, STDERR_FILENO);
	return error ? error
		     : posix_spawn_file_actions_adddup2(actions, ends->control, SUPERVISOR_CONTROL_FD);
}

/* Default handlers for the child, every signal blocked and an own session for the supervisor: from its first
 * instruction on nobody's Ctrl-C or careless kill ends it. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all;
	int error;

	sigfillset(&all);
	error = posix_spawnattr_setsigmask(attributes, &all);
	error = error ? error : posix_spawnattr_setsigdefault(attributes, &all);
	return error ? error
		     : posix_spawnattr_setflags(
			       attributes,
			       (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
}

/* 0 or an errno. */
static int spawn(const struct child_spec *spec, const struct supervisor_command *command,
		 const struct child_ends *ends, pid_t *ret_pid)
{
	_cleanup_(child_environment_release) struct child_environment environment = { 0 };
	const char *const *env = child_environment_init(&environment, spec);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (!error) {
		error = place_descriptors(&actions, ends);
		error = error ? error : set_attributes(&attributes);
		if (!error)
			error = posix_spawn(ret_pid, spec->supervisor, &actions, &attributes,
					    (char *const *)(uintptr_t)command->argv,
					    (char *const *)(uintptr_t)env);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int child_spawn(const struct child_spec *spec, struct child_spawned *ret_spawned, struct err *err)
{
	_cleanup_(child_ends_release) struct child_ends ends = { -1, -1, -1, -1, false };
	_cleanup_(child_spawned_release) struct child_spawned spawned = CHILD_SPAWNED_NOTHING;
	_cleanup_(supervisor_command_release) struct supervisor_command command = { 0 };
	int error;

	supervisor_command_init(&command, spec);
	if (make_ends(spec, &ends, &spawned) < 0)
		return err_errno(err, "cannot create the pipes of \"%s\"", spec->argv[0]);
	error = spawn(spec, &command, &ends, &spawned.supervisor);
	if (error) {
		errno = error;
		return err_errno(err, "cannot start the supervisor %s of \"%s\"", spec->supervisor,
				 spec->argv[0]);
	}
	spawned.supervisor_fd = pidfd_open(spawned.supervisor, 0);
	if (spawned.supervisor_fd < 0) {
		err_errno(err, "cannot watch the supervisor of \"%s\"", spec->argv[0]);
		kill(spawned.supervisor, SIGKILL);
		waitpid(spawned.supervisor, NULL, 0);
		return err ? err->code : ERR_IO;
	}
	*ret_spawned = spawned;
	spawned = CHILD_SPAWNED_NOTHING;
	return 0;
}

#include "base/base.h"
#include "io/child_private.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

enum {
	PATH_QUOTED_MAX = 600, /* of a message of ERR_MESSAGE_MAX bytes, which is to end with the reason */
	WORD_QUOTED_MAX = 120,
};

/* PATH as the supervisor's execvp(3) will see it. */
static const char *find_path(const char *const *env)
{
	for (; *env; env++)
		if (str_starts_with(str_of(*env), STR("PATH=")))
			return *env + strlen("PATH=");
	return NULL;
}

static char *copy_or_null(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	BUG_ON(text && !copy);
	return copy;
}

void child_command_init(struct child_command *command, const struct child_spec *spec)
{
	const char *const *env = spec->env ? spec->env : (const char *const *)environ;

	command->program = copy_or_null(spec->argv[0]);
	command->directory = copy_or_null(spec->cwd);
	command->path = copy_or_null(find_path(env));
	command->memory_max = spec->memory_max;
	command->files_max = spec->files_max;
}

void child_command_release(struct child_command *command)
{
	free_ptr(&command->program);
	free_ptr(&command->directory);
	free_ptr(&command->path);
}

/* "in the directory /tmp", and where the program was looked for. */
static void command_place(const struct child_command *command, char *text, size_t size)
{
	char ours[PATH_MAX];
	const char *directory = command->directory ? command->directory : getcwd(ours, sizeof(ours));

	if (strchr(command->program, '/'))
		snprintf(text, size, "in the directory %.*s", WORD_QUOTED_MAX, directory ? directory : "?");
	else if (command->path)
		snprintf(text, size, "in the directory %.*s, searching PATH %.*s", WORD_QUOTED_MAX,
			 directory ? directory : "?", PATH_QUOTED_MAX, command->path);
	else
		snprintf(text, size, "in the directory %.*s, searching /bin:/usr/bin because PATH is not set",
			 WORD_QUOTED_MAX, directory ? directory : "?");
}

void child_command_failed(const struct child_command *command, enum supervisor_step step, int error,
			  struct err *err)
{
	char place[ERR_MESSAGE_MAX];
	const char *program = command->program;

	command_place(command, place, sizeof(place));
	errno = error;
	switch (step) {
	case SUPERVISOR_STEP_EXECUTE:
		err_errno(err, "cannot run \"%.*s\" %s", WORD_QUOTED_MAX, program, place);
		return;
	case SUPERVISOR_STEP_DIRECTORY:
		err_errno(err, "cannot run \"%.*s\": cannot enter the directory %s", WORD_QUOTED_MAX, program,
			  command->directory);
		return;
	case SUPERVISOR_STEP_MEMORY:
		err_errno(err, "cannot run \"%.*s\": cannot limit its memory to %llu bytes", WORD_QUOTED_MAX,
			  program, (unsigned long long)command->memory_max);
		return;
	case SUPERVISOR_STEP_FILES:
		err_errno(err, "cannot run \"%.*s\": cannot limit its descriptors to %llu", WORD_QUOTED_MAX,
			  program, (unsigned long long)command->files_max);
		return;
	case SUPERVISOR_STEP_PREPARE:
		break;
	}
	err_errno(err, "cannot run \"%.*s\": cannot create a process", WORD_QUOTED_MAX, program);
}

struct str child_status_text(char storage[CHILD_STATUS_TEXT_MAX], const struct child_status *status)
{
	const char *name = status->signal_number ? sigabbrev_np(status->signal_number) : NULL;
	int n;

	if (status->err.code)
		n = snprintf(storage, CHILD_STATUS_TEXT_MAX, "%s", status->err.message);
	else if (status->signal_number)
		n = snprintf(storage, CHILD_STATUS_TEXT_MAX, "was killed by signal %d (%s)",
			     status->signal_number, name ? name : "unknown");
	else
		n = snprintf(storage, CHILD_STATUS_TEXT_MAX, "exited with code %d", status->exit_code);
	return str_make(storage, size_min((size_t)n, CHILD_STATUS_TEXT_MAX - 1));
}

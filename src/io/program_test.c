#include "base/base.h"
#include "io/program.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

/* Every wait of these tests ends by an event; this only bounds a failure. */
enum { PATIENCE_MS = 30000 };

static const char *const plain_environment[] = { "PATH=/usr/bin:/bin", NULL };

static void start(struct background *background, const char *script, int error_fd)
{
	const char *const arguments[] = { "sh", "-c", script, NULL };
	struct err err;

	if (background_start(background, "/bin/sh", arguments, plain_environment, error_fd, &err) < 0)
		fail_msg("%s", err.message);
}

static void test_ready_then_ended(void **state)
{
	struct background background;
	int hold[2];
	char script[64];

	(void)state;
	/* The program goes on until the test lets it: it reads from a pipe that it inherits. */
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	assert_int_equal(fcntl(hold[0], F_SETFD, 0), 0);
	snprintf(script, sizeof(script), "echo noise; exec >&-; read x <&%d; exit 7", hold[0]);
	start(&background, script, STDERR_FILENO);
	for (;;) {
		enum background_event event = background_wait(&background, PATIENCE_MS);

		assert_int_not_equal(event, BACKGROUND_ENDED);
		if (event == BACKGROUND_READY)
			break;
	}
	assert_int_equal(background_wait(&background, 1), BACKGROUND_NOTHING);
	close(hold[1]);
	assert_int_equal(background_wait(&background, PATIENCE_MS), BACKGROUND_ENDED);
	assert_int_equal(background.status, 7);
	close(hold[0]);
	background_release(&background);
}

static void test_surroundings(void **state)
{
	struct background background;
	char text[256], expected[64];
	int ends[2];
	ssize_t n;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	start(&background, "read line || echo \"$(cut -d' ' -f6 /proc/$$/stat) $$\" >&2", ends[1]);
	close(ends[1]);
	n = read(ends[0], text, sizeof(text));
	assert_true(n > 0);
	/* Standard input is empty, and it leads a session of its own. */
	snprintf(expected, sizeof(expected), "%d %d\n", (int)background.pid, (int)background.pid);
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(text, expected, (size_t)n);
	while (background_wait(&background, PATIENCE_MS) != BACKGROUND_ENDED)
		;
	assert_int_equal(background.status, 0);
	close(ends[0]);
	background_release(&background);
	background_release(&background);
}

static void test_missing_program(void **state)
{
	const char *const arguments[] = { "none", NULL };
	struct background background;
	struct err err;

	(void)state;
	assert_int_equal(background_start(&background, "/proc/nonexistent/none", arguments, plain_environment,
					  STDERR_FILENO, &err),
			 ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot start /proc/nonexistent/none: No such file or directory");
	assert_int_equal(program_become("/proc/nonexistent/none", arguments, plain_environment, &err),
			 ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot run /proc/nonexistent/none: No such file or directory");
}

static void test_killed(void **state)
{
	struct background background;

	(void)state;
	start(&background, "kill -9 $$", STDERR_FILENO);
	while (background_wait(&background, PATIENCE_MS) != BACKGROUND_ENDED)
		;
	assert_int_equal(background.status, 128 + SIGKILL);
	background_release(&background);
}

static void test_wait_for_a_process(void **state)
{
	pid_t pid = fork();
	struct err err;

	(void)state;
	if (pid == 0) {
		for (;;)
			poll(NULL, 0, -1);
	}
	assert_int_equal(process_wait_end(pid, 1, &err), ERR_TIMEOUT);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(process_wait_end(pid, PATIENCE_MS, &err), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_wait_end(pid, PATIENCE_MS, &err), 0); /* long gone */
}

static void test_self(void **state)
{
	char path[4096];
	char small[4];
	struct err err;

	(void)state;
	assert_int_equal(program_self(path, sizeof(path), &err), 0);
	assert_true(str_ends_with(str_of(path), STR("/program_test")));
	assert_int_equal(program_self(small, sizeof(small), &err), ERR_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready_then_ended),   cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_missing_program),	   cmocka_unit_test(test_killed),
		cmocka_unit_test(test_wait_for_a_process), cmocka_unit_test(test_self),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

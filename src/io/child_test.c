#include "base/base.h"
#include "io/child_fixture.h"
#include "io/child_private.h"
#include "io/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

/* -- starting -------------------------------------------------------------------------------------------- */

static void a_child_says_something_and_exits(void **state)
{
	struct scene scene;
	char text[CHILD_STATUS_TEXT_MAX];

	(void)state;
	scene_init(&scene);
	START(&scene, "sh", "-c", "echo out; echo err >&2; printf unfinished; exit 3");
	assert_int_equal(scene.lines, 0);
	scene_run(&scene);
	assert_string_equal(scene.story, "[out][unfinished]");
	assert_string_equal(scene.last_words, "err\n");
	assert_true(scene.status.started);
	assert_int_equal(scene.status.exit_code, 3);
	assert_int_equal(scene.status.signal_number, 0);
	assert_int_equal(scene.status.err.code, 0);
	assert_int_equal(scene.status.left, 0);
	assert_true(scene.child.pid > 0);
	assert_true(str_eq(child_status_text(text, &scene.status), STR("exited with code 3")));
	assert_int_equal(child_write(&scene.child, STR("x")), ERR_CLOSED);
	assert_int_equal(child_stderr(&scene.child).n, 0);
}

static void a_signal_is_told_apart_from_an_exit(void **state)
{
	struct scene scene;
	char text[CHILD_STATUS_TEXT_MAX];

	(void)state;
	scene_init(&scene);
	START(&scene, "sh", "-c", "kill -SEGV $$");
	scene_run(&scene);
	assert_int_equal(scene.status.exit_code, -1);
	assert_int_equal(scene.status.signal_number, SIGSEGV);
	assert_true(str_eq(child_status_text(text, &scene.status), STR("was killed by signal 11 (SEGV)")));
}

static void assert_cannot_start(struct scene *scene, int code, const char *message)
{
	char text[CHILD_STATUS_TEXT_MAX];

	scene_run(scene);
	assert_false(scene->status.started);
	assert_int_equal(scene->status.err.code, code);
	assert_string_equal(scene->status.err.message, message);
	assert_int_equal(scene->status.exit_code, -1);
	assert_true(str_eq(child_status_text(text, &scene->status), str_of(message)));
}

static void a_program_that_cannot_run_is_named(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.cwd = "/tmp";
	START(&scene, "no-such-program", "argument");
	assert_cannot_start(
		&scene, ERR_NOT_FOUND,
		"cannot run \"no-such-program\" in the directory /tmp, searching PATH /usr/bin:/bin: "
		"No such file or directory");

	scene_init(&scene);
	START(&scene, "/etc/passwd");
	scene.spec.cwd = NULL;
	assert_cannot_start(&scene, ERR_DENIED,
			    "cannot run \"/etc/passwd\" in the directory /: Permission denied");

	scene_init(&scene);
	stage_environment[1] = NULL;
	START(&scene, "no-such-program");
	assert_cannot_start(
		&scene, ERR_NOT_FOUND,
		"cannot run \"no-such-program\" in the directory /, searching /bin:/usr/bin because "
		"PATH is not set: No such file or directory");
}

static void a_directory_that_is_not_there_is_named(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.cwd = "/nowhere/at/all";
	START(&scene, "true");
	assert_cannot_start(
		&scene, ERR_NOT_FOUND,
		"cannot run \"true\": cannot enter the directory /nowhere/at/all: No such file or "
		"directory");
}

/* A PATH that is longer than a message must not push the reason out of it. */
static void a_long_path_is_cut(void **state)
{
	char path[3000] = "PATH=";
	struct scene scene;

	(void)state;
	for (size_t i = strlen(path); i < sizeof(path) - 1; i++)
		path[i] = "/xx:"[i % 4];
	stage_environment[1] = path;
	scene_init(&scene);
	START(&scene, "no-such-program");
	scene_run(&scene);
	assert_true(
		str_starts_with(str_of(scene.status.err.message),
				STR("cannot run \"no-such-program\" in the directory /, searching PATH ")));
	assert_true(str_ends_with(str_of(scene.status.err.message), STR(": No such file or directory")));
}

static void a_supervisor_that_is_not_there_is_named(void **state)
{
	static const char *const argv[] = { "true", NULL };
	struct scene scene;
	struct err err;

	(void)state;
	scene_init(&scene);
	scene.spec.supervisor = "/nowhere/mcpx-supervisor";
	scene.spec.argv = argv;
	assert_int_equal(child_start(&scene.child, stage_loop, &scene.spec, &scene.events, &err),
			 ERR_NOT_FOUND);
	assert_string_equal(err.message,
			    "cannot start the supervisor /nowhere/mcpx-supervisor of \"true\": No such "
			    "file or directory");
	assert_null(scene.child.process);
	child_release(&scene.child);
}

/* Any other program in its place ends before a child was started. */
static void a_supervisor_that_is_none_is_noticed(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.supervisor = "/bin/false";
	START(&scene, "true");
	assert_cannot_start(
		&scene, ERR_CLOSED,
		"the supervisor of the process exited with code 1 before its child; is it of another "
		"version?");
}

static void the_child_gets_what_was_asked_for(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.cwd = "/usr";
	scene.spec.files_max = 64;
	scene.spec.memory_max = UINT64_C(1) << 30;
	scene.spec.stdin_fd = CHILD_STDIN_NULL;
	stage_environment[2] = "WORD=of mouth";
	START(&scene, "sh", "-c",
	      "pwd; ulimit -n; ulimit -v; echo $WORD $#; readlink /proc/$$/fd/0; "
	      "for fd in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && printf $fd; done; echo; "
	      "for word in $(grep -E 'Sig(Blk|Ign)' /proc/$$/status); do case $word in Sig*) ;; *) echo $((0x$word & 0x7fffffff)) ;; esac; done",
	      "sh", "a", "b c");
	scene_run(&scene);
	/* Three descriptors, and no signal blocked or ignored (but glibc's own, 32 and 33, which
	 * posix_spawn(3) ignores). */
	assert_string_equal(scene.story, "[/usr][64][1048576][of mouth 2][/dev/null][012][0][0]");
	stage_environment[2] = NULL;
}

/* A program may believe PWD: it names the directory that the child is in, by the name it came with if that
 * one is right. */
static void pwd_is_the_working_directory(void **state)
{
	static const struct {
		const char *before, *cwd, *story;
	} cases[] = {
		{ NULL, "/usr", "[/usr]" },
		{ "PWD=/somewhere/else", "/usr", "[/usr]" },
		{ "PWD=/usr/../usr", "/usr", "[/usr/../usr]" },
		{ "PWD=/somewhere/else", NULL, "[/somewhere/else]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene scene;

		scene_init(&scene);
		scene.spec.cwd = cases[i].cwd;
		stage_environment[2] = cases[i].before;
		START(&scene, "printenv", "PWD");
		scene_run(&scene);
		assert_string_equal(scene.story, cases[i].story);
	}
	stage_environment[2] = NULL;
}

/* What we took for ourselves is not the child's: it may use select(2). */
static void a_raised_limit_is_ours_alone(void **state)
{
	struct rlimit before, ours;
	struct scene scene;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(descriptors_inherited(), 0);
	ours = (struct rlimit){ .rlim_cur = 256, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &ours), 0);
	descriptors_raise(128);
	assert_int_equal(descriptors_inherited(), 0);
	descriptors_raise(512);
	assert_int_equal(descriptors_inherited(), 256);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &ours), 0);
	assert_int_equal(ours.rlim_cur, 512);
	scene_init(&scene);
	START(&scene, "sh", "-c", "ulimit -Sn");
	scene_run(&scene);
	assert_string_equal(scene.story, "[256]");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void the_child_leads_its_own_session(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	/* pid, parent, group, session */
	START(&scene, "sh", "-c",
	      "read -r pid name state parent group session rest </proc/self/stat; "
	      "[ $$ = $group ] && [ $$ = $session ] && echo leads");
	scene_run(&scene);
	assert_string_equal(scene.story, "[leads]");
}

/* -- stdout ---------------------------------------------------------------------------------------------- */

static void a_line_that_is_too_long_is_cut(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.line_max = 5;
	START(&scene, "sh", "-c",
	      "echo 12345; echo 123456; echo; head -c 300000 /dev/zero | tr '\\0' x; echo; echo end");
	scene_run(&scene);
	assert_string_equal(scene.story, "[12345][12345]!.[][xxxxx]!.[end]");
}

static void a_line_of_megabytes_arrives_whole(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.line_max = 16 << 20;
	START(&scene, "sh", "-c", "head -c 16777216 /dev/zero | tr '\\0' x; echo; echo end");
	scene_run(&scene);
	assert_int_equal(scene.bytes, (16 << 20) + 3);
	assert_string_equal(scene.story, "[end]");
}

static void raw_output_arrives_as_it_is(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.raw_stdout = true;
	scene.spec.line_max = 0;
	START(&scene, "printf", "a\\nb\\r\\n\\nc");
	scene_run(&scene);
	assert_string_equal(scene.story, "a\nb\r\n\nc");
}

static unsigned outputs_ended;

static void output_ended(struct child *child)
{
	struct scene *scene = container_of(child, struct scene, child);

	assert_int_equal(scene->exits, 0);
	assert_string_equal(scene->story, "[a][b]");
	outputs_ended++;
	child_close_stdin(child);
}

static void the_end_of_stdout_is_told_before_the_end(void **state)
{
	struct scene scene;

	(void)state;
	outputs_ended = 0;
	scene_init(&scene);
	scene.events.output_ended = output_ended;
	START(&scene, "sh", "-c", "echo a; printf b; exec >&-; read line; exit 3");
	scene_run(&scene);
	assert_int_equal(outputs_ended, 1);
	assert_int_equal(scene.status.exit_code, 3); /* it waited for the end of its stdin */
}

static void resume_later(struct timer *timer);
static struct timer later;
static struct scene *held;

static void pause_at_every_line(struct scene *scene)
{
	child_pause_output(&scene->child);
	held = scene;
	timer_start(&later, stage_loop, 1, resume_later);
}

static void resume_later(struct timer *timer)
{
	size_t lines = held->lines;

	(void)timer;
	child_resume_output(&held->child);
	assert_int_equal(held->lines, lines); /* not from within */
}

static void a_paused_child_loses_nothing(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = pause_at_every_line;
	START(&scene, "sh", "-c", "echo a; echo b; echo c; echo d; printf e");
	scene_run(&scene);
	assert_string_equal(scene.story, "[a][b][c][d][e]");
}

static void stop_it(struct timer *timer)
{
	(void)timer;
	child_stop(&held->child);
}

static void pause_and_stop(struct child *child, struct str line, _unused_ bool too_long)
{
	held = container_of(child, struct scene, child);
	held->bytes += line.n;
	if (held->lines++)
		return;
	child_pause_output(child);
	timer_start(&later, stage_loop, 1, stop_it);
}

/* The child fills its pipe and waits there for ever. Stopping it ends the pause. */
static void a_paused_child_waits_and_can_be_stopped(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.events.output = pause_and_stop;
	scene.spec.close_ms = 1;
	START(&scene, "yes");
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGTERM);
	/* What was read before the pause, and the pipe. */
	assert_in_range(scene.bytes, 1, 200000);
}

static void stop_when_over(struct timer *timer)
{
	if (held->child.process->over)
		child_stop(&held->child);
	else
		timer_start(timer, stage_loop, 1, stop_when_over);
}

static void pause_and_stop_when_over(struct child *child, struct str line, _unused_ bool too_long)
{
	held = container_of(child, struct scene, child);
	held->bytes += line.n;
	if (held->lines++)
		return;
	child_pause_output(child);
	timer_start(&later, stage_loop, 1, stop_when_over);
}

/* Also when it has ended by itself meanwhile, so that only what it said is still to come. */
static void a_paused_child_that_has_ended_can_be_stopped(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.events.output = pause_and_stop_when_over;
	START(&scene, "sh", "-c", "echo a; echo b; printf c; exit 3");
	scene_run(&scene);
	assert_int_equal(scene.lines, 3);
	assert_int_equal(scene.status.exit_code, 3);
}

/* -- stderr ---------------------------------------------------------------------------------------------- */

static size_t error_bytes;

static void count_error_bytes(struct child *child, struct str bytes)
{
	(void)child;
	error_bytes += bytes.n;
}

static void the_end_of_stderr_is_kept(void **state)
{
	struct scene scene;

	(void)state;
	error_bytes = 0;
	scene_init(&scene);
	scene.spec.stderr_keep = 20;
	scene.events.error_output = count_error_bytes;
	START(&scene, "sh", "-c",
	      "(head -c 100000 /dev/zero | tr '\\0' x; printf '\\033[31mred\\033[0m words') >&2");
	scene_run(&scene);
	assert_string_equal(scene.last_words, "xx\033[31mred\033[0m words");
	assert_int_equal(error_bytes, 100000 + 18);
}

/* -- stdin ----------------------------------------------------------------------------------------------- */

static void what_is_written_comes_back(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	START(&scene, "cat");
	assert_int_equal(child_write(&scene.child, STR("one\n")), 0);
	assert_int_equal(child_write(&scene.child, STR("two\n")), 0);
	child_close_stdin(&scene.child);
	assert_int_equal(child_write(&scene.child, STR("three\n")), ERR_CLOSED);
	scene_run(&scene);
	assert_string_equal(scene.story, "[one][two]");
	assert_int_equal(scene.status.exit_code, 0);
}

/* Far more than a pipe holds, closed before it was written. */
static void queued_input_is_written_before_stdin_is_closed(void **state)
{
	enum { SIZE = 1 << 20 };
	struct scene scene;
	char *bytes = xcalloc(1, SIZE);

	(void)state;
	scene_init(&scene);
	START(&scene, "wc", "-c");
	assert_int_equal(child_write(&scene.child, str_make(bytes, SIZE)), 0);
	assert_true(child_unsent(&scene.child) > 0);
	child_close_stdin(&scene.child);
	free(bytes);
	scene_run(&scene);
	assert_string_equal(scene.story, "[1048576]");
}

static char block[1000];
static size_t written;

static void write_more(struct child *child)
{
	struct scene *scene = container_of(child, struct scene, child);

	scene->writable++;
	while (written < 1000000 && child_write(child, str_make(block, sizeof(block))) == 0)
		written += sizeof(block);
	assert_true(child_unsent(child) <= scene->spec.input_max);
	if (written >= 1000000)
		child_close_stdin(child);
}

static void input_is_bounded(void **state)
{
	struct scene scene;

	(void)state;
	written = 0;
	block[0] = '\n';
	scene_init(&scene);
	scene.spec.input_max = 3000;
	scene.events.writable = write_more;
	/* Nobody reads until the queue is full. */
	START(&scene, "sh", "-c", "read -r line; wc -c");
	write_more(&scene.child);
	assert_int_equal(child_write(&scene.child, str_make(block, sizeof(block))), ERR_BUSY);
	assert_in_range(written, 3000, 999999);
	scene_run(&scene);
	assert_string_equal(scene.story, "[999999]");
	assert_true(scene.writable >= 2);
}

static void one_write_over_the_bound_is_refused_for_good(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.input_max = 10;
	START(&scene, "cat");
	assert_int_equal(child_write(&scene.child, STR("12345678901")), ERR_TOO_LARGE);
	assert_int_equal(child_write(&scene.child, STR("123456789\n")), 0);
	child_close_stdin(&scene.child);
	scene_run(&scene);
	assert_string_equal(scene.story, "[123456789]");
}

static void write_into_the_void(struct timer *timer)
{
	int code = child_write(&held->child, STR("x"));

	if (code == ERR_CLOSED)
		child_kill(&held->child);
	else /* the supervisor is just about to close its own copy */
		timer_start(timer, stage_loop, 1, write_into_the_void);
}

static void write_soon(struct scene *scene)
{
	held = scene;
	timer_start(&later, stage_loop, 0, write_into_the_void);
}

static void a_child_may_close_its_stdin(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = write_soon;
	START(&scene, "sh", "-c", "exec <&-; echo closed; exec sleep 1000");
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGKILL);
	assert_int_equal(child_write(&scene.child, STR("x")), ERR_CLOSED);
}

static void kill_when_writable(struct child *child)
{
	scene_writable(child);
	assert_int_equal(child_write(child, STR("x")), ERR_CLOSED);
	child_kill(child);
}

/* The owner waits for room; the child makes sure that there never is any. */
static void a_waiting_writer_is_told_that_stdin_is_closed(void **state)
{
	enum { SIZE = 1 << 20 };
	struct scene scene;
	char *bytes = xcalloc(1, SIZE);

	(void)state;
	scene_init(&scene);
	scene.events.writable = kill_when_writable;
	START(&scene, "sh", "-c", "read -r line; exec <&-; exec sleep 1000");
	bytes[0] = '\n';
	assert_int_equal(child_write(&scene.child, str_make(bytes, SIZE)), 0);
	assert_int_equal(child_write(&scene.child, str_make(bytes, SIZE)), ERR_BUSY);
	free(bytes);
	scene_run(&scene);
	assert_int_equal(scene.writable, 1);
}

static void a_descriptor_can_be_stdin(void **state)
{
	struct scene scene;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	scene_init(&scene);
	scene.spec.stdin_fd = fds[0];
	START(&scene, "cat");
	assert_int_equal(child_write(&scene.child, STR("x")), ERR_CLOSED);
	child_close_stdin(&scene.child);
	assert_int_equal(write(fds[1], "given\n", 6), 6);
	close(fds[1]);
	scene_run(&scene);
	assert_string_equal(scene.story, "[given]");
	close(fds[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ON_STAGE(a_child_says_something_and_exits),
		ON_STAGE(a_raised_limit_is_ours_alone),
		ON_STAGE(a_signal_is_told_apart_from_an_exit),
		ON_STAGE(a_program_that_cannot_run_is_named),
		ON_STAGE(a_directory_that_is_not_there_is_named),
		ON_STAGE(a_long_path_is_cut),
		ON_STAGE(a_supervisor_that_is_not_there_is_named),
		ON_STAGE(a_supervisor_that_is_none_is_noticed),
		ON_STAGE(the_child_gets_what_was_asked_for),
		ON_STAGE(pwd_is_the_working_directory),
		ON_STAGE(the_child_leads_its_own_session),
		ON_STAGE(a_line_that_is_too_long_is_cut),
		ON_STAGE(a_line_of_megabytes_arrives_whole),
		ON_STAGE(raw_output_arrives_as_it_is),
		ON_STAGE(the_end_of_stdout_is_told_before_the_end),
		ON_STAGE(a_paused_child_loses_nothing),
		ON_STAGE(a_paused_child_waits_and_can_be_stopped),
		ON_STAGE(a_paused_child_that_has_ended_can_be_stopped),
		ON_STAGE(the_end_of_stderr_is_kept),
		ON_STAGE(what_is_written_comes_back),
		ON_STAGE(queued_input_is_written_before_stdin_is_closed),
		ON_STAGE(input_is_bounded),
		ON_STAGE(one_write_over_the_bound_is_refused_for_good),
		ON_STAGE(a_child_may_close_its_stdin),
		ON_STAGE(a_waiting_writer_is_told_that_stdin_is_closed),
		ON_STAGE(a_descriptor_can_be_stdin),
	};

	return run_on_stage("child", tests);
}

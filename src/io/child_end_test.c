#include "base/base.h"
#include "io/child_fixture.h"
#include "io/files.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/* -- the ladder ------------------------------------------------------------------------------------------ */

static void stop_at_first_line(struct scene *scene)
{
	scene->on_line = NULL;
	assert_true(count_marked() >= 2);
	child_stop(&scene->child);
	child_stop(&scene->child);
}

static void stop_when_ready(struct scene *scene, const char *script)
{
	scene->on_line = stop_at_first_line;
	START(scene, "sh", "-c", script);
	scene_run(scene);
	assert_int_equal(count_marked(), 0);
	assert_true(no_zombies());
}

static void first_rung_closes_stdin(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	stop_when_ready(&scene, "echo ready; cat; echo bye; exit 5");
	assert_string_equal(scene.story, "[ready][bye]");
	assert_int_equal(scene.status.exit_code, 5);
}

static void second_rung_terminates_the_group(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.close_ms = 1;
	/* `wait`, and not a command in the foreground, because a trap runs only after that. */
	stop_when_ready(&scene,
			"trap : TERM; sh -c 'trap \"echo grandchild; exit\" TERM; sleep 1000 & echo ready; "
			"wait' & wait; wait; echo child; exit 6");
	assert_string_equal(scene.story, "[ready][grandchild][child]");
	assert_int_equal(scene.status.exit_code, 6);
}

static void third_rung_kills(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.close_ms = scene.spec.term_ms = 1;
	stop_when_ready(&scene, "trap '' TERM; echo ready; while :; do sleep 1000; done");
	assert_int_equal(scene.status.signal_number, SIGKILL);
}

static void a_stopped_child_hears_the_term(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.close_ms = 1;
	stop_when_ready(&scene, "trap 'echo woken; exit 7' TERM; (echo ready; kill -STOP $$) & wait; wait");
	assert_string_equal(scene.story, "[ready][woken]");
	assert_int_equal(scene.status.exit_code, 7);
}

static void kill_at_first_line(struct scene *scene)
{
	scene->on_line = NULL;
	child_kill(&scene->child);
}

static void a_kill_skips_the_ladder(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = kill_at_first_line;
	START(&scene, "sh", "-c", "echo ready; cat");
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGKILL);
}

/* Before the supervisor has even said that the child runs. */
static void a_child_can_be_killed_at_once(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	START(&scene, "sleep", "1000");
	child_kill(&scene.child);
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGKILL);
}

/* -- descendants ----------------------------------------------------------------------------------------- */

/* Each line is a way to get away from one's parent; all of them print "ready" when they are out. */
static const char *const escapes[] = {
	/* a wrapper that waits for the real server */
	"sh -c 'trap \"\" TERM HUP INT; echo ready; sleep 1000; :'; :",
	/* a daemon: its parent is gone, its session is its own */
	"(setsid sh -c 'trap \"\" TERM HUP INT; echo ready; while :; do sleep 1000; done' &); sleep 1000",
	/* the same in a deeper place, with children of its own */
	"sh -c '(setsid sh -c \"sleep 1000 & sleep 1001 & (setsid sleep 1002 &); echo ready; wait\" &)'; sleep 1000",
	/* stopped: it cannot react to anything */
	"sh -c 'kill -STOP $$' & sleep 1000 & kill -STOP $!; (setsid sh -c 'echo ready; kill -STOP $$' &); wait",
};

static void exit_at_first_line(struct scene *scene)
{
	scene->on_line = NULL;
	assert_true(count_marked() >= 3);
	kill(scene->child.pid, SIGKILL);
}

static void nothing_survives_its_child(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		struct scene scene;

		scene_init(&scene);
		scene.on_line = exit_at_first_line;
		START(&scene, "sh", "-c", escapes[i]);
		scene_run(&scene);
		assert_int_equal(scene.status.signal_number, SIGKILL);
		assert_int_equal(scene.status.left, 0);
		assert_int_equal(count_marked(), 0);
		assert_true(no_zombies());
	}
}

static void nothing_survives_the_ladder(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		struct scene scene;

		scene_init(&scene);
		scene.spec.close_ms = scene.spec.term_ms = 1;
		stop_when_ready(&scene, escapes[i]);
		assert_int_equal(scene.status.left, 0);
	}
}

static void kill_at_tenth_line(struct scene *scene)
{
	if (scene->lines < 10)
		return;
	scene->on_line = NULL;
	child_kill(&scene->child);
}

/* One that has left its parent, its group and its session before anybody can look at it, again and again:
 * whoever kills it may find that it was already its own child. */
static void a_chain_of_forks_is_caught(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = kill_at_tenth_line;
	stage_environment[2] = "HOP=echo hop; setsid sh -c \"$HOP\" & exit";
	START(&scene, "sh", "-c", "sh -c \"$HOP\"; sleep 1000");
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGKILL);
	assert_int_equal(scene.status.left, 0);
	assert_int_equal(count_marked(), 0);
}

/* While the child lives, the supervisor reaps those that it has adopted. */
static void adopted_zombies_are_reaped(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	START(&scene, "sh", "-c",
	      "daemon=$(sh -c 'sh -c \"echo \\$\\$; exec 1>&-; read -r line\" <&3 & ' 3<&0); echo go; "
	      "while [ -d /proc/$daemon ]; do sleep 0.01; done; echo reaped");
	assert_int_equal(child_write(&scene.child, STR("line\n")), 0);
	scene_run(&scene);
	assert_string_equal(scene.story, "[go][reaped]");
}

/* -- accidents ------------------------------------------------------------------------------------------- */

static void shower_the_supervisor(struct scene *scene)
{
	static const int signals[] = { SIGTERM, SIGINT,	 SIGHUP,  SIGQUIT, SIGPIPE,
				       SIGUSR1, SIGALRM, SIGTSTP, SIGCONT };
	pid_t supervisor = parent_of(scene->child.pid);

	assert_true(supervisor != getpid());
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		assert_int_equal(kill(supervisor, signals[i]), 0);
	scene->on_line = NULL;
	assert_int_equal(child_write(&scene->child, STR("go on\n")), 0);
	child_close_stdin(&scene->child);
}

static void a_supervisor_survives_careless_signals(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = shower_the_supervisor;
	START(&scene, "sh", "-c", "echo ready; cat; exit 4");
	scene_run(&scene);
	assert_string_equal(scene.story, "[ready][go on]");
	assert_int_equal(scene.status.exit_code, 4);
}

static void kill_the_supervisor(struct scene *scene)
{
	scene->on_line = NULL;
	kill(parent_of(scene->child.pid), SIGKILL);
}

static void a_child_dies_with_its_supervisor(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = kill_the_supervisor;
	START(&scene, "sh", "-c", "trap '' TERM; sh -c 'trap \"\" TERM; echo ready; sleep 1000; :'; :");
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGKILL);
	assert_int_equal(scene.status.err.code, ERR_CLOSED);
	assert_string_equal(scene.status.err.message, "the supervisor of the process was killed by signal 9");
	assert_true(wait_until_unmarked(LONG_MS));
}

static void freeze_the_supervisor(struct scene *scene)
{
	scene->on_line = NULL;
	kill(parent_of(scene->child.pid), SIGSTOP);
	child_kill(&scene->child);
}

static void a_stopped_supervisor_is_woken(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.on_line = freeze_the_supervisor;
	START(&scene, "sh", "-c", "echo ready; sleep 1000; :");
	scene_run(&scene);
	assert_int_equal(scene.status.err.code, 0);
	assert_int_equal(scene.status.signal_number, SIGKILL);
}

static void freeze_after_the_kill(struct scene *scene)
{
	pid_t supervisor = parent_of(scene->child.pid);

	scene->on_line = NULL;
	child_kill(&scene->child);
	kill(supervisor, SIGSTOP);
}

/* It had been told to kill and woken, and was stopped again: either it was faster, or we lose patience and
 * kill it too. */
static void a_supervisor_that_does_not_answer_is_killed(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.spec.kill_ms = 5;
	scene.on_line = freeze_after_the_kill;
	START(&scene, "sh", "-c", "trap '' TERM; echo ready; sleep 1000; :");
	scene_run(&scene);
	assert_int_equal(scene.status.signal_number, SIGKILL);
	assert_true(wait_until_unmarked(LONG_MS));
}

/* -- release --------------------------------------------------------------------------------------------- */

static void release_it(struct child *child, struct str line, bool too_long)
{
	struct scene *scene = container_of(child, struct scene, child);

	scene->lines++;
	child_release(child);
	child_release(child);
	/* Still there: AddressSanitizer would tell. */
	assert_true(str_eq(line, STR("one")) && !too_long);
}

static void a_released_child_is_never_heard_of_again(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.events.output = release_it;
	START(&scene, "sh", "-c", "printf 'one\\ntwo\\n'; sleep 1000; :");
	loop_run(stage_loop);
	assert_int_equal(scene.exits, 0);
	assert_int_equal(scene.lines, 1);
	assert_int_equal(count_marked(), 0);
	assert_true(no_zombies());
}

/* Nobody runs the loop any more: loop_free() sees it through. */
static void a_released_child_does_not_outlive_the_loop(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	START(&scene, "sleep", "1000");
	child_release(&scene.child);
	loop_free(&stage_loop);
	assert_int_equal(count_marked(), 0);
	assert_true(no_zombies());
}

static void release_in_exited(struct child *child, const struct child_status *status)
{
	scene_exited(child, status);
	child_release(child);
}

static void start_again_in_exited(struct child *child, const struct child_status *status)
{
	struct scene *scene = container_of(child, struct scene, child);

	scene_exited(child, status);
	scene->exits = 0;
	scene->events.exited = release_in_exited;
	START(scene, "echo", "second");
}

static void a_child_can_be_started_again_in_its_last_callback(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.events.exited = start_again_in_exited;
	START(&scene, "echo", "first");
	scene_run(&scene);
	assert_string_equal(scene.story, "[first][second]");
}

static void two_hundred_starts_and_stops_leave_nothing(void **state)
{
	unsigned descriptors = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct scene scene;

		scene_init(&scene);
		scene.spec.close_ms = i % 3 ? LONG_MS : 0;
		scene.spec.term_ms = 0;
		START(&scene, "cat");
		if (i % 5 == 0)
			child_release(&scene.child);
		else
			child_stop(&scene.child);
		loop_run(stage_loop);
		assert_int_equal(scene.exits, i % 5 == 0 ? 0 : 1);
		if (i == 0)
			descriptors = count_descriptors();
	}
	assert_int_equal(count_descriptors(), descriptors);
	assert_int_equal(count_marked(), 0);
	assert_true(no_zombies());
}

/* -- the death of the daemon ----------------------------------------------------------------------------- */

static int story_pipe;

static void pass_on(struct scene *scene)
{
	scene->on_line = NULL;
	(void)!write(story_pipe, "r", 1);
}

/* A process that does nothing but hold a child; SIGKILL will be its end. */
static _noreturn_ void be_the_daemon(const char *script)
{
	struct scene scene;

	scene_init(&scene);
	scene.on_line = pass_on;
	scene.spec.argv = (const char *const[]){ "sh", "-c", script, NULL };
	if (loop_new(&stage_loop, NULL) == 0 &&
	    child_start(&scene.child, stage_loop, &scene.spec, &scene.events, NULL) == 0)
		loop_run(stage_loop);
	_exit(1);
}

static void nothing_survives_the_daemon(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		int fds[2], status;
		pid_t daemon;
		char byte;

		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		daemon = fork();
		if (daemon == 0) {
			story_pipe = fds[1];
			be_the_daemon(escapes[i]);
		}
		close(fds[1]);
		assert_int_equal(read(fds[0], &byte, 1), 1);
		assert_true(count_marked() >= 3);
		assert_int_equal(kill(daemon, SIGKILL), 0);
		assert_int_equal(waitpid(daemon, &status, 0), daemon);
		assert_true(WIFSIGNALED(status));
		assert_true(wait_until_unmarked(5000));
		close(fds[0]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ON_STAGE(first_rung_closes_stdin),
		ON_STAGE(second_rung_terminates_the_group),
		ON_STAGE(third_rung_kills),
		ON_STAGE(a_stopped_child_hears_the_term),
		ON_STAGE(a_kill_skips_the_ladder),
		ON_STAGE(a_child_can_be_killed_at_once),
		ON_STAGE(nothing_survives_its_child),
		ON_STAGE(nothing_survives_the_ladder),
		ON_STAGE(a_chain_of_forks_is_caught),
		ON_STAGE(adopted_zombies_are_reaped),
		ON_STAGE(a_supervisor_survives_careless_signals),
		ON_STAGE(a_child_dies_with_its_supervisor),
		ON_STAGE(a_stopped_supervisor_is_woken),
		ON_STAGE(a_supervisor_that_does_not_answer_is_killed),
		ON_STAGE(a_released_child_is_never_heard_of_again),
		ON_STAGE(a_released_child_does_not_outlive_the_loop),
		ON_STAGE(a_child_can_be_started_again_in_its_last_callback),
		ON_STAGE(two_hundred_starts_and_stops_leave_nothing),
		ON_STAGE(nothing_survives_the_daemon),
	};

	return run_on_stage("child_end", tests);
}

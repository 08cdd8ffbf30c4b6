#include "base/base.h"
#include "io/loop.h"

#include "io/file_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <cmocka.h>

/* What the callbacks of one test write down, in the order in which they came. */
static struct loop *loop;
static char story[256];

static void tell(char c)
{
	size_t n = strlen(story);

	assert_true(n < sizeof(story) - 1);
	story[n] = c;
	story[n + 1] = '\0';
}

static int set_up(void **state)
{
	(void)state;
	story[0] = '\0';
	return loop_new(&loop, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	loop_free(&loop);
	return loop ? -1 : 0;
}

/* -- timers ---------------------------------------------------------------------------------------------- */

struct named_timer {
	struct timer timer;
	char name;
	struct named_timer *victim;
};

static void timer_tells(struct timer *timer)
{
	struct named_timer *named = container_of(timer, struct named_timer, timer);

	assert_false(timer_running(timer));
	tell(named->name);
	if (named->victim)
		timer_stop(&named->victim->timer);
}

static void timers_end_in_order(void **state)
{
	struct named_timer timers[] = {
		{ .name = 'a' }, { .name = 'b' }, { .name = 'c' }, { .name = 'd' }, { .name = 'e' }
	};
	static const uint64_t ms[] = { 9, 1, 4, 4, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(timers); i++)
		timer_start(&timers[i].timer, loop, ms[i], timer_tells);
	loop_run(loop);
	assert_string_equal(story, "ebcda");
}

static void a_timer_can_be_moved_and_stopped(void **state)
{
	struct named_timer a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' };

	(void)state;
	timer_start(&a.timer, loop, 1, timer_tells);
	timer_start(&b.timer, loop, 2, timer_tells);
	timer_start(&c.timer, loop, 3, timer_tells);
	timer_start(&a.timer, loop, 6, timer_tells);
	timer_stop(&b.timer);
	timer_stop(&b.timer);
	assert_false(timer_running(&b.timer));
	loop_run(loop);
	assert_string_equal(story, "ca");
}

static void a_timer_can_stop_another_that_is_due(void **state)
{
	struct named_timer b = { .name = 'b' }, a = { .name = 'a', .victim = &b }, c = { .name = 'c' };

	(void)state;
	timer_start(&a.timer, loop, 1, timer_tells);
	timer_start(&b.timer, loop, 1, timer_tells);
	timer_start(&c.timer, loop, 1, timer_tells);
	loop_run(loop);
	assert_string_equal(story, "ac");
}

static struct deferred between;

static void deferred_tells(_unused_ struct deferred *deferred)
{
	tell('.');
}

static void timer_starts_itself(struct timer *timer)
{
	tell('t');
	loop_defer(loop, &between, deferred_tells);
	if (strlen(story) < 5)
		timer_start(timer, loop, 0, timer_starts_itself);
}

static void a_timer_of_no_time_lets_others_run(void **state)
{
	struct timer timer = { 0 };

	(void)state;
	timer_start(&timer, loop, 0, timer_starts_itself);
	loop_run(loop);
	assert_string_equal(story, "t.t.t.");
}

static void never(_unused_ struct timer *timer)
{
	fail();
}

static void timers_far_away_do_not_overflow(void **state)
{
	struct timer timer = { 0 };
	struct named_timer soon = { .name = 's' };

	(void)state;
	timer_start(&timer, loop, UINT64_MAX, never);
	timer_start(&soon.timer, loop, 1, timer_tells);
	assert_true(timer.due == UINT64_MAX);
	timer_stop(&timer);
	loop_run(loop);
	assert_string_equal(story, "s");
}

enum { MANY = 1000 };
static struct timer many[MANY];
static uint64_t last_due;
static unsigned many_ended;

static void one_of_many(struct timer *timer)
{
	struct timer *other = &many[(size_t)(timer - many) * 7 % MANY];

	assert_true(timer->due >= last_due);
	last_due = timer->due;
	many_ended++;
	if (timer_running(other) && many_ended % 3 == 0) {
		timer_stop(other);
		many_ended++;
	}
}

/* Deadlines in a scattered order, some stopped at the beginning and some by others: the heap stays a heap. */
static void a_thousand_timers(void **state)
{
	unsigned stopped = 0;

	(void)state;
	last_due = 0;
	many_ended = 0;
	for (unsigned i = 0; i < MANY; i++)
		timer_start(&many[i], loop, i * 7919u % 20, one_of_many);
	for (unsigned i = 0; i < MANY; i += 11, stopped++)
		timer_stop(&many[i]);
	loop_run(loop);
	assert_int_equal(many_ended + stopped, MANY);
}

/* -- deferred calls -------------------------------------------------------------------------------------- */

struct named_deferred {
	struct deferred deferred;
	char name;
	struct named_deferred *next, *victim;
};

static void named_call(struct deferred *deferred)
{
	struct named_deferred *named = container_of(deferred, struct named_deferred, deferred);

	tell(named->name);
	if (named->next)
		loop_defer(loop, &named->next->deferred, named_call);
	if (named->victim)
		deferred_cancel(&named->victim->deferred);
}

static void deferred_calls_come_from_the_loop(void **state)
{
	struct named_deferred c = { .name = 'c' }, b = { .name = 'b', .next = &c }, d = { .name = 'd' },
			      a = { .name = 'a', .next = &b, .victim = &d };
	struct named_timer timer = { .name = 't' };

	(void)state;
	/* Long, so that a loop which sleeps before it makes deferred calls is noticed. */
	timer_start(&timer.timer, loop, 20, timer_tells);
	loop_defer(loop, &a.deferred, named_call);
	loop_defer(loop, &d.deferred, named_call);
	loop_defer(loop, &a.deferred, named_call);
	assert_string_equal(story, "");
	loop_run(loop);
	assert_string_equal(story, "abct");
	deferred_cancel(&a.deferred);
}

struct doomed {
	struct deferred deferred;
	char name;
};

static void free_myself(struct deferred *deferred)
{
	struct doomed *doomed = container_of(deferred, struct doomed, deferred);

	loop_free_later(loop, doomed);
	tell(doomed->name); /* still there: AddressSanitizer would tell */
}

static void an_object_can_be_freed_in_its_own_callback(void **state)
{
	(void)state;
	for (char c = 'a'; c <= 'z'; c++) {
		struct doomed *doomed = xnew(struct doomed);

		doomed->name = c;
		loop_defer(loop, &doomed->deferred, free_myself);
	}
	loop_free_later(loop, NULL);
	loop_run(loop);
	assert_string_equal(story, "abcdefghijklmnopqrstuvwxyz");
	/* Never run again: loop_free() frees it. */
	loop_free_later(loop, xmalloc(1));
}

/* -- descriptors ----------------------------------------------------------------------------------------- */

struct named_watch {
	struct watch watch;
	int fd;
	unsigned seen, rounds;
};

static void read_all(struct watch *watch, unsigned events)
{
	struct named_watch *named = container_of(watch, struct named_watch, watch);
	char bytes[4];
	ssize_t n;

	named->seen |= events;
	named->rounds++;
	assert_int_equal(events, WATCH_READ);
	n = read(named->fd, bytes, sizeof(bytes));
	for (ssize_t i = 0; i < n; i++)
		tell(bytes[i]);
	if (n <= 0)
		watch_stop(watch);
}

static void a_watch_is_level_triggered(void **state)
{
	struct named_watch named = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	named.fd = fds[0];
	assert_int_equal(write(fds[1], "0123456789", 10), 10);
	close(fds[1]);
	assert_int_equal(watch_start(&named.watch, loop, fds[0], WATCH_READ, read_all, NULL), 0);
	loop_run(loop);
	assert_string_equal(story, "0123456789");
	assert_int_equal(named.rounds, 4);
	close(fds[0]);
}

static void stop_and_note(struct watch *watch, unsigned events)
{
	container_of(watch, struct named_watch, watch)->seen = events;
	watch_stop(watch);
}

static void a_hangup_is_seen_without_reading(void **state)
{
	struct named_watch named = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(write(fds[1], "unread", 6), 6);
	assert_int_equal(watch_start(&named.watch, loop, fds[0], WATCH_HANGUP, stop_and_note, NULL), 0);
	close(fds[1]);
	loop_run(loop);
	assert_int_equal(named.seen, WATCH_HANGUP);
	close(fds[0]);
}

static unsigned errors_seen;

static void write_until_error(struct watch *watch, unsigned events)
{
	struct named_watch *named = container_of(watch, struct named_watch, watch);

	assert_int_equal(events, WATCH_WRITE);
	if (++errors_seen < 3)
		return;					/* level-triggered, also in error */
	assert_int_equal(write(named->fd, "x", 1), -1); /* and no SIGPIPE */
	watch_stop(watch);
}

static void a_pipe_without_reader_is_reported_as_writable(void **state)
{
	struct named_watch named = { 0 };
	int fds[2];

	(void)state;
	errors_seen = 0;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	named.fd = fds[1];
	close(fds[0]);
	assert_int_equal(watch_start(&named.watch, loop, fds[1], WATCH_WRITE, write_until_error, NULL), 0);
	loop_run(loop);
	assert_int_equal(errors_seen, 3);
	close(fds[1]);
}

static void turn_on(struct timer *timer)
{
	struct named_watch *named = *(struct named_watch **)(timer + 1);

	tell('|');
	watch_set(&named->watch, WATCH_READ);
}

static void a_silent_watch_reports_nothing(void **state)
{
	struct named_watch named = { 0 };
	struct {
		struct timer timer;
		struct named_watch *named;
	} later = { .named = &named };
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	named.fd = fds[0];
	assert_int_equal(write(fds[1], "ab", 2), 2);
	close(fds[1]);
	assert_int_equal(watch_start(&named.watch, loop, fds[0], 0, read_all, NULL), 0);
	timer_start(&later.timer, loop, 2, turn_on);
	loop_run(loop);
	assert_string_equal(story, "|ab");
	close(fds[0]);
}

static void a_regular_file_cannot_be_watched(void **state)
{
	struct watch watch = { 0 };
	struct err err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(watch_start(&watch, loop, fd, WATCH_READ, read_all, &err), ERR_DENIED);
	assert_string_equal(err.message, "cannot watch a descriptor: Operation not permitted");
	watch_stop(&watch);
	close(fd);
}

/* -- the worker pool ------------------------------------------------------------------------------------- */

struct sum_job {
	struct job job;
	unsigned upto, sum;
	int start_pipe; /* >= 0: the work waits until it can read a byte here */
};
static unsigned sums, cancelled_jobs;

static void sum_work(struct job *job)
{
	struct sum_job *sum = container_of(job, struct sum_job, job);
	char byte;

	if (sum->start_pipe >= 0 && read(sum->start_pipe, &byte, 1) != 1)
		return;
	for (unsigned i = 1; i <= sum->upto; i++)
		sum->sum += i;
}

static void sum_done(struct job *job, bool cancelled)
{
	struct sum_job *sum = container_of(job, struct sum_job, job);

	if (cancelled)
		cancelled_jobs++;
	else
		sums += sum->sum;
	free(sum);
}

static struct sum_job *start_sum(unsigned upto, int start_pipe)
{
	struct sum_job *sum = xnew(struct sum_job);

	sum->upto = upto;
	sum->start_pipe = start_pipe;
	loop_work(loop, &sum->job, sum_work, sum_done);
	return sum;
}

static void jobs_come_back_to_the_loop(void **state)
{
	(void)state;
	sums = cancelled_jobs = 0;
	for (unsigned i = 0; i < 20; i++)
		start_sum(10, -1);
	assert_int_equal(sums, 0);
	loop_run(loop);
	assert_int_equal(sums, 20 * 55);
	assert_int_equal(cancelled_jobs, 0);
}

/* More jobs than threads, so that some are cancelled while they run and some before. */
static void cancelled_jobs_come_back_too(void **state)
{
	struct sum_job *jobs[20];
	char go[ARRAY_LEN(jobs)] = { 0 };
	int fds[2];

	(void)state;
	sums = cancelled_jobs = 0;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
		jobs[i] = start_sum(10, fds[0]);
	for (size_t i = 0; i < ARRAY_LEN(jobs); i += 2)
		job_cancel(&jobs[i]->job);
	assert_int_equal(write(fds[1], go, sizeof(go)), sizeof(go));
	loop_run(loop);
	assert_int_equal(cancelled_jobs, 10);
	assert_int_equal(sums, 10 * 55);
	close(fds[0]);
	close(fds[1]);
}

static void a_loop_waits_for_its_jobs(void **state)
{
	(void)state;
	sums = 0;
	start_sum(4, -1);
	loop_free(&loop);
	assert_null(loop);
	assert_int_equal(sums, 10);
}

/* -- signals and files ----------------------------------------------------------------------------------- */

static void signal_came(struct signal_watch *watch, int number)
{
	assert_int_equal(number, SIGUSR1);
	tell('s');
	signal_watch_stop(watch);
}

static void signals_arrive_on_the_loop(void **state)
{
	struct signal_watch watch = { 0 }, bad = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(signal_watch_start(&watch, loop, SIGUSR1, signal_came, NULL), 0);
	raise(SIGUSR1);
	assert_string_equal(story, "");
	loop_run(loop);
	assert_string_equal(story, "s");
	assert_int_equal(signal_watch_start(&bad, loop, SIGKILL, signal_came, &err), ERR_IO);
	assert_string_equal(err.message, "cannot watch a signal: Invalid argument");
}

static char directory[32];

/* A new and empty one, which is the working directory until leave_directory(). */
static void enter_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/loop-test-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chdir(directory), 0);
}

static void leave_directory(void)
{
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(directory), 0);
}

static void file_changed(struct file_watch *watch, const char *name)
{
	assert_string_equal(name, "watched-file");
	tell('f');
	file_watch_stop(watch);
}

static void touch_file(struct deferred *deferred)
{
	(void)deferred;
	close(open("watched-file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Two that follow one directory, and one another; whoever is told stops all three. */
static struct file_watch shared[3];

static void shared_changed(struct file_watch *watch, const char *name)
{
	(void)name;
	tell((char)('0' + (watch - shared)));
	if (strlen(story) < 2)
		return;
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		file_watch_stop(&shared[i]);
}

static void watches_of_one_directory_are_told_apart(void **state)
{
	struct deferred touch = { 0 };

	(void)state;
	enter_directory();
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		assert_int_equal(file_watch_start(&shared[i], loop, i == 1 ? "/proc/self/fd" : directory,
						  shared_changed, NULL),
				 0);
	loop_defer(loop, &touch, touch_file);
	loop_run(loop);
	assert_string_equal(story, "02");
	assert_int_equal(unlink("watched-file"), 0);
	leave_directory();
}

static struct deferred stop_shared;

static void stop_all_shared(_unused_ struct deferred *deferred)
{
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		file_watch_stop(&shared[i]);
}

static void changed_and_begun_anew(struct file_watch *watch, _unused_ const char *name)
{
	tell((char)('0' + (watch - shared)));
	file_watch_stop(watch);
	assert_int_equal(file_watch_start(watch, loop, ".", changed_and_begun_anew, NULL), 0);
	loop_defer(loop, &stop_shared, stop_all_shared);
}

static void make_directory(_unused_ struct deferred *deferred)
{
	assert_int_equal(mkdir("watched-file", 0700), 0);
}

/* Whoever stops when it is told, and begins anew, does not keep it from the others and is not told twice. */
static void who_begins_anew_keeps_nothing_from_others(void **state)
{
	struct deferred change = { 0 };

	(void)state;
	enter_directory();
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		assert_int_equal(file_watch_start(&shared[i], loop, ".", changed_and_begun_anew, NULL), 0);
	loop_defer(loop, &change, make_directory);
	loop_run(loop);
	assert_string_equal(story, "012");
	assert_int_equal(rmdir("watched-file"), 0);
	leave_directory();
}

static void stop_the_loop(struct timer *timer)
{
	(void)timer;
	tell('x');
	loop_stop(loop);
}

/* A file that is written for ever says nothing, and the loop is free for others. */
static void who_writes_on_is_not_heard(void **state)
{
	struct file_watch watch = { 0 };
	struct timer stop = { 0 };
	int fd;

	(void)state;
	enter_directory();
	fd = open("watched-file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(file_watch_start(&watch, loop, directory, file_changed, NULL), 0);
	assert_int_equal(write(fd, "on and on", 9), 9);
	timer_start(&stop, loop, 5, stop_the_loop);
	loop_run(loop);
	assert_string_equal(story, "x");
	close(fd);
	loop_run(loop);
	assert_string_equal(story, "xf");
	assert_int_equal(unlink("watched-file"), 0);
	leave_directory();
}

static void a_change_of_a_directory_is_seen(void **state)
{
	struct file_watch watch = { 0 }, bad = { 0 };
	struct deferred touch = { 0 };
	struct err err;

	(void)state;
	enter_directory();
	assert_int_equal(file_watch_start(&watch, loop, directory, file_changed, NULL), 0);
	loop_defer(loop, &touch, touch_file);
	loop_run(loop);
	assert_string_equal(story, "f");
	assert_int_equal(unlink("watched-file"), 0);
	leave_directory();
	assert_int_equal(file_watch_start(&bad, loop, "/nowhere/at/all", file_changed, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "cannot watch /nowhere/at/all: No such file or directory");
}

/* -- the loop itself ------------------------------------------------------------------------------------- */

static void a_stopped_loop_can_go_on(void **state)
{
	struct timer stop = { 0 };
	struct named_watch named = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	named.fd = fds[0];
	assert_int_equal(watch_start(&named.watch, loop, fds[0], WATCH_READ, read_all, NULL), 0);
	timer_start(&stop, loop, 1, stop_the_loop);
	loop_run(loop);
	assert_string_equal(story, "x");
	assert_int_equal(write(fds[1], "w", 1), 1);
	close(fds[1]);
	loop_run(loop);
	assert_string_equal(story, "xw");
	close(fds[0]);
}

/* With every libuv: the turn in which the loop is stopped looks at the descriptors, however early the stop
 * comes. */
static void a_stopped_turn_is_finished(void **state)
{
	struct timer stop = { 0 };
	struct named_watch named = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	named.fd = fds[0];
	assert_int_equal(write(fds[1], "w", 1), 1);
	assert_int_equal(watch_start(&named.watch, loop, fds[0], WATCH_READ, read_all, NULL), 0);
	timer_start(&stop, loop, 0, stop_the_loop);
	loop_run(loop);
	assert_non_null(strchr(story, 'w'));
	assert_non_null(strchr(story, 'x'));
	watch_stop(&named.watch);
	close(fds[0]);
	close(fds[1]);
}

static void zeroed_things_can_be_stopped(void **state)
{
	struct timer timer = { 0 };
	struct watch watch = { 0 };
	struct deferred deferred = { 0 };
	struct signal_watch signal_watch = { 0 };
	struct file_watch file_watch = { 0 };

	(void)state;
	timer_stop(&timer);
	watch_stop(&watch);
	watch_set(&watch, WATCH_READ);
	deferred_cancel(&deferred);
	signal_watch_stop(&signal_watch);
	file_watch_stop(&file_watch);
	loop_run(loop); /* nothing can ever happen */
	assert_true(loop_wall_ms() > 1600000000000);
}

#define WITH_LOOP(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_LOOP(timers_end_in_order),
		WITH_LOOP(a_timer_can_be_moved_and_stopped),
		WITH_LOOP(a_timer_can_stop_another_that_is_due),
		WITH_LOOP(a_timer_of_no_time_lets_others_run),
		WITH_LOOP(timers_far_away_do_not_overflow),
		WITH_LOOP(a_thousand_timers),
		WITH_LOOP(deferred_calls_come_from_the_loop),
		WITH_LOOP(an_object_can_be_freed_in_its_own_callback),
		WITH_LOOP(a_watch_is_level_triggered),
		WITH_LOOP(a_hangup_is_seen_without_reading),
		WITH_LOOP(a_pipe_without_reader_is_reported_as_writable),
		WITH_LOOP(a_silent_watch_reports_nothing),
		WITH_LOOP(a_regular_file_cannot_be_watched),
		WITH_LOOP(jobs_come_back_to_the_loop),
		WITH_LOOP(cancelled_jobs_come_back_too),
		WITH_LOOP(a_loop_waits_for_its_jobs),
		WITH_LOOP(signals_arrive_on_the_loop),
		WITH_LOOP(a_change_of_a_directory_is_seen),
		WITH_LOOP(watches_of_one_directory_are_told_apart),
		WITH_LOOP(who_begins_anew_keeps_nothing_from_others),
		WITH_LOOP(who_writes_on_is_not_heard),
		WITH_LOOP(a_stopped_loop_can_go_on),
		WITH_LOOP(a_stopped_turn_is_finished),
		WITH_LOOP(zeroed_things_can_be_stopped),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}

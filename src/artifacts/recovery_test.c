#include "base/base.h"
#include "artifacts/store_loop_fixture.h"
#include "artifacts/store_private.h"

#include <signal.h>
#include <sys/resource.h>

/* -- time and recovery ----------------------------------------------------------------------------------- */

static const int64_t YEAR_MS = 365LL * 24 * 60 * 60 * 1000;

struct gone_waiter {
	struct timer timer;
	struct fixture *fixture;
};

static void look_whether_gone(struct timer *timer)
{
	struct gone_waiter *waiter = container_of(timer, struct gone_waiter, timer);
	struct artifact_usage usage;

	artifact_store_usage(waiter->fixture->store, &usage);
	if (usage.artifacts == 0)
		ended();
	else
		timer_start(timer, waiter->fixture->loop, 1, look_whether_gone);
}

static void test_sweep_collects_what_has_expired(void **state)
{
	struct fixture *f = *state;
	struct gone_waiter waiter = { .fixture = f };

	close_store(f);
	f->limits.sweep_ms = 2;
	f->limits.ttl_ms = 1;
	open_store(f);
	put_bytes(f, "a", STR("hello"));
	f->waiting++;
	timer_start(&waiter.timer, f->loop, 0, look_whether_gone);
	run_until_ended(f);
	assert_null(artifact_store_trouble(f->store));
	assert_usage(f, 0, 0, 0);
}

static void test_start_removes_what_a_kill_left(void **state)
{
	struct fixture *f = *state;
	struct artifact_usage usage;

	put_bytes(f, "b", STR("other"));
	close_store(f);
	leave_orphan(f);
	write_whole_file(test_directory_path(&f->directory, "artifacts/tmp/half"), STR("hel"));
	open_store(f);
	/* Recovery is in the queue in front of this question. */
	assert_gone(f, STR("nonsense"));
	artifact_store_usage(f->store, &usage);
	assert_int_equal(usage.removed_temporaries, 1);
	assert_int_equal(usage.removed_orphans, 1);
	assert_int_equal(usage.removed_missing, 0);
	assert_usage(f, 1, 1, 5);
}

/* One directory that cannot be read keeps nothing else from being recovered, and is told. */
static void test_trouble_of_the_recovery(void **state)
{
	struct fixture *f = *state;
	struct artifact_usage usage;

	assert_null(artifact_store_trouble(f->store));
	close_store(f);
	write_whole_file(test_directory_path(&f->directory, "artifacts/blobs/00"), STR("no directory"));
	leave_orphan(f);
	open_store(f);
	while (f->store && !artifact_store_trouble(f->store))
		assert_gone(f, STR("nonsense"));
	assert_contains(artifact_store_trouble(f->store)->message,
			"/artifacts/blobs/00: cannot be read: Not a directory");
	do
		assert_gone(f, STR("nonsense"));
	while (artifact_store_usage(f->store, &usage), usage.removed_orphans == 0);
	assert_int_equal(unlink(test_directory_path(&f->directory, "artifacts/blobs/00")), 0);
	assert_usage(f, 0, 0, 0);
}

static void test_body_that_is_missing(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;
	struct got got;

	assert_int_equal(
		unlink(test_directory_path(&f->directory,
					   "artifacts/blobs/2c/"
					   "f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")),
		0);
	got = get_body(f, id);
	assert_int_equal(got.err.code, ERR_IO);
	assert_contains(got.err.message,
			"9824: something other than mcpx has removed the artifact's body; store it again");
	put_bytes(f, "a", STR("hello"));
	assert_body(f, id, STR("hello"));
}

static void test_body_that_was_cut(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;

	assert_int_equal(truncate(test_directory_path(
					  &f->directory,
					  "artifacts/blobs/2c/"
					  "f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
				  3),
			 0);
	assert_int_equal(get_body(f, id).err.code, ERR_IO);
	assert_contains(get_body(f, id).err.message,
			"9824: something other than mcpx has changed the artifact's body; store it again");
	put_bytes(f, "a", STR("hello"));
	assert_body(f, id, STR("hello"));
}

/* The limit on file sizes stands in for a disk that is full: a write stops half-way. */
static void test_disk_that_is_full(void **state)
{
	struct fixture *f = *state;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_action;
	struct artifact_spec spec = { 0 };
	struct rlimit old, small;
	struct put put;

	assert_int_equal(sigaction(SIGXFSZ, &ignore, &old_action), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){ .rlim_cur = 300000, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	put_start(f, &put, &spec, noise(f, 400000, 1));
	run_until_ended(f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(sigaction(SIGXFSZ, &old_action, NULL), 0);
	assert_int_equal(put.err.code, ERR_IO);
	assert_contains(put.err.message, ": cannot be written: File too large");
	put_start(f, &put, &spec, noise(f, 400000, 1));
	run_until_ended(f);
	assert_int_equal(put.err.code, 0);
	assert_usage(f, 1, 1, 400000);
}

static void test_second_store_is_refused(void **state)
{
	struct fixture *f = *state;
	struct artifact_store *other = NULL;

	f->limits.busy_ms = 0;
	assert_int_equal(artifact_store_open(&other, f->loop, f->path, &f->limits, &f->err), ERR_BUSY);
	assert_contains(f->err.message,
			"/artifacts: another process has this artifact store open; stop it, or choose "
			"another state directory");
	assert_null(other);
	assert_int_equal(artifact_store_open(&other, f->loop, f->path, &f->limits, NULL), ERR_BUSY);
}

/* -- a clock that is set --------------------------------------------------------------------------------- */

/* What a step of the wall clock looks like to the store. */
static void pretend_step(struct fixture *f, int64_t step_ms)
{
	f->store->clock.wall_ms -= (uint64_t)step_ms;
}

static void test_clock_that_jumps_ahead(void **state)
{
	struct fixture *f = *state;
	struct artifact artifact = put_bytes(f, "a", STR("hello"));
	struct got got;

	pretend_step(f, YEAR_MS);
	got = get_body(f, artifact.id);
	assert_int_equal(got.err.code, 0);
	assert_in_range(got.artifact.created_ms - artifact.created_ms, YEAR_MS - CLOCK_STEP_LEAST_MS,
			YEAR_MS + CLOCK_STEP_LEAST_MS);
	assert_int_equal(got.artifact.expires_ms - got.artifact.created_ms, f->limits.ttl_ms);
	assert_null(artifact_store_trouble(f->store));
}

/* Who mistypes the date and puts it right has lost nothing, and what was stored meanwhile lives no year. */
static void test_clock_that_jumps_ahead_and_back(void **state)
{
	struct fixture *f = *state;
	struct artifact artifact = put_bytes(f, "a", STR("hello"));
	struct got got;

	pretend_step(f, YEAR_MS);
	assert_int_equal(get_body(f, artifact.id).err.code, 0);
	pretend_step(f, -YEAR_MS);
	got = get_body(f, artifact.id);
	assert_int_equal(got.err.code, 0);
	assert_in_range(got.artifact.expires_ms, artifact.expires_ms - CLOCK_STEP_LEAST_MS,
			artifact.expires_ms + CLOCK_STEP_LEAST_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sweep_collects_what_has_expired),
		TEST(test_start_removes_what_a_kill_left),
		TEST(test_trouble_of_the_recovery),
		TEST(test_body_that_is_missing),
		TEST(test_body_that_was_cut),
		TEST(test_disk_that_is_full),
		TEST(test_second_store_is_refused),
		TEST(test_clock_that_jumps_ahead),
		TEST(test_clock_that_jumps_ahead_and_back),
	};

	return cmocka_run_group_tests_name("artifact_recovery", tests, NULL, NULL);
}

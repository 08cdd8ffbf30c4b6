#include "base/base.h"
#include "artifacts/abandoned.h"
#include "artifacts/store_loop_fixture.h"
#include "artifacts/store_private.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/syscall.h>

/* What happens in between: each is called once, before its system call, or after a lock that was refused. */
static struct {
	void (*before_flock)(void), (*after_refusal)(void), (*after_mkdir)(void), (*before_rmdir)(void);
} meanwhile;

static void call_once(void (**call)(void))
{
	void (*now)(void) = *call;

	*call = NULL;
	if (now)
		now();
}

int flock(int fd, int operation)
{
	int r;

	call_once(&meanwhile.before_flock);
	r = (int)syscall(SYS_flock, fd, operation);
	if (r < 0 && errno == EWOULDBLOCK) {
		call_once(&meanwhile.after_refusal);
		errno = EWOULDBLOCK;
	}
	return r;
}

int mkdir(const char *path, mode_t mode)
{
	int r = mkdirat(AT_FDCWD, path, mode), error = errno;

	call_once(&meanwhile.after_mkdir);
	errno = error;
	return r;
}

int rmdir(const char *path)
{
	call_once(&meanwhile.before_rmdir);
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

static const uint64_t HOUR_MS = 60 * 60 * 1000;

static bool is_there(const struct fixture *f, const char *name)
{
	return access(test_directory_path(&f->directory, name), F_OK) == 0;
}

static int collect(struct fixture *f, uint64_t earliest_ms, uint64_t latest_ms,
		   struct abandoned_result *ret_result)
{
	const struct clock_bounds now = { earliest_ms, latest_ms };

	return abandoned_collect(f->path, &f->limits, &now, ret_result, &f->err);
}

static struct abandoned_result collect_after(struct fixture *f, uint64_t passed_ms)
{
	struct abandoned_result result;
	uint64_t now = loop_wall_ms() + passed_ms;

	assert_int_equal(collect(f, now, now, &result), 0);
	return result;
}

/* -- collecting ------------------------------------------------------------------------------------------ */

static void test_store_with_nothing_left_is_removed(void **state)
{
	struct fixture *f = *state;

	put_bytes(f, "a", STR("hello"));
	close_store(f);
	assert_true(collect_after(f, 2 * HOUR_MS).removed);
	assert_false(is_there(f, "artifacts"));
	assert_false(collect_after(f, 2 * HOUR_MS).removed);
	assert_false(is_there(f, "artifacts"));
}

static void test_store_in_use_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;
	struct abandoned_result result = collect_after(f, 2 * HOUR_MS);

	assert_false(result.removed);
	assert_false(result.more);
	assert_body(f, id, STR("hello"));
}

static void test_what_lives_stays(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;
	struct artifact_spec spec = { .ttl_ms = ARTIFACT_TTL_NEVER };
	struct put put;

	close_store(f);
	assert_false(collect_after(f, 0).removed);
	open_store(f);
	assert_body(f, id, STR("hello"));
	put_start(f, &put, &spec, STR("for ever"));
	run_until_ended(f);
	close_store(f);
	assert_false(collect_after(f, 2 * HOUR_MS).removed);
	open_store(f);
	assert_gone(f, id);
	assert_body(f, put.artifact.id, STR("for ever"));
	assert_usage(f, 1, 1, 8);
}

static void test_batches(void **state)
{
	enum { MANY = 130 };
	struct fixture *f = *state;
	struct abandoned_result result;

	for (unsigned i = 0; i < MANY; i++)
		put_bytes(f, "a", STR("hello"));
	close_store(f);
	result = collect_after(f, 2 * HOUR_MS);
	assert_true(result.more);
	assert_false(result.removed);
	assert_true(collect_after(f, 2 * HOUR_MS).removed);
}

static void test_leavings_of_a_kill_go_with_the_store(void **state)
{
	struct fixture *f = *state;

	close_store(f);
	leave_orphan(f);
	write_whole_file(test_directory_path(&f->directory, "artifacts/tmp/half"), STR("hel"));
	assert_true(collect_after(f, 0).removed);
}

/* -- clocks that were set -------------------------------------------------------------------------------- */

static void test_only_what_is_old_by_both_clocks_goes(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;
	uint64_t now = loop_wall_ms();
	struct abandoned_result result;

	close_store(f);
	assert_int_equal(collect(f, now, now + 1000 * HOUR_MS, &result), 0);
	assert_false(result.removed);
	assert_int_equal(collect(f, now - 1000 * HOUR_MS, now, &result), 0);
	assert_false(result.removed);
	open_store(f);
	assert_body(f, id, STR("hello"));
}

static void test_what_comes_from_the_future_lives_from_now(void **state)
{
	struct fixture *f = *state;
	uint64_t before = loop_wall_ms() - 1000 * HOUR_MS;
	struct abandoned_result result;

	put_bytes(f, "a", STR("hello"));
	close_store(f);
	assert_int_equal(collect(f, before, before, &result), 0);
	assert_false(result.removed);
	assert_int_equal(collect(f, before + 2 * HOUR_MS, before + 2 * HOUR_MS, &result), 0);
	assert_true(result.removed);
}

/* -- what is not the store's ----------------------------------------------------------------------------- */

static void test_files_that_are_not_the_stores(void **state)
{
	struct fixture *f = *state;
	struct abandoned_result result;

	close_store(f);
	write_whole_file(test_directory_path(&f->directory, "artifacts/notes"), STR("mine"));
	assert_int_equal(collect(f, 0, 0, &result), ERR_EXISTS);
	assert_contains(f->err.message, "it stays for a file that is not the store's: notes");
	assert_true(is_there(f, "artifacts/index.db"));
	assert_int_equal(unlink(test_directory_path(&f->directory, "artifacts/notes")), 0);
	assert_int_equal(collect(f, 0, 0, &result), 0);
	assert_true(result.removed);
}

static void test_links_are_not_followed(void **state)
{
	struct fixture *f = *state;
	struct abandoned_result result;
	const char *away = test_directory_path(&f->directory, "away");

	close_store(f);
	assert_int_equal(rename(f->path, away), 0);
	assert_int_equal(symlink("away", f->path), 0);
	assert_true(collect(f, 0, 0, &result) < 0);
	assert_true(is_there(f, "away/index.db"));
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(rename(away, f->path), 0);
	assert_int_equal(rename(test_directory_path(&f->directory, "artifacts/index.db"),
				test_directory_path(&f->directory, "other.db")),
			 0);
	assert_int_equal(symlink("../other.db", test_directory_path(&f->directory, "artifacts/index.db")), 0);
	assert_int_equal(collect(f, 0, 0, &result), ERR_INVALID);
	assert_contains(f->err.message, "/artifacts/index.db: is no file, and is left alone");
}

/* -- a daemon that starts at the same moment ------------------------------------------------------------- */

static void collect_everything(void)
{
	assert_true(collect_after(fixture, 2 * HOUR_MS).removed);
}

static void assert_store_works(struct fixture *f)
{
	assert_body(f, put_bytes(f, "new", STR("new")).id, STR("new"));
	assert_usage(f, 1, 1, 3);
}

/* The lock that the daemon has opened is no store's any more when it gets it. */
static void test_store_goes_before_its_lock_is_taken(void **state)
{
	struct fixture *f = *state;

	close_store(f);
	meanwhile.before_flock = collect_everything;
	open_store(f);
	assert_null(meanwhile.before_flock);
	assert_store_works(f);
}

static void test_store_goes_before_it_is_opened(void **state)
{
	struct fixture *f = *state;

	close_store(f);
	meanwhile.after_mkdir = collect_everything;
	open_store(f);
	assert_null(meanwhile.after_mkdir);
	assert_store_works(f);
}

static struct ledger collecting;

static void end_collecting(void)
{
	ledger_release(&collecting);
}

static void test_daemon_waits_for_a_turn_to_end(void **state)
{
	struct fixture *f = *state;
	struct db *db;

	close_store(f);
	assert_int_equal(ledger_open_abandoned(&collecting, f->path, &f->limits, &db, &f->err), 0);
	db_close(&db);
	meanwhile.after_refusal = end_collecting;
	open_store(f);
	assert_null(meanwhile.after_refusal);
	assert_store_works(f);
}

static void open_store_now(void)
{
	open_store(fixture);
}

/* The daemon gets a lock of its own in the directory that is about to go. */
static void test_store_is_opened_when_all_but_the_directory_has_gone(void **state)
{
	struct fixture *f = *state;

	close_store(f);
	meanwhile.before_rmdir = open_store_now;
	assert_false(collect_after(f, 0).removed);
	assert_null(meanwhile.before_rmdir);
	assert_store_works(f);
}

/* -- finding --------------------------------------------------------------------------------------------- */

static void test_stores_in_the_order_of_their_names(void **state)
{
	static const char *const names[] = { "artifacts-0123456789abcdef", "artifacts-00000000000000ff",
					     "artifacts-old", "artifacts-0123456789abcdef0" };
	struct fixture *f = *state;
	struct str home = str_of(f->directory.path), name = STR("");

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(mkdirat(AT_FDCWD, test_directory_path(&f->directory, names[i]), 0700), 0);
	assert_int_equal(symlink(names[0], test_directory_path(&f->directory, "artifacts-1111111111111111")),
			 0);
	write_whole_file(test_directory_path(&f->directory, "artifacts-2222222222222222"), STR(""));
	assert_int_equal(abandoned_find(home, name, &f->arena, &name, &f->err), 0);
	assert_str(name, "artifacts");
	assert_int_equal(abandoned_find(home, name, &f->arena, &name, &f->err), 0);
	assert_str(name, names[1]);
	assert_int_equal(abandoned_find(home, name, &f->arena, &name, &f->err), 0);
	assert_str(name, names[0]);
	assert_int_equal(abandoned_find(home, name, &f->arena, &name, &f->err), 0);
	assert_str(name, "");
	assert_int_equal(abandoned_find(STR("/no/such/state"), name, &f->arena, &name, &f->err),
			 ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_store_with_nothing_left_is_removed),
		TEST(test_store_in_use_is_left_alone),
		TEST(test_what_lives_stays),
		TEST(test_batches),
		TEST(test_leavings_of_a_kill_go_with_the_store),
		TEST(test_only_what_is_old_by_both_clocks_goes),
		TEST(test_what_comes_from_the_future_lives_from_now),
		TEST(test_files_that_are_not_the_stores),
		TEST(test_links_are_not_followed),
		TEST(test_store_goes_before_its_lock_is_taken),
		TEST(test_store_goes_before_it_is_opened),
		TEST(test_daemon_waits_for_a_turn_to_end),
		TEST(test_store_is_opened_when_all_but_the_directory_has_gone),
		TEST(test_stores_in_the_order_of_their_names),
	};

	return cmocka_run_group_tests_name("abandoned", tests, NULL, NULL);
}

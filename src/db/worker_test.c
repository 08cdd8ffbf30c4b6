#include "base/base.h"
#include "db/db.h"
#include "db/directory_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Each request appends its letter to a table on the worker pool and to `told` on the loop. */

static const char *const MIGRATIONS[] = { "CREATE TABLE letters (letter TEXT NOT NULL);" };

enum { LETTERS_MAX = 64 };

struct fixture {
	struct test_directory directory;
	struct loop *loop;
	struct db_worker *worker;
	pthread_t loop_thread;
	struct db_options options;
	char told[LETTERS_MAX];
	size_t told_n;
	bool closed;
};

struct letter {
	struct db_request request;
	struct fixture *fixture;
	char letter;
	struct letter *cancel_when_done;
	char submit_when_done;
	pthread_t thread;
	int result;
};

static const char *path_of(struct fixture *f)
{
	return test_directory_path(&f->directory, "letters.db");
}

static int set_up(void **state)
{
	struct fixture *f = xnew(struct fixture);
	struct db *db = NULL;
	struct err err;

	test_directory_make(&f->directory);
	f->options = (struct db_options){
		.migrations = MIGRATIONS,
		.migration_count = ARRAY_LEN(MIGRATIONS),
		.busy_ms = 1,
		.cache_bytes = 64 * 1024,
	};
	f->loop_thread = pthread_self();
	assert_int_equal(loop_new(&f->loop, &err), 0);
	assert_int_equal(db_open(&db, path_of(f), &f->options, &err), 0);
	f->worker = db_worker_new(f->loop, db);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	loop_free(&f->loop);
	test_directory_remove(&f->directory);
	free(f);
	return 0;
}

static void letter_work(struct db_request *request, struct db *db)
{
	struct letter *letter = container_of(request, struct letter, request);
	struct db_statement *s = db_prepare(db, "INSERT INTO letters VALUES (?)", NULL);

	letter->thread = pthread_self();
	db_bind_str(s, 1, str_make(&letter->letter, 1));
	letter->result = db_step(s, NULL);
}

static struct letter *submit(struct fixture *f, char c);

static void letter_done(struct db_request *request, bool cancelled)
{
	struct letter *letter = container_of(request, struct letter, request);
	struct fixture *f = letter->fixture;

	assert_true(pthread_equal(pthread_self(), f->loop_thread));
	if (!cancelled) {
		assert_int_equal(letter->result, 0);
		assert_false(pthread_equal(letter->thread, f->loop_thread));
	}
	f->told[f->told_n++] = cancelled ? '-' : letter->letter;
	if (letter->cancel_when_done)
		db_request_cancel(&letter->cancel_when_done->request);
	if (letter->submit_when_done)
		submit(f, letter->submit_when_done);
	free(letter);
}

static struct letter *submit(struct fixture *f, char c)
{
	struct letter *letter = xnew(struct letter);

	letter->fixture = f;
	letter->letter = c;
	db_worker_submit(f->worker, &letter->request, letter_work, letter_done);
	return letter;
}

static void note_closed(void *context)
{
	struct fixture *f = context;

	f->closed = true;
}

/* Closes, and compares what was told on the loop and what is in the database. */
static void finish(struct fixture *f, const char *told, const char *stored)
{
	struct db *db = NULL;
	struct db_statement *s;
	struct arena arena;
	struct str letters;

	db_worker_close(f->worker, note_closed, f);
	assert_false(f->closed);
	loop_run(f->loop);
	assert_true(f->closed);
	assert_string_equal(f->told, told);
	assert_int_equal(access(test_directory_path(&f->directory, "letters.db-wal"), F_OK), -1);

	arena_init(&arena, 0);
	assert_int_equal(db_open(&db, path_of(f), &f->options, NULL), 0);
	s = db_prepare(
		db,
		"SELECT coalesce(group_concat(letter, ''), '') FROM (SELECT letter FROM letters ORDER BY rowid)",
		NULL);
	assert_int_equal(db_step(s, NULL), 1);
	letters = db_column_str(s, 0, &arena);
	assert_string_equal(letters.p, stored);
	arena_release(&arena);
	db_close(&db);
}

static void test_requests_run_in_order(void **state)
{
	struct fixture *f = *state;

	for (char c = 'a'; c <= 'z'; c++)
		submit(f, c);
	assert_int_equal(f->told_n, 0);
	finish(f, "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz");
}

static void test_request_submitted_from_done(void **state)
{
	struct fixture *f = *state;

	submit(f, 'a')->submit_when_done = 'x';
	submit(f, 'b')->submit_when_done = 'y';
	submit(f, 'c');
	loop_run(f->loop);
	finish(f, "abcxy", "abcxy");
}

static void test_cancelled_request_that_waits_is_skipped(void **state)
{
	struct fixture *f = *state;
	struct letter *a = submit(f, 'a');

	a->cancel_when_done = submit(f, 'b');
	submit(f, 'c');
	finish(f, "a-c", "ac");
}

static void test_cancelled_request_may_submit(void **state)
{
	struct fixture *f = *state;
	struct letter *a = submit(f, 'a');
	struct letter *b = submit(f, 'b');

	a->cancel_when_done = b;
	b->submit_when_done = 'x';
	submit(f, 'c');
	loop_run(f->loop);
	finish(f, "a-cx", "acx");
}

static void test_request_cancelled_while_it_runs_is_told_so(void **state)
{
	struct fixture *f = *state;

	db_request_cancel(&submit(f, 'a')->request);
	submit(f, 'b');
	finish(f, "-b", "ab");
}

static void test_close_without_work(void **state)
{
	finish(*state, "", "");
}

static void test_close_without_callback(void **state)
{
	struct fixture *f = *state;

	submit(f, 'a');
	db_worker_close(f->worker, NULL, NULL);
	loop_run(f->loop);
	assert_string_equal(f->told, "a");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_requests_run_in_order),
		TEST(test_request_submitted_from_done),
		TEST(test_cancelled_request_that_waits_is_skipped),
		TEST(test_cancelled_request_may_submit),
		TEST(test_request_cancelled_while_it_runs_is_told_so),
		TEST(test_close_without_work),
		TEST(test_close_without_callback),
	};

	return cmocka_run_group_tests_name("db_worker", tests, NULL, NULL);
}

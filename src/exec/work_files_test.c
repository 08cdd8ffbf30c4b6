#include "base/base.h"
#include "exec/work_files.h"
#include "db/directory_fixture.h"
#include "io/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

static struct test_directory directory;
static struct arena arena;

static int set_up(void **state)
{
	(void)state;
	test_directory_make(&directory);
	arena_init(&arena, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_release(&arena);
	test_directory_remove(&directory);
	return 0;
}

static const char *keep(const char *kind, const char *content, bool *ret_written)
{
	struct str name;
	struct err err;

	assert_int_equal(work_file_keep(str_of(directory.path), kind, "mjs", str_of(content), &arena, &name,
					ret_written, &err),
			 0);
	return name.p;
}

static void assert_content(const char *name, const char *content)
{
	struct str found;

	assert_int_equal(file_read(test_directory_path(&directory, name), 1000, &found, NULL), 0);
	assert_true(str_eq(found, str_of(content)));
	free((char *)found.p);
}

/* As if the file had last been used so long ago. */
static void set_age(const char *name, time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - seconds }, { .tv_sec = time(NULL) - seconds } };

	assert_int_equal(utimensat(AT_FDCWD, test_directory_path(&directory, name), times, 0), 0);
}

static bool is_there(const char *name)
{
	return access(test_directory_path(&directory, name), F_OK) == 0;
}

static void test_the_same_content_is_written_once(void **state)
{
	const char *first, *second, *other;
	bool written;

	(void)state;
	first = keep("client", "abc", &written);
	assert_true(written);
	assert_content(first, "abc");
	assert_int_equal(strncmp(first, "client-", 7), 0);
	assert_int_equal(strlen(first), strlen("client-0123456789abcdef.mjs"));
	second = keep("client", "abc", &written);
	assert_false(written);
	assert_string_equal(first, second);
	other = keep("client", "abd", &written);
	assert_true(written);
	assert_string_not_equal(first, other);
	assert_content(first, "abc");
}

static void test_what_stands_under_the_name_is_checked(void **state)
{
	const struct file_write_options options = { .mode = 0600 };
	const char *name, *damages[] = { "", "ab", "abx", "abcd" };
	bool written;

	(void)state;
	name = keep("snippet", "abc", NULL);
	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		assert_int_equal(
			file_write(test_directory_path(&directory, name), str_of(damages[i]), &options, NULL),
			0);
		keep("snippet", "abc", &written);
		assert_true(written);
		assert_content(name, "abc");
	}
}

static void test_a_directory_that_is_not_there(void **state)
{
	struct str name;
	struct err err;

	(void)state;
	assert_int_equal(work_file_keep(STR("/proc/nonexistent"), "client", "mjs", STR("abc"), &arena, &name,
					NULL, &err),
			 ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "/proc/nonexistent/client-"));
}

static void test_old_files_go(void **state)
{
	const struct file_write_options options = { .mode = 0600 };
	const char *old = keep("client", "old", NULL), *fresh = keep("client", "fresh", NULL);
	static const char *const others[] = { "client-0123.mjs", "mine.mjs", "client-0123456789abcdeg.mjs",
					      "snippet-0123456789ABCDEF.mts" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		assert_int_equal(
			file_write(test_directory_path(&directory, others[i]), STR("x"), &options, NULL), 0);
		set_age(others[i], 7200);
	}
	set_age(old, 7200);
	work_files_prune(str_of(directory.path), 3600 * 1000, 100, (uint64_t)time(NULL) * 1000);
	assert_false(is_there(old));
	assert_true(is_there(fresh));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_true(is_there(others[i]));
	/* Using a file again makes it new. */
	set_age(fresh, 7200);
	keep("client", "fresh", NULL);
	work_files_prune(str_of(directory.path), 3600 * 1000, 100, (uint64_t)time(NULL) * 1000);
	assert_true(is_there(fresh));
}

static void test_the_longest_unused_go_when_there_are_too_many(void **state)
{
	const char *names[5];

	(void)state;
	for (int i = 0; i < 5; i++) {
		names[i] = keep("snippet", arena_printf(&arena, "%d", i).p, NULL);
		set_age(names[i], 100 * (i + 1));
	}
	work_files_prune(str_of(directory.path), 0, 3, (uint64_t)time(NULL) * 1000);
	for (int i = 0; i < 5; i++)
		assert_int_equal(is_there(names[i]), i < 3);
	work_files_prune(STR("/proc/nonexistent"), 0, 3, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_same_content_is_written_once),
		TEST(test_what_stands_under_the_name_is_checked),
		TEST(test_a_directory_that_is_not_there),
		TEST(test_old_files_go),
		TEST(test_the_longest_unused_go_when_there_are_too_many),
	};

	return cmocka_run_group_tests_name("exec-work_files", tests, NULL, NULL);
}

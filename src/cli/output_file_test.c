#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/cli.h"
#include "cli/output_file.h"
#include "settings/scratch.h"

#include <dirent.h>
#include <unistd.h>

enum { CONTENT_MAX = 1000 };

struct fixture {
	struct scratch scratch;
	struct cli cli; /* its arena is all that files need */
};

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);

	scratch_init(&f->scratch);
	arena_init(&f->cli.arena, 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->cli.arena);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

static void expect_content(struct fixture *f, const char *name, const char *expected)
{
	struct str content;

	assert_int_equal(file_read(scratch_path(&f->scratch, name).p, CONTENT_MAX, &content, NULL), 0);
	assert_true(str_eq(content, str_of(expected)));
	free((char *)content.p);
}

static size_t files_in_root(struct fixture *f)
{
	DIR *directory = opendir(f->scratch.root.p);
	size_t count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2; /* "." and ".." */
}

static void test_a_file_appears_when_it_is_whole(void **state)
{
	struct fixture *f = *state;
	struct str path = scratch_path(&f->scratch, "out.txt");
	struct output_file file;
	struct err err;

	assert_int_equal(output_file_open(&f->cli, &file, path, &err), 0);
	assert_int_equal(output_file_append(&file, STR("one, "), &err), 0);
	assert_int_equal(output_file_append(&file, STR(""), &err), 0);
	assert_int_equal(output_file_append(&file, STR("two"), &err), 0);
	assert_int_equal(access(path.p, F_OK), -1);
	assert_int_equal(files_in_root(f), 1);
	assert_int_equal(output_file_finish(&file, &err), 0);
	expect_content(f, "out.txt", "one, two");
	assert_int_equal(files_in_root(f), 1);
	output_file_release(&file);
	expect_content(f, "out.txt", "one, two");
}

static void test_what_is_given_up_leaves_the_old_file(void **state)
{
	struct fixture *f = *state;
	struct str path = scratch_write(&f->scratch, "out.txt", "old");
	struct output_file file;

	assert_int_equal(output_file_open(&f->cli, &file, path, NULL), 0);
	assert_int_equal(output_file_append(&file, STR("new"), NULL), 0);
	expect_content(f, "out.txt", "old");
	output_file_release(&file);
	expect_content(f, "out.txt", "old");
	assert_int_equal(files_in_root(f), 1);
	assert_int_equal(output_file_write(&f->cli, path, STR("new"), NULL), 0);
	expect_content(f, "out.txt", "new");
}

static void test_nothing_was_opened(void **state)
{
	struct output_file file = { 0 };

	(void)state;
	output_file_release(&file);
	assert_null(file.temporary);
}

/* The mask is the process's own, so it is put back before anything is asserted. */
static void test_permissions_are_what_the_umask_leaves(void **state)
{
	struct fixture *f = *state;
	struct str path = scratch_path(&f->scratch, "out.txt");
	mode_t before = umask(027);
	int r = output_file_write(&f->cli, path, STR("x"), NULL);
	struct stat status;

	umask(before);
	assert_int_equal(r, 0);
	assert_int_equal(stat(path.p, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
}

static void test_what_is_no_file_is_refused(void **state)
{
	struct fixture *f = *state;
	struct err err;
	struct str expected =
		arena_printf(&f->scratch.arena,
			     "%s is not a regular file: leave the flag out and redirect standard output",
			     f->scratch.root.p);

	assert_int_equal(output_file_write(&f->cli, STR("/dev/null"), STR("x"), &err), ERR_INVALID);
	assert_string_equal(
		err.message,
		"/dev/null is not a regular file: leave the flag out and redirect standard output");
	assert_int_equal(output_file_write(&f->cli, f->scratch.root, STR("x"), &err), ERR_INVALID);
	assert_string_equal(err.message, expected.p);
}

static void test_a_directory_that_is_not_there(void **state)
{
	struct fixture *f = *state;
	struct str path = scratch_path(&f->scratch, "none/out.txt");
	struct str expected =
		arena_printf(&f->scratch.arena, "cannot create %s: No such file or directory", path.p);
	struct err err;

	assert_int_equal(output_file_write(&f->cli, path, STR("x"), &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, expected.p);
}

/* Somebody made a directory of that name while the bytes came. */
static void test_a_name_that_was_taken_meanwhile(void **state)
{
	struct fixture *f = *state;
	struct str path = scratch_path(&f->scratch, "out.txt");
	struct str expected =
		arena_printf(&f->scratch.arena, "cannot name the file %s: Is a directory", path.p);
	struct output_file file;
	struct err err;

	assert_int_equal(output_file_open(&f->cli, &file, path, NULL), 0);
	assert_int_equal(output_file_append(&file, STR("x"), NULL), 0);
	assert_int_equal(mkdir(path.p, 0700), 0);
	assert_int_equal(output_file_finish(&file, &err), ERR_IO);
	assert_string_equal(err.message, expected.p);
	output_file_release(&file);
	assert_int_equal(files_in_root(f), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_file_appears_when_it_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_given_up_leaves_the_old_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_was_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(test_permissions_are_what_the_umask_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_file_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_directory_that_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_name_that_was_taken_meanwhile, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

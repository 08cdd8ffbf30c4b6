#include "base/base.h"
#include "daemon/log_file.h"
#include "io/files.h"
#include "io/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { TEXT_MAX = 4096 };

struct place {
	char directory[64];
	char path[128];
};

static int setup(void **state)
{
	struct place *place = xnew(struct place);

	snprintf(place->directory, sizeof(place->directory), "/tmp/log-file-test-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->path, sizeof(place->path), "%s/log", place->directory);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char name[160];

	for (unsigned i = 0; i < 5; i++) {
		if (i)
			snprintf(name, sizeof(name), "%s.%u", place->path, i);
		else
			snprintf(name, sizeof(name), "%s", place->path);
		(void)unlink(name);
	}
	assert_int_equal(rmdir(place->directory), 0);
	free(place);
	return 0;
}

static void assert_file(const struct place *place, const char *suffix, const char *expected)
{
	char name[160];
	struct str text;

	snprintf(name, sizeof(name), "%s%s", place->path, suffix);
	if (!expected) {
		assert_int_equal(access(name, F_OK), -1);
		return;
	}
	assert_int_equal(file_read(name, TEXT_MAX, &text, NULL), 0);
	assert_string_equal(text.p, expected);
	free((char *)text.p);
}

static void test_lines_are_appended_to_what_is_there(void **state)
{
	struct place *place = *state;
	struct log_file file;
	struct stat status;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(log_file_open(&file, place->path, 100, 2, NULL), 0);
		log_file_write(&file, STR("one\n"));
		log_file_write(&file, STR("two\n"));
		log_file_close(&file);
	}
	assert_file(place, "", "one\ntwo\none\ntwo\n");
	assert_int_equal(stat(place->path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_full_file_is_rolled_and_the_oldest_goes(void **state)
{
	struct place *place = *state;
	struct log_file file;

	assert_int_equal(log_file_open(&file, place->path, 8, 2, NULL), 0);
	log_file_write(&file, STR("aaaa\n"));
	log_file_write(&file, STR("bbbb\n"));
	log_file_write(&file, STR("cccc\n"));
	log_file_write(&file, STR("dddd\n"));
	log_file_close(&file);
	assert_file(place, "", "dddd\n");
	assert_file(place, ".1", "cccc\n");
	assert_file(place, ".2", "bbbb\n");
	assert_file(place, ".3", NULL);
}

static void test_a_file_that_was_removed_or_renamed_is_followed(void **state)
{
	struct place *place = *state;
	struct log_file file;
	char moved[sizeof(place->path) + sizeof(".moved")];

	snprintf(moved, sizeof(moved), "%s.moved", place->path);
	assert_int_equal(log_file_open(&file, place->path, 100, 2, NULL), 0);
	log_file_write(&file, STR("one\n"));
	log_file_follow(&file);
	log_file_write(&file, STR("two\n"));
	assert_int_equal(rename(place->path, moved), 0);
	log_file_follow(&file);
	log_file_write(&file, STR("three\n"));
	assert_file(place, "", "three\n");
	assert_file(place, ".moved", "one\ntwo\n");
	assert_int_equal(unlink(moved), 0);
	log_file_close(&file);
	log_file_follow(&file);
	assert_file(place, "", "three\n");
}

static void test_line_longer_than_the_file_is_kept_whole(void **state)
{
	struct place *place = *state;
	struct log_file file;

	assert_int_equal(log_file_open(&file, place->path, 8, 0, NULL), 0);
	log_file_write(&file, STR("a line of more than eight bytes\n"));
	log_file_write(&file, STR("next\n"));
	log_file_close(&file);
	assert_file(place, "", "next\n");
	assert_file(place, ".1", NULL);
}

static void test_a_link_is_not_followed(void **state)
{
	struct place *place = *state;
	struct log_file file;
	struct err err;

	assert_int_equal(symlink("/dev/null", place->path), 0);
	assert_true(log_file_open(&file, place->path, 8, 0, &err) < 0);
	assert_non_null(strstr(err.message, place->path));
	log_file_write(&file, STR("dropped\n"));
	log_file_close(&file);
}

static void test_line_that_cannot_be_written_is_counted(void **state)
{
	struct place *place = *state;
	struct log_file file;

	assert_int_equal(log_file_open(&file, place->path, 100, 0, NULL), 0);
	close_fd(&file.fd);
	file.fd = open(place->path, O_RDONLY | O_CLOEXEC);
	log_file_write(&file, STR("lost\n"));
	assert_int_equal(file.dropped, 1);
	log_file_close(&file);
	log_file_close(&file);
}

static void limit(unsigned resource, rlim_t most)
{
	struct rlimit both;

	assert_int_equal(getrlimit(resource, &both), 0);
	both.rlim_cur = most == RLIM_INFINITY ? both.rlim_max : most;
	assert_int_equal(setrlimit(resource, &both), 0);
}

/* Every line tried to roll again, and so pushed one more of the older files out. */
static void test_older_files_stay_while_the_next_cannot_be_opened(void **state)
{
	struct place *place = *state;
	struct log_file file;

	assert_int_equal(log_file_open(&file, place->path, 8, 2, NULL), 0);
	log_file_write(&file, STR("aaaa\n"));
	log_file_write(&file, STR("bbbb\n"));
	limit(RLIMIT_NOFILE, 0);
	for (int i = 0; i < 4; i++)
		log_file_write(&file, STR("lost\n"));
	limit(RLIMIT_NOFILE, RLIM_INFINITY);
	assert_int_equal(file.dropped, 4);
	log_file_write(&file, STR("cccc\n"));
	log_file_close(&file);
	assert_file(place, "", "cccc\n");
	assert_file(place, ".1", "bbbb\n");
	assert_file(place, ".2", "aaaa\n");
}

static void test_a_line_that_was_cut_gets_an_end(void **state)
{
	struct place *place = *state;
	struct log_file file;

	assert_int_equal(signal_ignore(SIGXFSZ, NULL), 0);
	assert_int_equal(log_file_open(&file, place->path, 100, 0, NULL), 0);
	log_file_write(&file, STR("one\n"));
	limit(RLIMIT_FSIZE, 8);
	log_file_write(&file, STR("a long one\n"));
	log_file_write(&file, STR("lost\n"));
	limit(RLIMIT_FSIZE, RLIM_INFINITY);
	assert_int_equal(file.dropped, 2);
	log_file_write(&file, STR("two\n"));
	log_file_close(&file);
	assert_file(place, "", "one\na lo\ntwo\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_are_appended_to_what_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_file_is_rolled_and_the_oldest_goes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_file_that_was_removed_or_renamed_is_followed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_line_longer_than_the_file_is_kept_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_link_is_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_line_that_cannot_be_written_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_older_files_stay_while_the_next_cannot_be_opened, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_line_that_was_cut_gets_an_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

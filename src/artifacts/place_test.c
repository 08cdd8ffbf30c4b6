#include "base/base.h"
#include "artifacts/place.h"
#include "artifacts/store_fixture.h"
#include "artifacts/take_name.h"

#include <errno.h>

enum { NAME_MAX_BYTES = 64, COLLISIONS = 3 };

/* Every test runs twice: by way of an unnamed file, and of a temporary name. */
typedef int placer(int fd, uint64_t size, const char *directory, struct str name, size_t name_max,
		   unsigned collisions, struct arena *arena, struct str *ret_path, struct err *err);

struct fixture {
	placer *place;
	struct test_directory directory;
	struct arena arena;
	struct err err;
	int body;
	struct str bytes;
};

static int set_up_with(void **state, placer *place)
{
	struct fixture *f = xnew(struct fixture);
	const char *path;
	char *bytes;

	f->place = place;
	test_directory_make(&f->directory);
	arena_init(&f->arena, 0);
	bytes = arena_alloc(&f->arena, 100000);
	for (size_t i = 0; i < 100000; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	f->bytes = str_make(bytes, 100000);
	path = test_directory_path(&f->directory, "body");
	write_whole_file(path, f->bytes);
	f->body = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(f->body >= 0);
	*state = f;
	return 0;
}

static int set_up_unnamed(void **state)
{
	return set_up_with(state, artifact_place);
}

static int set_up_named(void **state)
{
	return set_up_with(state, artifact_place_named);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close_fd(&f->body);
	arena_release(&f->arena);
	test_directory_remove(&f->directory);
	free(f);
	return 0;
}

static int place(struct fixture *f, const char *directory, const char *name, struct str *ret_path)
{
	return f->place(f->body, f->bytes.n, directory, str_of(name), NAME_MAX_BYTES, COLLISIONS, &f->arena,
			ret_path, &f->err);
}

static void assert_placed(struct fixture *f, const char *directory, const char *name, const char *expected)
{
	struct str path = { 0 };
	char wanted[512];

	assert_int_equal(place(f, directory, name, &path), 0);
	snprintf(wanted, sizeof(wanted), "%s/%s", directory, expected);
	assert_str(path, wanted);
	assert_true(str_eq(read_whole_file(path.p, &f->arena), f->bytes));
}

static size_t count_files(const char *path)
{
	DIR *directory = opendir(path);
	size_t count = 0;
	struct dirent *entry;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	return count;
}

static void test_names_that_are_taken_get_numbers(void **state)
{
	struct fixture *f = *state;
	const char *out = test_directory_path(&f->directory, "out");
	struct str path;

	assert_placed(f, out, "shot.png", "shot.png");
	assert_placed(f, out, "shot.png", "shot-1.png");
	assert_placed(f, out, "shot.png", "shot-2.png");
	assert_placed(f, out, "README", "README");
	assert_placed(f, out, "shot.png", "shot-3.png");
	assert_int_equal(place(f, out, "shot.png", &path), ERR_EXISTS);
	assert_contains(f->err.message, "/out: shot.png and 3 numbered names after it are taken");
	assert_int_equal(count_files(out), 5);
}

static void test_nothing_is_overwritten(void **state)
{
	struct fixture *f = *state;
	const char *out = f->directory.path;
	const char *file = arena_printf(&f->arena, "%s/a.txt", out).p;
	const char *link = arena_printf(&f->arena, "%s/b.txt", out).p;
	const char *directory = arena_printf(&f->arena, "%s/c.txt", out).p;

	write_whole_file(file, STR("mine"));
	assert_int_equal(symlink("/nonexistent/target", link), 0);
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_placed(f, out, "a.txt", "a-1.txt");
	assert_placed(f, out, "b.txt", "b-1.txt");
	assert_placed(f, out, "c.txt", "c-1.txt");
	assert_true(str_eq(read_whole_file(file, &f->arena), STR("mine")));
	assert_int_equal(access("/nonexistent/target", F_OK), -1);
}

static void test_directories_are_created(void **state)
{
	struct fixture *f = *state;

	assert_placed(f, test_directory_path(&f->directory, "a/b/c"), "x", "x");
	assert_placed(f, test_directory_path(&f->directory, "a/b/c"), "y", "y");
}

static void test_place_that_is_no_directory(void **state)
{
	struct fixture *f = *state;
	struct str path;

	assert_int_equal(place(f, test_directory_path(&f->directory, "body"), "x", &path), ERR_IO);
	assert_contains(f->err.message, "/body: artifacts cannot be placed there: Not a directory");
}

static void test_body_that_is_too_short_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	const char *out = test_directory_path(&f->directory, "out");
	struct str path;

	assert_int_equal(f->place(f->body, f->bytes.n + 1, out, STR("x"), NAME_MAX_BYTES, COLLISIONS,
				  &f->arena, &path, &f->err),
			 ERR_IO);
	assert_contains(f->err.message, "the artifact's body was cut short");
	assert_int_equal(count_files(out), 0);
}

static void test_umask_decides_who_may_read(void **state)
{
	struct fixture *f = *state;
	mode_t old = umask(027);
	struct stat status;
	struct str path;

	assert_int_equal(place(f, test_directory_path(&f->directory, "out"), "x", &path), 0);
	umask(old);
	assert_int_equal(stat(path.p, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
}

/* Each way takes a free name, and leaves a taken one and the temporary file alone. */
static void test_ways_to_take_a_name(void **state)
{
	static take_name_by *const ways[] = { take_name, take_name_by_rename, take_name_by_link,
					      take_name_by_reserving };
	struct fixture *f = *state;
	const char *old = arena_printf(&f->arena, "%s/old", f->directory.path).p;
	const char *new = arena_printf(&f->arena, "%s/new", f->directory.path).p;
	const char *temporary = arena_printf(&f->arena, "%s/temporary", f->directory.path).p;
	_cleanup_close_ int fd = open(f->directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	write_whole_file(old, STR("old"));
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		write_whole_file(temporary, STR("new"));
		assert_int_equal(ways[i](fd, "temporary", "old"), -1);
		assert_int_equal(errno, EEXIST);
		assert_int_equal(ways[i](fd, "missing", "new"), -1);
		assert_int_equal(errno, ENOENT);
		assert_int_equal(access(new, F_OK), -1);
		assert_int_equal(ways[i](fd, "temporary", "new"), 0);
		assert_true(str_eq(read_whole_file(old, &f->arena), STR("old")));
		assert_true(str_eq(read_whole_file(new, &f->arena), STR("new")));
		assert_int_equal(access(temporary, F_OK), -1);
		assert_int_equal(unlink(new), 0);
	}
}

#define TEST(name)                                                                                           \
	cmocka_unit_test_setup_teardown(name, set_up_unnamed, tear_down),                                    \
		cmocka_unit_test_setup_teardown(name, set_up_named, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names_that_are_taken_get_numbers),
		TEST(test_nothing_is_overwritten),
		TEST(test_directories_are_created),
		TEST(test_place_that_is_no_directory),
		TEST(test_body_that_is_too_short_leaves_nothing),
		TEST(test_umask_decides_who_may_read),
		TEST(test_ways_to_take_a_name),
	};

	return cmocka_run_group_tests_name("artifact_place", tests, NULL, NULL);
}

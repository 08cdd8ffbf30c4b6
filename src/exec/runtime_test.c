#include "base/base.h"
#include "exec/runtime.h"
#include "db/directory_fixture.h"
#include "io/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct str both[] = { STR_INIT("deno"), STR_INIT("node") };

struct place {
	struct test_directory directory;
	struct arena arena;
	struct str path; /* PATH: a relative directory, then a and b */
	struct exec_candidate found[EXEC_CANDIDATES_MAX];
	size_t count;
	struct err err;
};

static void write_program(struct place *place, const char *name, mode_t mode)
{
	const struct file_write_options options = { .mode = mode };

	assert_int_equal(
		file_write(test_directory_path(&place->directory, name), STR("#!/bin/sh\n"), &options, NULL),
		0);
}

static void place_init(struct place *place)
{
	*place = (struct place){ .count = 0 };
	test_directory_make(&place->directory);
	arena_init(&place->arena, 0);
	assert_int_equal(mkdir(test_directory_path(&place->directory, "a"), 0700), 0);
	assert_int_equal(mkdir(test_directory_path(&place->directory, "b"), 0700), 0);
	place->path =
		arena_printf(&place->arena, ".:%s/a::%s/b", place->directory.path, place->directory.path);
}

static void place_release(struct place *place)
{
	arena_release(&place->arena);
	test_directory_remove(&place->directory);
}

static int find(struct place *place, const char *runtime)
{
	return exec_runtime_find(str_of(runtime), both, 2, place->path, str_of(place->directory.path),
				 &place->arena, place->found, &place->count, &place->err);
}

static void assert_found(struct place *place, size_t at, const char *path)
{
	assert_true(at < place->count);
	assert_string_equal(place->found[at].path.p, test_directory_path(&place->directory, path));
}

static void test_the_first_in_path_that_can_be_run(void **state)
{
	struct place place;

	(void)state;
	place_init(&place);
	write_program(&place, "a/node", 0600);
	write_program(&place, "b/node", 0700);
	write_program(&place, "b/deno", 0700);
	assert_int_equal(mkdir(test_directory_path(&place.directory, "a/deno"), 0700), 0);
	assert_int_equal(find(&place, "node"), 0);
	assert_found(&place, 0, "b/node");
	assert_int_equal(place.found[0].kind, EXEC_NODE);
	assert_int_equal(find(&place, "auto"), 0);
	assert_int_equal(place.count, 2);
	assert_found(&place, 0, "b/deno");
	assert_found(&place, 1, "b/node");
	assert_int_equal(find(&place, test_directory_path(&place.directory, "b/deno")), 0);
	assert_found(&place, 0, "b/deno");
	assert_int_equal(place.found[0].kind, EXEC_DENO);
	place_release(&place);
}

static void test_what_is_not_there(void **state)
{
	struct place place;

	(void)state;
	place_init(&place);
	assert_int_equal(find(&place, "python"), ERR_INVALID);
	assert_non_null(
		strstr(place.err.message, "it may be auto, deno, node, or a path that ends in one of them"));
	assert_int_equal(find(&place, "/usr/bin/"), ERR_INVALID);
	assert_int_equal(find(&place, "/nonexistent/node"), ERR_NOT_FOUND);
	assert_string_equal(
		place.err.message,
		"/nonexistent/node is no program that can be run: install it, or set script.runtime to its path");
	place_release(&place);
}

static void test_versions(void **state)
{
	static const struct {
		const char *text;
		uint32_t version;
	} table[] = {
		{ "v22.6.0\n", 22 << 16 | 6 },
		{ "v24.0.0-nightly", 24 << 16 },
		{ "22.6.0", 0 },
		{ "", 0 },
		{ "v", 0 },
		{ "v22", 0 },
		{ "vx.1", 0 },
		{ "v0.12.1", 0 },
		{ "v99999999999.1", 0 },
	};
	struct exec_candidate candidate = { .kind = EXEC_NODE };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(exec_runtime_parse_version(str_of(table[i].text)), table[i].version);
	assert_false(exec_runtime_will_do(&candidate));
	candidate.version = 22 << 16 | 5;
	assert_false(exec_runtime_will_do(&candidate));
	candidate.version = 22 << 16 | 6;
	assert_true(exec_runtime_will_do(&candidate));
	candidate = (struct exec_candidate){ .kind = EXEC_DENO };
	assert_true(exec_runtime_will_do(&candidate));
}

/* A version is remembered for the file as it is. */
static void test_what_a_program_told_is_remembered(void **state)
{
	struct place place;

	(void)state;
	place_init(&place);
	write_program(&place, "a/node", 0700);
	assert_int_equal(find(&place, "node"), 0);
	assert_int_equal(place.found[0].version, 0);
	place.found[0].version = 23 << 16 | 1;
	exec_runtime_remember(str_of(place.directory.path), &place.found[0], &place.arena);
	assert_int_equal(find(&place, "node"), 0);
	assert_int_equal(place.found[0].version, 23 << 16 | 1);
	write_program(&place, "a/node", 0700); /* another file under the same name */
	assert_int_equal(find(&place, "node"), 0);
	assert_int_equal(place.found[0].version, 0);
	place_release(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_in_path_that_can_be_run),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_what_a_program_told_is_remembered),
	};

	return cmocka_run_group_tests_name("exec-runtime", tests, NULL, NULL);
}

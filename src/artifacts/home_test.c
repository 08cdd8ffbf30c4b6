/* Which directory is whose. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifacts/home.h"

static void expect(struct arena *arena, const char *state, const char *key, const char *name)
{
	struct str got;

	assert_int_equal(artifact_home(arena_copy(arena, str_of(state)), str_of(key), arena, &got, NULL), 0);
	assert_string_equal(got.p, arena_printf(arena, "%s/%s", state, name).p);
}

static void the_first_has_the_plain_name_and_keeps_it(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	char directory[] = "/tmp/artifact-home-XXXXXX";
	struct str link;

	(void)state;
	arena_init(&arena, 0);
	assert_non_null(mkdtemp(directory));
	for (int restart = 0; restart < 2; restart++) {
		expect(&arena, directory, "00aa", "artifacts");
		expect(&arena, directory, "00ab", "artifacts-00ab");
		expect(&arena, directory, "00aac", "artifacts-00aac");
	}
	link = arena_printf(&arena, "%s/artifacts.owner", directory);
	assert_int_equal(unlink(link.p), 0);
	expect(&arena, directory, "00ab", "artifacts");
	assert_int_equal(unlink(link.p), 0);
	assert_int_equal(rmdir(directory), 0);
}

static void trouble_is_told(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str got;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	assert_true(artifact_home(STR("/no/such/state"), STR("k"), &arena, &got, &err) < 0);
	assert_string_equal(err.message,
			    "/no/such/state/artifacts.owner: cannot be made: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_has_the_plain_name_and_keeps_it),
		cmocka_unit_test(trouble_is_told),
	};

	return cmocka_run_group_tests_name("artifacts/home", tests, NULL, NULL);
}

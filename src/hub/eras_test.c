#include "base/base.h"
#include "hub/eras.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_remembers_and_forgets(void **state)
{
	struct hub_eras *eras = eras_new(STR(""), 1);

	(void)state;
	assert_int_equal(eras_get(eras, STR("a")), -1);
	assert_true(eras_set(eras, STR("a"), MCP_MODERN));
	assert_false(eras_set(eras, STR("a"), MCP_MODERN));
	assert_true(eras_set(eras, STR("a"), MCP_LEGACY));
	assert_int_equal(eras_get(eras, STR("a")), MCP_LEGACY);
	assert_true(eras_set(eras, STR("a"), -1));
	assert_false(eras_set(eras, STR("a"), -1));
	assert_int_equal(eras_get(eras, STR("a")), -1);
	eras_free(&eras);
	assert_null(eras);
}

static void test_file_gives_the_same_back(void **state)
{
	struct hub_eras *eras =
		eras_new(STR("{\"x\": \"legacy\", \"y\": \"modern\", \"z\": \"future\", \"w\": 3}"), 1);
	_cleanup_buf_ struct buf out = { 0 };
	struct hub_eras *back;

	(void)state;
	buf_init(&out, ERAS_FILE_MAX);
	assert_int_equal(eras_write(eras, &out), 0);
	back = eras_new(buf_str(&out), 2);
	assert_int_equal(eras_get(back, STR("x")), MCP_LEGACY);
	assert_int_equal(eras_get(back, STR("y")), MCP_MODERN);
	assert_int_equal(eras_get(back, STR("z")), -1);
	assert_int_equal(eras_get(back, STR("w")), -1);
	eras_free(&eras);
	eras_free(&back);
}

static void test_damaged_file_is_empty(void **state)
{
	struct hub_eras *eras = eras_new(STR("{\"x\": \"leg"), 1);

	(void)state;
	assert_int_equal(eras_get(eras, STR("x")), -1);
	eras_free(&eras);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remembers_and_forgets),
		cmocka_unit_test(test_file_gives_the_same_back),
		cmocka_unit_test(test_damaged_file_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

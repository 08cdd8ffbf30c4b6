#include "base/base.h"
#include "text/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct str nearest_of(const char *typed, const char *const *words)
{
	struct nearest nearest;

	nearest_init(&nearest, str_of(typed));
	for (; *words; words++)
		nearest_consider(&nearest, str_of(*words));
	return nearest.best;
}

static void assert_nearest(const char *typed, const char *expected)
{
	static const char *const words[] = { "status", "search", "settings list", "types",
					     "tools",  "ls",	 "call",	  NULL };
	struct str best = nearest_of(typed, words);

	if (!str_eq(best, str_of(expected)))
		fail_msg("%s: found \"%.*s\", expected \"%s\"", typed, STR_ARG(best), expected);
}

static void test_slips(void **state)
{
	(void)state;
	assert_nearest("status", "status");
	assert_nearest("statsu", "status");  /* swapped */
	assert_nearest("satus", "status");   /* one missing */
	assert_nearest("sstatus", "status"); /* one too many */
	assert_nearest("serach", "search");
	assert_nearest("cal", "call");
	assert_nearest("toosl", "tools");
}

static void test_other_words(void **state)
{
	(void)state;
	assert_nearest("frobnicate", "");
	assert_nearest("", "");
	assert_nearest("xy", "");
}

static void test_first_of_equals(void **state)
{
	static const char *const words[] = { "cart", "card", NULL };

	(void)state;
	assert_true(str_eq(nearest_of("carx", words), STR("cart")));
}

static void test_long_words(void **state)
{
	char typed[NEAREST_WORD_MAX + 2], other[NEAREST_WORD_MAX + 2];
	const char *words[] = { other, NULL };

	(void)state;
	memset(typed, 'a', sizeof(typed));
	memset(other, 'a', sizeof(other));
	typed[NEAREST_WORD_MAX] = other[NEAREST_WORD_MAX] = '\0';
	assert_true(str_eq(nearest_of(typed, words), str_of(other)));
	typed[NEAREST_WORD_MAX] = 'a';
	typed[NEAREST_WORD_MAX + 1] = '\0';
	assert_int_equal(nearest_of(typed, words).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slips),
		cmocka_unit_test(test_other_words),
		cmocka_unit_test(test_first_of_equals),
		cmocka_unit_test(test_long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

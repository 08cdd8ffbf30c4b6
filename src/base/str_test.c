#include "base/base.h"
#include "base/str.h"

#include "base/err.h"

#include <limits.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static const struct str none = { NULL, 0 };

static void assert_text(struct str s, struct str expected)
{
	assert_int_equal(s.n, expected.n);
	if (expected.n)
		assert_memory_equal(s.p, expected.p, expected.n);
}

static void test_making(void **state)
{
	char text[32];

	(void)state;
	assert_text(str_of("abc"), STR("abc"));
	assert_text(str_of(""), none);
	assert_text(str_of(NULL), none);
	assert_int_equal(STR("a\0b").n, 3);
	snprintf(text, sizeof(text), "<%.*s|%.*s>", STR_ARG(str_make("abcdef", 3)), STR_ARG(none));
	assert_string_equal(text, "<abc|>");
	assert_int_equal(str_printf_length(str_make("", (size_t)INT_MAX + 1)), INT_MAX);
	assert_int_equal(str_printf_length(str_make("", SIZE_MAX)), INT_MAX);
	assert_int_equal(str_printf_length(str_make("", INT_MAX)), INT_MAX);
}

static void test_equality(void **state)
{
	(void)state;
	assert_true(str_eq(STR("abc"), STR("abc")));
	assert_true(str_eq(none, STR("")));
	assert_false(str_eq(STR("abc"), STR("abd")));
	assert_false(str_eq(STR("abc"), STR("ab")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_eq_ignoring_case(STR("Content-Length"), STR("cONTENT-lENGTH")));
	assert_true(str_eq_ignoring_case(none, STR("")));
	assert_false(str_eq_ignoring_case(STR("a"), STR("ab")));
	/* Letters only: these differ by the same bit. */
	assert_false(str_eq_ignoring_case(STR("@[`{"), STR("`{@[")));
	assert_false(str_eq_ignoring_case(STR("\xc3\x89"), STR("\xc3\xa9")));
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void test_order(void **state)
{
	static const struct str ascending[] = {
		STR_INIT(""),	 STR_INIT("\0"), STR_INIT("A"), STR_INIT("a"),
		STR_INIT("a\0"), STR_INIT("ab"), STR_INIT("b"), STR_INIT("\xff"),
	};

	(void)state;
	for (int i = 0; i < (int)ARRAY_LEN(ascending); i++)
		for (int j = 0; j < (int)ARRAY_LEN(ascending); j++)
			assert_int_equal(sign(str_compare(ascending[i], ascending[j])), sign(i - j));
	assert_int_equal(str_compare(none, STR("")), 0);
}

static void test_ends(void **state)
{
	(void)state;
	assert_true(str_starts_with(STR("abc"), STR("ab")));
	assert_true(str_starts_with(STR("abc"), STR("abc")));
	assert_true(str_starts_with(STR("abc"), STR("")));
	assert_true(str_starts_with(none, none));
	assert_false(str_starts_with(STR("abc"), STR("b")));
	assert_false(str_starts_with(STR("ab"), STR("abc")));
	assert_true(str_ends_with(STR("abc"), STR("bc")));
	assert_true(str_ends_with(STR("abc"), STR("abc")));
	assert_true(str_ends_with(none, STR("")));
	assert_false(str_ends_with(STR("abc"), STR("b")));
	assert_false(str_ends_with(STR("bc"), STR("abc")));
}

static void test_slices(void **state)
{
	(void)state;
	assert_text(str_slice(STR("abcdef"), 1, 3), STR("bcd"));
	assert_text(str_slice(STR("abcdef"), 0, 6), STR("abcdef"));
	assert_text(str_slice(STR("abcdef"), 4, 9), STR("ef"));
	assert_text(str_slice(STR("abcdef"), 6, 1), none);
	assert_text(str_slice(STR("abcdef"), 7, SIZE_MAX), none);
	assert_text(str_slice(STR("abcdef"), SIZE_MAX, SIZE_MAX), none);
	assert_text(str_slice(none, 0, 1), none);
	assert_text(str_slice(none, 3, 1), none);
	assert_text(str_from(STR("abcdef"), 2), STR("cdef"));
	assert_text(str_from(STR("abcdef"), 8), none);
}

static void test_finding(void **state)
{
	(void)state;
	assert_int_equal(str_find(STR("abcabc"), STR("bc")), 1);
	assert_int_equal(str_find(STR("abcabc"), STR("abcabc")), 0);
	assert_int_equal(str_find(STR("abcabc"), STR("abcabcd")), STR_NONE);
	assert_int_equal(str_find(STR("abcabc"), STR("x")), STR_NONE);
	assert_int_equal(str_find(STR("abc"), STR("")), 0);
	assert_int_equal(str_find(none, none), 0);
	assert_int_equal(str_find(none, STR("a")), STR_NONE);
	assert_int_equal(str_find(STR("a\0b"), STR("\0b")), 1);
	assert_int_equal(str_find_char(STR("abcabc"), 'b'), 1);
	assert_int_equal(str_find_last_char(STR("abcabc"), 'b'), 4);
	assert_int_equal(str_find_char(STR("abc"), '\0'), STR_NONE);
	assert_int_equal(str_find_char(str_make("abc", 2), 'c'), STR_NONE);
	assert_int_equal(str_find_last_char(STR("abc"), 'x'), STR_NONE);
	assert_int_equal(str_find_char(none, 'a'), STR_NONE);
	assert_int_equal(str_find_last_char(none, 'a'), STR_NONE);
}

static void test_trimming(void **state)
{
	(void)state;
	assert_text(str_trim(STR(" \t\r\na b\n ")), STR("a b"));
	assert_text(str_trim(STR("a")), STR("a"));
	assert_text(str_trim(STR(" \n ")), none);
	assert_text(str_trim(none), none);
	assert_text(str_trim(STR("\v\fa\0")), STR("\v\fa\0"));
}

static void assert_split(struct str text, const char *const *parts)
{
	struct str part, rest = text;

	for (; *parts; parts++) {
		assert_true(str_split(&rest, ',', &part));
		assert_text(part, str_of(*parts));
	}
	assert_false(str_split(&rest, ',', &part));
	assert_false(str_split(&rest, ',', &part));
}

static void test_splitting(void **state)
{
	(void)state;
	assert_split(STR("a,,b"), (const char *const[]){ "a", "", "b", NULL });
	assert_split(STR("abc"), (const char *const[]){ "abc", NULL });
	assert_split(STR(""), (const char *const[]){ "", NULL });
	assert_split(none, (const char *const[]){ "", NULL });
	assert_split(STR(","), (const char *const[]){ "", "", NULL });
	assert_split(STR("a,b,"), (const char *const[]){ "a", "b", "", NULL });
}

static void test_taking(void **state)
{
	struct str rest = STR("12a3"), digits = str_take_digits(&rest);

	(void)state;
	assert_text(digits, STR("12"));
	assert_text(rest, STR("a3"));
	assert_int_equal(str_take_digits(&rest).n, 0);
	assert_false(str_take_char(&rest, 'b'));
	assert_true(str_take_char(&rest, 'a'));
	assert_text(str_take_digits(&rest), STR("3"));
	assert_false(str_take_char(&rest, '\0'));
	assert_text(str_take_digits(&rest), none);
	rest = none;
	assert_false(str_take_char(&rest, 'a'));
	assert_text(str_take_digits(&rest), none);
}

static void test_unsigned_numbers(void **state)
{
	static const struct {
		struct str text;
		uint64_t value;
	} good[] = {
		{ STR_INIT("0"), 0 },
		{ STR_INIT("7"), 7 },
		{ STR_INIT("007"), 7 },
		{ STR_INIT("18446744073709551615"), UINT64_MAX },
		{ STR_INIT("00000000000000000000018446744073709551615"), UINT64_MAX },
	};
	static const struct str bad[] = {
		STR_INIT(""),
		STR_INIT("-1"),
		STR_INIT("+1"),
		STR_INIT(" 1"),
		STR_INIT("1 "),
		STR_INIT("1\0"),
		STR_INIT("0x1"),
		STR_INIT("1e3"),
		STR_INIT("1.0"),
		STR_INIT("/"),
		STR_INIT(":"),
		STR_INIT("18446744073709551616"),
		STR_INIT("18446744073709551620"),
		STR_INIT("99999999999999999999999999"),
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(str_to_u64(good[i].text, &value), 0);
		assert_true(value == good[i].value);
	}
	value = 42;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_to_u64(bad[i], &value), ERR_INVALID);
	assert_int_equal(str_to_u64(none, &value), ERR_INVALID);
	assert_int_equal(value, 42);
	/* The end of the view is the end of the number. */
	assert_int_equal(str_to_u64(str_make("123", 2), &value), 0);
	assert_int_equal(value, 12);
}

static void test_signed_numbers(void **state)
{
	static const struct {
		struct str text;
		int64_t value;
	} good[] = {
		{ STR_INIT("0"), 0 },
		{ STR_INIT("-0"), 0 },
		{ STR_INIT("-17"), -17 },
		{ STR_INIT("9223372036854775807"), INT64_MAX },
		{ STR_INIT("-9223372036854775808"), INT64_MIN },
	};
	static const struct str bad[] = {
		STR_INIT(""),
		STR_INIT("-"),
		STR_INIT("--1"),
		STR_INIT("+1"),
		STR_INIT("- 1"),
		STR_INIT("1-"),
		STR_INIT("9223372036854775808"),
		STR_INIT("-9223372036854775809"),
		STR_INIT("-18446744073709551616"),
	};
	int64_t value;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(str_to_i64(good[i].text, &value), 0);
		assert_true(value == good[i].value);
	}
	value = 42;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(str_to_i64(bad[i], &value), ERR_INVALID);
	assert_int_equal(value, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_making),	       cmocka_unit_test(test_equality),
		cmocka_unit_test(test_order),	       cmocka_unit_test(test_ends),
		cmocka_unit_test(test_slices),	       cmocka_unit_test(test_finding),
		cmocka_unit_test(test_trimming),       cmocka_unit_test(test_splitting),
		cmocka_unit_test(test_taking),	       cmocka_unit_test(test_unsigned_numbers),
		cmocka_unit_test(test_signed_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

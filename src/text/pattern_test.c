#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/pattern.h"

static void expect_pattern(const char *text, enum pattern_kind kind, const char *match, const char *miss)
{
	struct pattern pattern;
	struct err err = { 0 };

	if (pattern_parse(str_of(text), &pattern, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(pattern.kind, kind);
	assert_true(pattern_matches(&pattern, str_of(match)));
	assert_false(pattern_matches(&pattern, str_of(miss)));
}

static void test_exact(void **state)
{
	(void)state;
	expect_pattern("read_file", PATTERN_EXACT, "read_file", "read_files");
	expect_pattern("/", PATTERN_EXACT, "/", "");
	expect_pattern("/read", PATTERN_EXACT, "/read", "read");
	expect_pattern("read/", PATTERN_EXACT, "read/", "read");
	expect_pattern("a]b", PATTERN_EXACT, "a]b", "ab");
}

static void test_glob(void **state)
{
	(void)state;
	expect_pattern("read_*", PATTERN_GLOB, "read_file", "write_file");
	expect_pattern("?", PATTERN_GLOB, "a", "ab");
	expect_pattern("[a-z]", PATTERN_GLOB, "a", "[a-z]");
	expect_pattern("/*", PATTERN_GLOB, "/x", "x");
}

static void expect_error(const char *text, int code, const char *message)
{
	struct pattern pattern = { PATTERN_EXACT, { "untouched", 9 } };
	struct err err = { 0 };

	assert_int_equal(pattern_parse(str_of(text), &pattern, &err), code);
	assert_string_equal(err.message, message);
	assert_true(str_eq(pattern.text, STR("untouched")));
}

static void test_errors(void **state)
{
	(void)state;
	expect_error("", ERR_INVALID, "an empty pattern names nothing; write * for all");
	expect_error("/^read_/", ERR_UNSUPPORTED,
		     "\"/^read_/\": regular expressions are not offered; write a glob, such as read_*");
	expect_error("//", ERR_UNSUPPORTED,
		     "\"//\": regular expressions are not offered; write a glob, such as read_*");
	expect_error("/[/", ERR_UNSUPPORTED,
		     "\"/[/\": regular expressions are not offered; write a glob, such as read_*");
	expect_error("a[b", ERR_INVALID,
		     "glob \"a[b\", column 2: \"[\" has no closing \"]\"; write [[] for the character");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_glob),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/glob.h"

static bool matches(const char *glob, const char *name)
{
	struct err err = { 0 };

	if (glob_check(str_of(glob), &err) < 0)
		fail_msg("%s", err.message);
	return glob_matches(str_of(glob), str_of(name));
}

static void test_literal(void **state)
{
	(void)state;
	assert_true(matches("", ""));
	assert_false(matches("", "a"));
	assert_false(matches("a", ""));
	assert_true(matches("read_file", "read_file"));
	assert_false(matches("read_file", "read_files"));
	assert_false(matches("read_files", "read_file"));
	assert_false(matches("read_file", "Read_file"));
	assert_true(matches("a]b-c!d", "a]b-c!d"));
	assert_true(matches("a\\b", "a\\b"));
	assert_true(matches("caf\xc3\xa9", "caf\xc3\xa9"));
}

static void test_star(void **state)
{
	(void)state;
	assert_true(matches("*", ""));
	assert_true(matches("*", "anything/at.all"));
	assert_true(matches("read_*", "read_file"));
	assert_true(matches("read_*", "read_"));
	assert_false(matches("read_*", "read"));
	assert_false(matches("read_*", "write_file"));
	assert_true(matches("*_file", "read_file"));
	assert_false(matches("*_file", "read_files"));
	assert_true(matches("*a*b*", "xxaxxbxx"));
	assert_false(matches("*a*b*", "xxbxxaxx"));
	assert_true(matches("a*b*c", "abbc"));
	assert_true(matches("a*bc", "abcbc"));
	assert_true(matches("**a***", "a"));
	assert_true(matches("\\*", "\\x"));
	assert_false(matches("\\*", "*"));
	assert_true(matches("*\xc3\xa9", "caf\xc3\xa9"));
}

static void test_question(void **state)
{
	(void)state;
	assert_true(matches("?", "a"));
	assert_false(matches("?", ""));
	assert_false(matches("?", "ab"));
	assert_true(matches("?", "\xc3\xa9"));
	assert_true(matches("?", "\xf0\x9f\x90\xb8"));
	assert_true(matches("a?c", "abc"));
	assert_true(matches("a?c", "a?c"));
	assert_true(matches("*?", "a"));
	assert_false(matches("*?", ""));
	assert_true(matches("?*?", "ab"));
	assert_false(matches("?*?", "a"));
}

static void test_class(void **state)
{
	(void)state;
	assert_true(matches("[abc]", "b"));
	assert_false(matches("[abc]", "d"));
	assert_false(matches("[abc]", ""));
	assert_false(matches("[abc]", "ab"));
	assert_true(matches("[a-z]", "a"));
	assert_true(matches("[a-z]", "z"));
	assert_false(matches("[a-z]", "A"));
	assert_false(matches("[a-z]", "{"));
	assert_true(matches("[a-cx0-9_]", "x"));
	assert_true(matches("[a-cx0-9_]", "7"));
	assert_true(matches("[a-cx0-9_]", "_"));
	assert_false(matches("[a-cx0-9_]", "d"));
	assert_true(matches("tool[0-9][0-9]", "tool42"));
	assert_true(matches("*[0-9]", "v1.2"));
	assert_true(matches("[*]", "*"));
	assert_false(matches("[*]", "a"));
	assert_true(matches("[?]", "?"));
	assert_true(matches("[[]", "["));
	assert_true(matches("[\\]", "\\"));
}

static void test_negated_class(void **state)
{
	(void)state;
	assert_true(matches("[!a-z]", "A"));
	assert_false(matches("[!a-z]", "m"));
	assert_false(matches("[!a-z]", ""));
	assert_true(matches("[!a]", "!"));
	assert_true(matches("[a!]", "!"));
	assert_true(matches("[!!]", "a"));
	assert_false(matches("[!!]", "!"));
	assert_true(matches("*[!_]", "read_file"));
	assert_false(matches("[!_]*", "_private"));
}

static void test_class_edges(void **state)
{
	(void)state;
	assert_true(matches("[]]", "]"));
	assert_true(matches("[]a]", "a"));
	assert_false(matches("[!]]", "]"));
	assert_true(matches("[!]]", "a"));
	assert_true(matches("[-a]", "-"));
	assert_true(matches("[a-]", "-"));
	assert_true(matches("[a-]", "a"));
	assert_false(matches("[a-]", "b"));
	assert_true(matches("[!-]", "a"));
	assert_false(matches("[!-]", "-"));
	assert_true(matches("[+--]", ","));
	assert_true(matches("[a-c-e]", "-"));
	assert_false(matches("[a-c-e]", "d"));
	assert_true(matches("[a^]", "^"));
	assert_true(matches("[]-a]", "_"));
}

static void test_class_of_code_points(void **state)
{
	(void)state;
	assert_true(matches("[\xc3\xa0-\xc3\xbf]", "\xc3\xa9"));
	assert_false(matches("[\xc3\xa0-\xc3\xbf]", "e"));
	assert_false(matches("[\xc3\xa0-\xc3\xbf]", "\xc4\x80"));
	assert_true(matches("[!\xc3\xa9]", "\xc3\xa8"));
	assert_true(matches("[\xf0\x9f\x90\xb8]x", "\xf0\x9f\x90\xb8x"));
}

static void test_broken_names(void **state)
{
	(void)state;
	assert_true(matches("?", "\xff"));
	assert_true(matches("*", "\xff\xfe"));
	assert_true(matches("a?b", "a\x80"
				   "b"));
	assert_false(matches("a?b", "a\x80\x80"
				    "b"));
	assert_true(matches("[!a]", "\xff"));
	assert_false(matches("[\x01-\xf4\x8f\xbf\xbf]", "\xff"));
	assert_false(matches("a", "\xe2\x82"));
	assert_true(glob_matches(STR("a*"), STR("a\0b")));
	assert_true(glob_matches(STR("a?b"), STR("a\0b")));
}

static void test_magic(void **state)
{
	(void)state;
	assert_false(glob_magic(STR("")));
	assert_false(glob_magic(STR("read_file]!-^\\")));
	assert_true(glob_magic(STR("a*")));
	assert_true(glob_magic(STR("?a")));
	assert_true(glob_magic(STR("a[b]")));
}

static void expect_error(struct str glob, int code, size_t offset, const char *message)
{
	struct err err = { 0 };

	assert_int_equal(glob_check(glob, &err), code);
	assert_string_equal(err.message, message);
	assert_int_equal(err.line, 1);
	assert_int_equal(err.offset, offset);
	assert_int_equal(err.column, offset + 1);
	assert_int_equal(glob_check(glob, NULL), code);
}

static void test_errors(void **state)
{
	(void)state;
	expect_error(STR("ab[cd"), ERR_INVALID, 2,
		     "glob \"ab[cd\", column 3: \"[\" has no closing \"]\"; write [[] for the character");
	expect_error(STR("["), ERR_INVALID, 0,
		     "glob \"[\", column 1: \"[\" has no closing \"]\"; write [[] for the character");
	expect_error(STR("x[]"), ERR_INVALID, 1,
		     "glob \"x[]\", column 2: \"[\" has no closing \"]\"; write [[] for the character");
	expect_error(STR("x[!]"), ERR_INVALID, 1,
		     "glob \"x[!]\", column 2: \"[\" has no closing \"]\"; write [[] for the character");
	expect_error(STR("x[!"), ERR_INVALID, 1,
		     "glob \"x[!\", column 2: \"[\" has no closing \"]\"; write [[] for the character");
	expect_error(STR("[a][z-a]"), ERR_INVALID, 4,
		     "glob \"[a][z-a]\", column 5: the range \"z-a\" runs backwards");
	expect_error(STR("[^a]"), ERR_INVALID, 0,
		     "glob \"[^a]\", column 1: to exclude characters write [!...], not [^...]");
	expect_error(
		STR("a[[:digit:]]"), ERR_INVALID, 1,
		"glob \"a[[:digit:]]\", column 2: named classes such as [:alpha:] are not known; write [a-z]");
	expect_error(STR("a[![:digit:]]"), ERR_INVALID, 1,
		     "glob \"a[![:digit:]]\", column 2: named classes such as [:alpha:] are not known; write "
		     "[a-z]");
	expect_error(STR("a\xff"), ERR_INVALID, 1, "glob \"a\\xff\", column 2: not UTF-8");
}

static void test_longest(void **state)
{
	char text[GLOB_TEXT_MAX + 1], message[256];
	struct err err = { 0 };

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_int_equal(glob_check(str_make(text, GLOB_TEXT_MAX), &err), 0);
	assert_int_equal(glob_check(str_make(text, sizeof(text)), &err), ERR_TOO_LARGE);
	snprintf(message, sizeof(message), "glob \"%.80s\"... has 1025 bytes: at most 1024 are allowed",
		 text);
	assert_string_equal(err.message, message);
}

/* What is exponential for a matcher that tries every star again: a hundred of them, and a name that fails at
 * its last byte. */
static void test_many_stars(void **state)
{
	char glob[201], name[4001];

	(void)state;
	for (int i = 0; i < 200; i += 2)
		memcpy(glob + i, "*a", 2);
	glob[200] = '\0';
	memset(name, 'a', 4000);
	name[4000] = '\0';
	assert_true(matches(glob, name));
	name[3999] = 'b';
	assert_false(matches(glob, name));
}

/* A matcher that is obviously right, and exponential: against all short globs and names over a small
 * alphabet. */
static bool matches_slowly(const char *glob, const char *name)
{
	if (*glob == '\0')
		return *name == '\0';
	if (*glob == '*')
		return matches_slowly(glob + 1, name) || (*name && matches_slowly(glob, name + 1));
	return *name && (*glob == '?' || *glob == *name) && matches_slowly(glob + 1, name + 1);
}

static void spell(char *out, unsigned number, const char *alphabet, unsigned base)
{
	for (; number > 0; number = (number - 1) / base)
		*out++ = alphabet[(number - 1) % base];
	*out = '\0';
}

static void test_against_the_definition(void **state)
{
	(void)state;
	for (unsigned g = 0; g < 1365; g++) {
		for (unsigned n = 0; n < 127; n++) {
			char glob[12], name[12];

			spell(glob, g, "ab*?", 4);
			spell(name, n, "ab", 2);
			if (glob_matches(str_of(glob), str_of(name)) != matches_slowly(glob, name))
				fail_msg("%s against %s", glob, name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literal),
		cmocka_unit_test(test_star),
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_negated_class),
		cmocka_unit_test(test_class_edges),
		cmocka_unit_test(test_class_of_code_points),
		cmocka_unit_test(test_broken_names),
		cmocka_unit_test(test_magic),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_many_stars),
		cmocka_unit_test(test_against_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

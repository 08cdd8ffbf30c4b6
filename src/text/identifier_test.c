#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/identifier.h"

static void expect_identifier(struct str name, enum identifier_use use, const char *expected)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str got;

	arena_init(&arena, 0);
	got = identifier_of(&arena, name, use);
	if (!str_eq(got, str_of(expected)))
		fail_msg("\"%.*s\" became \"%.*s\", expected \"%s\"", STR_ARG(name), STR_ARG(got), expected);
	assert_true(identifier_well_formed(got));
	assert_false(identifier_reserved(got, use));
	/* What is an identifier stays what it is. */
	assert_ptr_equal(identifier_of(&arena, got, use).p, got.p);
}

static void expect_both(const char *name, const char *expected)
{
	expect_identifier(str_of(name), IDENTIFIER_NAMESPACE, expected);
	expect_identifier(str_of(name), IDENTIFIER_TOOL, expected);
}

static void test_characters(void **state)
{
	(void)state;
	expect_both("files", "files");
	expect_both("read_text_file", "read_text_file");
	expect_both("readFile2", "readFile2");
	expect_both("fancy-name", "fancy_name");
	expect_both("a.b/c d", "a_b_c_d");
	expect_both("$jq", "_jq");
	expect_both("", "_");
	expect_both("-", "_");
	expect_both("_", "_");
	expect_both("__", "__");
	expect_both("a--b", "a__b");
}

static void test_digits(void **state)
{
	(void)state;
	expect_both("3d", "_3d");
	expect_both("42", "_42");
	expect_both("-3d", "_3d");
	expect_both("d3", "d3");
}

static void test_other_scripts(void **state)
{
	(void)state;
	expect_both("caf\xc3\xa9", "caf_");
	expect_both("\xe6\x96\x87\xe4\xbb\xb6", "__");
	expect_both("a\xf0\x9f\x90\xb8"
		    "b",
		    "a_b");
	expect_both("a\xff\xfe"
		    "b",
		    "a__b");
	expect_both("a\xe2\x82", "a__");
	expect_identifier(STR("a\0b"), IDENTIFIER_TOOL, "a_b");
}

static void test_reserved(void **state)
{
	static const char *const words[] = { "delete", "class",	    "await",	  "yield",   "let",
					     "static", "package",   "eval",	  "NaN",     "null",
					     "call",   "emit",	    "artifact",	  "log",     "search",
					     "tools",  "ToolError", "globalThis", "console", "process",
					     "Deno",   "Object",    "JSON",	  "Promise" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "%s_", words[i]);
		expect_identifier(str_of(words[i]), IDENTIFIER_NAMESPACE, expected);
		expect_identifier(str_of(words[i]), IDENTIFIER_TOOL, words[i]);
		assert_true(identifier_reserved(str_of(words[i]), IDENTIFIER_NAMESPACE));
	}
}

static void test_not_reserved(void **state)
{
	(void)state;
	expect_both("fetch", "fetch");
	expect_both("git", "git");
	expect_both("time", "time");
	expect_both("memory", "memory");
	expect_both("Delete", "Delete");
	expect_both("classes", "classes");
	expect_both("of", "of");
	expect_both("async", "async");
}

static void test_looked_up(void **state)
{
	(void)state;
	expect_both("then", "then_");
	expect_both("toJSON", "toJSON_");
	expect_both("toString", "toString_");
	expect_both("valueOf", "valueOf_");
	expect_both("constructor", "constructor_");
	expect_both("prototype", "prototype_");
	expect_both("__proto__", "__proto___");
	expect_both("--proto--", "__proto___");
	expect_both("hasOwnProperty", "hasOwnProperty_");
}

static void test_well_formed(void **state)
{
	(void)state;
	assert_true(identifier_well_formed(STR("a")));
	assert_true(identifier_well_formed(STR("_9")));
	assert_true(identifier_well_formed(STR("delete")));
	assert_false(identifier_well_formed(STR("")));
	assert_false(identifier_well_formed(STR("9a")));
	assert_false(identifier_well_formed(STR("a-b")));
	assert_false(identifier_well_formed(STR("a$")));
	assert_false(identifier_well_formed(STR("caf\xc3\xa9")));
	assert_false(identifier_well_formed(STR("a\0")));
	assert_false(identifier_well_formed(STR("a\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters),    cmocka_unit_test(test_digits),
		cmocka_unit_test(test_other_scripts), cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_not_reserved),  cmocka_unit_test(test_looked_up),
		cmocka_unit_test(test_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

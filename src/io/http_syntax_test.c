#include "base/base.h"
#include "io/http_syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_lines(void **state)
{
	struct str bytes = STR("one\r\n\r\ntwo\tthree\r\nfour\r");
	struct http_lines lines = { 0 };
	struct str line;

	(void)state;
	assert_int_equal(http_next_line(&lines, str_slice(bytes, 0, 4), &line), HTTP_LINE_MORE);
	assert_int_equal(http_next_line(&lines, bytes, &line), HTTP_LINE_WHOLE);
	assert_true(str_eq(line, STR("one")));
	assert_int_equal(http_next_line(&lines, bytes, &line), HTTP_LINE_WHOLE);
	assert_int_equal(line.n, 0);
	assert_int_equal(http_next_line(&lines, bytes, &line), HTTP_LINE_WHOLE);
	assert_true(str_eq(line, STR("two\tthree")));
	assert_int_equal(http_next_line(&lines, bytes, &line), HTTP_LINE_MORE);
	assert_int_equal(lines.from, 18);
	assert_int_equal(lines.at, 22);
}

static void test_fields(void **state)
{
	static const struct {
		const char *line, *problem;
	} bad[] = {
		{ " a: b", "begins with a blank: folded lines are not accepted" },
		{ "\ta: b", "begins with a blank: folded lines are not accepted" },
		{ "a", "has no colon" },
		{ "", "has no colon" },
		{ "a : b", "has a blank in front of its colon" },
		{ "a\t: b", "has a blank in front of its colon" },
		{ "a b: c", "has a name that is not a token" },
		{ ": c", "has a name that is not a token" },
		{ "\xc3\xa4: c", "has a name that is not a token" },
	};
	struct http_field field;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_string_equal(http_parse_field(str_of(bad[i].line), &field), bad[i].problem);
	assert_null(http_parse_field(STR("Name:  a: b\t"), &field));
	assert_true(str_eq(field.name, STR("Name")));
	assert_true(str_eq(field.value, STR("a: b")));
	assert_true(str_eq(http_find_field(&field, 1, STR("nAME")), STR("a: b")));
	assert_null(http_find_field(&field, 1, STR("other")).p);
}

static void assert_members(const char *list, const char *expected)
{
	struct str rest = str_of(list), wanted = str_of(expected), member, part;

	while (http_next_member(&rest, &member)) {
		assert_true(str_split(&wanted, ';', &part));
		assert_true(str_eq(member, part));
	}
	assert_true(wanted.n == SIZE_MAX || wanted.n == 0);
}

static void test_lists(void **state)
{
	(void)state;
	assert_members("", "");
	assert_members(" , ,", "");
	assert_members("a", "a");
	assert_members(" a ,b,, c d ", "a;b;c d");
	assert_members("\"a,b\", \"c\\\",d\",e", "\"a,b\";\"c\\\",d\";e");
	assert_members("\"open, a", "\"open, a");
	assert_true(http_list_has(STR("keep-alive, Upgrade"), STR("upgrade")));
	assert_false(http_list_has(STR("keep-alive, Upgraded"), STR("upgrade")));
	assert_false(http_list_has(str_make(NULL, 0), STR("upgrade")));
}

static void test_small_things(void **state)
{
	(void)state;
	assert_true(http_is_token(STR("M-SEARCH")));
	assert_false(http_is_token(STR("")));
	assert_false(http_is_token(STR("a\0")));
	assert_true(http_is_field_value(STR("a\t\xff")));
	assert_false(http_is_field_value(STR("a\r")));
	assert_string_equal(http_status_phrase(404), "Not Found");
	assert_string_equal(http_status_phrase(299), "Unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_small_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

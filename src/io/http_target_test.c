#include "base/base.h"
#include "io/http_target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_refused(struct str target, const char *problem)
{
	const char *found = http_target_check(target);

	if (!found || strcmp(found, problem))
		fail_msg("%.*s: %s", STR_ARG(target), found ? found : "accepted");
}

static void assert_split(const char *target, const char *path, const char *query)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str found_path, found_query;
	const char *problem = http_target_check(str_of(target));

	if (problem)
		fail_msg("%s: %s", target, problem);
	arena_init(&arena, 0);
	http_target_split(str_of(target), &arena, &found_path, &found_query);
	assert_true(str_eq(found_path, str_of(path)));
	assert_true(str_eq(found_query, str_of(query)));
	assert_int_equal(found_query.p == NULL, query == NULL);
}

static void test_good(void **state)
{
	(void)state;
	assert_split("/", "/", NULL);
	assert_split("/?", "/", "");
	assert_split("/a/b/", "/a/b/", NULL);
	assert_split("/a%20b/%C3%A4?x=%2F..%5C", "/a b/\xc3\xa4", "x=%2F..%5C");
	assert_split("/a...b/..c/...?/../?", "/a...b/..c/...", "/../?");
	assert_split("/x[1]|y;z=1,2:@!$&'()*+", "/x[1]|y;z=1,2:@!$&'()*+", NULL);
	assert_split("/?{}|\\^`[]", "/", "{}|\\^`[]");
	assert_split("/%23%3F%25", "/#?%", NULL);
	assert_split("/%7E%2D", "/~-", NULL);
}

static void test_paths(void **state)
{
	(void)state;
	assert_refused(STR(""), "The target does not begin with a slash.");
	assert_refused(STR("a"), "The target does not begin with a slash.");
	assert_refused(STR("*"), "The target does not begin with a slash.");
	assert_refused(STR("//"), "The path holds an empty segment.");
	assert_refused(STR("//evil.example/x"), "The path holds an empty segment.");
	assert_refused(STR("/a//b"), "The path holds an empty segment.");
	assert_refused(STR("/."), "The path holds a dot segment.");
	assert_refused(STR("/.."), "The path holds a dot segment.");
	assert_refused(STR("/a/./b"), "The path holds a dot segment.");
	assert_refused(STR("/../a"), "The path holds a dot segment.");
	assert_refused(STR("/a/%2e%2E/b"), "The path holds a dot segment.");
	assert_refused(STR("/a/.%2e"), "The path holds a dot segment.");
	assert_refused(STR("/a/..?b"), "The path holds a dot segment.");
	assert_refused(STR("/a%2Fb"), "The path holds an escaped slash or backslash.");
	assert_refused(STR("/a%5cb"), "The path holds an escaped slash or backslash.");
	assert_refused(STR("/a\\b"), "The path holds a character that must be escaped.");
	assert_refused(STR("/a#b"), "The path holds a character that must be escaped.");
	assert_refused(STR("/a b"), "The path holds a character that must be escaped.");
	assert_refused(STR("/<a>"), "The path holds a character that must be escaped.");
	assert_refused(STR("/\xc3\xa4"), "The path holds a character that must be escaped.");
	assert_refused(STR("/%00"), "The path holds an escaped control character.");
	assert_refused(STR("/a%0d%0aX: y"), "The path holds an escaped control character.");
	assert_refused(STR("/%7f"), "The path holds an escaped control character.");
	assert_refused(STR("/%"), "The path holds a broken escape.");
	assert_refused(STR("/%4"), "The path holds a broken escape.");
	assert_refused(STR("/%4g"), "The path holds a broken escape.");
	assert_refused(STR("/%u0041"), "The path holds a broken escape.");
	assert_refused(STR("/%25%"), "The path holds a broken escape.");
}

static void test_queries(void **state)
{
	(void)state;
	assert_refused(STR("/?a=%"), "The query holds a broken escape.");
	assert_refused(STR("/?a=%00"), "The query holds a character that it must not.");
	assert_refused(STR("/?a#b"), "The query holds a character that it must not.");
	assert_refused(STR("/?a=\xff"), "The query holds a character that it must not.");
	assert_refused(STR("/?a=%ff"), "The query is not UTF-8.");
	assert_refused(STR("/?a=%C3&b=%A4"), "The query is not UTF-8.");
}

static void test_utf8(void **state)
{
	char long_target[400] = "/";

	(void)state;
	assert_refused(STR("/%C3"), "The path is not UTF-8.");
	assert_refused(STR("/%C3a"), "The path is not UTF-8.");
	assert_refused(STR("/%A4"), "The path is not UTF-8.");
	assert_refused(STR("/%C0%AF"), "The path is not UTF-8.");
	assert_refused(STR("/%ED%A0%80"), "The path is not UTF-8.");
	assert_null(http_target_check(STR("/%F0%9F%98%80/%E2%82%AC")));
	/* A run that is longer than what is checked at once, with a character across the border. */
	for (int i = 0; i < 40; i++)
		memcpy(long_target + 1 + i * 9, "%E2%82%AC", 9);
	assert_null(http_target_check(str_make(long_target, 1 + 40 * 9)));
	assert_refused(str_make(long_target, 1 + 40 * 9 - 3), "The path is not UTF-8.");
	memcpy(long_target + 1 + 9, "%E2%82%28", 9);
	assert_refused(str_make(long_target, 1 + 40 * 9), "The path is not UTF-8.");
}

static void assert_parameter(struct str query, struct str name, const char *expected)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str value;

	arena_init(&arena, 0);
	value = http_query_get(query, name, &arena);
	assert_int_equal(value.p == NULL, expected == NULL);
	assert_true(str_eq(value, str_of(expected)));
}

static void test_parameters(void **state)
{
	(void)state;
	assert_parameter(STR("a=1&b=2&a=3"), STR("a"), "1");
	assert_parameter(STR("a=1&b=2"), STR("b"), "2");
	assert_parameter(STR("a=1&b=2"), STR("c"), NULL);
	assert_parameter(STR("a=1"), STR("A"), NULL);
	assert_parameter(STR("na%6De=a+b%2Bc%3Dd"), STR("name"), "a b+c=d");
	assert_parameter(STR("a&b="), STR("a"), "");
	assert_parameter(STR("a&b="), STR("b"), "");
	assert_parameter(STR("a=b=c"), STR("a"), "b=c");
	assert_parameter(STR(""), STR("a"), NULL);
	assert_parameter(str_make(NULL, 0), STR("a"), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	   cmocka_unit_test(test_paths),
		cmocka_unit_test(test_queries),	   cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "json/json.h"

#include "base/buf.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static bool equal(struct str a, struct str b)
{
	_cleanup_json_ struct json_doc left = { 0 };
	_cleanup_json_ struct json_doc right = { 0 };
	bool result;

	assert_int_equal(json_parse(&left, a, NULL, NULL), 0);
	assert_int_equal(json_parse(&right, b, NULL, NULL), 0);
	result = json_equal(json_root(&left), json_root(&right));
	assert_int_equal(json_equal(json_root(&right), json_root(&left)), result);
	assert_true(json_equal(json_root(&left), json_root(&left)));
	return result;
}

static void test_rows(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "null", "null", true },
		{ "null", "false", false },
		{ "true", "false", false },
		{ "0", "false", false },
		{ "1", "\"1\"", false },
		{ "1.0", "1", true },
		{ "\"\\u0061\"", "\"a\"", true },
		{ "\"a\"", "\"A\"", false },
		{ "\"a\\u0000b\"", "\"a\\u0000c\"", false },
		{ "[]", "{}", false },
		{ "[]", "[]", true },
		{ "[1,2]", "[2,1]", false },
		{ "[1,2]", "[1,2,3]", false },
		{ "[[1],[2]]", "[[1],[2.0]]", true },
		{ "[[],[[]]]", "[[[]],[]]", false },
		{ "{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true },
		{ "{\"a\":1}", "{\"b\":1}", false },
		{ "{\"a\":1}", "{\"a\":2}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
		{ "{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"x\":1}}", true },
		/* The last of several counts, as in json_get(). */
		{ "{\"a\":1,\"a\":2}", "{\"a\":2}", true },
		{ "{\"a\":1,\"a\":2}", "{\"a\":1}", false },
		{ "{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", false },
		{ "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (equal(str_of(rows[i].a), str_of(rows[i].b)) != rows[i].equal)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
}

static void test_absent(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	(void)state;
	assert_int_equal(json_parse(&doc, STR("null"), NULL, NULL), 0);
	assert_true(json_equal(NULL, NULL));
	assert_false(json_equal(json_root(&doc), NULL));
	assert_false(json_equal(NULL, json_root(&doc)));
}

enum { MEMBERS = 20000, OBJECT_MAX = 32 * MEMBERS };

static void write_members(struct buf *text, bool backwards)
{
	buf_init(text, OBJECT_MAX);
	buf_append_char(text, '{');
	for (unsigned i = 0; i < MEMBERS; i++) {
		unsigned member = backwards ? MEMBERS - 1 - i : i;

		buf_printf(text, "%s\"m%u\":%u", i ? "," : "", member, member * 3);
	}
	buf_append_char(text, '}');
}

/* Comparing each member with each other one would not end in the time that a test has. */
static void test_many_members(void **state)
{
	_cleanup_buf_ struct buf forwards = { 0 };
	_cleanup_buf_ struct buf backwards = { 0 };

	(void)state;
	write_members(&forwards, false);
	write_members(&backwards, true);
	assert_true(equal(buf_str(&forwards), buf_str(&backwards)));
	backwards.p[backwards.n - 2] = '1';
	assert_false(equal(buf_str(&forwards), buf_str(&backwards)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_many_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

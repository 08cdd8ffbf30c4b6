#include "base/base.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { OUTPUT_MAX = 1 << 20 };

/* Parses, writes compactly, and compares with `expected`. */
static void assert_written(const char *text, const char *expected)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;
	struct err err = { 0 };

	buf_init(&out, OUTPUT_MAX);
	json_writer_init(&w, &out, false);
	if (json_parse(&doc, str_of(text), NULL, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	json_write_value(&w, json_root(&doc));
	assert_string_equal(buf_cstr(&out), expected);
}

static void assert_refused(struct str text, const char *message)
{
	struct json_doc doc;
	struct err err = { 0 };

	assert_int_equal(json_parse(&doc, text, NULL, &err), ERR_INVALID);
	assert_string_equal(err.message, message);
	assert_null(json_root(&doc));
	assert_null(doc.block);
}

static void test_round_trip(void **state)
{
	(void)state;
	assert_written("null", "null");
	assert_written(" [ ] ", "[]");
	assert_written("{}", "{}");
	assert_written("[[],{},[{}],\"\",0]", "[[],{},[{}],\"\",0]");
	assert_written("\t{ \"a\" : [ 1 , -0.5e+10 , true , false , null ] , \"b\":{\"c\":{}} }\r\n",
		       "{\"a\":[1,-0.5e+10,true,false,null],\"b\":{\"c\":{}}}");
	assert_written("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\\u00e9\\u20ac\\ud83d\\ude00\"",
		       "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void test_errors(void **state)
{
	(void)state;
	assert_refused(STR(""), "line 1, column 1: the text ends, expected a value");
	assert_refused(STR("{\n\n  \"a\": [1] 2"), "line 3, column 12: expected ',' or '}' after a member");
	assert_refused(STR("[1 2]"), "line 1, column 4: expected ',' or ']' after an element");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

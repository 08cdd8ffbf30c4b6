#include "base/base.h"
#include "json/writer.h"

#include "base/bug_fixture.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { OUTPUT_MAX = 1 << 20 };

static void write_sample(struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("s"), STR("a\"b"));
	json_member_i64(w, STR("i"), INT64_MIN);
	json_member_u64(w, STR("u"), UINT64_MAX);
	json_member_bool(w, STR("t"), true);
	json_member_raw(w, STR("r"), STR("[ 1 ]"));
	json_member_value(w, STR("v"), NULL);
	json_write_key(w, STR("list"));
	json_write_array_begin(w);
	json_write_i64(w, 0);
	json_write_object_begin(w);
	json_write_object_end(w);
	json_write_array_begin(w);
	json_write_array_end(w);
	json_write_strf(w, "%d-%s", 7, "x");
	json_write_bool(w, false);
	json_write_null(w);
	json_write_array_end(w);
	json_write_object_end(w);
}

static void test_compact(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	(void)state;
	buf_init(&out, OUTPUT_MAX);
	json_writer_init(&w, &out, false);
	write_sample(&w);
	assert_string_equal(buf_cstr(&out),
			    "{\"s\":\"a\\\"b\",\"i\":-9223372036854775808,\"u\":18446744073709551615,"
			    "\"t\":true,\"r\":[ 1 ],\"v\":null,\"list\":[0,{},[],\"7-x\",false,null]}");
}

static void test_pretty(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	(void)state;
	buf_init(&out, OUTPUT_MAX);
	json_writer_init(&w, &out, true);
	write_sample(&w);
	assert_string_equal(buf_cstr(&out), "{\n"
					    "  \"s\": \"a\\\"b\",\n"
					    "  \"i\": -9223372036854775808,\n"
					    "  \"u\": 18446744073709551615,\n"
					    "  \"t\": true,\n"
					    "  \"r\": [ 1 ],\n"
					    "  \"v\": null,\n"
					    "  \"list\": [\n"
					    "    0,\n"
					    "    {},\n"
					    "    [],\n"
					    "    \"7-x\",\n"
					    "    false,\n"
					    "    null\n"
					    "  ]\n"
					    "}");
}

static void test_values(void **state)
{
	static const char text[] = "{\"a\":[1,{\"b\":{}},[[]]],\"c\":\"\\n\",\"d\":[]}";
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	(void)state;
	assert_int_equal(json_parse(&doc, str_of(text), NULL, NULL), 0);
	buf_init(&out, OUTPUT_MAX);
	json_writer_init(&w, &out, false);
	json_write_array_begin(&w);
	json_write_value(&w, json_root(&doc));
	json_write_value(&w, json_get(json_root(&doc), STR("c")));
	json_write_array_end(&w);
	assert_string_equal(buf_cstr(&out), "[{\"a\":[1,{\"b\":{}},[[]]],\"c\":\"\\n\",\"d\":[]},\"\\n\"]");

	buf_clear(&out, 0);
	json_writer_init(&w, &out, true);
	json_write_object_begin(&w);
	json_member_value(&w, STR("v"), json_root(&doc));
	json_write_object_end(&w);
	assert_string_equal(buf_cstr(&out), "{\n"
					    "  \"v\": {\n"
					    "    \"a\": [\n"
					    "      1,\n"
					    "      {\n"
					    "        \"b\": {}\n"
					    "      },\n"
					    "      [\n"
					    "        []\n"
					    "      ]\n"
					    "    ],\n"
					    "    \"c\": \"\\n\",\n"
					    "    \"d\": []\n"
					    "  }\n"
					    "}");
}

/* As deep as a document may be, within as many levels as a writer has. */
static void test_deep_values(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	char brackets[2 * JSON_DEPTH_MAX];
	struct json_writer w;

	(void)state;
	memset(brackets, '[', JSON_DEPTH_MAX);
	memset(brackets + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	assert_int_equal(json_parse(&doc, str_make(brackets, sizeof(brackets)), NULL, NULL), 0);
	buf_init(&out, OUTPUT_MAX);
	json_writer_init(&w, &out, false);
	for (unsigned i = 0; i < JSON_WRITER_DEPTH_MAX; i++)
		json_write_array_begin(&w);
	json_write_value(&w, json_root(&doc));
	for (unsigned i = 0; i < JSON_WRITER_DEPTH_MAX; i++)
		json_write_array_end(&w);
	assert_int_equal(out.n, 2 * (JSON_DEPTH_MAX + JSON_WRITER_DEPTH_MAX));
	for (size_t i = 0; i < out.n; i++)
		assert_int_equal(out.p[i], i < out.n / 2 ? '[' : ']');
}

static void assert_quoted(struct str s, struct str expected)
{
	_cleanup_buf_ struct buf out = { 0 };

	/* Exactly the room it needs, then one byte too little. */
	buf_init(&out, expected.n);
	assert_int_equal(json_quote(&out, s), 0);
	assert_int_equal(out.n, expected.n);
	assert_memory_equal(out.p, expected.p, expected.n);
	buf_release(&out);
	buf_init(&out, expected.n - 1);
	assert_int_equal(json_quote(&out, s), ERR_TOO_LARGE);
	assert_true(buf_failed(&out));
}

static void test_strings(void **state)
{
	(void)state;
	assert_quoted(STR(""), STR("\"\""));
	assert_quoted(str_make(NULL, 0), STR("\"\""));
	assert_quoted(STR("plain text, longer than eight bytes"),
		      STR("\"plain text, longer than eight bytes\""));
	assert_quoted(STR("\"\\/\b\f\n\r\t"), STR("\"\\\"\\\\/\\b\\f\\n\\r\\t\""));
	assert_quoted(STR("\0\x01\x0b\x1f\x7f"), STR("\"\\u0000\\u0001\\u000b\\u001f\x7f\""));
	assert_quoted(STR("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
		      STR("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""));
}

static void test_invalid_utf8_is_replaced(void **state)
{
#define REPLACED "\xef\xbf\xbd"
	(void)state;
	assert_quoted(STR("\xff"), STR("\"" REPLACED "\""));
	assert_quoted(STR("a\xc3"), STR("\"a" REPLACED "\""));
	assert_quoted(STR("\xe2\x82z"), STR("\"" REPLACED "z\""));
	assert_quoted(STR("\xed\xa0\x80"), STR("\"" REPLACED REPLACED REPLACED "\""));
	assert_quoted(STR("\xc3\xa9\x80\xc3\xa9"), STR("\"\xc3\xa9" REPLACED "\xc3\xa9\""));
#undef REPLACED
}

static void test_special_bytes_anywhere(void **state)
{
	enum { LENGTH = 80 };

	(void)state;
	for (size_t at = 0; at < LENGTH; at++) {
		char text[LENGTH], expected[LENGTH + 3];

		memset(text, 'x', sizeof(text));
		memset(expected, 'x', sizeof(expected));
		text[at] = '\n';
		expected[0] = expected[LENGTH + 2] = '"';
		expected[at + 1] = '\\';
		expected[at + 2] = 'n';
		assert_quoted(str_make(text, LENGTH), str_make(expected, LENGTH + 3));
	}
}

static void test_doubles(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ 0.1, "0.1" },
		{ -2.5, "-2.5" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 9007199254740993.0, "9007199254740992" },
		{ 1e21, "1e+21" },
		{ 1e-7, "1e-07" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ (double)NAN, "null" },
		{ (double)INFINITY, "null" },
		{ -(double)INFINITY, "null" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf out = { 0 };
		struct json_writer w;

		buf_init(&out, OUTPUT_MAX);
		json_writer_init(&w, &out, false);
		json_write_double(&w, rows[i].value);
		assert_string_equal(buf_cstr(&out), rows[i].text);
		assert_int_equal(json_check(buf_str(&out), NULL, NULL), 0);
	}
}

static void test_integers(void **state)
{
	static const int64_t values[] = { 0, 9, -1, 10, -10, 1234567890123, INT64_MAX, INT64_MIN };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		_cleanup_buf_ struct buf out = { 0 };
		struct json_writer w;
		int64_t read_back;

		buf_init(&out, OUTPUT_MAX);
		json_writer_init(&w, &out, false);
		json_write_i64(&w, values[i]);
		assert_int_equal(json_parse(&doc, buf_str(&out), NULL, NULL), 0);
		assert_int_equal(json_i64(json_root(&doc), &read_back), 0);
		assert_true(read_back == values[i]);
	}
}

/* Wherever the buffer ends, it fails and stays within its maximum; with exactly enough room it does not. */
static void test_full_buffer(void **state)
{
	_cleanup_buf_ struct buf whole = { 0 };
	struct json_writer w;

	(void)state;
	buf_init(&whole, OUTPUT_MAX);
	json_writer_init(&w, &whole, true);
	write_sample(&w);
	for (size_t max = 0; max <= whole.n; max++) {
		_cleanup_buf_ struct buf out = { 0 };

		buf_init(&out, max);
		json_writer_init(&w, &out, true);
		write_sample(&w);
		assert_int_equal(buf_failed(&out), max < whole.n);
		assert_in_range(out.n, 0, max);
	}
}

/* -- misuse: each begins with a fresh writer ------------------------------------------------------------- */

static void value_without_key(void *w)
{
	json_write_object_begin(w);
	json_write_null(w);
}

static void key_in_array(void *w)
{
	json_write_array_begin(w);
	json_write_key(w, STR("a"));
}

static void key_at_root(void *w)
{
	json_write_key(w, STR("a"));
}

static void key_after_key(void *w)
{
	json_write_object_begin(w);
	json_write_key(w, STR("a"));
	json_write_key(w, STR("b"));
}

static void key_without_value(void *w)
{
	json_write_object_begin(w);
	json_write_key(w, STR("a"));
	json_write_object_end(w);
}

static void wrong_end(void *w)
{
	json_write_object_begin(w);
	json_write_array_end(w);
}

static void end_without_begin(void *w)
{
	json_write_array_end(w);
}

static void second_root(void *w)
{
	json_write_array_begin(w);
	json_write_array_end(w);
	json_write_null(w);
}

static void nothing_raw(void *w)
{
	json_write_raw(w, STR(""));
}

static void too_deep(void *w)
{
	for (unsigned i = 0; i <= JSON_WRITER_DEPTH_MAX; i++)
		json_write_array_begin(w);
}

static void test_misuse_is_a_bug(void **state)
{
	static void (*const misuses[])(void *) = {
		value_without_key, key_in_array,      key_at_root, key_after_key, key_without_value,
		wrong_end,	   end_without_begin, second_root, nothing_raw,	  too_deep,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(misuses); i++) {
		_cleanup_buf_ struct buf out = { 0 };
		struct json_writer w;

		buf_init(&out, OUTPUT_MAX);
		json_writer_init(&w, &out, false);
		assert_true(is_bug(misuses[i], &w));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_deep_values),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_invalid_utf8_is_replaced),
		cmocka_unit_test(test_special_bytes_anywhere),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_full_buffer),
		cmocka_unit_test(test_misuse_is_a_bug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

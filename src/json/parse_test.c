/* What the parser accepts and refuses, and what it says. Every refusal is asked of json_check() as well. */
#include "base/base.h"
#include "json/json.h"

#include "base/buf.h"
#include "json/writer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { TEXT_MAX = 64 << 20 };

/* Parses an allocation of exactly these bytes, so that AddressSanitizer sees a read beyond the end. */
static int parse_exactly(struct json_doc *doc, struct str text, const struct json_limits *limits,
			 struct err *err)
{
	_cleanup_free_ char *exact = xmalloc(text.n);
	struct err check_err = { 0 };
	int code, check_code;

	if (text.n)
		memcpy(exact, text.p, text.n);
	code = json_parse(doc, str_make(exact, text.n), limits, err);
	check_code = json_check(str_make(exact, text.n), limits, &check_err);
	assert_int_equal(check_code, code);
	if (code < 0)
		assert_string_equal(check_err.message, err->message);
	return code;
}

static void assert_written(struct str text, struct str expected)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;
	struct err err = { 0 };

	if (parse_exactly(&doc, text, NULL, &err) < 0)
		fail_msg("%.*s: %s", STR_ARG(text), err.message);
	buf_init(&out, TEXT_MAX);
	json_writer_init(&w, &out, false);
	json_write_value(&w, json_root(&doc));
	assert_int_equal(buf_str(&out).n, expected.n);
	assert_memory_equal(out.p, expected.p, expected.n);
}

static void assert_refused(struct str text, const char *message)
{
	struct json_doc doc;
	struct err err = { 0 };

	assert_int_equal(parse_exactly(&doc, text, NULL, &err), ERR_INVALID);
	assert_string_equal(err.message, message);
	assert_null(json_root(&doc));
	assert_null(doc.block);
}

static void test_round_trip(void **state)
{
	(void)state;
	assert_written(STR("null"), STR("null"));
	assert_written(STR(" [ ] "), STR("[]"));
	assert_written(STR("{}"), STR("{}"));
	assert_written(STR("[[],{},[{}],\"\",0]"), STR("[[],{},[{}],\"\",0]"));
	assert_written(STR("\t{ \"a\" : [ 1 , -0.5e+10 , true , false , null ] , \"b\":{\"c\":{}} }\r\n"),
		       STR("{\"a\":[1,-0.5e+10,true,false,null],\"b\":{\"c\":{}}}"));
	assert_written(
		STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\\u00e9\\u07fF\\u20ac\\uFFFF\\ud83d\\ude00\""),
		STR("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\xc3\xa9\xdf\xbf\xe2\x82\xac\xef\xbf\xbf"
		    "\xf0\x9f\x98\x80\""));
	assert_written(STR("[\"\x7f \xc2\x80 \xe0\xa0\x80 \xed\x9f\xbf "
			   "\xee\x80\x80 \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"]"),
		       STR("[\"\x7f \xc2\x80 \xe0\xa0\x80 \xed\x9f\xbf "
			   "\xee\x80\x80 \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"]"));
}

/* The measured behaviour of other libraries, row by row: what several of them get wrong, ours must not. */
static void test_numbers_keep_their_text(void **state)
{
	static const char *const numbers[] = {
		"9007199254740991",
		"18446744073709551615",
		"123456789012345678901234567890",
		"1e400",
		"-0",
		"0.1",
		"0e0",
		"1E+2",
		"-1.50e-07",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		assert_written(str_of(numbers[i]), str_of(numbers[i]));
}

static void test_nul_characters(void **state)
{
	(void)state;
	assert_written(STR("\"a\\u0000b\""), STR("\"a\\u0000b\""));
	assert_written(STR("{\"a\\u0000b\":1}"), STR("{\"a\\u0000b\":1}"));
	assert_refused(STR("[\"a\0b\"]"),
		       "line 1, column 4: expected an escape in place of a control character");
	assert_refused(STR("[1]\0"), "line 1, column 4: expected the end of the text");
	assert_refused(STR("\0"), "line 1, column 1: expected a value");
}

static void test_duplicate_keys_are_kept(void **state)
{
	(void)state;
	assert_written(STR("{\"a\":1,\"a\":2}"), STR("{\"a\":1,\"a\":2}"));
}

static void test_invalid_utf8(void **state)
{
	static const struct str bad[] = {
		STR_INIT("\xff\xfe"),
		STR_INIT("\xc0\xaf"),
		STR_INIT("\xc1\xbf"),
		STR_INIT("\xe0\x9f\xbf"),
		STR_INIT("\xed\xa0\x80"),
		STR_INIT("\xed\xbf\xbf"),
		STR_INIT("\xf0\x8f\xbf\xbf"),
		STR_INIT("\xf4\x90\x80\x80"),
		STR_INIT("\xf5\x80\x80\x80"),
		STR_INIT("\x80"),
		STR_INIT("\xc3"),
		STR_INIT("\xe2\x82"),
		STR_INIT("\xf0\x9f\x98"),
		STR_INIT("\xe2\x28\xa1"),
		STR_INIT("\xf0\x9f\x28\x80"),
		STR_INIT("\xf0\x9f\x98\x28"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "[\"ab%.*s\"]", STR_ARG(bad[i]));

		assert_refused(str_make(text, (size_t)n), "line 1, column 5: expected valid UTF-8");
		/* Cut off right behind it, and as a member's name. */
		assert_refused(str_make(text, (size_t)n - 2), "line 1, column 5: expected valid UTF-8");
		n = snprintf(text, sizeof(text), "{\"%.*s\":1}", STR_ARG(bad[i]));
		assert_refused(str_make(text, (size_t)n), "line 1, column 3: expected valid UTF-8");
	}
}

static void test_surrogates(void **state)
{
	static const char *const lone[] = { "[\"\\ud800\"]",	   "[\"\\udc00\"]",    "[\"\\ud800\\ud800\"]",
					    "[\"\\ud800x\"]",	   "[\"\\ud800\\n\"]", "[\"\\udc00\\ud800\"]",
					    "[\"\\uDBFF\\u0000\"]" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lone); i++)
		assert_refused(str_of(lone[i]),
			       "line 1, column 3: expected a surrogate pair, high before low");
	assert_refused(STR("\"\\ud800\\uzzzz\""),
		       "line 1, column 10: expected four hexadecimal digits after \\u");
	assert_written(STR("\"\\ud800\\udc00\\uDBFF\\uDFFF\""), STR("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""));
}

static void test_control_characters(void **state)
{
	(void)state;
	for (char c = 1; c < ' '; c++) {
		char text[] = { '"', 'a', c, '"' };

		assert_refused(
			str_make(text, 4),
			c == '\n' || c == '\r'
				? "line 1, column 3: expected a closing quote, or an escape in place of "
				  "the end of the line"
				: "line 1, column 3: expected an escape in place of a control character");
	}
}

static void test_malformed_values(void **state)
{
	static const struct {
		struct str text;
		const char *message;
	} rows[] = {
		{ STR_INIT(""), "line 1, column 1: the text ends, expected a value" },
		{ STR_INIT(" \n"), "line 2, column 1: the text ends, expected a value" },
		{ STR_INIT("\xef\xbb\xbf{}"), "line 1, column 1: expected a value" },
		{ STR_INIT("[01]"), "line 1, column 3: expected a number without leading zeros" },
		{ STR_INIT("[-01]"), "line 1, column 4: expected a number without leading zeros" },
		{ STR_INIT("[1.]"), "line 1, column 4: expected a digit after the decimal point" },
		{ STR_INIT("[.5]"), "line 1, column 2: expected a value" },
		{ STR_INIT("[+1]"), "line 1, column 2: expected a value" },
		{ STR_INIT("[-]"), "line 1, column 3: expected a digit" },
		{ STR_INIT("[1e]"), "line 1, column 4: expected a digit in the exponent" },
		{ STR_INIT("1e+"), "line 1, column 4: the text ends, expected a digit in the exponent" },
		{ STR_INIT("[0x1]"), "line 1, column 3: expected ',' or ']' after an element" },
		{ STR_INIT("[NaN]"), "line 1, column 2: expected a value" },
		{ STR_INIT("[-Infinity]"), "line 1, column 3: expected a digit" },
		{ STR_INIT("[nul]"), "line 1, column 2: expected a value" },
		{ STR_INIT("[nulll]"), "line 1, column 6: expected ',' or ']' after an element" },
		{ STR_INIT("True"), "line 1, column 1: expected a value" },
		{ STR_INIT("'a'"), "line 1, column 1: expected a value" },
		{ STR_INIT("\"a"), "line 1, column 3: the text ends, expected a closing quote" },
		{ STR_INIT("\"a\\"),
		  "line 1, column 4: the text ends, expected one of \" \\ / b f n r t u after a backslash" },
		{ STR_INIT("\"\\x41\""),
		  "line 1, column 3: expected one of \" \\ / b f n r t u after a backslash" },
		{ STR_INIT("\"\\u12g4\""), "line 1, column 6: expected four hexadecimal digits after \\u" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_refused(rows[i].text, rows[i].message);
}

static void test_malformed_structure(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "[1 2]", "line 1, column 4: expected ',' or ']' after an element" },
		{ "[1}", "line 1, column 3: expected ',' or ']' after an element" },
		{ "[1,]", "line 1, column 4: expected a value" },
		{ "[,1]", "line 1, column 2: expected a value" },
		{ "[1", "line 1, column 3: the text ends, expected ',' or ']' after an element" },
		{ "{\n\n  \"a\": [1] 2", "line 3, column 12: expected ',' or '}' after a member" },
		{ "{\"a\":1]", "line 1, column 7: expected ',' or '}' after a member" },
		{ "{\"a\":1,}", "line 1, column 8: expected a member name in double quotes" },
		{ "{a:1}", "line 1, column 2: expected a member name in double quotes" },
		{ "{\"a\" 1}", "line 1, column 6: expected ':' after a member name" },
		{ "{\"a\":}", "line 1, column 6: expected a value" },
		{ "{", "line 1, column 2: the text ends, expected a member name in double quotes" },
		{ "[1] x", "line 1, column 5: expected the end of the text" },
		{ "[1]]", "line 1, column 4: expected the end of the text" },
		{ "1 2", "line 1, column 3: expected the end of the text" },
		{ "[1, // one\n2]", "line 1, column 5: expected a value" },
		{ "/* */ []", "line 1, column 1: expected a value" },
		{ "[] // x", "line 1, column 4: expected the end of the text" },
		{ "[\f1]", "line 1, column 2: expected a value" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_refused(str_of(rows[i].text), rows[i].message);
}

static void test_positions(void **state)
{
	struct json_doc doc;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(json_parse(&doc, STR("{\r\n\t\"\xc3\xa9\": [\n1,\nx]}"), NULL, &err), ERR_INVALID);
	assert_int_equal(err.line, 4);
	assert_int_equal(err.column, 1);
	assert_int_equal(err.offset, 15);
	assert_int_equal(json_parse(&doc, STR("x"), NULL, NULL), ERR_INVALID);
}

/* `depth` opening brackets, and as many closing ones when `closed`. */
static void nest_arrays(struct buf *text, size_t depth, bool closed)
{
	buf_init(text, TEXT_MAX);
	for (size_t i = 0; i < depth; i++)
		buf_append_char(text, '[');
	for (size_t i = 0; closed && i < depth; i++)
		buf_append_char(text, ']');
}

static void test_depth(void **state)
{
	static const struct {
		size_t depth;
		bool closed;
		int code;
	} rows[] = {
		{ 256, true, 0 },
		{ 257, true, ERR_TOO_LARGE },
		{ 256, false, ERR_INVALID },
		{ 100000, true, ERR_TOO_LARGE },
		{ 1000000, true, ERR_TOO_LARGE },
		{ 10000000, false, ERR_TOO_LARGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		_cleanup_buf_ struct buf text = { 0 };
		struct err err = { 0 };

		nest_arrays(&text, rows[i].depth, rows[i].closed);
		assert_int_equal(parse_exactly(&doc, buf_str(&text), NULL, &err), rows[i].code);
		if (rows[i].code == ERR_TOO_LARGE)
			assert_string_equal(
				err.message,
				"line 1, column 257: more than 256 levels of nested arrays and objects");
	}
}

static void test_limits(void **state)
{
	const struct json_limits limits = { .bytes_max = 8, .depth_max = 2 };
	_cleanup_json_ struct json_doc doc = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse_exactly(&doc, STR("[{},[1]]"), &limits, &err), 0);
	json_release(&doc);
	assert_int_equal(parse_exactly(&doc, STR("[{},[1]] "), &limits, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "9 bytes of JSON, and no more than 8 are allowed");
	assert_int_equal(parse_exactly(&doc, STR("[{\"\":[]}"), &limits, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "line 1, column 6: more than 2 levels of nested arrays and objects");
}

/* Every prefix of a document is refused, and at no other place than its end or where it was cut within a
 * word. */
static void test_prefixes(void **state)
{
	static const struct str documents[] = {
		STR_INIT("{\"jsonrpc\":\"2.0\",\"id\":-12.5e+3,"
			 "\"result\":{\"a\\u00e9\\ud83d\\ude00\\n\":[true,false,null,{}]}}"),
		STR_INIT("[ \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\" , [ ] , { } , [ 0 , -0.0 ] , "
			 "\"a string of more than eight bytes\" ]"),
		STR_INIT(
			"\"a root that is a string \\\\ with \\u0041 escapes and \xe6\x97\xa5\xe6\x9c\xac\""),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		_cleanup_json_ struct json_doc whole = { 0 };
		struct err err = { 0 };

		assert_int_equal(parse_exactly(&whole, documents[i], NULL, &err), 0);
		for (size_t n = 0; n < documents[i].n; n++) {
			struct json_doc doc;

			assert_int_equal(parse_exactly(&doc, str_slice(documents[i], 0, n), NULL, &err),
					 ERR_INVALID);
			assert_in_range(err.offset, n < 12 ? 0 : n - 12, n);
			assert_null(json_root(&doc));
		}
	}
}

/* Something special at every place of a long string, so that each way of scanning meets it. */
static void test_special_bytes_anywhere(void **state)
{
	enum { LENGTH = 80 };
	static const struct {
		struct str written, read;
	} specials[] = {
		{ STR_INIT("\\n"), STR_INIT("\n") },
		{ STR_INIT("\\\""), STR_INIT("\"") },
		{ STR_INIT("\\u20ac"), STR_INIT("\xe2\x82\xac") },
		{ STR_INIT("\xf0\x9f\x98\x80"), STR_INIT("\xf0\x9f\x98\x80") },
		{ STR_INIT("\xc3\xa9\xc3\xa9\\\\"), STR_INIT("\xc3\xa9\xc3\xa9\\") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(specials) * LENGTH; i++) {
		struct str special = specials[i / LENGTH].written, read = specials[i / LENGTH].read;
		_cleanup_json_ struct json_doc doc = { 0 };
		char text[LENGTH + 16], expected[LENGTH + 16];
		int before = (int)(i % LENGTH), after = LENGTH - before;
		struct err err = { 0 };
		int n = snprintf(text, sizeof(text), "\"%0*d%.*s%0*d\"", before + 1, 0, STR_ARG(special),
				 after, 0);
		int m = snprintf(expected, sizeof(expected), "%0*d%.*s%0*d", before + 1, 0, STR_ARG(read),
				 after, 0);

		assert_int_equal(parse_exactly(&doc, str_make(text, (size_t)n), NULL, &err), 0);
		assert_int_equal(json_str(json_root(&doc)).n, m);
		assert_memory_equal(json_str(json_root(&doc)).p, expected, (size_t)m);
		json_release(&doc);
		text[before + 2] = '\x01';
		assert_int_equal(parse_exactly(&doc, str_make(text, (size_t)n), NULL, &err), ERR_INVALID);
		assert_int_equal(err.offset, before + 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_numbers_keep_their_text),
		cmocka_unit_test(test_nul_characters),
		cmocka_unit_test(test_duplicate_keys_are_kept),
		cmocka_unit_test(test_invalid_utf8),
		cmocka_unit_test(test_surrogates),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_malformed_values),
		cmocka_unit_test(test_malformed_structure),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_special_bytes_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "json/json.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

/* Parses an allocation of exactly these bytes. */
static int parse(struct json_doc *doc, struct str text, struct err *err)
{
	_cleanup_free_ char *exact = xmalloc(text.n);

	if (text.n)
		memcpy(exact, text.p, text.n);
	return json_parse_jsonc(doc, str_make(exact, text.n), NULL, err);
}

static void test_accepted(void **state)
{
	/* Each is equal to the JSON beside it, which strict parsing accepts, while it refuses the first when
	 * they differ. */
	static const char *const rows[][2] = {
		{ "// one\n// two\r\n[1]// end", "[1]" },
		{ "/* a */ { /**/ \"a\" /* b */ : /* c */ 1 /* d */ , /* e */ } /* f */", "{\"a\":1}" },
		{ "[1,2,]", "[1,2]" },
		{ "[1,//\n]", "[1]" },
		{ "{\"a\":[],/* * / ** */}\n", "{\"a\":[]}" },
		{ "[\"// no comment\", \"/* none */\"]", "[\"// no comment\", \"/* none */\"]" },
		{ "\xef\xbb\xbf{ }", "{}" },
		{ "// \xff bytes in comments may be anything \x01\n1", "1" },
		{ "1//", "1" },
		{ "[{},[],{\"b\":{},},]", "[{},[],{\"b\":{}}]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		_cleanup_json_ struct json_doc strict = { 0 };
		struct err err = { 0 };

		if (parse(&doc, str_of(rows[i][0]), &err) < 0)
			fail_msg("%s: %s", rows[i][0], err.message);
		assert_int_equal(json_parse(&strict, str_of(rows[i][1]), NULL, NULL), 0);
		assert_true(json_equal(json_root(&doc), json_root(&strict)));
		if (strcmp(rows[i][0], rows[i][1]) != 0)
			assert_int_equal(json_check(str_of(rows[i][0]), NULL, NULL), ERR_INVALID);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
		unsigned line, column;
		size_t offset;
	} rows[] = {
		{ "", "the text ends, expected a value", 1, 1, 0 },
		{ "// nothing", "the text ends, expected a value", 1, 11, 10 },
		{ "[1,\n  /* open\n 2]", "expected a comment that is closed by */", 2, 3, 6 },
		{ "/*/", "expected a comment that is closed by */", 1, 1, 0 },
		{ "1 /*", "expected a comment that is closed by */", 1, 3, 2 },
		{ "[1] /", "expected a comment, // or /*", 1, 5, 4 },
		{ "[/1]", "expected a comment, // or /*", 1, 2, 1 },
		{ "[,]", "expected a value", 1, 2, 1 },
		{ "[1,,]", "expected a value", 1, 4, 3 },
		{ "{,}", "expected a member name in double quotes", 1, 2, 1 },
		{ "{\"a\":1,,}", "expected a member name in double quotes", 1, 8, 7 },
		{ "[1],", "expected the end of the text", 1, 4, 3 },
		{ "# no\n1", "expected a value", 1, 1, 0 },
		{ "{\n\t// about a\n\t\"a\": 1 // no comma\n\t\"b\": 2\n}",
		  "expected ',' or '}' after a member", 4, 2, 35 },
		{ "{\n  /* two\n     lines */ 'a': 1 }", "expected a member name in double quotes", 3, 15,
		  25 },
		/* The byte order mark is part of no column. */
		{ "\xef\xbb\xbf[x]", "expected a value", 1, 2, 4 },
		{ "\xef\xbb\xbf\n[x]", "expected a value", 2, 2, 5 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct json_doc doc;
		struct err err = { 0 };

		assert_int_equal(parse(&doc, str_of(rows[i].text), &err), ERR_INVALID);
		assert_string_equal(err.message, rows[i].message);
		assert_int_equal(err.line, rows[i].line);
		assert_int_equal(err.column, rows[i].column);
		assert_int_equal(err.offset, rows[i].offset);
		assert_null(json_root(&doc));
	}
}

static void test_prefixes(void **state)
{
	static const struct str document =
		STR_INIT("\xef\xbb\xbf/* a */{ // b\n\"a\": [1, /* c */ 2,], /* d */ }");

	(void)state;
	for (size_t n = 0; n <= document.n; n++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		struct err err = { 0 };

		assert_int_equal(parse(&doc, str_slice(document, 0, n), &err),
				 n < document.n ? ERR_INVALID : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

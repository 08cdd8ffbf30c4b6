#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/quote.h"

static void test_plain(void **state)
{
	(void)state;
	assert_string_equal(QUOTE(STR("")), "\"\"");
	assert_string_equal(QUOTE(str_make(NULL, 0)), "\"\"");
	assert_string_equal(QUOTE(STR("read file.txt")), "\"read file.txt\"");
	assert_string_equal(QUOTE(STR("caf\xc3\xa9 \xf0\x9f\x90\xb8")), "\"caf\xc3\xa9 \xf0\x9f\x90\xb8\"");
}

static void test_escapes(void **state)
{
	(void)state;
	assert_string_equal(QUOTE(STR("a\nb\rc\td")), "\"a\\nb\\rc\\td\"");
	assert_string_equal(QUOTE(STR("say \"hi\" \\ bye")), "\"say \\\"hi\\\" \\\\ bye\"");
	assert_string_equal(QUOTE(STR("\x1b[31m\x7f")), "\"\\x1b[31m\\x7f\"");
	assert_string_equal(QUOTE(STR("a\0b")), "\"a\\x00b\"");
	assert_string_equal(QUOTE(STR("\xc2\x9b")), "\"\\xc2\\x9b\"");
	assert_string_equal(QUOTE(STR("\xe2\x80\xae")), "\"\\xe2\\x80\\xae\"");
}

static void test_broken_utf8(void **state)
{
	(void)state;
	assert_string_equal(QUOTE(STR("\xff")), "\"\\xff\"");
	assert_string_equal(QUOTE(STR("\xe2\x82")), "\"\\xe2\\x82\"");
	assert_string_equal(QUOTE(STR("\xe2\x82z")), "\"\\xe2\\x82z\"");
	assert_string_equal(QUOTE(STR("\xed\xa0\x80")), "\"\\xed\\xa0\\x80\"");
}

static void test_cut(void **state)
{
	char text[1000], expected[QUOTE_TEXT_MAX];

	(void)state;
	memset(text, 'x', sizeof(text));
	memset(expected, 'x', sizeof(expected));
	expected[0] = expected[QUOTE_SHOWN_MAX + 1] = '"';
	expected[QUOTE_SHOWN_MAX + 2] = '\0';
	assert_string_equal(QUOTE(str_make(text, QUOTE_SHOWN_MAX)), expected);
	memcpy(expected + QUOTE_SHOWN_MAX + 2, "...", 4);
	assert_string_equal(QUOTE(str_make(text, QUOTE_SHOWN_MAX + 1)), expected);
	assert_string_equal(QUOTE(str_make(text, sizeof(text))), expected);
	/* A character that would straddle the cut is left out whole. */
	memcpy(text + QUOTE_SHOWN_MAX - 1, "\xc3\xa9", 2);
	memcpy(expected + QUOTE_SHOWN_MAX, "\"...", 5);
	assert_string_equal(QUOTE(str_make(text, sizeof(text))), expected);
}

static void test_longest(void **state)
{
	char text[QUOTE_SHOWN_MAX + 1];

	(void)state;
	memset(text, 1, sizeof(text));
	assert_int_equal(strlen(QUOTE(str_make(text, sizeof(text)))), QUOTE_TEXT_MAX - 1);
}

static void test_needed(void **state)
{
	(void)state;
	assert_false(quote_needed('a'));
	assert_false(quote_needed(' '));
	assert_false(quote_needed(0xa0));
	assert_false(quote_needed(0xe9));
	assert_false(quote_needed(0x200d)); /* joins emoji */
	assert_true(quote_needed(0));
	assert_true(quote_needed(0x1f));
	assert_true(quote_needed(0x7f));
	assert_true(quote_needed(0x9f));
	assert_true(quote_needed(0x61c));
	assert_true(quote_needed(0x200f));
	assert_true(quote_needed(0x2028));
	assert_true(quote_needed(0x202e));
	assert_true(quote_needed(0x2067));
	assert_true(quote_needed(0xfeff));
	assert_true(quote_needed('"'));
	assert_true(quote_needed('\\'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	    cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_broken_utf8), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_longest),	    cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

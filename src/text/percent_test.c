#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/percent.h"

static void expect_encoded(struct str bytes, const char *expected)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, 1000);
	assert_int_equal(percent_encode(&out, bytes), 0);
	assert_string_equal(buf_cstr(&out), expected);
	buf_clear(&out, 0);
	assert_int_equal(percent_decode(&out, str_of(expected), 0, NULL), 0);
	assert_true(str_eq(buf_str(&out), bytes));
}

static void test_encode(void **state)
{
	(void)state;
	expect_encoded(STR(""), "");
	expect_encoded(STR("AZaz09-._~"), "AZaz09-._~");
	expect_encoded(STR("a b+c"), "a%20b%2Bc");
	expect_encoded(STR("/?#[]@!$&'()*,;=:%"), "%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2C%3B%3D%3A%25");
	expect_encoded(STR("caf\xc3\xa9"), "caf%C3%A9");
	expect_encoded(STR("\0\x1f\x7f\xff"), "%00%1F%7F%FF");
}

static void expect_decoded(const char *text, unsigned flags, struct str expected)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	buf_init(&out, 1000);
	if (percent_decode(&out, str_of(text), flags, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	assert_true(str_eq(buf_str(&out), expected));
}

static void test_decode(void **state)
{
	(void)state;
	expect_decoded("", 0, STR(""));
	expect_decoded("plain", 0, STR("plain"));
	expect_decoded("%41%4a%4A", 0, STR("AJJ"));
	expect_decoded("a+b%2B", 0, STR("a+b+"));
	expect_decoded("a+b%2B", PERCENT_PLUS_IS_SPACE, STR("a b+"));
	expect_decoded("%00%2f%2F", 0, STR("\0//"));
	expect_decoded("%2541", 0, STR("%41"));
	expect_decoded("caf\xc3\xa9", 0, STR("caf\xc3\xa9"));
}

static void test_decode_in_place(void **state)
{
	char text[] = "%61b%63%20+";
	size_t n = 0;

	(void)state;
	assert_int_equal(percent_decode_into(text, str_of(text), PERCENT_PLUS_IS_SPACE, &n, NULL), 0);
	assert_int_equal(n, 5);
	assert_memory_equal(text, "abc  ", 5);
}

static void expect_error(struct str text, size_t offset, const char *message)
{
	char *exact = xmalloc(text.n), *storage = xmalloc(text.n);
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };
	size_t n = 42;

	memcpy(exact, text.p, text.n);
	assert_int_equal(percent_decode_into(storage, str_make(exact, text.n), 0, &n, &err), ERR_INVALID);
	assert_string_equal(err.message, message);
	assert_int_equal(err.offset, offset);
	assert_int_equal(err.line, 1);
	assert_int_equal(n, 42);
	buf_init(&out, 1000);
	assert_int_equal(percent_decode(&out, text, 0, NULL), ERR_INVALID);
	assert_int_equal(out.n, 0);
	free(exact);
	free(storage);
}

#define HINT "\"%\" needs two hexadecimal digits; write %25 for the character"

static void test_errors(void **state)
{
	(void)state;
	expect_error(STR("%"), 0, "\"%\" at byte 1: " HINT);
	expect_error(STR("a%4"), 1, "\"%4\" at byte 2: " HINT);
	expect_error(STR("100% sure"), 3, "\"% s\" at byte 4: " HINT);
	expect_error(STR("%4g"), 0, "\"%4g\" at byte 1: " HINT);
	expect_error(STR("%g4"), 0, "\"%g4\" at byte 1: " HINT);
	expect_error(STR("%%41"), 0, "\"%%4\" at byte 1: " HINT);
	expect_error(STR("%u0041"), 0, "\"%u0\" at byte 1: " HINT);
	expect_error(STR("ok%41%\n1"), 5, "\"%\\n1\" at byte 6: " HINT);
	expect_error(STR("% 1"), 0, "\"% 1\" at byte 1: " HINT);
	expect_error(STR("%+1"), 0, "\"%+1\" at byte 1: " HINT);
}

static void test_bounded(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_init(&out, 5);
	assert_int_equal(percent_encode(&out, STR("  ")), ERR_TOO_LARGE);
	buf_clear(&out, 0);
	assert_int_equal(percent_encode(&out, STR("abcdef")), ERR_TOO_LARGE);
	buf_clear(&out, 0);
	assert_int_equal(percent_decode(&out, STR("abcdef"), 0, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "the decoded text may have more than 5 bytes");
}

static void test_every_byte(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		char byte = (char)i, back;
		_cleanup_buf_ struct buf out = { 0 };
		size_t n;

		buf_init(&out, 3);
		assert_int_equal(percent_encode(&out, str_make(&byte, 1)), 0);
		assert_int_equal(percent_decode_into(out.p, buf_str(&out), PERCENT_PLUS_IS_SPACE, &n, NULL),
				 0);
		back = out.p[0];
		assert_int_equal(n, 1);
		assert_int_equal(back, byte);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_in_place), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_bounded),		cmocka_unit_test(test_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

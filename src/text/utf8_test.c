#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/utf8.h"

/* A copy of exactly its size on the heap, so that AddressSanitizer sees a read past the end. */
static struct str exact(struct str s)
{
	char *copy = xmalloc(s.n);

	if (s.n)
		memcpy(copy, s.p, s.n);
	return str_make(copy, s.n);
}

static void drop(struct str s)
{
	free((char *)(uintptr_t)s.p);
}

#define EURO "\xe2\x82\xac"
#define FROG "\xf0\x9f\x90\xb8"
#define FFFD "\xef\xbf\xbd"

static void expect_valid_length(struct str text, size_t expected)
{
	struct str s = exact(text);

	assert_int_equal(utf8_valid_length(s), expected);
	assert_int_equal(utf8_valid(s), expected == s.n);
	drop(s);
}

static void test_valid(void **state)
{
	(void)state;
	expect_valid_length(STR(""), 0);
	assert_true(utf8_valid(str_make(NULL, 0)));
	expect_valid_length(STR("plain"), 5);
	expect_valid_length(STR("sixteen letters!and more than that, twice over."), 47);
	expect_valid_length(STR("h\xc3\xa9 " EURO " " FROG "\0\x7f"), 14);
	expect_valid_length(STR("\xef\xbf\xbf\xf4\x8f\xbf\xbf"), 7);
}

static void test_invalid(void **state)
{
	(void)state;
	expect_valid_length(STR("abc\x80"), 3);
	expect_valid_length(STR("abc\xff"), 3);
	expect_valid_length(STR("\xc0\x80"), 0);
	expect_valid_length(STR("\xc1\xbf"), 0);
	expect_valid_length(STR("\xe0\x9f\xbf"), 0);
	expect_valid_length(STR("\xed\xa0\x80"), 0);
	expect_valid_length(STR("\xf0\x8f\xbf\xbf"), 0);
	expect_valid_length(STR("\xf4\x90\x80\x80"), 0);
	expect_valid_length(STR("\xf5\x80\x80\x80"), 0);
	expect_valid_length(STR("a" EURO "\xe2\x82"), 4);
}

/* A broken byte is found at every place relative to the blocks of the fast path. */
static void test_invalid_anywhere(void **state)
{
	(void)state;
	for (size_t n = 1; n < 70; n++) {
		for (size_t at = 0; at < n; at++) {
			char text[70];
			struct str s;

			memset(text, 'a', n);
			text[at] = (char)0xbf;
			s = exact(str_make(text, n));
			assert_int_equal(utf8_valid_length(s), at);
			assert_false(utf8_ascii(s));
			drop(s);
		}
	}
}

static void test_ascii(void **state)
{
	(void)state;
	assert_true(utf8_ascii(STR("")));
	assert_true(utf8_ascii(STR("a\0\x7f, and on, and on, and on")));
	assert_false(utf8_ascii(STR("\x80")));
	assert_false(utf8_ascii(STR("caf\xc3\xa9")));
}

static void test_check(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(utf8_check(STR("fine " EURO), &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(utf8_check(STR("abc\xe2\x82z"), &err), ERR_INVALID);
	assert_string_equal(err.message, "not UTF-8 at byte 4: \"\\xe2\\x82\"");
	assert_int_equal(err.offset, 3);
	assert_int_equal(err.line, 1);
	assert_int_equal(err.column, 4);
	assert_int_equal(utf8_check(STR("\xff"), NULL), ERR_INVALID);
}

static void test_encode_and_decode(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++) {
		char bytes[4];
		uint32_t back = UINT32_MAX;
		unsigned n = utf8_encode(c, bytes);

		if (c >= 0xd800 && c <= 0xdfff) {
			assert_int_equal(n, 0);
			continue;
		}
		if (utf8_decode(str_make(bytes, n), &back) != n || back != c)
			fail_msg("%x: length %u, back %x", c, n, back);
	}
}

static void test_decode_nothing(void **state)
{
	uint32_t c = 42;

	(void)state;
	assert_int_equal(utf8_decode(STR(""), &c), 0);
	assert_int_equal(utf8_decode(str_make(NULL, 0), &c), 0);
	assert_int_equal(utf8_decode(STR("\xe2\x82"), &c), 0);
	assert_int_equal(c, 42);
}

static void test_count(void **state)
{
	(void)state;
	assert_int_equal(utf8_count(STR("")), 0);
	assert_int_equal(utf8_count(STR("abc")), 3);
	assert_int_equal(utf8_count(STR("h\xc3\xa9" EURO FROG "!")), 5);
	assert_int_equal(utf8_count(STR("\xe2\x82\xff" EURO)), 3);
	assert_int_equal(utf8_count(STR("\xf0\x9f\x90")), 1);
	assert_int_equal(utf8_count(STR("e\xcc\x81")), 2);
}

static void expect_cut(struct str text, size_t max, struct str front, struct str back)
{
	struct str s = exact(text);

	assert_true(str_eq(utf8_cut(s, max), front));
	assert_true(str_eq(utf8_cut_front(s, max), back));
	drop(s);
}

static void test_cut(void **state)
{
	(void)state;
	expect_cut(STR("hello"), 5, STR("hello"), STR("hello"));
	expect_cut(STR("hello"), 9, STR("hello"), STR("hello"));
	expect_cut(STR("hello"), 3, STR("hel"), STR("llo"));
	expect_cut(STR("hello"), 0, STR(""), STR(""));
	expect_cut(STR(""), 0, STR(""), STR(""));
	expect_cut(STR("a" EURO "b"), 4, STR("a" EURO), STR(EURO "b"));
	expect_cut(STR("a" EURO "b"), 3, STR("a"), STR("b"));
	expect_cut(STR("a" EURO "b"), 2, STR("a"), STR("b"));
	expect_cut(STR("a" EURO "b"), 1, STR("a"), STR("b"));
	expect_cut(STR(FROG FROG), 7, STR(FROG), STR(FROG));
	expect_cut(STR(FROG FROG), 4, STR(FROG), STR(FROG));
	expect_cut(STR(FROG FROG), 3, STR(""), STR(""));
	expect_cut(STR(FROG), 1, STR(""), STR(""));
	expect_cut(STR(FROG), 0, STR(""), STR(""));
}

static void test_cut_broken(void **state)
{
	(void)state;
	expect_cut(STR("\x80\x80\x80\x80\x80"), 2, STR("\x80\x80"), STR("\x80\x80"));
	expect_cut(STR("\xe2\x82\xe2\x82"), 1, STR("\xe2"), STR("\x82"));
	expect_cut(STR("\xff\xff\xff"), 1, STR("\xff"), STR("\xff"));
	expect_cut(STR(EURO "\x80\x80"), 4, STR(EURO "\x80"), STR("\x80\x80"));
}

/* Of every text and length: what is cut is valid, within the bound, and less than one character short of
 * it. */
static void test_cut_everywhere(void **state)
{
	struct str text = STR("a" EURO FROG "\xc3\xa9" FROG "bc" EURO EURO);

	(void)state;
	for (size_t max = 0; max <= text.n + 1; max++) {
		struct str front = utf8_cut(text, max), back = utf8_cut_front(text, max);

		assert_true(utf8_valid(front) && utf8_valid(back));
		assert_true(front.n <= max && back.n <= max);
		assert_true(front.n + 3 >= size_min(max, text.n) && back.n + 3 >= size_min(max, text.n));
		assert_true(str_starts_with(text, front) && str_ends_with(text, back));
	}
}

static void expect_incomplete(struct str text, size_t expected)
{
	struct str s = exact(text);

	assert_int_equal(utf8_incomplete(s), expected);
	drop(s);
}

static void test_incomplete(void **state)
{
	(void)state;
	expect_incomplete(STR(""), 0);
	expect_incomplete(STR("abc"), 0);
	expect_incomplete(STR("a" EURO), 0);
	expect_incomplete(STR("a" FROG), 0);
	expect_incomplete(STR("a\xc3"), 1);
	expect_incomplete(STR("a\xe2"), 1);
	expect_incomplete(STR("a\xe2\x82"), 2);
	expect_incomplete(STR("\xf0\x9f\x90"), 3);
	expect_incomplete(STR("\xf0\x9f"), 2);
	expect_incomplete(STR("\xf0"), 1);
	/* Nothing can complete these. */
	expect_incomplete(STR("a\xff"), 0);
	expect_incomplete(STR("a\xc0"), 0);
	expect_incomplete(STR("a\xf5"), 0);
	expect_incomplete(STR("\x80\x80\x80\x80"), 0);
	expect_incomplete(STR("\xe0\x80"), 0);
	expect_incomplete(STR("\xed\xa0"), 0);
	expect_incomplete(STR("\xf4\x90"), 0);
	expect_incomplete(STR("\xc3\x80\x80"), 0);
}

static void expect_replaced(struct str text, const char *expected)
{
	struct str s = exact(text);
	_cleanup_arena_ struct arena arena = { 0 };
	struct str clean;

	arena_init(&arena, 0);
	clean = utf8_clean(&arena, s);
	assert_true(str_eq(clean, str_of(expected)));
	assert_int_equal(clean.p == s.p, utf8_valid(s));
	drop(s);
}

static void test_replace(void **state)
{
	(void)state;
	expect_replaced(STR(""), "");
	expect_replaced(STR("plain " EURO), "plain " EURO);
	expect_replaced(STR("\xff"), FFFD);
	expect_replaced(STR("a\xff"
			    "b\xe2\x82"),
			"a" FFFD "b" FFFD);
	/* Unicode 15, tables 3-8 to 3-11. */
	expect_replaced(STR("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"),
			FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A");
	expect_replaced(STR("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"),
			FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A");
	expect_replaced(STR("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"),
			FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B");
	expect_replaced(STR("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), FFFD FFFD FFFD FFFD "A");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_invalid_anywhere),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_encode_and_decode),
		cmocka_unit_test(test_decode_nothing),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_broken),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_replace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/normal.h"
#include "text/utf8.h"

typedef int normaliser(struct buf *out, struct str s, struct err *err);

static void expect_normal(normaliser *normal, const char *text, const char *expected)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	buf_init(&out, 1000);
	if (normal(&out, str_of(text), &err) < 0)
		fail_msg("%s: %s", text, err.message);
	assert_string_equal(buf_cstr(&out), expected);
}

static void test_nfkc(void **state)
{
	(void)state;
	expect_normal(normal_nfkc, "", "");
	expect_normal(normal_nfkc, "Plain ASCII stays\n", "Plain ASCII stays\n");
	expect_normal(normal_nfkc, "e\xcc\x81", "\xc3\xa9");
	expect_normal(normal_nfkc, "\xc3\xa9", "\xc3\xa9");
	expect_normal(normal_nfkc, "\xef\xac\x81x", "fix");
	expect_normal(normal_nfkc, "\xef\xbc\xa1\xef\xbc\xa2", "AB");
	expect_normal(normal_nfkc, "\xe2\x91\xa0", "1");
	expect_normal(normal_nfkc, "x\xc2\xb2", "x2");
	expect_normal(normal_nfkc, "\xef\xbd\xb6\xef\xbe\x9e", "\xe3\x82\xac");
	expect_normal(normal_nfkc, "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "\xed\x95\x9c");
	expect_normal(normal_nfkc, "\xe2\x84\xab", "\xc3\x85");
	/* Excluded from composition: stays apart. */
	expect_normal(normal_nfkc, "\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc");
	expect_normal(normal_nfkc,
		      "Stra\xc3\x9f"
		      "e",
		      "Stra\xc3\x9f"
		      "e");
	/* One code point that becomes eighteen. */
	expect_normal(normal_nfkc, "\xef\xb7\xba",
		      "\xd8\xb5\xd9\x84\xd9\x89 \xd8\xa7\xd9\x84\xd9\x84\xd9\x87 \xd8\xb9\xd9\x84\xd9\x8a"
		      "\xd9\x87 \xd9\x88\xd8\xb3\xd9\x84\xd9\x85");
}

static void test_fold(void **state)
{
	(void)state;
	expect_normal(normal_fold, "", "");
	expect_normal(normal_fold, "Read_FILE-[Z@", "read_file-[z@");
	expect_normal(normal_fold,
		      "Stra\xc3\x9f"
		      "e",
		      "strasse");
	expect_normal(normal_fold, "STRASSE", "strasse");
	expect_normal(normal_fold, "\xc3\x89t\xc3\xa9", "\xc3\xa9t\xc3\xa9");
	expect_normal(normal_fold, "E\xcc\x81", "\xc3\xa9");
	expect_normal(normal_fold, "\xce\xa3\xcf\x83\xcf\x82", "\xcf\x83\xcf\x83\xcf\x83");
	expect_normal(normal_fold, "\xc4\xb0", "i\xcc\x87");
	expect_normal(normal_fold, "\xef\xac\x81\xef\xbc\xa1", "fia");
	/* Soft hyphen, zero width joiner and byte order mark are invisible. */
	expect_normal(normal_fold,
		      "\xef\xbb\xbfso\xc2\xad"
		      "ft\xe2\x80\x8d",
		      "soft");
}

/* Marks come into canonical order, in short and in long runs; the order of equal ones stays. */
static void test_order_of_marks(void **state)
{
	char text[2 + 80 * 4 + 1] = "q", expected[sizeof(text)] = "q";
	size_t n = 1;

	(void)state;
	expect_normal(normal_nfkc, "q\xcc\x87\xcc\xa3", "q\xcc\xa3\xcc\x87");
	expect_normal(normal_nfkc, "q\xcc\x87\xcc\x81\xcc\xa3", "q\xcc\xa3\xcc\x87\xcc\x81");
	for (int i = 0; i < 80; i++, n += 4)
		memcpy(text + n, i % 2 ? "\xcc\x87\xcc\xa3" : "\xcc\x81\xcc\xa3", 4);
	n = 1;
	for (int i = 0; i < 80; i++, n += 2)
		memcpy(expected + n, "\xcc\xa3", 2);
	for (int i = 0; i < 80; i++, n += 2)
		memcpy(expected + n, i % 2 ? "\xcc\x87" : "\xcc\x81", 2);
	expect_normal(normal_nfkc, text, expected);
}

static void expect_stable(normaliser *normal, uint32_t c)
{
	_cleanup_buf_ struct buf once = { 0 }, twice = { 0 };
	char bytes[4];
	struct str s = str_make(bytes, utf8_encode(c, bytes));

	buf_init(&once, 100);
	buf_init(&twice, 100);
	assert_int_equal(normal(&once, s, NULL), 0);
	assert_int_equal(normal(&twice, buf_str(&once), NULL), 0);
	if (!str_eq(buf_str(&once), buf_str(&twice)))
		fail_msg("U+%04X is not stable", c);
}

static void test_every_character_is_stable(void **state)
{
	(void)state;
	for (uint32_t c = 1; c < 0x30000; c++) {
		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		expect_stable(normal_nfkc, c);
		expect_stable(normal_fold, c);
	}
}

static void test_errors(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_init(&out, 4);
	assert_int_equal(normal_nfkc(&out, STR("a\xff"), &err), ERR_INVALID);
	assert_string_equal(err.message, "not UTF-8 at byte 2: \"\\xff\"");
	assert_int_equal(err.offset, 1);
	assert_int_equal(normal_fold(&out, STR("\xe2\x82"), &err), ERR_INVALID);
	assert_string_equal(err.message, "not UTF-8 at byte 1: \"\\xe2\\x82\"");
	assert_int_equal(out.n, 0);
	assert_int_equal(normal_nfkc(&out, STR("abcde"), &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "the normalised text has more than 4 bytes");
	buf_clear(&out, 0);
	assert_int_equal(normal_fold(&out, STR("ABCDE"), &err), ERR_TOO_LARGE);
	buf_clear(&out, 0);
	assert_int_equal(normal_fold(&out, STR("\xef\xb7\xba"), &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "the normalised text has more than 4 bytes");
}

static void test_longest(void **state)
{
	char *text = xmalloc(NORMAL_INPUT_MAX + 1);
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	/* A megabyte of marks in the wrong order is the worst there is: sorting by exchange takes minutes. */
	buf_init(&out, NORMAL_INPUT_MAX);
	for (size_t i = 0; i < NORMAL_INPUT_MAX; i += 4)
		memcpy(text + i, "\xcc\x81\xcc\xa3", 4);
	assert_int_equal(normal_nfkc(&out, str_make(text, NORMAL_INPUT_MAX), &err), 0);
	assert_int_equal(out.n, NORMAL_INPUT_MAX);
	assert_memory_equal(out.p, "\xcc\xa3\xcc\xa3", 4);
	assert_memory_equal(out.p + out.n - 4, "\xcc\x81\xcc\x81", 4);
	memset(text, 'x', NORMAL_INPUT_MAX + 1);
	buf_clear(&out, 0);
	assert_int_equal(normal_fold(&out, str_make(text, NORMAL_INPUT_MAX + 1), &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "a text of 1048577 bytes is too long to normalise: at most 1048576");
	assert_int_equal(normal_nfkc(&out, str_make(text, NORMAL_INPUT_MAX + 1), &err), ERR_TOO_LARGE);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nfkc),	       cmocka_unit_test(test_fold),
		cmocka_unit_test(test_order_of_marks), cmocka_unit_test(test_every_character_is_stable),
		cmocka_unit_test(test_errors),	       cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

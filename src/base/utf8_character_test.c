#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/utf8_character.h"

/* Written from the definition alone, as a second opinion: bits by length, then the ranges. */
static unsigned encode(uint32_t c, char out[4])
{
	unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };

	for (unsigned i = n; i > 1; i--, c >>= 6)
		out[i - 1] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	return n;
}

static void test_every_code_point(void **state)
{
	(void)state;
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		char bytes[4], written[4];
		unsigned n = encode(c, bytes), skip = 0, written_n = utf8_encode(c, written);
		uint32_t back = UINT32_MAX;
		unsigned got = utf8_decode_first(str_make(bytes, n), &back, &skip);

		if (c >= 0xd800 && c <= 0xdfff) {
			if (got != 0 || skip != 1 || written_n != 0)
				fail_msg("surrogate %x: length %u, skip %u, written %u", c, got, skip,
					 written_n);
		} else if (got != n || back != c || written_n != n || memcmp(written, bytes, n) != 0) {
			fail_msg("%x: length %u, value %x, written %u", c, got, back, written_n);
		}
	}
}

/* Whatever four bytes come, what is accepted encodes back to the same bytes. */
static void test_accepted_is_canonical(void **state)
{
	static const unsigned char tails[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff };

	(void)state;
	for (unsigned lead = 0x80; lead < 0x100; lead++) {
		for (unsigned i = 0; i < 1000; i++) {
			char bytes[4] = { (char)lead, (char)tails[i / 100], (char)tails[i / 10 % 10],
					  (char)tails[i % 10] };
			char again[4];
			uint32_t c;
			unsigned skip = 0, n = utf8_decode_first(str_make(bytes, 4), &c, &skip);

			if (n == 0) {
				assert_in_range(skip, 1, 3);
				continue;
			}
			assert_true(c <= 0x10ffff && (c < 0xd800 || c > 0xdfff));
			assert_int_equal(encode(c, again), n);
			assert_memory_equal(bytes, again, n);
		}
	}
}

static void test_encode_lengths(void **state)
{
	char bytes[4];

	(void)state;
	assert_int_equal(utf8_encode(0x7f, bytes), 1);
	assert_int_equal(utf8_encode(0x80, bytes), 2);
	assert_int_equal(utf8_encode(0x7ff, bytes), 2);
	assert_int_equal(utf8_encode(0x800, bytes), 3);
	assert_int_equal(utf8_encode(0xffff, bytes), 3);
	assert_int_equal(utf8_encode(0x10000, bytes), 4);
	assert_int_equal(utf8_encode(0x10ffff, bytes), 4);
	assert_int_equal(utf8_encode(0x110000, bytes), 0);
	assert_int_equal(utf8_encode(UINT32_MAX, bytes), 0);
	assert_int_equal(utf8_encode(0x20ac, bytes), 3);
	assert_memory_equal(bytes, "\xe2\x82\xac", 3);
	assert_int_equal(utf8_encode(0x1f438, bytes), 4);
	assert_memory_equal(bytes, "\xf0\x9f\x90\xb8", 4);
}

static void expect_skip(const char *bytes, size_t n, unsigned expected)
{
	char *exact = xmalloc(n);
	uint32_t c = 42;
	unsigned skip = 0;

	memcpy(exact, bytes, n);
	assert_int_equal(utf8_decode_first(str_make(exact, n), &c, &skip), 0);
	assert_int_equal(skip, expected);
	assert_int_equal(c, 42);
	free(exact);
}

/* The examples of Unicode 15, section 3.9, table 3-8 to 3-11. */
static void test_maximal_broken_parts(void **state)
{
	(void)state;
	expect_skip("\xc0\xaf", 2, 1);
	expect_skip("\xe0\x80\xbf", 3, 1);
	expect_skip("\xed\xa0\x80", 3, 1);
	expect_skip("\xf4\x91\x92\x93", 4, 1);
	expect_skip("\xff", 1, 1);
	expect_skip("\x80\xbf", 2, 1);
	expect_skip("\xe1\x80\xe2", 3, 2);
	expect_skip("\xf0\x91\x92\xf1", 4, 3);
	expect_skip("\xf1\xbf"
		    "A",
		    3, 2);
}

static void test_cut_short(void **state)
{
	(void)state;
	expect_skip("\xc3", 1, 1);
	expect_skip("\xe2\x82", 2, 2);
	expect_skip("\xe2", 1, 1);
	expect_skip("\xf0\x9f\x90", 3, 3);
	expect_skip("\xf0\x9f", 2, 2);
	expect_skip("\xf0", 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_point), cmocka_unit_test(test_accepted_is_canonical),
		cmocka_unit_test(test_encode_lengths),	 cmocka_unit_test(test_maximal_broken_parts),
		cmocka_unit_test(test_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

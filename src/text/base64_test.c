#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/base64.h"

static void expect_pair(struct str bytes, struct str text)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	buf_init(&out, 1000);
	assert_int_equal(base64_encode(&out, bytes), 0);
	assert_true(str_eq(buf_str(&out), text));
	assert_int_equal(base64_encoded_size(bytes.n), text.n);
	buf_clear(&out, 0);
	if (base64_decode(&out, text, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(str_eq(buf_str(&out), bytes));
}

static void test_pairs(void **state)
{
	(void)state;
	/* RFC 4648 section 10. */
	expect_pair(STR(""), STR(""));
	expect_pair(STR("f"), STR("Zg=="));
	expect_pair(STR("fo"), STR("Zm8="));
	expect_pair(STR("foo"), STR("Zm9v"));
	expect_pair(STR("foob"), STR("Zm9vYg=="));
	expect_pair(STR("fooba"), STR("Zm9vYmE="));
	expect_pair(STR("foobar"), STR("Zm9vYmFy"));
	expect_pair(STR("\0\x10\x83\x10Q\x87 \x92\x8b"), STR("ABCDEFGHIJKL"));
	expect_pair(STR("\xff\xff\xff\xfb\xef\xbe"), STR("////++++"));
	expect_pair(STR("\0"), STR("AA=="));
}

static void test_null(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	char storage[1];
	size_t n = 42;

	(void)state;
	buf_init(&out, 10);
	assert_int_equal(base64_encode(&out, str_make(NULL, 0)), 0);
	assert_int_equal(base64_decode(&out, str_make(NULL, 0), NULL), 0);
	base64_encode_into(storage, str_make(NULL, 0));
	assert_int_equal(base64_decode_into(storage, str_make(NULL, 0), &n, NULL), 0);
	assert_int_equal(n, 0);
	assert_int_equal(out.n, 0);
}

/* Every length up to 100, written to and read from exact storage, in place too. */
static void test_lengths(void **state)
{
	(void)state;
	for (size_t n = 0; n <= 100; n++) {
		size_t size = base64_encoded_size(n), back = 0;
		char *bytes = xmalloc(n), *text = xmalloc(size), *again = xmalloc(base64_decoded_bound(size));

		for (size_t i = 0; i < n; i++)
			bytes[i] = (char)(i * 37 + n * 11);
		base64_encode_into(text, str_make(bytes, n));
		assert_int_equal(base64_decode_into(again, str_make(text, size), &back, NULL), 0);
		assert_int_equal(back, n);
		assert_memory_equal(again, bytes, n);
		assert_int_equal(base64_decode_into(text, str_make(text, size), &back, NULL), 0);
		assert_int_equal(back, n);
		assert_memory_equal(text, bytes, n);
		free(bytes);
		free(text);
		free(again);
	}
}

static void expect_error(struct str text, size_t offset, const char *message)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	buf_init(&out, 1000);
	assert_int_equal(base64_decode(&out, text, &err), ERR_INVALID);
	assert_string_equal(err.message, message);
	assert_int_equal(err.offset, offset);
	assert_int_equal(err.line, 1);
	assert_int_equal(out.n, 0);
	assert_int_equal(base64_decode(&out, text, NULL), ERR_INVALID);
}

#define ENDS "the text ends in the middle of a group of four"
#define PADDING "padding is out of place"
#define AFTER "nothing may follow the padding"
#define UNUSED_BITS "the last character has bits that stand for nothing"

static void test_lengths_that_cannot_be(void **state)
{
	(void)state;
	expect_error(STR("Z"), 1, "base64, byte 2: " ENDS);
	expect_error(STR("Zg"), 2, "base64, byte 3: " ENDS);
	expect_error(STR("Zm8"), 3, "base64, byte 4: " ENDS);
	expect_error(STR("Zm9vY"), 5, "base64, byte 6: " ENDS);
	expect_error(STR("Zg="), 3, "base64, byte 4: " ENDS);
	expect_error(STR("Zm9vYg="), 7, "base64, byte 8: " ENDS);
}

static void test_wrong_characters(void **state)
{
	(void)state;
	expect_error(STR("Zm9v\nYmFy"), 4, "base64, byte 5: \"\\n\" is not in the alphabet");
	expect_error(STR("Zm9vYmFy\n"), 8, "base64, byte 9: \"\\n\" is not in the alphabet");
	expect_error(STR(" Zm9v"), 0, "base64, byte 1: \" \" is not in the alphabet");
	expect_error(STR("Zm-_"), 2, "base64, byte 3: \"-\" is not in the alphabet");
	expect_error(STR("Zm9vYm_y"), 6, "base64, byte 7: \"_\" is not in the alphabet");
	expect_error(STR("\0AAA"), 0, "base64, byte 1: \"\\x00\" is not in the alphabet");
	expect_error(STR("AAA\xff"), 3, "base64, byte 4: \"\\xff\" is not in the alphabet");
	expect_error(STR("Zm9vYmFyZm9vYmFyZm9v!mFy"), 20, "base64, byte 21: \"!\" is not in the alphabet");
}

static void test_wrong_padding(void **state)
{
	(void)state;
	expect_error(STR("="), 0, "base64, byte 1: " PADDING);
	expect_error(STR("===="), 0, "base64, byte 1: " PADDING);
	expect_error(STR("Z==="), 1, "base64, byte 2: " PADDING);
	expect_error(STR("Zg=v"), 2, "base64, byte 3: " PADDING);
	expect_error(STR("Zg==Zm9v"), 4, "base64, byte 5: " AFTER);
	expect_error(STR("Zm8=Zm8="), 4, "base64, byte 5: " AFTER);
	expect_error(STR("Zg==="), 4, "base64, byte 5: " AFTER);
	expect_error(STR("Zm9v===="), 4, "base64, byte 5: " PADDING);
	expect_error(STR("Zg==\n"), 4, "base64, byte 5: " AFTER);
}

static void test_unused_bits(void **state)
{
	(void)state;
	expect_error(STR("Zh=="), 1, "base64, byte 2: " UNUSED_BITS);
	expect_error(STR("Zm9="), 2, "base64, byte 3: " UNUSED_BITS);
	expect_error(STR("Zm9vZv=="), 5, "base64, byte 6: " UNUSED_BITS);
}

/* Each byte value in each place of a group, against a plain statement of the alphabet. */
static void test_every_character(void **state)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		for (unsigned at = 0; at < 12; at++) {
			char text[12], out[9];
			const char *found = c ? strchr(alphabet, (int)c) : NULL;
			size_t n;
			int r;

			memset(text, 'A', sizeof(text));
			text[at] = (char)c;
			r = base64_decode_into(out, str_make(text, sizeof(text)), &n, NULL);
			if (c == '=' && at == 11) {
				assert_int_equal(r, 0);
				assert_int_equal(n, 8);
				continue;
			}
			assert_int_equal(r, found ? 0 : ERR_INVALID);
			if (found) {
				unsigned shift = 18 - 6 * (at % 4);
				uint32_t bits = (uint32_t)(found - alphabet) << shift;

				assert_int_equal((unsigned char)out[at / 4 * 3], bits >> 16 & 255);
				assert_int_equal((unsigned char)out[at / 4 * 3 + 1], bits >> 8 & 255);
				assert_int_equal((unsigned char)out[at / 4 * 3 + 2], bits & 255);
			}
		}
	}
}

static void test_bounded(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_init(&out, 7);
	assert_int_equal(base64_encode(&out, STR("foob")), ERR_TOO_LARGE);
	buf_clear(&out, 0);
	assert_int_equal(base64_decode(&out, STR("Zm9vYmFyZm9v"), &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "the decoded bytes are more than 7");
	buf_clear(&out, 0);
	assert_int_equal(base64_encode(&out, STR("foo")), 0);
}

/* Padding is no part of what must fit. */
static void test_the_maximum_is_exact(void **state)
{
	static const char *const texts[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };

	(void)state;
	for (size_t n = 0; n < ARRAY_LEN(texts); n++) {
		_cleanup_buf_ struct buf out = { 0 };

		buf_init(&out, n);
		assert_int_equal(base64_decode(&out, str_of(texts[n]), NULL), 0);
		assert_int_equal(out.n, n);
		buf_release(&out);
		buf_init(&out, n - 1);
		if (n > 0)
			assert_int_equal(base64_decode(&out, str_of(texts[n]), NULL), ERR_TOO_LARGE);
	}
}

/* What is written before the fault is found stays within the buffer as well. */
static void test_malformed_within_a_maximum(void **state)
{
	static const char *const texts[] = { "Zm9vY==", "Zm9vY=", "Zm9v====", "Zm8=Zg==", "Zm9vZh==" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		for (size_t max = 0; max <= 6; max++) {
			_cleanup_buf_ struct buf out = { 0 };

			buf_init(&out, max);
			assert_true(base64_decode(&out, str_of(texts[i]), NULL) < 0);
			assert_int_equal(out.n, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_lengths_that_cannot_be),
		cmocka_unit_test(test_wrong_characters),
		cmocka_unit_test(test_wrong_padding),
		cmocka_unit_test(test_unused_bits),
		cmocka_unit_test(test_every_character),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_the_maximum_is_exact),
		cmocka_unit_test(test_malformed_within_a_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/ids.h"
#include "base/err.h"

static const struct id_kind artifact = { STR_INIT("art-"), 16 };
static const struct id_kind run = { STR_INIT(""), 8 };

static const uint8_t random_bytes[ID_BYTES_MAX] = { 0x00, 0x01, 0x0f, 0x10, 0x7f, 0x80, 0xab, 0xff,
						    0xde, 0xad, 0xbe, 0xef, 0x12, 0x34, 0x56, 0x78 };

static void test_make(void **state)
{
	char storage[ID_TEXT_MAX];
	struct str id = id_make(storage, &artifact, random_bytes);

	(void)state;
	assert_string_equal(storage, "art-00010f107f80abffdeadbeef12345678");
	assert_int_equal(id.n, 36);
	assert_true(id_valid(&artifact, id));
	assert_false(id_valid(&run, id));
	id = id_make(storage, &run, random_bytes);
	assert_string_equal(storage, "00010f107f80abff");
	assert_int_equal(id.n, 16);
	assert_true(id_valid(&run, id));
}

static void test_longest(void **state)
{
	const struct id_kind longest = { STR("fifteen-letters"), ID_BYTES_MAX };
	char storage[ID_TEXT_MAX];

	(void)state;
	assert_int_equal(longest.prefix.n, ID_PREFIX_MAX);
	assert_int_equal(id_make(storage, &longest, random_bytes).n, ID_TEXT_MAX - 1);
	assert_int_equal(storage[ID_TEXT_MAX - 1], 0);
}

static void test_valid(void **state)
{
	(void)state;
	assert_true(id_valid(&artifact, STR("art-0123456789abcdef0123456789abcdef")));
	assert_false(id_valid(&artifact, STR("")));
	assert_false(id_valid(&artifact, STR("art-")));
	assert_false(id_valid(&artifact, STR("art-0123456789abcdef0123456789abcde")));
	assert_false(id_valid(&artifact, STR("art-0123456789abcdef0123456789abcdef0")));
	assert_false(id_valid(&artifact, STR("art-0123456789abcdef0123456789abcdeF")));
	assert_false(id_valid(&artifact, STR("art-0123456789abcdef0123456789abcdeg")));
	assert_false(id_valid(&artifact, STR("art-0123456789abcdef0123456789abcde\0")));
	assert_false(id_valid(&artifact, STR("ART-0123456789abcdef0123456789abcdef")));
	assert_false(id_valid(&artifact, STR("0123456789abcdef0123456789abcdef")));
	assert_false(id_valid(&artifact, STR("../../0123456789abcdef0123456789abcd")));
}

static void test_hex(void **state)
{
	uint8_t bytes[4] = { 9, 9, 9, 9 };
	char digits[8];

	(void)state;
	assert_int_equal(hex_decode(bytes, 4, STR("00fFAb19")), 0);
	assert_memory_equal(bytes, "\x00\xff\xab\x19", 4);
	hex_encode(digits, bytes, 4);
	assert_memory_equal(digits, "00ffab19", 8);
	assert_int_equal(hex_decode(bytes, 4, STR("00ffab1")), ERR_INVALID);
	assert_int_equal(hex_decode(bytes, 4, STR("00ffab190")), ERR_INVALID);
	assert_int_equal(hex_decode(bytes, 4, STR("00ffab1900")), ERR_INVALID);
	assert_int_equal(hex_decode(bytes, 4, STR("11111 11")), ERR_INVALID);
	assert_int_equal(hex_decode(bytes, 4, STR("1111111g")), ERR_INVALID);
	assert_memory_equal(bytes, "\x00\xff\xab\x19", 4);
	assert_int_equal(hex_decode(bytes, 0, STR("")), 0);
	hex_encode(digits, bytes, 0);
}

static void test_hex_all_bytes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 256; i++) {
		uint8_t byte = (uint8_t)i, back = (uint8_t)~i;
		char digits[2], expected[3];

		hex_encode(digits, &byte, 1);
		snprintf(expected, sizeof(expected), "%02x", i);
		assert_memory_equal(digits, expected, 2);
		assert_int_equal(hex_decode(&back, 1, str_make(digits, 2)), 0);
		assert_int_equal(back, byte);
	}
}

static void test_secrets(void **state)
{
	(void)state;
	assert_true(secret_eq(STR("correct horse"), STR("correct horse")));
	assert_false(secret_eq(STR("correct horsf"), STR("correct horse")));
	assert_false(secret_eq(STR("Correct horse"), STR("correct horse")));
	assert_false(secret_eq(STR("correct"), STR("correct horse")));
	assert_false(secret_eq(STR("correct horse "), STR("correct horse")));
	assert_false(secret_eq(STR("aa"), STR("a")));
	assert_false(secret_eq(STR(""), STR("a")));
	assert_false(secret_eq(STR("a"), STR("")));
	assert_false(secret_eq(STR(""), STR("")));
	assert_false(secret_eq(str_make(NULL, 0), str_make(NULL, 0)));
	assert_true(secret_eq(STR("a\0b"), STR("a\0b")));
	assert_false(secret_eq(STR("a\0b"), STR("a\0c")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_make),	      cmocka_unit_test(test_longest),
		cmocka_unit_test(test_valid),	      cmocka_unit_test(test_hex),
		cmocka_unit_test(test_hex_all_bytes), cmocka_unit_test(test_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/units.h"

static void expect_duration(const char *text, uint64_t expected)
{
	struct err err = { 0 };
	uint64_t ms = UINT64_MAX;

	if (duration_parse(str_of(text), &ms, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	if (ms != expected)
		fail_msg("%s: %llu ms, expected %llu", text, (unsigned long long)ms,
			 (unsigned long long)expected);
}

static void expect_no_duration(const char *text, int code, const char *message)
{
	struct err err = { 0 };
	uint64_t ms = 42;

	assert_int_equal(duration_parse(str_of(text), &ms, &err), code);
	assert_int_equal(err.code, code);
	assert_string_equal(err.message, message);
	assert_int_equal(ms, 42);
	assert_int_equal(duration_parse(str_of(text), &ms, NULL), code);
}

static void test_durations(void **state)
{
	(void)state;
	expect_duration("0", 0);
	expect_duration("+0", 0);
	expect_duration("0s", 0);
	expect_duration("0h0m0ns", 0);
	expect_duration("250ms", 250);
	expect_duration("20s", 20000);
	expect_duration("1m30s", 90000);
	expect_duration("1.5h", 5400000);
	expect_duration("24h", 86400000);
	expect_duration("+5s", 5000);
	expect_duration("1h1m1s1ms", 3661001);
	expect_duration("1s1h", 3601000);
	expect_duration("1s1s", 2000);
	expect_duration("007s", 7000);
}

static void test_duration_fractions(void **state)
{
	(void)state;
	expect_duration(".5s", 500);
	expect_duration("1.s", 1000);
	expect_duration("1.000000000000000000000000s", 1000);
	expect_duration("0.001s", 1);
	expect_duration("0.0000025h", 9);
	expect_duration("0.00005m", 3);
	expect_duration("1.25m", 75000);
	expect_duration("2.75h30.5s", 9930500);
}

static void test_duration_small_units(void **state)
{
	(void)state;
	expect_duration("1000us", 1);
	expect_duration("1500us500us", 2);
	expect_duration("3000\xc2\xb5s", 3);
	expect_duration("3000\xce\xbcs", 3);
	expect_duration("5000000ns", 5);
	expect_duration("0.5us999.5us", 1);
}

static void test_duration_range(void **state)
{
	(void)state;
	expect_duration("9223372036854ms", DURATION_MAX_MS);
	expect_duration("2562047h47m16.854s", DURATION_MAX_MS);
	expect_no_duration("9223372036855ms", ERR_TOO_LARGE,
			   "duration \"9223372036855ms\" is too long: at most 2562047 hours are allowed");
	expect_no_duration("2562048h", ERR_TOO_LARGE,
			   "duration \"2562048h\" is too long: at most 2562047 hours are allowed");
	expect_no_duration("2562047h1h", ERR_TOO_LARGE,
			   "duration \"2562047h1h\" is too long: at most 2562047 hours are allowed");
	expect_no_duration("2562047.9h", ERR_TOO_LARGE,
			   "duration \"2562047.9h\" is too long: at most 2562047 hours are allowed");
	expect_no_duration(
		"99999999999999999999s", ERR_TOO_LARGE,
		"duration \"99999999999999999999s\" is too long: at most 2562047 hours are allowed");
}

#define HINT "; write a number with a unit (ms, s, m, h), such as 250ms, 1.5s or 1m30s"

static void test_duration_errors(void **state)
{
	(void)state;
	expect_no_duration("", ERR_INVALID, "duration \"\" is empty" HINT);
	expect_no_duration("+", ERR_INVALID, "duration \"+\" is empty" HINT);
	expect_no_duration("-1s", ERR_INVALID, "duration \"-1s\" is negative");
	expect_no_duration("-0", ERR_INVALID, "duration \"-0\" is negative");
	expect_no_duration("30", ERR_INVALID, "duration \"30\" has no unit" HINT);
	expect_no_duration("00", ERR_INVALID, "duration \"00\" has no unit" HINT);
	expect_no_duration("1m30", ERR_INVALID, "duration \"1m30\" has no unit" HINT);
	expect_no_duration("1d", ERR_INVALID, "duration \"1d\" has an unknown unit \"d\"" HINT);
	expect_no_duration("5S", ERR_INVALID, "duration \"5S\" has an unknown unit \"S\"" HINT);
	expect_no_duration("1 s", ERR_INVALID, "duration \"1 s\" has an unknown unit \" s\"" HINT);
	expect_no_duration("1h-5m", ERR_INVALID, "duration \"1h-5m\" has an unknown unit \"h-\"" HINT);
	expect_no_duration("s", ERR_INVALID, "duration \"s\" has no number at \"s\"" HINT);
	expect_no_duration(" 1s", ERR_INVALID, "duration \" 1s\" has no number at \" 1s\"" HINT);
	expect_no_duration("1h.", ERR_INVALID, "duration \"1h.\" has no number at \".\"" HINT);
	expect_no_duration("1h.s", ERR_INVALID, "duration \"1h.s\" has no number at \".s\"" HINT);
	expect_no_duration("1.2.3s", ERR_INVALID, "duration \"1.2.3s\" has no unit" HINT);
	expect_no_duration("1\ns", ERR_INVALID, "duration \"1\\ns\" has an unknown unit \"\\ns\"" HINT);
}

static void test_duration_too_fine(void **state)
{
	static const char *const texts[] = { "1ns",	"1us",	     "999us", "0.5ms",
					     "1.0001s", "0.333333h", "0.1ns", "0.00000000000000000001h" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char message[128];

		snprintf(message, sizeof(message), "duration \"%s\" is not a whole number of milliseconds",
			 texts[i]);
		expect_no_duration(texts[i], ERR_INVALID, message);
	}
}

static void test_duration_holds_nul(void **state)
{
	struct err err;
	uint64_t ms;

	(void)state;
	assert_int_equal(duration_parse(STR("1s\0"), &ms, &err), ERR_INVALID);
	assert_string_equal(err.message, "duration \"1s\\x00\" has an unknown unit \"s\\x00\"" HINT);
}

static void expect_duration_text(uint64_t ms, const char *exact, const char *rough)
{
	char storage[DURATION_TEXT_MAX];
	struct str text = duration_text(storage, ms);

	assert_string_equal(storage, exact);
	assert_int_equal(text.n, strlen(exact));
	text = duration_rough(storage, ms);
	assert_string_equal(storage, rough);
	assert_int_equal(text.n, strlen(rough));
}

static void test_duration_text(void **state)
{
	(void)state;
	expect_duration_text(0, "0s", "0ms");
	expect_duration_text(1, "1ms", "1ms");
	expect_duration_text(999, "999ms", "999ms");
	expect_duration_text(1000, "1s", "1.00s");
	expect_duration_text(1249, "1.249s", "1.24s");
	expect_duration_text(1500, "1.5s", "1.50s");
	expect_duration_text(1010, "1.01s", "1.01s");
	expect_duration_text(1001, "1.001s", "1.00s");
	expect_duration_text(12490, "12.49s", "12.4s");
	expect_duration_text(59999, "59.999s", "59.9s");
	expect_duration_text(60000, "1m", "1m0s");
	expect_duration_text(90000, "1m30s", "1m30s");
	expect_duration_text(60001, "1m0.001s", "1m0s");
	expect_duration_text(3600000, "1h", "1h0m");
	expect_duration_text(3630000, "1h30s", "1h0m");
	expect_duration_text(86400000, "24h", "24h0m");
	expect_duration_text(UINT64_C(9) * 86400000 + 4 * 3600000, "220h", "9d4h");
	expect_duration_text(UINT64_MAX, "5124095576030h25m51.615s", "213503982334d14h");
}

static void test_duration_text_reads_back(void **state)
{
	char storage[DURATION_TEXT_MAX];
	uint64_t ms = 1;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		duration_text(storage, ms);
		expect_duration(storage, ms);
		ms = (ms * 6364136223846793005u + 1442695040888963407u) % (DURATION_MAX_MS + 1);
		if (i % 3 == 0)
			ms %= 100000;
	}
}

static void expect_size(const char *text, uint64_t expected)
{
	struct err err = { 0 };
	uint64_t bytes = 7;

	if (byte_size_parse(str_of(text), &bytes, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	if (bytes != expected)
		fail_msg("%s: %llu, expected %llu", text, (unsigned long long)bytes,
			 (unsigned long long)expected);
}

static void expect_no_size(const char *text, int code, const char *message)
{
	struct err err = { 0 };
	uint64_t bytes = 42;

	assert_int_equal(byte_size_parse(str_of(text), &bytes, &err), code);
	assert_string_equal(err.message, message);
	assert_int_equal(bytes, 42);
	assert_int_equal(byte_size_parse(str_of(text), &bytes, NULL), code);
}

static void test_byte_sizes(void **state)
{
	(void)state;
	expect_size("0", 0);
	expect_size("2000", 2000);
	expect_size("17B", 17);
	expect_size("1KB", 1000);
	expect_size("1KiB", 1024);
	expect_size("16MB", 16000000);
	expect_size("16MiB", 16777216);
	expect_size("3GB", 3000000000);
	expect_size("3GiB", UINT64_C(3) << 30);
	expect_size("2TB", UINT64_C(2000000000000));
	expect_size("2TiB", UINT64_C(2) << 40);
	expect_size("1kib", 1024);
	expect_size("1kIb", 1024);
	expect_size("5b", 5);
	expect_size("1mb", 1000000);
	expect_size("0TiB", 0);
}

static void test_byte_size_fractions(void **state)
{
	(void)state;
	expect_size("1.5KiB", 1536);
	expect_size(".5KB", 500);
	expect_size("1.KB", 1000);
	expect_size("1.1KiB", 1126);
	expect_size("0.0001KB", 0);
	expect_size("0.9999KB", 999);
	expect_size("2.5TiB", UINT64_C(2748779069440));
	/* Sixty digits are as exact as one: just below and just at two thirds of a KiB. */
	expect_size("0.666015625000000000000000000000000000000000000000000000000000KiB", 682);
	expect_size("0.666015624999999999999999999999999999999999999999999999999999KiB", 681);
}

static void test_byte_size_range(void **state)
{
	(void)state;
	expect_size("18446744073709551615", UINT64_MAX);
	expect_size("16777215TiB", UINT64_C(16777215) << 40);
	expect_size("18446744.073709551615TB", UINT64_MAX);
	expect_no_size("18446744073709551616", ERR_TOO_LARGE,
		       "byte size \"18446744073709551616\" is too large: at most 18446744073709551615 bytes "
		       "are allowed");
	expect_no_size(
		"16777216TiB", ERR_TOO_LARGE,
		"byte size \"16777216TiB\" is too large: at most 18446744073709551615 bytes are allowed");
	expect_no_size("18446744.073709551616TB", ERR_TOO_LARGE,
		       "byte size \"18446744.073709551616TB\" is too large: at most 18446744073709551615 "
		       "bytes are allowed");
}

#define SIZE_HINT                                                                                            \
	"; write a number of bytes, or one with B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB "   \
	"(powers of 1024)"

static void test_byte_size_errors(void **state)
{
	(void)state;
	expect_no_size("", ERR_INVALID, "byte size \"\" has no number" SIZE_HINT);
	expect_no_size("MB", ERR_INVALID, "byte size \"MB\" has no number" SIZE_HINT);
	expect_no_size(".MB", ERR_INVALID, "byte size \".MB\" has no number" SIZE_HINT);
	expect_no_size("+1", ERR_INVALID, "byte size \"+1\" has no number" SIZE_HINT);
	expect_no_size("-1MB", ERR_INVALID, "byte size \"-1MB\" is negative");
	expect_no_size("16 MB", ERR_INVALID, "byte size \"16 MB\" has an unknown unit \" MB\"" SIZE_HINT);
	expect_no_size("16M", ERR_INVALID, "byte size \"16M\" has an unknown unit \"M\"" SIZE_HINT);
	expect_no_size("1PiB", ERR_INVALID, "byte size \"1PiB\" has an unknown unit \"PiB\"" SIZE_HINT);
	expect_no_size("1.5.5KB", ERR_INVALID,
		       "byte size \"1.5.5KB\" has an unknown unit \".5KB\"" SIZE_HINT);
	expect_no_size("1e3", ERR_INVALID, "byte size \"1e3\" has an unknown unit \"e3\"" SIZE_HINT);
	expect_no_size("1.5", ERR_INVALID, "byte size \"1.5\" is a fraction of a byte");
	expect_no_size("1.0B", ERR_INVALID, "byte size \"1.0B\" is a fraction of a byte");
}

static void expect_size_text(uint64_t bytes, const char *exact, const char *rough)
{
	char storage[BYTE_SIZE_TEXT_MAX];
	struct str text = byte_size_text(storage, bytes);

	assert_string_equal(storage, exact);
	assert_int_equal(text.n, strlen(exact));
	expect_size(exact, bytes);
	text = byte_size_rough(storage, bytes);
	assert_string_equal(storage, rough);
	assert_int_equal(text.n, strlen(rough));
}

static void test_byte_size_text(void **state)
{
	(void)state;
	expect_size_text(0, "0B", "0 B");
	expect_size_text(1, "1B", "1 B");
	expect_size_text(1001, "1001B", "1001 B");
	expect_size_text(1000, "1KB", "1000 B");
	expect_size_text(1024, "1KiB", "1.00 KiB");
	expect_size_text(1536, "1536B", "1.50 KiB");
	expect_size_text(262144, "256KiB", "256 KiB");
	expect_size_text(262145, "262145B", "256 KiB");
	expect_size_text(16000000, "16MB", "15.2 MiB");
	expect_size_text(16777216, "16MiB", "16.0 MiB");
	expect_size_text(1023999, "1023999B", "999 KiB");
	expect_size_text(1048575, "1048575B", "1023 KiB");
	expect_size_text(128000, "128KB", "125 KiB");
	expect_size_text(UINT64_C(1) << 50, "1024TiB", "1.00 PiB");
	expect_size_text(UINT64_MAX, "18446744073709551615B", "16383 PiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_duration_fractions),
		cmocka_unit_test(test_duration_small_units),
		cmocka_unit_test(test_duration_range),
		cmocka_unit_test(test_duration_errors),
		cmocka_unit_test(test_duration_too_fine),
		cmocka_unit_test(test_duration_holds_nul),
		cmocka_unit_test(test_duration_text),
		cmocka_unit_test(test_duration_text_reads_back),
		cmocka_unit_test(test_byte_sizes),
		cmocka_unit_test(test_byte_size_fractions),
		cmocka_unit_test(test_byte_size_range),
		cmocka_unit_test(test_byte_size_errors),
		cmocka_unit_test(test_byte_size_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/time_text.h"

static void expect_both(uint64_t ms, const char *rfc3339, const char *http)
{
	char storage[TIME_TEXT_MAX];
	struct str text = time_rfc3339(storage, ms);

	assert_string_equal(storage, rfc3339);
	assert_int_equal(text.n, strlen(rfc3339));
	text = time_http(storage, ms);
	assert_string_equal(storage, http);
	assert_int_equal(text.n, strlen(http));
}

static void test_writing(void **state)
{
	(void)state;
	expect_both(0, "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT");
	expect_both(1, "1970-01-01T00:00:00.001Z", "Thu, 01 Jan 1970 00:00:00 GMT");
	expect_both(784111777000, "1994-11-06T08:49:37.000Z", "Sun, 06 Nov 1994 08:49:37 GMT");
	expect_both(951782399999, "2000-02-28T23:59:59.999Z", "Mon, 28 Feb 2000 23:59:59 GMT");
	expect_both(951782400000, "2000-02-29T00:00:00.000Z", "Tue, 29 Feb 2000 00:00:00 GMT");
	expect_both(951868800000, "2000-03-01T00:00:00.000Z", "Wed, 01 Mar 2000 00:00:00 GMT");
	expect_both(1785229687123, "2026-07-28T09:08:07.123Z", "Tue, 28 Jul 2026 09:08:07 GMT");
	expect_both(4107542400000, "2100-03-01T00:00:00.000Z", "Mon, 01 Mar 2100 00:00:00 GMT");
	expect_both(TIME_MAX_MS, "9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT");
	expect_both(TIME_MAX_MS + 1, "9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT");
	expect_both(UINT64_MAX, "9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT");
}

/* Every day of eight centuries: the calendar steps by one day, and both directions agree. */
static void test_calendar(void **state)
{
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned year = 1970, month = 1, day = 1;

	(void)state;
	for (uint64_t n = 0; year < 2770; n++) {
		struct civil_time t = civil_of_ms(n * 86400000 + 12345678);
		bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
		uint64_t back;

		if (t.year != year || t.month != month || t.day != day || t.weekday != (n + 4) % 7)
			fail_msg("day %u", (unsigned)n);
		assert_int_equal(civil_to_ms(&t, &back), 0);
		if (back != n * 86400000 + 12345678)
			fail_msg("day %u back", (unsigned)n);
		if (++day > lengths[month - 1] + (month == 2 && leap ? 1u : 0u)) {
			day = 1;
			year += month == 12;
			month = month % 12 + 1;
		}
	}
}

static void expect_no_civil(struct civil_time t)
{
	uint64_t ms = 42;

	assert_int_equal(civil_to_ms(&t, &ms), ERR_INVALID);
	assert_int_equal(ms, 42);
}

static void test_no_such_civil(void **state)
{
	(void)state;
	expect_no_civil((struct civil_time){ .year = 1969, .month = 12, .day = 31 });
	expect_no_civil((struct civil_time){ .year = 10000, .month = 1, .day = 1 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 0, .day = 1 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 13, .day = 1 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 1, .day = 0 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 2, .day = 29 });
	expect_no_civil((struct civil_time){ .year = 2100, .month = 2, .day = 29 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 4, .day = 31 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 1, .day = 1, .hour = 24 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 1, .day = 1, .minute = 60 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 1, .day = 1, .second = 61 });
	expect_no_civil((struct civil_time){ .year = 2026, .month = 1, .day = 1, .millisecond = 1000 });
}

static void expect_rfc3339(const char *text, uint64_t expected)
{
	struct err err = { 0 };
	uint64_t ms = 42;

	if (time_parse_rfc3339(str_of(text), &ms, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	assert_int_equal(ms, expected);
}

static void test_rfc3339(void **state)
{
	(void)state;
	expect_rfc3339("1970-01-01T00:00:00Z", 0);
	expect_rfc3339("2026-07-28T09:08:07Z", 1785229687000);
	expect_rfc3339("2026-07-28t09:08:07z", 1785229687000);
	expect_rfc3339("2026-07-28 09:08:07Z", 1785229687000);
	expect_rfc3339("2026-07-28T09:08:07.1Z", 1785229687100);
	expect_rfc3339("2026-07-28T09:08:07.12345678901234567890Z", 1785229687123);
	expect_rfc3339("2026-07-28T11:08:07.123+02:00", 1785229687123);
	expect_rfc3339("2026-07-27T23:38:07-09:30", 1785229687000);
	expect_rfc3339("2026-07-28T09:08:07-00:00", 1785229687000);
	expect_rfc3339("1970-01-01T02:00:00+02:00", 0);
	expect_rfc3339("1990-12-31T23:59:60Z", 662688000000);
	expect_rfc3339("9999-12-31T23:59:59.999Z", TIME_MAX_MS);
}

static void expect_no_rfc3339(const char *text, const char *reason)
{
	char message[200];
	struct err err = { 0 };
	uint64_t ms = 42;

	assert_int_equal(time_parse_rfc3339(str_of(text), &ms, &err), ERR_INVALID);
	snprintf(message, sizeof(message), "\"%s\"%s", text, reason);
	assert_string_equal(err.message, message);
	assert_int_equal(ms, 42);
}

static void test_rfc3339_errors(void **state)
{
	static const char *const malformed[] = {
		"",
		"2026-07-28",
		"2026-07-28T09:08:07",
		"2026-07-28T09:08Z",
		"26-07-28T09:08:07Z",
		"2026-7-28T09:08:07Z",
		"2026-07-28T09:08:07.Z",
		"2026-07-28T09:08:07,5Z",
		"2026-07-28T09:08:07Zx",
		"2026-07-28T09:08:07 Z",
		"2026-07-28T09:08:07+0200",
		"2026-07-28T09:08:07+24:00",
		"2026-07-28T09:08:07+02:60",
		"2026-07-28T09:08:07*02:00",
		"2026-07-28X09:08:07Z",
		" 2026-07-28T09:08:07Z",
		"2026-07-28T +:08:07Z",
		"-026-07-28T09:08:07Z",
	};
	static const char *const impossible[] = {
		"2026-02-29T09:08:07Z", "2026-13-01T09:08:07Z", "2026-07-28T24:00:00Z",
		"2026-07-28T23:60:00Z", "1969-12-31T23:59:59Z", "1970-01-01T01:00:00+01:01",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(malformed); i++)
		expect_no_rfc3339(malformed[i], " is no time; write one such as 2026-07-28T09:08:07Z");
	for (size_t i = 0; i < ARRAY_LEN(impossible); i++)
		expect_no_rfc3339(impossible[i], " does not exist or lies before 1970");
}

enum { SECONDS_1994 = 784111777 };
#define NOW_2026 UINT64_C(1785229687123)

static void expect_http(const char *text, uint64_t now_ms, uint64_t expected)
{
	struct err err = { 0 };
	uint64_t ms = 42;

	if (time_parse_http(str_of(text), now_ms, &ms, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	assert_int_equal(ms, expected);
}

static void test_http(void **state)
{
	(void)state;
	expect_http("Sun, 06 Nov 1994 08:49:37 GMT", 0, UINT64_C(1000) * SECONDS_1994);
	expect_http("Sunday, 06-Nov-94 08:49:37 GMT", NOW_2026, UINT64_C(1000) * SECONDS_1994);
	expect_http("Sun Nov  6 08:49:37 1994", 0, UINT64_C(1000) * SECONDS_1994);
	expect_http("Sun Nov 06 08:49:37 1994", 0, UINT64_C(1000) * SECONDS_1994);
	expect_http("Sat Nov 26 08:49:37 1994", 0, UINT64_C(1000) * (SECONDS_1994 + 20 * 86400));
	expect_http("Thu, 01 Jan 1970 00:00:00 GMT", 0, 0);
	expect_http("Sat, 31 Dec 2016 23:59:60 GMT", 0, UINT64_C(1483228800000));
}

static void test_http_two_digit_years(void **state)
{
	(void)state;
	/* Up to 50 years ahead is the future, beyond that the past. */
	expect_http("Tuesday, 28-Jul-76 09:08:07 GMT", NOW_2026, UINT64_C(3363152887000));
	expect_http("Thursday, 28-Jul-77 09:08:07 GMT", NOW_2026, UINT64_C(238928887000));
	/* Seen from 1999, 00 is next year. */
	expect_http("Saturday, 01-Jan-00 00:00:00 GMT", UINT64_C(946684799999), UINT64_C(946684800000));
	expect_http("Friday, 31-Dec-99 23:59:59 GMT", UINT64_C(946684799999), UINT64_C(946684799000));
	expect_http("Wednesday, 28-Jul-71 09:08:07 GMT", UINT64_C(49539687000), UINT64_C(49540087000));
}

static void test_http_day_names(void **state)
{
	static const char *const texts[] = {
		"Sunday, 06-Nov-94 08:49:37 GMT",   "Monday, 07-Nov-94 08:49:37 GMT",
		"Tuesday, 08-Nov-94 08:49:37 GMT",  "Wednesday, 09-Nov-94 08:49:37 GMT",
		"Thursday, 10-Nov-94 08:49:37 GMT", "Friday, 11-Nov-94 08:49:37 GMT",
		"Saturday, 12-Nov-94 08:49:37 GMT",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		expect_http(texts[i], NOW_2026, UINT64_C(1000) * (SECONDS_1994 + i * 86400));
}

static void expect_no_http(const char *text, const char *reason)
{
	char message[200];
	struct err err = { 0 };
	uint64_t ms = 42;

	assert_int_equal(time_parse_http(str_of(text), NOW_2026, &ms, &err), ERR_INVALID);
	snprintf(message, sizeof(message), "\"%s\"%s", text, reason);
	assert_string_equal(err.message, message);
	assert_int_equal(ms, 42);
}

static void test_http_errors(void **state)
{
	static const char *const malformed[] = {
		"",
		"0",
		"Sun",
		"Sun, 6 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 94 08:49:37 GMT",
		"Sun, 06 nov 1994 08:49:37 GMT",
		"sun, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 06 Nov 1994 08:49:37",
		"Sun, 06 Nov 1994 08:49:37 GMT ",
		"Sun, 06 Nov 1994 8:49:37 GMT",
		"Sun,  6 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-1994 08:49:37 GMT",
		"Sundey, 06-Nov-94 08:49:37 GMT",
		"Sun Nov 6 08:49:37 1994",
		"Sun Nov  6 08:49:37 1994 GMT",
		"2026-07-28T09:08:07Z",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(malformed); i++)
		expect_no_http(malformed[i], " is no HTTP date; it looks like Tue, 28 Jul 2026 09:08:07 GMT");
	expect_no_http("Sun, 31 Nov 1994 08:49:37 GMT", " does not exist or lies before 1970");
	expect_no_http("Sun, 06 Nov 1994 24:00:00 GMT", " does not exist or lies before 1970");
	expect_no_http("Wed, 31 Dec 1969 23:59:59 GMT", " does not exist or lies before 1970");
	expect_no_http("Mon, 06 Nov 1994 08:49:37 GMT", " names the wrong day of the week");
}

static void test_http_newline(void **state)
{
	struct err err;
	uint64_t ms;

	(void)state;
	assert_int_equal(time_parse_http(STR("Sun, 06 Nov 1994 08:49:37 GMT\n"), 0, &ms, &err), ERR_INVALID);
	assert_string_equal(err.message,
			    "\"Sun, 06 Nov 1994 08:49:37 GMT\\n\" is no HTTP date; it looks like "
			    "Tue, 28 Jul 2026 09:08:07 GMT");
}

/* No prefix of a good text is good, and reading one never looks past its end. */
static void test_prefixes(void **state)
{
	static const char *const texts[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
					     "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
					     "2026-07-28T11:08:07.123+02:00" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		for (size_t n = 0; n < strlen(texts[i]); n++) {
			char *exact = xmalloc(n);
			uint64_t ms;

			memcpy(exact, texts[i], n);
			assert_int_equal(time_parse_http(str_make(exact, n), NOW_2026, &ms, NULL),
					 ERR_INVALID);
			assert_int_equal(time_parse_rfc3339(str_make(exact, n), &ms, NULL), ERR_INVALID);
			free(exact);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_calendar),
		cmocka_unit_test(test_no_such_civil),
		cmocka_unit_test(test_rfc3339),
		cmocka_unit_test(test_rfc3339_errors),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_http_two_digit_years),
		cmocka_unit_test(test_http_day_names),
		cmocka_unit_test(test_http_errors),
		cmocka_unit_test(test_http_newline),
		cmocka_unit_test(test_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

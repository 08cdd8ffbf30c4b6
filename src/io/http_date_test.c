#include "base/base.h"
#include "io/http_date.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_reads(const char *text, uint64_t expected)
{
	uint64_t seconds;

	if (http_date_read(str_of(text), &seconds) < 0)
		fail_msg("%s was refused", text);
	assert_int_equal(seconds, expected);
}

static void assert_refused(const char *text)
{
	uint64_t seconds = 42;

	if (http_date_read(str_of(text), &seconds) != ERR_INVALID)
		fail_msg("%s was read", text);
	assert_int_equal(seconds, 42);
}

static void assert_writes(uint64_t seconds, const char *expected)
{
	char room[HTTP_DATE_LENGTH];

	http_date_write(room, seconds);
	assert_memory_equal(room, expected, HTTP_DATE_LENGTH);
	assert_reads(expected, seconds);
}

static void test_write(void **state)
{
	(void)state;
	assert_writes(0, "Thu, 01 Jan 1970 00:00:00 GMT");
	assert_writes(784111777, "Sun, 06 Nov 1994 08:49:37 GMT");
	assert_writes(1709164799, "Wed, 28 Feb 2024 23:59:59 GMT");
	assert_writes(1709164800, "Thu, 29 Feb 2024 00:00:00 GMT");
	assert_writes(253402300799, "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void test_read(void **state)
{
	(void)state;
	/* The three forms of RFC 9110 section 5.6.7. */
	assert_reads("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
	assert_reads("Sunday, 06-Nov-94 08:49:37 GMT", 784111777);
	assert_reads("Sun Nov  6 08:49:37 1994", 784111777);
	assert_reads("Wed Nov 16 08:49:37 1994", 784975777);
	assert_reads("Saturday, 01-Jan-00 00:00:00 GMT", 946684800);
	assert_reads("Fri, 30 Jun 2015 23:59:60 GMT", 1435708799);
}

static void test_refuse(void **state)
{
	(void)state;
	assert_refused("");
	assert_refused("yesterday");
	assert_refused("Sun, 06 Nov 1994 08:49:37");
	assert_refused("Sun, 06 Nov 1994 08:49:37 GMT ");
	assert_refused("Sun, 06 Nov 1994 08:49:37 CET");
	assert_refused("Sun, 6 Nov 1994 08:49:37 GMT");
	assert_refused("Sun, 06 nov 1994 08:49:37 GMT");
	assert_refused("Sun, 30 Feb 1994 08:49:37 GMT");
	assert_refused("Sun, 00 Jan 1994 08:49:37 GMT");
	assert_refused("Sun, 06 Nov 1994 24:00:00 GMT");
	assert_refused("Sun, 06 Nov 1994 08:60:00 GMT");
	assert_refused("Sun, 06 Nov 1994 08:49:61 GMT");
	assert_refused("Wed, 31 Dec 1969 23:59:59 GMT");
	assert_refused("Sunday, 06-Nov-1994 08:49:37 GMT");
	assert_refused("Sun Nov 6 08:49:37 1994");
	assert_refused("Sun, +6 Nov 1994 08:49:37 GMT");
	assert_refused("Sun, 06 Nov 1994 08:49");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

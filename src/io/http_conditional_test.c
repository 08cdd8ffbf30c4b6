#include "base/base.h"
#include "io/http_conditional.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* A file of 1000 bytes, changed on Sun, 06 Nov 1994 08:49:37 GMT and 500 ms; it is 2026. */
static const struct http_validators file = {
	.size = 1000, .modified_ms = 784111777500, .now_ms = 1785229687000, .etag = STR_INIT("\"abc\"")
};

#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define SAME "Sun, 06 Nov 1994 08:49:37 GMT"
#define AFTER "Sun, 06 Nov 1994 08:49:38 GMT"

static const struct row {
	const char *method, *name, *value;
	const char *other_name, *other_value; /* a second field, or NULL */
	unsigned status;
	uint64_t from, count;
} rows[] = {
	{ "GET", "x", "y", NULL, NULL, 200, 0, 1000 },

	/* Ranges: of 1000 bytes. */
	{ "GET", "Range", "bytes=0-0", NULL, NULL, 206, 0, 1 },
	{ "GET", "Range", "bytes=0-999", NULL, NULL, 206, 0, 1000 },
	{ "GET", "range", "BYTES=10-19", NULL, NULL, 206, 10, 10 },
	{ "GET", "Range", "bytes=990-5000", NULL, NULL, 206, 990, 10 },
	{ "GET", "Range", "bytes=999-", NULL, NULL, 206, 999, 1 },
	{ "GET", "Range", "bytes=-1", NULL, NULL, 206, 999, 1 },
	{ "GET", "Range", "bytes=-5000", NULL, NULL, 206, 0, 1000 },
	{ "GET", "Range", "bytes=-0", NULL, NULL, 416, 0, 0 },
	{ "GET", "Range", "bytes=1000-", NULL, NULL, 416, 0, 0 },
	{ "GET", "Range", "bytes=5000-6000", NULL, NULL, 416, 0, 0 },
	{ "GET", "Range", "bytes=18446744073709551615-", NULL, NULL, 416, 0, 0 },
	{ "GET", "Range", "bytes=0-18446744073709551615", NULL, NULL, 206, 0, 1000 },
	/* Numbers that cannot be counted are beyond the end. */
	{ "GET", "Range", "bytes=5-99999999999999999999999", NULL, NULL, 206, 5, 995 },
	{ "GET", "Range", "bytes=-99999999999999999999999", NULL, NULL, 206, 0, 1000 },
	{ "GET", "Range", "bytes=99999999999999999999999-", NULL, NULL, 416, 0, 0 },
	{ "GET", "Range", "bytes=0-9999999999999999999999x", NULL, NULL, 200, 0, 1000 },
	/* Several ranges, other units and nonsense: the whole file. */
	{ "GET", "Range", "bytes=0-1,5-6", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "lines=0-1", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "bytes=", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "bytes=-", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "bytes=5", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "bytes=9-1", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "bytes=a-b", NULL, NULL, 200, 0, 1000 },
	{ "GET", "Range", "bytes= 0-1", NULL, NULL, 200, 0, 1000 },
	{ "HEAD", "Range", "bytes=0-0", NULL, NULL, 200, 0, 1000 },

	/* If-Range: the range holds for the same file only. */
	{ "GET", "Range", "bytes=0-0", "If-Range", "\"abc\"", 206, 0, 1 },
	{ "GET", "Range", "bytes=0-0", "If-Range", "\"xyz\"", 200, 0, 1000 },
	{ "GET", "Range", "bytes=0-0", "If-Range", "W/\"abc\"", 200, 0, 1000 },
	{ "GET", "Range", "bytes=0-0", "If-Range", SAME, 206, 0, 1 },
	{ "GET", "Range", "bytes=0-0", "If-Range", BEFORE, 200, 0, 1000 },
	{ "GET", "Range", "bytes=0-0", "If-Range", AFTER, 200, 0, 1000 },
	{ "GET", "Range", "bytes=0-0", "If-Range", "nonsense", 200, 0, 1000 },

	/* If-None-Match compares weakly. */
	{ "GET", "If-None-Match", "\"abc\"", NULL, NULL, 304, 0, 0 },
	{ "HEAD", "If-None-Match", "\"abc\"", NULL, NULL, 304, 0, 0 },
	{ "GET", "If-None-Match", "W/\"abc\"", NULL, NULL, 304, 0, 0 },
	{ "GET", "If-None-Match", "\"x\", \"a,b\" ,\"abc\"", NULL, NULL, 304, 0, 0 },
	{ "GET", "If-None-Match", "*", NULL, NULL, 304, 0, 0 },
	{ "GET", "If-None-Match", "\"x\"", NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-None-Match", "abc", NULL, NULL, 200, 0, 1000 },
	{ "DELETE", "If-None-Match", "*", NULL, NULL, 412, 0, 0 },

	/* If-Modified-Since, which If-None-Match overrides. */
	{ "GET", "If-Modified-Since", SAME, NULL, NULL, 304, 0, 0 },
	{ "GET", "If-Modified-Since", AFTER, NULL, NULL, 304, 0, 0 },
	{ "GET", "If-Modified-Since", BEFORE, NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Modified-Since", "nonsense", NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT", NULL, NULL, 304, 0, 0 },
	{ "GET", "If-Modified-Since", "Sun Nov  6 08:49:36 1994", NULL, NULL, 200, 0, 1000 },
	{ "POST", "If-Modified-Since", SAME, NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Modified-Since", SAME, "If-None-Match", "\"x\"", 200, 0, 1000 },
	{ "GET", "If-Modified-Since", BEFORE, "If-None-Match", "\"abc\"", 304, 0, 0 },

	/* If-Match compares strongly; If-Unmodified-Since, which it overrides. */
	{ "GET", "If-Match", "\"abc\"", NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Match", "*", NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Match", "W/\"abc\"", NULL, NULL, 412, 0, 0 },
	{ "GET", "If-Match", "\"x\"", NULL, NULL, 412, 0, 0 },
	{ "GET", "If-Unmodified-Since", SAME, NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Unmodified-Since", BEFORE, NULL, NULL, 412, 0, 0 },
	{ "GET", "If-Unmodified-Since", "nonsense", NULL, NULL, 200, 0, 1000 },
	{ "GET", "If-Unmodified-Since", BEFORE, "If-Match", "\"abc\"", 200, 0, 1000 },

	/* A condition that fails comes before the range. */
	{ "GET", "Range", "bytes=0-0", "If-None-Match", "\"abc\"", 304, 0, 0 },
	{ "GET", "Range", "bytes=5000-", "If-Match", "\"x\"", 412, 0, 0 },

	/* Two fields of one name are one list. */
	{ "GET", "If-Match", "\"x\"", "If-Match", "\"abc\"", 200, 0, 1000 },
	{ "GET", "If-Match", "\"x\"", "if-match", "\"y\"", 412, 0, 0 },
	{ "GET", "If-None-Match", "\"x\"", "If-None-Match", "\"abc\"", 304, 0, 0 },
	{ "GET", "If-None-Match", "\"x\"", "If-None-Match", "\"y\"", 200, 0, 1000 },
};

static struct http_selected apply(const struct row *row, const struct http_validators *validators)
{
	struct http_field fields[] = { { str_of(row->name), str_of(row->value) },
				       { str_of(row->other_name), str_of(row->other_value) } };

	return http_select(str_of(row->method), fields, row->other_name ? 2 : 1, validators);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_selected selected = apply(&rows[i], &file);

		if (selected.status != rows[i].status || selected.from != rows[i].from ||
		    selected.count != rows[i].count)
			fail_msg("%s %s: %s gave %u, %llu from %llu", rows[i].method, rows[i].name,
				 rows[i].value, selected.status, (unsigned long long)selected.count,
				 (unsigned long long)selected.from);
	}
}

/* Without validators no condition on them holds, and a file may be empty. */
static void test_bare_file(void **state)
{
	static const struct http_validators bare = { .size = 0 };
	static const struct row none[] = {
		{ "GET", "If-None-Match", "\"abc\"", NULL, NULL, 200, 0, 0 },
		{ "GET", "If-None-Match", "\"\"", NULL, NULL, 200, 0, 0 },
		{ "GET", "If-Modified-Since", AFTER, NULL, NULL, 200, 0, 0 },
		{ "GET", "If-Match", "\"abc\"", NULL, NULL, 412, 0, 0 },
		{ "GET", "Range", "bytes=0-0", NULL, NULL, 416, 0, 0 },
		{ "GET", "Range", "bytes=-0", NULL, NULL, 416, 0, 0 },
		/* The last byte of none is all there is: satisfied, but nothing that a 206 could name. */
		{ "GET", "Range", "bytes=-1", NULL, NULL, 200, 0, 0 },
		{ "GET", "Range", "bytes=0-0", "If-Range", "\"\"", 200, 0, 0 },
		{ "GET", "Range", "bytes=0-0", "If-Range", SAME, 200, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_int_equal(apply(&none[i], &bare).status, none[i].status);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_bare_file) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

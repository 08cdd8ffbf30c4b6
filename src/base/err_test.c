#include "base/base.h"
#include "base/err.h"

#include "base/bug_fixture.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static void test_set(void **state)
{
	struct err err = { .line = 3, .column = 4, .offset = 5 };

	(void)state;
	assert_int_equal(err_set(&err, ERR_NOT_FOUND, "no %s with id %d", "artifact", 7), ERR_NOT_FOUND);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(err.message, "no artifact with id 7");
	assert_int_equal(err.line, 0);
	assert_int_equal(err.column, 0);
	assert_int_equal(err.offset, 0);
	assert_int_equal(err_set(NULL, ERR_BUSY, "nobody reads this"), ERR_BUSY);
}

static void test_errno(void **state)
{
	static const struct {
		int error, code;
		const char *message;
	} rows[] = {
		{ ENOENT, ERR_NOT_FOUND, "cannot open x: No such file or directory" },
		{ EEXIST, ERR_EXISTS, "cannot open x: File exists" },
		{ EACCES, ERR_DENIED, "cannot open x: Permission denied" },
		{ EPERM, ERR_DENIED, "cannot open x: Operation not permitted" },
		{ ENOSPC, ERR_FULL, "cannot open x: No space left on device" },
		{ EDQUOT, ERR_FULL, "cannot open x: Disk quota exceeded" },
		{ EIO, ERR_IO, "cannot open x: Input/output error" },
		{ 99999, ERR_IO, "cannot open x: error 99999" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { .line = 1 };

		errno = rows[i].error;
		assert_int_equal(err_errno(&err, "cannot open %s", "x"), rows[i].code);
		assert_int_equal(err.code, rows[i].code);
		assert_string_equal(err.message, rows[i].message);
		assert_int_equal(err.line, 0);
		errno = rows[i].error;
		assert_int_equal(err_errno(NULL, "cannot open %s", "x"), rows[i].code);
	}
}

static void test_prefix(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_set(&err, ERR_INVALID, "expected %s", "a value");
	err.line = 3;
	err.column = 14;
	err.offset = 60;
	assert_int_equal(err_prefix(&err, ERR_IO, "%s.json", "servers"), ERR_INVALID);
	assert_string_equal(err.message, "servers.json: expected a value");
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(err.line, 3);
	assert_int_equal(err.column, 14);
	assert_int_equal(err.offset, 60);
	assert_int_equal(err_prefix(NULL, ERR_IO, "x"), ERR_IO);
}

static void test_append(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_TIMEOUT, "no answer");
	err_append(&err, "; %u lines", 2U);
	assert_string_equal(err.message, "no answer; 2 lines");
	assert_int_equal(err.code, ERR_TIMEOUT);
	err_append(NULL, "nobody reads this");
}

static bool is_whole_utf8(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		unsigned tails = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;

		if ((*p & 0xc0) == 0x80)
			return false;
		while (tails-- > 0)
			if ((*++p & 0xc0) != 0x80)
				return false;
	}
	return true;
}

/* Characters of every length, so that each byte of them falls on the edge: whole ones stay, cut ones go. */
static void test_cut_at_characters(void **state)
{
	static const struct str characters[] = {
		STR_INIT("x"),
		STR_INIT("\xc3\xa9"),
		STR_INIT("\xe2\x82\xac"),
		STR_INIT("\xf0\x9f\x98\x80"),
	};
	static const int text_max = ERR_MESSAGE_MAX - 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
		for (int before = text_max - 6; before <= text_max + 1; before++) {
			char text[ERR_MESSAGE_MAX + 64];
			struct err err = { 0 };
			int whole = (text_max - before) / (int)characters[i].n;
			size_t n = (size_t)snprintf(text, sizeof(text), "%0*d", before, 0);

			while (n + characters[i].n < sizeof(text)) {
				memcpy(text + n, characters[i].p, characters[i].n);
				n += characters[i].n;
			}
			text[n] = '\0';
			err_set(&err, ERR_INVALID, "%s", text);
			assert_true(is_whole_utf8(err.message));
			assert_int_equal(strlen(err.message),
					 before > text_max ? text_max
							   : before + whole * (int)characters[i].n);
			assert_memory_equal(err.message, text, strlen(err.message));
		}
	}
}

/* A message that just fits loses nothing. */
static void test_exact_fit(void **state)
{
	char text[ERR_MESSAGE_MAX];
	struct err err = { 0 };

	(void)state;
	snprintf(text, sizeof(text), "%0*d\xe2\x82\xac", ERR_MESSAGE_MAX - 1 - 3, 0);
	err_set(&err, ERR_INVALID, "%s", text);
	assert_string_equal(err.message, text);
}

static void test_long_prefixes(void **state)
{
	char prefix[2 * ERR_MESSAGE_MAX];
	struct err err = { 0 };

	(void)state;
	for (size_t n = 0; n + 2 < sizeof(prefix); n += 2)
		memcpy(prefix + n, "\xc3\xa9", 3);
	err_set(&err, ERR_INVALID, "end");
	assert_int_equal(err_prefix(&err, ERR_INVALID, "%s", prefix), ERR_INVALID);
	assert_int_equal(strlen(err.message), ERR_MESSAGE_MAX - 2);
	assert_true(is_whole_utf8(err.message));
	errno = EIO;
	assert_int_equal(err_errno(&err, "%s", prefix), ERR_IO);
	assert_true(is_whole_utf8(err.message));
	err_set(&err, ERR_INVALID, "%s", prefix);
	err_prefix(&err, ERR_INVALID, "1");
	assert_true(str_starts_with(str_of(err.message), STR("1: \xc3\xa9")));
	assert_true(is_whole_utf8(err.message));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(err_code_name(0), "ok");
	assert_string_equal(err_code_name(ERR_INVALID), "invalid");
	assert_string_equal(err_code_name(ERR_NOT_FOUND), "not found");
	assert_string_equal(err_code_name(ERR_EXISTS), "exists");
	assert_string_equal(err_code_name(ERR_TOO_LARGE), "too large");
	assert_string_equal(err_code_name(ERR_TIMEOUT), "timed out");
	assert_string_equal(err_code_name(ERR_CANCELLED), "cancelled");
	assert_string_equal(err_code_name(ERR_CLOSED), "closed");
	assert_string_equal(err_code_name(ERR_IO), "i/o");
	assert_string_equal(err_code_name(ERR_BUSY), "busy");
	assert_string_equal(err_code_name(ERR_DENIED), "denied");
	assert_string_equal(err_code_name(ERR_PROTOCOL), "protocol");
	assert_string_equal(err_code_name(ERR_UPSTREAM), "upstream");
	assert_string_equal(err_code_name(ERR_UNSUPPORTED), "unsupported");
	assert_string_equal(err_code_name(ERR_UNAVAILABLE), "unavailable");
	assert_string_equal(err_code_name(ERR_FULL), "full");
	assert_string_equal(err_code_name(ERR_FULL - 1), "unknown");
	assert_string_equal(err_code_name(1), "unknown");
	assert_string_equal(err_code_name(INT32_MIN), "unknown");
	assert_string_equal(err_code_name(INT32_MAX), "unknown");
}

static void set_success(void *argument)
{
	(void)argument;
	err_set(NULL, 0, "no failure");
}

static void test_success_is_no_error(void **state)
{
	(void)state;
	assert_true(is_bug(set_success, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_cut_at_characters),
		cmocka_unit_test(test_exact_fit),
		cmocka_unit_test(test_long_prefixes),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_success_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "base/buf.h"

#include "base/bug_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { MAX = 1000 };

static void test_appends(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };

	(void)state;
	buf_init(&buf, MAX);
	assert_string_equal(buf_cstr(&buf), "");
	assert_int_equal(buf_str(&buf).n, 0);
	assert_int_equal(buf_append(&buf, STR("ab")), 0);
	assert_int_equal(buf_append(&buf, str_make(NULL, 0)), 0);
	assert_int_equal(buf_append_char(&buf, 'c'), 0);
	assert_int_equal(buf_printf(&buf, "-%d-%s", 17, "x"), 0);
	assert_string_equal(buf_cstr(&buf), "abc-17-x");
	assert_int_equal(buf_append(&buf, STR("\0y")), 0);
	assert_int_equal(buf_str(&buf).n, 10);
	assert_memory_equal(buf_str(&buf).p, "abc-17-x\0y", 10);
}

/* Whatever the size of the pieces, exactly the maximum fits. */
static void test_the_maximum_is_exact(void **state)
{
	static const size_t maxima[] = { 0, 1, 2, 255, 256, 257, 511, 512, 513, MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(maxima); i++) {
		for (size_t piece = 1; piece < 40; piece += 6) {
			_cleanup_buf_ struct buf buf = { 0 };
			char text[40];
			size_t n = 0;

			memset(text, 'x', sizeof(text));
			buf_init(&buf, maxima[i]);
			while (n + piece <= maxima[i]) {
				assert_int_equal(buf_append(&buf, str_make(text, piece)), 0);
				n += piece;
			}
			assert_int_equal(buf_append(&buf, str_make(text, maxima[i] - n)), 0);
			assert_int_equal(buf.n, maxima[i]);
			assert_false(buf_failed(&buf));
			assert_int_equal(strlen(buf_cstr(&buf)), maxima[i]);
			assert_int_equal(buf_append_char(&buf, 'y'), ERR_TOO_LARGE);
			assert_int_equal(buf.n, maxima[i]);
			assert_in_range(buf.capacity, 0, maxima[i] + 1);
		}
	}
}

static void test_failure_sticks(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };

	(void)state;
	buf_init(&buf, 4);
	assert_int_equal(buf_append(&buf, STR("abc")), 0);
	assert_int_equal(buf_append(&buf, STR("de")), ERR_TOO_LARGE);
	assert_true(buf_failed(&buf));
	/* What would fit is refused as well, in every way. */
	assert_int_equal(buf_append(&buf, STR("d")), ERR_TOO_LARGE);
	assert_int_equal(buf_append(&buf, STR("")), ERR_TOO_LARGE);
	assert_int_equal(buf_append_char(&buf, 'd'), ERR_TOO_LARGE);
	assert_int_equal(buf_printf(&buf, "%c", 'd'), ERR_TOO_LARGE);
	assert_null(buf_reserve(&buf, 1));
	assert_null(buf_reserve(&buf, 0));
	assert_int_equal(buf.n, 3);
	buf_clear(&buf, MAX);
	assert_false(buf_failed(&buf));
	assert_int_equal(buf_append(&buf, STR("abcd")), 0);
	assert_string_equal(buf_cstr(&buf), "abcd");
}

static void test_failure_of_each_way(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 2);
	assert_int_equal(buf_printf(&buf, "%s", "abc"), ERR_TOO_LARGE);
	assert_true(buf_failed(&buf));
	buf_release(&buf);
	assert_false(buf_failed(&buf));
	assert_int_equal(buf.max, 2);
	assert_null(buf_reserve(&buf, 3));
	assert_true(buf_failed(&buf));
	buf_release(&buf);
	assert_null(buf_reserve(&buf, SIZE_MAX));
	buf_release(&buf);
	buf_init(&buf, SIZE_MAX);
	assert_null(buf_reserve(&buf, SIZE_MAX));
	buf_release(&buf);
}

static void test_without_a_real_maximum(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };

	(void)state;
	buf_init(&buf, SIZE_MAX);
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(buf_append_char(&buf, (char)('a' + i % 26)), 0);
	/* It doubles; it does not grow byte by byte. */
	assert_in_range(buf.capacity, 10001, 20002);
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(buf.p[i], 'a' + i % 26);
}

static void test_reserve_and_claim(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };
	char *room;

	(void)state;
	buf_init(&buf, MAX);
	room = buf_reserve(&buf, MAX);
	assert_non_null(room);
	memcpy(room, "abcdef", 6);
	buf_claim(&buf, 0);
	assert_int_equal(buf.n, 0);
	buf_claim(&buf, 6);
	assert_ptr_equal(buf_reserve(&buf, 1), buf.p + 6);
	assert_string_equal(buf_cstr(&buf), "abcdef");
}

static void test_drop(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };

	(void)state;
	buf_init(&buf, MAX);
	buf_drop(&buf, 0);
	buf_append(&buf, STR("abcdef"));
	buf_drop(&buf, 0);
	buf_drop(&buf, 2);
	assert_string_equal(buf_cstr(&buf), "cdef");
	buf_append(&buf, STR("gh"));
	buf_drop(&buf, 1);
	assert_string_equal(buf_cstr(&buf), "defgh");
	buf_drop(&buf, 5);
	assert_string_equal(buf_cstr(&buf), "");
}

static void test_clear_keeps_what_is_small(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };
	char *before;

	(void)state;
	buf_init(&buf, MAX);
	buf_append(&buf, STR("abc"));
	before = buf.p;
	buf_clear(&buf, MAX);
	assert_ptr_equal(buf.p, before);
	assert_int_equal(buf.n, 0);
	buf_append(&buf, STR("def"));
	buf_clear(&buf, 1);
	assert_null(buf.p);
	assert_int_equal(buf.capacity, 0);
	assert_int_equal(buf.max, MAX);
}

static void test_take(void **state)
{
	struct buf buf;
	struct str taken;

	(void)state;
	buf_init(&buf, MAX);
	taken = buf_take(&buf);
	assert_null(taken.p);
	assert_int_equal(taken.n, 0);
	buf_append(&buf, STR("abc"));
	taken = buf_take(&buf);
	assert_int_equal(taken.n, 3);
	assert_memory_equal(taken.p, "abc", 3);
	assert_null(buf.p);
	assert_int_equal(buf.n, 0);
	assert_int_equal(buf_append(&buf, STR("d")), 0);
	assert_memory_equal(taken.p, "abc", 3);
	free((char *)taken.p);
	buf_release(&buf);
}

static void look_at_failed(void *buf)
{
	buf_str(buf);
}

static void terminate_failed(void *buf)
{
	buf_cstr(buf);
}

static void take_failed(void *buf)
{
	buf_take(buf);
}

static void claim_too_much(void *buf)
{
	buf_clear(buf, MAX);
	buf_reserve(buf, 1);
	buf_claim(buf, ((struct buf *)buf)->capacity);
}

static void drop_too_much(void *buf)
{
	buf_clear(buf, MAX);
	buf_append(buf, STR("a"));
	buf_drop(buf, 2);
}

static void test_misuse_is_a_bug(void **state)
{
	_cleanup_buf_ struct buf buf = { 0 };

	(void)state;
	buf_init(&buf, 1);
	buf_append(&buf, STR("ab"));
	assert_true(is_bug(look_at_failed, &buf));
	assert_true(is_bug(terminate_failed, &buf));
	assert_true(is_bug(take_failed, &buf));
	assert_true(is_bug(claim_too_much, &buf));
	assert_true(is_bug(drop_too_much, &buf));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_the_maximum_is_exact),
		cmocka_unit_test(test_failure_sticks),
		cmocka_unit_test(test_failure_of_each_way),
		cmocka_unit_test(test_without_a_real_maximum),
		cmocka_unit_test(test_reserve_and_claim),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_clear_keeps_what_is_small),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_misuse_is_a_bug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

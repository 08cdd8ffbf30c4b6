#include "base/base.h"
#include "artifacts/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { YEAR_DAYS = 365 };
static const int64_t DAY = 24 * 60 * 60 * 1000;

static int64_t step(uint64_t wall_before, uint64_t boot_before, uint64_t wall_now, uint64_t boot_now)
{
	const struct clock_reading before = { wall_before, boot_before }, now = { wall_now, boot_now };

	return clock_step(&before, &now);
}

static void test_time_that_passes_is_no_step(void **state)
{
	const uint64_t sleep = (uint64_t)(30 * DAY);

	(void)state;
	assert_int_equal(step(1000, 5, 1000, 5), 0);
	assert_int_equal(step(1000, 5, 1000 + sleep, 5 + sleep), 0);
}

static void test_small_corrections_are_no_step(void **state)
{
	(void)state;
	assert_int_equal(step(1000000, 0, 1059999, 0), 0);
	assert_int_equal(step(1000000, 0, 940001, 0), 0);
	assert_int_equal(step(1000000, 0, 1060000, 0), 60000);
	assert_int_equal(step(1000000, 0, 940000, 0), -60000);
}

static void test_steps_of_a_year(void **state)
{
	const int64_t year = YEAR_DAYS * DAY;
	const uint64_t now = 1800000000000;

	(void)state;
	assert_int_equal(step(now, 700, now + (uint64_t)year + 300, 1000), year);
	assert_int_equal(step(now, 700, now - (uint64_t)year + 300, 1000), -year);
	assert_int_equal(step(now, 700, 300, 1000), -(int64_t)now);
}

static void test_bounds_of_a_clock_that_was_set(void **state)
{
	const struct clock_reading start = { 1000000, 0 }, ahead = { 9000000, 500 }, behind = { 100, 500 },
				   passed = { 1000500, 500 };
	struct clock_bounds bounds = clock_bounds_since(&start, &ahead);

	(void)state;
	assert_int_equal(bounds.earliest_ms, 1000500);
	assert_int_equal(bounds.latest_ms, 9000000);
	bounds = clock_bounds_since(&start, &behind);
	assert_int_equal(bounds.earliest_ms, 100);
	assert_int_equal(bounds.latest_ms, 1000500);
	bounds = clock_bounds_since(&start, &passed);
	assert_int_equal(bounds.earliest_ms, 1000500);
	assert_int_equal(bounds.latest_ms, 1000500);
}

static void test_clocks_go_on(void **state)
{
	struct clock_reading a = clock_read(), b = clock_read();

	(void)state;
	assert_true(a.wall_ms > 1600000000000);
	assert_true(b.boot_ms >= a.boot_ms);
	assert_int_equal(clock_step(&a, &b), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_that_passes_is_no_step),
		cmocka_unit_test(test_small_corrections_are_no_step),
		cmocka_unit_test(test_steps_of_a_year),
		cmocka_unit_test(test_bounds_of_a_clock_that_was_set),
		cmocka_unit_test(test_clocks_go_on),
	};

	return cmocka_run_group_tests_name("artifact_clock", tests, NULL, NULL);
}

#include "base/base.h"
#include "artifacts/crash_fixture.h"
#include "artifacts/store_fixture.h"

/* A few dozen kills; bench/artifact_crash_bench.c goes on until 1,000 uploads were acknowledged. */

static void test_kills_at_random_moments(void **state)
{
	struct crash_trial trial = { .seed = 20260728, .kills_least = 30 };
	struct test_directory directory;

	(void)state;
	test_directory_make(&directory);
	trial.directory = test_directory_path(&directory, "artifacts");
	if (!crash_trial_run(&trial))
		fail_msg("after %u kills: %s", trial.kills, trial.problem);
	assert_true(trial.acknowledged > 0);
	test_directory_remove(&directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kills_at_random_moments) };

	return cmocka_run_group_tests_name("artifact_crash", tests, NULL, NULL);
}

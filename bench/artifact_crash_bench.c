#include "base/base.h"
#include "artifacts/crash_fixture.h"
#include "db/directory_fixture.h"

#include <time.h>

/* kill -9 at random moments during 1,000 artifact uploads. Prints what happened; exits with 1 when a
 * promise was broken. */

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct crash_trial trial = { .uploads_least = 1000, .seed = (uint64_t)time(NULL) };
	struct test_directory directory;
	double started = seconds_now();
	bool fine;

	if (argc > 1)
		trial.seed = strtoull(argv[1], NULL, 10);
	test_directory_make(&directory);
	trial.directory = test_directory_path(&directory, "artifacts");
	fine = crash_trial_run(&trial);
	printf("seed %llu: %u kills, %llu uploads acknowledged, %llu refused by the quota, %llu deleted, "
	       "in %.1f s\n",
	       (unsigned long long)trial.seed, trial.kills, (unsigned long long)trial.acknowledged,
	       (unsigned long long)trial.refused, (unsigned long long)trial.deleted, seconds_now() - started);
	printf("left by the kills and removed: %llu temporary files, %llu bodies without a row; "
	       "whole but unacknowledged: %llu\n",
	       (unsigned long long)trial.temporaries, (unsigned long long)trial.orphans,
	       (unsigned long long)trial.unacknowledged_survived);
	printf("%s\n", fine ? "every acknowledged artifact intact, no partial one visible, quota exact"
			    : trial.problem);
	test_directory_remove(&directory);
	return fine ? 0 : 1;
}

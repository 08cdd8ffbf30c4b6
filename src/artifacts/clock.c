#include "base/base.h"
#include "artifacts/clock.h"
#include "base/units.h"
#include "io/loop.h"

#include <time.h>

struct clock_reading clock_read(void)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (struct clock_reading){
		.wall_ms = loop_wall_ms(),
		.boot_ms = (uint64_t)boot.tv_sec * MS_PER_SECOND + (uint64_t)boot.tv_nsec / 1000000,
	};
}

int64_t clock_step(const struct clock_reading *before, const struct clock_reading *now)
{
	int64_t passed = (int64_t)(now->boot_ms - before->boot_ms);
	int64_t step = (int64_t)(now->wall_ms - before->wall_ms) - passed;

	return step >= CLOCK_STEP_LEAST_MS || step <= -CLOCK_STEP_LEAST_MS ? step : 0;
}

struct clock_bounds clock_bounds_since(const struct clock_reading *start, const struct clock_reading *now)
{
	uint64_t unset = now->wall_ms - (uint64_t)clock_step(start, now);

	return (struct clock_bounds){
		.earliest_ms = unset < now->wall_ms ? unset : now->wall_ms,
		.latest_ms = unset > now->wall_ms ? unset : now->wall_ms,
	};
}

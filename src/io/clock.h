/*
 * clock.h - the time by which programs without a loop wait; on the loop it is loop_now().
 *
 * Whatever waits, or measures how long something took, asks this clock: nobody sets it, and it goes on
 * evenly. The wall clock (loop_wall_ms()) may jump either way at any moment, so it is for dates that people
 * read and for ages that outlive the process. Any thread. Inline, because the supervisor is linked with
 * little else.
 */
#ifndef IO_CLOCK_H
#define IO_CLOCK_H

#include "base/base.h"

#include <poll.h>
#include <time.h>

/* Milliseconds since some moment in the past (CLOCK_MONOTONIC). */
static inline uint64_t clock_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Between two looks at what tells nobody that it has changed. Ends early when a signal comes. */
static inline void clock_pause_ms(uint64_t ms)
{
	(void)poll(NULL, 0, ms > INT32_MAX ? INT32_MAX : (int)ms);
}

#endif

/*
 * clock.h - how the store notices that the wall clock was set. Private to this room. Pure, except for the
 * one function that asks the system.
 *
 * The times of an artifact are the wall clock's, but its age is time that has passed. When somebody sets the
 * wall clock while a store is open (a machine that learns the date from the network after its start, an
 * administrator who mistypes it), the clock that counts from the boot tells by how much, and the store moves
 * the times of its artifacts along: nothing expires early, and nothing is kept longer.
 */
#ifndef ARTIFACTS_CLOCK_H
#define ARTIFACTS_CLOCK_H

#include "base/base.h"

/* What two clocks said at one moment, in milliseconds. */
struct clock_reading {
	uint64_t wall_ms; /* since 1970; anyone may set it */
	uint64_t boot_ms; /* since the boot, time asleep included; nobody can set it */
};

/* Slow corrections of a clock are no steps; neither is what passes between reading the two. */
enum { CLOCK_STEP_LEAST_MS = 60 * 1000 };

struct clock_reading clock_read(void);

/* By how many milliseconds the wall clock was set between two readings; 0 for less than
 * CLOCK_STEP_LEAST_MS either way. */
int64_t clock_step(const struct clock_reading *before, const struct clock_reading *now);

/* The wall clock now, and what it would say if nobody had set it since `start`: the earlier of the two, and
 * the later. For a store whose times nobody moved along meanwhile: what has expired, or comes from the
 * future, by both is that for sure. */
struct clock_bounds {
	uint64_t earliest_ms, latest_ms;
};
struct clock_bounds clock_bounds_since(const struct clock_reading *start, const struct clock_reading *now);

#endif

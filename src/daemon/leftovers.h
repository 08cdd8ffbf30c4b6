/*
 * leftovers.h - what daemons left behind that do not run: artifacts that have expired since, and old logs.
 *
 * Each set of configuration files has its own store and log in the state directory, and when a project is
 * gone its daemon never runs again to sweep them. So every daemon looks now and then at those of the others:
 * one store at a time, on the worker pool, and no more than a bounded number in one round. The next round
 * goes on where one ended.
 */
#ifndef DAEMON_LEFTOVERS_H
#define DAEMON_LEFTOVERS_H

#include "artifacts/abandoned.h"
#include "artifacts/clock.h"
#include "base/base.h"
#include "base/log.h"
#include "base/map.h"
#include "io/loop.h"
#include "settings/places.h"
#include "settings/settings.h"

struct leftovers {
	struct loop *loop; /* NULL while it is not started */
	const struct settings *settings;
	const struct places *places;
	struct logger *logger;
	struct timer timer;
	struct leftovers_turn *turn; /* under way */
	struct clock_reading start;
	char after[ABANDONED_NAME_MAX]; /* the store that is done with; empty: begin with the first */
	unsigned turns;			/* of this round */
	struct map told;		/* stores whose trouble was logged */
};

/* The first round begins soon. What is given must outlive it. */
void leftovers_start(struct leftovers *leftovers, struct loop *loop, const struct settings *settings,
		     const struct places *places, struct logger *logger);
/* What is under way on the pool ends by itself. Harmless on one that is not started. */
void leftovers_stop(struct leftovers *leftovers);

#endif

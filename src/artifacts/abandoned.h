/*
 * abandoned.h - stores of a state directory whose daemon does not run.
 *
 * A project that is gone leaves its store behind, and nobody else would ever remove what expires in it. So
 * any daemon collects in the stores that are open nowhere, by the rules of their own collections, and removes
 * a store in which nothing is left.
 *
 * All of it happens under the store's lock, in short turns. A daemon that starts meanwhile waits for the
 * lock; when it then finds that the lock it got is no longer the store's, the store was removed, and it makes
 * a new one. The link `artifacts.owner` (home.h) stays: who had `<state>/artifacts` has it again.
 *
 * Blocking; on any thread. Nothing is opened through a link.
 */
#ifndef ARTIFACTS_ABANDONED_H
#define ARTIFACTS_ABANDONED_H

#include "artifacts/clock.h"
#include "artifacts/store.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum { ABANDONED_NAME_MAX = 32 }; /* bytes of a store's name, with a NUL */

/* The name of the first store in `state` after `after`, in the order of their names: empty when there is
 * none. It may be in use. From `arena`. */
int abandoned_find(struct str state, struct str after, struct arena *arena, struct str *ret_name,
		   struct err *err);

struct abandoned_result {
	bool more;    /* there is more to collect or remove in it */
	bool removed; /* the whole store */
};

/* One turn: collects a batch of what has expired, and removes the store when nothing is left. Nothing is done
 * to one that is in use, or was removed meanwhile, which is no failure. Fails as a store's opening does, and
 * with ERR_EXISTS when an empty store holds files that are not its own and so cannot be removed. */
int abandoned_collect(const char *directory, const struct artifact_limits *limits,
		      const struct clock_bounds *now, struct abandoned_result *ret_result, struct err *err);

#endif

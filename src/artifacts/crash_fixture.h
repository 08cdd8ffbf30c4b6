/*
 * crash_fixture.h - kill -9 at random moments during uploads, and what must hold afterwards: every
 * acknowledged artifact intact, no partial one visible, the quota exact. Used by a short test and by a long
 * check (bench/artifact_crash_bench.c).
 *
 * A child process uploads and deletes on a real store and reports through a pipe what was acknowledged. The
 * parent kills it, looks at the disk as it was left, opens the store again as the next start would, and
 * compares with its own ledger of promises.
 */
#ifndef ARTIFACTS_CRASH_FIXTURE_H
#define ARTIFACTS_CRASH_FIXTURE_H

#include "base/base.h"

struct crash_trial {
	const char *directory;	/* of the store; does not exist yet */
	uint64_t seed;		/* the same seed kills at the same places, as far as the machine allows */
	uint64_t uploads_least; /* ends when so many were acknowledged ... */
	unsigned kills_least;	/* ... and so many children killed */
	/* What happened. */
	uint64_t acknowledged, refused, deleted;
	unsigned kills;
	uint64_t temporaries, orphans;	  /* found after kills: evidence that they came at bad moments */
	uint64_t unacknowledged_survived; /* whole and in the index, but the kill came before the answer */
	char problem[512];
};

/* True when everything held; otherwise `problem` says what did not. */
bool crash_trial_run(struct crash_trial *trial);

#endif

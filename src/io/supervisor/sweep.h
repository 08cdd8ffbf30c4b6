/*
 * sweep.h - ending a child and all that came from it.
 */
#ifndef IO_SUPERVISOR_SWEEP_H
#define IO_SUPERVISOR_SWEEP_H

#include "base/base.h"

#include <sys/types.h>

/* The child that the supervisor was made for. */
struct offspring {
	pid_t child; /* 0: none */
	bool ended;
	int status; /* as from waitpid(2), once it has ended */
};

/* Takes note of all that has ended, the child among it. False when nothing of ours is left. Does not wait. */
bool offspring_reap(struct offspring *offspring);

/*
 * Kills all processes that descend from us and waits until they are gone. Returns how many did not die within
 * `kill_ms` (at least: what descends from those is not counted); 0 proves that none is left. With 0 for
 * `kill_ms` it waits as long as it takes. Needs SIGCHLD to be blocked.
 */
unsigned offspring_sweep(struct offspring *offspring, uint64_t kill_ms);

#endif

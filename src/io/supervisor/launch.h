/*
 * launch.h - how the supervisor starts its child.
 */
#ifndef IO_SUPERVISOR_LAUNCH_H
#define IO_SUPERVISOR_LAUNCH_H

#include "base/base.h"
#include "io/supervisor.h"

#include <sys/types.h>

struct launch {
	const char *directory;	     /* empty for the current one */
	uint64_t memory_max;	     /* RLIMIT_AS; 0 for none */
	uint64_t files_max;	     /* RLIMIT_NOFILE; 0 for ours */
	uint64_t files_soft;	     /* the soft limit below it; 0 for the same */
	char **argv;		     /* the program is looked up in our PATH */
	enum supervisor_step failed; /* set by launch_run() when it fails, with the reason */
	int error;
};

/*
 * Starts the program in a session and process group of its own, with no signal blocked, and bound to die when
 * we do. Returns when the program has been loaded: its process id, or -1 when it could not be, and
 * launch->failed and launch->error tell why.
 */
pid_t launch_run(struct launch *launch);

#endif

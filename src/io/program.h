/*
 * program.h - becoming another program, and starting one that outlives us.
 *
 * For programs without a loop, above all the command line, which becomes the daemon or starts it in the
 * background. Children that someone looks after are io/child.h. Not thread-safe.
 */
#ifndef IO_PROGRAM_H
#define IO_PROGRAM_H

#include "base/base.h"
#include "base/err.h"

#include <sys/types.h>

/* Replaces this process (execve(2)); returns only when that fails. Both lists end with NULL. */
int program_become(const char *path, const char *const *arguments, const char *const *environment,
		   struct err *err);

/* The path of the program that runs. */
int program_self(char *path, size_t size, struct err *err);

/*
 * A program that was started in a session of its own: no terminal, and no signal meant for us, reaches it.
 * Its standard input is empty, its standard error is the descriptor that the caller gives, and its standard
 * output is a pipe to us that it closes when it is ready to serve.
 */
struct background {
	pid_t pid;
	int process_fd; /* of its process; -1: none, or its end was seen */
	int ready_fd;	/* our end of its standard output; -1 once that was closed */
	int status;	/* its exit status once it has ended; 128 + the signal that ended it */
};

int background_start(struct background *background, const char *path, const char *const *arguments,
		     const char *const *environment, int error_fd, struct err *err);

enum background_event {
	BACKGROUND_NOTHING, /* `ms` have passed */
	BACKGROUND_READY,   /* it closed its standard output; told once */
	BACKGROUND_ENDED    /* .status says how */
};

/* Waits for the next of these, at most `ms`. */
enum background_event background_wait(struct background *background, uint64_t ms);

/* Lets it go on alone. Harmless on a zeroed or released one. */
void background_release(struct background *background);

/* Waits until a process that is not our child has ended: 0, or ERR_TIMEOUT after `ms` (0: as long as it
 * takes). */
int process_wait_end(pid_t pid, uint64_t ms, struct err *err);

#endif

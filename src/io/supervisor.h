/*
 * supervisor.h - the wire format between child.h and the program mcpx-supervisor.
 *
 * The two are built together and installed together; a supervisor of another SUPERVISOR_VERSION refuses to
 * start. The supervisor is started with the child's environment, and with:
 *
 *   argv[0]  "mcpx-supervisor"
 *   argv[1]  SUPERVISOR_VERSION
 *   argv[2]  the directory to start the child in; empty for the current one
 *   argv[3]  RLIMIT_AS in bytes, decimal; 0 for no limit
 *   argv[4]  RLIMIT_NOFILE, decimal; 0 for the inherited one
 *   argv[5]  the soft limit below it, decimal; 0 for the same
 *   argv[6]  milliseconds that what got SIGKILL may take to die; 0 for as long as it takes
 *   argv[7]  the program, then its arguments
 *
 *   descriptor 0, 1, 2   stdin, stdout and stderr of the child
 *   descriptor 3         one end of an AF_UNIX, SOCK_SEQPACKET pair: one struct supervisor_message per packet
 *
 * The end of the packets (the other end was closed, by whatever death) means the same as SUPERVISOR_KILL.
 */
#ifndef IO_SUPERVISOR_H
#define IO_SUPERVISOR_H

#include <stdint.h>

#define SUPERVISOR_VERSION "2"

enum { SUPERVISOR_CONTROL_FD = 3 };

enum supervisor_argument {
	SUPERVISOR_ARG_VERSION = 1,
	SUPERVISOR_ARG_DIRECTORY,
	SUPERVISOR_ARG_MEMORY,
	SUPERVISOR_ARG_FILES,
	SUPERVISOR_ARG_FILES_SOFT,
	SUPERVISOR_ARG_KILL_MS,
	SUPERVISOR_ARG_PROGRAM
};

enum supervisor_message_kind {
	/* To the daemon, in this order: one of the first two, and ENDED after STARTED. Then the supervisor
	 * exits. */
	SUPERVISOR_STARTED = 1, /* value: process id of the child, which is also its group */
	SUPERVISOR_FAILED = 2,	/* value: enum supervisor_step that failed; detail: errno */
	SUPERVISOR_ENDED = 3,	/* value: wait status; detail: number of processes that could not be ended */
	/* To the supervisor. */
	SUPERVISOR_TERM = 4, /* SIGTERM, then SIGCONT, to the child's group */
	SUPERVISOR_KILL = 5  /* SIGKILL to the child and all that came from it */
};

/* What can go wrong before the child's program runs. */
enum supervisor_step {
	SUPERVISOR_STEP_PREPARE = 1, /* the supervisor itself, or a new process, could not be set up */
	SUPERVISOR_STEP_MEMORY = 2,
	SUPERVISOR_STEP_FILES = 3,
	SUPERVISOR_STEP_DIRECTORY = 4,
	SUPERVISOR_STEP_EXECUTE = 5
};

/* In the byte order of the machine. */
struct supervisor_message {
	int32_t kind, value, detail;
};

#endif

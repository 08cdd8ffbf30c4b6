/*
 * child.h - a child process under a supervisor.
 *
 * The child is started by the program mcpx-supervisor, which we start with posix_spawn(3). The supervisor gives the child its own
 * session and process group, applies its limits, adopts whatever the child leaves behind (it is a subreaper) and kills all of that
 * when the child ends, when child_stop() runs out of patience, or when this process dies in whatever way. So nothing that came
 * from a child survives us. supervisor.h has the wire format between the two.
 *
 * stdin, stdout and stderr are pipes. stdout is delivered in lines (or raw), stderr is kept as a bounded tail and optionally delivered
 * too. All on the loop thread. A struct child is embedded in its owner, which must not free it before `exited` came or
 * child_release() was called; child_release() kills at once and silently.
 */
#ifndef IO_CHILD_H
#define IO_CHILD_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct child;

struct child_spec {
	const char *supervisor;	    /* path of the supervisor program */
	const char *const *argv;    /* NULL-terminated; argv[0] is looked up in the PATH of `env` */
	const char *const *env;	    /* NULL-terminated, complete; NULL gives ours */
	const char *cwd;	    /* NULL gives ours */
	size_t line_max;	    /* longest stdout line, in bytes */
	size_t stderr_keep;	    /* bytes of stderr kept for errors */
	size_t input_max;	    /* unsent bytes of stdin before child_write() refuses */
	uint64_t close_ms, term_ms; /* the stop ladder: after closing stdin, after SIGTERM */
	uint64_t memory_max;	    /* RLIMIT_AS in bytes, 0 for none */
	uint64_t files_max;	    /* RLIMIT_NOFILE, 0 for ours */
	int stdin_fd; /* >= 0: the child reads this descriptor (we keep ours); -1: a pipe; CHILD_STDIN_NULL: /dev/null */
	bool raw_stdout; /* deliver stdout as it comes, not in lines */
};
enum { CHILD_STDIN_NULL = -2 };

struct child_status {
	bool started;	   /* false: the program could not be executed, see `err` */
	int exit_code;	   /* when it exited; -1 otherwise */
	int signal_number; /* when a signal ended it; 0 otherwise */
	struct err
		err; /* why it could not start: names the program, the directory and the PATH that was searched */
};

struct child_events {
	/* One line of stdout without its end, or raw bytes. Valid during the call. A line over line_max is delivered cut, with
	 * `too_long` set, and the rest of it is dropped. */
	void (*output)(struct child *child, struct str line, bool too_long);
	/* NULL, or bytes of stderr as they come. */
	void (*error_output)(struct child *child, struct str bytes);
	/* NULL, or stdin has room again after child_write() refused. */
	void (*writable)(struct child *child);
	/* The child is gone with all its descendants and all its output was delivered. The last callback. */
	void (*exited)(struct child *child, const struct child_status *status);
};

struct child {
	const struct child_events *events;
	pid_t pid;		       /* of the child itself, once known; 0 before */
	struct child_process *process; /* private; NULL when nothing runs */
};

/* Starts it. A command that cannot be executed is reported through `exited`, later. */
int child_start(struct child *child, struct loop *loop, const struct child_spec *spec,
		const struct child_events *events, struct err *err);

/* Queues bytes for stdin. ERR_BUSY when more than input_max would be unsent (nothing was taken), ERR_CLOSED when stdin is closed. */
int child_write(struct child *child, struct str bytes);
/* Stops reading stdout until child_read_on(): the child's pipe fills and the child waits. For slow readers behind us. */
void child_pause_output(struct child *child);
void child_resume_output(struct child *child);

/* Closes stdin once what is queued was written. */
void child_close_stdin(struct child *child);

/* Begins the ladder: close stdin, wait close_ms, TERM the group, wait term_ms, KILL everything. `exited` comes at the end. */
void child_stop(struct child *child);

/* Ends it now with SIGKILL; `exited` comes. */
void child_kill(struct child *child);

/* Kills whatever runs and forgets it; no callback any more. Accepts one that never started. */
void child_release(struct child *child);

/* The kept tail of stderr, valid until the next callback. */
struct str child_stderr(const struct child *child);

#endif

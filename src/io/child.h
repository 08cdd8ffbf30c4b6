/*
 * child.h - a child process under a supervisor.
 *
 * The child is started by the program mcpx-supervisor, which we start with posix_spawn(3). The supervisor
 * gives the child its own session and process group, applies its limits, adopts whatever the child leaves
 * behind (it is a subreaper) and kills all of that when the child ends, when child_stop() runs out of
 * patience, or when this process dies in whatever way. So nothing that came from a child survives us.
 * supervisor.h has the wire format between the two, docs/internals/supervisor.md what is guaranteed.
 *
 * stdin, stdout and stderr are pipes. stdout is delivered in lines (or raw), stderr is kept as a bounded tail
 * and optionally delivered too. All on the loop thread, which must be the same thread for as long as a child
 * runs (the kernel ties the supervisor to the thread that started it). A struct child is embedded in its
 * owner, begins zeroed, and must not be freed before `exited` returned or child_release() was called;
 * child_release() kills at once and silently. Every callback may call any function here.
 */
#ifndef IO_CHILD_H
#define IO_CHILD_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

#include <sys/types.h>

struct child;

enum { CHILD_STDIN_PIPE = -1, CHILD_STDIN_NULL = -2 };

/* How to start a child. Everything is copied or used up by child_start(). */
struct child_spec {
	const char *supervisor; /* path of the supervisor program */
	/* NULL-terminated; argv[0] is looked up in the PATH of `env`, as execvp(3) does. */
	const char *const *argv;
	const char *const *env; /* NULL-terminated, complete; NULL gives ours */
	/* Absolute; NULL gives ours. A relative argv[0] with a slash starts here, and PWD names it. */
	const char *cwd;

	/* >= 0: the child reads this descriptor (we keep ours); CHILD_STDIN_PIPE; CHILD_STDIN_NULL:
	 * /dev/null */
	int stdin_fd;
	bool raw_stdout; /* deliver stdout as it comes, not in lines */

	size_t line_max;    /* longest stdout line, in bytes without its "\n" */
	size_t stderr_keep; /* bytes of stderr kept for errors */
	size_t input_max;   /* unsent bytes of stdin before child_write() refuses */

	uint64_t close_ms, term_ms; /* the stop ladder: after closing stdin, after SIGTERM */
	/* How long what got SIGKILL may take to die before it is given up and counted; 0: as long as it
	 * takes, which is for ever when one of them cannot be killed. */
	uint64_t kill_ms;
	uint64_t memory_max; /* RLIMIT_AS in bytes, 0 for none */
	uint64_t files_max;  /* RLIMIT_NOFILE, 0 for ours before descriptors_raise() */
};

struct child_status {
	bool started;	   /* false: the program could not be executed, see `err` */
	int exit_code;	   /* when it exited; -1 otherwise */
	int signal_number; /* when a signal ended it; 0 otherwise */
	/* Processes that did not die of SIGKILL within kill_ms: in an uninterruptible wait, or not ours. */
	unsigned left;
	/* code 0, or: why it could not start (names the program, the directory and the PATH that was
	 * searched), or that the supervisor itself was killed. */
	struct err err;
};

/* "exited with code 3", "was killed by signal 9 (KILL)", or the error's message; for messages and records. */
enum { CHILD_STATUS_TEXT_MAX = ERR_MESSAGE_MAX };
struct str child_status_text(char storage[CHILD_STATUS_TEXT_MAX], const struct child_status *status);

struct child_events {
	/* Required. One line of stdout without its "\n" (a last line may lack it), or raw bytes. Valid during
	 * the call. A line over line_max is delivered cut to line_max, with `too_long` set, as soon as that
	 * is known; the rest of it is dropped. */
	void (*output)(struct child *child, struct str line, bool too_long);
	/* NULL, or a line that was delivered with `too_long` has ended: from here on lines are delivered
	 * again. */
	void (*long_line_ended)(struct child *child);
	/* NULL, or its stdout has ended: it closes it, or is about to end. Not after child_stop() or
	 * child_kill() has brought that about. */
	void (*output_ended)(struct child *child);
	/* NULL, or bytes of stderr as they come. */
	void (*error_output)(struct child *child, struct str bytes);
	/* NULL, or stdin has room again after child_write() refused: half of input_max at least. */
	void (*writable)(struct child *child);
	/* Required. The child is gone with all its descendants and all its output was delivered. The last
	 * callback; child_stderr() still answers in it, and child_start() may start the next one. */
	void (*exited)(struct child *child, const struct child_status *status);
};

struct child {
	const struct child_events *events;
	pid_t pid;		       /* of the child itself, once it runs; 0 before */
	struct child_process *process; /* private; NULL when nothing runs */
};

/*
 * Starts it. A command that cannot be executed is reported through `exited`, later; an error here means that
 * the supervisor could not be started (it is missing, or we are out of processes or descriptors) and no
 * callback comes.
 */
int child_start(struct child *child, struct loop *loop, const struct child_spec *spec,
		const struct child_events *events, struct err *err);

/*
 * Writes to stdin what the pipe takes and queues the rest. Takes all of `bytes` or nothing: ERR_BUSY when
 * more than input_max would be unsent (`writable` will come), ERR_TOO_LARGE when `bytes` alone is more than
 * that, ERR_CLOSED when stdin is closed, by us or by the child.
 */
int child_write(struct child *child, struct str bytes);

/* Bytes of stdin that the pipe has not taken yet. */
size_t child_unsent(const struct child *child);

/* Closes stdin once what is queued was written. */
void child_close_stdin(struct child *child);

/*
 * Stops delivering stdout until child_resume_output(): the child's pipe fills and the child waits. For slow
 * readers behind us. `exited` waits for the resumption too, unless child_stop() or child_kill() was called:
 * then what is left in the pipe (at most its size) is delivered in spite of the pause.
 */
void child_pause_output(struct child *child);
void child_resume_output(struct child *child);

/* Begins the ladder: close stdin, wait close_ms, TERM the group, wait term_ms, KILL everything. `exited`
 * comes at the end. */
void child_stop(struct child *child);

/* Ends it now with SIGKILL; `exited` comes. */
void child_kill(struct child *child);

/* Kills whatever runs and forgets it; no callback any more. Accepts one that never started. */
void child_release(struct child *child);

/* The kept tail of stderr as the child wrote it, valid until the next callback. Empty when nothing runs. */
struct str child_stderr(const struct child *child);

#endif

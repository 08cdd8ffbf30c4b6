/*
 * child_private.h - what the files behind child.h know of each other.
 *
 * child.c has the life of a child, child_spawn.c its start, child_streams.c its three pipes, child_text.c
 * what is said about it. A struct child_process lives from child_start() until the supervisor was reaped,
 * which may be after the owner has lost interest (child_release() sets .child to NULL). It is freed by
 * loop_free_later(), so that every function here may make a callback and then ask whether there still is a
 * child.
 */
#ifndef IO_CHILD_PRIVATE_H
#define IO_CHILD_PRIVATE_H

#include "base/base.h"
#include "io/byte_queue.h"
#include "io/child.h"
#include "io/line_reader.h"
#include "io/loop.h"
#include "io/supervisor.h"
#include "io/tail.h"

/* -- start ----------------------------------------------------------------------------------------------- */

/* What a running supervisor has left us. The descriptors are ours, close-on-exec and non-blocking. */
struct child_spawned {
	pid_t supervisor;
	int supervisor_fd; /* pidfd: readable when the supervisor has ended */
	int control_fd;
	int input_fd; /* -1 unless stdin is a pipe */
	int output_fd, error_fd;
};

#define CHILD_SPAWNED_NOTHING ((struct child_spawned){ 0, -1, -1, -1, -1, -1 })

/* On failure nothing is left open or running. */
int child_spawn(const struct child_spec *spec, struct child_spawned *ret_spawned, struct err *err);
void child_spawned_release(struct child_spawned *spawned);

/* -- streams --------------------------------------------------------------------------------------------- */

struct child_input {
	int fd; /* -1: closed */
	struct watch watch;
	struct byte_queue queue;
	size_t max;
	bool refused; /* the owner waits for `writable` */
	bool closing; /* to be closed when the queue is empty */
};

struct child_output {
	int fd; /* -1: no more bytes will come */
	struct watch watch;
	struct line_reader lines;
	bool raw;
	bool paused;
	bool delivered; /* everything, to the last byte */
};

struct child_error {
	int fd;
	struct watch watch;
	struct tail tail;
};

/* -- the whole ------------------------------------------------------------------------------------------- */

enum child_stage { CHILD_RUNNING, CHILD_CLOSING, CHILD_TERMINATING, CHILD_KILLING };

/* The words of the command that its error message needs. */
struct child_command {
	char *program, *directory, *path; /* directory and path may be NULL: ours, and not set */
	uint64_t memory_max, files_max;
};

struct child_process {
	struct child *child; /* NULL when the owner has lost interest */
	struct loop *loop;
	struct child_command command;
	struct child_input input;
	struct child_output output;
	struct child_error error;

	pid_t group; /* of the child, once it runs */
	int supervisor_fd, control_fd;
	struct watch supervisor_watch, control_watch;
	bool told; /* the supervisor has said how it ended */
	bool over; /* nothing runs any more, the supervisor is reaped */

	enum child_stage stage;
	uint64_t close_ms, term_ms, kill_ms;
	struct timer ladder;
	struct deferred resume;
	struct child_status status;
};

int child_input_start(struct child_process *p, int fd, size_t max, struct err *err);
int child_output_start(struct child_process *p, int fd, const struct child_spec *spec, struct err *err);
int child_error_start(struct child_process *p, int fd, size_t keep, struct err *err);

/* Ends a pause, if there is one: what was held back is delivered, later. */
void child_output_end_pause(struct child_process *p);

/* Stops and closes all three. What a callback may still be reading is freed later. */
void child_streams_release(struct child_process *p);

/* Delivers what the dead have left in the pipes, as far as the owner is willing. False when it is not, or
 * gone. */
bool child_streams_drain(struct child_process *p);

/* -- life ------------------------------------------------------------------------------------------------ */

/* Tells the owner that all is over, once that is so and everything was delivered. */
void child_settle(struct child_process *p);

/* -- words ----------------------------------------------------------------------------------------------- */

void child_command_init(struct child_command *command, const struct child_spec *spec);
void child_command_release(struct child_command *command);

/* Why it could not be started: `step` failed with `error`. */
void child_command_failed(const struct child_command *command, enum supervisor_step step, int error,
			  struct err *err);

#endif

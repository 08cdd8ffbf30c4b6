#include "base/base.h"
#include "io/child_private.h"

#include <errno.h>

enum { PIECE = 16 * 1024 }; /* of stderr, and of stdout when it is raw */

/* read() and write() that are never "interrupted". */
static ssize_t read_piece(int fd, char *bytes, size_t n)
{
	ssize_t got;

	do
		got = read(fd, bytes, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static ssize_t write_piece(int fd, struct str bytes)
{
	ssize_t wrote;

	do
		wrote = write(fd, bytes.p, bytes.n);
	while (wrote < 0 && errno == EINTR);
	return wrote;
}

static void stream_close(struct watch *watch, int *fd)
{
	watch_stop(watch);
	close_fd(fd);
}

/* -- stdin ----------------------------------------------------------------------------------------------- */

static void child_input_close(struct child_input *input)
{
	stream_close(&input->watch, &input->fd);
	byte_queue_release(&input->queue);
}

/* Writes what the pipe takes. False when it takes nothing more, ever. */
static bool child_input_flush(struct child_input *input)
{
	while (byte_queue_length(&input->queue)) {
		ssize_t wrote = write_piece(input->fd, byte_queue_str(&input->queue));

		if (wrote < 0)
			return errno == EAGAIN;
		byte_queue_drop(&input->queue, (size_t)wrote);
	}
	return true;
}

static void child_input_settle(struct child_input *input)
{
	if (byte_queue_length(&input->queue))
		watch_set(&input->watch, WATCH_WRITE);
	else if (input->closing)
		child_input_close(input);
	else
		watch_set(&input->watch, 0);
}

static void child_input_ready(struct watch *watch, _unused_ unsigned events)
{
	struct child_process *p = container_of(watch, struct child_process, input.watch);
	struct child_input *input = &p->input;

	if (child_input_flush(input))
		child_input_settle(input);
	else
		child_input_close(input);
	if (!input->refused || byte_queue_length(&input->queue) > input->max / 2)
		return;
	input->refused = false;
	if (p->child->events->writable)
		p->child->events->writable(p->child);
}

int child_input_start(struct child_process *p, int fd, size_t max, struct err *err)
{
	p->input.fd = fd;
	p->input.max = max;
	return fd < 0 ? 0 : watch_start(&p->input.watch, p->loop, fd, 0, child_input_ready, err);
}

int child_write(struct child *child, struct str bytes)
{
	struct child_input *input = child->process ? &child->process->input : NULL;

	if (!input || input->fd < 0 || input->closing)
		return ERR_CLOSED;
	if (bytes.n > input->max)
		return ERR_TOO_LARGE;
	if (byte_queue_length(&input->queue) + bytes.n > input->max) {
		input->refused = true;
		return ERR_BUSY;
	}
	if (byte_queue_length(&input->queue) == 0) {
		ssize_t wrote = bytes.n ? write_piece(input->fd, bytes) : 0;

		if (wrote < 0 && errno != EAGAIN) {
			child_input_close(input);
			return ERR_CLOSED;
		}
		bytes = str_from(bytes, wrote > 0 ? (size_t)wrote : 0);
	}
	byte_queue_append(&input->queue, bytes);
	child_input_settle(input);
	return 0;
}

size_t child_unsent(const struct child *child)
{
	return child->process ? byte_queue_length(&child->process->input.queue) : 0;
}

void child_close_stdin(struct child *child)
{
	struct child_process *p = child->process;

	if (!p || p->input.fd < 0)
		return;
	p->input.closing = true;
	child_input_settle(&p->input);
}

/* -- stdout ---------------------------------------------------------------------------------------------- */

/* Once the child is dead by its owner's wish, there is no more to come than the pipe holds, and nobody to be
 * held back. */
static bool child_output_held(const struct child_process *p)
{
	return p->output.paused && !(p->over && p->stage != CHILD_RUNNING);
}

static void child_output_give(struct child_process *p, const struct line *line)
{
	const struct child_events *events = p->child->events;

	if (!line->long_ended)
		events->output(p->child, line->text, line->too_long);
	else if (events->long_line_ended)
		events->long_line_ended(p->child);
}

/* Gives out the lines that are there. False when the owner paused or lost interest. */
static bool child_output_deliver(struct child_process *p)
{
	struct child_output *output = &p->output;
	struct line line;

	while (!child_output_held(p) && line_reader_next(&output->lines, &line)) {
		child_output_give(p, &line);
		if (!p->child)
			return false;
	}
	return !child_output_held(p);
}

/* The end of the stream, after its last whole line was delivered. */
static bool child_output_finish(struct child_process *p)
{
	struct line line;

	p->output.delivered = true;
	if (!line_reader_last(&p->output.lines, &line))
		return true;
	child_output_give(p, &line);
	return p->child != NULL;
}

/* One read. *ret_n is what read(2) returned. */
static bool child_output_read_lines(struct child_process *p, ssize_t *ret_n)
{
	size_t room;
	char *at = line_reader_room(&p->output.lines, &room);

	*ret_n = read_piece(p->output.fd, at, room);
	if (*ret_n > 0)
		line_reader_claim(&p->output.lines, (size_t)*ret_n);
	return child_output_deliver(p);
}

static bool child_output_read_raw(struct child_process *p, ssize_t *ret_n)
{
	char piece[PIECE];

	*ret_n = read_piece(p->output.fd, piece, sizeof(piece));
	if (*ret_n > 0)
		p->child->events->output(p->child, str_make(piece, (size_t)*ret_n), false);
	return p->child && !child_output_held(p);
}

static void child_output_tell_end(struct child_process *p)
{
	const struct child_events *events = p->child->events;

	if (events->output_ended && !p->over && p->stage == CHILD_RUNNING)
		events->output_ended(p->child);
}

/* Reads once and delivers. False when there is nothing more to be had for now: the pipe is empty, or the
 * owner is not willing. */
static bool child_output_step(struct child_process *p)
{
	struct child_output *output = &p->output;
	ssize_t n;
	bool willing = output->raw ? child_output_read_raw(p, &n) : child_output_read_lines(p, &n);

	if (!p->child)
		return false;
	if (n > 0)
		return willing;
	if (n < 0 && errno == EAGAIN)
		return false;
	stream_close(&output->watch, &output->fd);
	if (willing && child_output_finish(p))
		child_output_tell_end(p);
	return false;
}

static void child_output_ready(struct watch *watch, _unused_ unsigned events)
{
	child_output_step(container_of(watch, struct child_process, output.watch));
}

int child_output_start(struct child_process *p, int fd, const struct child_spec *spec, struct err *err)
{
	p->output.fd = fd;
	p->output.raw = spec->raw_stdout;
	line_reader_init(&p->output.lines, spec->line_max);
	return watch_start(&p->output.watch, p->loop, fd, WATCH_READ, child_output_ready, err);
}

/* Everything that is left. True when it was all delivered. */
static bool child_output_drain(struct child_process *p)
{
	struct child_output *output = &p->output;

	if (output->delivered)
		return true;
	if (!child_output_deliver(p))
		return false;
	while (output->fd >= 0 && child_output_step(p))
		;
	if (!p->child || output->delivered || child_output_held(p))
		return p->child && output->delivered;
	/* Empty, though not at its end: somebody who does not descend from the child has got hold of the
	 * pipe. */
	stream_close(&output->watch, &output->fd);
	return child_output_finish(p);
}

static void child_resume(struct deferred *deferred)
{
	struct child_process *p = container_of(deferred, struct child_process, resume);

	if (!child_output_deliver(p))
		return;
	if (p->output.fd >= 0)
		watch_set(&p->output.watch, WATCH_READ);
	else if (!p->output.delivered && !child_output_finish(p))
		return;
	if (p->over)
		child_settle(p);
}

void child_pause_output(struct child *child)
{
	struct child_process *p = child->process;

	if (!p)
		return;
	p->output.paused = true;
	deferred_cancel(&p->resume);
	watch_set(&p->output.watch, 0);
}

void child_output_end_pause(struct child_process *p)
{
	if (!p->output.paused)
		return;
	p->output.paused = false;
	loop_defer(p->loop, &p->resume, child_resume);
}

void child_resume_output(struct child *child)
{
	if (child->process)
		child_output_end_pause(child->process);
}

/* -- stderr ---------------------------------------------------------------------------------------------- */

/* As child_output_step(). */
static bool child_error_step(struct child_process *p)
{
	char piece[PIECE];
	ssize_t n = read_piece(p->error.fd, piece, sizeof(piece));
	struct str bytes = str_make(piece, n > 0 ? (size_t)n : 0);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		stream_close(&p->error.watch, &p->error.fd);
		return false;
	}
	tail_append(&p->error.tail, bytes);
	if (p->child->events->error_output)
		p->child->events->error_output(p->child, bytes);
	return p->child != NULL;
}

static void child_error_ready(struct watch *watch, _unused_ unsigned events)
{
	child_error_step(container_of(watch, struct child_process, error.watch));
}

int child_error_start(struct child_process *p, int fd, size_t keep, struct err *err)
{
	p->error.fd = fd;
	tail_init(&p->error.tail, keep);
	return watch_start(&p->error.watch, p->loop, fd, WATCH_READ, child_error_ready, err);
}

struct str child_stderr(const struct child *child)
{
	return child->process ? tail_str(&child->process->error.tail) : str_make(NULL, 0);
}

/* -- all three ------------------------------------------------------------------------------------------- */

bool child_streams_drain(struct child_process *p)
{
	while (p->child && p->error.fd >= 0 && child_error_step(p))
		;
	return p->child && child_output_drain(p);
}

void child_streams_release(struct child_process *p)
{
	deferred_cancel(&p->resume);
	child_input_close(&p->input);
	stream_close(&p->output.watch, &p->output.fd);
	stream_close(&p->error.watch, &p->error.fd);
	loop_free_later(p->loop, byte_queue_take_storage(&p->output.lines.bytes));
	line_reader_init(&p->output.lines, p->output.lines.max);
	loop_free_later(p->loop, take_ptr(p->error.tail.bytes));
	tail_init(&p->error.tail, p->error.tail.keep);
}

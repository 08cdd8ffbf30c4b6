#include "base/base.h"
#include "io/http_connection.h"

#include <errno.h>
#include <sys/sendfile.h>

/* Everything is written at once if the socket takes it; only what is left is copied. A held answer is at most
 * one, and its parts go out in a fixed order: bytes, the body that was taken over, the file. */

void http_output_init(struct http_output *output)
{
	*output = (struct http_output){ .file = -1 };
	/* Streams bound what is held themselves; whole answers are as large as their makers allow. */
	buf_init(&output->bytes, PTRDIFF_MAX);
}

void http_output_release(struct http_output *output)
{
	buf_release(&output->bytes);
	free(output->body);
	close_fd(&output->file);
	http_output_init(output);
}

bool http_output_empty(const struct http_output *output)
{
	return output->bytes.n == 0 && !output->body && output->file < 0;
}

size_t http_output_held(const struct http_output *output)
{
	return output->bytes.n - output->bytes_at;
}

static void write_timed_out(struct timer *timer)
{
	struct http_connection *c = container_of(timer, struct http_connection, write_timer);

	http_connection_drop(c);
}

/* The time-out runs while something is held, anew after each progress. */
static void set_write_timer(struct http_connection *c, bool progress)
{
	if (http_output_empty(&c->output))
		timer_stop(&c->write_timer);
	else if (progress || !timer_running(&c->write_timer))
		timer_start(&c->write_timer, c->server->loop, c->server->limits.write_ms, write_timed_out);
}

/* Nothing more can be written. Whoever is on the stack finds out later. */
static void output_broke(struct http_connection *c)
{
	c->broken = true;
	http_connection_wake(c);
}

/* How much the socket took; 0 when it is full or broken. */
static size_t send_parts(struct http_connection *c, struct iovec *parts, size_t count, bool more)
{
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
	ssize_t sent;

	do
		sent = sendmsg(c->fd, &message, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
	while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return (size_t)sent;
	if (errno != EAGAIN)
		output_broke(c);
	return 0;
}

/* -- sending --------------------------------------------------------------------------------------------- */

void http_output_send(struct http_connection *c, struct iovec *parts, size_t count, bool more)
{
	struct http_output *output = &c->output;
	size_t sent = 0;

	if (c->broken)
		return;
	if (http_output_empty(output))
		sent = send_parts(c, parts, count, more);
	for (size_t i = 0; i < count && !c->broken; i++) {
		size_t skip = size_min(sent, parts[i].iov_len);
		struct str rest = str_make((char *)parts[i].iov_base + skip, parts[i].iov_len - skip);

		sent -= skip;
		if (rest.n)
			BUG_ON(buf_append(&output->bytes, rest) < 0);
	}
	set_write_timer(c, false);
}

void http_output_send_taken(struct http_connection *c, struct str head, struct str body)
{
	struct http_output *output = &c->output;
	struct iovec parts[] = { { (char *)head.p, head.n }, { (char *)body.p, body.n } };
	size_t sent = 0;

	if (!c->broken && http_output_empty(output))
		sent = send_parts(c, parts, ARRAY_LEN(parts), false);
	if (c->broken || sent == head.n + body.n) {
		free((char *)body.p);
		return;
	}
	if (sent < head.n)
		BUG_ON(buf_append(&output->bytes, str_from(head, sent)) < 0);
	output->body = (char *)body.p;
	output->body_n = body.n;
	output->body_at = sent > head.n ? sent - head.n : 0;
	set_write_timer(c, false);
}

void http_output_send_file(struct http_connection *c, int fd, uint64_t from, uint64_t count)
{
	BUG_ON(c->output.file >= 0);
	c->output.file = fd;
	c->output.file_at = from;
	c->output.file_left = count;
	http_output_flush(c);
}

/* -- flushing -------------------------------------------------------------------------------------------- */

/* Takes `sent` bytes off the front of what is held. */
static void drop_sent(struct http_output *output, size_t sent)
{
	size_t of_bytes = size_min(sent, http_output_held(output));

	output->bytes_at += of_bytes;
	if (http_output_held(output) == 0) {
		buf_clear(&output->bytes, 0);
		output->bytes_at = 0;
	}
	output->body_at += sent - of_bytes;
	if (output->body && output->body_at == output->body_n)
		free_ptr(&output->body);
}

/* True when all of it was written. */
static bool flush_memory(struct http_connection *c, bool *progress)
{
	struct http_output *output = &c->output;
	struct iovec parts[] = {
		{ output->bytes.p + output->bytes_at, http_output_held(output) },
		{ output->body ? output->body + output->body_at : NULL,
		  output->body ? output->body_n - output->body_at : 0 },
	};
	size_t all = parts[0].iov_len + parts[1].iov_len, sent;

	if (all == 0)
		return true;
	sent = send_parts(c, parts, ARRAY_LEN(parts), output->file >= 0);
	drop_sent(output, sent);
	*progress |= sent > 0;
	return sent == all;
}

/* A file that became shorter than the head has said cannot be completed: the peer must see a broken
 * answer. */
static void flush_file(struct http_connection *c, bool *progress)
{
	struct http_output *output = &c->output;
	uint64_t budget = HTTP_FILE_PER_TURN;

	while (output->file_left && budget) {
		off_t at = (off_t)output->file_at;
		size_t n = (size_t)(output->file_left < budget ? output->file_left : budget);
		ssize_t sent = sendfile(c->fd, output->file, &at, n);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0) {
			if (sent == 0 || errno != EAGAIN)
				output_broke(c);
			return;
		}
		*progress = true;
		output->file_at += (uint64_t)sent;
		output->file_left -= (uint64_t)sent;
		budget -= (uint64_t)sent;
	}
	if (output->file_left == 0)
		close_fd(&output->file);
}

void http_output_flush(struct http_connection *c)
{
	bool progress = false;

	if (!c->broken && flush_memory(c, &progress) && c->output.file >= 0)
		flush_file(c, &progress);
	set_write_timer(c, progress);
}

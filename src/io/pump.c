#include "base/base.h"
#include "io/pump.h"
#include "io/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

/* One way: what was read and not yet written. */
struct way {
	char piece[PUMP_PIECE];
	struct str rest; /* in `piece`, or what the owner gave */
	bool ended;	 /* nothing more comes */
	bool closed;	 /* nothing more is taken */
};

struct pump {
	const struct pump_options *options;
	struct way up;	 /* input to socket */
	struct way down; /* socket to output */
	bool shut;	 /* the peer knows that the input has ended */
	bool skipping;	 /* the line that is not for the output */
	uint64_t drain_until;
};

enum { INPUT, SOCKET, OUTPUT, WATCHED };

static bool would_wait(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Whoever would read what was written has closed. */
static bool is_gone(void)
{
	return errno == EPIPE || errno == ECONNRESET;
}

/* -- reading --------------------------------------------------------------------------------------------- */

static int way_fill(struct way *way, int fd, const char *what, struct err *err)
{
	ssize_t n = read(fd, way->piece, sizeof(way->piece));

	if (n < 0 && errno == ECONNRESET)
		n = 0;
	if (n < 0)
		return would_wait() ? 0 : err_errno(err, "cannot read %s", what);
	way->rest = str_make(way->piece, (size_t)n);
	way->ended = n == 0;
	return 0;
}

/* -- writing --------------------------------------------------------------------------------------------- */

/*
 * The output blocks. A socket is written without waiting; a pipe that poll(2) calls writable takes PIPE_BUF
 * bytes at once; a file or a terminal takes what it is given.
 */
static ssize_t write_output(int fd, const char *p, size_t n)
{
	ssize_t written = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (written < 0 && errno == ENOTSOCK)
		written = write(fd, p, size_min(n, PIPE_BUF));
	return written;
}

static int way_drain(struct way *way, ssize_t written, const char *what, struct err *err)
{
	if (written < 0)
		return would_wait() ? 0 : err_errno(err, "cannot write to %s", what);
	way->rest = str_from(way->rest, (size_t)written);
	return 0;
}

/* -- both ways ------------------------------------------------------------------------------------------- */

/* What is waited for: room before more to read. A descriptor without interest is left out, or its hang-up
 * would wake us for nothing. */
static void pump_watch(const struct pump *pump, struct pollfd watched[WATCHED])
{
	const struct pump_options *options = pump->options;
	bool read_input = !pump->up.ended && pump->up.rest.n == 0;
	bool read_socket = !pump->down.ended && pump->down.rest.n == 0;

	watched[INPUT] = (struct pollfd){ .fd = read_input ? options->input_fd : -1, .events = POLLIN };
	watched[SOCKET] = (struct pollfd){ .fd = options->socket_fd };
	if (read_socket)
		watched[SOCKET].events |= POLLIN;
	if (pump->up.rest.n && !pump->up.closed)
		watched[SOCKET].events |= POLLOUT;
	if (!watched[SOCKET].events)
		watched[SOCKET].fd = -1;
	watched[OUTPUT] = (struct pollfd){ .fd = options->output_fd };
	if (pump->down.rest.n)
		watched[OUTPUT].events |= POLLOUT;
}

static int pump_timeout(const struct pump *pump)
{
	uint64_t now = clock_monotonic_ms();

	if (!pump->drain_until)
		return -1;
	if (now >= pump->drain_until)
		return 0;
	return pump->drain_until - now > INT32_MAX ? INT32_MAX : (int)(pump->drain_until - now);
}

/* Once: the last of the input is sent, so that the peer may know that it was the last. */
static void pump_shut(struct pump *pump)
{
	if (!pump->up.ended || pump->up.rest.n || pump->up.closed || pump->shut)
		return;
	pump->shut = true;
	(void)shutdown(pump->options->socket_fd, SHUT_WR);
	if (pump->options->drain_ms)
		pump->drain_until = clock_monotonic_ms() + pump->options->drain_ms;
}

/* A peer that closed takes nothing more; what it sent before is still read. */
static int pump_send(struct pump *pump, struct err *err)
{
	struct way *up = &pump->up;
	const struct pump_options *options = pump->options;
	ssize_t sent = send(options->socket_fd, up->rest.p, up->rest.n, MSG_NOSIGNAL);

	if (sent < 0 && is_gone()) {
		up->closed = up->ended = true;
		return 0;
	}
	if (sent > 0 && options->sent)
		options->sent(options->context, str_slice(up->rest, 0, (size_t)sent));
	return way_drain(up, sent, "the connection", err);
}

static int pump_receive(struct pump *pump, struct err *err)
{
	const struct pump_options *options = pump->options;
	struct way *down = &pump->down;
	int r = way_fill(down, options->socket_fd, "the connection", err);
	size_t end;

	if (r == 0 && down->rest.n && options->received)
		options->received(options->context, down->rest);
	if (r == 0 && pump->skipping) {
		end = str_find_char(down->rest, '\n');
		pump->skipping = end == STR_NONE;
		down->rest = str_from(down->rest, pump->skipping ? down->rest.n : end + 1);
	}
	return r;
}

static int pump_write(struct pump *pump, struct err *err)
{
	struct way *down = &pump->down;
	ssize_t written = write_output(pump->options->output_fd, down->rest.p, down->rest.n);

	if (written < 0 && is_gone()) {
		down->closed = true;
		return 0;
	}
	return way_drain(down, written, "standard output", err);
}

static int pump_up(struct pump *pump, const struct pollfd watched[WATCHED], struct err *err)
{
	if (watched[INPUT].revents)
		return way_fill(&pump->up, pump->options->input_fd, "standard input", err);
	if (pump->up.rest.n && !pump->up.closed && watched[SOCKET].revents & (POLLOUT | POLLERR | POLLHUP))
		return pump_send(pump, err);
	return 0;
}

static int pump_down(struct pump *pump, const struct pollfd watched[WATCHED], struct err *err)
{
	struct way *down = &pump->down;

	if (down->rest.n && watched[OUTPUT].revents & POLLOUT)
		return pump_write(pump, err);
	if (down->rest.n == 0 && watched[SOCKET].events & POLLIN &&
	    watched[SOCKET].revents & (POLLIN | POLLHUP | POLLERR))
		return pump_receive(pump, err);
	return 0;
}

/* Whether all is over, and how. */
static bool pump_over(const struct pump *pump, const struct pollfd watched[WATCHED], enum pump_end *ret_end)
{
	if (pump->down.closed || watched[OUTPUT].revents & (POLLERR | POLLNVAL | POLLHUP))
		*ret_end = PUMP_OUTPUT_GONE;
	else if (pump->down.ended && pump->down.rest.n == 0)
		*ret_end = pump->shut ? PUMP_FINISHED : PUMP_PEER_CLOSED;
	else if (pump->drain_until && clock_monotonic_ms() >= pump->drain_until)
		*ret_end = PUMP_DRAIN_LIMIT;
	else
		return false;
	return true;
}

int pump_run(const struct pump_options *options, enum pump_end *ret_end, struct err *err)
{
	_cleanup_free_ struct pump *pump = xnew(struct pump);
	struct pollfd watched[WATCHED];
	int r;

	pump->options = options;
	pump->up.rest = options->ahead;
	pump->down.rest = options->first;
	pump->skipping = options->skip_line;
	do {
		pump_watch(pump, watched);
		if (poll(watched, WATCHED, pump_timeout(pump)) < 0 && errno != EINTR)
			return err_errno(err, "cannot wait for input");
		if ((r = pump_up(pump, watched, err)) < 0 || (r = pump_down(pump, watched, err)) < 0)
			return r;
		pump_shut(pump);
	} while (!pump_over(pump, watched, ret_end));
	if (options->left)
		buf_append(options->left, pump->up.rest);
	return 0;
}

#include "base/base.h"
#include "io/pump.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

/* One way: what was read and not yet written. */
struct way {
	char piece[PUMP_PIECE];
	size_t at, end; /* the rest is piece[at..end) */
	bool ended;	/* nothing more comes */
};

struct pump {
	const struct pump_options *options;
	struct way up;	 /* input to socket */
	struct way down; /* socket to output */
	bool shut;	 /* the peer knows that the input has ended */
	uint64_t drain_until;
};

enum { INPUT, SOCKET, OUTPUT, WATCHED };

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static size_t way_rest(const struct way *way)
{
	return way->end - way->at;
}

static bool would_wait(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* -- reading ------------------------------------------------------------------------------------------------------------- */

static int way_fill(struct way *way, int fd, const char *what, struct err *err)
{
	ssize_t n = read(fd, way->piece, sizeof(way->piece));

	if (n < 0 && errno == ECONNRESET)
		n = 0;
	if (n < 0)
		return would_wait() ? 0 : err_errno(err, "cannot read %s", what);
	way->at = 0;
	way->end = (size_t)n;
	way->ended = n == 0;
	return 0;
}

/* -- writing ------------------------------------------------------------------------------------------------------------- */

/*
 * The output blocks. A socket is written without waiting; a pipe that poll(2) calls writable takes PIPE_BUF bytes at once; a file or a
 * terminal takes what it is given.
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
	way->at += (size_t)written;
	return 0;
}

/* -- both ways ----------------------------------------------------------------------------------------------------------- */

/* What is waited for: room before more to read. A descriptor without interest is left out, or its hang-up would wake us for nothing. */
static void pump_watch(const struct pump *pump, struct pollfd watched[WATCHED])
{
	const struct pump_options *options = pump->options;
	bool read_input = !pump->up.ended && way_rest(&pump->up) == 0;
	bool read_socket = !pump->down.ended && way_rest(&pump->down) == 0;

	watched[INPUT] = (struct pollfd){ .fd = read_input ? options->input_fd : -1, .events = POLLIN };
	watched[SOCKET] = (struct pollfd){ .fd = options->socket_fd };
	if (read_socket)
		watched[SOCKET].events |= POLLIN;
	if (way_rest(&pump->up))
		watched[SOCKET].events |= POLLOUT;
	if (!watched[SOCKET].events)
		watched[SOCKET].fd = -1;
	watched[OUTPUT] = (struct pollfd){ .fd = options->output_fd };
	if (way_rest(&pump->down))
		watched[OUTPUT].events |= POLLOUT;
}

static int pump_timeout(const struct pump *pump)
{
	uint64_t now = now_ms();

	if (!pump->drain_until)
		return -1;
	if (now >= pump->drain_until)
		return 0;
	return pump->drain_until - now > INT32_MAX ? INT32_MAX : (int)(pump->drain_until - now);
}

/* Once: the last of the input is sent, so that the peer may know that it was the last. */
static void pump_shut(struct pump *pump)
{
	if (!pump->up.ended || way_rest(&pump->up) || pump->shut)
		return;
	pump->shut = true;
	(void)shutdown(pump->options->socket_fd, SHUT_WR);
	if (pump->options->drain_ms)
		pump->drain_until = now_ms() + pump->options->drain_ms;
}

/* A peer that closed takes nothing more; what it sent before is still read. */
static int pump_send(struct pump *pump, struct err *err)
{
	struct way *up = &pump->up;
	ssize_t sent = send(pump->options->socket_fd, up->piece + up->at, way_rest(up), MSG_NOSIGNAL);

	if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
		up->at = up->end;
		up->ended = true;
		return 0;
	}
	return way_drain(up, sent, "the connection", err);
}

static int pump_up(struct pump *pump, const struct pollfd watched[WATCHED], struct err *err)
{
	if (watched[INPUT].revents)
		return way_fill(&pump->up, pump->options->input_fd, "standard input", err);
	if (way_rest(&pump->up) && watched[SOCKET].revents & (POLLOUT | POLLERR | POLLHUP))
		return pump_send(pump, err);
	return 0;
}

static int pump_down(struct pump *pump, const struct pollfd watched[WATCHED], struct err *err)
{
	const struct pump_options *options = pump->options;
	struct way *down = &pump->down;

	if (way_rest(down) && watched[OUTPUT].revents & POLLOUT)
		return way_drain(down,
				 write_output(options->output_fd, down->piece + down->at, way_rest(down)),
				 "standard output", err);
	if (way_rest(down) == 0 && watched[SOCKET].events & POLLIN &&
	    watched[SOCKET].revents & (POLLIN | POLLHUP | POLLERR))
		return way_fill(down, options->socket_fd, "the connection", err);
	return 0;
}

/* Whether all is over, and how. */
static bool pump_over(const struct pump *pump, const struct pollfd watched[WATCHED], enum pump_end *ret_end)
{
	if (watched[OUTPUT].revents & (POLLERR | POLLNVAL | POLLHUP))
		*ret_end = PUMP_OUTPUT_GONE;
	else if (pump->down.ended && way_rest(&pump->down) == 0)
		*ret_end = pump->shut ? PUMP_FINISHED : PUMP_PEER_CLOSED;
	else if (pump->drain_until && now_ms() >= pump->drain_until)
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

	BUG_ON(options->first.n > PUMP_PIECE);
	pump->options = options;
	if (options->first.n)
		memcpy(pump->down.piece, options->first.p, options->first.n);
	pump->down.end = options->first.n;
	do {
		pump_watch(pump, watched);
		if (poll(watched, WATCHED, pump_timeout(pump)) < 0 && errno != EINTR)
			return err_errno(err, "cannot wait for input");
		if ((r = pump_up(pump, watched, err)) < 0 || (r = pump_down(pump, watched, err)) < 0)
			return r;
		pump_shut(pump);
	} while (!pump_over(pump, watched, ret_end));
	return 0;
}

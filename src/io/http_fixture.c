#include "base/base.h"
#include "io/http_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/un.h>

enum {
	GUARD_MS = 30000,	    /* a test that waits so long has failed */
	GOT_MAX = 64 * 1024 * 1024, /* far more than any test sends */
	DATE_FIELD = 37		    /* "Date: Sun, 06 Nov 1994 08:49:37 GMT" and its CR LF */
};

struct http_limits bench_limits(void)
{
	return (struct http_limits){
		.header_bytes = 8192,
		.header_fields = 64,
		.target_bytes = 4096,
		.connections = 64,
		.header_ms = GUARD_MS * 2,
		.body_ms = GUARD_MS * 2,
		.idle_ms = GUARD_MS * 2,
		.write_ms = GUARD_MS * 2,
		.linger_ms = GUARD_MS * 2,
		.unsent_bytes = 65536,
		.accept_retry_ms = GUARD_MS * 2,
	};
}

static void handle_request(void *context, struct http_request *request)
{
	struct bench *bench = context;

	bench->requests++;
	request->owner = bench;
	request->gone = bench_gone;
	bench->handle(bench, request);
}

void bench_start(struct bench *bench, const struct http_limits *limits,
		 void (*handle)(struct bench *bench, struct http_request *request))
{
	struct http_handler handler = { .request = handle_request, .context = bench };
	struct err err = { 0 };
	int fd;

	*bench = (struct bench){ .handle = handle };
	snprintf(bench->directory, sizeof(bench->directory), "/tmp/http_test.XXXXXX");
	assert_non_null(mkdtemp(bench->directory));
	snprintf(bench->path, sizeof(bench->path), "%s/s", bench->directory);
	assert_int_equal(loop_new(&bench->loop, &err), 0);
	assert_int_equal(http_server_new(&bench->server, bench->loop, limits, &handler, &err), 0);
	assert_int_equal(http_listen_unix(bench->path, &fd, &err), 0);
	assert_int_equal(http_server_listen(bench->server, fd, true, &err), 0);
	assert_int_equal(http_listen_tcp("127.0.0.1", 0, &fd, &bench->port, &err), 0);
	assert_int_equal(http_server_listen(bench->server, fd, false, &err), 0);
}

void bench_stop(struct bench *bench)
{
	http_server_free(&bench->server);
	assert_null(bench->server);
	loop_free(&bench->loop);
	unlink(bench->path);
	assert_int_equal(rmdir(bench->directory), 0);
}

static void guard_over(struct timer *timer)
{
	(void)timer;
	fail_msg("nothing happened for %d ms", GUARD_MS);
}

void bench_run(struct bench *bench)
{
	timer_start(&bench->guard, bench->loop, GUARD_MS, guard_over);
	loop_run(bench->loop);
	timer_stop(&bench->guard);
}

void bench_run_until_held(struct bench *bench)
{
	while (!bench->held)
		bench_run(bench);
}

void bench_wake(struct bench *bench)
{
	loop_stop(bench->loop);
}

static void settled(struct timer *timer)
{
	bench_wake(container_of(timer, struct bench, guard));
}

void bench_settle(struct bench *bench)
{
	/* Each turn does what is ready; a request goes through the server in one or two. */
	for (int turn = 0; turn < 4; turn++) {
		timer_start(&bench->guard, bench->loop, 0, settled);
		loop_run(bench->loop);
	}
}

struct bench *bench_of(const struct http_request *request)
{
	return request->owner;
}

void bench_gone(struct http_request *request)
{
	struct bench *bench = bench_of(request);

	bench->gone++;
	bench->held = NULL;
	bench_wake(bench);
}

void bench_answer(struct http_request *request, const char *text)
{
	struct http_answer answer = { .status = 200, .content_type = STR("text/plain") };

	http_respond(request, &answer, str_of(text));
}

void bench_answer_path(_unused_ struct bench *bench, struct http_request *request)
{
	char text[128];

	snprintf(text, sizeof(text), "%.*s", STR_ARG(request->path));
	bench_answer(request, text);
}

void bench_hold(struct bench *bench, struct http_request *request)
{
	bench->held = request;
	bench_wake(bench);
}

/* -- peers ----------------------------------------------------------------------------------------------- */

static void drop_dates(struct buf *got)
{
	size_t at;

	while ((at = str_find(buf_str(got), STR("\r\nDate: "))) != STR_NONE &&
	       got->n >= at + 2 + DATE_FIELD) {
		at += 2;
		memmove(got->p + at, got->p + at + DATE_FIELD, got->n - at - DATE_FIELD);
		got->n -= DATE_FIELD;
	}
}

static void peer_ready(struct watch *watch, unsigned events)
{
	struct peer *peer = container_of(watch, struct peer, watch);
	char piece[65536];
	ssize_t n = 0;

	bench_wake(peer->bench);
	if (!(events & WATCH_READ))
		return;
	n = recv(peer->fd, piece, sizeof(piece), 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		peer->reset = n < 0;
		peer->closed = true;
		watch_set(&peer->watch, 0);
		return;
	}
	buf_append(&peer->got, str_make(piece, (size_t)n));
	drop_dates(&peer->got);
}

static void peer_begin(struct peer *peer, struct bench *bench, const struct sockaddr *address, socklen_t n)
{
	*peer = (struct peer){ .bench = bench };
	peer->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(peer->fd >= 0);
	if (connect(peer->fd, address, n) < 0)
		assert_int_equal(errno, EINPROGRESS);
	buf_init(&peer->got, GOT_MAX);
	assert_int_equal(watch_start(&peer->watch, bench->loop, peer->fd, WATCH_READ, peer_ready, NULL), 0);
}

void peer_connect(struct peer *peer, struct bench *bench)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, bench->path, strlen(bench->path));
	peer_begin(peer, bench, (const struct sockaddr *)&address, sizeof(address));
}

void peer_connect_tcp(struct peer *peer, struct bench *bench)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(bench->port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	peer_begin(peer, bench, (const struct sockaddr *)&address, sizeof(address));
}

void peer_connect_and_send(struct peer *peer, struct bench *bench, const char *request)
{
	peer_connect(peer, bench);
	peer_send(peer, str_of(request));
}

void bench_start_holding(struct bench *bench, const struct http_limits *limits, struct peer *peer,
			 const char *request)
{
	bench_start(bench, limits, bench_hold);
	peer_connect_and_send(peer, bench, request);
	bench_run_until_held(bench);
}

void peer_close(struct peer *peer)
{
	watch_stop(&peer->watch);
	close_fd(&peer->fd);
	buf_release(&peer->got);
}

size_t peer_send_some(struct peer *peer, struct str bytes)
{
	ssize_t n = send(peer->fd, bytes.p, bytes.n, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		fail_msg("cannot send: errno %d", errno);
	return n < 0 ? 0 : (size_t)n;
}

static unsigned peer_events(const struct peer *peer)
{
	return peer->deaf || peer->closed ? 0 : WATCH_READ;
}

void peer_send(struct peer *peer, struct str bytes)
{
	while (bytes.n) {
		size_t n = peer_send_some(peer, bytes);

		bytes = str_from(bytes, n);
		if (n)
			continue;
		watch_set(&peer->watch, peer_events(peer) | WATCH_WRITE);
		bench_run(peer->bench);
		watch_set(&peer->watch, peer_events(peer));
	}
}

void peer_set_deaf(struct peer *peer, bool deaf)
{
	peer->deaf = deaf;
	watch_set(&peer->watch, peer_events(peer));
}

void peer_expect(struct peer *peer, const char *text)
{
	struct str expected = str_of(text);

	while (peer->got.n < expected.n && !peer->closed && str_starts_with(expected, buf_str(&peer->got)))
		bench_run(peer->bench);
	if (!str_starts_with(buf_str(&peer->got), expected))
		fail_msg("expected\n%s\nbut got\n%s", text, buf_cstr(&peer->got));
	buf_drop(&peer->got, expected.n);
}

void peer_expect_status(struct peer *peer, const char *status_line)
{
	size_t end;

	while ((end = str_find(buf_str(&peer->got), STR("\r\n\r\n"))) == STR_NONE && !peer->closed)
		bench_run(peer->bench);
	if (end == STR_NONE || !str_starts_with(buf_str(&peer->got), str_of(status_line)))
		fail_msg("expected\n%s\nbut got\n%s", status_line, buf_cstr(&peer->got));
	buf_drop(&peer->got, end + 4);
}

void peer_read_to_end(struct peer *peer)
{
	while (!peer->closed)
		bench_run(peer->bench);
}

void peer_expect_closed(struct peer *peer)
{
	peer_read_to_end(peer);
	if (peer->got.n)
		fail_msg("expected nothing more, but got\n%s", buf_cstr(&peer->got));
	assert_false(peer->reset);
}

void peer_expect_end(struct peer *peer)
{
	peer_expect_closed(peer);
	peer_close(peer);
}

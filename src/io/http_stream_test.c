#include "base/base.h"
#include "io/http_fixture.h"

#include <sys/socket.h>

/* Streamed answers: chunks, back-pressure, peers that go away. */

#define HEAD                                                                                                 \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"               \
	"X-Content-Type-Options: nosniff\r\n\r\n"

static struct bench bench;
static struct http_limits limits;
static struct http_stream stream;
static unsigned rooms;

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	stream = (struct http_stream){ .owner = NULL };
	rooms = 0;
	return 0;
}

static void start(struct bench *b, struct http_request *request)
{
	struct http_answer answer = { .status = 200, .content_type = STR("text/event-stream") };

	http_stream_start(&stream, request, &answer);
	bench_hold(b, request);
}

static void connect_and_send(struct peer *peer, const char *request)
{
	peer_connect_and_send(peer, &bench, request);
	bench_run_until_held(&bench);
}

/* A bench with one stream to this peer, which has its head. */
static void open_stream(struct peer *peer)
{
	bench_start(&bench, &limits, start);
	connect_and_send(peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(peer, HEAD);
}

static void test_chunks(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	assert_int_equal(http_stream_write(&stream, STR("data: 1\n\n")), 0);
	assert_int_equal(http_stream_write(&stream, STR("")), 0);
	assert_int_equal(http_stream_write(&stream, STR("0123456789abcdef")), 0);
	peer_expect(&peer, "9\r\ndata: 1\n\n\r\n10\r\n0123456789abcdef\r\n");
	http_stream_end(&stream);
	peer_expect(&peer, "0\r\n\r\n");
	/* The connection goes on. */
	bench.held = NULL;
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, HEAD);
	http_stream_end(&stream);
	peer_expect(&peer, "0\r\n\r\n");
	peer_close(&peer);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	bench_stop(&bench);
}

static void test_head_and_old_peers(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, start);
	connect_and_send(&peer, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(http_stream_write(&stream, STR("dropped")), 0);
	http_stream_end(&stream);
	peer_expect(&peer, HEAD);
	bench_settle(&bench);
	assert_int_equal(peer.got.n, 0);
	peer_close(&peer);

	bench.held = NULL;
	connect_and_send(&peer, "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
	assert_int_equal(http_stream_write(&stream, STR("raw ")), 0);
	assert_int_equal(http_stream_write(&stream, STR("bytes")), 0);
	http_stream_end(&stream);
	peer_expect(&peer, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
			   "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nraw bytes");
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* -- back-pressure --------------------------------------------------------------------------------------- */

enum { PIECE = 10000 };

static void count_room(struct http_stream *s)
{
	(void)s;
	rooms++;
	bench_wake(&bench);
}

/* Writes pieces until there is no room; returns how many bytes were taken. */
static size_t fill(void)
{
	char piece[PIECE];
	size_t taken = 0;

	memset(piece, 'x', sizeof(piece));
	while (http_stream_write(&stream, str_make(piece, sizeof(piece))) == 0)
		taken += sizeof(piece);
	return taken;
}

static void test_back_pressure(void **state)
{
	size_t taken, room;
	struct peer peer;

	(void)state;
	open_stream(&peer);
	peer_set_deaf(&peer, true);
	stream.on_room = count_room;
	assert_true(http_stream_room(&stream) > 60000);
	taken = fill();
	/* The socket's buffers are full, and what we hold is below the mark. */
	room = http_stream_room(&stream);
	assert_true(room < PIECE);
	/* A smaller piece still fits. */
	assert_int_equal(http_stream_write(&stream, str_make("0123456789", room < 10 ? room : 10)), 0);
	assert_int_equal(http_stream_write(&stream, str_make("x", limits.unsent_bytes)), ERR_BUSY);
	bench_settle(&bench);
	assert_int_equal(rooms, 0);

	peer_set_deaf(&peer, false);
	while (!rooms)
		bench_run(&bench);
	/* What was refused is as large as the mark: it is offered when nothing is held. */
	assert_true(http_stream_room(&stream) > 60000);
	taken += fill();
	http_stream_end(&stream);
	while (!str_ends_with(buf_str(&peer.got), STR("\r\n0\r\n\r\n")))
		bench_run(&bench);
	assert_true(peer.got.n > taken);
	assert_int_equal(bench.gone, 0);
	peer_close(&peer);
	bench_stop(&bench);
}

/* One piece may be as large as it likes when nothing is held. */
static void test_large_piece(void **state)
{
	enum { SIZE = 1024 * 1024 };
	char *piece = xcalloc(1, SIZE);
	struct peer peer;

	(void)state;
	open_stream(&peer);
	stream.on_room = count_room;
	assert_int_equal(http_stream_write(&stream, str_make(piece, SIZE)), 0);
	assert_int_equal(http_stream_room(&stream), 0);
	assert_int_equal(http_stream_write(&stream, STR("more")), ERR_BUSY);
	while (!rooms)
		bench_run(&bench);
	assert_int_equal(http_stream_write(&stream, STR("more")), 0);
	http_stream_end(&stream);
	peer_expect(&peer, "100000\r\n");
	while (peer.got.n < SIZE + 16)
		bench_run(&bench);
	assert_true(str_ends_with(buf_str(&peer.got), STR("\r\n4\r\nmore\r\n0\r\n\r\n")));
	free(piece);
	peer_close(&peer);
	bench_stop(&bench);
}

static void test_slow_reader(void **state)
{
	struct peer peer;

	(void)state;
	limits.write_ms = 1;
	open_stream(&peer);
	peer_set_deaf(&peer, true);
	fill();
	while (!bench.gone)
		bench_run(&bench);
	assert_int_equal(http_server_connections(bench.server), 0);
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- ends that are none ---------------------------------------------------------------------------------- */

/* An idle stream whose peer leaves is noticed without a write. Over TCP one that only stopped sending looks
 * the same. */
static void test_gone(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	peer_close(&peer);
	while (bench.gone < 1)
		bench_run(&bench);

	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, HEAD);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	while (bench.gone < 2)
		bench_run(&bench);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* Over a unix socket it does not, and goes on reading, until it closes. */
static void test_half_closed(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	assert_int_equal(http_stream_write(&stream, STR("x")), 0);
	peer_expect(&peer, "1\r\nx\r\n");
	assert_int_equal(bench.gone, 0);
	peer_close(&peer);
	while (!bench.gone)
		bench_run(&bench);
	bench_stop(&bench);
}

static void test_gone_while_writing(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	peer_close(&peer);
	/* The write finds out first; `gone` does not come from within it. */
	assert_int_equal(http_stream_write(&stream, STR("x")), ERR_CLOSED);
	assert_int_equal(bench.gone, 0);
	assert_int_equal(http_stream_write(&stream, STR("x")), ERR_CLOSED);
	while (!bench.gone)
		bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

static void test_abort(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, start);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	http_stream_write(&stream, STR("half"));
	http_stream_abort(&stream);
	peer_expect(&peer, HEAD "4\r\nhalf\r\n");
	peer_expect_end(&peer);
	assert_int_equal(bench.gone, 0);

	/* Where the end of the connection is the end of the answer, it is a reset. */
	bench.held = NULL;
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	http_stream_abort(&stream);
	peer_read_to_end(&peer);
	assert_true(peer.reset);
	peer_close(&peer);
	bench_stop(&bench);
}

static void abort_stream(struct http_stream *s)
{
	http_stream_abort(s);
	count_room(s);
}

/* Also by a producer that gives up when it is offered room, and nothing is held any more that could fail. */
static void test_abort_when_there_is_room(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	peer_set_deaf(&peer, true);
	stream.on_room = abort_stream;
	fill();
	assert_int_equal(http_stream_write(&stream, str_make(HEAD, limits.unsent_bytes)), ERR_BUSY);
	peer_set_deaf(&peer, false);
	peer_read_to_end(&peer);
	assert_int_equal(rooms, 1);
	assert_false(str_ends_with(buf_str(&peer.got), STR("\r\n0\r\n\r\n")));
	assert_int_equal(http_server_connections(bench.server), 0);
	assert_int_equal(bench.gone, 0);
	peer_close(&peer);
	bench_stop(&bench);
}

/* What the peer sends meanwhile waits, and does not keep the loop busy. */
static void test_input_meanwhile(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	bench_settle(&bench);
	assert_int_equal(bench.requests, 1);
	assert_int_equal(http_stream_write(&stream, STR("x")), 0);
	http_stream_end(&stream);
	peer_expect(&peer, "1\r\nx\r\n0\r\n\r\n" HEAD);
	assert_int_equal(bench.requests, 2);
	peer_close(&peer);
	bench_stop(&bench);
}

/* A drained server lets a stream end by itself, as the last answer. */
static void nothing(void *context)
{
	bench_wake(context);
}

static void test_drain(void **state)
{
	struct peer peer;

	(void)state;
	open_stream(&peer);
	http_server_drain(bench.server, limits.idle_ms, nothing, &bench);
	assert_int_equal(http_stream_write(&stream, STR("x")), 0);
	http_stream_end(&stream);
	peer_expect(&peer, "1\r\nx\r\n0\r\n\r\n");
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* One that does not end is broken off, so that its reader knows. */
static void test_drain_breaks_off(void **state)
{
	struct peer peer;

	(void)state;
	limits.linger_ms = 1;
	open_stream(&peer);
	http_server_drain(bench.server, 1, nothing, &bench);
	while (!bench.gone)
		bench_run(&bench);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* A body that comes while the answer is being streamed, and breaks: the answer cannot become another one. */
static void take_data(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	(void)request;
	assert_false(last || too_large);
	http_stream_write(&stream, bytes);
}

static void start_echo(struct bench *b, struct http_request *request)
{
	start(b, request);
	http_stream_body(request, UINT64_MAX, take_data);
}

static void test_both_directions(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, start_echo);
	connect_and_send(&peer, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	peer_send(&peer, STR("2\r\nhi\r\n"));
	peer_expect(&peer, "2\r\nhi\r\n");
	peer_send(&peer, STR("nonsense"));
	peer_expect_closed(&peer);
	assert_int_equal(bench.gone, 1);
	peer_close(&peer);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_chunks, set_up),
		cmocka_unit_test_setup(test_head_and_old_peers, set_up),
		cmocka_unit_test_setup(test_back_pressure, set_up),
		cmocka_unit_test_setup(test_large_piece, set_up),
		cmocka_unit_test_setup(test_slow_reader, set_up),
		cmocka_unit_test_setup(test_gone, set_up),
		cmocka_unit_test_setup(test_half_closed, set_up),
		cmocka_unit_test_setup(test_gone_while_writing, set_up),
		cmocka_unit_test_setup(test_abort, set_up),
		cmocka_unit_test_setup(test_abort_when_there_is_room, set_up),
		cmocka_unit_test_setup(test_input_meanwhile, set_up),
		cmocka_unit_test_setup(test_drain, set_up),
		cmocka_unit_test_setup(test_drain_breaks_off, set_up),
		cmocka_unit_test_setup(test_both_directions, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

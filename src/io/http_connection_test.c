#include "base/base.h"
#include "io/http_fixture.h"

#include "io/http_connection.h"

#include <sys/socket.h>

/* The life of a connection: requests in order, time-outs, slow readers, peers that close or go away. */

static struct bench bench;
static struct http_limits limits;

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	return 0;
}

/* -- the connection goes on ------------------------------------------------------------------------------ */

static void test_keep_alive(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&peer, &bench, "GET /one HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&peer, ANSWER(4, "/one"));
	peer_send(&peer, STR("GET /tw"));
	bench_settle(&bench);
	peer_send(&peer, STR("o?x HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, ANSWER(4, "/two"));
	peer_send(&peer, STR("\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	peer_expect(&peer, LAST_ANSWER(1, "/"));
	peer_expect_closed(&peer);
	/* Only one side is closed: what the peer still sends, as node does, breaks nothing. */
	peer_send(&peer, STR("x"));
	bench_settle(&bench);
	assert_int_equal(http_server_connections(bench.server), 1);
	peer_close(&peer);
	bench_settle(&bench);
	assert_int_equal(http_server_connections(bench.server), 0);
	bench_stop(&bench);
}

static void test_http_1_0(void **state)
{
	struct peer peer, other;

	(void)state;
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&peer, &bench, "GET / HTTP/1.0\r\nHost: a\r\n\r\n");
	peer_expect(&peer, LAST_ANSWER(1, "/"));
	peer_expect_closed(&peer);
	peer_connect_and_send(&other, &bench, "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
	peer_expect(&other, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
			    "X-Content-Type-Options: nosniff\r\nConnection: keep-alive\r\n\r\n/");
	peer_send(&other, STR("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&other, ANSWER(2, "/2"));
	peer_close(&peer);
	peer_close(&other);
	bench_stop(&bench);
}

/* More requests at once than are answered in one turn, and more than one head's worth of bytes. */
static void test_pipelining(void **state)
{
	enum { COUNT = 300 };
	_cleanup_buf_ struct buf requests = { 0 };
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, bench_answer_path);
	buf_init(&requests, 1 << 20);
	for (int i = 100; i < 100 + COUNT; i++)
		buf_printf(&requests, "GET /%d HTTP/1.1\r\nHost: a\r\nX-Padding: %0300d\r\n\r\n", i, i);
	peer_connect(&peer, &bench);
	peer_send(&peer, buf_str(&requests));
	for (int i = 100; i < 100 + COUNT; i++) {
		char expected[256];

		snprintf(expected, sizeof(expected), ANSWER(4, "/%d"), i);
		peer_expect(&peer, expected);
	}
	assert_int_equal(bench.requests, COUNT);
	peer_close(&peer);
	bench_stop(&bench);
}

/* A peer that sends no more has an answer to everything that it sent, however much that is. */
static void test_pipelining_by_half_closed(void **state)
{
	enum { COUNT = 100 };
	_cleanup_buf_ struct buf requests = { .max = 1 << 20 };

	(void)state;
	bench_start(&bench, &limits, bench_answer_path);
	for (int i = 100; i < 100 + COUNT; i++)
		buf_printf(&requests, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
	for (int tcp = 0; tcp < 2; tcp++) {
		struct peer peer;

		if (tcp)
			peer_connect_tcp(&peer, &bench);
		else
			peer_connect(&peer, &bench);
		peer_send(&peer, buf_str(&requests));
		assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
		for (int i = 100; i < 100 + COUNT; i++) {
			char expected[256];

			snprintf(expected, sizeof(expected), ANSWER(4, "/%d"), i);
			peer_expect(&peer, expected);
		}
		peer_expect_end(&peer);
	}
	bench_stop(&bench);
}

/* The second request is not looked at before the first is answered, although it has arrived. */
static void test_answer_later(void **state)
{
	struct peer peer;

	(void)state;
	bench_start_holding(&bench, &limits, &peer,
			    "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_settle(&bench);
	assert_int_equal(bench.requests, 1);
	assert_true(str_eq(bench.held->path, STR("/1")));
	peer_send(&peer, STR("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"));
	bench_settle(&bench);
	bench_answer(bench.held, "1");
	/* The request lives until we return to the loop, and the next does not begin before. */
	assert_int_equal(bench.requests, 1);
	assert_true(str_eq(bench.held->path, STR("/1")));
	peer_expect(&peer, ANSWER(1, "1"));
	assert_int_equal(bench.requests, 2);
	bench_answer(bench.held, "2");
	peer_expect(&peer, ANSWER(1, "2"));
	assert_true(str_eq(bench.held->path, STR("/3")));
	bench_answer(bench.held, "3");
	peer_expect(&peer, ANSWER(1, "3"));
	assert_int_equal(bench.gone, 0);
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- time-outs ------------------------------------------------------------------------------------------- */

static void test_header_times_out(void **state)
{
	struct peer peer;

	(void)state;
	limits.header_ms = 1;
	limits.linger_ms = 1;
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&peer, &bench, "GET / HTTP/1.1\r\nHo");
	peer_expect(&peer,
		    "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
		    "Content-Length: 61\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
		    "{\"error\":\"The header of the request did not arrive in time.\"}");
	peer_expect_closed(&peer);
	/* Lingering ends by its own time-out. */
	while (http_server_connections(bench.server))
		bench_settle(&bench);
	peer_close(&peer);
	bench_stop(&bench);
}

/* A thousand half-sent requests end by the time-out while others are answered. */
static void test_many_half_sent(void **state)
{
	enum { COUNT = 200 };
	static struct peer peers[COUNT];
	struct peer other;

	(void)state;
	limits.connections = COUNT + 1;
	limits.linger_ms = 1;
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&other, &bench, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&other, ANSWER(2, "/1"));
	/* Only from here on: to accept so many may take longer, and the other would wait behind them. */
	bench.server->limits.header_ms = 50;
	for (int i = 0; i < COUNT; i++)
		peer_connect_and_send(&peers[i], &bench, "GET / HTTP/1.1\r\nHost: a\r\nX-Half: se");
	for (int i = 0; i < COUNT; i++) {
		peer_expect_status(&peers[i], "HTTP/1.1 408 Request Timeout\r\n");
		peer_close(&peers[i]);
	}
	peer_send(&other, STR("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&other, ANSWER(2, "/2"));
	peer_close(&other);
	bench_stop(&bench);
}

static void answer_and_lose_patience(struct bench *b, struct http_request *request)
{
	b->server->limits.idle_ms = 1;
	bench_answer(request, "");
}

static void test_idle_times_out(void **state)
{
	struct peer peer, fresh;

	(void)state;
	bench_start(&bench, &limits, answer_and_lose_patience);
	peer_connect_and_send(&peer, &bench, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&peer, ANSWER(0, ""));
	peer_expect_closed(&peer);
	peer_connect(&fresh, &bench);
	peer_expect_closed(&fresh);
	peer_close(&peer);
	peer_close(&fresh);
	bench_stop(&bench);
}

enum { LARGE = 4 * 1024 * 1024 /* more than the buffers of a socket hold */ };

static void answer_large(struct bench *b, struct http_request *request)
{
	struct http_answer answer = { .status = 200 };
	char *body = xmalloc(LARGE);

	(void)b;
	memset(body, 'x', LARGE);
	if (str_eq(request->path, STR("/taken"))) {
		http_respond_take(request, &answer, str_make(body, LARGE));
		return;
	}
	http_respond(request, &answer, str_make(body, LARGE));
	free(body);
}

static void expect_large(struct peer *peer)
{
	peer_expect(peer,
		    "HTTP/1.1 200 OK\r\nContent-Length: 4194304\r\nX-Content-Type-Options: nosniff\r\n\r\n");
	while (peer->got.n < LARGE && !peer->closed)
		bench_run(&bench);
	assert_true(peer->got.n >= LARGE);
	for (size_t i = 0; i < LARGE; i++)
		if (peer->got.p[i] != 'x')
			fail_msg("byte %zu of the body is wrong", i);
	buf_drop(&peer->got, LARGE);
}

static void test_large_answers(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_large);
	peer_connect_and_send(
		&peer, &bench,
		"GET /taken HTTP/1.1\r\nHost: a\r\n\r\nGET /copied HTTP/1.1\r\nHost: a\r\n\r\n");
	expect_large(&peer);
	expect_large(&peer);
	peer_send(&peer, STR("GET /taken HTTP/1.1\r\nHost: a\r\n\r\n"));
	expect_large(&peer);
	peer_close(&peer);
	bench_stop(&bench);
}

static void test_slow_reader(void **state)
{
	struct peer peer;

	(void)state;
	limits.write_ms = 1;
	bench_start(&bench, &limits, answer_large);
	peer_connect(&peer, &bench);
	peer_set_deaf(&peer, true);
	peer_send(&peer, STR("GET /taken HTTP/1.1\r\nHost: a\r\n\r\n"));
	while (bench.requests == 0 || http_server_connections(bench.server))
		bench_settle(&bench);
	peer_set_deaf(&peer, false);
	peer_read_to_end(&peer);
	assert_true(peer.got.n < LARGE);
	/* The handler had given its answer: it does not hear of it. */
	assert_int_equal(bench.gone, 0);
	peer_close(&peer);
	bench_stop(&bench);
}

/* A peer that has sent its last request may close that direction and still read the answer. */
static void test_half_closed(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_large);
	peer_connect_and_send(&peer, &bench, "GET /taken HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	expect_large(&peer);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* Also in the middle of a body that nobody wants. Nothing is read again and again while the answer is taken
 * slowly. */
static void test_half_closed_within_the_body(void **state)
{
	struct http_connection *c;
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_large);
	peer_connect(&peer, &bench);
	peer_set_deaf(&peer, true);
	peer_send(&peer, STR("POST /taken HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf"));
	bench_settle(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	c = list_first(&bench.server->connections, struct http_connection, node);
	assert_int_equal(c->watch.wanted, WATCH_WRITE | WATCH_GONE);
	peer_set_deaf(&peer, false);
	expect_large(&peer);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* It may do so while its handler works, over any socket; and what it had sent before is answered, too. */
static void test_half_closed_before_the_answer(void **state)
{
	struct peer peer;

	(void)state;
	bench_start_holding(&bench, &limits, &peer,
			    "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	bench_answer(bench.held, "1");
	peer_expect(&peer, ANSWER(1, "1"));
	assert_int_equal(bench.requests, 2);
	bench_settle(&bench);
	bench_answer(bench.held, "2");
	peer_expect(&peer, ANSWER(1, "2"));
	peer_expect_end(&peer);
	assert_int_equal(http_server_connections(bench.server), 0);

	/* Over TCP it is asked whether it is there. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"));
	while (bench.requests < 3)
		bench_run(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	peer_expect(&peer, "HTTP/1.1 100 Continue\r\n\r\n");
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	bench_answer(bench.held, "3");
	peer_expect(&peer, ANSWER(1, "3"));
	peer_expect_end(&peer);

	/* HTTP/1.0 has no interim answers. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET /4 HTTP/1.0\r\nHost: a\r\n\r\n"));
	while (bench.requests < 4)
		bench_run(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	while (!bench.gone)
		bench_run(&bench);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* -- peers that go away ---------------------------------------------------------------------------------- */

static void test_gone(void **state)
{
	struct peer peer;

	(void)state;
	bench_start_holding(&bench, &limits, &peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	assert_int_equal(http_server_connections(bench.server), 0);

	/* One that had closed one direction before. */
	peer_connect_and_send(&peer, &bench, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run_until_held(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 1);
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 2);

	/* Over TCP, where it looks like one that has closed one direction. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	bench_run_until_held(&bench);
	peer_close(&peer);
	while (bench.gone < 3)
		bench_run(&bench);

	/* The same over TCP, by a reset, with input that nobody has read. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n"));
	bench_run_until_held(&bench);
	peer_send(&peer, STR("Host: a\r\n\r\n"));
	bench_settle(&bench);
	assert_int_equal(
		setsockopt(peer.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger)),
		0);
	peer_close(&peer);
	while (bench.gone < 4)
		bench_run(&bench);
	assert_int_equal(bench.gone, 4);
	bench_stop(&bench);
}

/* The answer of a peer that has just gone is dropped, and the handler is not told twice. */
static void test_answer_to_nobody(void **state)
{
	struct peer peer;

	(void)state;
	bench_start_holding(&bench, &limits, &peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_close(&peer);
	bench_answer(bench.held, "too late");
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	assert_int_equal(http_server_connections(bench.server), 0);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_keep_alive, set_up),
		cmocka_unit_test_setup(test_http_1_0, set_up),
		cmocka_unit_test_setup(test_pipelining, set_up),
		cmocka_unit_test_setup(test_pipelining_by_half_closed, set_up),
		cmocka_unit_test_setup(test_answer_later, set_up),
		cmocka_unit_test_setup(test_header_times_out, set_up),
		cmocka_unit_test_setup(test_many_half_sent, set_up),
		cmocka_unit_test_setup(test_idle_times_out, set_up),
		cmocka_unit_test_setup(test_large_answers, set_up),
		cmocka_unit_test_setup(test_slow_reader, set_up),
		cmocka_unit_test_setup(test_half_closed, set_up),
		cmocka_unit_test_setup(test_half_closed_within_the_body, set_up),
		cmocka_unit_test_setup(test_half_closed_before_the_answer, set_up),
		cmocka_unit_test_setup(test_gone, set_up),
		cmocka_unit_test_setup(test_answer_to_nobody, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

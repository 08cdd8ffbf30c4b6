#include "base/base.h"
#include "io/http_fixture.h"

#include "io/http_connection.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* Requests without bodies and whole answers: framing, order, closing, time-outs, limits, draining. */

#define OK(length, body)                                                                                     \
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " #length                            \
	"\r\nX-Content-Type-Options: nosniff\r\n\r\n" body

static struct bench bench;
static struct http_limits limits;

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	return 0;
}

static void answer_path(struct bench *b, struct http_request *request)
{
	char text[128];

	(void)b;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(request->path));
	bench_answer(request, text);
}

static void connect_and_send(struct peer *peer, const char *request)
{
	peer_connect(peer, &bench);
	peer_send(peer, str_of(request));
}

/* -- the connection goes on ------------------------------------------------------------------------------ */

static void test_keep_alive(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_path);
	connect_and_send(&peer, "GET /one HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&peer, OK(4, "/one"));
	peer_send(&peer, STR("GET /tw"));
	bench_settle(&bench);
	peer_send(&peer, STR("o?x HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, OK(4, "/two"));
	peer_send(&peer, STR("\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	peer_expect(&peer, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
			   "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n/");
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
	bench_start(&bench, &limits, answer_path);
	connect_and_send(&peer, "GET / HTTP/1.0\r\nHost: a\r\n\r\n");
	peer_expect(&peer, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
			   "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n/");
	peer_expect_closed(&peer);
	connect_and_send(&other, "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
	peer_expect(&other, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
			    "X-Content-Type-Options: nosniff\r\nConnection: keep-alive\r\n\r\n/");
	peer_send(&other, STR("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&other, OK(2, "/2"));
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
	bench_start(&bench, &limits, answer_path);
	buf_init(&requests, 1 << 20);
	for (int i = 100; i < 100 + COUNT; i++)
		buf_printf(&requests, "GET /%d HTTP/1.1\r\nHost: a\r\nX-Padding: %0300d\r\n\r\n", i, i);
	peer_connect(&peer, &bench);
	peer_send(&peer, buf_str(&requests));
	for (int i = 100; i < 100 + COUNT; i++) {
		char expected[256];

		snprintf(expected, sizeof(expected), OK(4, "/%d"), i);
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
	bench_start(&bench, &limits, answer_path);
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

			snprintf(expected, sizeof(expected), OK(4, "/%d"), i);
			peer_expect(&peer, expected);
		}
		peer_expect_closed(&peer);
		peer_close(&peer);
	}
	bench_stop(&bench);
}

/* The second request is not looked at before the first is answered, although it has arrived. */
static void test_answer_later(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&peer, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	bench_settle(&bench);
	assert_int_equal(bench.requests, 1);
	assert_true(str_eq(bench.held->path, STR("/1")));
	peer_send(&peer, STR("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"));
	bench_settle(&bench);
	bench_answer(bench.held, "1");
	/* The request lives until we return to the loop, and the next does not begin before. */
	assert_int_equal(bench.requests, 1);
	assert_true(str_eq(bench.held->path, STR("/1")));
	peer_expect(&peer, OK(1, "1"));
	assert_int_equal(bench.requests, 2);
	bench_answer(bench.held, "2");
	peer_expect(&peer, OK(1, "2"));
	assert_true(str_eq(bench.held->path, STR("/3")));
	bench_answer(bench.held, "3");
	peer_expect(&peer, OK(1, "3"));
	assert_int_equal(bench.gone, 0);
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- what a request says, and what an answer says -------------------------------------------------------- */

static void answer_fields(struct bench *b, struct http_request *request)
{
	char text[512];
	struct str upgrade = http_field(request, STR("upgrade"));

	(void)b;
	snprintf(text, sizeof(text), "%.*s %.*s %.*s q=%.*s x=%.*s none=%d n=%zu", STR_ARG(request->method),
		 STR_ARG(request->target), STR_ARG(request->path), STR_ARG(http_query(request, STR("q"))),
		 STR_ARG(http_field(request, STR("x-LIST"))), upgrade.p == NULL, request->field_count);
	bench_answer(request, text);
}

static void test_request(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_fields);
	connect_and_send(&peer, "PATCH /a%20b?p=1&q=%C3%A4+1 HTTP/1.1\r\nHost: a\r\nX-List: 1\r\nOther: 0\r\n"
				"x-list: 2, 3\r\n\r\n");
	peer_expect(&peer, OK(60, "PATCH /a%20b?p=1&q=%C3%A4+1 /a b q=\xc3\xa4 1 x=1, 2, 3 none=1 n=4"));
	peer_send(&peer, STR("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, OK(28, "OPTIONS * * q= x= none=1 n=1"));
	peer_close(&peer);
	bench_stop(&bench);
}

static void answer_peer(struct bench *b, struct http_request *request)
{
	char text[128];

	(void)b;
	if (request->peer->local)
		snprintf(text, sizeof(text), "uid %u pid %d", request->peer->uid, request->peer->pid);
	else
		snprintf(text, sizeof(text), "%.*s", STR_ARG(request->peer->address));
	bench_answer(request, text);
}

static void test_peer(void **state)
{
	struct peer peer;
	char expected[128];
	struct str body;

	(void)state;
	bench_start(&bench, &limits, answer_peer);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	peer_read_to_end(&peer);
	snprintf(expected, sizeof(expected), "\r\n\r\nuid %u pid %d", getuid(), getpid());
	assert_true(str_ends_with(buf_str(&peer.got), str_of(expected)));
	peer_close(&peer);

	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	peer_read_to_end(&peer);
	body = str_from(buf_str(&peer.got), str_find(buf_str(&peer.got), STR("\r\n\r\n")) + 4);
	assert_true(str_starts_with(body, STR("127.0.0.1:")));
	peer_close(&peer);
	bench_stop(&bench);
}

static void answer_many_ways(struct bench *b, struct http_request *request)
{
	const struct http_field fields[] = { { STR("X-One"), STR("1") }, { STR("X-Two"), STR("2") } };
	struct http_answer answer = { .status = 204, .fields = fields, .field_count = 2 };

	(void)b;
	if (str_eq(request->path, STR("/204")))
		http_respond(request, &answer, STR("dropped"));
	else if (str_eq(request->path, STR("/304"))) {
		answer.status = 304;
		http_respond_take(request, &answer, str_make(NULL, 0));
	} else if (str_eq(request->path, STR("/empty"))) {
		answer.status = 404;
		http_respond(request, &answer, STR(""));
	} else {
		struct buf body = { 0 };

		buf_init(&body, 100);
		buf_append(&body, STR("taken"));
		answer.status = 418;
		http_respond_take(request, &answer, buf_take(&body));
	}
}

static void test_answers(void **state)
{
	static const char *const requests[] = { "GET /204 HTTP/1.1\r\nHost: a\r\n\r\n",
						"GET /304 HTTP/1.1\r\nHost: a\r\n\r\n",
						"GET /empty HTTP/1.1\r\nHost: a\r\n\r\n",
						"GET /taken HTTP/1.1\r\nHost: a\r\n\r\n",
						"HEAD /taken HTTP/1.1\r\nHost: a\r\n\r\n" };
	static const char *const answers[] = {
		"HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nX-One: 1\r\nX-Two: 2\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nX-Content-Type-Options: nosniff\r\nX-One: 1\r\nX-Two: 2\r\n\r\n",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nX-Content-Type-Options: nosniff\r\n"
		"X-One: 1\r\nX-Two: 2\r\n\r\n",
		"HTTP/1.1 418 Unknown\r\nContent-Length: 5\r\nX-Content-Type-Options: nosniff\r\n"
		"X-One: 1\r\nX-Two: 2\r\n\r\ntaken",
		"HTTP/1.1 418 Unknown\r\nContent-Length: 5\r\nX-Content-Type-Options: nosniff\r\n"
		"X-One: 1\r\nX-Two: 2\r\n\r\n",
	};
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_many_ways);
	peer_connect(&peer, &bench);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		peer_send(&peer, str_of(requests[i]));
		peer_expect(&peer, answers[i]);
	}
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- refusals -------------------------------------------------------------------------------------------- */

/* The requests that packaged servers accept, and the answers that they get here. The parser's test has all of
 * them. */
static void test_strictness(void **state)
{
	static const struct {
		const char *request, *status_line;
	} rows[] = {
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		  "HTTP/1.1 400 Bad Request\r\n" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
		  "HTTP/1.1 400 Bad Request\r\n" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "HTTP/1.1 400 Bad Request\r\n" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		  "HTTP/1.1 501 Not Implemented\r\n" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n",
		  "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.9\r\nHost: a\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n" },
		{ "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n" },
		{ "GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400 Bad Request\r\n" },
		{ "GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n",
		  "HTTP/1.1 417 Expectation Failed\r\n" },
	};

	(void)state;
	bench_start(&bench, &limits, answer_path);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct peer peer;

		/* What follows a refused request is never taken for another one. */
		connect_and_send(&peer, rows[i].request);
		peer_send(&peer, STR("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"));
		peer_expect_status(&peer, rows[i].status_line);
		peer_read_to_end(&peer);
		assert_true(str_ends_with(buf_str(&peer.got), STR(".\"}")));
		assert_int_equal(bench.requests, 0);
		peer_close(&peer);
	}
	bench_stop(&bench);
}

static void expect_refused(const char *begin, const char *pad, unsigned times, const char *status_line)
{
	_cleanup_buf_ struct buf request = { 0 };
	struct peer peer;

	buf_init(&request, 1 << 20);
	buf_append(&request, str_of(begin));
	for (unsigned i = 0; i < times; i++)
		buf_append(&request, str_of(pad));
	peer_connect(&peer, &bench);
	peer_send(&peer, buf_str(&request));
	peer_expect_status(&peer, status_line);
	peer_close(&peer);
}

static void test_limits_of_heads(void **state)
{
	(void)state;
	bench_start(&bench, &limits, answer_path);
	expect_refused("GET / HTTP/1.1\r\nHost: a\r\nX: ", "a", 65536,
		       "HTTP/1.1 431 Request Header Fields Too Large\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost: a\r\n", "X: y\r\n", 1000,
		       "HTTP/1.1 431 Request Header Fields Too Large\r\n");
	expect_refused("GET /", "a", 65536, "HTTP/1.1 414 URI Too Long\r\n");
	assert_int_equal(bench.requests, 0);
	bench_stop(&bench);
}

static void test_refusal_text(void **state)
{
	struct peer peer, quoted;

	(void)state;
	bench_start(&bench, &limits, answer_path);
	connect_and_send(&peer, "GET / HTTP/1.1\r\n\r\n");
	peer_expect(&peer,
		    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
		    "Content-Length: 35\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
		    "{\"error\":\"There is no Host field.\"}");
	peer_expect_closed(&peer);
	/* What is refused with quotes in it is JSON all the same. */
	connect_and_send(&quoted, "GET * HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect_status(&quoted, "HTTP/1.1 400 Bad Request\r\n");
	peer_expect(&quoted, "{\"error\":\"The target \\\"*\\\" is for OPTIONS only.\"}");
	peer_close(&quoted);
	bench_settle(&bench);
	/* The server still reads, so that nothing it has not read resets the connection, until we close,
	 * too. */
	peer_send(&peer, STR("more and more"));
	bench_settle(&bench);
	assert_int_equal(http_server_connections(bench.server), 1);
	peer_close(&peer);
	bench_settle(&bench);
	assert_int_equal(http_server_connections(bench.server), 0);
	bench_stop(&bench);
}

/* RFC 9110 section 9.3.2: no answer to HEAD has a body, and a refusal is one, as soon as the method can be
 * read. */
static void test_refusal_of_head(void **state)
{
	static const char *const requests[] = { "HEAD /../ HTTP/1.1\r\nHost: a\r\n\r\n",
						"HEAD / HTTP/1.1\r\n\r\n",
						"HEAD / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n" };

	(void)state;
	bench_start(&bench, &limits, answer_path);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct peer peer;

		connect_and_send(&peer, requests[i]);
		peer_expect_status(&peer, "HTTP/1.1 400 Bad Request\r\n");
		peer_read_to_end(&peer);
		assert_int_equal(peer.got.n, 0);
		peer_close(&peer);
	}
	bench_stop(&bench);
}

/* -- time-outs ------------------------------------------------------------------------------------------- */

static void test_header_times_out(void **state)
{
	struct peer peer;

	(void)state;
	limits.header_ms = 1;
	limits.linger_ms = 1;
	bench_start(&bench, &limits, answer_path);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHo");
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
	limits.header_ms = 50;
	limits.linger_ms = 1;
	bench_start(&bench, &limits, answer_path);
	for (int i = 0; i < COUNT; i++)
		connect_and_send(&peers[i], "GET / HTTP/1.1\r\nHost: a\r\nX-Half: se");
	connect_and_send(&other, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&other, OK(2, "/1"));
	for (int i = 0; i < COUNT; i++) {
		peer_expect_status(&peers[i], "HTTP/1.1 408 Request Timeout\r\n");
		peer_close(&peers[i]);
	}
	peer_send(&other, STR("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&other, OK(2, "/2"));
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
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&peer, OK(0, ""));
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
	connect_and_send(&peer,
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
	connect_and_send(&peer, "GET /taken HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	expect_large(&peer);
	peer_expect_closed(&peer);
	peer_close(&peer);
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
	peer_expect_closed(&peer);
	peer_close(&peer);
	bench_stop(&bench);
}

/* It may do so while its handler works, over any socket; and what it had sent before is answered, too. */
static void test_half_closed_before_the_answer(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&peer, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	bench_answer(bench.held, "1");
	peer_expect(&peer, OK(1, "1"));
	assert_int_equal(bench.requests, 2);
	bench_settle(&bench);
	bench_answer(bench.held, "2");
	peer_expect(&peer, OK(1, "2"));
	peer_expect_closed(&peer);
	peer_close(&peer);
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
	peer_expect(&peer, OK(1, "3"));
	peer_expect_closed(&peer);
	peer_close(&peer);

	/* HTTP/1.0 has no interim answers. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET /4 HTTP/1.0\r\nHost: a\r\n\r\n"));
	while (bench.requests < 4)
		bench_run(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	while (!bench.gone)
		bench_run(&bench);
	peer_expect_closed(&peer);
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- peers that go away ---------------------------------------------------------------------------------- */

static void test_gone(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	assert_non_null(bench.held);
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	assert_int_equal(http_server_connections(bench.server), 0);

	/* One that had closed one direction before. */
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	while (!bench.held)
		bench_run(&bench);
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 1);
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 2);

	/* Over TCP, where it looks like one that has closed one direction. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	while (!bench.held)
		bench_run(&bench);
	peer_close(&peer);
	while (bench.gone < 3)
		bench_run(&bench);

	/* The same over TCP, by a reset, with input that nobody has read. */
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n"));
	while (!bench.held)
		bench_run(&bench);
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
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	peer_close(&peer);
	bench_answer(bench.held, "too late");
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	assert_int_equal(http_server_connections(bench.server), 0);
	bench_stop(&bench);
}

static void free_server(struct bench *b, struct http_request *request)
{
	(void)request;
	http_server_free(&b->server);
	bench_wake(b);
}

static void test_free_with_open_requests(void **state)
{
	struct peer peer, other;

	(void)state;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	peer_connect(&other, &bench);
	bench_settle(&bench);
	http_server_free(&bench.server);
	assert_int_equal(bench.gone, 1);
	peer_expect_closed(&peer);
	peer_expect_closed(&other);
	peer_close(&peer);
	peer_close(&other);
	bench_stop(&bench);

	/* From within a handler. */
	bench_start(&bench, &limits, free_server);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
	while (bench.server)
		bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	peer_expect_closed(&peer);
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- accepting ------------------------------------------------------------------------------------------- */

static void test_limit_of_connections(void **state)
{
	struct peer one, two, three;

	(void)state;
	limits.connections = 2;
	bench_start(&bench, &limits, answer_path);
	connect_and_send(&one, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
	connect_and_send(&two, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	connect_and_send(&three, "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&one, OK(2, "/1"));
	peer_expect(&two, OK(2, "/2"));
	bench_settle(&bench);
	assert_int_equal(bench.requests, 2);
	assert_int_equal(http_server_connections(bench.server), 2);
	peer_close(&one);
	peer_expect(&three, OK(2, "/3"));
	peer_close(&two);
	peer_close(&three);
	bench_stop(&bench);
}

/* Descriptors run out: the listener pauses, goes on after its time or when a connection closes, and what
 * waited is served. */
static void test_out_of_descriptors(void **state)
{
	struct rlimit before, none;
	struct peer first, peer;

	(void)state;
	limits.accept_retry_ms = 1;
	bench_start(&bench, &limits, answer_path);
	connect_and_send(&first, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&first, OK(2, "/1"));
	connect_and_send(&peer, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* It pauses again and again, and others are served meanwhile. */
	while (http_server_accept_pauses(bench.server) < 3)
		bench_settle(&bench);
	peer_send(&first, STR("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&first, OK(2, "/3"));
	assert_int_equal(bench.requests, 2);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	peer_expect(&peer, OK(2, "/2"));
	peer_close(&first);
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- draining -------------------------------------------------------------------------------------------- */

static unsigned drained_count;

static void count_drained(void *context)
{
	drained_count++;
	bench_wake(context);
}

static void test_drain(void **state)
{
	struct peer idle, running, refused;

	(void)state;
	drained_count = 0;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&running, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	peer_connect(&idle, &bench);
	bench_settle(&bench);
	http_server_drain(bench.server, limits.idle_ms, count_drained, &bench);
	peer_expect_closed(&idle);
	assert_int_equal(drained_count, 0);
	assert_int_equal(http_server_connections(bench.server), 1);
	peer_connect_tcp(&refused, &bench);
	peer_read_to_end(&refused);
	assert_true(refused.reset);

	bench_answer(bench.held, "last");
	peer_expect(&running, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"
			      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nlast");
	peer_expect_closed(&running);
	peer_close(&running);
	while (!drained_count)
		bench_run(&bench);
	bench_settle(&bench);
	assert_int_equal(drained_count, 1);
	assert_int_equal(bench.gone, 0);
	peer_close(&idle);
	peer_close(&refused);
	bench_stop(&bench);
}

#define UNAVAILABLE                                                                                          \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 40\r\n"       \
	"X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"                                       \
	"{\"error\":\"The server is shutting down.\"}"

/* What has no answer when the grace is over gets one. The peer may take its time to read it, but not for
 * ever. */
static void test_drain_ends_by_force(void **state)
{
	struct peer peer, other;

	(void)state;
	drained_count = 0;
	limits.linger_ms = 1;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	connect_and_send(&other, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	while (bench.requests < 2)
		bench_run(&bench);
	http_server_drain(bench.server, limits.idle_ms, count_drained, &bench);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	/* Somebody lost patience. */
	http_server_drain(bench.server, 1, count_drained, &bench);
	while (!drained_count)
		bench_run(&bench);
	assert_int_equal(bench.gone, 2);
	peer_expect(&peer, UNAVAILABLE);
	peer_expect(&other, UNAVAILABLE);
	peer_expect_closed(&peer);
	peer_expect_closed(&other);
	peer_close(&peer);
	peer_close(&other);
	bench_stop(&bench);

	/* Nothing to wait for: still later, and once. */
	drained_count = 0;
	bench_start(&bench, &limits, bench_hold);
	http_server_drain(bench.server, limits.idle_ms, count_drained, &bench);
	assert_int_equal(drained_count, 0);
	bench_run(&bench);
	assert_int_equal(drained_count, 1);
	bench_stop(&bench);
}

static void free_with_the_request(struct http_request *request)
{
	struct bench *b = bench_of(request);

	http_server_free(&b->server);
	bench_wake(b);
}

static void hold_and_free(struct bench *b, struct http_request *request)
{
	request->gone = free_with_the_request;
	bench_hold(b, request);
}

/* A handler may end the server when it hears that the grace is over. */
static void test_free_when_the_grace_is_over(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, hold_and_free);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	bench_run(&bench);
	http_server_drain(bench.server, 1, count_drained, &bench);
	while (bench.server)
		bench_run(&bench);
	peer_expect_closed(&peer);
	peer_close(&peer);
	bench_stop(&bench);
}

/* What cannot be answered, because it has not come, is refused; the others go on. */
static void test_drain_refuses_incomplete(void **state)
{
	struct peer whole, half;

	(void)state;
	drained_count = 0;
	bench_start(&bench, &limits, bench_hold);
	connect_and_send(&half, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
	bench_run(&bench);
	connect_and_send(&whole, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	while (bench.requests < 2)
		bench_run(&bench);
	http_server_drain(bench.server, limits.idle_ms, count_drained, &bench);
	http_server_refuse_incomplete(bench.server);
	peer_expect(&half, UNAVAILABLE);
	peer_expect_closed(&half);
	assert_int_equal(bench.gone, 1);
	peer_close(&half);
	peer_close(&whole);
	while (!drained_count)
		bench_run(&bench);
	assert_int_equal(bench.gone, 2);
	bench_stop(&bench);
}

/* -- upgrades -------------------------------------------------------------------------------------------- */

static int upgraded_fd;
static char upgraded_read[64];

static void upgrade(struct bench *b, struct http_request *request)
{
	const struct http_field field = { STR("X-Accept"), STR("yes") };
	_cleanup_buf_ struct buf read = { 0 };

	if (!http_wants_upgrade(request, STR("echo"))) {
		bench_answer(request, "no");
		return;
	}
	buf_init(&read, sizeof(upgraded_read) - 1);
	upgraded_fd = -1;
	if (http_upgrade(request, STR("echo"), &field, 1, &upgraded_fd, &read) == 0)
		snprintf(upgraded_read, sizeof(upgraded_read), "%s", buf_cstr(&read));
	bench_wake(b);
}

static void test_upgrade(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, upgrade);
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n"
				"Upgrade: other, Echo\r\n\r\nhello");
	peer_expect(&peer, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"
			   "X-Accept: yes\r\n\r\n");
	assert_string_equal(upgraded_read, "hello");
	assert_int_equal(http_server_connections(bench.server), 0);
	assert_int_equal(write(upgraded_fd, "back", 4), 4);
	peer_expect(&peer, "back");
	close_fd(&upgraded_fd);
	peer_expect_closed(&peer);
	peer_close(&peer);

	/* Not asked for, or not possible. */
	connect_and_send(&peer, "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\n\r\n"
				"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n"
				"POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"
				"GET / HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
	peer_expect(&peer, OK(2, "no"));
	peer_expect(&peer, OK(2, "no"));
	peer_expect(&peer, OK(2, "no"));
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	peer_close(&peer);
	assert_int_equal(bench.gone, 0);
	bench_stop(&bench);
}

/* More came behind the request than the new protocol's reader takes: the request is over, without a
 * descriptor. */
static void test_upgrade_fails(void **state)
{
	struct peer peer;
	char request[256];

	(void)state;
	bench_start(&bench, &limits, upgrade);
	snprintf(request, sizeof(request),
		 "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n%0100d", 1);
	upgraded_fd = -2;
	connect_and_send(&peer, request);
	peer_expect_status(&peer, "HTTP/1.1 101 Switching Protocols\r\n");
	peer_read_to_end(&peer);
	assert_int_equal(upgraded_fd, -1);
	assert_int_equal(bench.gone, 0);
	assert_int_equal(http_server_connections(bench.server), 0);
	peer_close(&peer);
	bench_stop(&bench);
}

static void test_bad_limits(void **state)
{
	struct http_server *server = NULL;
	struct http_handler handler = { 0 };
	struct err err;

	(void)state;
	limits.connections = 0;
	assert_int_equal(http_server_new(&server, NULL, &limits, &handler, &err), ERR_INVALID);
	assert_string_equal(err.message,
			    "the HTTP server needs limits over 0 for header bytes (below 2 GiB), "
			    "connections and unsent bytes");
	assert_null(server);
	http_server_free(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_keep_alive, set_up),
		cmocka_unit_test_setup(test_http_1_0, set_up),
		cmocka_unit_test_setup(test_pipelining, set_up),
		cmocka_unit_test_setup(test_pipelining_by_half_closed, set_up),
		cmocka_unit_test_setup(test_answer_later, set_up),
		cmocka_unit_test_setup(test_request, set_up),
		cmocka_unit_test_setup(test_peer, set_up),
		cmocka_unit_test_setup(test_answers, set_up),
		cmocka_unit_test_setup(test_strictness, set_up),
		cmocka_unit_test_setup(test_limits_of_heads, set_up),
		cmocka_unit_test_setup(test_refusal_text, set_up),
		cmocka_unit_test_setup(test_refusal_of_head, set_up),
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
		cmocka_unit_test_setup(test_free_with_open_requests, set_up),
		cmocka_unit_test_setup(test_limit_of_connections, set_up),
		cmocka_unit_test_setup(test_out_of_descriptors, set_up),
		cmocka_unit_test_setup(test_drain, set_up),
		cmocka_unit_test_setup(test_drain_ends_by_force, set_up),
		cmocka_unit_test_setup(test_free_when_the_grace_is_over, set_up),
		cmocka_unit_test_setup(test_drain_refuses_incomplete, set_up),
		cmocka_unit_test_setup(test_upgrade, set_up),
		cmocka_unit_test_setup(test_upgrade_fails, set_up),
		cmocka_unit_test_setup(test_bad_limits, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

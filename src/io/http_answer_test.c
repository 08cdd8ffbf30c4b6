#include "base/base.h"
#include "io/http_fixture.h"

/* What a request says to its handler, and what an answer says to the peer: whole answers, refusals,
 * upgrades. */

static struct bench bench;
static struct http_limits limits;

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	return 0;
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
	peer_connect_and_send(&peer, &bench,
			      "PATCH /a%20b?p=1&q=%C3%A4+1 HTTP/1.1\r\nHost: a\r\nX-List: 1\r\nOther: 0\r\n"
			      "x-list: 2, 3\r\n\r\n");
	peer_expect(&peer, ANSWER(60, "PATCH /a%20b?p=1&q=%C3%A4+1 /a b q=\xc3\xa4 1 x=1, 2, 3 none=1 n=4"));
	peer_send(&peer, STR("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, ANSWER(28, "OPTIONS * * q= x= none=1 n=1"));
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
	peer_connect_and_send(&peer, &bench, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
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
	bench_start(&bench, &limits, bench_answer_path);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct peer peer;

		/* What follows a refused request is never taken for another one. */
		peer_connect_and_send(&peer, &bench, rows[i].request);
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
	bench_start(&bench, &limits, bench_answer_path);
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
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&peer, &bench, "GET / HTTP/1.1\r\n\r\n");
	peer_expect(&peer,
		    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
		    "Content-Length: 35\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
		    "{\"error\":\"There is no Host field.\"}");
	peer_expect_closed(&peer);
	/* What is refused with quotes in it is JSON all the same. */
	peer_connect_and_send(&quoted, &bench, "GET * HTTP/1.1\r\nHost: a\r\n\r\n");
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
	bench_start(&bench, &limits, bench_answer_path);
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct peer peer;

		peer_connect_and_send(&peer, &bench, requests[i]);
		peer_expect_status(&peer, "HTTP/1.1 400 Bad Request\r\n");
		peer_read_to_end(&peer);
		assert_int_equal(peer.got.n, 0);
		peer_close(&peer);
	}
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
	peer_connect_and_send(&peer, &bench,
			      "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n"
			      "Upgrade: other, Echo\r\n\r\nhello");
	peer_expect(&peer, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"
			   "X-Accept: yes\r\n\r\n");
	assert_string_equal(upgraded_read, "hello");
	assert_int_equal(http_server_connections(bench.server), 0);
	assert_int_equal(write(upgraded_fd, "back", 4), 4);
	peer_expect(&peer, "back");
	close_fd(&upgraded_fd);
	peer_expect_end(&peer);

	/* Not asked for, or not possible. */
	peer_connect_and_send(&peer, &bench,
			      "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\n\r\n"
			      "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n"
			      "POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"
			      "GET / HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
	peer_expect(&peer, ANSWER(2, "no"));
	peer_expect(&peer, ANSWER(2, "no"));
	peer_expect(&peer, ANSWER(2, "no"));
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
	peer_connect_and_send(&peer, &bench, request);
	peer_expect_status(&peer, "HTTP/1.1 101 Switching Protocols\r\n");
	peer_read_to_end(&peer);
	assert_int_equal(upgraded_fd, -1);
	assert_int_equal(bench.gone, 0);
	assert_int_equal(http_server_connections(bench.server), 0);
	peer_close(&peer);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_request, set_up),
		cmocka_unit_test_setup(test_peer, set_up),
		cmocka_unit_test_setup(test_answers, set_up),
		cmocka_unit_test_setup(test_strictness, set_up),
		cmocka_unit_test_setup(test_limits_of_heads, set_up),
		cmocka_unit_test_setup(test_refusal_text, set_up),
		cmocka_unit_test_setup(test_refusal_of_head, set_up),
		cmocka_unit_test_setup(test_upgrade, set_up),
		cmocka_unit_test_setup(test_upgrade_fails, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

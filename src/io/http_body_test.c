#include "base/base.h"
#include "io/http_fixture.h"

#include "io/http_connection.h"

#include <sys/socket.h>

/* Bodies of requests: collected, streamed, refused, left alone. */

enum { BODY_MAX = 1000 };

static struct bench bench;
static struct http_limits limits;

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	return 0;
}

/* -- collected ------------------------------------------------------------------------------------------- */

static void answer_body(struct http_request *request, struct str body)
{
	char text[BODY_MAX + 100];

	snprintf(text, sizeof(text), "<%.*s>", STR_ARG(body));
	bench_answer(request, text);
}

static void collect(struct bench *b, struct http_request *request)
{
	(void)b;
	http_read_body(request, BODY_MAX, answer_body);
}

static void test_collect(void **state)
{
	static const char requests[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
				       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
				       "3\r\nabc\r\n4;x\r\ndefg\r\n0\r\nTrailer: 1\r\n\r\n"
				       "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
				       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect_and_send(&peer, &bench, requests);
	peer_expect(&peer, ANSWER(7, "<hello>") ANSWER(9, "<abcdefg>") ANSWER(2, "<>") ANSWER(2, "<>"));
	/* The same, one byte at a time. */
	for (size_t i = 0; i < sizeof(requests) - 1; i++) {
		peer_send(&peer, str_make(&requests[i], 1));
		bench_settle(&bench);
	}
	peer_expect(&peer, ANSWER(7, "<hello>") ANSWER(9, "<abcdefg>") ANSWER(2, "<>") ANSWER(2, "<>"));
	assert_int_equal(bench.requests, 8);
	peer_close(&peer);
	bench_stop(&bench);
}

static void test_collect_later(void **state)
{
	struct peer peer;

	(void)state;
	bench_start_holding(&bench, &limits, &peer,
			    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
	assert_true(bench.held->has_body);
	assert_int_equal(bench.held->body_length, 5);
	peer_send(&peer, STR("lo"));
	bench_settle(&bench);
	http_read_body(bench.held, 5, answer_body);
	peer_expect(&peer, ANSWER(7, "<hello>"));

	peer_send(&peer, STR("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
	bench_run(&bench);
	assert_true(bench.held->body_length == UINT64_MAX);
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

static void expect_refused(struct peer *peer, const char *status_line, const char *problem)
{
	peer_expect_status(peer, status_line);
	peer_expect(peer, problem);
	peer_expect_end(peer);
}

static void test_too_large(void **state)
{
	static const char problem[] =
		"{\"error\":\"The body of the request is longer than 1000 bytes, the most that is taken here.\"}";
	_cleanup_buf_ struct buf chunks = { 0 };
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
	expect_refused(&peer, "HTTP/1.1 413 Content Too Large\r\n", problem);
	assert_int_equal(bench.gone, 1);
	/* Nobody is told to go on with what will be refused. */
	peer_connect_and_send(
		&peer, &bench,
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
	expect_refused(&peer, "HTTP/1.1 413 Content Too Large\r\n", problem);

	buf_init(&chunks, 1 << 20);
	buf_append(&chunks, STR("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
	for (int i = 0; i < 101; i++)
		buf_append(&chunks, STR("a\r\n0123456789\r\n"));
	peer_connect(&peer, &bench);
	peer_send(&peer, buf_str(&chunks));
	expect_refused(&peer, "HTTP/1.1 413 Content Too Large\r\n", problem);
	assert_int_equal(bench.gone, 3);
	bench_stop(&bench);
}

/* The peer reads its answer although it sends far more than is read: nothing resets the connection. */
static void test_too_large_and_sent_all_the_same(void **state)
{
	enum { SENT = 8 * 1024 * 1024 };
	char *body = xcalloc(1, SENT);
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n"));
	peer_send(&peer, str_make(body, SENT));
	expect_refused(
		&peer, "HTTP/1.1 413 Content Too Large\r\n",
		"{\"error\":\"The body of the request is longer than 1000 bytes, the most that is taken here.\"}");
	free(body);
	bench_stop(&bench);
}

static void test_bad_chunks(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect_and_send(
		&peer, &bench,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n");
	expect_refused(&peer, "HTTP/1.1 400 Bad Request\r\n",
		       "{\"error\":\"A chunk's framing does not have CR LF where it must.\"}");
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

static void test_times_out(void **state)
{
	struct peer peer;

	(void)state;
	limits.body_ms = 1;
	bench_start(&bench, &limits, collect);
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
	expect_refused(&peer, "HTTP/1.1 408 Request Timeout\r\n",
		       "{\"error\":\"The body of the request did not arrive in time.\"}");
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

/* A byte now and then does not keep a request open: what comes must come at the rate. */
static void drop_data(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	(void)bytes;
	assert_false(last || too_large);
	bench_wake(bench_of(request));
}

static void drop_body(struct bench *b, struct http_request *request)
{
	(void)b;
	http_stream_body(request, UINT64_MAX, drop_data);
}

static void test_trickles(void **state)
{
	struct peer peer;

	(void)state;
	limits.body_ms = 20;
	limits.body_rate = 1 << 30;
	bench_start(&bench, &limits, drop_body);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
	while (!peer.got.n) {
		peer_send(&peer, STR("x"));
		bench_settle(&bench);
	}
	expect_refused(&peer, "HTTP/1.1 408 Request Timeout\r\n",
		       "{\"error\":\"The body of the request did not arrive in time.\"}");
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

/* What has come at the rate earns the time for more: each byte a second here. */
static void test_time_is_earned(void **state)
{
	struct http_connection *c;
	struct peer peer;

	(void)state;
	limits.body_rate = 1;
	bench_start(&bench, &limits, drop_body);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
	bench_settle(&bench);
	c = list_first(&bench.server->connections, struct http_connection, node);
	c->body.waited_ms = limits.body_ms - 7;
	peer_send(&peer, STR("xy"));
	bench_run(&bench);
	/* Also by what the loop's clock went on meanwhile. */
	assert_in_range(c->read_timer.due - loop_now(bench.loop), 1, 2007);
	assert_int_equal(c->read_timer.due - c->waits_since + c->body.waited_ms, limits.body_ms + 2000);
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

/* The time-out is the peer's: a handler that has the whole body may take its time. */
static void hold_body(struct http_request *request, struct str body)
{
	assert_true(str_eq(body, STR("hello")));
	bench_hold(bench_of(request), request);
}

static void collect_and_hold(struct bench *b, struct http_request *request)
{
	(void)b;
	http_read_body(request, BODY_MAX, hold_body);
}

static void test_slow_handler(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect_and_hold);
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
	while (!bench.requests)
		bench_settle(&bench);
	peer_send(&peer, STR("lo"));
	bench_run_until_held(&bench);
	assert_false(timer_running(&http_connection_of(bench.held)->read_timer));
	bench_answer(bench.held, "done");
	peer_expect(&peer, ANSWER(4, "done"));
	peer_close(&peer);
	bench_stop(&bench);
}

static void test_cut_off(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
	while (!bench.requests)
		bench_settle(&bench);
	peer_close(&peer);
	bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

/* -- 100 Continue ---------------------------------------------------------------------------------------- */

static void test_continue(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect_and_send(
		&peer, &bench,
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
	peer_expect(&peer, "HTTP/1.1 100 Continue\r\n\r\n");
	peer_send(&peer, STR("hello"));
	peer_expect(&peer, ANSWER(7, "<hello>"));
	/* Who has sent the body already does not wait for it. */
	peer_send(
		&peer,
		STR("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"));
	peer_expect(&peer, ANSWER(7, "<hello>"));
	peer_close(&peer);
	bench_stop(&bench);
}

/* -- left alone ------------------------------------------------------------------------------------------ */

/* However the head came: what is left of it is none of the body. */
static void test_continue_after_a_head_in_pieces(void **state)
{
	static const char head[] =
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, collect);
	peer_connect(&peer, &bench);
	for (size_t i = 0; i < sizeof(head) - 1; i++) {
		peer_send(&peer, str_make(&head[i], 1));
		bench_settle(&bench);
	}
	peer_expect(&peer, "HTTP/1.1 100 Continue\r\n\r\n");
	peer_send(&peer, STR("hello"));
	peer_expect(&peer, ANSWER(7, "<hello>"));
	peer_close(&peer);
	bench_stop(&bench);
}

static void answer_at_once(struct bench *b, struct http_request *request)
{
	(void)b;
	bench_answer(request, "no");
}

static void test_unread(void **state)
{
	char zeros[8192] = "";
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, answer_at_once);
	/* A small rest is dropped, and the connection goes on. */
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8200\r\n\r\n");
	peer_expect(&peer, ANSWER(2, "no"));
	peer_send(&peer, str_make(zeros, sizeof(zeros)));
	peer_send(&peer, STR("12345678GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, ANSWER(2, "no"));
	/* A large one, one of unknown length, and one that may never come: this was the last answer. */
	peer_send(&peer, STR("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n"));
	peer_expect(&peer, LAST_ANSWER(2, "no"));
	peer_expect_end(&peer);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	peer_expect(&peer, LAST_ANSWER(2, "no"));
	peer_expect_end(&peer);
	peer_connect_and_send(
		&peer, &bench,
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
	peer_expect(&peer, LAST_ANSWER(2, "no"));
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* -- streamed -------------------------------------------------------------------------------------------- */

static struct buf streamed;
static bool pause_at_once;

static void take_data(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	struct bench *b = bench_of(request);

	buf_printf(&streamed, "[%.*s%s%s]", STR_ARG(bytes), last ? "." : "", too_large ? "!" : "");
	if (too_large)
		bench_answer(request, "too large");
	else if (last)
		bench_answer(request, "done");
	else if (str_eq(bytes, STR("stop")))
		bench_answer(request, "stopped");
	else if (pause_at_once)
		http_pause_body(request);
	bench_hold(b, request);
}

static void stream(struct bench *b, struct http_request *request)
{
	(void)b;
	http_stream_body(request, BODY_MAX, take_data);
}

static int set_up_stream(void **state)
{
	pause_at_once = false;
	buf_init(&streamed, 4096);
	return set_up(state);
}

static int tear_down_stream(void **state)
{
	(void)state;
	buf_release(&streamed);
	return 0;
}

static void expect_streamed(const char *expected)
{
	while (streamed.n < strlen(expected))
		bench_run(&bench);
	assert_string_equal(buf_cstr(&streamed), expected);
	buf_clear(&streamed, SIZE_MAX);
}

static void test_stream(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, stream);
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
	expect_streamed("[hello]");
	peer_send(&peer, STR("world"));
	expect_streamed("[world][.]");
	peer_expect(&peer, ANSWER(4, "done"));
	peer_send(&peer, STR("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			     "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"));
	expect_streamed("[a][bc][.]");
	peer_expect(&peer, ANSWER(4, "done"));
	/* An answer in the middle: no more data comes, and the rest is dropped. */
	peer_send(&peer, STR("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nstop"));
	peer_expect(&peer, ANSWER(7, "stopped"));
	peer_send(&peer, STR("moreGET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&peer, ANSWER(4, "done"));
	expect_streamed("[stop][.]");
	peer_close(&peer);
	bench_stop(&bench);
}

/* A peer that has sent its whole body and closed that direction gets its answer, also when its handler had
 * paused. */
static void test_half_closed_behind_the_body(void **state)
{
	struct peer peer;

	(void)state;
	pause_at_once = true;
	bench_start(&bench, &limits, stream);
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nab");
	expect_streamed("[ab]");
	peer_send(&peer, STR("cdef"));
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	pause_at_once = false;
	http_resume_body(bench.held);
	peer_expect(&peer, ANSWER(4, "done"));
	peer_expect_closed(&peer);
	assert_string_equal(buf_cstr(&streamed), "[cdef][.]");

	/* One that lacks some of it has been cut off. */
	peer_close(&peer);
	buf_clear(&streamed, SIZE_MAX);
	bench.held = NULL;
	pause_at_once = true;
	peer_connect_and_send(&peer, &bench, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nab");
	expect_streamed("[ab]");
	peer_send(&peer, STR("c"));
	assert_int_equal(shutdown(peer.fd, SHUT_WR), 0);
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	pause_at_once = false;
	http_resume_body(bench.held);
	while (!bench.gone)
		bench_run(&bench);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

static void test_stream_is_paused(void **state)
{
	struct peer peer;

	(void)state;
	pause_at_once = true;
	/* A handler that pauses is not the peer's fault: no time-out. */
	limits.body_ms = 1;
	bench_start(&bench, &limits, stream);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			      "1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
	expect_streamed("[a]");
	bench_settle(&bench);
	expect_streamed("");
	http_resume_body(bench.held);
	expect_streamed("[b]");
	bench_settle(&bench);
	assert_int_equal(bench.gone, 0);
	http_resume_body(bench.held);
	expect_streamed("[.]");
	peer_expect(&peer, ANSWER(4, "done"));

	/* A peer that leaves meanwhile is noticed. */
	peer_send(&peer, STR("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello"));
	expect_streamed("[hello]");
	peer_close(&peer);
	while (!bench.gone)
		bench_run(&bench);
	bench_stop(&bench);
}

/* A handler that takes one piece at a time holds up its peer: what was read is used before more is. */
static struct http_request *taking;
static struct deferred take_more;

static void resume_taking(struct deferred *deferred)
{
	(void)deferred;
	http_resume_body(taking);
}

static void take_one(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	(void)bytes;
	assert_false(too_large);
	assert_in_range(http_connection_of(request)->kept.n, 0, HTTP_SCRATCH);
	if (last) {
		bench_answer(request, "done");
		return;
	}
	taking = request;
	http_pause_body(request);
	loop_defer(bench.loop, &take_more, resume_taking);
}

static void stream_one_by_one(struct bench *b, struct http_request *request)
{
	(void)b;
	http_stream_body(request, UINT64_MAX, take_one);
}

static void test_stream_is_paused_at_every_piece(void **state)
{
	enum { CHUNKS = 1000 };
	_cleanup_buf_ struct buf chunks = { .max = 1 << 20 };
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, stream_one_by_one);
	for (int i = 0; i < CHUNKS; i++)
		buf_printf(&chunks, "200\r\n%0512d\r\n", i);
	buf_append(&chunks, STR("0\r\n\r\n"));
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
	peer_send(&peer, buf_str(&chunks));
	peer_expect(&peer, ANSWER(4, "done"));
	peer_close(&peer);
	bench_stop(&bench);
}

static void test_stream_is_too_large(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, stream);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\nhello");
	peer_expect(&peer, LAST_ANSWER(9, "too large"));
	expect_streamed("[!]");
	peer_expect_end(&peer);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			      "1\r\na\r\n3e8\r\n");
	expect_streamed("[a]");
	peer_send(&peer, STR("0123456789"));
	expect_streamed("[0123456789]");
	for (int i = 0; i < 99; i++) {
		peer_send(&peer, STR("0123456789"));
		bench_settle(&bench);
	}
	peer_expect(&peer, LAST_ANSWER(9, "too large"));
	assert_true(str_ends_with(buf_str(&streamed), STR("[0123456789][!]")));
	peer_close(&peer);
	assert_int_equal(bench.gone, 0);
	bench_stop(&bench);
}

static void test_stream_is_malformed(void **state)
{
	struct peer peer;

	(void)state;
	bench_start(&bench, &limits, stream);
	peer_connect_and_send(&peer, &bench,
			      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nx");
	expect_refused(&peer, "HTTP/1.1 400 Bad Request\r\n", "{\"error\":\"A chunk's size is missing.\"}");
	expect_streamed("[a]");
	assert_int_equal(bench.gone, 1);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_collect, set_up),
		cmocka_unit_test_setup(test_collect_later, set_up),
		cmocka_unit_test_setup(test_too_large, set_up),
		cmocka_unit_test_setup(test_too_large_and_sent_all_the_same, set_up),
		cmocka_unit_test_setup(test_bad_chunks, set_up),
		cmocka_unit_test_setup(test_times_out, set_up),
		cmocka_unit_test_setup(test_trickles, set_up),
		cmocka_unit_test_setup(test_time_is_earned, set_up),
		cmocka_unit_test_setup(test_slow_handler, set_up),
		cmocka_unit_test_setup(test_cut_off, set_up),
		cmocka_unit_test_setup(test_continue, set_up),
		cmocka_unit_test_setup(test_continue_after_a_head_in_pieces, set_up),
		cmocka_unit_test_setup(test_unread, set_up),
		cmocka_unit_test_setup_teardown(test_stream, set_up_stream, tear_down_stream),
		cmocka_unit_test_setup_teardown(test_half_closed_behind_the_body, set_up_stream,
						tear_down_stream),
		cmocka_unit_test_setup_teardown(test_stream_is_paused, set_up_stream, tear_down_stream),
		cmocka_unit_test_setup(test_stream_is_paused_at_every_piece, set_up),
		cmocka_unit_test_setup_teardown(test_stream_is_too_large, set_up_stream, tear_down_stream),
		cmocka_unit_test_setup_teardown(test_stream_is_malformed, set_up_stream, tear_down_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

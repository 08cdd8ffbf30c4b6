#include "base/base.h"
#include "io/http_fixture.h"

#include <sys/resource.h>

/* Accepting, draining, and the end of a server. */

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct bench bench;
static struct http_limits limits;

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	return 0;
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

/* -- accepting ------------------------------------------------------------------------------------------- */

static void test_limit_of_connections(void **state)
{
	struct peer one, two, three;

	(void)state;
	limits.connections = 2;
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&one, &bench, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_connect_and_send(&two, &bench, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_connect_and_send(&three, &bench, "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&one, ANSWER(2, "/1"));
	peer_expect(&two, ANSWER(2, "/2"));
	bench_settle(&bench);
	assert_int_equal(bench.requests, 2);
	assert_int_equal(http_server_connections(bench.server), 2);
	peer_close(&one);
	peer_expect(&three, ANSWER(2, "/3"));
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
	bench_start(&bench, &limits, bench_answer_path);
	peer_connect_and_send(&first, &bench, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
	peer_expect(&first, ANSWER(2, "/1"));
	peer_connect_and_send(&peer, &bench, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* It pauses again and again, and others are served meanwhile. */
	while (http_server_accept_pauses(bench.server) < 3)
		bench_settle(&bench);
	peer_send(&first, STR("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect(&first, ANSWER(2, "/3"));
	assert_int_equal(bench.requests, 2);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	peer_expect(&peer, ANSWER(2, "/2"));
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
	bench_start_holding(&bench, &limits, &running, GET);
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
	peer_expect(&running, LAST_ANSWER(4, "last"));
	peer_expect_end(&running);
	while (!drained_count)
		bench_run(&bench);
	bench_settle(&bench);
	assert_int_equal(drained_count, 1);
	assert_int_equal(bench.gone, 0);
	peer_close(&idle);
	peer_close(&refused);
	bench_stop(&bench);
}

static void drain_behind_an_answer(struct peer *peer, const char *sent)
{
	drained_count = 0;
	bench_start_holding(&bench, &limits, peer, sent);
	bench_answer(bench.held, "one");
	http_server_drain(bench.server, limits.idle_ms, count_drained, &bench);
	peer_expect(peer, ANSWER(3, "one"));
}

static void wait_until_drained(struct peer *peer)
{
	while (!drained_count)
		bench_run(&bench);
	peer_close(peer);
	bench_stop(&bench);
}

/* The answer promised that the connection goes on. Who asks again is reset, and so told that nobody heard it;
 * what had come by then is answered; and who says nothing is not waited for. */
static void test_drain_behind_a_promise(void **state)
{
	struct peer peer;

	(void)state;
	drain_behind_an_answer(&peer, GET);
	assert_int_equal(http_server_connections(bench.server), 1);
	peer_send(&peer, STR(GET));
	peer_read_to_end(&peer);
	assert_true(peer.reset);
	assert_int_equal(bench.requests, 1);
	wait_until_drained(&peer);

	drain_behind_an_answer(&peer, GET GET);
	while (bench.requests < 2)
		bench_run(&bench);
	bench_answer(bench.held, "two");
	peer_expect(&peer, LAST_ANSWER(3, "two"));
	peer_expect_end(&peer);
	wait_until_drained(&peer);

	limits.linger_ms = 1;
	drain_behind_an_answer(&peer, GET);
	peer_expect_end(&peer);
	wait_until_drained(&peer);
}

/* A socket that is made anew takes the place of the one whose name was removed. */
static void test_another_local_listener(void **state)
{
	struct peer old, fresh, tcp;
	int fd;

	(void)state;
	bench_start_holding(&bench, &limits, &old, GET);
	assert_int_equal(unlink(bench.path), 0);
	assert_int_equal(http_listen_unix(bench.path, &fd, NULL), 0);
	http_server_unlisten_local(bench.server);
	assert_int_equal(http_server_listen(bench.server, fd, true, NULL), 0);
	bench_answer(bench.held, "old");
	peer_expect(&old, ANSWER(3, "old"));
	peer_connect_and_send(&fresh, &bench, GET);
	bench_run(&bench);
	bench_answer(bench.held, "fresh");
	peer_expect(&fresh, ANSWER(5, "fresh"));
	peer_connect_tcp(&tcp, &bench);
	bench_settle(&bench);
	assert_int_equal(http_server_connections(bench.server), 3);
	peer_close(&old);
	peer_close(&fresh);
	peer_close(&tcp);
	bench_settle(&bench);
	assert_int_equal(http_server_connections(bench.server), 0);
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
	bench_start_holding(&bench, &limits, &peer, GET);
	peer_connect_and_send(&other, &bench, GET);
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
	peer_connect_and_send(&peer, &bench, GET);
	bench_run(&bench);
	http_server_drain(bench.server, 1, count_drained, &bench);
	while (bench.server)
		bench_run(&bench);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

/* What cannot be answered, because it has not come, is refused; the others go on. */
static void test_drain_refuses_incomplete(void **state)
{
	struct peer whole, half, head;

	(void)state;
	drained_count = 0;
	bench_start_holding(&bench, &limits, &half,
			    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
	peer_connect_and_send(&whole, &bench, GET);
	while (bench.requests < 2)
		bench_run(&bench);
	peer_connect_and_send(&head, &bench, "GET / HT");
	bench_settle(&bench);
	http_server_drain(bench.server, limits.idle_ms, count_drained, &bench);
	http_server_refuse_incomplete(bench.server);
	peer_expect(&head, UNAVAILABLE);
	peer_expect_end(&head);
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

/* -- ending ------------------------------------------------------------------------------------------ */

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
	bench_start_holding(&bench, &limits, &peer, GET);
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
	peer_connect_and_send(&peer, &bench,
			      "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
	while (bench.server)
		bench_run(&bench);
	assert_int_equal(bench.gone, 1);
	peer_expect_end(&peer);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_free_with_open_requests, set_up),
		cmocka_unit_test_setup(test_limit_of_connections, set_up),
		cmocka_unit_test_setup(test_out_of_descriptors, set_up),
		cmocka_unit_test_setup(test_another_local_listener, set_up),
		cmocka_unit_test_setup(test_drain, set_up),
		cmocka_unit_test_setup(test_drain_behind_a_promise, set_up),
		cmocka_unit_test_setup(test_drain_ends_by_force, set_up),
		cmocka_unit_test_setup(test_free_when_the_grace_is_over, set_up),
		cmocka_unit_test_setup(test_drain_refuses_incomplete, set_up),
		cmocka_unit_test_setup(test_bad_limits, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Legacy clients that lose a stream and come back for the rest of it. */
#include "base/base.h"

#include "mcp/http_door_fixture.h"

static int set_up_resumable(void **state)
{
	const struct mcp_http_door_options resumable = {
		.sessions_max = 3,
		.session_idle_ms = 3600000,
		.streams_max = 1,
		.replay = { .events_max = 100, .bytes_max = 100000, .total_max = 100000, .age_ms = 3600000 },
		.prime_ms = 1,
		.retry_ms = 1500,
	};

	(void)state;
	rig_start(&resumable);
	return 0;
}

/* The client lost its connection, and asks with another one for what came after the event. */
static void come_back(struct peer *with, const char *last)
{
	char headers[256];

	snprintf(headers, sizeof(headers), "Accept: text/event-stream\r\nLast-Event-ID: %s\r\n", last);
	send_in_session(with, "GET", headers, "");
}

static void lose_connection(void)
{
	peer_close(&peer);
	bench_settle(&bench);
	peer_connect(&peer, &bench);
}

#define DONE HEAD "\"id\":1,\"result\":{}}"
#define PRIMING(id) "retry: 1500\n\nid: " id "\ndata: \n\n"

/* A client that has its first event, post-1-1, and loses the connection while its call runs. */
static void lose_stream_of_a_call(void)
{
	post_in_session(CALL_WITH_TOKEN);
	peer_expect(&peer, STREAM_HEAD);
	expect_chunk(&peer, PRIMING("post-1-1"));
	lose_connection();
}

static void an_answer_waits_for_a_client_that_comes_back(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-11-25"));
	lose_stream_of_a_call();
	mcp_call_progress(held[0], &half);
	mcp_answer_result(held[0], STR("{}"));
	bench_settle(&bench);
	assert_int_equal(cancelled, 0);
	come_back(&peer, "post-1-1");
	peer_expect(&peer, STREAM_HEAD);
	expect_event_with_id(&peer, "post-1-2", PROGRESS);
	expect_event_with_id(&peer, "post-1-3", DONE);
	peer_expect(&peer, "0\r\n\r\n");
	/* As often as it likes. */
	come_back(&peer, "post-1-2");
	peer_expect(&peer, STREAM_HEAD);
	expect_event_with_id(&peer, "post-1-3", DONE);
	peer_expect(&peer, "0\r\n\r\n");
	come_back(&peer, "post-1-3");
	peer_expect(&peer, STREAM_HEAD "0\r\n\r\n");
}

static void a_client_that_comes_back_hears_the_call_go_on(void **state)
{
	struct peer other;

	(void)state;
	open_session(INITIALIZE("2025-06-18"));
	post_in_session(CALL_WITH_TOKEN);
	wait_held(1);
	mcp_call_progress(held[0], &half);
	/* This revision has no events without a message. */
	peer_expect(&peer, STREAM_HEAD);
	expect_event_with_id(&peer, "post-1-1", PROGRESS);
	/* The connection that was lost still looks open: the new one takes its place. */
	peer_connect(&other, &bench);
	come_back(&other, "post-1-1");
	peer_expect(&other, STREAM_HEAD);
	peer_expect_closed(&peer);
	mcp_call_progress(held[0], &half);
	expect_event_with_id(&other, "post-1-2", PROGRESS);
	peer_close(&other);
	bench_settle(&bench);
	lose_connection();
	come_back(&peer, "post-1-2");
	peer_expect(&peer, STREAM_HEAD);
	mcp_answer_result(held[0], STR("{}"));
	expect_event_with_id(&peer, "post-1-3", DONE);
	peer_expect(&peer, "0\r\n\r\n");
	assert_int_equal(cancelled, 0);
}

static void a_stream_of_changes_can_be_resumed(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-11-25"));
	come_back(&peer, "");
	peer_expect(&peer, STREAM_HEAD);
	expect_chunk(&peer, PRIMING("get-1-1"));
	mcp_server_tools_changed(&server);
	expect_event_with_id(&peer, "get-1-2", CHANGED);
	lose_connection();
	mcp_server_tools_changed(&server);
	/* The client did not get the first; the second had nowhere to go. */
	come_back(&peer, "get-1-1");
	peer_expect(&peer, STREAM_HEAD);
	expect_event_with_id(&peer, "get-1-2", CHANGED);
	expect_event_with_id(&peer, "get-1-3", CHANGED);
	lose_connection();
	/* What this session never sent is as good as nothing. */
	come_back(&peer, "get-1-4");
	peer_expect(&peer, STREAM_HEAD);
	expect_chunk(&peer, PRIMING("get-2-4"));
}

static void streams_that_are_not_kept_cannot_be_resumed(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-11-25"));
	come_back(&peer, "17");
	expect_error("400 Bad Request", "", -32600,
		     "the header Last-Event-ID is no id that this server gave");
	come_back(&peer, "post-1-1");
	expect_error("400 Bad Request", "", -32600,
		     "the header Last-Event-ID names an event whose stream is not kept any more");
	/* Streams belong to their session. */
	lose_stream_of_a_call();
	open_session(INITIALIZE("2025-11-25"));
	come_back(&peer, "post-1-1");
	expect_error("400 Bad Request", "", -32600,
		     "the header Last-Event-ID names an event whose stream is not kept any more");
	/* The other session's call still waits for its client when the door is freed. */
	assert_int_equal(cancelled, 0);
}

static void a_session_that_ends_takes_what_waited_with_it(void **state)
{
	(void)state;
	open_session(INITIALIZE("2025-11-25"));
	lose_stream_of_a_call();
	mcp_call_progress(held[0], &half);
	delete_session(&peer);
	assert_int_equal(cancelled, 1);
	come_back(&peer, "post-1-1");
	expect_no_such_session();
}

/* What is known at once needs no stream, and a request that is cancelled has no answer to wait for. */
static void only_what_takes_its_time_is_primed(void **state)
{
	struct peer other;

	(void)state;
	open_session(INITIALIZE("2025-11-25"));
	post_in_session(CALL("2", "echo"));
	expect_json("200 OK", HEAD "\"id\":2,\"result\":" TEXT("hi") "}");
	post_in_session(CALL("1", "hold"));
	wait_held(1);
	peer_expect(&peer, STREAM_HEAD);
	expect_chunk(&peer, PRIMING("post-1-1"));
	peer_connect(&other, &bench);
	send_in_session(&other, "POST", JSON_HEADERS,
			HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
	peer_expect_status(&other, "HTTP/1.1 202 Accepted\r\n");
	peer_expect(&peer, "0\r\n\r\n");
	peer_close(&other);
}

int main(void)
{
#define RESUMABLE(test) cmocka_unit_test_setup_teardown(test, set_up_resumable, tear_down)
	const struct CMUnitTest tests[] = {
		RESUMABLE(an_answer_waits_for_a_client_that_comes_back),
		RESUMABLE(a_client_that_comes_back_hears_the_call_go_on),
		RESUMABLE(a_stream_of_changes_can_be_resumed),
		RESUMABLE(streams_that_are_not_kept_cannot_be_resumed),
		RESUMABLE(a_session_that_ends_takes_what_waited_with_it),
		RESUMABLE(only_what_takes_its_time_is_primed),
	};

	return cmocka_run_group_tests_name("mcp/http_resume", tests, NULL, NULL);
}

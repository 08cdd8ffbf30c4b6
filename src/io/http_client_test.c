#include "base/base.h"
#include "io/http_client.h"

#include "io/http_server.h"
#include "io/loop.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <cmocka.h>

/* The client blocks, so that what it talks to runs on a thread of its own: either a script that answers with
 * given bytes, or our server. */

enum { PATIENCE_MS = 30000, BODY_MAX = 1 << 20 };

static const struct http_client_limits limits = {
	.connect_ms = PATIENCE_MS, .write_ms = PATIENCE_MS, .answer_ms = PATIENCE_MS, .quiet_ms = PATIENCE_MS
};

static char directory[64], path[80];
static struct http_client client;
static pthread_t thread;
static int listener;

static int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/http_client_test.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s", directory);
	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	http_client_close(&client);
	unlink(path);
	return rmdir(directory);
}

/* -- a script -------------------------------------------------------------------------------------------- */

struct script {
	struct str answer;
	size_t wait_for; /* bytes of the request that are read before it answers */
	bool stays;	 /* keeps the connection open until the client closes */
	bool one_by_one; /* the answer comes in single bytes */
	struct buf request;
};

static int accept_one(void)
{
	struct pollfd watched = { .fd = listener, .events = POLLIN };

	BUG_ON(poll(&watched, 1, PATIENCE_MS) != 1);
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

/* True until the client closes. */
static bool script_read(struct script *script, int fd)
{
	char *room = buf_reserve(&script->request, 4096);
	ssize_t n = room ? recv(fd, room, 4096, 0) : 0;

	if (n > 0)
		buf_claim(&script->request, (size_t)n);
	return n > 0;
}

static void *script_run(void *argument)
{
	struct script *script = argument;
	_cleanup_close_ int fd = accept_one();
	size_t step = script->one_by_one ? 1 : SIZE_MAX;

	while (script->request.n < script->wait_for && script_read(script, fd))
		;
	for (struct str rest = script->answer; rest.n;) {
		ssize_t n = send(fd, rest.p, size_min(rest.n, step), MSG_NOSIGNAL);

		if (n <= 0)
			break;
		rest = str_from(rest, (size_t)n);
	}
	if (script->stays)
		while (script_read(script, fd))
			;
	return NULL;
}

static void script_start(struct script *script)
{
	buf_init(&script->request, 16 * BODY_MAX);
	assert_int_equal(pthread_create(&thread, NULL, script_run, script), 0);
	assert_int_equal(http_client_open_unix(&client, path, &limits, NULL), 0);
}

static void script_stop(struct script *script)
{
	http_client_close(&client);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close_fd(&listener);
	buf_release(&script->request);
}

static const struct http_client_request get = { .method = STR_INIT("GET"), .target = STR_INIT("/") };

/* The whole exchange: the error, or the body in `ret_body`. */
static int exchange(struct str answer, bool one_by_one, struct buf *ret_body, struct err *err)
{
	struct script script = { .answer = answer, .wait_for = 30, .one_by_one = one_by_one };
	struct http_client_answer head;
	int result;

	script_start(&script);
	result = http_client_send(&client, &get, &head, err);
	if (result == 0)
		result = http_client_read_all(&client, ret_body, err);
	script_stop(&script);
	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	return result;
}

static void test_answers(void **state)
{
	static const struct {
		struct str answer;
		const char *body;
	} rows[] = {
		{ STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), "hello" },
		{ STR_INIT("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), "" },
		{ STR_INIT("HTTP/1.1 200 OK\r\n\r\nuntil the end"), "until the end" },
		{ STR_INIT("HTTP/1.0 200\r\n\r\nold"), "old" },
		{ STR_INIT(
			  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\n"),
		  "hello" },
		{ STR_INIT("HTTP/1.1 204 No Content\r\n\r\n"), "" },
		{ STR_INIT("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), "" },
		{ STR_INIT("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
			   "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"),
		  "no" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
			_cleanup_buf_ struct buf body = { 0 };
			struct err err = { 0 };

			buf_init(&body, BODY_MAX);
			if (exchange(rows[i].answer, one_by_one, &body, &err) < 0)
				fail_msg("%s", err.message);
			assert_string_equal(buf_cstr(&body), rows[i].body);
		}
	close_fd(&listener);
}

static void test_bad_answers(void **state)
{
	static const struct {
		struct str answer;
		int code;
		const char *message; /* behind the socket's path */
	} rows[] = {
		{ STR_INIT(""), ERR_CLOSED, " closed the connection without an answer" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nX: "), ERR_CLOSED,
		  " closed the connection without an answer" },
		{ STR_INIT("SSH-2.0-x\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: the status line is malformed" },
		{ STR_INIT("HTTP/2.0 200 OK\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: the status line is malformed" },
		{ STR_INIT("HTTP/1.1 20 OK\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: the status line is malformed" },
		{ STR_INIT("HTTP/1.1 2000 OK\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: the status line is malformed" },
		{ STR_INIT("HTTP/1.1 099 OK\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: the status line is malformed" },
		{ STR_INIT("HTTP/1.1 200 OK\n\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: a line does not end in CR LF" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nbroken\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: a header field is malformed" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
		  ERR_PROTOCOL, " sent an answer that is not HTTP: its length is said twice" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: its length is said twice" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: its transfer coding is not chunked" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: its length is not a number" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"), ERR_CLOSED,
		  " closed the connection in the middle of its answer" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), ERR_CLOSED,
		  " closed the connection in the middle of its answer" },
		{ STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx"), ERR_PROTOCOL,
		  " sent an answer that is not HTTP: A chunk's size is missing." },
		{ STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789"),
		  ERR_TOO_LARGE, " sent an answer of more than 16 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf body = { 0 };
		struct err err = { 0 };
		char expected[256];

		buf_init(&body, 16);
		snprintf(expected, sizeof(expected), "%s%s", path, rows[i].message);
		assert_int_equal(exchange(rows[i].answer, false, &body, &err), rows[i].code);
		assert_string_equal(err.message, expected);
		assert_false(client.connected);
	}
	close_fd(&listener);
}

static void test_large_heads(void **state)
{
	_cleanup_buf_ struct buf answer = { 0 }, body = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_init(&answer, BODY_MAX);
	buf_init(&body, BODY_MAX);
	buf_printf(&answer, "HTTP/1.1 200 OK\r\nX: %020000d\r\n\r\n", 0);
	assert_int_equal(exchange(buf_str(&answer), false, &body, &err), ERR_TOO_LARGE);
	assert_non_null(strstr(err.message, "sent an answer whose head is longer than 16384 bytes"));
	buf_clear(&answer, SIZE_MAX);
	buf_append(&answer, STR("HTTP/1.1 200 OK\r\n"));
	for (int i = 0; i < 65; i++)
		buf_append(&answer, STR("X: y\r\n"));
	assert_int_equal(exchange(buf_str(&answer), false, &body, &err), ERR_TOO_LARGE);
	assert_non_null(strstr(err.message, "sent an answer with more than 64 header fields"));
	close_fd(&listener);
}

/* -- requests -------------------------------------------------------------------------------------------- */

static void test_request_text(void **state)
{
	const struct http_field fields[] = { { STR("X-One"), STR("1") }, { STR("Accept"), STR("*/*") } };
	const struct http_client_request request = { .method = STR("POST"),
						     .target = STR("/v1/call?x"),
						     .fields = fields,
						     .field_count = 2,
						     .body = STR("{}") };
	static const char expected[] =
		"POST /v1/call?x HTTP/1.1\r\nHost: localhost\r\nX-One: 1\r\nAccept: */*\r\n"
		"Content-Length: 2\r\n\r\n{}";
	struct script script = { .answer = STR("HTTP/1.1 200 OK\r\nX-Back: yes\r\nContent-Length: 0\r\n\r\n"),
				 .wait_for = sizeof(expected) - 1 };
	struct http_client_answer answer;

	(void)state;
	script_start(&script);
	assert_int_equal(http_client_send(&client, &request, &answer, NULL), 0);
	assert_int_equal(answer.status, 200);
	assert_true(str_eq(http_client_field(&answer, STR("x-back")), STR("yes")));
	assert_null(http_client_field(&answer, STR("x-other")).p);
	assert_true(http_client_reusable(&client));
	assert_string_equal(buf_cstr(&script.request), expected);
	script_stop(&script);
}

static void test_bad_requests(void **state)
{
	const struct http_field split = { STR("X"), STR("a\r\nY: b") }, name = { STR("X Y"), STR("a") };
	const struct http_field large = { STR("X"), str_make(client.room, sizeof(client.room)) };
	struct script script = { .answer = STR("") };
	struct http_client_request request = get;
	struct http_client_answer answer;
	struct err err = { 0 };

	(void)state;
	script_start(&script);
	request.fields = &split;
	request.field_count = 1;
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_INVALID);
	assert_string_equal(err.message, "the header field X has a name or a value that HTTP cannot carry");
	request.fields = &name;
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_INVALID);
	request.field_count = 0;
	request.target = STR("/a b");
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_INVALID);
	assert_string_equal(err.message, "the target /a b holds a blank or a control character");
	request.target = STR("/");
	request.method = STR("");
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_INVALID);
	request.method = STR("GET");
	memset(client.room, 'a', sizeof(client.room));
	request.fields = &large;
	request.field_count = 1;
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "the request's head is longer than 16384 bytes");
	script_stop(&script);
}

static void test_connecting(void **state)
{
	struct err err = { 0 };
	char missing[100], long_path[200] = "", expected[200];

	(void)state;
	close_fd(&listener);
	snprintf(missing, sizeof(missing), "%s/none", directory);
	snprintf(expected, sizeof(expected), "cannot connect to %s: No such file or directory", missing);
	assert_int_equal(http_client_open_unix(&client, missing, &limits, &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, expected);
	snprintf(expected, sizeof(expected), "cannot connect to %s: Connection refused", path);
	assert_int_equal(http_client_open_unix(&client, path, &limits, &err), ERR_IO);
	assert_string_equal(err.message, expected);
	memset(long_path, 'a', 108);
	assert_int_equal(http_client_open_unix(&client, long_path, &limits, &err), ERR_INVALID);
	assert_non_null(strstr(err.message, "is longer than the 107 bytes a socket can have"));
	assert_int_equal(http_client_open_tcp(&client, "localhost", 80, &limits, &err), ERR_INVALID);
	assert_string_equal(err.message, "localhost is not a numeric address");
	assert_false(client.connected);
	http_client_close(&client);
}

/* Fills `bytes`, and makes a file of them to send from; its offset at 0. */
static int make_file(char *bytes, size_t n)
{
	char name[] = "/tmp/http_client_body.XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(name);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + i % 26);
	assert_int_equal(write(fd, bytes, n), n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static bool lost_unheard(const struct http_client_request *request, size_t wait_for, struct str answer)
{
	struct script script = { .answer = answer, .wait_for = wait_for };
	struct http_client_answer head;
	bool unheard;

	script_start(&script);
	assert_int_equal(http_client_send(&client, request, &head, NULL), ERR_CLOSED);
	unheard = http_client_unheard(&client);
	script_stop(&script);
	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	return unheard;
}

static void test_unheard(void **state)
{
	static char bytes[1 << 20]; /* more than a socket holds */
	const struct http_client_request large = { .method = STR("POST"),
						   .target = STR("/"),
						   .body = str_make(bytes, sizeof(bytes)) };
	static const struct str half = STR_INIT("HTTP/1.1 200 OK\r\nX: ");

	(void)state;
	for (int i = 0; i < 50; i++) {
		assert_true(lost_unheard(&get, 0, STR("")));
		assert_true(lost_unheard(&get, 0, half));
		assert_true(lost_unheard(&large, 30, STR("")));
		assert_false(lost_unheard(&get, 30, STR("")));
		assert_false(lost_unheard(&get, 30, half));
	}
	close_fd(&listener);
}

/* A body from a descriptor is there only once. */
static void test_body_on_request(void **state)
{
	static const struct str go_on = STR_INIT("HTTP/1.1 100 Continue\r\n\r\n");
	char body[4];
	_cleanup_close_ int fd = make_file(body, sizeof(body));
	const struct http_client_request put = { .method = STR("POST"),
						 .target = STR("/"),
						 .has_body_fd = true,
						 .body_fd = fd,
						 .body_length = sizeof(body) };
	struct script refuses = { .answer = STR(
					  "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"),
				  .wait_for = 30,
				  .stays = true };
	struct http_client_answer answer;

	(void)state;
	assert_true(lost_unheard(&put, 30, STR("")));
	assert_true(http_client_repeatable(&client));
	script_start(&refuses);
	assert_int_equal(http_client_send(&client, &put, &answer, NULL), 0);
	assert_int_equal(answer.status, 503);
	assert_true(http_client_repeatable(&client));
	assert_false(http_client_reusable(&client));
	script_stop(&refuses);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	(void)lost_unheard(&put, 30, go_on);
	assert_false(http_client_repeatable(&client));
	close_fd(&listener);
}

static void test_time_outs(void **state)
{
	struct http_client_limits hasty = limits;
	struct script script = { .answer = STR("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
				 .stays = true };
	struct http_client_answer answer;
	struct err err = { 0 };
	size_t n;
	char room[16], expected[200];

	(void)state;
	hasty.quiet_ms = 1;
	script_start(&script);
	client.limits = hasty;
	assert_int_equal(http_client_send(&client, &get, &answer, &err), 0);
	assert_int_equal(http_client_read(&client, room, sizeof(room), &n, &err), 0);
	assert_int_equal(n, 4);
	assert_int_equal(http_client_read(&client, room, sizeof(room), &n, &err), ERR_TIMEOUT);
	snprintf(expected, sizeof(expected), "%s did not send more of its answer in time", path);
	assert_string_equal(err.message, expected);
	assert_false(client.connected);
	assert_int_equal(http_client_send(&client, &get, &answer, &err), ERR_CLOSED);
	script_stop(&script);

	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	script = (struct script){ .stays = true };
	script_start(&script);
	client.limits.answer_ms = 1;
	assert_int_equal(http_client_send(&client, &get, &answer, &err), ERR_TIMEOUT);
	snprintf(expected, sizeof(expected), "%s did not answer in time", path);
	assert_string_equal(err.message, expected);
	script_stop(&script);
}

/* Says twice that the server is there. */
static int ask(void *context, struct err *err)
{
	unsigned *asked = context;

	return ++*asked < 3 ? 0 : err_set(err, ERR_TIMEOUT, "it has gone");
}

static void test_whoever_can_tell_is_asked_while_nothing_comes(void **state)
{
	struct script script = { .stays = true };
	struct http_client_answer answer;
	struct err err = { 0 };
	unsigned asked = 0;

	(void)state;
	script_start(&script);
	client.limits.check_ms = 1;
	client.limits.still_there = ask;
	client.limits.context = &asked;
	assert_int_equal(http_client_send(&client, &get, &answer, &err), ERR_TIMEOUT);
	assert_string_equal(err.message, "it has gone");
	assert_int_equal(asked, 3);
	script_stop(&script);

	/* The limits end the waiting all the same. */
	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	script = (struct script){ .stays = true };
	script_start(&script);
	client.limits.answer_ms = 1;
	client.limits.check_ms = PATIENCE_MS;
	client.limits.still_there = ask;
	assert_int_equal(http_client_send(&client, &get, &answer, &err), ERR_TIMEOUT);
	assert_non_null(strstr(err.message, "did not answer in time"));
	assert_int_equal(asked, 3);
	script_stop(&script);
}

/* Nobody accepts, so that nobody reads: sending stops for want of room. */
static void test_write_times_out(void **state)
{
	struct http_client_request request = { .method = STR("POST"), .target = STR("/") };
	struct http_client_answer answer;
	struct err err = { 0 };
	char *body = xcalloc(16, BODY_MAX);

	(void)state;
	assert_int_equal(http_client_open_unix(&client, path, &limits, &err), 0);
	client.limits.write_ms = 1;
	request.body = str_make(body, (size_t)16 * BODY_MAX);
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_TIMEOUT);
	assert_non_null(strstr(err.message, "did not take the request in time"));
	free(body);
	close_fd(&listener);
}

/* The server refuses a large body in the middle: the client hears it. */
static void test_early_answer(void **state)
{
	struct http_client_request request = { .method = STR("POST"), .target = STR("/") };
	struct script script = { .answer = STR("HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nno!"),
				 .wait_for = 100 };
	struct http_client_answer answer;
	_cleanup_buf_ struct buf body = { 0 };
	struct err err = { 0 };
	char *large = xcalloc(16, BODY_MAX);

	(void)state;
	buf_init(&body, BODY_MAX);
	request.body = str_make(large, (size_t)16 * BODY_MAX);
	script.stays = true;
	script_start(&script);
	assert_int_equal(http_client_send(&client, &request, &answer, &err), 0);
	assert_int_equal(answer.status, 413);
	assert_int_equal(http_client_read_all(&client, &body, &err), 0);
	assert_string_equal(buf_cstr(&body), "no!");
	free(large);
	script_stop(&script);
}

/* -- lines and events ------------------------------------------------------------------------------------ */

static int note_line(void *context, struct str line)
{
	buf_printf(context, "<%.*s>", STR_ARG(line));
	return str_eq(line, STR("stop")) ? 42 : 0;
}

static int read_lines(struct str answer, size_t line_max, struct buf *seen, struct err *err)
{
	struct script script = { .answer = answer, .wait_for = 30 };
	struct http_client_answer head;
	int result;

	buf_clear(seen, SIZE_MAX);
	script.one_by_one = true;
	script_start(&script);
	assert_int_equal(http_client_send(&client, &get, &head, err), 0);
	result = http_client_read_lines(&client, line_max, note_line, seen, err);
	script_stop(&script);
	assert_int_equal(http_listen_unix(path, &listener, NULL), 0);
	return result;
}

static void test_lines(void **state)
{
	_cleanup_buf_ struct buf seen = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_init(&seen, BODY_MAX);
	assert_int_equal(read_lines(STR("HTTP/1.1 200 OK\r\n\r\n{1}\n{2}\r\n\nlast"), 8, &seen, &err), 0);
	assert_string_equal(buf_cstr(&seen), "<{1}><{2}><><last>");
	assert_int_equal(read_lines(STR("HTTP/1.1 200 OK\r\n\r\na\nstop\nb\n"), 8, &seen, &err), 42);
	assert_string_equal(buf_cstr(&seen), "<a><stop>");
	assert_int_equal(read_lines(STR("HTTP/1.1 200 OK\r\n\r\na\n123456789\n"), 8, &seen, &err),
			 ERR_TOO_LARGE);
	assert_non_null(strstr(err.message, "sent a line of more than 8 bytes"));
	assert_int_equal(read_lines(STR("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na\nb"), 8, &seen, &err),
			 ERR_CLOSED);
	assert_string_equal(buf_cstr(&seen), "<a>");
	close_fd(&listener);
}

static int note_event(void *context, const struct sse_message *message)
{
	buf_printf(context, "<%.*s %.*s>", STR_ARG(message->event), STR_ARG(message->data));
	return str_eq(message->data, STR("stop")) ? 42 : 0;
}

static void test_events(void **state)
{
	struct script script = { .answer = STR("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
					       "event: a\ndata: 1\n\n: ping\n\ndata: stop\n\ndata: 3\n\n"),
				 .wait_for = 30 };
	struct http_client_answer answer;
	_cleanup_buf_ struct buf seen = { 0 };

	(void)state;
	buf_init(&seen, BODY_MAX);
	script_start(&script);
	assert_int_equal(http_client_send(&client, &get, &answer, NULL), 0);
	assert_int_equal(http_client_read_events(&client, 64, note_event, &seen, NULL), 42);
	assert_string_equal(buf_cstr(&seen), "<a 1><message stop>");
	/* Who stops in the middle is done with the connection. */
	assert_false(client.connected);
	script_stop(&script);
}

static void test_large_event(void **state)
{
	struct script script = { .answer = STR("HTTP/1.1 200 OK\r\n\r\ndata: 1\n\ndata: 123456789\n\n"),
				 .wait_for = 30 };
	struct http_client_answer answer;
	_cleanup_buf_ struct buf seen = { 0 };
	struct err err = { 0 };

	(void)state;
	buf_init(&seen, BODY_MAX);
	script_start(&script);
	assert_int_equal(http_client_send(&client, &get, &answer, NULL), 0);
	assert_int_equal(http_client_read_events(&client, 12, note_event, &seen, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message, "an event of the stream is larger than 12 bytes");
	assert_string_equal(buf_cstr(&seen), "<message 1>");
	script_stop(&script);
}

static void test_hand_over(void **state)
{
	struct script script = { .answer = STR(
					 "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nfirst"),
				 .wait_for = 30,
				 .stays = true };
	struct http_client_answer answer;
	_cleanup_buf_ struct buf read = { 0 };
	int fd = -1;

	(void)state;
	buf_init(&read, 16);
	script_start(&script);
	assert_int_equal(http_client_send(&client, &get, &answer, NULL), 0);
	assert_int_equal(answer.status, 101);
	/* Whether the first bytes came with the head is chance. */
	assert_int_equal(http_client_hand_over(&client, &fd, &read, NULL), 0);
	assert_true(str_starts_with(STR("first"), buf_str(&read)));
	assert_false(client.connected);
	assert_true(fd >= 0);
	close_fd(&fd);
	script_stop(&script);
}

/* -- with our server ------------------------------------------------------------------------------------- */

struct service {
	struct loop *loop;
	struct http_server *server;
	int tcp;
};

static void answer_body(struct http_request *request, struct str body)
{
	struct http_answer answer = { .status = 200 };

	http_respond(request, &answer, body);
}

static void service_request(void *context, struct http_request *request)
{
	struct service *service = context;
	struct http_answer answer = { .status = 200 };

	if (str_eq(request->path, STR("/stop"))) {
		answer.close = true;
		http_respond(request, &answer, str_make(NULL, 0));
		loop_stop(service->loop);
	} else {
		http_read_body(request, BODY_MAX, answer_body);
	}
}

static void *service_run(void *argument)
{
	const struct http_limits generous = { .header_bytes = 8192,
					      .header_fields = 32,
					      .target_bytes = 1024,
					      .connections = 4,
					      .header_ms = PATIENCE_MS,
					      .body_ms = PATIENCE_MS,
					      .idle_ms = PATIENCE_MS,
					      .write_ms = PATIENCE_MS,
					      .linger_ms = PATIENCE_MS,
					      .unsent_bytes = 65536,
					      .accept_retry_ms = 1 };
	struct service *service = argument;
	struct http_handler handler = { .request = service_request, .context = service };

	BUG_ON(loop_new(&service->loop, NULL) < 0);
	BUG_ON(http_server_new(&service->server, service->loop, &generous, &handler, NULL) < 0);
	BUG_ON(http_server_listen(service->server, listener, true, NULL) < 0);
	BUG_ON(http_server_listen(service->server, service->tcp, false, NULL) < 0);
	loop_run(service->loop);
	http_server_free(&service->server);
	loop_free(&service->loop);
	return NULL;
}

static void expect_echo(const struct http_client_request *request, struct str expected)
{
	_cleanup_buf_ struct buf body = { 0 };
	struct http_client_answer answer;
	struct err err = { 0 };

	buf_init(&body, BODY_MAX);
	if (http_client_send(&client, request, &answer, &err) < 0 ||
	    http_client_read_all(&client, &body, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(answer.status, 200);
	assert_true(str_eq(buf_str(&body), expected));
}

static void exchange_with_service(void)
{
	enum { SIZE = 100000 };
	static char bytes[SIZE];
	struct http_client_request request = { .method = STR("POST"),
					       .target = STR("/"),
					       .body = STR("hello") };
	struct http_client_answer answer;
	struct err err = { 0 };
	int fd;

	for (int i = 0; i < 3; i++) {
		expect_echo(&request, STR("hello"));
		assert_true(http_client_reusable(&client));
	}
	fd = make_file(bytes, SIZE);
	request.body = str_make(bytes, SIZE);
	expect_echo(&request, str_make(bytes, SIZE));
	request.has_body_fd = true;
	request.body_fd = fd;
	request.body_length = SIZE;
	expect_echo(&request, str_make(bytes, SIZE));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	request.body_length = UINT64_MAX;
	expect_echo(&request, str_make(bytes, SIZE));
	assert_true(http_client_reusable(&client));
	/* An answer must be read before the next request. */
	request.has_body_fd = false;
	assert_int_equal(http_client_send(&client, &request, &answer, &err), 0);
	assert_false(http_client_reusable(&client));
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_CLOSED);
	http_client_close(&client);
	/* A body that is shorter than was said, and one that cannot be read. */
	assert_int_equal(http_client_open_unix(&client, path, &limits, &err), 0);
	request.has_body_fd = true;
	request.body_length = SIZE;
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_IO);
	assert_string_equal(err.message, "the body of the request is 100000 bytes shorter than was said");
	assert_int_equal(http_client_open_unix(&client, path, &limits, &err), 0);
	request.body_fd = -1;
	assert_int_equal(http_client_send(&client, &request, &answer, &err), ERR_IO);
	assert_string_equal(err.message, "cannot read the body of the request: Bad file descriptor");
	close_fd(&fd);
}

static void test_with_the_server(void **state)
{
	struct service service = { .loop = NULL };
	const struct http_client_request stop = { .method = STR("GET"), .target = STR("/stop") };
	struct http_client_answer answer;
	/* A machine may have no IPv6. */
	const char *address = "::1";
	uint16_t port;

	(void)state;
	if (http_listen_tcp(address, 0, &service.tcp, &port, NULL) < 0) {
		address = "127.0.0.1";
		assert_int_equal(http_listen_tcp(address, 0, &service.tcp, &port, NULL), 0);
	}
	assert_int_equal(pthread_create(&thread, NULL, service_run, &service), 0);
	assert_int_equal(http_client_open_unix(&client, path, &limits, NULL), 0);
	exchange_with_service();
	assert_int_equal(http_client_open_tcp(&client, address, port, &limits, NULL), 0);
	assert_int_equal(http_client_send(&client, &stop, &answer, NULL), 0);
	assert_false(http_client_reusable(&client));
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_large_heads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_request_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_requests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_connecting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unheard, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_body_on_request, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_time_outs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whoever_can_tell_is_asked_while_nothing_comes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_write_times_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_early_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_large_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hand_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_with_the_server, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

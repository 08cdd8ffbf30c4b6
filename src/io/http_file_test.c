#include "base/base.h"
#include "io/http_fixture.h"

#include <fcntl.h>

/* Answers from files. http_conditional_test.c has all combinations of conditions and ranges; here they meet
 * real files. */

enum { SMALL = 10, LARGE = 5 * 1024 * 1024 };

static struct bench bench;
static struct http_limits limits;
static char name[128];
static unsigned status;
static uint64_t promised; /* size that the handler believes */

static int set_up(void **state)
{
	(void)state;
	limits = bench_limits();
	status = 200;
	return 0;
}

/* Writes `size` bytes, each from its offset, and starts a server that serves them. */
static void start(size_t size, void (*handle)(struct bench *b, struct http_request *request))
{
	_cleanup_close_ int fd = -1;
	char *bytes = xmalloc(size + 1);

	bench_start(&bench, &limits, handle);
	snprintf(name, sizeof(name), "%s/file", bench.directory);
	fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)('0' + i % 10);
	assert_int_equal(write(fd, bytes, size), size);
	free(bytes);
	promised = size;
}

static void stop(void)
{
	assert_int_equal(unlink(name), 0);
	bench_stop(&bench);
}

static void answer_file(struct bench *b, struct http_request *request)
{
	const struct http_field field = { STR("Content-Disposition"), STR("attachment") };
	struct http_answer answer = {
		.status = status, .content_type = STR("text/plain"), .fields = &field, .field_count = 1
	};
	struct http_file file = { .fd = open(name, O_RDONLY | O_CLOEXEC),
				  .size = promised,
				  .modified_ms = 784111777000,
				  .etag = STR("\"abc\"") };

	(void)b;
	http_respond_file(request, &answer, &file);
}

#define FIELDS                                                                                               \
	"X-Content-Type-Options: nosniff\r\nContent-Disposition: attachment\r\nAccept-Ranges: bytes\r\n"     \
	"ETag: \"abc\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static void exchange(struct peer *peer, const char *request, const char *answer)
{
	peer_send(peer, str_of(request));
	peer_expect(peer, answer);
}

static void test_small(void **state)
{
	struct peer peer;

	(void)state;
	start(SMALL, answer_file);
	peer_connect(&peer, &bench);
	exchange(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n" FIELDS
		 "\r\n0123456789");
	exchange(&peer, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
		 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n" FIELDS "\r\n");
	exchange(&peer, "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=2-4\r\n\r\n",
		 "HTTP/1.1 206 Partial Content\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n" FIELDS
		 "Content-Range: bytes 2-4/10\r\n\r\n234");
	exchange(
		&peer, "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=10-\r\n\r\n",
		"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n" FIELDS
		"Content-Range: bytes */10\r\n\r\n");
	exchange(&peer, "GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"abc\"\r\n\r\n",
		 "HTTP/1.1 304 Not Modified\r\nContent-Type: text/plain\r\n" FIELDS "\r\n");
	exchange(
		&peer, "GET / HTTP/1.1\r\nHost: a\r\nIf-Match: \"xyz\"\r\n\r\n",
		"HTTP/1.1 412 Precondition Failed\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n" FIELDS
		"\r\n");
	/* Another status than 200 is not the plain answer that ranges are about. */
	status = 203;
	exchange(&peer, "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=2-4\r\n\r\n",
		 "HTTP/1.1 203 Unknown\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n" FIELDS
		 "\r\n0123456789");
	peer_close(&peer);
	stop();
}

static void answer_bare_file(struct bench *b, struct http_request *request)
{
	struct http_answer answer = { .status = 200 };
	struct http_file file = { .fd = open(name, O_RDONLY | O_CLOEXEC), .size = promised };

	(void)b;
	http_respond_file(request, &answer, &file);
}

static void test_empty(void **state)
{
	struct peer peer;

	(void)state;
	start(0, answer_bare_file);
	peer_connect(&peer, &bench);
	exchange(&peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Content-Type-Options: nosniff\r\n"
		 "Accept-Ranges: bytes\r\n\r\n");
	peer_close(&peer);
	stop();
}

static void expect_bytes(struct peer *peer, size_t from, size_t count)
{
	while (peer->got.n < count && !peer->closed)
		bench_run(&bench);
	assert_true(peer->got.n >= count);
	for (size_t i = 0; i < count; i++)
		if (peer->got.p[i] != (char)('0' + (from + i) % 10))
			fail_msg("byte %zu is wrong", from + i);
	buf_drop(&peer->got, count);
}

static void test_large(void **state)
{
	struct peer peer;

	(void)state;
	start(LARGE, answer_file);
	peer_connect_tcp(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"
			     "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=1000003-4000004\r\n\r\n"
			     "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=-3\r\n\r\n"));
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	expect_bytes(&peer, 0, LARGE);
	peer_expect_status(&peer, "HTTP/1.1 206 Partial Content\r\n");
	expect_bytes(&peer, 1000003, 3000002);
	peer_expect_status(&peer, "HTTP/1.1 206 Partial Content\r\n");
	expect_bytes(&peer, LARGE - 3, 3);
	peer_close(&peer);
	stop();
}

/* A reader that stops keeps neither memory nor the others, and is dropped. */
static void test_slow_reader(void **state)
{
	struct peer slow, other;

	(void)state;
	limits.write_ms = 1;
	start(LARGE, answer_file);
	peer_connect(&slow, &bench);
	peer_set_deaf(&slow, true);
	peer_send(&slow, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	while (bench.requests < 1 || http_server_connections(bench.server))
		bench_settle(&bench);
	peer_connect(&other, &bench);
	peer_send(&other, STR("GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=0-0\r\n\r\n"));
	peer_expect_status(&other, "HTTP/1.1 206 Partial Content\r\n");
	expect_bytes(&other, 0, 1);
	peer_close(&slow);
	peer_close(&other);
	stop();
}

/* The file is shorter than its answer has said: the peer sees a connection that ends too early, never other
 * bytes. */
static void test_shrunk(void **state)
{
	struct peer peer;

	(void)state;
	start(SMALL, answer_file);
	promised = SMALL + 5;
	peer_connect(&peer, &bench);
	peer_send(&peer, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	peer_expect_status(&peer, "HTTP/1.1 200 OK\r\n");
	peer_expect(&peer, "0123456789");
	peer_expect_closed(&peer);
	assert_int_equal(http_server_connections(bench.server), 0);
	peer_close(&peer);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_small, set_up),  cmocka_unit_test_setup(test_empty, set_up),
		cmocka_unit_test_setup(test_large, set_up),  cmocka_unit_test_setup(test_slow_reader, set_up),
		cmocka_unit_test_setup(test_shrunk, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

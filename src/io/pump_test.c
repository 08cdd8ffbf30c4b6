#include "base/base.h"
#include "io/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

/* A pump on a thread, between a pipe or socket that the test writes, one that it reads, and a peer that it
 * plays. */
struct bench {
	int input, output, peer; /* the test's ends */
	struct pump_options options;
	pthread_t thread;
	enum pump_end end;
	int result;
	struct err err;
};

static void *bench_thread(void *context)
{
	struct bench *bench = context;

	bench->result = pump_run(&bench->options, &bench->end, &bench->err);
	return NULL;
}

static void bench_open(struct bench *bench, bool sockets, struct str first, uint64_t drain_ms)
{
	int input[2], output[2], peer[2];

	signal(SIGPIPE, SIG_IGN);
	if (sockets) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input), 0);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, output), 0);
	} else {
		assert_int_equal(pipe2(input, O_CLOEXEC), 0);
		assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, peer), 0);
	assert_int_equal(fcntl(peer[0], F_SETFL, O_NONBLOCK), 0);
	*bench = (struct bench){ .input = input[1], .output = output[0], .peer = peer[1] };
	bench->options = (struct pump_options){ .input_fd = input[0],
						.output_fd = output[1],
						.socket_fd = peer[0],
						.first = first,
						.drain_ms = drain_ms };
}

static void bench_run(struct bench *bench)
{
	assert_int_equal(pthread_create(&bench->thread, NULL, bench_thread, bench), 0);
}

static void bench_start(struct bench *bench, bool sockets, struct str first, uint64_t drain_ms)
{
	bench_open(bench, sockets, first, drain_ms);
	bench_run(bench);
}

/* Waits for the pump, which then lets go of its ends. */
static void bench_join(struct bench *bench)
{
	assert_int_equal(pthread_join(bench->thread, NULL), 0);
	close_fd(&bench->options.output_fd);
}

static void bench_end(struct bench *bench, enum pump_end expected)
{
	if (bench->options.output_fd >= 0)
		bench_join(bench);
	if (bench->result < 0)
		fail_msg("%s", bench->err.message);
	assert_int_equal(bench->end, expected);
	close_fd(&bench->input);
	close_fd(&bench->output);
	close_fd(&bench->peer);
	close_fd(&bench->options.input_fd);
	close_fd(&bench->options.output_fd);
	close_fd(&bench->options.socket_fd);
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void expect(int fd, const char *text)
{
	char got[64];
	size_t n = 0, want = strlen(text);

	while (n < want) {
		ssize_t part = read(fd, got + n, want - n);

		assert_true(part > 0);
		n += (size_t)part;
	}
	assert_memory_equal(got, text, want);
}

static void expect_end(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 0);
}

static void test_both_ways(void **state)
{
	for (int sockets = 0; sockets < 2; sockets++) {
		struct bench bench;

		(void)state;
		bench_start(&bench, sockets, STR("first\n"), 0);
		expect(bench.output, "first\n");
		put(bench.input, "question\n");
		expect(bench.peer, "question\n");
		put(bench.peer, "answer\n");
		expect(bench.output, "answer\n");
		/* The input ends; the peer hears of it and still answers. */
		put(bench.input, "last\n");
		close_fd(&bench.input);
		expect(bench.peer, "last\n");
		expect_end(bench.peer);
		put(bench.peer, "late\n");
		close_fd(&bench.peer);
		expect(bench.output, "late\n");
		bench_end(&bench, PUMP_FINISHED);
	}
}

static void test_peer_closes_first(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, false, STR(""), 0);
	put(bench.peer, "bye\n");
	close_fd(&bench.peer);
	expect(bench.output, "bye\n");
	bench_end(&bench, PUMP_PEER_CLOSED);
}

static void test_output_gone(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, false, STR(""), 0);
	close_fd(&bench.output);
	bench_end(&bench, PUMP_OUTPUT_GONE);
}

/* The same when there is something to be written to it. */
static void test_output_gone_with_bytes_for_it(void **state)
{
	(void)state;
	for (int sockets = 0; sockets < 2; sockets++) {
		struct bench bench;

		bench_open(&bench, sockets, STR("never read\n"), 0);
		close_fd(&bench.output);
		bench_run(&bench);
		bench_end(&bench, PUMP_OUTPUT_GONE);
	}
}

static void test_drain_limit(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, false, STR(""), 1);
	close_fd(&bench.input);
	bench_end(&bench, PUMP_DRAIN_LIMIT);
}

enum { MUCH = 4 << 20 };

struct writer {
	int fd;
	pthread_t thread;
};

static void *write_much(void *context)
{
	struct writer *writer = context;
	unsigned char piece[3000];

	for (size_t at = 0; at < MUCH;) {
		size_t n = size_min(sizeof(piece), MUCH - at);
		ssize_t written;

		for (size_t i = 0; i < n; i++)
			piece[i] = (unsigned char)((at + i) * 31 >> 3);
		written = write(writer->fd, piece, n);
		assert_true(written > 0);
		at += (size_t)written;
	}
	return NULL;
}

static void read_much(int fd)
{
	unsigned char piece[1000];

	for (size_t at = 0; at < MUCH;) {
		ssize_t n = read(fd, piece, size_min(sizeof(piece), MUCH - at));

		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++, at++)
			if (piece[i] != (unsigned char)(at * 31 >> 3))
				fail_msg("byte %zu is wrong", at);
	}
}

/* Megabytes in both directions at once, with nobody reading the output before all input was taken: nothing is
 * lost, and neither way waits for the other. */
static void test_much_and_slowly(void **state)
{
	for (int sockets = 0; sockets < 2; sockets++) {
		struct writer up, down;
		struct bench bench;

		(void)state;
		bench_start(&bench, sockets, STR(""), 0);
		up.fd = bench.input;
		down.fd = bench.peer;
		assert_int_equal(pthread_create(&down.thread, NULL, write_much, &down), 0);
		assert_int_equal(pthread_create(&up.thread, NULL, write_much, &up), 0);
		read_much(bench.peer);
		pthread_join(up.thread, NULL);
		close_fd(&bench.input);
		expect_end(bench.peer);
		read_much(bench.output);
		pthread_join(down.thread, NULL);
		close_fd(&bench.peer);
		bench_join(&bench);
		expect_end(bench.output);
		bench_end(&bench, PUMP_FINISHED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),   cmocka_unit_test(test_peer_closes_first),
		cmocka_unit_test(test_output_gone), cmocka_unit_test(test_output_gone_with_bytes_for_it),
		cmocka_unit_test(test_drain_limit), cmocka_unit_test(test_much_and_slowly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

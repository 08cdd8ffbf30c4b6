#include "base/base.h"
#include "io/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>

enum { BEHIND_MAX = 1 << 20 };

/* A channel on one end of a socket pair; the test is the peer on the other. */
struct fixture {
	struct loop *loop;
	struct channel channel;
	int peer;
	struct buf received;
	unsigned ended, gone, drained;
};

static struct fixture *of(struct channel *channel)
{
	return container_of(channel, struct fixture, channel);
}

static void on_received(struct channel *channel, struct str bytes)
{
	struct fixture *f = of(channel);

	assert_int_equal(buf_append(&f->received, bytes), 0);
	loop_stop(f->loop);
}

static void on_ended(struct channel *channel)
{
	of(channel)->ended++;
	loop_stop(of(channel)->loop);
}

static void on_gone(struct channel *channel)
{
	of(channel)->gone++;
	loop_stop(of(channel)->loop);
}

static void on_drained(struct channel *channel)
{
	of(channel)->drained++;
	loop_stop(of(channel)->loop);
}

static const struct channel_events events = {
	.received = on_received, .ended = on_ended, .gone = on_gone, .drained = on_drained
};

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(loop_new(&f->loop, NULL), 0);
	buf_init(&f->received, BEHIND_MAX);
	f->peer = pair[1];
	assert_int_equal(channel_start(&f->channel, f->loop, pair[0], BEHIND_MAX, &events, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	channel_release(&f->channel);
	channel_release(&f->channel);
	loop_free(&f->loop);
	buf_release(&f->received);
	close_fd(&f->peer);
	free(f);
	return 0;
}

static void test_bytes_go_both_ways(void **state)
{
	struct fixture *f = *state;
	char got[16];

	assert_int_equal(write(f->peer, "to us", 5), 5);
	loop_run(f->loop);
	assert_true(str_eq(buf_str(&f->received), STR("to us")));
	assert_int_equal(channel_write(&f->channel, STR("from us")), 0);
	assert_int_equal(read(f->peer, got, sizeof(got)), 7);
	assert_memory_equal(got, "from us", 7);
	loop_run(f->loop);
	assert_int_equal(f->drained, 1);
}

static void test_peer_that_only_stops_sending_still_reads(void **state)
{
	struct fixture *f = *state;
	char got[16];

	assert_int_equal(shutdown(f->peer, SHUT_WR), 0);
	loop_run(f->loop);
	assert_int_equal(f->ended, 1);
	assert_int_equal(f->gone, 0);
	assert_int_equal(channel_write(&f->channel, STR("late")), 0);
	loop_run(f->loop);
	assert_int_equal(f->drained, 1);
	assert_int_equal(f->gone, 0);
	assert_int_equal(read(f->peer, got, sizeof(got)), 4);
	/* Nothing is written any more, and still it is noticed when the peer goes. */
	close_fd(&f->peer);
	loop_run(f->loop);
	assert_int_equal(f->gone, 1);
	assert_int_equal(f->ended, 1);
}

static void test_peer_that_closes_is_gone(void **state)
{
	struct fixture *f = *state;

	close_fd(&f->peer);
	while (!f->gone)
		loop_run(f->loop);
	assert_int_equal(f->gone, 1);
	assert_int_equal(channel_write(&f->channel, STR("x")), ERR_CLOSED);
}

/* Reads as the loop says that there is something, until everything came. */
struct reader {
	struct watch watch;
	struct fixture *fixture;
	size_t got, wanted;
};

static void reader_ready(struct watch *watch, unsigned ready)
{
	struct reader *reader = container_of(watch, struct reader, watch);
	static char piece[1 << 14];
	ssize_t n = read(reader->fixture->peer, piece, sizeof(piece));

	(void)ready;
	assert_true(n > 0);
	reader->got += (size_t)n;
	if (reader->got == reader->wanted)
		loop_stop(reader->fixture->loop);
}

static void test_what_does_not_fit_the_pipe_is_sent_when_it_does(void **state)
{
	struct fixture *f = *state;
	struct reader reader = { .fixture = f };
	static char piece[1 << 18];

	for (int i = 0; i < 3; i++, reader.wanted += sizeof(piece))
		assert_int_equal(channel_write(&f->channel, str_make(piece, sizeof(piece))), 0);
	assert_true(f->channel.unsent.n > 0);
	assert_int_equal(watch_start(&reader.watch, f->loop, f->peer, WATCH_READ, reader_ready, NULL), 0);
	while (reader.got < reader.wanted)
		loop_run(f->loop);
	watch_stop(&reader.watch);
	assert_int_equal(reader.got, reader.wanted);
	assert_int_equal(f->channel.unsent.n, 0);
}

/* Two answers that are finished at once must not cost a client that reads both. */
static void test_one_more_as_long_as_may_be_is_taken(void **state)
{
	static char piece[BEHIND_MAX];
	struct fixture *f = *state;

	assert_int_equal(channel_write(&f->channel, str_make(piece, sizeof(piece))), 0);
	assert_true(f->channel.unsent.n > 0);
	assert_int_equal(channel_write(&f->channel, str_make(piece, sizeof(piece))), 0);
	assert_int_equal(channel_write(&f->channel, STR("x")), ERR_CLOSED);
}

static void test_peer_that_reads_nothing_is_given_up(void **state)
{
	struct fixture *f = *state;
	static char piece[1 << 18];
	int r = 0;

	for (int i = 0; i < 16 && r == 0; i++)
		r = channel_write(&f->channel, str_make(piece, sizeof(piece)));
	assert_int_equal(r, ERR_CLOSED);
	assert_int_equal(f->gone, 0); /* never from within */
	loop_run(f->loop);
	assert_int_equal(f->gone, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bytes_go_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_that_only_stops_sending_still_reads, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_peer_that_closes_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_does_not_fit_the_pipe_is_sent_when_it_does, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_more_as_long_as_may_be_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_peer_that_reads_nothing_is_given_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

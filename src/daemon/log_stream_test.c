#include "base/base.h"
#include "daemon/log_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <cmocka.h>

enum { LINE_MAX_BYTES = 64 * 1024 };

static uint64_t clock_stands(void)
{
	return 0;
}

static const struct logger logger = { .format = LOG_FORMAT_LOGFMT,
				      .bounds = { .value_max = 512, .line_max = LOG_LINE_MIN },
				      .clock = clock_stands };

struct scene {
	int read_fd;
	struct log_stream stream;
};

static int set_up_pipe(void **state)
{
	struct scene *scene = xnew(struct scene);
	int fds[2];

	*state = scene;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	scene->read_fd = fds[0];
	scene->stream.fd = fds[1];
	return 0;
}

static int set_up_socket(void **state)
{
	struct scene *scene = xnew(struct scene);
	int fds[2];

	*state = scene;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	scene->read_fd = fds[0];
	scene->stream.fd = fds[1];
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	close_fd(&scene->read_fd);
	close_fd(&scene->stream.fd);
	free(scene);
	return 0;
}

static void put(struct scene *scene, const char *line)
{
	log_stream_write(&scene->stream, &logger, str_of(line));
}

/* All that is there; the writer does not write meanwhile. */
static struct str drain(struct scene *scene, char *bytes, size_t room)
{
	size_t n = 0;

	assert_int_equal(fcntl(scene->read_fd, F_SETFL, O_NONBLOCK), 0);
	for (;;) {
		ssize_t got = read(scene->read_fd, bytes + n, room - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return str_make(bytes, n);
}

/* Writes records until one finds no room. */
static unsigned fill(struct scene *scene)
{
	unsigned written = 0;

	while (!scene->stream.dropped) {
		put(scene, "a record that nobody reads\n");
		written++;
	}
	return written - 1;
}

static void test_records_go_out_as_they_are(void **state)
{
	struct scene *scene = *state;
	char bytes[64];
	struct str got;

	put(scene, "one\n");
	put(scene, "two\n");
	got = drain(scene, bytes, sizeof(bytes));
	assert_true(str_eq(got, STR("one\ntwo\n")));
}

static void test_a_full_one_loses_records_and_says_how_many(void **state)
{
	struct scene *scene = *state;
	_cleanup_free_ char *bytes = xmalloc(1 << 20);
	unsigned written = fill(scene);
	struct str got;

	assert_true(written > 10);
	put(scene, "another that is lost\n");
	assert_int_equal(scene->stream.dropped, 2);
	got = drain(scene, bytes, 1 << 20);
	assert_int_equal(got.n, written * strlen("a record that nobody reads\n"));
	put(scene, "read again\n");
	got = drain(scene, bytes, 1 << 20);
	assert_true(str_eq(got, STR("time=1970-01-01T00:00:00.000Z level=warn msg=log.dropped records=2 "
				    "detail=\"standard error was not read\"\nread again\n")));
	assert_int_equal(scene->stream.dropped, 0);
}

static void test_a_record_that_was_cut_gets_an_end(void **state)
{
	struct scene *scene = *state;
	_cleanup_free_ char *bytes = xmalloc(1 << 20);
	_cleanup_free_ char *line = xmalloc(LINE_MAX_BYTES + 1);
	struct str got;

	memset(line, 'x', LINE_MAX_BYTES);
	line[LINE_MAX_BYTES] = '\0';
	put(scene, "short\n");
	/* The pipe has not room for this behind the other. */
	put(scene, line);
	assert_true(scene->stream.cut);
	got = drain(scene, bytes, 1 << 20);
	assert_true(str_ends_with(got, STR("xx")));
	put(scene, "whole\n");
	got = drain(scene, bytes, 1 << 20);
	assert_true(str_starts_with(got, STR("\ntime=")));
	assert_true(str_ends_with(got, STR("\nwhole\n")));
}

static void test_a_reader_that_has_gone_raises_no_signal(void **state)
{
	struct scene *scene = *state;

	/* SIGPIPE would end this program: no loop has made it ignored. */
	close_fd(&scene->read_fd);
	put(scene, "to nobody\n");
	assert_int_equal(scene->stream.dropped, 1);
	close_fd(&scene->stream.fd);
	put(scene, "to nothing\n");
	assert_int_equal(scene->stream.dropped, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records_go_out_as_they_are, set_up_pipe, tear_down),
		cmocka_unit_test_setup_teardown(test_a_full_one_loses_records_and_says_how_many, set_up_pipe,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_full_one_loses_records_and_says_how_many,
						set_up_socket, tear_down),
		cmocka_unit_test_setup_teardown(test_a_record_that_was_cut_gets_an_end, set_up_pipe,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_reader_that_has_gone_raises_no_signal, set_up_pipe,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

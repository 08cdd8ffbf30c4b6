#include "base/base.h"
#include "io/http_fixture.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static char directory[64], path[80];

static int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/http_listen_test.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s", directory);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

/* The message is `before`, the path and `behind`. */
static void expect_error(const char *where, int code, const char *before, const char *behind)
{
	struct err err = { 0 };
	char expected[512];
	int fd = -7;

	snprintf(expected, sizeof(expected), "%s%s%s", before, where, behind);
	assert_int_equal(http_listen_unix(where, &fd, &err), code);
	assert_string_equal(err.message, expected);
	assert_int_equal(fd, -7);
}

static void test_mode(void **state)
{
	_cleanup_close_ int fd = -1;
	mode_t before = umask(0);
	struct stat status;

	(void)state;
	assert_int_equal(http_listen_unix(path, &fd, NULL), 0);
	umask(before);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void test_what_is_there(void **state)
{
	int fd = -1, again = -1;
	FILE *file;

	(void)state;
	/* A live socket is left alone. */
	assert_int_equal(http_listen_unix(path, &fd, NULL), 0);
	expect_error(path, ERR_EXISTS, "another process listens on ", "");
	/* A dead one is replaced. */
	close_fd(&fd);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(http_listen_unix(path, &again, NULL), 0);
	close_fd(&again);
	/* Anything else is not ours to remove. */
	assert_int_equal(unlink(path), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	fclose(file);
	expect_error(path, ERR_EXISTS, "", " exists and is not a socket; remove it or choose another path");
}

static void test_bad_paths(void **state)
{
	char long_path[200] = "";
	char missing[100];

	(void)state;
	memset(long_path, 'a', 108);
	expect_error(long_path, ERR_INVALID, "the socket path ",
		     " has 108 bytes, but a socket's path must have 1 to 107; choose a shorter directory");
	expect_error("", ERR_INVALID, "the socket path ",
		     " has 0 bytes, but a socket's path must have 1 to 107; choose a shorter directory");
	snprintf(missing, sizeof(missing), "%s/none/s", directory);
	expect_error(missing, ERR_NOT_FOUND, "cannot create the socket ", ": No such file or directory");
}

static void test_tcp(void **state)
{
	struct err err = { 0 };
	uint16_t port = 0, other = 9;
	int fd = -1, again = -1;

	(void)state;
	assert_int_equal(http_listen_tcp("127.0.0.1", 0, &fd, &port, &err), 0);
	assert_true(port > 0);
	assert_int_equal(http_listen_tcp("127.0.0.1", port, &again, &other, &err), ERR_IO);
	assert_non_null(strstr(err.message, "cannot listen on 127.0.0.1 port "));
	assert_non_null(strstr(err.message, "Address already in use"));
	assert_int_equal(other, 9);
	close_fd(&fd);
	assert_int_equal(http_listen_tcp("localhost", 0, &fd, &port, &err), ERR_INVALID);
	assert_string_equal(err.message, "localhost is not a numeric IPv4 or IPv6 address");
	assert_int_equal(fd, -1);
}

static void test_tcp_v6(void **state)
{
	struct err err = { 0 };
	uint16_t port = 0;
	int fd = -1;

	(void)state;
	if (http_listen_tcp("::1", 0, &fd, &port, &err) < 0) {
		print_message("skipped: this machine has no IPv6\n");
		skip();
	}
	assert_true(port > 0);
	close_fd(&fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mode, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tcp, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tcp_v6, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "io/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int unix_address(const char *path, struct sockaddr_un *ret_address, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(address.sun_path))
		return err_set(
			err, ERR_INVALID,
			"the socket path %s has %zu bytes, but a socket's path must have 1 to %zu; choose a "
			"shorter directory",
			path, n, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, n);
	*ret_address = address;
	return 0;
}

/* Removes the socket that a process which no longer runs has left behind. A socket is dead when it refuses
 * connections; any other outcome means that somebody has it. */
static int remove_dead_socket(const char *path, const struct sockaddr_un *address, struct err *err)
{
	_cleanup_close_ int probe = -1;
	struct stat status;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : err_errno(err, "cannot look at %s", path);
	if (!S_ISSOCK(status.st_mode))
		return err_set(err, ERR_EXISTS,
			       "%s exists and is not a socket; remove it or choose another path", path);
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return err_errno(err, "cannot create a socket");
	if (connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
		return err_set(err, ERR_EXISTS, "another process listens on %s", path);
	if (errno != ECONNREFUSED)
		return err_errno(err, "cannot tell whether another process listens on %s", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return err_errno(err, "cannot remove the dead socket %s", path);
	return 0;
}

int http_listen_unix(const char *path, int *ret_fd, struct err *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address;
	int result = unix_address(path, &address, err);

	if (result == 0)
		result = remove_dead_socket(path, &address, err);
	if (result < 0)
		return result;
	/* Linux gives the path the mode of the socket, so that it never exists with another one, whatever the
	 * umask. */
	if (fd < 0 || fchmod(fd, S_IRUSR | S_IWUSR) < 0)
		return err_errno(err, "cannot create a socket");
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == EADDRINUSE)
			return err_set(err, ERR_EXISTS, "another process has just begun to listen on %s",
				       path);
		return err_errno(err, "cannot create the socket %s", path);
	}
	if (listen(fd, SOMAXCONN) < 0)
		return err_errno(err, "cannot listen on %s", path);
	*ret_fd = take_fd(&fd);
	return 0;
}

/* -- TCP ------------------------------------------------------------------------------------------------- */

static int tcp_address(const char *text, uint16_t port, struct sockaddr_storage *ret_address,
		       socklen_t *ret_n, struct err *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	*ret_address = (struct sockaddr_storage){ 0 };
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(ret_address, &v4, sizeof(v4));
		*ret_n = sizeof(v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
		memcpy(ret_address, &v6, sizeof(v6));
		*ret_n = sizeof(v6);
		return 0;
	}
	return err_set(err, ERR_INVALID, "%s is not a numeric IPv4 or IPv6 address", text);
}

static int bound_port(int fd, uint16_t *ret_port, struct err *err)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t n = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &n) < 0)
		return err_errno(err, "cannot read the port of a socket");
	*ret_port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
							: ((struct sockaddr_in *)&address)->sin_port);
	return 0;
}

int http_listen_tcp(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_storage bound;
	socklen_t n = 0;
	int on = 1, result = tcp_address(address, port, &bound, &n, err);

	if (result < 0)
		return result;
	fd = socket(bound.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return err_errno(err, "cannot create a socket");
	/* Each address is asked for by itself: "::" does not take IPv4's port, too. */
	if (bound.ss_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return err_errno(err, "cannot create a socket");
	if (bind(fd, (const struct sockaddr *)&bound, n) < 0 || listen(fd, SOMAXCONN) < 0)
		return err_errno(err, "cannot listen on %s port %u", address, port);
	result = bound_port(fd, ret_port, err);
	if (result == 0)
		*ret_fd = take_fd(&fd);
	return result;
}

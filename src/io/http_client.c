#include "base/base.h"
#include "io/http_client.h"

#include "base/units.h"
#include "io/clock.h"
#include "io/http_client_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Connecting, waiting and sending. The descriptor is non-blocking, so that every wait is a poll(2) with a
 * deadline. */

enum { US_PER_MS = 1000 };

/* -- waiting --------------------------------------------------------------------------------------------- */

uint64_t http_client_deadline(uint64_t ms)
{
	uint64_t deadline;

	return ms == 0 || add_overflows(clock_monotonic_ms(), ms, &deadline) ? UINT64_MAX : deadline;
}

/* poll(2)'s argument for what is left until `deadline`. */
static int wait_ms(uint64_t deadline)
{
	uint64_t now = clock_monotonic_ms();

	if (deadline == UINT64_MAX)
		return -1;
	if (deadline <= now)
		return 0;
	return deadline - now > INT32_MAX ? INT32_MAX : (int)(deadline - now);
}

static int wait_until(struct http_client *client, short events, uint64_t deadline, const char *what,
		      struct err *err)
{
	struct pollfd watched = { .fd = client->fd, .events = events };
	int n;

	do
		n = poll(&watched, 1, wait_ms(deadline));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, "cannot wait for %s", client->peer);
	if (n == 0)
		return err_set(err, ERR_TIMEOUT, "%s did not %s in time", client->peer, what);
	return watched.revents;
}

int http_client_wait(struct http_client *client, short events, uint64_t deadline, const char *what,
		     struct err *err)
{
	const struct http_client_limits *limits = &client->limits;

	for (;;) {
		uint64_t check = limits->still_there ? http_client_deadline(limits->check_ms) : UINT64_MAX;
		int r = wait_until(client, events, check < deadline ? check : deadline, what, err);

		if (r != ERR_TIMEOUT || check >= deadline)
			return r;
		r = limits->still_there(limits->context, err);
		if (r < 0)
			return r;
	}
}

static bool is_local(const struct http_client *client)
{
	int domain = AF_UNSPEC;
	socklen_t length = sizeof(domain);

	return getsockopt(client->fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

int http_client_receive(struct http_client *client, char *room, size_t n, uint64_t deadline, const char *what,
			size_t *ret_n, struct err *err)
{
	for (;;) {
		ssize_t got = recv(client->fd, room, n, 0);
		int waited;

		if (got >= 0) {
			*ret_n = (size_t)got;
			return 0;
		}
		if (errno == EINTR)
			continue;
		if (errno == ECONNRESET) {
			client->unheard = is_local(client);
			return err_set(err, ERR_CLOSED, "%s reset the connection", client->peer);
		}
		if (errno != EAGAIN)
			return err_errno(err, "cannot read from %s", client->peer);
		waited = http_client_wait(client, POLLIN, deadline, what, err);
		if (waited < 0)
			return waited;
	}
}

int http_client_give_up(struct http_client *client, int code)
{
	http_client_close(client);
	return code;
}

/* -- connecting ------------------------------------------------------------------------------------------ */

/* connect(2) itself waits, bounded by SO_SNDTIMEO: a non-blocking one on a unix socket whose backlog is full
 * cannot be waited for. */
static int client_connect(struct http_client *client, const struct sockaddr *address, socklen_t length,
			  const struct http_client_limits *limits, struct err *err)
{
	_cleanup_close_ int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = { .tv_sec = (time_t)(limits->connect_ms / MS_PER_SECOND),
				    .tv_usec =
					    (suseconds_t)(limits->connect_ms % MS_PER_SECOND * US_PER_MS) };
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return err_errno(err, "cannot create a socket");
	if (connect(fd, address, length) < 0) {
		if (errno == EAGAIN || errno == EINPROGRESS)
			return err_set(err, ERR_TIMEOUT, "%s did not accept a connection in time",
				       client->peer);
		return err_errno(err, "cannot connect to %s", client->peer);
	}
	if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
		return err_errno(err, "cannot prepare the connection to %s", client->peer);
	if (address->sa_family != AF_UNIX)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	client->limits = *limits;
	client->fd = take_fd(&fd);
	client->connected = true;
	client->framing = FRAMING_NONE;
	client->keep_alive = true;
	client->input = str_make(NULL, 0);
	return 0;
}

int http_client_open_unix(struct http_client *client, const char *path,
			  const struct http_client_limits *limits, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	client->connected = false;
	if (n >= sizeof(address.sun_path))
		return err_set(err, ERR_INVALID,
			       "the socket path %s is longer than the %zu bytes a socket can have", path,
			       sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, n);
	snprintf(client->host, sizeof(client->host), "localhost");
	snprintf(client->peer, sizeof(client->peer), "%s", path);
	return client_connect(client, (const struct sockaddr *)&address, sizeof(address), limits, err);
}

int http_client_open_tcp(struct http_client *client, const char *address, uint16_t port,
			 const struct http_client_limits *limits, struct err *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	client->connected = false;
	if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
		snprintf(client->host, sizeof(client->host), "%s:%u", address, port);
		snprintf(client->peer, sizeof(client->peer), "%s", client->host);
		return client_connect(client, (const struct sockaddr *)&v4, sizeof(v4), limits, err);
	}
	if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1) {
		snprintf(client->host, sizeof(client->host), "[%s]:%u", address, port);
		snprintf(client->peer, sizeof(client->peer), "%s", client->host);
		return client_connect(client, (const struct sockaddr *)&v6, sizeof(v6), limits, err);
	}
	return err_set(err, ERR_INVALID, "%s is not a numeric address", address);
}

int http_client_peer_process(const struct http_client *client)
{
	struct ucred peer = { 0 };
	socklen_t length = sizeof(peer);

	if (!client->connected || getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return 0;
	return peer.pid;
}

void http_client_close(struct http_client *client)
{
	if (client->connected)
		close_fd(&client->fd);
	client->connected = false;
}

/* -- sending --------------------------------------------------------------------------------------------- */

/* Says that the answer began before the request was sent to its end: no more of it is sent. */
enum { ANSWERED_EARLY = 1 };

/* Sends all of it, 0. A server that has taken enough answers early, or closes: both are found out by
 * reading. */
static int send_all(struct http_client *client, struct str bytes, struct err *err)
{
	while (bytes.n) {
		ssize_t sent = send(client->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
		int events;

		if (sent >= 0) {
			bytes = str_from(bytes, (size_t)sent);
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EPIPE || errno == ECONNRESET)
			return ANSWERED_EARLY;
		if (errno != EAGAIN)
			return err_errno(err, "cannot send to %s", client->peer);
		events = http_client_wait(client, POLLIN | POLLOUT,
					  http_client_deadline(client->limits.write_ms), "take the request",
					  err);
		if (events < 0)
			return events;
		if (events & POLLIN)
			return ANSWERED_EARLY;
	}
	return 0;
}

/* Text in the client's room, which holds no body while a request is sent. */
struct head_text {
	char *p;
	size_t n, max;
	bool full;
};

static void head_add(struct head_text *text, struct str s)
{
	if (s.n > text->max - text->n) {
		text->full = true;
		return;
	}
	if (s.n)
		memcpy(text->p + text->n, s.p, s.n);
	text->n += s.n;
}

static void head_add_field(struct head_text *text, struct str name, struct str value)
{
	head_add(text, name);
	head_add(text, STR(": "));
	head_add(text, value);
	head_add(text, STR("\r\n"));
}

static void head_add_number(struct head_text *text, struct str name, uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	head_add_field(text, name, str_make(digits, (size_t)n));
}

static bool is_chunked(const struct http_client_request *request)
{
	return request->has_body_fd && request->body_length == UINT64_MAX;
}

static void head_add_framing(struct head_text *text, const struct http_client_request *request)
{
	bool wants_body = str_eq(request->method, STR("POST")) || str_eq(request->method, STR("PUT"));

	if (is_chunked(request))
		head_add_field(text, STR("Transfer-Encoding"), STR("chunked"));
	else if (request->has_body_fd)
		head_add_number(text, STR("Content-Length"), request->body_length);
	else if (request->body.n || wants_body)
		head_add_number(text, STR("Content-Length"), request->body.n);
	if (request->has_body_fd)
		head_add_field(text, STR("Expect"), STR("100-continue"));
}

/* The names and values may come from the environment or a configuration, so that they are checked here. */
static int check_request(const struct http_client_request *request, struct err *err)
{
	if (!http_is_token(request->method))
		return err_set(err, ERR_INVALID, "%.*s is not an HTTP method", STR_ARG(request->method));
	for (size_t i = 0; i < request->target.n; i++)
		if (request->target.p[i] <= ' ' || request->target.p[i] == 0x7f)
			return err_set(err, ERR_INVALID,
				       "the target %.*s holds a blank or a control character",
				       STR_ARG(request->target));
	for (size_t i = 0; i < request->field_count; i++)
		if (!http_is_token(request->fields[i].name) || !http_is_field_value(request->fields[i].value))
			return err_set(err, ERR_INVALID,
				       "the header field %.*s has a name or a value that HTTP cannot carry",
				       STR_ARG(request->fields[i].name));
	return 0;
}

static int write_head(struct http_client *client, const struct http_client_request *request,
		      struct str *ret_head, struct err *err)
{
	struct head_text text = { .p = client->room, .max = sizeof(client->room) };

	head_add(&text, request->method);
	head_add(&text, STR(" "));
	head_add(&text, request->target);
	head_add(&text, STR(" HTTP/1.1\r\n"));
	head_add_field(&text, STR("Host"), str_of(client->host));
	for (size_t i = 0; i < request->field_count; i++)
		head_add_field(&text, request->fields[i].name, request->fields[i].value);
	head_add_framing(&text, request);
	head_add(&text, STR("\r\n"));
	if (text.full)
		return err_set(err, ERR_TOO_LARGE, "the request's head is longer than %zu bytes", text.max);
	*ret_head = str_make(text.p, text.n);
	return 0;
}

/* Head and a small body go out in one write. */
static int send_head(struct http_client *client, const struct http_client_request *request, struct err *err)
{
	struct str head;
	int result = write_head(client, request, &head, err);

	if (result < 0)
		return result;
	if (!request->has_body_fd && request->body.n <= sizeof(client->room) - head.n) {
		if (request->body.n)
			memcpy(client->room + head.n, request->body.p, request->body.n);
		return send_all(client, str_make(head.p, head.n + request->body.n), err);
	}
	result = send_all(client, head, err);
	return result || request->has_body_fd ? result : send_all(client, request->body, err);
}

/* In front of a chunk's data in the room: its size and CR LF. */
enum { CHUNK_SIZE_ROOM = 16 };

static ssize_t read_piece(int fd, char *room, size_t n)
{
	ssize_t got;

	do
		got = read(fd, room, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static int send_chunk(struct http_client *client, size_t n, struct err *err)
{
	char size[CHUNK_SIZE_ROOM];
	char *data = client->room + CHUNK_SIZE_ROOM;
	int digits = snprintf(size, sizeof(size), "%zx\r\n", n);
	char *from = data - digits;

	memcpy(from, size, (size_t)digits);
	memcpy(data + n, "\r\n", 2);
	return send_all(client, str_make(from, (size_t)digits + n + 2), err);
}

static int send_body_chunked(struct http_client *client, int fd, struct err *err)
{
	size_t room = sizeof(client->room) - CHUNK_SIZE_ROOM - 2;
	int result = 0;

	while (result == 0) {
		ssize_t got = read_piece(fd, client->room + CHUNK_SIZE_ROOM, room);

		if (got < 0)
			return err_errno(err, "cannot read the body of the request");
		if (got == 0)
			return send_all(client, STR("0\r\n\r\n"), err);
		result = send_chunk(client, (size_t)got, err);
	}
	return result;
}

static int send_body_counted(struct http_client *client, int fd, uint64_t left, struct err *err)
{
	int result = 0;

	while (result == 0 && left) {
		size_t n = left < sizeof(client->room) ? (size_t)left : sizeof(client->room);
		ssize_t got = read_piece(fd, client->room, n);

		if (got < 0)
			return err_errno(err, "cannot read the body of the request");
		if (got == 0)
			return err_set(err, ERR_IO,
				       "the body of the request is %llu bytes shorter than was said",
				       (unsigned long long)left);
		left -= (uint64_t)got;
		result = send_all(client, str_make(client->room, (size_t)got), err);
	}
	return result;
}

/* Waits until the server wants the body. Its answer may come instead, which is then in `answer`. */
static int send_body(struct http_client *client, const struct http_client_request *request,
		     struct http_client_answer *answer, struct err *err)
{
	int result = http_client_read_head(client, request->method, HTTP_CLIENT_UNTIL_CONTINUE, answer, err);

	if (result < 0)
		return result;
	if (answer->status != HTTP_CLIENT_CONTINUE)
		return ANSWERED_EARLY;
	client->body_begun = true;
	if (is_chunked(request))
		return send_body_chunked(client, request->body_fd, err);
	return send_body_counted(client, request->body_fd, request->body_length, err);
}

int http_client_send(struct http_client *client, const struct http_client_request *request,
		     struct http_client_answer *ret_answer, struct err *err)
{
	int result = check_request(request, err);
	struct http_client_answer answer = { 0 };

	client->unheard = true;
	client->body_begun = false;
	if (result < 0)
		return result;
	if (!http_client_reusable(client))
		return err_set(err, ERR_CLOSED, "the connection to %s has ended", client->peer);
	http_client_begin_answer(client);
	result = send_head(client, request, err);
	if (result == 0 && request->has_body_fd)
		result = send_body(client, request, &answer, err);
	if (result < 0)
		return http_client_give_up(client, result);
	client->keep_alive &= result != ANSWERED_EARLY;
	client->unheard = result == ANSWERED_EARLY;
	result = answer.status > HTTP_CLIENT_CONTINUE
			 ? 0
			 : http_client_read_head(client, request->method, HTTP_CLIENT_UNTIL_ANSWER, &answer,
						 err);
	if (result < 0)
		return http_client_give_up(client, result);
	*ret_answer = answer;
	return 0;
}

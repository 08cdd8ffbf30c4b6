/*
 * A peer sends these bytes, cut as the first byte says, and may then close that direction, to a server that
 * may begin to drain halfway, and whose handler does what each request's path asks for: answer now or later,
 * collect or stream the body, stream the answer, abort, serve a file, upgrade. Whatever comes, every request
 * ends once, by its answer or by `gone`, and nothing is left when the peer has closed.
 */
#include "base/base.h"
#include "io/http_connection.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FAR_MS = 1000000, /* no time-out shall decide anything here */
	BODY_MAX = 64,
	FILE_SIZE = 1000
};

static struct fuzz {
	struct loop *loop;
	struct http_server *server;
	struct timer stop;
	unsigned begun, ended;
	struct http_request *open; /* the request that the handler still has */
	struct deferred later;
	struct http_stream stream;
	bool streaming;
	unsigned pauses;
} fuzz;

/* -- the handler ----------------------------------------------------------------------------------------- */

static void request_ended(void)
{
	BUG_ON(!fuzz.open);
	fuzz.open = NULL;
	fuzz.ended++;
	fuzz.streaming = false;
	deferred_cancel(&fuzz.later);
}

static void request_gone(struct http_request *request)
{
	BUG_ON(request != fuzz.open);
	request_ended();
}

static void answer(struct http_request *request, struct str body)
{
	struct http_answer answer = { .status = 200, .content_type = STR("text/plain") };

	BUG_ON(request != fuzz.open);
	request_ended();
	http_respond(request, &answer, body);
}

static void answer_later(struct deferred *deferred)
{
	(void)deferred;
	answer(fuzz.open, STR("later"));
}

static void take_data(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	BUG_ON(request != fuzz.open || (last && bytes.n));
	if (last || too_large || str_find_char(bytes, '!') != STR_NONE)
		answer(request, STR("taken"));
	else if (fuzz.pauses++ % 3 == 0)
		http_pause_body(request);
}

static void echo_data(struct http_request *request, struct str bytes, bool last, bool too_large)
{
	BUG_ON(request != fuzz.open);
	if (last || too_large) {
		request_ended();
		http_stream_end(&fuzz.stream);
	} else {
		http_stream_write(&fuzz.stream, bytes);
	}
}

static void stream_begin(struct http_request *request)
{
	struct http_answer answer = { .status = 200 };

	http_stream_start(&fuzz.stream, request, &answer);
	fuzz.streaming = true;
}

static void answer_file(struct http_request *request)
{
	struct http_answer answer = { .status = 200 };
	struct http_file file = { .fd = memfd_create("fuzz", MFD_CLOEXEC),
				  .size = FILE_SIZE,
				  .modified_ms = FAR_MS,
				  .etag = STR("\"a\"") };

	/* Every second file is shorter than it says. */
	BUG_ON(file.fd < 0 || ftruncate(file.fd, fuzz.begun % 2 ? FILE_SIZE : FILE_SIZE / 2) < 0);
	request_ended();
	http_respond_file(request, &answer, &file);
}

static void upgrade(struct http_request *request)
{
	_cleanup_buf_ struct buf read = { 0 };
	int fd = -1;

	if (!http_wants_upgrade(request, STR("x"))) {
		answer(request, STR("no"));
		return;
	}
	buf_init(&read, BODY_MAX);
	request_ended();
	if (http_upgrade(request, STR("x"), NULL, 0, &fd, &read) == 0)
		close_fd(&fd);
}

static void handle(void *context, struct http_request *request)
{
	(void)context;
	BUG_ON(fuzz.open);
	fuzz.open = request;
	fuzz.begun++;
	request->gone = request_gone;
	switch (request->path.n > 1 ? request->path.p[1] : 'a') {
	case 'l':
		loop_defer(fuzz.loop, &fuzz.later, answer_later);
		break;
	case 'c':
		http_read_body(request, BODY_MAX, answer);
		break;
	case 'b':
		http_stream_body(request, BODY_MAX, take_data);
		break;
	case 'e':
		stream_begin(request);
		http_stream_body(request, BODY_MAX, echo_data);
		break;
	case 's':
		stream_begin(request);
		break;
	case 'k':
		stream_begin(request);
		request_ended();
		http_stream_abort(&fuzz.stream);
		break;
	case 'f':
		answer_file(request);
		break;
	case 'u':
		upgrade(request);
		break;
	case 'h': /* holds it until the peer goes */
		break;
	default:
		answer(request, request->query);
	}
}

/* What a handler does between two turns of the loop. */
static void nudge(void)
{
	if (!fuzz.open)
		return;
	if (fuzz.open->path.n > 1 && fuzz.open->path.p[1] == 'b')
		http_resume_body(fuzz.open);
	if (fuzz.streaming && fuzz.open->path.p[1] == 's') {
		if (http_stream_write(&fuzz.stream, STR("data: 1\n\n")) < 0)
			return;
		request_ended();
		http_stream_end(&fuzz.stream);
	}
}

/* -- the peer -------------------------------------------------------------------------------------------- */

static void stop_loop(struct timer *timer)
{
	(void)timer;
	loop_stop(fuzz.loop);
}

static void turn(void)
{
	timer_start(&fuzz.stop, fuzz.loop, 0, stop_loop);
	loop_run(fuzz.loop);
	nudge();
}

static void drain(int fd)
{
	char room[4096];

	while (recv(fd, room, sizeof(room), MSG_DONTWAIT) > 0)
		;
}

static void send_pieces(int fd, struct str bytes, size_t step)
{
	while (bytes.n) {
		ssize_t n = send(fd, bytes.p, size_min(bytes.n, step), MSG_NOSIGNAL | MSG_DONTWAIT);

		/* The server has closed, or does not read on; then it will not. */
		if (n <= 0)
			break;
		bytes = str_from(bytes, (size_t)n);
		turn();
		drain(fd);
	}
}

static void drained(void *context)
{
	(void)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct http_limits limits = {
		.header_bytes = 512,
		.header_fields = 16,
		.target_bytes = 128,
		.connections = 4,
		.header_ms = FAR_MS,
		.body_ms = FAR_MS,
		.idle_ms = FAR_MS,
		.write_ms = FAR_MS,
		.linger_ms = FAR_MS,
		.unsent_bytes = 256,
		.accept_retry_ms = FAR_MS,
	};
	struct http_handler handler = { .request = handle };
	struct sockaddr_storage none = { .ss_family = AF_UNIX };
	struct http_listener listener = { .local = true };
	struct str sent;
	size_t step;
	int fds[2];

	if (size < 2)
		return 0;
	step = 1 + data[0] % 64u;
	fuzz = (struct fuzz){ .begun = 0 };
	BUG_ON(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0);
	BUG_ON(loop_new(&fuzz.loop, NULL) < 0);
	BUG_ON(http_server_new(&fuzz.server, fuzz.loop, &limits, &handler, NULL) < 0);
	listener.server = fuzz.server;
	http_connection_new(&listener, fds[0], &none);
	sent = str_make((const char *)data + 1, size - 1);
	send_pieces(fds[1], str_slice(sent, 0, sent.n / 2), step);
	if (data[0] & 0x40)
		http_server_drain(fuzz.server, FAR_MS, drained, NULL);
	send_pieces(fds[1], str_from(sent, sent.n / 2), step);
	if (data[0] & 0x80)
		BUG_ON(shutdown(fds[1], SHUT_WR) < 0);
	for (int i = 0; i < 4; i++)
		turn();
	drain(fds[1]);
	close_fd(&fds[1]);
	for (int i = 0; i < 4; i++)
		turn();
	BUG_ON(http_server_connections(fuzz.server) || listener.connections);
	BUG_ON(fuzz.open || fuzz.begun != fuzz.ended);
	http_server_free(&fuzz.server);
	loop_free(&fuzz.loop);
	return 0;
}

#include "base/base.h"
#include "io/http_connection.h"

/* A streamed answer: each write is one chunk, written at once when nothing is held, held otherwise. */

static struct http_connection *stream_connection(const struct http_stream *stream)
{
	struct http_connection *c = http_connection_of(stream->request);

	BUG_ON(c->answer != ANSWER_STREAMING || c->stream != stream);
	return c;
}

void http_stream_start(struct http_stream *stream, struct http_request *request,
		       const struct http_answer *answer)
{
	struct http_connection *c = http_connection_of(request);
	struct str head;

	BUG_ON(c->state != CONNECTION_REQUEST || c->answer != ANSWER_NONE);
	stream->request = request;
	c->stream = stream;
	c->answer = ANSWER_STREAMING;
	c->refused = 0;
	head = http_answer_head(c, answer, HTTP_LENGTH_UNKNOWN);
	http_output_send(c, &(struct iovec){ (char *)head.p, head.n }, 1, false);
	http_connection_watch(c);
}

/* While nothing is held, any size fits. */
static bool has_room(const struct http_connection *c, size_t n)
{
	size_t held = http_output_held(&c->output), max = c->server->limits.unsent_bytes;

	return held == 0 || (held < max && n + HTTP_CHUNK_FRAME <= max - held);
}

size_t http_stream_room(const struct http_stream *stream)
{
	const struct http_connection *c = stream_connection(stream);
	size_t taken = http_output_held(&c->output) + HTTP_CHUNK_FRAME, max = c->server->limits.unsent_bytes;

	return taken < max ? max - taken : 0;
}

static void send_chunk(struct http_connection *c, struct str bytes)
{
	char size[HTTP_CHUNK_FRAME];
	int n = snprintf(size, sizeof(size), "%zx\r\n", bytes.n);
	struct iovec parts[] = {
		{ size, (size_t)n },
		{ (char *)bytes.p, bytes.n },
		{ (char *)"\r\n", 2 },
	};

	if (c->minor == 1)
		http_output_send(c, parts, 3, false);
	else
		http_output_send(c, parts + 1, 1, false);
}

int http_stream_write(struct http_stream *stream, struct str bytes)
{
	struct http_connection *c = stream_connection(stream);

	if (c->broken)
		return ERR_CLOSED;
	/* An empty chunk would be the last one. */
	if (bytes.n == 0 || c->head_only)
		return 0;
	if (!has_room(c, bytes.n)) {
		c->refused = bytes.n;
		return ERR_BUSY;
	}
	send_chunk(c, bytes);
	http_connection_watch(c);
	return c->broken ? ERR_CLOSED : 0;
}

bool http_stream_written(struct http_connection *c)
{
	size_t held = http_output_held(&c->output);

	if (!c->stream || !c->refused || held > c->server->limits.unsent_bytes / 2 ||
	    !has_room(c, c->refused))
		return false;
	c->refused = 0;
	if (c->stream->on_room)
		c->stream->on_room(c->stream);
	return true;
}

void http_stream_end(struct http_stream *stream)
{
	struct http_connection *c = stream_connection(stream);

	if (c->minor == 1 && !c->head_only)
		http_output_send(c, &(struct iovec){ (char *)"0\r\n\r\n", 5 }, 1, false);
	c->stream = NULL;
	c->close_after = c->close_after || c->server->draining;
	http_connection_answered(c);
}

void http_stream_abort(struct http_stream *stream)
{
	struct http_connection *c = stream_connection(stream);
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	/* To an HTTP/1.0 peer, a plain close would be the regular end. */
	if (c->minor == 0)
		(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	c->stream = NULL;
	c->broken = true;
	http_connection_answered(c);
}

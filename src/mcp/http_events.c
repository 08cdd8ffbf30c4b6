#include "base/base.h"
#include "mcp/http_events.h"

#include "io/sse.h"
#include "json/json.h"
#include "mcp/jsonrpc.h"

static void events_quiet(struct timer *timer)
{
	struct events *events = container_of(timer, struct events, quiet);
	_cleanup_buf_ struct buf comment = { 0 };

	buf_init(&comment, JSON_BYTES_MAX);
	sse_comment(&comment, STR("keep-alive"));
	/* A reader that takes nothing needs no comment. */
	(void)http_stream_write(&events->stream, buf_str(&comment));
	timer_start(&events->quiet, events->loop, events->keep_alive_ms, events_quiet);
}

static void events_heard(struct events *events)
{
	if (events->keep_alive_ms)
		timer_start(&events->quiet, events->loop, events->keep_alive_ms, events_quiet);
}

static void events_close(struct events *events)
{
	events->open = false;
	timer_stop(&events->quiet);
	http_stream_end(&events->stream);
}

static void events_room(struct http_stream *stream)
{
	struct events *events = container_of(stream, struct events, stream);

	if (events->waiting.n && http_stream_write(stream, buf_str(&events->waiting)) < 0)
		return;
	buf_release(&events->waiting);
	events_heard(events);
	if (events->ending)
		events_close(events);
	if (events->room)
		events->room(events);
}

void events_start(struct events *events, struct http_request *request, struct loop *loop,
		  uint64_t keep_alive_ms, void (*room)(struct events *events))
{
	static const struct http_field fields[] = {
		{ STR_INIT("Cache-Control"), STR_INIT("no-cache") },
		{ STR_INIT("X-Accel-Buffering"), STR_INIT("no") },
	};
	const struct http_answer answer = {
		.status = 200,
		.content_type = STR("text/event-stream"),
		.fields = fields,
		.field_count = ARRAY_LEN(fields),
	};

	*events = (struct events){ .loop = loop, .keep_alive_ms = keep_alive_ms, .room = room, .open = true };
	events->stream.on_room = events_room;
	buf_init(&events->waiting, JSON_BYTES_MAX);
	http_stream_start(&events->stream, request, &answer);
	events_heard(events);
}

static void write_event(struct buf *out, struct str id, struct buf *message)
{
	jsonrpc_make_line(message, 0);
	buf_reserve(out, message->n + id.n + sizeof("event: message\nid: \ndata: \n\n"));
	sse_event(out, STR("message"), id, buf_str(message));
}

void events_prime(struct events *events, struct str id, uint64_t retry_ms)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, JSON_BYTES_MAX);
	if (retry_ms)
		sse_retry(&text, retry_ms);
	sse_event(&text, (struct str){ 0 }, id, STR(""));
	/* The first on the stream: while nothing is held, all is taken. */
	(void)http_stream_write(&events->stream, buf_str(&text));
}

bool events_send(struct events *events, struct str id, struct buf *message, bool must)
{
	struct buf event;

	BUG_ON(!events->open || events->ending);
	if (events->waiting.n) {
		if (must)
			write_event(&events->waiting, id, message);
		return must;
	}
	buf_init(&event, JSON_BYTES_MAX);
	write_event(&event, id, message);
	if (http_stream_write(&events->stream, buf_str(&event)) == ERR_BUSY) {
		events->waiting = event;
		return true;
	}
	/* That a reader has gone is reported by the server. */
	buf_release(&event);
	events_heard(events);
	return true;
}

void events_end(struct events *events)
{
	events->ending = true;
	if (!events->waiting.n)
		events_close(events);
}

void events_release(struct events *events)
{
	timer_stop(&events->quiet);
	buf_release(&events->waiting);
	events->open = false;
}

#include "base/base.h"
#include "mcp/http_door_private.h"

struct door_stream {
	struct door_session *ds;
	struct http_request *request; /* NULL once it was answered or its client has gone */
	struct events events;
	struct list_node node; /* in ds->streams */
	struct deferred over;
};

static void stream_free(struct door_stream *stream)
{
	struct door_session *ds = stream->ds;

	if (stream->request)
		stream->request->gone = NULL;
	events_release(&stream->events);
	deferred_cancel(&stream->over);
	list_remove(&stream->node);
	ds->stream_count--;
	free(stream);
	door_session_unuse(ds);
}

static void stream_over(struct deferred *deferred)
{
	stream_free(container_of(deferred, struct door_stream, over));
}

static void stream_gone(struct http_request *request)
{
	struct door_stream *stream = request->owner;

	stream->request = NULL;
	stream_free(stream);
}

/* The answer is complete, or will be when what waits was taken. */
static void stream_check(struct door_stream *stream)
{
	if (!events_ended(&stream->events))
		return;
	stream->request->gone = NULL;
	stream->request = NULL;
	loop_defer(stream->ds->door->loop, &stream->over, stream_over);
}

static void stream_room(struct events *events)
{
	struct door_stream *stream = container_of(events, struct door_stream, events);

	if (events_ended(events))
		stream_check(stream);
	else if (!stream->ds->closed)
		mcp_session_unrelated_ready(&stream->ds->session);
}

void stream_start(struct door_session *ds, struct http_request *request)
{
	struct door_stream *stream = xnew(struct door_stream);

	stream->ds = ds;
	stream->request = request;
	request->owner = stream;
	request->gone = stream_gone;
	list_init(&stream->over.node);
	list_append(&ds->streams, &stream->node);
	ds->stream_count++;
	door_session_use(ds);
	events_start(&stream->events, request, ds->door->loop, ds->door->options.keep_alive_ms, stream_room);
	mcp_session_unrelated_ready(&ds->session);
}

bool streams_send(struct door_session *ds, struct buf *message)
{
	struct door_stream *stream;

	if (list_empty(&ds->streams))
		return false;
	stream = container_of(ds->streams.prev, struct door_stream, node);
	return !stream->events.ending && events_send(&stream->events, message, false);
}

void streams_end(struct door_session *ds)
{
	struct door_stream *stream;

	list_for_each(stream, &ds->streams, node) {
		if (stream->events.ending)
			continue;
		events_end(&stream->events);
		stream_check(stream);
	}
}

void streams_free(struct door_session *ds)
{
	while (!list_empty(&ds->streams))
		stream_free(list_first(&ds->streams, struct door_stream, node));
}

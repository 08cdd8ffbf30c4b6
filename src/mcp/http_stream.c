#include "base/base.h"
#include "mcp/http_door_private.h"

struct door_stream {
	struct door_session *ds;
	struct http_request *request; /* NULL once it was answered or its client has gone */
	struct events events;
	struct replay_id id;   /* of its last event; stream 0: none */
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

/* The connection that the client has lost may still look open to us. */
static void stream_replace(struct door_session *ds, struct replay_id from)
{
	struct door_stream *stream;

	list_for_each(stream, &ds->streams, node) {
		if (stream->id.stream != from.stream || !stream->request)
			continue;
		stream->request->gone = NULL;
		stream->request = NULL;
		http_stream_abort(&stream->events.stream);
		stream_free(stream);
		return;
	}
}

/* Numbers that this session did not give are as good as none. */
static bool stream_was_ours(const struct door_session *ds, struct replay_id from)
{
	return from.stream > 0 && from.stream <= ds->replay.last_stream &&
	       from.event <= ds->replay.last_event;
}

static void stream_begin(struct door_stream *stream, struct replay_id from)
{
	struct door_session *ds = stream->ds;
	char text[REPLAY_ID_MAX];

	events_start(&stream->events, stream->request, ds->door->loop, ds->door->options.keep_alive_ms,
		     stream_room);
	if (!door_session_is_resumable(ds))
		return;
	if (stream_was_ours(ds, from)) {
		stream->id = from;
		door_replay(ds, &stream->events, from);
		return;
	}
	stream->id = replay_stream(&ds->replay, REPLAY_GET);
	if (!mcp_has(ds->session.revision, MCP_HAS_STREAM_PRIMING))
		return;
	replay_next(&ds->replay, &stream->id);
	events_prime(&stream->events, replay_id_write(stream->id, text), ds->door->options.retry_ms);
}

void stream_start(struct door_session *ds, struct http_request *request, struct replay_id from)
{
	struct door_stream *stream;

	if (from.stream)
		stream_replace(ds, from);
	if (ds->stream_count >= ds->door->options.streams_max) {
		door_refuse_plainly(request, 409, "this session has all the streams it may have");
		return;
	}
	stream = xnew(struct door_stream);
	stream->ds = ds;
	stream->request = request;
	request->owner = stream;
	request->gone = stream_gone;
	list_init(&stream->over.node);
	list_append(&ds->streams, &stream->node);
	ds->stream_count++;
	door_session_use(ds);
	stream_begin(stream, from);
	mcp_session_unrelated_ready(&ds->session);
}

bool streams_send(struct door_session *ds, struct buf *message)
{
	char text[REPLAY_ID_MAX];
	struct door_stream *stream;
	struct str id = { NULL, 0 };

	if (list_empty(&ds->streams))
		return false;
	stream = container_of(ds->streams.prev, struct door_stream, node);
	if (stream->events.ending)
		return false;
	if (stream->id.stream) {
		replay_next(&ds->replay, &stream->id);
		id = replay_id_write(stream->id, text);
	}
	if (!events_send(&stream->events, id, message, false))
		return false;
	if (stream->id.stream)
		replay_keep(&ds->replay, stream->id, buf_str(message), true);
	return true;
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

/*
 * The answer to one POST: as many messages as its body asks for, at once or later. They leave as one JSON
 * text, unless something has to be sent before the last of them: then everything leaves as events. An
 * exchange is freed from the loop, because its last answer comes from within a session's call.
 */
#include "base/base.h"
#include "mcp/http_door.h"

#include "mcp/http_door_private.h"

/* -- life ------------------------------------------------------------------------------------------------ */

static void exchange_take(struct door_exchange *exchange, struct http_request *request)
{
	exchange->request = request;
	exchange->detached = false;
	request->owner = exchange;
	request->gone = exchange_gone;
}

struct door_exchange *exchange_new(struct mcp_http_door *door, struct http_request *request,
				   struct str principal)
{
	struct door_exchange *exchange = xnew(struct door_exchange);

	exchange->door = door;
	exchange->principal = arena_copy(&request->arena, principal);
	exchange->expected = SIZE_MAX;
	list_init(&exchange->over.node);
	buf_init(&exchange->answers, door->server->limits.answer_max);
	list_append(&door->exchanges, &exchange->node);
	exchange_take(exchange, request);
	return exchange;
}

void exchange_use(struct door_exchange *exchange, struct door_session *ds)
{
	exchange->ds = ds;
	door_session_use(ds);
}

static void exchange_free(struct door_exchange *exchange)
{
	if (exchange->modern)
		mcp_session_release(&exchange->session);
	if (exchange->ds)
		door_session_unuse(exchange->ds);
	if (exchange->streaming)
		events_release(&exchange->events);
	if (exchange->request)
		exchange->request->gone = NULL;
	timer_stop(&exchange->silence);
	deferred_cancel(&exchange->over);
	buf_release(&exchange->answers);
	list_remove(&exchange->node);
	free(exchange);
}

static void exchange_over(struct deferred *deferred)
{
	exchange_free(container_of(deferred, struct door_exchange, over));
}

/* Nothing more is to be sent. */
void exchange_finish(struct door_exchange *exchange)
{
	if (exchange->request)
		exchange->request->gone = NULL;
	exchange->request = NULL;
	exchange->detached = false;
	timer_stop(&exchange->silence);
	loop_defer(exchange->door->loop, &exchange->over, exchange_over);
}

static struct mcp_session *exchange_session(struct door_exchange *exchange)
{
	if (exchange->modern)
		return &exchange->session;
	return exchange->ds && !exchange->ds->closed ? &exchange->ds->session : NULL;
}

/* A modern client that goes away cancels (transports, "Cancellation"); a legacy one may only have lost its
 * connection. If it knows an id of the stream it can come back, so the exchange waits for its answers. */
void exchange_gone(struct http_request *request)
{
	struct door_exchange *exchange = request->owner;
	struct mcp_session *session = exchange_session(exchange);

	if (exchange->streaming)
		events_release(&exchange->events);
	if (exchange->stream.stream && session && exchange->answered < exchange->expected) {
		exchange->request->gone = NULL;
		exchange->request = NULL;
		exchange->detached = true;
		return;
	}
	exchange_finish(exchange);
	if (session)
		mcp_session_route_gone(session, exchange, exchange->modern);
}

void exchange_refuse(struct door_exchange *exchange, unsigned status, struct str id, int64_t code,
		     struct str message)
{
	door_refuse(exchange->request, status, id, code, message);
	exchange_finish(exchange);
}

/* -- the answer ------------------------------------------------------------------------------------------ */

static unsigned status_of(const struct door_exchange *exchange, const struct mcp_outgoing *outgoing)
{
	if (!outgoing->refused)
		return 200;
	if (exchange->modern)
		return outgoing->error_code == MCP_METHOD_NOT_FOUND ? 404 : 400;
	return outgoing->for_all ? 400 : 200;
}

/* Takes the text's storage. */
static void respond_json(struct door_exchange *exchange, unsigned status, struct buf *text, bool initialized)
{
	const struct http_field session_id = {
		STR(MCP_HEADER_SESSION_ID),
		initialized ? exchange->ds->id : (struct str){ 0 },
	};
	const struct http_answer answer = {
		.status = status,
		.content_type = STR("application/json"),
		.fields = &session_id,
		.field_count = initialized ? 1 : 0,
	};

	http_respond_take(exchange->request, &answer, buf_take(text));
	exchange_finish(exchange);
}

static void exchange_room(struct events *events)
{
	struct door_exchange *exchange = container_of(events, struct door_exchange, events);

	if (events_ended(events))
		exchange_finish(exchange);
}

/* Sends it as an event, and keeps it for a client that has gone or will have missed it. What a slow reader
 * has no room for is lost when it is a hint: progress and log messages. */
static void exchange_emit(struct door_exchange *exchange, struct buf *message, bool hint)
{
	char text[REPLAY_ID_MAX];
	struct str id = { NULL, 0 };

	if (exchange->stream.stream) {
		replay_next(&exchange->ds->replay, &exchange->stream);
		replay_keep(&exchange->ds->replay, exchange->stream, buf_str(message), hint);
		id = replay_id_write(exchange->stream, text);
	}
	if (exchange->request)
		events_send(&exchange->events, id, message, !hint);
}

static bool may_prime(const struct door_exchange *exchange)
{
	return exchange->ds && door_session_is_resumable(exchange->ds) &&
	       mcp_has(exchange->ds->session.revision, MCP_HAS_STREAM_PRIMING);
}

/* Gives the stream its place among those of the session, when there is anything to come on it. */
static void make_resumable(struct door_exchange *exchange)
{
	char text[REPLAY_ID_MAX];

	if (!exchange->ds || !door_session_is_resumable(exchange->ds) ||
	    exchange->answered >= exchange->expected)
		return;
	exchange->stream = replay_stream(&exchange->ds->replay, REPLAY_POST);
	if (!may_prime(exchange))
		return;
	replay_next(&exchange->ds->replay, &exchange->stream);
	events_prime(&exchange->events, replay_id_write(exchange->stream, text),
		     exchange->door->options.retry_ms);
}

/* From now on everything is an event. Answers of a batch that are there already leave as a batch. */
static void start_streaming(struct door_exchange *exchange)
{
	if (exchange->streaming)
		return;
	exchange->streaming = true;
	timer_stop(&exchange->silence);
	events_start(&exchange->events, exchange->request, exchange->door->loop,
		     exchange->door->options.keep_alive_ms, exchange_room);
	make_resumable(exchange);
	if (exchange->answers.n) {
		buf_append_char(&exchange->answers, ']');
		exchange_emit(exchange, &exchange->answers, false);
		buf_clear(&exchange->answers, 0);
	}
}

static void end_streaming(struct door_exchange *exchange)
{
	events_end(&exchange->events);
	if (events_ended(&exchange->events))
		exchange_finish(exchange);
}

/* Ends the answer when all has come. A request that was cancelled has no response; its stream is empty. */
static void exchange_check(struct door_exchange *exchange)
{
	if ((!exchange->request && !exchange->detached) || exchange->answered < exchange->expected)
		return;
	if (exchange->detached) {
		exchange_finish(exchange);
		return;
	}
	if (!exchange->streaming && exchange->answers.n) {
		buf_append_char(&exchange->answers, ']');
		respond_json(exchange, 200, &exchange->answers, false);
		return;
	}
	start_streaming(exchange);
	end_streaming(exchange);
}

/* What does not fit into one text with the others, its brackets included, makes a stream of the answer. */
static void collect_answer(struct door_exchange *exchange, struct buf *text)
{
	if (exchange->answers.n + text->n + sizeof("[]") - 1 > exchange->answers.max) {
		start_streaming(exchange);
		exchange_emit(exchange, text, false);
		return;
	}
	buf_append_char(&exchange->answers, exchange->answers.n ? ',' : '[');
	buf_append(&exchange->answers, buf_str(text));
}

static void send_answer(struct door_exchange *exchange, const struct mcp_outgoing *outgoing)
{
	if (outgoing->initialized)
		door_session_register(exchange->ds);
	if (exchange->streaming)
		exchange_emit(exchange, outgoing->text, false);
	else if (exchange->batch && !outgoing->for_all)
		collect_answer(exchange, outgoing->text);
	else
		respond_json(exchange, status_of(exchange, outgoing), outgoing->text, outgoing->initialized);
}

void exchange_send(struct door_exchange *exchange, const struct mcp_outgoing *outgoing)
{
	if (!exchange->request && !exchange->detached)
		return;
	switch (outgoing->kind) {
	case MCP_OUT_RELATED:
		start_streaming(exchange);
		exchange_emit(exchange, outgoing->text, true);
		return;
	case MCP_OUT_ANSWER:
		exchange->answered++;
		send_answer(exchange, outgoing);
		break;
	case MCP_OUT_NOTHING:
		exchange->answered++;
		break;
	case MCP_OUT_UNRELATED:
		BUG_ON(outgoing->kind == MCP_OUT_UNRELATED);
	}
	exchange_check(exchange);
}

static void silence_over(struct timer *timer)
{
	start_streaming(container_of(timer, struct door_exchange, silence));
}

/* How long an answer may take before it becomes a stream by itself; 0: as long as it likes. */
static uint64_t silence_max(const struct door_exchange *exchange)
{
	const struct mcp_http_door_options *options = &exchange->door->options;

	if (!may_prime(exchange) || (options->keep_alive_ms && options->keep_alive_ms < options->prime_ms))
		return options->keep_alive_ms;
	return options->prime_ms;
}

/* `expected` answers will come or have come. */
void exchange_wait(struct door_exchange *exchange, size_t expected)
{
	exchange->expected = expected;
	if (!exchange->request)
		return;
	if (expected == 0) {
		http_respond(exchange->request, &(struct http_answer){ .status = 202 }, (struct str){ 0 });
		exchange_finish(exchange);
		return;
	}
	if (!exchange->streaming && silence_max(exchange))
		timer_start(&exchange->silence, exchange->door->loop, silence_max(exchange), silence_over);
	exchange_check(exchange);
}

/* -- coming back ----------------------------------------------------------------------------------------- */

static struct door_exchange *find_exchange(const struct door_session *ds, struct replay_id id)
{
	struct door_exchange *exchange;

	list_for_each(exchange, &ds->door->exchanges, node)
		if (exchange->ds == ds && exchange->stream.stream == id.stream &&
		    (exchange->request || exchange->detached))
			return exchange;
	return NULL;
}

/* The connection that the client has lost may still look open to us. */
static void exchange_hang_up(struct door_exchange *exchange)
{
	if (!exchange->request)
		return;
	exchange->request->gone = NULL;
	exchange->request = NULL;
	exchange->detached = true;
	http_stream_abort(&exchange->events.stream);
	events_release(&exchange->events);
}

static void exchange_replay(struct door_exchange *exchange, struct replay_id from)
{
	events_start(&exchange->events, exchange->request, exchange->door->loop,
		     exchange->door->options.keep_alive_ms, exchange_room);
	door_replay(exchange->ds, &exchange->events, from);
}

/* All was said already. */
static void replay_ended(struct door_session *ds, struct http_request *request, struct replay_id from)
{
	struct door_exchange *exchange = exchange_new(ds->door, request, (struct str){ NULL, 0 });

	exchange_use(exchange, ds);
	exchange->expected = 0;
	exchange->streaming = true;
	exchange_replay(exchange, from);
	end_streaming(exchange);
}

bool exchange_resume(struct door_session *ds, struct http_request *request, struct replay_id from)
{
	struct door_exchange *exchange = find_exchange(ds, from);

	if (!exchange && !replay_knows(&ds->replay, from))
		return false;
	if (exchange)
		exchange_hang_up(exchange);
	if (exchange && exchange->answered < exchange->expected) {
		exchange_take(exchange, request);
		exchange_replay(exchange, from);
		return true;
	}
	if (exchange)
		exchange_finish(exchange);
	replay_ended(ds, request, from);
	return true;
}

/* -- shutdown -------------------------------------------------------------------------------------------- */

void exchanges_drain(struct mcp_http_door *door)
{
	struct door_exchange *exchange;

	list_for_each(exchange, &door->exchanges, node)
		if (exchange->modern)
			mcp_session_end_listens(&exchange->session);
}

void exchanges_free(struct mcp_http_door *door)
{
	struct door_exchange *exchange;

	list_for_each(exchange, &door->exchanges, node) {
		struct mcp_session *session = exchange_session(exchange);

		if (session)
			mcp_session_route_gone(session, exchange, true);
		exchange_free(exchange);
	}
}

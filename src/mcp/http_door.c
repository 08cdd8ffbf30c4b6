#include "base/base.h"
#include "mcp/http_door.h"

#include "io/random.h"
#include "mcp/http_door_private.h"
#include "mcp/http_headers.h"

static const struct id_kind session_kind = { STR_INIT("sess-"), 16 };

/* -- sessions -------------------------------------------------------------------------------------------- */

static bool door_send(struct mcp_session *session, const struct mcp_outgoing *outgoing)
{
	/* Only legacy sessions say anything unasked. */
	if (outgoing->kind == MCP_OUT_UNRELATED)
		return streams_send(container_of(session, struct door_session, session), outgoing->text);
	exchange_send(outgoing->route, outgoing);
	return true;
}

static const struct mcp_session_transport door_transport = { .send = door_send };

void door_init_session(struct mcp_http_door *door, struct mcp_session *session, struct str principal,
		       const struct http_request *request)
{
	mcp_session_init(session, door->server, &door_transport, principal);
	if (door->options.make_peer)
		session->peer = door->options.make_peer(request, &session->arena);
}

/* Calls whose client has disconnected go on without a user. */
static bool is_busy(const struct door_session *ds)
{
	return ds->session.call_count > 0;
}

/* The session that was unused for longest makes room. */
static bool door_make_room(struct mcp_http_door *door)
{
	struct door_session *ds;

	if (map_count(&door->sessions) < door->options.sessions_max)
		return true;
	list_for_each(ds, &door->idle, idle_node)
		if (!is_busy(ds)) {
			door_session_close(ds);
			return true;
		}
	return false;
}

struct door_session *door_session_new(struct mcp_http_door *door, struct str principal,
				      const struct http_request *request)
{
	struct door_session *ds;

	if (!door_make_room(door))
		return NULL;
	ds = xnew(struct door_session);

	ds->door = door;
	list_init(&ds->idle_node);
	list_init(&ds->streams);
	door_init_session(door, &ds->session, principal, request);
	replay_init(&ds->replay, &door->replays);
	return ds;
}

void door_session_register(struct door_session *ds)
{
	ds->id = random_id(ds->id_text, &session_kind);
	map_set(&ds->door->sessions, ds->id, ds);
}

static void expire(struct timer *timer);

static void door_watch_expiry(struct mcp_http_door *door)
{
	uint64_t due, now = loop_now(door->loop);

	timer_stop(&door->expiry);
	if (list_empty(&door->idle))
		return;
	due = list_first(&door->idle, struct door_session, idle_node)->idle_since +
	      door->options.session_idle_ms;
	timer_start(&door->expiry, door->loop, due > now ? due - now : 0, expire);
}

static void door_session_idle(struct door_session *ds)
{
	struct mcp_http_door *door = ds->door;
	bool first = list_empty(&door->idle);

	ds->idle_since = loop_now(door->loop);
	list_append(&door->idle, &ds->idle_node);
	if (first)
		door_watch_expiry(door);
}

static void expire(struct timer *timer)
{
	struct mcp_http_door *door = container_of(timer, struct mcp_http_door, expiry);
	uint64_t now = loop_now(door->loop);
	struct door_session *ds;

	while (!list_empty(&door->idle)) {
		ds = list_first(&door->idle, struct door_session, idle_node);
		if (ds->idle_since + door->options.session_idle_ms > now)
			break;
		list_remove(&ds->idle_node);
		if (is_busy(ds))
			door_session_idle(ds);
		else
			door_session_close(ds);
	}
	door_watch_expiry(door);
}

static void door_session_free(struct door_session *ds)
{
	list_remove(&ds->idle_node);
	replay_release(&ds->replay);
	free(ds);
}

void door_session_use(struct door_session *ds)
{
	ds->users++;
	list_remove(&ds->idle_node);
}

void door_session_unuse(struct door_session *ds)
{
	BUG_ON(ds->users == 0);
	if (--ds->users > 0)
		return;
	if (!ds->closed && ds->id.n) {
		door_session_idle(ds);
		return;
	}
	if (!ds->closed)
		mcp_session_release(&ds->session);
	door_session_free(ds);
}

void door_session_close(struct door_session *ds)
{
	if (ds->closed)
		return;
	if (ds->id.n)
		map_remove(&ds->door->sessions, ds->id);
	ds->closed = true;
	mcp_session_release(&ds->session);
	streams_end(ds);
	if (ds->users == 0)
		door_session_free(ds);
}

/* A client of 2025-03-26 sends none; the session knows its version. */
static bool version_is_legacy(struct str version)
{
	enum mcp_revision revision;

	return !version.p || (mcp_revision_find(version, &revision) && mcp_era_of(revision) == MCP_LEGACY);
}

struct door_session *door_session_of(struct mcp_http_door *door, struct http_request *request,
				     struct str principal)
{
	struct str id = http_field(request, STR(MCP_HEADER_SESSION_ID));
	struct door_session *ds;

	if (!version_is_legacy(http_field(request, STR(MCP_HEADER_PROTOCOL_VERSION)))) {
		door_refuse(
			request, 400, (struct str){ 0 }, MCP_INVALID_REQUEST,
			STR("the header " MCP_HEADER_PROTOCOL_VERSION " names no version that has sessions"));
		return NULL;
	}
	if (!id.n) {
		door_refuse(
			request, 400, (struct str){ 0 }, MCP_INVALID_REQUEST,
			STR("the header " MCP_HEADER_SESSION_ID " is missing: send \"initialize\" first"));
		return NULL;
	}
	ds = map_get(&door->sessions, id);
	if (ds && str_eq(ds->session.principal, principal))
		return ds;
	door_refuse(request, 404, (struct str){ 0 }, MCP_INVALID_REQUEST,
		    STR("there is no such session: send \"initialize\" without " MCP_HEADER_SESSION_ID
			" to open a new one"));
	return NULL;
}

/* -- refusals -------------------------------------------------------------------------------------------- */

void door_refuse(struct http_request *request, unsigned status, struct str id, int64_t code,
		 struct str message)
{
	const struct http_answer answer = { .status = status, .content_type = STR("application/json") };
	struct buf text;

	buf_init(&text, JSON_BYTES_MAX);
	jsonrpc_write_error(&text, id, code, message, (struct str){ 0 });
	request->gone = NULL;
	http_respond_take(request, &answer, buf_take(&text));
}

void door_refuse_plainly(struct http_request *request, unsigned status, const char *message)
{
	door_refuse(request, status, (struct str){ 0 }, MCP_INVALID_REQUEST, str_of(message));
}

static void refuse_method(struct http_request *request)
{
	static const struct http_field allow = { STR_INIT("Allow"), STR_INIT("GET, POST, DELETE") };
	const struct http_answer answer = { .status = 405, .fields = &allow, .field_count = 1 };

	http_respond(request, &answer, (struct str){ 0 });
}

/* -- GET and DELETE: legacy sessions only ---------------------------------------------------------------- */

bool door_session_is_resumable(const struct door_session *ds)
{
	return ds->id.n && !ds->closed && ds->door->options.replay.events_max > 0 &&
	       mcp_has(ds->session.revision, MCP_HAS_HTTP_SESSIONS);
}

void door_replay(struct door_session *ds, struct events *events, struct replay_id from)
{
	const struct replay_event *event = NULL;
	char id[REPLAY_ID_MAX];

	while ((event = replay_after(&ds->replay, from, event))) {
		struct buf message;

		buf_init(&message, JSON_BYTES_MAX);
		buf_append(&message, event->message);
		events_send(events, replay_id_write(event->id, id), &message, true);
		buf_release(&message);
	}
}

/* A client that lost a stream names the last event it saw, whatever the stream began with. */
static void resume(struct door_session *ds, struct http_request *request, struct str last)
{
	struct replay_id from;

	if (!replay_id_read(last, &from))
		door_refuse_plainly(request, 400, "the header Last-Event-ID is no id that this server gave");
	else if (from.kind == REPLAY_GET)
		stream_start(ds, request, from);
	else if (!exchange_resume(ds, request, from))
		door_refuse_plainly(
			request, 400,
			"the header Last-Event-ID names an event whose stream is not kept any more");
}

static void serve_get(struct mcp_http_door *door, struct http_request *request, struct str principal)
{
	struct str last = http_field(request, STR("last-event-id"));
	struct door_session *ds;

	if (!accept_admits(http_field(request, STR("accept")), STR("text/event-stream"))) {
		door_refuse_plainly(request, 406, "the header Accept must admit text/event-stream");
		return;
	}
	ds = door_session_of(door, request, principal);
	if (!ds)
		return;
	if (last.n && door_session_is_resumable(ds))
		resume(ds, request, last);
	else
		stream_start(ds, request, (struct replay_id){ .kind = REPLAY_GET });
}

static void serve_delete(struct mcp_http_door *door, struct http_request *request, struct str principal)
{
	struct door_session *ds = door_session_of(door, request, principal);

	if (!ds)
		return;
	door_session_close(ds);
	http_respond(request, &(struct http_answer){ .status = 204 }, (struct str){ 0 });
}

/* -- life ------------------------------------------------------------------------------------------------ */

int mcp_http_door_new(struct mcp_http_door **ret_door, struct loop *loop, struct mcp_server *server,
		      const struct mcp_http_door_options *options, struct err *err)
{
	struct mcp_http_door *door;

	if (options->sessions_max == 0 || options->session_idle_ms == 0)
		return err_set(err, ERR_INVALID,
			       "the MCP endpoint needs room and time for at least one session");
	door = xnew(struct mcp_http_door);
	door->loop = loop;
	door->server = server;
	door->options = *options;
	replay_pool_init(&door->replays, loop, &door->options.replay);
	map_init(&door->sessions, random_u64());
	list_init(&door->idle);
	list_init(&door->exchanges);
	*ret_door = door;
	return 0;
}

void mcp_http_door_request(struct mcp_http_door *door, struct http_request *request, struct str principal)
{
	if (door->draining)
		door_refuse_plainly(request, 503, "the server is shutting down");
	else if (str_eq(request->method, STR("POST")))
		exchange_start(door, request, principal);
	else if (str_eq(request->method, STR("GET")))
		serve_get(door, request, principal);
	else if (str_eq(request->method, STR("DELETE")))
		serve_delete(door, request, principal);
	else
		refuse_method(request);
}

static struct door_session *next_session(const struct mcp_http_door *door, size_t *cursor)
{
	const struct map_entry *entry = map_next(&door->sessions, cursor);

	return entry ? entry->value : NULL;
}

void mcp_http_door_drain(struct mcp_http_door *door)
{
	struct door_session *ds;
	size_t cursor = 0;

	door->draining = true;
	while ((ds = next_session(door, &cursor)))
		streams_end(ds);
	exchanges_drain(door);
}

void mcp_http_door_free(struct mcp_http_door **ret_door)
{
	struct mcp_http_door *door = *ret_door;
	struct door_session *ds;
	size_t cursor = 0;

	if (!door)
		return;
	exchanges_free(door);
	while ((ds = next_session(door, &cursor))) {
		door_session_use(ds);
		streams_free(ds);
		door_session_close(ds);
		door_session_unuse(ds);
	}
	timer_stop(&door->expiry);
	map_release(&door->sessions);
	free(door);
	*ret_door = NULL;
}

size_t mcp_http_door_sessions(const struct mcp_http_door *door)
{
	return map_count(&door->sessions);
}

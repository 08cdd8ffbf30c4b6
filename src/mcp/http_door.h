/*
 * http_door.h - Streamable HTTP: one endpoint that serves every revision that has it (2025-03-26 to
 * 2026-07-28).
 *
 * Give it each request for the endpoint's path, whatever the method, after checking Host, Origin and the
 * token: the door takes it that the request may be made, and by whom. It does the rest: sessions and the GET
 * stream of the legacy revisions, the header rules of the modern one, and for each message the choice of era.
 *
 * An answer is plain JSON as long as nothing else has to be sent before it. The first progress or log message
 * turns it into an SSE stream, and so does a long silence, because what is between us and the client may
 * close a connection that carries nothing.
 *
 * A modern client that disconnects cancels its calls. A legacy one does not: its streams carry event ids, and
 * what was sent, or would have been, is kept for a while for a GET with Last-Event-ID. A stream of 2025-11-25
 * begins with an event that says nothing but its id, so that no answer is lost from then on. On the loop
 * thread.
 */
#ifndef MCP_HTTP_DOOR_H
#define MCP_HTTP_DOOR_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "mcp/server.h"

struct mcp_http_door;

/* What is kept of the events of one session. No events: streams have no ids and cannot be resumed. */
struct mcp_replay_limits {
	size_t events_max;
	size_t bytes_max; /* of their messages together; a larger message is not kept */
	size_t total_max; /* of the messages of all sessions together: the session with the most makes room */
	uint64_t age_ms;
};

struct mcp_http_door_options {
	size_t sessions_max;	  /* legacy; the one unused for longest makes room; 503 when none is */
	uint64_t session_idle_ms; /* a session without requests, calls and streams ends after this */
	size_t streams_max;	  /* GET streams of one session; 409 beyond */
	uint64_t keep_alive_ms;	  /* of a stream, and before a quiet answer becomes one; 0: never */
	struct mcp_replay_limits replay;
	uint64_t prime_ms; /* before an answer to 2025-11-25 becomes a stream, so that it can be resumed */
	uint64_t retry_ms; /* what such a stream tells its client to wait before it comes back; 0: nothing */
	/* Makes session->peer, of a session that the request opens and of a modern request's, in `arena`,
	 * which lives as long. NULL: there is none. */
	void *(*make_peer)(const struct http_request *request, struct arena *arena);
};

/* `server` outlives the door. 0, or ERR_INVALID: there is no room or no time for a session. */
int mcp_http_door_new(struct mcp_http_door **ret_door, struct loop *loop, struct mcp_server *server,
		      const struct mcp_http_door_options *options, struct err *err);

/* Answers the request, now or later; the door owns it from here on. Sessions belong to the principal that
 * opened them: for another one they do not exist (404). */
void mcp_http_door_request(struct mcp_http_door *door, struct http_request *request, struct str principal);

/* Ends GET streams and subscriptions gracefully and answers new requests with 503; running calls go on. For a
 * shutdown: then http_server_drain(). */
void mcp_http_door_drain(struct mcp_http_door *door);

/* Cancels all calls and frees everything. Requests that are still open are forgotten: free the HTTP server
 * before, or at once after, without running the loop. */
void mcp_http_door_free(struct mcp_http_door **door);

/* Open legacy sessions. */
size_t mcp_http_door_sessions(const struct mcp_http_door *door);

#endif

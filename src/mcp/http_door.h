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
 * close a connection that carries nothing. A legacy client that disconnects does not cancel its calls; a
 * modern one does. On the loop thread.
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

struct mcp_http_door_options {
	size_t sessions_max;	  /* legacy; the one unused for longest makes room; 503 when none is */
	uint64_t session_idle_ms; /* a session without requests, calls and streams ends after this */
	size_t streams_max;	  /* GET streams of one session; 409 beyond */
	uint64_t keep_alive_ms;	  /* of a stream, and before a quiet answer becomes one; 0: never */
};

/* `server` outlives the door. */
int mcp_http_door_new(struct mcp_http_door **ret_door, struct loop *loop, struct mcp_server *server,
		      const struct mcp_http_door_options *options, struct err *err);

/* Answers the request, now or later; the door owns it from here on. Sessions belong to the principal that
 * opened them: for another one they do not exist (404). `peer` becomes session->peer of a session that the
 * request opens, and of a modern request's. */
void mcp_http_door_request(struct mcp_http_door *door, struct http_request *request, struct str principal,
			   void *peer);

/* Ends GET streams and subscriptions gracefully and answers new requests with 503; running calls go on. For a
 * shutdown: then http_server_drain(). */
void mcp_http_door_drain(struct mcp_http_door *door);

/* Cancels all calls and frees everything. Requests that are still open are forgotten: free the HTTP server
 * before, or at once after, without running the loop. */
void mcp_http_door_free(struct mcp_http_door **door);

/* Open legacy sessions. */
size_t mcp_http_door_sessions(const struct mcp_http_door *door);

#endif

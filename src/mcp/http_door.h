/*
 * http_door.h - Streamable HTTP: one endpoint that serves all revisions that have it (2025-03-26 to 2026-07-28).
 *
 * Give it every request for the endpoint's path, whatever the method, after checking Host, Origin and the token: the door trusts that the request may be made, and
 * by whom (`principal`). It does the rest: sessions and the GET stream of the legacy revisions, the header rules of the modern one, and per message the choice of era
 * (versioning, "Dual-era servers").
 *
 * An answer is plain JSON as long as nothing else has to be sent before it; the first progress or log message turns it into an SSE stream.
 * A legacy peer that disconnects does not cancel its calls; a modern one does. On the loop thread.
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
	size_t sessions_max; /* legacy sessions; the one idle for longest makes room, unless all are busy: 503 */
	uint64_t session_idle_ms; /* a session without requests, calls and streams ends after this */
	uint64_t keep_alive_ms;	  /* between comment lines on a quiet stream; 0: none */
	size_t streams_max;	  /* GET streams of one session; 409 beyond */
};

int mcp_http_door_new(struct mcp_http_door **ret_door, struct loop *loop, struct mcp_server *server,
		      const struct mcp_http_door_options *options, struct err *err);

/* Handles the request whole: reads the body, answers. The door owns the request from here on. Sessions belong to the principal that opened them; for another one they do not
 * exist (404). `peer` becomes session->peer. */
void mcp_http_door_request(struct mcp_http_door *door, struct http_request *request, struct str principal,
			   void *peer);

/* Ends every GET stream and subscription gracefully and opens no new ones; calls that run go on. For shutdown, before http_server_drain(). */
void mcp_http_door_drain(struct mcp_http_door *door);

/* Cancels all calls and frees everything. The HTTP server must be gone, or its requests answered. */
void mcp_http_door_free(struct mcp_http_door **door);

size_t mcp_http_door_sessions(const struct mcp_http_door *door);

#endif

/*
 * caller.h - who asks, as a request says; everything the daemon hears of it is read here.
 *
 *   field                    "context" of a call    who sends it, and from what
 *   X-Mcpx-Session           sessionId              --session, or MCPX_SESSION_ID
 *   X-Mcpx-Parent-Session    parentSessionId        MCPX_PARENT_SESSION_ID
 *   X-Mcpx-Call              callId                 programs that name their calls
 *   X-Mcpx-Cwd               cwd                    the command line's directory; in a script MCPX_CWD
 *   X-Mcpx-Run               run                    MCPX_RUN: only what a script starts has it
 *   X-Mcpx-Pid               pid                    MCPX_PID, or the client's own process
 *
 * In a script MCPX_PID is that of the caller, so that what it starts shares with it.
 *
 * The command line (cli/request.c) and scripts (script/transport.js) send them with every request, `mcpx
 * serve` when it opens its channel. An MCP client over HTTP may be told to send them: a legacy session is of
 * the caller that opened it, a modern request of its own. A member of "context" (POST /v1/call) wins over its
 * field. All of it is what a client says of itself: it chooses instances among those of the same user, and
 * permits nothing.
 */
#ifndef API_CALLER_H
#define API_CALLER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "hub/caller.h"
#include "io/http_server.h"

/* What the fields say. What they leave out, or a pid that is none, is unknown. Texts are the request's. */
struct hub_caller caller_of_request(const struct http_request *request);

/* The same for as long as `arena` lives, without the call's id: who opens a session makes many calls. */
struct hub_caller caller_for_session(const struct http_request *request, struct arena *arena);

/*
 * Puts what `context`, the JSON text of an object, says over what is known of the caller. Null and empty text
 * change nothing, and no context at all is none. ERR_INVALID: not an object, a member that is none of the
 * above, or a value of the wrong kind.
 */
int caller_take_context(struct hub_caller *caller, struct str context, struct arena *arena, struct err *err);

#endif

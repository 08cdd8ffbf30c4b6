/*
 * relay.h - a tools/call at the MCP door that goes to an upstream server: the request passes down, progress
 * and the answer pass up, byte for byte.
 */
#ifndef API_RELAY_H
#define API_RELAY_H

#include "api/api.h"
#include "base/base.h"
#include "hub/caller.h"
#include "mcp/server.h"

/* Calls `tool` of `server` and answers `call` with what comes back. */
void relay_start(struct mcp_server_call *call, struct api *api, struct hub_server *server, struct str tool);
/*
 * The name by which the hub knows a client's session, which no other client has unless it says the same
 * (caller.h). A channel of `mcpx serve` is one for as long as it is open; over HTTP a legacy session is one,
 * and a modern request stands for itself: empty.
 */
struct str relay_session(const struct mcp_session *session, struct arena *arena);

/* Who calls, at the MCP door: the session is the scope of its calls. */
struct hub_caller relay_caller(const struct mcp_server_call *call);

/* Asks the servers for the log messages that the call wants, if it says so. */
void relay_want_logs(const struct mcp_server_call *call, struct api *api);

/* Answers with what a hub call came to: the result as it is, the server's error, or ours. */
void relay_answer(struct mcp_server_call *call, const struct hub_call_result *result);

#endif

/* client_private.h - what the files of the client share. */
#ifndef MCP_CLIENT_PRIVATE_H
#define MCP_CLIENT_PRIVATE_H

#include "mcp/client.h"

/* The empty buffer for the next message, bounded by limits.message_max and its line end. client_send()
 * empties it again. */
struct buf *client_out(struct mcp_client *client);
/* Ends the line in client->out and sends it. 0, or ERR_TOO_LARGE, or what the transport said. */
int client_send(struct mcp_client *client);
/* The same for what nobody waits for: counts when it could not be sent. */
int client_send_unasked(struct mcp_client *client);

/* The running request of that id, or NULL. */
struct mcp_request *client_pending(const struct mcp_client *client, struct str id);

/* Arriving messages that belong to a request. */
void request_answered(struct mcp_request *request, const struct jsonrpc_message *message,
		      struct arena *arena);
void request_progressed(struct mcp_request *request, const struct mcp_progress *progress, struct str params);
/* Ends a request that could not be sent. */
void request_deliver_refusal(struct mcp_request *request);
/* Ends a request without an answer: removes it, then calls `done`. */
void request_fail(struct mcp_request *request, int code, enum mcp_outcome outcome, const char *format, ...)
	_printf_(4, 5);
/* The same with ERR_TOO_LARGE: "WHAT longer than N bytes (SETTING)". */
void request_fail_long(struct mcp_request *request, enum mcp_outcome outcome, const char *what);

#endif

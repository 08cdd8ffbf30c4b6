/* server_private.h - what the files of the server share. */
#ifndef MCP_SERVER_PRIVATE_H
#define MCP_SERVER_PRIVATE_H

#include "mcp/incoming.h"
#include "mcp/server.h"

/* A call of its own for the request; takes the arena over. It is on no list yet. */
struct mcp_server_call *call_new(struct mcp_session *session, const struct jsonrpc_message *message,
				 struct arena *storage, void *route);

/* mcp_session_dispatch() for a request whose parameters were read already. */
void session_serve(struct mcp_session *session, const struct jsonrpc_message *message,
		   const struct mcp_incoming *in, struct arena *storage, void *route);

/* The running call or subscription of that id (raw), or NULL. */
struct mcp_server_call *call_find(const struct mcp_session *session, struct str id);

/* Lists it as running, so that it can be cancelled. False: it was refused. */
bool call_list(struct mcp_server_call *call, bool listen);

/* The ends of a call; it is freed. A refusal is the protocol's: something is wrong with the request. */
void call_refuse(struct mcp_server_call *call, int64_t code, const char *format, ...) _printf_(3, 4);
void call_refuse_with(struct mcp_server_call *call, const struct mcp_error *error, bool refused);
void call_answer(struct mcp_server_call *call, struct str result, bool initialized);
/* The same with a buffer, which is released, and may have failed. */
void call_answer_written(struct mcp_server_call *call, struct buf *result, bool initialized);
void call_cancel(struct mcp_server_call *call, struct str reason);
void call_end_silently(struct mcp_server_call *call);

/* A notification that belongs to the call. Releases `text`. */
void call_relate(struct mcp_server_call *call, struct buf *text);

/* Requests, by method. `in` is read and checked; the call is on no list. */
void serve_initialize(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_ping(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_discover(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_set_level(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_listen(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_tools_list(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_tools_call(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_resources_list(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_resource_templates_list(struct mcp_server_call *call, const struct mcp_incoming *in);
void serve_resources_read(struct mcp_server_call *call, const struct mcp_incoming *in);

/* Reads the cursor of a request for a list and hands it to `list`. */
void serve_list(struct mcp_server_call *call, const struct mcp_incoming *in,
		void (*list)(struct mcp_server_call *call));

/* What stands around the members of a result that a modern peer may cache. The first initialises the
 * buffer. */
void cacheable_result_begin(struct buf *result, const struct mcp_server_call *call);
void cacheable_result_end(struct buf *result, const struct mcp_server_call *call);

/* Tells the subscription that the list of tools has changed. */
void listen_tools_changed(struct mcp_server_call *listen);

#endif

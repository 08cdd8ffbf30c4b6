/*
 * incoming.h - one request as the server reads it: its parameters, its `_meta`, and to which era it belongs.
 * Private to the room.
 */
#ifndef MCP_INCOMING_H
#define MCP_INCOMING_H

#include "mcp/jsonrpc.h"
#include "mcp/message.h"
#include "mcp/revision.h"

struct mcp_incoming {
	enum mcp_method method;
	struct jsonrpc_members params;
	struct str meta;	   /* raw; empty when there is none */
	struct str progress_token; /* raw; empty when there is none */
	/* Per-request metadata (2026-07-28). */
	bool modern; /* it has at least one of the keys; initialize: all that a modern request must have */
	struct str version;			     /* decoded; .p NULL when absent or no string */
	struct str client_info, client_capabilities; /* raw; empty when absent or no object */
	const struct json_member *log_level;	     /* NULL when absent */
};

/* 0, or -32602 with what is wrong in err: the parameters cannot be read. */
int64_t incoming_read(struct mcp_incoming *in, const struct jsonrpc_message *message, struct arena *arena,
		      struct err *err);

/* What a modern request must carry. 0; -32602 when its metadata is incomplete; -32022 when we do not speak
 * its version. */
int64_t incoming_check_metadata(const struct mcp_incoming *in, struct arena *arena,
				enum mcp_log_level *ret_log_level, struct err *err);
int64_t incoming_check_version(const struct mcp_incoming *in, enum mcp_revision *ret_revision,
			       struct err *err);

#endif

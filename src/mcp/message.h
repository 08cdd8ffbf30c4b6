/*
 * message.h - the shapes that client and server share: errors, progress, log messages, and what a peer says
 * about itself.
 *
 * "Raw" means JSON source text that is passed on byte for byte. Views live as long as what they were read
 * from. Pure.
 */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "mcp/jsonrpc.h"
#include "mcp/revision.h"

/* A JSON-RPC error. `data` is raw; empty when absent. */
struct mcp_error {
	int64_t code;
	struct str message;
	struct str data;
};

/* notifications/progress without its token. Numbers are source texts. */
struct mcp_progress {
	struct str progress;
	struct str total;   /* empty when absent */
	struct str message; /* decoded; .p NULL when absent */
};

/* notifications/message. */
struct mcp_log {
	enum mcp_log_level level;
	struct str logger; /* decoded; .p NULL when absent */
	struct str data;   /* raw, any value */
};

/* What a peer says about itself (Implementation). The decoded members are empty when absent. Nothing may
 * depend on it. */
struct mcp_implementation {
	struct str raw;
	struct str name, version, title;
};

/* Reading the parameters of the two notifications, and an Implementation. False when they are not what the
 * schema demands. */
bool mcp_progress_read(struct str params, struct arena *arena, struct mcp_progress *ret_progress,
		       struct str *ret_token);
bool mcp_log_read(struct str params, struct arena *arena, struct mcp_log *ret_log);
bool mcp_implementation_read(struct str raw, struct arena *arena,
			     struct mcp_implementation *ret_implementation);

/* Append a whole notification, on one line without its end. `token` is raw. A progress message is left out
 * where the revision has none. */
void mcp_progress_write(struct buf *out, struct str token, const struct mcp_progress *progress,
			enum mcp_revision revision);
void mcp_log_write(struct buf *out, const struct mcp_log *log);

/* Appends the members of `meta` (a raw `_meta` object, or empty) that may be relayed, each as `"key":value`
 * and a comma in front unless *first, which is cleared. Malformed text adds nothing. */
void mcp_meta_relay(struct buf *out, struct str meta, bool *first);

#endif

/*
 * message.h - the shapes that client and server share: parameters, answers, progress, log messages.
 *
 * "Raw" means JSON source text, passed on byte for byte. Views are valid as long as what they came from: during the callback, unless a function says
 * otherwise.
 */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "mcp/revision.h"

/* A JSON-RPC error. `data` is raw; empty when absent. */
struct mcp_error {
	int64_t code;
	struct str message;
	struct str data;
};

/* notifications/progress without its token. `progress` and `total` are the numbers' source texts; `total` empty and `message.p` NULL when absent. */
struct mcp_progress {
	struct str progress;
	struct str total;
	struct str message; /* decoded */
};

/* notifications/message. `data` is raw. */
struct mcp_log {
	enum mcp_log_level level;
	struct str logger; /* decoded; .p NULL when absent */
	struct str data;
};

/* What a peer says about itself (Implementation). `raw` is the whole object; the others are decoded and empty when absent. */
struct mcp_implementation {
	struct str raw;
	struct str name, version, title;
};

/* Reads the parameters of notifications/progress and notifications/message, and an Implementation. False when they are not what the schema demands. */
bool mcp_progress_read(struct str params, struct arena *arena, struct mcp_progress *ret_progress,
		       struct str *ret_token);
bool mcp_log_read(struct str params, struct arena *arena, struct mcp_log *ret_log);
bool mcp_implementation_read(struct str raw, struct arena *arena,
			     struct mcp_implementation *ret_implementation);

/* Appends the whole notification. `token` is raw. `message` of a progress is left out where the revision has none. */
void mcp_progress_write(struct buf *out, struct str token, const struct mcp_progress *progress,
			enum mcp_revision revision);
void mcp_log_write(struct buf *out, const struct mcp_log *log);

#endif

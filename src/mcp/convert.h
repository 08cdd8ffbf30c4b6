/*
 * convert.h - bringing results into the revision of the peer that will read them.
 *
 * Schemas before 2026-07-28 allow unknown members, so most of what is newer than a peer passes unchanged. Replaced is only what a strict
 * peer could choke on: content block types it does not know, structured content and output schemas that are no objects, and the members that only modern results
 * have. Towards a modern peer, the members that its schema requires are added. Which rule applies to which revision is a table in convert.c. Pure.
 */
#ifndef MCP_CONVERT_H
#define MCP_CONVERT_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mcp/revision.h"

/*
 * A CallToolResult for a peer of `revision`. *ret_result is `result` itself when nothing needs to change, else a text in the arena.
 * `server_info` (raw, may be empty) goes into `_meta` of a modern result. ERR_PROTOCOL when `result` is no object.
 */
int mcp_convert_result(struct str result, enum mcp_revision revision, struct str server_info,
		       struct arena *arena, struct str *ret_result, struct err *err);

/* A Tool object of tools/list for a peer of `revision`, in the same manner. */
int mcp_convert_tool(struct str tool, enum mcp_revision revision, struct arena *arena, struct str *ret_tool,
		     struct err *err);

#endif

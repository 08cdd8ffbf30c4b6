/*
 * convert.h - bringing tools and their results into the revision of the peer that will read them.
 *
 * The schemas before 2026-07-28 allow unknown members, so most of what is newer than a peer passes unchanged.
 * Replaced is only what a strict peer would choke on: content blocks of a type it does not know, structured
 * content that is no object, the members that only modern results have, and whatever a Tool says in a way
 * that no schema of the protocol allows. Towards a modern peer the members that its schema requires are
 * added. Pure.
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
 * A CallToolResult for a peer of `revision`. Structured content that the peer does not know becomes a text
 * where the result has no other content. *ret_result is `result` itself when nothing needs to change,
 * else a text in the arena. `server_info` (raw, may be empty) goes into the `_meta` of a modern result.
 * ERR_PROTOCOL when `result` is no object.
 */
int mcp_convert_result(struct str result, enum mcp_revision revision, struct str server_info,
		       struct arena *arena, struct str *ret_result, struct err *err);

/*
 * A Tool of tools/list for a peer of `revision`, or `tool` itself when nothing needs to change; also when it
 * is no object, which is left to the peer. An input schema becomes one of an object: `"type":"object"` is put
 * in place of a missing or other type, and {"type":"object"} in place of what is no schema at all. Other
 * members of a wrong type are left out: one such tool would cost a strict peer the whole list. So would an
 * output schema that its validator cannot compile (tool_schema.h), or, before 2026-07-28, one of something
 * else than an object.
 */
struct str mcp_convert_tool(struct str tool, enum mcp_revision revision, struct arena *arena);

/* Appends what every modern result needs besides its own members: `"resultType":"complete",` and, for the
 * end, the `_meta` with the server's info and what may be relayed of `meta` (raw, may be empty), a comma in
 * front. */
void mcp_modern_result_begin(struct buf *out);
void mcp_modern_result_meta(struct buf *out, struct str server_info, struct str meta);

#endif

/*
 * http_params.h - the request headers that repeat arguments of a tool call (2026-07-28, transports, "Custom
 * Headers from Tool Parameters"). Private to the room.
 *
 * A property of a tool's input schema may carry `x-mcp-header`, the <Name> of a header Mcp-Param-<Name> in
 * which the client repeats the argument. Such properties are reached from the root through `properties` only,
 * are strings, integers or booleans, and no two of them share a name. A schema with an annotation that breaks
 * these rules marks nothing: no conforming client calls such a tool.
 */
#ifndef MCP_HTTP_PARAMS_H
#define MCP_HTTP_PARAMS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/http_server.h"

#define MCP_HEADER_PARAM_PREFIX "Mcp-Param-"

/* Whether the headers say what the call's arguments say. `tool` is a raw Tool object and `arguments` the raw
 * object that was sent; either may be empty. 0, or -32020 with the difference in err. */
int64_t params_check(const struct http_request *request, struct str tool, struct str arguments,
		     struct arena *arena, struct err *err);

#endif

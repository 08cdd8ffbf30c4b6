/*
 * http_headers.h - the request headers of Streamable HTTP: what a client accepts, and the headers that repeat
 * the body (2026-07-28, transports, "Request headers"). Private to the room.
 */
#ifndef MCP_HTTP_HEADERS_H
#define MCP_HTTP_HEADERS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/http_server.h"
#include "mcp/incoming.h"

/* Whether an Accept field admits the media type ("text/event-stream"). No field admits everything (RFC 9110,
 * section 12.5.1). */
bool accept_admits(struct str accept, struct str type);

/* Whether a Content-Type field is application/json, whatever its parameters. */
bool content_type_is_json(struct str content_type);

/* Whether it has only what a header may say as it stands: visible ASCII, blanks and tabs. Everything else
 * travels in Base64. */
bool header_value_is_plain(struct str value);

/* The value of Mcp-Name or Mcp-Param-*: as it stands, or the bytes within =?base64?...?=. False when those
 * are malformed. */
bool header_value_decode(struct str value, struct arena *arena, struct str *ret_value);

/* Whether MCP-Protocol-Version, Mcp-Method and Mcp-Name say what the body says. 0, or -32020 with the
 * difference in err. */
int64_t headers_check(const struct http_request *request, const struct mcp_incoming *in, struct str method,
		      struct arena *arena, struct err *err);

#endif

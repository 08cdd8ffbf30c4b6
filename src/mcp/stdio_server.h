/*
 * stdio_server.h - a server session over a byte pipe: one message per line (transports, "stdio").
 *
 * Bytes go in with mcp_stdio_feed(), lines come out through the `output` callback, so the pipe may be stdin and stdout, a socket or a test. A line
 * longer than limits.message_max of the server is answered with an error and skipped. On the loop thread.
 */
#ifndef MCP_STDIO_SERVER_H
#define MCP_STDIO_SERVER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "mcp/server.h"

struct mcp_stdio_server {
	struct mcp_session session;
	struct buf line; /* the unfinished line */
	bool skipping;	 /* dropping the rest of a line that was too long */
	/* Takes a whole line, its "\n" included. Non-zero when the peer no longer takes anything; the owner ends the server then. Must not call
	 * mcp_stdio_release() from within. */
	int (*output)(struct mcp_stdio_server *stdio, struct str line);
	void *owner;
};

void mcp_stdio_init(struct mcp_stdio_server *stdio, struct mcp_server *server, struct str principal,
		    int (*output)(struct mcp_stdio_server *stdio, struct str line), void *owner);
/* At the end of input: release it. Running calls are cancelled. Accepts a zeroed one. */
void mcp_stdio_release(struct mcp_stdio_server *stdio);

void mcp_stdio_feed(struct mcp_stdio_server *stdio, struct str bytes);

#endif

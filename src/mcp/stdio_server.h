/*
 * stdio_server.h - a server session over a byte pipe: one message per line (transports, "stdio").
 *
 * Bytes go in with mcp_stdio_feed(), lines come out through the `output` callback, so the pipe may be stdin
 * and stdout, a socket or a test. A line longer than the server's message_max is answered with an error and
 * skipped; what follows it is served.
 *
 * The answers to a batch (2025-03-26) leave as one array when the last is there (JSON-RPC 2.0, section 6), or
 * in several lines where one would be longer than answer_max; progress and log messages go before it. What a
 * peer wants as soon as it is there, it does not ask for in a batch.
 */
#ifndef MCP_STDIO_SERVER_H
#define MCP_STDIO_SERVER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "mcp/server.h"

struct mcp_stdio_server {
	struct mcp_session session;
	void *owner;

	/* Takes a whole line, its "\n" included. What to do about a peer that takes nothing is the owner's
	 * decision: bound what is unsent and end the server beyond that, but not from within. The value (0,
	 * or an enum err_code) is counted only. */
	int (*output)(struct mcp_stdio_server *stdio, struct str line);
	uint64_t unsent; /* lines that `output` did not take */
	struct buf line; /* the unfinished line */
	bool skipping;	 /* dropping the rest of a line that was too long */
};

void mcp_stdio_init(struct mcp_stdio_server *stdio, struct mcp_server *server, struct str principal,
		    int (*output)(struct mcp_stdio_server *stdio, struct str line), void *owner);

/* Bytes as they arrive. Must not be called from within a callback of the session. */
void mcp_stdio_feed(struct mcp_stdio_server *stdio, struct str bytes);

/* The end of the input: running calls are cancelled. `output` may still get what was answered of a batch.
 * Accepts a zeroed server. */
void mcp_stdio_release(struct mcp_stdio_server *stdio);

#endif

/*
 * in_flight.h - what an MCP client has asked through a pipe and not been answered yet, learned from the bytes
 * that pass.
 *
 * `mcpx serve` copies bytes and understands none of them, until the daemon at the other end is gone. Then the
 * client must hear what became of its requests, and a new daemon must be told what the old one was told
 * first. Both are noted here while lines pass: ids of requests, and the lines of the handshake. Of a line
 * longer than IN_FLIGHT_LINE only the beginning is looked at; of more than IN_FLIGHT_MAX requests at once the
 * later ones are not noted, and stay unanswered. Not thread-safe.
 */
#ifndef CLI_IN_FLIGHT_H
#define CLI_IN_FLIGHT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum {
	IN_FLIGHT_LINE = 64 * 1024,
	IN_FLIGHT_OPENING = 2 * IN_FLIGHT_LINE, /* the two lines of a handshake */
	IN_FLIGHT_MAX = 4096,
	IN_FLIGHT_ID = 1024, /* bytes of an id; a request with a longer one is not noted either */
};

/* The line that is passing one way. */
struct passing_line {
	struct buf beginning;
	bool begun; /* some of it has passed, and not its end */
	bool cut;   /* more of it than is in `beginning` */
};

struct in_flight {
	struct passing_line up, down;
	struct str *ids; /* source texts, each allocated */
	size_t count;
	/* the lines of the handshake: initialize and what followed it; empty before there was one */
	struct buf opening;
};

void in_flight_init(struct in_flight *flight);
void in_flight_release(struct in_flight *flight);

/* Bytes that went from the client to the daemon, or the other way; in pieces of any size. */
void in_flight_up(struct in_flight *flight, struct str bytes);
void in_flight_down(struct in_flight *flight, struct str bytes);

/*
 * The daemon is gone. Appends to `out` what the client must read: the end of a line that had begun, and an
 * error for each request. Forgets them. *ret_cut: the client is in the middle of a line of which the
 * beginning is lost, so its rest is worth nothing.
 */
void in_flight_lost(struct in_flight *flight, struct buf *out, bool *ret_cut);

#endif

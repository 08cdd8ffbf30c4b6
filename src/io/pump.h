/*
 * pump.h - bytes between two descriptors and a socket, both ways at once, until both ways have ended.
 *
 * For programs without a loop that stand between standard input and output and a connection. Nothing is lost:
 * a way holds at most one piece (PUMP_PIECE bytes), and reads no more before that was taken, so that a slow
 * reader stops its writer. When the input ends, the socket's sending half is closed and what the peer still
 * sends is passed on. The descriptors stay the caller's, and stay as they are: the input and the output may
 * be shared with other processes, so they are not made non-blocking. Not thread-safe.
 */
#ifndef IO_PUMP_H
#define IO_PUMP_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { PUMP_PIECE = 64 * 1024 /* what a pipe holds */ };

enum pump_end {
	PUMP_FINISHED,	  /* the input ended, then the peer */
	PUMP_DRAIN_LIMIT, /* the input ended, and the peer sent on for longer than drain_ms */
	PUMP_PEER_CLOSED, /* the peer ended first */
	PUMP_OUTPUT_GONE  /* nobody reads the output any more */
};

struct pump_options {
	int input_fd, output_fd;
	int socket_fd;	   /* non-blocking */
	struct str first;  /* for the output, before what comes from the socket */
	uint64_t drain_ms; /* between the end of the input and the peer's; 0: as long as it takes */

	struct str ahead; /* for the socket, before what comes from the input; any length */
	bool skip_line;	  /* what the socket gives up to its first "\n" is not for the output */
	struct buf *left; /* NULL, or gets what was read from the input and could not be sent any more */
	/* NULL, or called with what went to the socket, and with what came from it. */
	void (*sent)(void *context, struct str bytes);
	void (*received)(void *context, struct str bytes);
	void *context;
};

/* Runs to the end; ERR_IO when a descriptor fails. Writing to an output that was closed raises SIGPIPE unless
 * that is ignored. */
int pump_run(const struct pump_options *options, enum pump_end *ret_end, struct err *err);

#endif

/*
 * log_stream.h - the daemon's log on standard error, for whoever watches it there.
 *
 * Whoever holds the other end may have stopped reading; the daemon must not stop with them. A record that
 * finds no room is dropped and counted, and the count is told in a record of its own as soon as there is room
 * for one. The file (log_file.h) has them all. Single-threaded.
 */
#ifndef DAEMON_LOG_STREAM_H
#define DAEMON_LOG_STREAM_H

#include "base/base.h"
#include "base/log.h"
#include "base/str.h"

/* Begins zeroed, but for `fd`. */
struct log_stream {
	int fd;
	uint64_t dropped; /* records since the last that was written */
	bool cut;	  /* the last that was written lacks its end */
};

/* `line` is a whole record of `logger`, whose format, bounds and clock the count is told with. */
void log_stream_write(struct log_stream *stream, const struct logger *logger, struct str line);

#endif

/*
 * line_reader.h - cuts a stream of bytes into lines, in time that is linear in the bytes, whatever the pieces
 * they come in.
 *
 * A line ends with "\n", which is not part of it; a "\r" before that is. A line longer than the maximum is
 * given out once, cut and marked, as soon as it is known to be too long; the rest of it is dropped, and its
 * end is told when it comes. Pure; not thread-safe.
 *
 *	char *room = line_reader_room(&reader, &n);
 *	n = read(fd, room, n);
 *	line_reader_claim(&reader, n);
 *	while (line_reader_next(&reader, &line))
 *		...
 */
#ifndef IO_LINE_READER_H
#define IO_LINE_READER_H

#include "base/base.h"
#include "base/str.h"
#include "io/byte_queue.h"

struct line_reader {
	struct byte_queue bytes;
	size_t max;
	size_t given;	/* bytes of the line that was given out last, to be dropped before the next */
	size_t scanned; /* bytes in which no "\n" is */
	bool skipping;	/* the rest of a line that was too long */
};

struct line {
	struct str text; /* valid until the next call on its reader */
	bool too_long;
	bool long_ended; /* no line, but the end of the last one that was too long */
};

void line_reader_init(struct line_reader *reader, size_t max);
void line_reader_release(struct line_reader *reader);

/* Room for the next piece of the stream: more of it when a long line is under way. *ret_n is at least 1. */
char *line_reader_room(struct line_reader *reader, size_t *ret_n);
void line_reader_claim(struct line_reader *reader, size_t n);

/* The next line, when it is complete or too long. */
bool line_reader_next(struct line_reader *reader, struct line *ret_line);

/* At the end of the stream, after the last line_reader_next(): the bytes that no "\n" followed, if there are
 * any. */
bool line_reader_last(struct line_reader *reader, struct line *ret_line);

#endif

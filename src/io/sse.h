/*
 * sse.h - server-sent events (HTML Living Standard, section 9.2): written into a buffer, and read as they
 * arrive.
 *
 * The reader follows the standard's algorithm: CR, LF and CR LF all end a line, a leading byte order mark is
 * dropped, unknown fields and comments are skipped, an id with a NUL is ignored, and an event that the end of
 * the stream cuts off is lost. The bytes are not checked to be UTF-8; whoever parses the data does that.
 */
#ifndef IO_SSE_H
#define IO_SSE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* -- writing --------------------------------------------------------------------------------------------- */

/*
 * Appends one event to `out`. An empty `event` or `id` is left out; `data` is left out when its .p is NULL,
 * and split at line ends otherwise (an empty one is written, as MCP's priming event needs it). ERR_INVALID
 * when `event` or `id` holds a line end or NUL (nothing is appended), ERR_TOO_LARGE when `out` is full.
 */
int sse_event(struct buf *out, struct str event, struct str id, struct str data);

/* Appends a comment, which readers skip: something to send on a silent stream. */
int sse_comment(struct buf *out, struct str text);

/* Appends the time a reader should wait before it connects again. */
int sse_retry(struct buf *out, uint64_t ms);

/* -- reading --------------------------------------------------------------------------------------------- */

struct sse_message {
	struct str event; /* "message" unless the stream said otherwise */
	struct str id;	  /* the last id the stream gave, now or earlier; empty: none */
	struct str data;
};

struct sse_reader {
	struct buf line;      /* of a line whose end has not come */
	struct buf event, id; /* id survives the event */
	struct buf data;
	bool has_data;
	bool begun;	   /* past a byte order mark */
	bool after_cr;	   /* an LF now belongs to the CR in front of it */
	bool delivered;	   /* event and data are those of the message that was returned last */
	size_t max;	   /* of one event, all its lines together */
	uint64_t retry_ms; /* what the stream asked for; UINT64_MAX when it did not */
};

void sse_reader_init(struct sse_reader *reader, size_t max);
void sse_reader_release(struct sse_reader *reader);

/*
 * Takes bytes off the front of *bytes until an event is complete: 1, and *ret_message is valid until the next
 * call. 0 when all bytes were taken and no event is complete. ERR_TOO_LARGE when an event passes the maximum;
 * the stream cannot be read on then.
 */
int sse_read(struct sse_reader *reader, struct str *bytes, struct sse_message *ret_message, struct err *err);

#endif

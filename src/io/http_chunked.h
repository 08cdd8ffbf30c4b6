/*
 * http_chunked.h - the chunked transfer coding (RFC 9112 section 7.1), decoded as it arrives.
 *
 * Strict: every line ends with CR LF, a size is 1 to 16 hexadecimal digits with nothing before or behind them
 * but an extension that begins with ";". Extensions and trailers are checked, bounded and dropped. Pure; no
 * memory of its own.
 */
#ifndef IO_HTTP_CHUNKED_H
#define IO_HTTP_CHUNKED_H

#include "base/base.h"
#include "base/str.h"

enum {
	/* Both over a whole body: enough for any honest peer, too little to make us read for nothing. */
	HTTP_CHUNK_EXTENSIONS_MAX = 4096,
	HTTP_TRAILERS_MAX = 8192
};

enum http_chunk {
	HTTP_CHUNK_MORE, /* all input was used; the body is not at its end */
	HTTP_CHUNK_DATA, /* here are some bytes of the body */
	HTTP_CHUNK_END,	 /* the body is complete; what is left of the input does not belong to it */
	HTTP_CHUNK_BAD	 /* malformed, or over one of the limits; http_chunked_problem() says which */
};

struct http_chunked {
	unsigned state; /* zeroed to begin with */
	unsigned digits;
	uint64_t left; /* of the current chunk */
	size_t extension_bytes, trailer_bytes;
	const char *problem;
};

/* Takes bytes off the front of *input. Call it until it returns something else than HTTP_CHUNK_DATA.
 * *ret_data is a view into the input, set only with HTTP_CHUNK_DATA, when it is not empty. */
enum http_chunk http_chunked_next(struct http_chunked *chunked, struct str *input, struct str *ret_data);

/* After HTTP_CHUNK_BAD: a sentence about it. */
const char *http_chunked_problem(const struct http_chunked *chunked);

#endif

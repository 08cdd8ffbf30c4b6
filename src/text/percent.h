/*
 * percent.h - percent-encoding of URL components (RFC 3986 section 2.1), strict.
 *
 * Encoding leaves only the unreserved characters (letters, digits, - . _ ~) as they are, so that the result
 * fits any component. Decoding refuses a "%" without two hexadecimal digits; every other byte stands for
 * itself. Whether the result may hold NUL, "/" or broken UTF-8 is for the caller to say. Pure; any thread.
 */
#ifndef TEXT_PERCENT_H
#define TEXT_PERCENT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends `component`, encoded. ERR_TOO_LARGE when `out` is full. */
int percent_encode(struct buf *out, struct str component);

enum percent_flags {
	PERCENT_PLUS_IS_SPACE = 1 /* "+" is a blank, as in queries (application/x-www-form-urlencoded) */
};

/* Writes at most text.n bytes to `out`, which may be text.p itself. ERR_INVALID with err->offset of the bad
 * "%"; `out` is clobbered then. */
int percent_decode_into(char *out, struct str text, unsigned flags, size_t *ret_n, struct err *err);

/* Appends the decoded `text`. ERR_INVALID, or ERR_TOO_LARGE when `out` has no room for text.n bytes, also
 * when fewer would come of them; nothing was appended then. */
int percent_decode(struct buf *out, struct str text, unsigned flags, struct err *err);

#endif

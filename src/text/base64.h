/*
 * base64.h - base 64 (RFC 4648 section 4), strict: the standard alphabet, padding required, no blanks or line
 * ends, and the unused bits of the last character zero, so that every byte string has exactly one spelling.
 *
 * Pure; any thread.
 */
#ifndef TEXT_BASE64_H
#define TEXT_BASE64_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Characters for `n` bytes. `n` over BASE64_BYTES_MAX is a BUG. */
size_t base64_encoded_size(size_t n);
#define BASE64_BYTES_MAX (SIZE_MAX / 4 * 3 - 3)

/* At most so many bytes come from `n` characters. */
static inline size_t base64_decoded_bound(size_t n)
{
	return n / 4 * 3;
}

/* Writes base64_encoded_size(bytes.n) characters to `out`, no NUL. */
void base64_encode_into(char *out, struct str bytes);

/* Appends the text of `bytes`. ERR_TOO_LARGE when `out` is full. */
int base64_encode(struct buf *out, struct str bytes);

/* Writes at most base64_decoded_bound(text.n) bytes to `out`, which may be text.p itself. ERR_INVALID with
 * err->offset of the first character that is wrong; `out` is clobbered then. */
int base64_decode_into(char *out, struct str text, size_t *ret_n, struct err *err);

/* Appends the bytes of `text`. ERR_INVALID, or ERR_TOO_LARGE when they do not fit `out`; nothing was
 * appended then. */
int base64_decode(struct buf *out, struct str text, struct err *err);

#endif

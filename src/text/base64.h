/*
 * base64.h - base 64 (RFC 4648 section 4), strict: the standard alphabet, padding required, no blanks or line
 * ends, and the unused bits of the last character zero, so that every byte string has exactly one spelling.
 *
 * Whole texts, or large bodies piece by piece with the encoder and decoder. Pure; any thread.
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

/* Appends the bytes of `text`. ERR_INVALID, or ERR_TOO_LARGE when `out` is full; nothing was appended
 * then. */
int base64_decode(struct buf *out, struct str text, struct err *err);

/* -- by pieces ------------------------------------------------------------------------------------------- */

/* Zeroed to begin with. */
struct base64_encoder {
	uint8_t rest[2]; /* bytes that wait for a third */
	unsigned rest_n;
};

/* Appends the characters that are certain so far; _end() appends the last, with padding, and makes it ready
 * for the next text. ERR_TOO_LARGE when `out` is full. */
int base64_encoder_add(struct base64_encoder *encoder, struct buf *out, struct str bytes);
int base64_encoder_end(struct base64_encoder *encoder, struct buf *out);

/* Zeroed to begin with. */
struct base64_decoder {
	char rest[4]; /* characters that wait for a fourth */
	unsigned rest_n;
	bool padded;   /* "=" was seen: nothing may follow */
	uint64_t seen; /* characters so far, for err->offset */
};

/* Appends the bytes of a piece of the text. ERR_INVALID (the offset counts from the start of the first piece)
 * or ERR_TOO_LARGE; the decoder must not be used after either. _end() is ERR_INVALID when characters are
 * missing. */
int base64_decoder_add(struct base64_decoder *decoder, struct buf *out, struct str text, struct err *err);
int base64_decoder_end(struct base64_decoder *decoder, struct err *err);

#endif

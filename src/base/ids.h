/*
 * ids.h - identifiers made of random bytes, hexadecimal text, and the comparison of secrets.
 *
 * An id is a prefix and lower-case hexadecimal digits ("art-" and 32 of them). Each room declares the kinds
 * it hands out as a constant struct id_kind. The random bytes come from the caller (getrandom(2)), so that
 * this room stays pure. Any thread.
 */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include "base/base.h"
#include "base/str.h"

enum {
	ID_PREFIX_MAX = 15,
	ID_BYTES_MAX = 32,
	ID_TEXT_MAX = ID_PREFIX_MAX + 2 * ID_BYTES_MAX + 1, /* with the NUL */
};

struct id_kind {
	struct str prefix; /* at most ID_PREFIX_MAX bytes; may be empty */
	size_t byte_count; /* random bytes, 1..ID_BYTES_MAX; twice as many digits */
};

/* The id for kind->byte_count random bytes, written into `storage` and followed by a NUL. */
struct str id_make(char storage[ID_TEXT_MAX], const struct id_kind *kind, const uint8_t *random);

/* Whether `text` is spelled like an id of this kind; upper-case digits are not. */
bool id_valid(const struct id_kind *kind, struct str text);

/* Writes 2 * n lower-case digits to `out`, no NUL. */
void hex_encode(char *out, const uint8_t *bytes, size_t n);

/* Reads exactly 2 * n digits of either case. ERR_INVALID: another length, or something that is no digit;
 * `out` is untouched then. */
int hex_decode(uint8_t *out, size_t n, struct str digits);

/* Whether both are the same bytes, in time that depends on the length of `given` alone, not on where they
 * differ nor on `secret`. An empty secret equals nothing, so that a missing token is not an open door. */
bool secret_eq(struct str given, struct str secret);

#endif

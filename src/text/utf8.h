/*
 * utf8.h - whole texts in UTF-8; what one character is, base/utf8_character.h says, and has utf8_encode().
 *
 * Where broken text must be shown or stored, each maximal broken part becomes one U+FFFD, as in browsers and
 * as Unicode 15, section 3.9 recommends. Pure; any thread.
 */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8_character.h"

/* Bytes of the longest prefix that is valid: s.n when all of it is. ASCII is passed over 16 bytes at a
 * time. */
size_t utf8_valid_length(struct str s);

static inline bool utf8_valid(struct str s)
{
	return utf8_valid_length(s) == s.n;
}

/* Whether every byte is below 0x80. */
bool utf8_ascii(struct str s);

/* ERR_INVALID with err->offset, and the bytes and their place in the message. */
int utf8_check(struct str s, struct err *err);

/* Length of the character at the start of `s`, 1 to 4, and its code point; 0 when s is empty or starts with a
 * broken one. */
unsigned utf8_decode(struct str s, uint32_t *ret_code_point);

/* Characters; a maximal broken part counts as one. */
size_t utf8_count(struct str s);

/* The longest prefix of at most `max` bytes that splits no character. Broken bytes may be split anywhere. */
struct str utf8_cut(struct str s, size_t max);

/* The longest suffix of at most `max` bytes that starts at a character: for the kept tail of a stream. */
struct str utf8_cut_front(struct str s, size_t max);

/* How many bytes at the end (0 to 3) begin a character that further bytes could complete: hold them back in a
 * stream. */
size_t utf8_incomplete(struct str s);

/* `s` itself when it is valid, else a copy with every broken part replaced by U+FFFD: at most three times as
 * long. */
struct str utf8_clean(struct arena *arena, struct str s);

#endif

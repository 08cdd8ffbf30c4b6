/*
 * utf8_character.h - one character in UTF-8: whether it is one, what it is, and how it is written.
 *
 * This is the only place that knows the rules (Unicode 15, table 3-7; RFC 3629: no overlong forms, no
 * surrogates, nothing over U+10FFFF). Whole texts are the business of text/utf8.h; the single character is on
 * the ground floor because messages and log records, which are made there, must not pass broken text on, and
 * inline because json/ asks it of every character that is not ASCII. Pure; any thread.
 */
#ifndef BASE_UTF8_CHARACTER_H
#define BASE_UTF8_CHARACTER_H

#include "base/base.h"
#include "base/str.h"

/* The most bytes that one character has. */
enum { UTF8_BYTES_MAX = 4 };

static inline bool utf8_is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The bytes of the character that begins at `text`, which is before `end`: 1 to 4, or 0 when it is none or is
 * cut off by the end. */
static inline __attribute__((always_inline)) unsigned utf8_length(const char *text, const char *end)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = (size_t)(end - text);
	unsigned first_two;

	if (p[0] < 0x80)
		return 1;
	if (left < 2 || !utf8_is_tail(p[1]))
		return 0;
	if (p[0] < 0xe0)
		return p[0] >= 0xc2 ? 2 : 0;
	if (left < 3 || !utf8_is_tail(p[2]))
		return 0;
	if (p[0] < 0xf0) {
		unsigned unit = (unsigned)(p[0] & 0x0f) << 12 | (unsigned)(p[1] & 0x3f) << 6;

		return unit >= 0x800 && (unit & 0xf800) != 0xd800 ? 3 : 0;
	}
	if (left < 4 || !utf8_is_tail(p[3]))
		return 0;
	first_two = (unsigned)p[0] << 8 | p[1];
	return first_two >= 0xf090 && first_two <= 0xf48f ? 4 : 0;
}

/*
 * Decodes the character at the start of `s`, which is not empty. Returns its length, 1 to 4, and sets
 * *ret_code_point; or 0 when there is none, and then *ret_skip is the length of the maximal broken part, 1 to
 * 3, which is what one U+FFFD stands for (Unicode 15, section 3.9).
 */
unsigned utf8_decode_first(struct str s, uint32_t *ret_code_point, unsigned *ret_skip);

/* Writes 1 to 4 bytes and returns how many; 0 for a surrogate or a value over U+10FFFF. */
unsigned utf8_encode(uint32_t code_point, char out[UTF8_BYTES_MAX]);

#endif

/*
 * utf8_decode.h - the one UTF-8 decoder.
 *
 * Rooms use text/utf8.h. The decoder itself is on the ground floor because messages and log records, which
 * are made there, must not pass broken text on.
 */
#ifndef BASE_UTF8_DECODE_H
#define BASE_UTF8_DECODE_H

#include "base/base.h"
#include "base/str.h"

/*
 * Decodes the character at the start of `s`, which is not empty. Returns its length, 1 to 4, and sets
 * *ret_code_point; or 0 when the bytes are not UTF-8 (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing over U+10FFFF), and then *ret_skip is the length of the maximal broken part, 1 to 3,
 * which is what one U+FFFD stands for (Unicode 15, section 3.9).
 */
unsigned utf8_decode_first(struct str s, uint32_t *ret_code_point, unsigned *ret_skip);

#endif

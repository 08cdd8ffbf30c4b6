/*
 * fuzz_expand.h - large, repetitive inputs out of small ones, for fuzzers.
 *
 * What is wrong with a parser may only show in a thousand elements, and a fuzzer does not write a thousand of
 * anything. In an input the byte 1, which no text of ours holds, is followed by a length and a count: the
 * bytes before it, that many, come count * FUZZ_REPEAT times more. An input without that byte is itself. For
 * fuzzers only.
 */
#ifndef BASE_FUZZ_EXPAND_H
#define BASE_FUZZ_EXPAND_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum { FUZZ_REPEAT = 32, FUZZ_EXPANDED_MAX = 1 << 18 };

/* `out` holds the text until it is released. What would pass FUZZ_EXPANDED_MAX is left out. */
static inline struct str fuzz_expand(struct buf *out, struct str input)
{
	buf_init(out, FUZZ_EXPANDED_MAX + input.n);
	while (input.n) {
		size_t length, count;

		if (input.p[0] != 1 || input.n < 3) {
			buf_append_char(out, input.p[0]);
			input = str_from(input, 1);
			continue;
		}
		length = size_min((unsigned char)input.p[1], out->n);
		count = (size_t)(unsigned char)input.p[2] * FUZZ_REPEAT;
		for (; count > 0 && length > 0 && out->n + length <= FUZZ_EXPANDED_MAX; count--) {
			/* Room first: the bytes that are appended are the buffer's own. */
			char *room = buf_reserve(out, length);

			BUG_ON(!room);
			memcpy(room, room - length, length);
			buf_claim(out, length);
		}
		input = str_from(input, 3);
	}
	return out->n ? buf_str(out) : STR("");
}

#endif

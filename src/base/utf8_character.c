#include "base/base.h"
#include "base/utf8_character.h"

/* What the n bytes of a character stand for. */
static uint32_t code_point_of(const unsigned char *p, unsigned n)
{
	static const unsigned char own_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t value = p[0] & own_bits[n];

	for (unsigned i = 1; i < n; i++)
		value = value << 6 | (p[i] & 0x3f);
	return value;
}

/* How many bytes at the start of `s`, which begins with no character, begin one that other bytes behind them
 * would make whole; at least 1. The second byte alone is bound to the first, so the least of all tails stands
 * for the rest. */
static unsigned broken_length(struct str s)
{
	char whole[UTF8_BYTES_MAX];
	unsigned n = 1;

	memset(whole, 0x80, sizeof(whole));
	whole[0] = s.p[0];
	for (; n < s.n && n < UTF8_BYTES_MAX - 1; n++) {
		whole[n] = s.p[n];
		if (utf8_length(whole, whole + UTF8_BYTES_MAX) <= n + 1)
			break;
	}
	return n;
}

unsigned utf8_decode_first(struct str s, uint32_t *ret_code_point, unsigned *ret_skip)
{
	unsigned n = utf8_length(s.p, s.p + s.n);

	if (n == 0)
		*ret_skip = broken_length(s);
	else
		*ret_code_point = code_point_of((const unsigned char *)s.p, n);
	return n;
}

unsigned utf8_encode(uint32_t c, char out[UTF8_BYTES_MAX])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 0;
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

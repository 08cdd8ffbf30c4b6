#include "base/base.h"
#include "base/utf8_decode.h"

/* What a first byte promises: how many bytes follow, its own bits, and the bounds of the second byte, which
 * alone rule out overlong forms, surrogates and values over U+10FFFF (Unicode 15, table 3-7). */
struct lead {
	unsigned following, bits, low, high;
};

static struct lead lead_of(unsigned char c)
{
	if (c >= 0xc2 && c <= 0xdf)
		return (struct lead){ 1, c & 0x1f, 0x80, 0xbf };
	if (c >= 0xe0 && c <= 0xef)
		return (struct lead){ 2, c & 0x0f, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf };
	if (c >= 0xf0 && c <= 0xf4)
		return (struct lead){ 3, c & 0x07, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf };
	return (struct lead){ 0, 0, 0, 0 };
}

unsigned utf8_decode_first(struct str s, uint32_t *ret_code_point, unsigned *ret_skip)
{
	const unsigned char *p = (const unsigned char *)s.p;
	struct lead lead;
	uint32_t value;
	unsigned at = 1;

	if (p[0] < 0x80) {
		*ret_code_point = p[0];
		return 1;
	}
	lead = lead_of(p[0]);
	value = lead.bits;
	for (; at <= lead.following && at < s.n; at++) {
		if (p[at] < lead.low || p[at] > lead.high)
			break;
		value = value << 6 | (p[at] & 0x3f);
		lead.low = 0x80;
		lead.high = 0xbf;
	}
	if (lead.following == 0 || at <= lead.following) {
		*ret_skip = at;
		return 0;
	}
	*ret_code_point = value;
	return at;
}

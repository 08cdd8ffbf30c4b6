/*
 * Whole groups, three bytes and four characters, go through two loops without branches, eight characters at a
 * time. What is special, the padded last group and everything that is wrong, is left by them for slower code
 * that can say where it is.
 */
#include "base/base.h"
#include "text/base64.h"
#include "base/quote.h"
#include "text/place.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { NO_DIGIT = 0x80 };

/* The value of each character, with NO_DIGIT set for those outside the alphabet. */
/* clang-format off */
static const uint8_t values[256] = {
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,   62, 0x80, 0x80, 0x80,   63,
	  52,   53,   54,   55,   56,   57,   58,   59,   60,   61, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80,    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,   10,   11,   12,   13,   14,
	  15,   16,   17,   18,   19,   20,   21,   22,   23,   24,   25, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80,   26,   27,   28,   29,   30,   31,   32,   33,   34,   35,   36,   37,   38,   39,   40,
	  41,   42,   43,   44,   45,   46,   47,   48,   49,   50,   51, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
};
/* clang-format on */

/* -- encoding -------------------------------------------------------------------------------------------- */

size_t base64_encoded_size(size_t n)
{
	BUG_ON(n > BASE64_BYTES_MAX);
	return (n + 2) / 3 * 4;
}

/* Eight bytes, the first in the highest bits; compilers make one load of this. */
static uint64_t load_bits(const uint8_t *in)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < 8; i++)
		bits = bits << 8 | in[i];
	return bits;
}

/* The characters of whole groups; `n` is a multiple of three. Reads eight bytes to use six, so the end goes
 * the slower way. */
static void encode_groups(char *out, const uint8_t *in, size_t n)
{
	for (; n >= 8; n -= 6, in += 6, out += 8) {
		uint64_t bits = load_bits(in);

		for (unsigned i = 0; i < 8; i++)
			out[i] = alphabet[bits >> (58 - 6 * i) & 63];
	}
	for (; n >= 3; n -= 3, in += 3, out += 4) {
		uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

		for (unsigned i = 0; i < 4; i++)
			out[i] = alphabet[bits >> (18 - 6 * i) & 63];
	}
}

/* The four characters of the last one or two bytes. */
static void encode_rest(char *out, const uint8_t *in, size_t n)
{
	uint32_t bits = (uint32_t)in[0] << 16 | (n > 1 ? (uint32_t)in[1] << 8 : 0);

	out[0] = alphabet[bits >> 18 & 63];
	out[1] = alphabet[bits >> 12 & 63];
	out[2] = n > 1 ? alphabet[bits >> 6 & 63] : '=';
	out[3] = '=';
}

void base64_encode_into(char *out, struct str bytes)
{
	const uint8_t *in = (const uint8_t *)bytes.p;
	size_t whole = bytes.n / 3 * 3;

	encode_groups(out, in, whole);
	if (bytes.n > whole)
		encode_rest(out + whole / 3 * 4, in + whole, bytes.n - whole);
}

int base64_encode(struct buf *out, struct str bytes)
{
	size_t size = base64_encoded_size(bytes.n);
	char *room = buf_reserve(out, size);

	if (!room)
		return ERR_TOO_LARGE;
	base64_encode_into(room, bytes);
	buf_claim(out, size);
	return 0;
}

/* -- decoding -------------------------------------------------------------------------------------------- */

static uint64_t value_of(char c)
{
	return values[(unsigned char)c];
}

/* Decodes whole unpadded groups until one is not; returns how many characters those were. out may be in. */
static size_t decode_groups(char *out, const char *in, size_t n)
{
	size_t at = 0;

	for (; n - at >= 8; at += 8, out += 6) {
		const char *p = in + at;
		uint64_t a = value_of(p[0]), b = value_of(p[1]), c = value_of(p[2]), d = value_of(p[3]);
		uint64_t e = value_of(p[4]), f = value_of(p[5]), g = value_of(p[6]), h = value_of(p[7]);
		uint64_t bits = a << 58 | b << 52 | c << 46 | d << 40 | e << 34 | f << 28 | g << 22 | h << 16;

		if ((a | b | c | d | e | f | g | h) & NO_DIGIT)
			break;
		for (unsigned i = 0; i < 6; i++)
			out[i] = (char)(bits >> (56 - 8 * i));
	}
	for (; n - at >= 4; at += 4, out += 3) {
		const char *p = in + at;
		uint64_t a = value_of(p[0]), b = value_of(p[1]), c = value_of(p[2]), d = value_of(p[3]);
		uint64_t bits = a << 18 | b << 12 | c << 6 | d;

		if ((a | b | c | d) & NO_DIGIT)
			break;
		out[0] = (char)(bits >> 16);
		out[1] = (char)(bits >> 8);
		out[2] = (char)bits;
	}
	return at;
}

/* Decodes a padded group, "xx==" or "xxx=", whose unused bits are zero: 1 or 2 bytes; 0 when it is none. */
static size_t decode_padded(char *out, const char *in)
{
	unsigned a = values[(unsigned char)in[0]], b = values[(unsigned char)in[1]];
	unsigned c = values[(unsigned char)in[2]];

	if (in[3] != '=' || ((a | b) & NO_DIGIT))
		return 0;
	if (in[2] == '=' && (b & 15) == 0) {
		out[0] = (char)(a << 2 | b >> 4);
		return 1;
	}
	if ((c & NO_DIGIT) || (c & 3) != 0)
		return 0;
	out[0] = (char)(a << 2 | b >> 4);
	out[1] = (char)(b << 4 | c >> 2);
	return 2;
}

static int wrong_at(struct err *err, size_t offset, const char *what)
{
	return place_err(err, err_set(err, ERR_INVALID, "base64, byte %zu: %s", offset + 1, what), offset);
}

/* Says what is wrong with a group that neither function above takes. `group` has 1 to 4 characters, fewer at
 * the end of the text; `offset` is that of the first. */
static int explain(struct str group, size_t offset, struct err *err)
{
	size_t at = 0;
	char what[QUOTE_TEXT_MAX + 64];

	while (at < group.n && !(value_of(group.p[at]) & NO_DIGIT))
		at++;
	if (at == group.n)
		return wrong_at(err, offset + at, "the text ends in the middle of a group of four");
	if (group.p[at] != '=') {
		snprintf(what, sizeof(what), "%s is not in the alphabet", QUOTE(str_slice(group, at, 1)));
		return wrong_at(err, offset + at, what);
	}
	if (at < 2 || (at == 2 && group.n == 4 && group.p[3] != '='))
		return wrong_at(err, offset + at, "padding is out of place");
	if (group.n < 4)
		return wrong_at(err, offset + group.n, "the text ends in the middle of a group of four");
	return wrong_at(err, offset + at - 1, "the last character has bits that stand for nothing");
}

int base64_decode_into(char *out, struct str text, size_t *ret_n, struct err *err)
{
	size_t at = decode_groups(out, text.p, text.n), n = at / 4 * 3, last = 0;

	if (text.n - at >= 4)
		last = decode_padded(out + n, text.p + at);
	if (last && text.n - at > 4)
		return wrong_at(err, at + 4, "nothing may follow the padding");
	if (!last && text.n > at)
		return explain(str_slice(text, at, 4), at, err);
	*ret_n = n + last;
	return 0;
}

/* Exactly the bytes of a text that is well-formed, so that a buffer may end where they do; of another at
 * least those that are written before the fault is found. */
static size_t decoded_size(struct str text)
{
	size_t n = base64_decoded_bound(text.n);

	if (text.n % 4 != 0)
		return n;
	for (size_t i = 1; i <= 2 && n > 0 && text.p[text.n - i] == '='; i++)
		n--;
	return n;
}

int base64_decode(struct buf *out, struct str text, struct err *err)
{
	char *room = buf_reserve(out, decoded_size(text));
	size_t n;
	int r;

	if (!room)
		return err_set(err, ERR_TOO_LARGE, "the decoded bytes are more than %zu", out->max);
	r = base64_decode_into(room, text, &n, err);
	if (r == 0)
		buf_claim(out, n);
	return r;
}

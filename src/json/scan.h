/*
 * scan.h - the words of JSON: blanks, comments, strings, numbers and literals. Private to the room.
 *
 * Every function takes the place where it begins and returns the place where it ended, or NULL after noting
 * in the scan what was expected there. Nothing is read beyond the end of the text, so the text needs no
 * terminator and no copy. What runs once per token or more often is inline; what is rare is in scan.c.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include "base/base.h"
#include "base/character.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8_character.h"
#include "json/json.h"

#define _hot_inline_ static inline __attribute__((always_inline))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* A decoded string may be followed by this many bytes of rubbish while it is being stored. */
enum { SCAN_SLACK = 8 };

struct scan {
	const char *text;	 /* what offsets in errors count from */
	const char *begin, *end; /* the text without a byte order mark */
	bool jsonc;
	unsigned depth_max, depth_outside; /* containers around what is scanned count as well */
	/* The first failure; `failed_at` is NULL while there is none. */
	const char *failed_at;
	const char *expected;
	size_t limit; /* not 0: there was more of what `expected` names than this */
};

/* Where reading goes on, and where decoded bytes go next; the latter is NULL when nobody wants them. */
struct copy {
	const char *in;
	char *out;
};

/* Applies the limits. ERR_TOO_LARGE when the text is over them. */
int scan_init(struct scan *s, struct str text, const struct json_limits *limits, bool jsonc, struct err *err);

/* Notes the failure unless there is one already. Returns NULL. */
const char *scan_fail(struct scan *s, const char *at, const char *expected) _cold_;
const char *scan_fail_limit(struct scan *s, const char *at, const char *of_what, size_t limit) _cold_;

/* The noted failure with its line and column. Returns its code. */
int scan_error(const struct scan *s, struct err *err) _cold_;

/* Beyond blanks and, in JSONC, comments, of which the first begins at p. An open comment is a noted failure
 * and ends the text. */
const char *scan_blanks_slowly(struct scan *s, const char *p);

/* The end of the text, before which only blanks may come. */
const char *scan_end(struct scan *s, const char *p);

/* What a backslash and one letter mean, without \u; 0 for nothing. */
extern const char scan_escape_meaning[256];

/* Decodes the escape at c.in, which is a backslash. */
struct copy scan_long_escape(struct scan *s, struct copy c);

/* Fails with what is wrong about the byte at p, at which a string cannot go on. */
const char *scan_fail_string(struct scan *s, const char *p) _cold_;

_hot_inline_ unsigned char scan_peek(const struct scan *s, const char *p)
{
	return likely(p < s->end) ? (unsigned char)*p : '\0';
}

_hot_inline_ const char *scan_blanks(struct scan *s, const char *p)
{
	if (likely(p < s->end && (unsigned char)*p > ' ' && *p != '/'))
		return p;
	return scan_blanks_slowly(s, p);
}

/* Eight bytes as a number whose lowest byte is the first one. */
_hot_inline_ uint64_t load_word(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

#define EACH_BYTE(c) ((uint64_t)(c) * 0x0101010101010101)

/*
 * The high bit of every byte that does not stand for itself in a string: a quote, a backslash, a control
 * character, or a byte over 0x7f. Bytes above the first such byte may be flagged by the borrow; the first one
 * is exact.
 */
_hot_inline_ uint64_t special_bytes(uint64_t word)
{
	uint64_t quote = (word ^ EACH_BYTE('"')) - EACH_BYTE(1);
	uint64_t backslash = (word ^ EACH_BYTE('\\')) - EACH_BYTE(1);
	uint64_t control = word - EACH_BYTE(' ');

	return (quote | backslash | control | word) & EACH_BYTE(0x80);
}

_hot_inline_ bool is_special_byte(unsigned char c)
{
	return c == '"' || c == '\\' || c < ' ' || c > 0x7f;
}

/* Four words at a time while nothing special comes: for long strings, such as base64. */
_hot_inline_ struct copy scan_plain_words(struct copy c, const char *end)
{
	while (end - c.in >= 32) {
		uint64_t w0 = load_word(c.in), w1 = load_word(c.in + 8);
		uint64_t w2 = load_word(c.in + 16), w3 = load_word(c.in + 24);

		if ((special_bytes(w0) | special_bytes(w1) | special_bytes(w2) | special_bytes(w3)) != 0)
			break;
		if (c.out) {
			memcpy(c.out, c.in, 32);
			c.out += 32;
		}
		c.in += 32;
	}
	return c;
}

/* Moves over the bytes that stand for themselves, up to a special one or the end. Stores up to SCAN_SLACK
 * bytes too many, but never more bytes than there are before `end`. */
_hot_inline_ struct copy scan_plain(struct copy c, const char *end)
{
	for (unsigned words = 0; end - c.in >= 8; words++) {
		uint64_t special = special_bytes(load_word(c.in));
		size_t n = special ? (size_t)__builtin_ctzll(special) / 8 : 8;

		if (c.out) {
			memcpy(c.out, c.in, 8);
			c.out += n;
		}
		c.in += n;
		if (special)
			return c;
		if (words == 4)
			c = scan_plain_words(c, end);
	}
	while (c.in < end && !is_special_byte((unsigned char)*c.in)) {
		if (c.out)
			*c.out++ = *c.in;
		c.in++;
	}
	return c;
}

_hot_inline_ struct copy scan_escape(struct scan *s, struct copy c)
{
	char meaning = scan_escape_meaning[scan_peek(s, c.in + 1)];

	if (unlikely(!meaning))
		return scan_long_escape(s, c);
	if (c.out)
		*c.out++ = meaning;
	c.in += 2;
	return c;
}

/* Copies a sequence of n bytes. Four are one instruction, and the slack takes those too many. */
_hot_inline_ char *store_sequence(char *out, const char *p, const char *end, unsigned n)
{
	if (likely(end - p >= 4))
		memcpy(out, p, 4);
	else
		memcpy(out, p, n);
	return out + n;
}

/* Sequences of several bytes, as many as follow each other. */
_hot_inline_ struct copy scan_utf8(struct scan *s, struct copy c)
{
	while (c.in < s->end && (unsigned char)*c.in > 0x7f) {
		unsigned n = utf8_length(c.in, s->end);

		if (unlikely(n == 0)) {
			c.in = scan_fail_string(s, c.in);
			break;
		}
		if (c.out)
			c.out = store_sequence(c.out, c.in, s->end, n);
		c.in += n;
	}
	return c;
}

/* A string whose opening quote is before c.in. Ends after the closing quote; the decoded bytes end at the new
 * c.out. */
_hot_inline_ struct copy scan_string(struct scan *s, struct copy c)
{
	for (;;) {
		unsigned char next;

		c = scan_plain(c, s->end);
		next = scan_peek(s, c.in);
		if (likely(next == '"')) {
			c.in++;
			return c;
		}
		if (next == '\\')
			c = scan_escape(s, c);
		else if (next > 0x7f)
			c = scan_utf8(s, c);
		else
			c.in = scan_fail_string(s, c.in);
		if (unlikely(!c.in))
			return c;
	}
}

_hot_inline_ const char *scan_digits(struct scan *s, const char *p, const char *expected)
{
	if (unlikely(!is_digit(scan_peek(s, p))))
		return scan_fail(s, p, expected);
	while (is_digit(scan_peek(s, p)))
		p++;
	return p;
}

/* A number (RFC 8259, section 6), which begins with a minus sign or a digit. */
_hot_inline_ const char *scan_number(struct scan *s, const char *p)
{
	if (*p == '-')
		p++;
	if (scan_peek(s, p) == '0') {
		if (unlikely(is_digit(scan_peek(s, ++p))))
			return scan_fail(s, p, "a number without leading zeros");
	} else {
		p = scan_digits(s, p, "a digit");
	}
	if (p && scan_peek(s, p) == '.')
		p = scan_digits(s, p + 1, "a digit after the decimal point");
	if (p && (scan_peek(s, p) | 0x20) == 'e') {
		unsigned char sign = scan_peek(s, ++p);

		p = scan_digits(s, sign == '+' || sign == '-' ? p + 1 : p, "a digit in the exponent");
	}
	return p;
}

_hot_inline_ const char *scan_literal(struct scan *s, const char *p, struct str literal)
{
	if (likely((size_t)(s->end - p) >= literal.n && memcmp(p, literal.p, literal.n) == 0))
		return p + literal.n;
	return scan_fail(s, p, "a value");
}

#endif

#include "base/base.h"
#include "text/utf8.h"
#include "base/quote.h"
#include "text/place.h"

static const uint64_t high_bits = UINT64_C(0x8080808080808080);

/* Bytes below 0x80 at the start. */
static size_t ascii_length(struct str s)
{
	size_t n = 0;

	while (s.n - n >= 16) {
		uint64_t words[2];

		memcpy(words, s.p + n, sizeof(words));
		if ((words[0] | words[1]) & high_bits)
			break;
		n += 16;
	}
	while (n < s.n && (unsigned char)s.p[n] < 0x80)
		n++;
	return n;
}

bool utf8_ascii(struct str s)
{
	return ascii_length(s) == s.n;
}

size_t utf8_valid_length(struct str s)
{
	size_t at = 0;

	while ((at += ascii_length(str_from(s, at))) < s.n) {
		unsigned n = utf8_length(s.p + at, s.p + s.n);

		if (n == 0)
			break;
		at += n;
	}
	return at;
}

int utf8_check(struct str s, struct err *err)
{
	size_t at = utf8_valid_length(s);
	uint32_t c;
	unsigned skip = 0;

	if (at == s.n)
		return 0;
	utf8_decode_first(str_from(s, at), &c, &skip);
	return place_err(
		err,
		err_set(err, ERR_INVALID, "not UTF-8 at byte %zu: %s", at + 1, QUOTE(str_slice(s, at, skip))),
		at);
}

unsigned utf8_decode(struct str s, uint32_t *ret_code_point)
{
	unsigned skip;

	return s.n ? utf8_decode_first(s, ret_code_point, &skip) : 0;
}

size_t utf8_count(struct str s)
{
	size_t count = 0;

	while (s.n > 0) {
		size_t ascii = ascii_length(s);
		uint32_t c;
		unsigned skip, n;

		count += ascii;
		s = str_from(s, ascii);
		if (s.n == 0)
			break;
		n = utf8_decode_first(s, &c, &skip);
		s = str_from(s, n ? n : skip);
		count++;
	}
	return count;
}

/* Where the character begins that byte `at` continues, and its length; `at` itself, and 0, when it continues
 * none. */
static size_t character_around(struct str s, size_t at, unsigned *ret_length)
{
	for (size_t back = 1; back <= 3 && back <= at && utf8_is_tail((unsigned char)s.p[at - back + 1]);
	     back++) {
		uint32_t c;
		unsigned n = utf8_decode(str_from(s, at - back), &c);

		if (n > back) {
			*ret_length = n;
			return at - back;
		}
	}
	*ret_length = 0;
	return at;
}

struct str utf8_cut(struct str s, size_t max)
{
	unsigned length;

	if (s.n <= max)
		return s;
	return str_slice(s, 0, character_around(s, max, &length));
}

struct str utf8_cut_front(struct str s, size_t max)
{
	unsigned length;
	size_t from;

	if (s.n <= max)
		return s;
	if (max == 0)
		return str_from(s, s.n);
	from = character_around(s, s.n - max, &length);
	return str_from(s, from + length);
}

size_t utf8_incomplete(struct str s)
{
	for (size_t back = 1; back <= 3 && back <= s.n; back++) {
		struct str end = str_from(s, s.n - back);
		unsigned char first = (unsigned char)end.p[0];
		uint32_t c;
		unsigned skip;

		if (utf8_is_tail(first))
			continue;
		if (first < 0xc2 || first > 0xf4)
			return 0;
		return utf8_decode_first(end, &c, &skip) == 0 && skip == back ? back : 0;
	}
	return 0;
}

/* Takes the longest valid part off *rest, and the broken part behind it; false when there is no broken
 * one. */
static bool take_valid(struct str *rest, struct str *ret_valid)
{
	size_t valid = utf8_valid_length(*rest);
	uint32_t c;
	unsigned skip = 0;

	*ret_valid = str_slice(*rest, 0, valid);
	*rest = str_from(*rest, valid);
	if (rest->n == 0)
		return false;
	utf8_decode_first(*rest, &c, &skip);
	*rest = str_from(*rest, skip);
	return true;
}

static const struct str replacement = STR_INIT("\xef\xbf\xbd");

struct str utf8_clean(struct arena *arena, struct str s)
{
	struct str rest = s, valid;
	size_t size = 0, n = 0;
	char *copy;

	if (utf8_valid(s))
		return s;
	while (take_valid(&rest, &valid))
		size += valid.n + replacement.n;
	size += valid.n;
	copy = arena_alloc(arena, size);
	for (rest = s; take_valid(&rest, &valid); n += replacement.n) {
		memcpy(copy + n, valid.p, valid.n);
		n += valid.n;
		memcpy(copy + n, replacement.p, replacement.n);
	}
	memcpy(copy + n, valid.p, valid.n);
	return str_make(copy, size);
}

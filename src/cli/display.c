#include "base/base.h"
#include "cli/display.h"

#include "base/quote.h"
#include "text/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Ranges of code points, in order. */
struct range {
	uint32_t first, last;
};

/* Unicode 15: general categories Mn, Me and Cf of the scripts in common use, and the Hangul vowels that join
 * what precedes them. */
static const struct range no_columns[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 },	  { 0x0591, 0x05bd },	{ 0x0610, 0x061a },
	{ 0x064b, 0x065f }, { 0x06d6, 0x06dc },	  { 0x0900, 0x0902 },	{ 0x093c, 0x093c },
	{ 0x0941, 0x0948 }, { 0x094d, 0x094d },	  { 0x0e31, 0x0e31 },	{ 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e }, { 0x1160, 0x11ff },	  { 0x1ab0, 0x1aff },	{ 0x1dc0, 0x1dff },
	{ 0x200b, 0x200f }, { 0x2060, 0x2064 },	  { 0x20d0, 0x20ff },	{ 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0x1f3fb, 0x1f3ff }, { 0xe0100, 0xe01ef },
};

/* Unicode 15, East_Asian_Width W and F. */
static const struct range two_columns[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },	  { 0x25fd, 0x25fe },
	{ 0x2614, 0x2615 },   { 0x2648, 0x2653 },   { 0x26a1, 0x26a1 },	  { 0x26aa, 0x26ab },
	{ 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26d4, 0x26d4 },	  { 0x26f2, 0x26f5 },
	{ 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },	  { 0x2728, 0x2728 },
	{ 0x274c, 0x274c },   { 0x2753, 0x2757 },   { 0x2795, 0x2797 },	  { 0x2b1b, 0x2b1c },
	{ 0x2b50, 0x2b50 },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },	  { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xa960, 0xa97c },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },	  { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && c >= ranges[low].first;
}

static size_t columns_of(uint32_t c)
{
	if (c < no_columns[0].first)
		return 1;
	if (in_ranges(no_columns, ARRAY_LEN(no_columns), c))
		return 0;
	return in_ranges(two_columns, ARRAY_LEN(two_columns), c) ? 2 : 1;
}

/* Quotes and backslashes need escaping between quotes, and nowhere else. */
static bool terminal_obeys(uint32_t c)
{
	return c != '"' && c != '\\' && quote_needed(c);
}

/* The first character of `rest`, cleaned, goes to `out` and is taken off. */
static void take_character(struct buf *out, struct str *rest)
{
	uint32_t c = 0;
	unsigned n = utf8_decode(*rest, &c);

	if (n && !terminal_obeys(c))
		buf_append(out, str_slice(*rest, 0, n));
	else
		buf_append(out, STR(REPLACEMENT));
	*rest = str_from(*rest, n ? n : 1);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

void display_line(struct buf *out, struct str s)
{
	s = str_trim(s);
	while (s.n) {
		if (!is_blank(s.p[0])) {
			take_character(out, &s);
			continue;
		}
		while (s.n && is_blank(s.p[0]))
			s = str_from(s, 1);
		buf_append_char(out, ' ');
	}
}

void display_text(struct buf *out, struct str s)
{
	while (s.n) {
		if (str_starts_with(s, STR("\r\n")))
			s = str_from(s, 1);
		if (s.p[0] != '\n' && s.p[0] != '\t') {
			take_character(out, &s);
			continue;
		}
		buf_append_char(out, s.p[0]);
		s = str_from(s, 1);
	}
}

/* Outside of its strings JSON has nothing that needs this, so an escape may stand for whatever does. All of
 * it is within four digits. */
void display_json(struct buf *out, struct str json)
{
	while (json.n) {
		uint32_t c = 0;
		unsigned n = utf8_decode(json, &c);

		if (n == 0)
			buf_append(out, STR(REPLACEMENT));
		else if (c < 0x7f || !quote_needed(c))
			buf_append(out, str_slice(json, 0, n));
		else
			buf_printf(out, "\\u%04x", c);
		json = str_from(json, n ? n : 1);
	}
}

size_t display_width(struct str line)
{
	size_t columns = 0;

	while (line.n) {
		uint32_t c = 0;
		unsigned n = utf8_decode(line, &c);

		columns += n ? columns_of(c) : 1;
		line = str_from(line, n ? n : 1);
	}
	return columns;
}

struct str display_cut(struct str line, size_t columns)
{
	size_t at = 0, used = 0;

	while (at < line.n) {
		uint32_t c = 0;
		unsigned n = utf8_decode(str_from(line, at), &c);
		size_t width = n ? columns_of(c) : 1;

		if (used + width > columns)
			break;
		used += width;
		at += n ? n : 1;
	}
	return str_slice(line, 0, at);
}

struct str display_first_sentence(struct str text)
{
	text = str_trim(text);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n')
			return str_trim(str_slice(text, 0, i));
		if (text.p[i] == '.' && i + 1 < text.n && is_blank(text.p[i + 1]))
			return str_slice(text, 0, i + 1);
	}
	return text;
}

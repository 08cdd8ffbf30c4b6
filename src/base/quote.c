#include "base/base.h"
#include "base/quote.h"
#include "base/utf8_character.h"

static char *quote_escape(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	*out++ = '\\';
	switch (c) {
	case '\n':
		*out++ = 'n';
		return out;
	case '\r':
		*out++ = 'r';
		return out;
	case '\t':
		*out++ = 't';
		return out;
	case '"':
	case '\\':
		*out++ = (char)c;
		return out;
	default:
		*out++ = 'x';
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
		return out;
	}
}

bool quote_needed(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || c == '"' ||
	       c == '\\';
}

const char *quote_into(struct quoted *quoted, struct str s)
{
	char *out = quoted->text;
	size_t shown = 0;

	*out++ = '"';
	while (shown < s.n) {
		struct str rest = str_from(s, shown);
		uint32_t c;
		unsigned skip, n = utf8_decode_first(rest, &c, &skip);
		bool plain = n > 0 && !quote_needed(c);

		if (n == 0)
			n = skip;
		if (shown + n > QUOTE_SHOWN_MAX)
			break;
		for (unsigned i = 0; i < n; i++) {
			if (plain)
				*out++ = rest.p[i];
			else
				out = quote_escape(out, (unsigned char)rest.p[i]);
		}
		shown += n;
	}
	*out++ = '"';
	if (shown < s.n)
		for (int i = 0; i < 3; i++)
			*out++ = '.';
	*out = '\0';
	return quoted->text;
}

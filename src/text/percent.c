#include "base/base.h"
#include "text/percent.h"
#include "base/character.h"
#include "base/quote.h"
#include "text/place.h"

static bool unreserved(char c)
{
	return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

int percent_encode(struct buf *out, struct str component)
{
	/* Upper case, as RFC 3986 section 2.1 asks producers to write. */
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < component.n; i++) {
		unsigned char c = (unsigned char)component.p[i];
		char triple[3] = { '%', digits[c >> 4], digits[c & 15] };
		int r = unreserved(component.p[i]) ? buf_append_char(out, component.p[i])
						   : buf_append(out, str_make(triple, sizeof(triple)));

		if (r < 0)
			return r;
	}
	return 0;
}

int percent_decode_into(char *out, struct str text, unsigned flags, size_t *ret_n, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		int high, low;

		if (text.p[i] != '%') {
			out[n++] = text.p[i] == '+' && (flags & PERCENT_PLUS_IS_SPACE) ? ' ' : text.p[i];
			continue;
		}
		high = i + 1 < text.n ? hex_value(text.p[i + 1]) : -1;
		low = i + 2 < text.n ? hex_value(text.p[i + 2]) : -1;
		if (high < 0 || low < 0)
			return place_err(err,
					 err_set(err, ERR_INVALID,
						 "%s at byte %zu: \"%%\" needs two hexadecimal digits; "
						 "write %%25 for the character",
						 QUOTE(str_slice(text, i, 3)), i + 1),
					 i);
		out[n++] = (char)(high << 4 | low);
		i += 2;
	}
	*ret_n = n;
	return 0;
}

int percent_decode(struct buf *out, struct str text, unsigned flags, struct err *err)
{
	char *room = buf_reserve(out, text.n);
	size_t n;
	int r;

	if (!room)
		return err_set(err, ERR_TOO_LARGE, "the decoded text may have more than %zu bytes", out->max);
	r = percent_decode_into(room, text, flags, &n, err);
	if (r == 0)
		buf_claim(out, n);
	return r;
}

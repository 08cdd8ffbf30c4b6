#include "base/base.h"
#include "text/plain.h"
#include "text/utf8.h"

/* The bytes after ESC that belong to it: "[", parameters, a final byte; "]", a text, BEL or ESC "\"; else
 * one. */
static size_t sequence_length(struct str after)
{
	size_t n = 1;

	if (str_starts_with(after, STR("["))) {
		while (n < after.n && !(after.p[n] >= '@' && after.p[n] <= '~'))
			n++;
		return n + 1;
	}
	if (!str_starts_with(after, STR("]")))
		return 1;
	while (n < after.n && after.p[n] != '\a' && after.p[n] != '\x1b' && after.p[n] != '\n')
		n++;
	return n + (str_starts_with(str_from(after, n), STR("\x1b\\")) ? 2 : 1);
}

/* U+0080 to U+009F: some terminals take them for escape sequences of one character. */
static bool is_c1(struct str text)
{
	return text.n >= 2 && text.p[0] == '\xc2' && (unsigned char)text.p[1] < 0xa0;
}

struct str plain_text(struct str text, struct arena *arena)
{
	char *plain = arena_alloc(arena, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '\x1b')
			i += sequence_length(str_from(text, i + 1));
		else if (is_c1(str_from(text, i)))
			i++;
		else if (c == '\r' && !str_starts_with(str_from(text, i + 1), STR("\n")))
			plain[n++] = '\n'; /* the same line drawn anew, as progress is */
		else if ((unsigned char)c >= ' ' || c == '\n' || c == '\t')
			plain[n++] = c;
	}
	return str_trim(utf8_clean(arena, str_make(plain, n)));
}

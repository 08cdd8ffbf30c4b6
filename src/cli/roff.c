#include "base/base.h"
#include "cli/roff.h"

#include "text/utf8.h"

enum {
	LINE_COLUMNS = 78,   /* of source text: mandoc's checks want lines of up to 80 bytes */
	REPLACEMENT = 0xfffd /* what stands for bytes that are no UTF-8 */
};

/* groff_char(7): characters that would be taken for syntax, or be shown as typographic ones. */
static struct str escape_of(char c)
{
	switch (c) {
	case '\\':
		return STR("\\e");
	case '-':
		return STR("\\-");
	case '\'':
		return STR("\\(aq");
	case '"':
		return STR("\\(dq");
	case '`':
		return STR("\\(ga");
	case '^':
		return STR("\\(ha");
	case '~':
		return STR("\\(ti");
	default:
		return str_make(NULL, 0);
	}
}

/* A character beyond ASCII is named by its number, so that the page reads alike in every encoding. */
static size_t append_wide(struct buf *out, struct str text)
{
	uint32_t c = 0;
	unsigned n = utf8_decode(text, &c);

	buf_printf(out, "\\[u%04X]", n ? c : REPLACEMENT);
	return n ? n : 1;
}

void roff_append(struct buf *out, struct str text)
{
	while (text.n) {
		struct str escape = escape_of(text.p[0]);
		size_t n = 1;

		if ((unsigned char)text.p[0] >= 0x80)
			n = append_wide(out, text);
		else if (escape.n)
			buf_append(out, escape);
		else
			buf_append_char(out, text.p[0]);
		text = str_from(text, n);
	}
}

static struct str font_escape(enum roff_font font)
{
	static const struct str escapes[] = { STR_INIT("\\fR"), STR_INIT("\\fB"), STR_INIT("\\fI") };

	return escapes[font];
}

void roff_font(struct buf *out, enum roff_font font, struct str text)
{
	buf_append(out, font_escape(font));
	roff_append(out, text);
	buf_append(out, font_escape(ROFF_ROMAN));
}

/* -- requests -------------------------------------------------------------------------------------------- */

static void heading(struct buf *out, struct str request, struct str title)
{
	buf_append(out, request);
	buf_append(out, STR(" \""));
	roff_append(out, title);
	buf_append(out, STR("\"\n"));
}

void roff_section(struct buf *out, struct str title)
{
	heading(out, STR(".SH"), title);
}

void roff_subsection(struct buf *out, struct str title)
{
	heading(out, STR(".SS"), title);
}

void roff_paragraph(struct buf *out)
{
	buf_append(out, STR(".PP\n"));
}

void roff_entry(struct buf *out)
{
	buf_append(out, STR(".TP\n"));
}

void roff_indent(struct buf *out)
{
	buf_append(out, STR(".RS\n"));
}

void roff_outdent(struct buf *out)
{
	buf_append(out, STR(".RE\n"));
}

/* -- text ------------------------------------------------------------------------------------------------ */

/* A dot that begins a line would make it a request, and every word may come to begin one. */
static void guard_dot(struct buf *out, struct str text)
{
	if (str_starts_with(text, STR(".")))
		buf_append(out, STR("\\&"));
}

static void append_word(struct buf *out, struct str word, bool *bold)
{
	struct str part;
	bool first = true;

	guard_dot(out, word);
	while (str_split(&word, '`', &part)) {
		if (!first) {
			*bold = !*bold;
			buf_append(out, font_escape(*bold ? ROFF_BOLD : ROFF_ROMAN));
		}
		first = false;
		roff_append(out, part);
	}
}

static bool ends_sentence(struct str word)
{
	return str_ends_with(word, STR(".")) || str_ends_with(word, STR("?")) ||
	       str_ends_with(word, STR("!"));
}

void roff_prose(struct buf *out, struct str text)
{
	size_t column = 0;
	bool bold = false;
	struct str word;

	while (str_split(&text, ' ', &word)) {
		size_t before = out->n;

		if (!word.n)
			continue;
		if (column)
			buf_append_char(out, ' ');
		append_word(out, word, &bold);
		column += out->n - before;
		/* The blank that was to be in front of the word becomes the end of the line. */
		if (column > LINE_COLUMNS && column > out->n - before && !buf_failed(out)) {
			out->p[before] = '\n';
			column = out->n - before - 1;
		}
		if (ends_sentence(word)) {
			buf_append_char(out, '\n');
			column = 0;
		}
	}
	if (column)
		buf_append_char(out, '\n');
}

void roff_verbatim(struct buf *out, struct str lines)
{
	struct str line;

	buf_append(out, STR(".PP\n.nf\n"));
	while (str_split(&lines, '\n', &line)) {
		guard_dot(out, line);
		roff_append(out, line);
		buf_append_char(out, '\n');
	}
	buf_append(out, STR(".fi\n"));
}

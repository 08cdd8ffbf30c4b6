#include "base/base.h"
#include "json/scan.h"

struct str json_skip_mark(struct str text)
{
	static const struct str mark = STR_INIT("\xef\xbb\xbf");

	return str_starts_with(text, mark) ? str_from(text, mark.n) : text;
}

int scan_init(struct scan *s, struct str text, const struct json_limits *limits, bool jsonc, struct err *err)
{
	size_t bytes_max = limits && limits->bytes_max ? limits->bytes_max : JSON_BYTES_MAX;
	unsigned depth_max = limits && limits->depth_max ? limits->depth_max : JSON_DEPTH_MAX;

	BUG_ON(depth_max > JSON_DEPTH_MAX);
	bytes_max = size_min(bytes_max, JSON_BYTES_MAX);
	if (text.n > bytes_max)
		return err_set(err, ERR_TOO_LARGE, "%zu bytes of JSON, and no more than %zu are allowed",
			       text.n, bytes_max);
	if (!text.p)
		text.p = "";
	*s = (struct scan){ .text = text.p, .jsonc = jsonc, .depth_max = depth_max };
	s->begin = jsonc ? json_skip_mark(text).p : text.p;
	s->end = text.p + text.n;
	return 0;
}

const char *scan_fail(struct scan *s, const char *at, const char *expected)
{
	return scan_fail_limit(s, at, expected, 0);
}

const char *scan_fail_limit(struct scan *s, const char *at, const char *of_what, size_t limit)
{
	if (!s->failed_at) {
		s->failed_at = at;
		s->expected = of_what;
		s->limit = limit;
	}
	return NULL;
}

int scan_error(const struct scan *s, struct err *err)
{
	unsigned line = 1, column;
	const char *line_begin = s->begin;
	int code = s->limit ? ERR_TOO_LARGE : ERR_INVALID;

	for (const char *p = s->begin; p < s->failed_at; p++) {
		if (*p == '\n') {
			line++;
			line_begin = p + 1;
		}
	}
	column = (unsigned)(s->failed_at - line_begin) + 1;
	if (s->limit)
		err_set(err, code, "more than %zu %s", s->limit, s->expected);
	else
		err_set(err, code, "%sexpected %s", s->failed_at == s->end ? "the text ends, " : "",
			s->expected);
	if (!s->jsonc)
		err_prefix(err, code, "line %u, column %u", line, column);
	if (err) {
		err->line = line;
		err->column = column;
		err->offset = (size_t)(s->failed_at - s->text);
	}
	return code;
}

const char *scan_end(struct scan *s, const char *p)
{
	p = scan_blanks(s, p);
	return p < s->end || s->failed_at ? scan_fail(s, p, "the end of the text") : p;
}

/* p is at the slash that begins a comment. */
static const char *skip_comment(struct scan *s, const char *p)
{
	size_t left = (size_t)(s->end - p);
	const char *close;

	if (left >= 2 && p[1] == '/') {
		close = memchr(p, '\n', left);
		return close ? close + 1 : s->end;
	}
	if (left >= 2 && p[1] == '*') {
		close = memmem(p + 2, left - 2, "*/", 2);
		if (close)
			return close + 2;
		scan_fail(s, p, "a comment that is closed by */");
	} else {
		scan_fail(s, p, "a comment, // or /*");
	}
	return s->end;
}

const char *scan_blanks_slowly(struct scan *s, const char *p)
{
	for (; p < s->end; p++) {
		while (*p == '/' && s->jsonc) {
			p = skip_comment(s, p);
			if (p == s->end)
				return p;
		}
		if (*p != ' ' && *p != '\n' && *p != '\r' && *p != '\t')
			break;
	}
	return p;
}

/* The four hexadecimal digits at p, or -1 after a noted failure. */
static int32_t scan_code_unit(struct scan *s, const char *p)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_value(scan_peek(s, p + i));

		if (digit < 0) {
			scan_fail(s, p + i, "four hexadecimal digits after \\u");
			return -1;
		}
		unit = unit * 16 + digit;
	}
	return unit;
}

/* \uXXXX, or two of them for a character beyond U+FFFF. c.in is at the backslash. */
static struct copy scan_unicode_escape(struct scan *s, struct copy c)
{
	const char *begin = c.in;
	int32_t unit = scan_code_unit(s, begin + 2), low = 0;

	c.in = NULL;
	if (unit < 0)
		return c;
	if (unit >= 0xd800 && unit <= 0xdfff) {
		if (unit <= 0xdbff && scan_peek(s, begin + 6) == '\\' && scan_peek(s, begin + 7) == 'u') {
			low = scan_code_unit(s, begin + 8);
			if (low < 0)
				return c;
		}
		if (low < 0xdc00 || low > 0xdfff) {
			scan_fail(s, begin, "a surrogate pair, high before low");
			return c;
		}
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	}
	if (c.out)
		c.out += utf8_encode((uint32_t)unit, c.out);
	c.in = begin + (low ? 12 : 6);
	return c;
}

const char scan_escape_meaning[256] = {
	['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
	['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

struct copy scan_long_escape(struct scan *s, struct copy c)
{
	if (scan_peek(s, c.in + 1) == 'u')
		return scan_unicode_escape(s, c);
	c.in = scan_fail(s, c.in + 1, "one of \" \\ / b f n r t u after a backslash");
	return c;
}

const char *scan_fail_string(struct scan *s, const char *p)
{
	if (p == s->end)
		return scan_fail(s, p, "a closing quote");
	if (*p == '\n' || *p == '\r')
		return scan_fail(s, p, "a closing quote, or an escape in place of the end of the line");
	if ((unsigned char)*p < ' ')
		return scan_fail(s, p, "an escape in place of a control character");
	return scan_fail(s, p, "valid UTF-8");
}

/* A walk over text that is known to be valid JSON with comments, so it need not understand values, only skip
 * them. */
#include "base/base.h"
#include "settings/spot.h"

#include "json/json.h"

static size_t skip_comment(struct str text, size_t at)
{
	bool block = text.p[at + 1] == '*';
	size_t end = str_find(str_from(text, at + 2), block ? STR("*/") : STR("\n"));

	return end == STR_NONE ? text.n : at + 2 + end + (block ? 2 : 1);
}

static size_t skip_blanks(struct str text, size_t at)
{
	while (at < text.n) {
		if (text.p[at] == '/' && at + 1 < text.n)
			at = skip_comment(text, at);
		else if (str_find_char(STR(" \t\r\n"), text.p[at]) != STR_NONE)
			at++;
		else
			break;
	}
	return at;
}

static size_t skip_string(struct str text, size_t at)
{
	for (at++; at < text.n && text.p[at] != '"'; at++)
		if (text.p[at] == '\\')
			at++;
	return size_min(at + 1, text.n);
}

/* To behind the value that begins at `at`. */
static size_t skip_value(struct str text, size_t at)
{
	size_t depth = 0;

	do {
		at = skip_blanks(text, at);
		if (at >= text.n)
			return text.n;
		if (text.p[at] == '"') {
			at = skip_string(text, at);
			continue;
		}
		if (text.p[at] == '{' || text.p[at] == '[')
			depth++;
		if (text.p[at] == '}' || text.p[at] == ']')
			depth--;
		/* Numbers and words go by a character at a time. */
		at++;
	} while (depth > 0 || (at < text.n && str_find_char(STR(",]} \t\r\n/:"), text.p[at]) == STR_NONE));
	return at;
}

/* From the value at `at`, an object or an array, to its `index`-th key or element. */
static size_t enter(struct str text, size_t at, size_t index)
{
	bool object = at < text.n && text.p[at] == '{';

	at = skip_blanks(text, at + 1);
	for (; index > 0 && at < text.n; index--) {
		if (object)
			at = skip_blanks(text, skip_string(text, at)) + 1;
		at = skip_blanks(text, skip_value(text, at));
		at = skip_blanks(text, at + 1);
	}
	return at;
}

static size_t offset_of(const struct spot *spot, struct str text)
{
	size_t at;

	if (!spot)
		return skip_blanks(text, 0);
	at = offset_of(spot->within, text);
	/* What `within` names is a member: its value is behind its key. */
	if (spot->within && at < text.n && text.p[at] == '"') {
		size_t behind = skip_blanks(text, skip_string(text, at));

		if (behind < text.n && text.p[behind] == ':')
			at = skip_blanks(text, behind + 1);
	}
	return enter(text, at, spot->index);
}

struct spot_position spot_find(const struct spot *spot, struct str text)
{
	struct spot_position position = { 1, 1 };
	size_t offset;

	text = json_skip_mark(text);
	offset = size_min(offset_of(spot, text), text.n);
	for (size_t i = 0; i < offset; i++) {
		position.column++;
		if (text.p[i] == '\n')
			position = (struct spot_position){ position.line + 1, 1 };
	}
	return position;
}

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

/* From the first key or element of a container, at `at`, to the one `steps` behind it. */
static size_t advance(struct str text, bool object, size_t at, size_t steps)
{
	for (; steps > 0 && at < text.n; steps--) {
		if (object)
			at = skip_blanks(text, skip_string(text, at)) + 1;
		at = skip_blanks(text, skip_value(text, at));
		at = skip_blanks(text, at + 1);
	}
	return at;
}

/* What a level names when it is a member: its value is behind its key. */
static size_t value_of(struct spot_level *level, struct str text)
{
	size_t at = level->at, behind;

	if (level->value)
		return level->value;
	if (at < text.n && text.p[at] == '"') {
		behind = skip_blanks(text, skip_string(text, at));
		if (behind < text.n && text.p[behind] == ':')
			at = skip_blanks(text, behind + 1);
	}
	return level->value = at;
}

/* The way down to `spot`. `*ret_level` is the last step: one that is remembered, or a copy in `deeper`. */
static void descend(struct spot_finder *finder, const struct spot *spot, size_t *ret_depth,
		    struct spot_level *deeper, struct spot_level **ret_level)
{
	struct str text = finder->text;
	struct spot_level *level;
	size_t container = finder->root;
	bool object;

	*ret_depth = 0;
	if (spot->within) {
		descend(finder, spot->within, ret_depth, deeper, &level);
		container = value_of(level, text);
		++*ret_depth;
	}
	level = *ret_depth < SPOT_LEVELS ? &finder->levels[*ret_depth] : deeper;
	object = container < text.n && text.p[container] == '{';
	if (level == deeper || level->at == 0 || level->container != container || level->index > spot->index)
		*level = (struct spot_level){ container, 0, skip_blanks(text, container + 1), 0 };
	if (level->index < spot->index) {
		level->at = advance(text, object, level->at, spot->index - level->index);
		level->index = spot->index;
		level->value = 0;
	}
	*ret_level = level;
}

void spot_finder_init(struct spot_finder *finder, struct str text)
{
	text = json_skip_mark(text);
	*finder = (struct spot_finder){ .text = text, .root = skip_blanks(text, 0), .line = 1 };
}

/* From the last answer to `offset`, forwards or backwards. */
static void move_to(struct spot_finder *finder, size_t offset)
{
	const char *p = finder->text.p;

	for (; finder->offset < offset; finder->offset++)
		if (p[finder->offset] == '\n') {
			finder->line++;
			finder->line_begin = finder->offset + 1;
		}
	while (offset < finder->line_begin) {
		const char *newline;

		finder->line--;
		newline = memrchr(p, '\n', finder->line_begin - 1);
		finder->line_begin = newline ? (size_t)(newline - p) + 1 : 0;
	}
	finder->offset = offset;
}

struct spot_position spot_find(struct spot_finder *finder, const struct spot *spot)
{
	struct spot_level deeper, *level;
	size_t depth, offset = finder->root;

	if (spot) {
		descend(finder, spot, &depth, &deeper, &level);
		offset = level->at;
	}
	move_to(finder, size_min(offset, finder->text.n));
	return (struct spot_position){ finder->line, (unsigned)(finder->offset - finder->line_begin) + 1 };
}

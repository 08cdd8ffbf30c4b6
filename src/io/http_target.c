#include "base/base.h"
#include "io/http_target.h"

#include "base/character.h"
#include "io/http_syntax.h"
#include "text/percent.h"
#include "text/utf8.h"

/* Checking reads a target as the characters that it stands for, each raw or escaped. */

struct target_char {
	unsigned char c;
	bool escaped;
};

/* False for a broken escape. */
static bool next_char(struct str *rest, struct target_char *ret_char)
{
	int high, low;

	*ret_char = (struct target_char){ .c = (unsigned char)rest->p[0], .escaped = rest->p[0] == '%' };
	if (!ret_char->escaped) {
		*rest = str_from(*rest, 1);
		return true;
	}
	high = rest->n > 1 ? hex_value(rest->p[1]) : -1;
	low = rest->n > 2 ? hex_value(rest->p[2]) : -1;
	if (high < 0 || low < 0)
		return false;
	ret_char->c = (unsigned char)(high << 4 | low);
	*rest = str_from(*rest, 3);
	return true;
}

/* -- UTF-8, a piece at a time ---------------------------------------------------------------------------- */

/* Neighbouring bytes over 0x7f, which can only have come from escapes. */
struct utf8_run {
	char piece[64]; /* a grain: longer runs are checked in parts */
	size_t n;
};

static bool run_check(struct utf8_run *run, size_t hold_back)
{
	struct str piece = str_make(run->piece, run->n - hold_back);
	bool valid = utf8_valid(piece);

	memmove(run->piece, run->piece + piece.n, hold_back);
	run->n = hold_back;
	return valid;
}

static bool run_add(struct utf8_run *run, unsigned char c)
{
	if (c < 0x80)
		return run->n == 0 || run_check(run, 0);
	if (run->n == sizeof(run->piece) && !run_check(run, utf8_incomplete(str_make(run->piece, run->n))))
		return false;
	run->piece[run->n++] = (char)c;
	return true;
}

/* -- checking -------------------------------------------------------------------------------------------- */

/* Visible ASCII without what RFC 3986 leaves out of paths; "[", "]" and "|" are let through, because browsers
 * send them raw. */
static bool is_raw_path_char(unsigned char c)
{
	return c > 0x20 && c < 0x7f && !strchr("\"#<>\\^`{}", c);
}

/* The same for queries, where browsers send still more of them raw. */
static bool is_raw_query_char(unsigned char c)
{
	return c > 0x20 && c < 0x7f && !strchr("\"#<>", c);
}

static const char *check_path_char(struct target_char at)
{
	if (at.escaped && (at.c == '/' || at.c == '\\'))
		return "The path holds an escaped slash or backslash.";
	if (at.escaped && (at.c < 0x20 || at.c == 0x7f))
		return "The path holds an escaped control character.";
	if (!at.escaped && !is_raw_path_char(at.c))
		return "The path holds a character that must be escaped.";
	return NULL;
}

/* The segment that is being read: how long it is, and whether it is all dots. */
struct segment {
	size_t n;
	bool dots;
};

static const char *end_segment(struct segment *segment, bool last)
{
	const char *problem = NULL;

	if (segment->n == 0 && !last)
		problem = "The path holds an empty segment.";
	else if (segment->dots && (segment->n == 1 || segment->n == 2))
		problem = "The path holds a dot segment.";
	*segment = (struct segment){ .dots = true };
	return problem;
}

static const char *check_path(struct str path)
{
	struct str rest = str_from(path, 1);
	struct segment segment = { .dots = true };
	struct utf8_run run = { .n = 0 };

	while (rest.n) {
		struct target_char at;
		const char *problem;

		if (!next_char(&rest, &at))
			return "The path holds a broken escape.";
		if (!run_add(&run, at.c))
			return "The path is not UTF-8.";
		if (at.c == '/' && !at.escaped) {
			problem = end_segment(&segment, false);
		} else {
			problem = check_path_char(at);
			segment.n++;
			segment.dots &= at.c == '.';
		}
		if (problem)
			return problem;
	}
	return run_check(&run, 0) ? end_segment(&segment, true) : "The path is not UTF-8.";
}

static const char *check_query(struct str query)
{
	struct utf8_run run = { .n = 0 };

	while (query.n) {
		struct target_char at;

		if (!next_char(&query, &at))
			return "The query holds a broken escape.";
		if (at.escaped ? at.c == '\0' : !is_raw_query_char(at.c))
			return "The query holds a character that it must not.";
		if (!run_add(&run, at.c))
			return "The query is not UTF-8.";
	}
	return run_check(&run, 0) ? NULL : "The query is not UTF-8.";
}

const char *http_target_check(struct str target)
{
	size_t mark = str_find_char(target, '?');
	const char *problem;

	if (target.n == 0 || target.p[0] != '/')
		return "The target does not begin with a slash.";
	problem = check_path(str_slice(target, 0, mark));
	if (problem || mark == STR_NONE)
		return problem;
	return check_query(str_from(target, mark + 1));
}

/* -- reading --------------------------------------------------------------------------------------------- */

static struct str decode(struct str text, unsigned flags, struct arena *arena)
{
	char *room = arena_alloc(arena, text.n + 1);
	size_t n;

	BUG_ON(percent_decode_into(room, text, flags, &n, NULL) < 0);
	return str_make(room, n);
}

void http_target_split(struct str target, struct arena *arena, struct str *ret_path, struct str *ret_query)
{
	size_t mark = str_find_char(target, '?');

	*ret_path = decode(str_slice(target, 0, mark), 0, arena);
	*ret_query = mark == STR_NONE ? str_make(NULL, 0) : str_from(target, mark + 1);
}

struct str http_query_get(struct str query, struct str name, struct arena *arena)
{
	struct str pair;

	while (str_split(&query, '&', &pair)) {
		size_t equals = str_find_char(pair, '=');
		struct str key = decode(str_slice(pair, 0, equals), PERCENT_PLUS_IS_SPACE, arena);

		if (str_eq(key, name))
			return decode(equals == STR_NONE ? str_make(NULL, 0) : str_from(pair, equals + 1),
				      PERCENT_PLUS_IS_SPACE, arena);
	}
	return str_make(NULL, 0);
}

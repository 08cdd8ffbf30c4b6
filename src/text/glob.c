/*
 * A "*" is tried with nothing first and given one more character whenever the rest fails. Only the last "*"
 * needs to be tried again, because an earlier one that was given more could only skip what the later one can
 * skip as well; so there is no recursion and nothing exponential.
 */
#include "base/base.h"
#include "text/glob.h"
#include "base/quote.h"
#include "text/place.h"
#include "text/utf8.h"

#include <stdarg.h>

/* A code point of its own for a byte that is not UTF-8: equal to no character of a glob, which is UTF-8. */
enum { BROKEN_BYTE = 0x110000 };

/* The character at `at`, which is inside s; advances *at. */
static uint32_t take_character(struct str s, size_t *at)
{
	uint32_t c = BROKEN_BYTE;
	unsigned n = utf8_decode(str_from(s, *at), &c);

	*at += n ? n : 1;
	return c;
}

static bool at_char(struct str s, size_t at, char c)
{
	return at < s.n && s.p[at] == c;
}

/* -- classes --------------------------------------------------------------------------------------------- */

/* The class whose "[" is at `at`: where its members are. A "]" in the first place is a member. */
struct glob_class {
	bool negated;
	size_t first, end; /* members; `end` is the offset of the closing "]" */
};

static bool class_find(struct str glob, size_t at, struct glob_class *ret_class)
{
	struct glob_class set = { .negated = at_char(glob, at + 1, '!') };
	size_t close;

	set.first = at + (set.negated ? 2 : 1);
	close = str_find_char(str_from(glob, set.first + 1), ']');
	if (close == STR_NONE)
		return false;
	set.end = set.first + 1 + close;
	*ret_class = set;
	return true;
}

/* Takes one member, a character or a range, off the class at *at. */
static void class_take(struct str glob, const struct glob_class *set, size_t *at, uint32_t *ret_low,
		       uint32_t *ret_high)
{
	*ret_low = *ret_high = take_character(glob, at);
	if (*at + 1 < set->end && glob.p[*at] == '-') {
		++*at;
		*ret_high = take_character(glob, at);
	}
}

static bool class_holds(struct str glob, const struct glob_class *set, uint32_t c)
{
	uint32_t low, high;

	for (size_t at = set->first; at < set->end;) {
		class_take(glob, set, &at, &low, &high);
		if (c >= low && c <= high)
			return true;
	}
	return false;
}

/* -- checking -------------------------------------------------------------------------------------------- */

bool glob_magic(struct str text)
{
	return str_find_char(text, '*') != STR_NONE || str_find_char(text, '?') != STR_NONE ||
	       str_find_char(text, '[') != STR_NONE;
}

_printf_(4, 5) static int glob_error(struct str text, size_t at, struct err *err, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return place_err(err, err_set(err, ERR_INVALID, "glob %s, column %zu: %s", QUOTE(text), at + 1, what),
			 at);
}

/* What other dialects write inside a class and what would silently mean something else here. */
static int class_check_start(struct str text, size_t at, struct err *err)
{
	struct str inside = str_from(text, at + 1);

	if (str_starts_with(inside, STR("^")))
		return glob_error(text, at, err, "to exclude characters write [!...], not [^...]");
	if (str_starts_with(inside, STR("[:")) || str_starts_with(inside, STR("![:")))
		return glob_error(text, at, err,
				  "named classes such as [:alpha:] are not known; write [a-z]");
	return 0;
}

/* Checks the class whose "[" is at *at and moves behind it. */
static int class_check(struct str text, size_t *at, struct err *err)
{
	struct glob_class set;
	uint32_t low, high;
	int r = class_check_start(text, *at, err);

	if (r < 0)
		return r;
	if (!class_find(text, *at, &set))
		return glob_error(text, *at, err, "\"[\" has no closing \"]\"; write [[] for the character");
	for (size_t member = set.first; member < set.end;) {
		size_t from = member;

		class_take(text, &set, &member, &low, &high);
		if (low > high)
			return glob_error(text, from, err, "the range %s runs backwards",
					  QUOTE(str_slice(text, from, member - from)));
	}
	*at = set.end + 1;
	return 0;
}

int glob_check(struct str text, struct err *err)
{
	int r = 0;

	if (text.n > GLOB_TEXT_MAX)
		return err_set(err, ERR_TOO_LARGE, "glob %s has %zu bytes: at most %d are allowed",
			       QUOTE(text), text.n, GLOB_TEXT_MAX);
	if (!utf8_valid(text))
		return glob_error(text, utf8_valid_length(text), err, "not UTF-8");
	for (size_t at = 0; r == 0 && at < text.n;) {
		if (text.p[at] == '[')
			r = class_check(text, &at, err);
		else
			at++;
	}
	return r;
}

/* -- matching -------------------------------------------------------------------------------------------- */

/* Whether what stands at *g, which is no "*", matches the character at *n; moves both behind it then. */
static bool match_one(struct str glob, size_t *g, struct str name, size_t *n)
{
	size_t after_g = *g, after_n = *n;
	uint32_t c = take_character(name, &after_n);
	bool match;

	if (glob.p[*g] == '[') {
		struct glob_class set;

		BUG_ON(!class_find(glob, *g, &set));
		match = class_holds(glob, &set, c) != set.negated;
		after_g = set.end + 1;
	} else {
		uint32_t wanted = take_character(glob, &after_g);

		match = wanted == '?' || wanted == c;
	}
	if (match) {
		*g = after_g;
		*n = after_n;
	}
	return match;
}

bool glob_matches(struct str glob, struct str name)
{
	size_t g = 0, n = 0, after_star = STR_NONE, star_n = 0;

	while (n < name.n) {
		if (at_char(glob, g, '*')) {
			after_star = ++g;
			star_n = n;
		} else if (g == glob.n || !match_one(glob, &g, name, &n)) {
			if (after_star == STR_NONE)
				return false;
			take_character(name, &star_n);
			g = after_star;
			n = star_n;
		}
	}
	while (at_char(glob, g, '*'))
		g++;
	return g == glob.n;
}

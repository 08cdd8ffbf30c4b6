/* The first line is a glob, the rest a name: a glob that passes the check matches as its definition says. */
#include "base/base.h"
#include "text/glob.h"
#include "text/pattern.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAME_MAX_HERE = 256 /* the reference takes pattern length times name length */ };

/* The character at *at, or 0x110000 for a broken byte. */
static uint32_t take(struct str s, size_t *at)
{
	uint32_t c = 0x110000;
	unsigned n = utf8_decode(str_from(s, *at), &c);

	*at += n ? n : 1;
	return c;
}

/* Whether the element at *g, which is no star, matches c; moves behind it. */
static bool element_matches(struct str glob, size_t *g, uint32_t c)
{
	uint32_t first = take(glob, g);
	bool negated = false, found = false;

	if (first == '?')
		return true;
	if (first != '[')
		return first == c;
	if (glob.p[*g] == '!') {
		negated = true;
		++*g;
	}
	for (bool any = false; !any || glob.p[*g] != ']'; any = true) {
		uint32_t low = take(glob, g), high = low;

		if (glob.p[*g] == '-' && glob.p[*g + 1] != ']') {
			++*g;
			high = take(glob, g);
		}
		found = found || (c >= low && c <= high);
	}
	++*g;
	return found != negated;
}

/* The definition as a table: reached[i] says whether what came of the glob so far matches the first i bytes
 * of the name. */
static bool matches_by_table(struct str glob, struct str name)
{
	bool reached[NAME_MAX_HERE + 1] = { true };

	for (size_t g = 0; g < glob.n;) {
		bool next[NAME_MAX_HERE + 1] = { false };
		size_t after = g;

		if (glob.p[g] == '*') {
			bool open = false;

			after = g + 1;
			for (size_t i = 0; i <= name.n; take(name, &i)) {
				open = open || reached[i];
				next[i] = open;
			}
		} else {
			element_matches(glob, &after, 0);
			for (size_t i = 0; i < name.n;) {
				size_t from = i, element = g;
				uint32_t c = take(name, &i);

				next[i] = reached[from] && element_matches(glob, &element, c);
			}
		}
		memcpy(reached, next, sizeof(reached));
		g = after;
	}
	return reached[name.n];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = str_make((const char *)data, size), glob, name;
	struct pattern pattern;
	struct err err = { 0 };

	str_split(&rest, '\n', &glob);
	name = rest.n == SIZE_MAX ? str_make(NULL, 0) : str_slice(rest, 0, NAME_MAX_HERE);
	if (pattern_parse(glob, &pattern, &err) == 0)
		pattern_matches(&pattern, name);
	else
		BUG_ON(err.message[0] == '\0' || strchr(err.message, '\n'));
	if (glob_check(glob, &err) < 0) {
		BUG_ON(err.code == ERR_INVALID && (err.line != 1 || err.offset >= glob.n));
		return 0;
	}
	BUG_ON(glob_matches(glob, name) != matches_by_table(glob, name));
	BUG_ON(!glob_magic(glob) && glob_matches(glob, name) != str_eq(glob, name));
	return 0;
}

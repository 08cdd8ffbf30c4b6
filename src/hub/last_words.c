#include "base/base.h"
#include "hub/last_words.h"
#include "text/plain.h"
#include "text/utf8.h"

enum {
	/* What an error, which has ERR_MESSAGE_MAX bytes in all, quotes: so much of the end, or less of it
	 * with the cause. */
	END_MAX = 600,
	END_BESIDE_CAUSE_MAX = 300,
	CAUSE_MAX = 300,
};

/* -- what to quote --------------------------------------------------------------------------------------- */

static bool line_has(struct str line, const struct str *signs, size_t count)
{
	for (size_t at = 0; at < line.n; at++)
		for (size_t i = 0; i < count; i++)
			if (str_eq_ignoring_case(str_slice(line, at, signs[i].n), signs[i]))
				return true;
	return false;
}

/* The first line with one of these words; empty when there is none. */
static struct str first_with(struct str text, const struct str *signs, size_t count)
{
	struct str line;

	while (str_split(&text, '\n', &line))
		if (line_has(line, signs, count))
			return str_trim(line);
	return str_make(NULL, 0);
}

/* The line that says what went wrong. What runtimes and programs begin it with comes before what may as well
 * be a remark. */
static struct str find_cause(struct str text)
{
	static const struct str names[] = { STR_INIT("error:"), STR_INIT("error ["), STR_INIT("exception:"),
					    STR_INIT("fatal"),	STR_INIT("panic"),   STR_INIT("npm err") };
	static const struct str remarks[] = { STR_INIT("not found"), STR_INIT("no such file"),
					      STR_INIT("permission denied"), STR_INIT("cannot ") };
	struct str cause = first_with(text, names, ARRAY_LEN(names));

	return cause.n ? cause : first_with(text, remarks, ARRAY_LEN(remarks));
}

/* The last so many bytes, from the beginning of a line when there is one. */
static struct str last_lines(struct str text, size_t max)
{
	struct str end = utf8_cut_front(text, max);
	size_t line = end.n < text.n ? str_find_char(end, '\n') : STR_NONE;

	return line == STR_NONE ? end : str_from(end, line + 1);
}

struct str last_words_quote(struct str words, struct arena *arena)
{
	struct str text = plain_text(words, arena), end = last_lines(text, END_MAX), cause;

	if (!text.n)
		return STR("it wrote nothing to stderr");
	cause = utf8_cut(find_cause(text), CAUSE_MAX);
	if (cause.n == 0 || str_find(end, cause) != STR_NONE)
		return arena_concat(arena, STR("its stderr ends: "), end, STR(""));
	end = last_lines(text, END_BESIDE_CAUSE_MAX);
	return arena_concat(arena, arena_concat(arena, STR("its stderr says: "), cause, STR("\nand ends: ")),
			    end, STR(""));
}

#include "base/base.h"
#include "exec/words.h"
#include "base/buf.h"
#include "text/percent.h"
#include "text/plain.h"
#include "text/utf8.h"

/* How much of `text` is the path as URLs write it, any byte of it as %XX or as it is; 0: it is another. */
static size_t url_path_length(struct str text, struct str path)
{
	size_t at = 0;

	for (size_t i = 0; i < path.n; i++) {
		struct str encoded = str_slice(text, at, 3);
		size_t n;
		char byte;

		if (!encoded.n)
			return 0;
		if (encoded.p[0] == '%' && percent_decode_into(&byte, encoded, 0, &n, NULL) == 0) {
			at += encoded.n;
		} else {
			byte = encoded.p[0];
			at++;
		}
		if (byte != path.p[i])
			return 0;
	}
	return at;
}

/* How much of the begin of `text` names the file, by its path or its URL; 0: nothing. */
static size_t script_name_length(struct str text, struct str path)
{
	const struct str scheme = STR("file://");
	size_t n;

	if (!path.n)
		return 0;
	if (str_starts_with(text, path))
		return path.n;
	if (!str_starts_with(text, scheme))
		return 0;
	n = url_path_length(str_from(text, scheme.n), path);
	return n ? scheme.n + n : 0;
}

/* The path and the URL of the file become the name that its author knows. */
static void rename_script(struct buf *out, struct str text, const struct exec_names *names)
{
	for (size_t i = 0; i < text.n;) {
		size_t n = script_name_length(str_from(text, i), names->path);

		if (n) {
			buf_append(out, names->shown);
			i += n;
		} else {
			buf_append_char(out, text.p[i++]);
		}
	}
}

/* -- lines ----------------------------------------------------------------------------------------------- */

/* What runtimes say about themselves: frames of theirs, native backtraces, their version. */
static bool is_inside(struct str line)
{
	static const char *const signs[] = { "node:internal", "Stack backtrace:", ": <unknown>", "Node.js v",
					     "triggerUncaughtException(" };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (str_find(line, str_of(signs[i])) != STR_NONE)
			return true;
	return false;
}

/* "snippet:1:88" with the columns of what was put in front taken off. */
static void append_place(struct buf *out, struct str line, const struct exec_names *names,
			 struct arena *arena)
{
	struct str before = arena_concat(arena, names->shown, STR(":1:"), STR(""));
	size_t at = str_find(line, before);
	struct str digits;
	uint64_t column;

	if (at == STR_NONE || !names->prefix.n) {
		buf_append(out, line);
		return;
	}
	digits = str_from(line, at + before.n);
	digits.n = digits.n ? strspn(arena_cstr(arena, digits), "0123456789") : 0;
	if (str_to_u64(digits, &column) < 0 || column <= utf8_count(names->prefix)) {
		buf_append(out, line);
		return;
	}
	buf_append(out, str_slice(line, 0, at + before.n));
	(void)buf_printf(out, "%llu", (unsigned long long)(column - utf8_count(names->prefix)));
	buf_append(out, str_from(line, at + before.n + digits.n));
}

/* A quoted first line loses what was put in front of it, and the line below, which points into it, as many
 * blanks. */
static void append_line(struct buf *out, struct str line, size_t *pointer_at, const struct exec_names *names,
			struct arena *arena)
{
	size_t at = names->prefix.n ? str_find(line, names->prefix) : STR_NONE;
	size_t shift = utf8_count(names->prefix);

	if (at != STR_NONE) {
		buf_append(out, str_slice(line, 0, at));
		buf_append(out, str_from(line, at + names->prefix.n));
		*pointer_at = at;
	} else if (*pointer_at != STR_NONE && line.n > *pointer_at + shift) {
		buf_append(out, str_slice(line, 0, *pointer_at));
		buf_append(out, str_from(line, *pointer_at + shift));
		*pointer_at = STR_NONE;
	} else {
		append_place(out, line, names, arena);
	}
	buf_append_char(out, '\n');
}

bool exec_words_wait_for_nothing(struct str words)
{
	return str_find(words, STR("Top-level await promise never resolved")) != STR_NONE;
}

struct str exec_clean_words(struct str words, const struct exec_names *names, struct arena *arena)
{
	_cleanup_buf_ struct buf named = { .max = ARENA_MAX_DEFAULT }, clean = { .max = ARENA_MAX_DEFAULT };
	size_t pointer_at = STR_NONE;
	struct str rest, line;
	bool inside = false;

	rename_script(&named, plain_text(words, arena), names);
	rest = buf_str(&named);
	while (str_split(&rest, '\n', &line)) {
		/* A line that points into one that was left out goes with it. */
		inside = is_inside(line) || (inside && str_eq(str_trim(line), STR("^")));
		if (!inside)
			append_line(&clean, line, &pointer_at, names, arena);
	}
	return utf8_clean(arena, arena_copy(arena, str_trim(buf_str(&clean))));
}

#include "base/base.h"
#include "artifacts/name.h"
#include "base/character.h"
#include "base/utf8_character.h"

static struct str last_component(struct str raw)
{
	size_t slash;

	while (str_ends_with(raw, STR("/")))
		raw.n--;
	slash = str_find_last_char(raw, '/');
	return slash == STR_NONE ? raw : str_from(raw, slash + 1);
}

static bool is_kept(char c)
{
	return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || c == '+';
}

/* One character of ours for each of theirs; a broken part of UTF-8 counts as one. */
static struct str replace_characters(struct arena *arena, struct str raw)
{
	char *out = arena_alloc(arena, raw.n);
	size_t n = 0;

	while (raw.n > 0) {
		uint32_t code_point;
		unsigned skip, length = utf8_decode_first(raw, &code_point, &skip);

		if (is_kept(raw.p[0]))
			out[n++] = raw.p[0];
		else
			out[n++] = raw.p[0] == ' ' ? '-' : '_';
		raw = str_from(raw, length ? length : skip);
	}
	return str_make(out, n);
}

static struct str strip_dots(struct str s)
{
	while (str_starts_with(s, STR(".")))
		s = str_from(s, 1);
	while (str_ends_with(s, STR(".")))
		s.n--;
	return s;
}

struct str artifact_name_extension(struct str name)
{
	size_t dot = str_find_last_char(name, '.');

	return dot == STR_NONE || dot == 0 ? str_make(NULL, 0) : str_from(name, dot);
}

/* stem + middle + extension, the stem cut to fit; an extension that leaves the stem no room is cut as if
 * it were none. */
static struct str fit(struct arena *arena, struct str name, struct str middle, size_t max)
{
	struct str extension = artifact_name_extension(name);
	struct str stem;

	if (extension.n + middle.n >= max)
		extension.n = 0;
	stem = str_slice(name, 0, size_min(name.n - extension.n, max - middle.n - extension.n));
	return arena_concat(arena, stem, middle, extension);
}

struct str artifact_name_clean(struct arena *arena, struct str raw, size_t max)
{
	struct str name = strip_dots(replace_characters(arena, last_component(raw)));

	BUG_ON(max < ARTIFACT_NAME_LEAST);
	if (name.n > max)
		name = strip_dots(fit(arena, name, STR(""), max));
	return name.n ? arena_copy(arena, name) : STR("artifact");
}

struct str artifact_name_numbered(struct arena *arena, struct str clean, unsigned number, size_t max)
{
	struct str middle = number ? arena_printf(arena, "-%u", number) : STR("");

	BUG_ON(max < ARTIFACT_NAME_LEAST);
	return fit(arena, clean, middle, max);
}

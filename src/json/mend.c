#include "base/base.h"
#include "json/json.h"

#include "base/character.h"

static const struct str replacement = STR_INIT("\\ufffd"); /* as long as what it replaces */

/* What the escape \uXXXX at p stands for, or -1 when none stands there. */
static int32_t escaped_unit(const char *p, const char *end)
{
	int32_t unit = 0;

	if ((size_t)(end - p) < replacement.n || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (size_t i = 2; i < replacement.n; i++) {
		int digit = hex_value((unsigned char)p[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static bool is_high_half(int32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_half(int32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* The first half without its other half; NULL when there is none. No escape began before p. In JSON,
 * backslashes are in strings only, so those need not be told from the rest. */
static const char *find_half(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '\\', (size_t)(end - p)))) {
		int32_t unit = escaped_unit(p, end);
		bool high = is_high_half(unit);

		if (high && is_low_half(escaped_unit(p + replacement.n, end)))
			p += 2 * replacement.n;
		else if (high || is_low_half(unit))
			return p;
		else
			p += size_min(2, (size_t)(end - p));
	}
	return NULL;
}

bool json_mend_surrogates(struct str text, struct arena *arena, struct str *ret_text)
{
	const char *end = text.p + text.n, *half = find_half(text.p, end);
	char *mended;

	if (!half)
		return false;
	mended = arena_cstr(arena, text);
	for (; half; half = find_half(half + replacement.n, end))
		memcpy(mended + (half - text.p), replacement.p, replacement.n);
	*ret_text = str_make(mended, text.n);
	return true;
}

int json_check_foreign(struct str *text, const struct json_limits *limits, struct arena *arena,
		       struct err *err)
{
	int code = json_check(*text, limits, err);

	if (code == ERR_INVALID && json_mend_surrogates(*text, arena, text))
		code = json_check(*text, limits, err);
	return code;
}

int json_skim_foreign(struct str *text, const struct json_limits *limits, struct arena *arena,
		      struct json_member *ret_members, size_t room, size_t *ret_count, struct err *err)
{
	int code = json_skim(*text, limits, arena, ret_members, room, ret_count, err);

	if (code == ERR_INVALID && json_mend_surrogates(*text, arena, text))
		code = json_skim(*text, limits, arena, ret_members, room, ret_count, err);
	return code;
}

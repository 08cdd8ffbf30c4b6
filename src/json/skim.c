#include "base/base.h"
#include "json/json.h"

#include "json/grammar.h"
#include "json/scan.h"

static const char *check_value(struct scan *s, const char *p)
{
	return grammar_value(s, p, NULL);
}

int json_check(struct str text, const struct json_limits *limits, struct err *err)
{
	struct scan s;
	int code = scan_init(&s, text, limits, false, err);
	const char *p;

	if (code < 0)
		return code;
	p = check_value(&s, s.begin);
	return p && scan_end(&s, p) ? 0 : scan_error(&s, err);
}

/* A name without escapes stays where it is; another is decoded into the arena. `raw` ends before its closing
 * quote. */
static struct str decode_key(struct arena *arena, struct str raw)
{
	struct scan s = { .begin = raw.p, .end = raw.p + raw.n + 1 };
	struct copy c;
	char *p;

	if (str_find_char(raw, '\\') == STR_NONE)
		return raw;
	p = arena_alloc(arena, raw.n + 1 + SCAN_SLACK);
	c = scan_string(&s, (struct copy){ raw.p, p });
	BUG_ON(!c.in);
	*c.out = '\0';
	return str_make(p, (size_t)(c.out - p));
}

static enum json_type type_of(char first)
{
	switch (first) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
		return JSON_TRUE;
	case 'f':
		return JSON_FALSE;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

/* One member; p is at its name. */
static const char *skim_member(struct scan *s, const char *p, struct arena *arena,
			       struct json_member *ret_member)
{
	const char *name = p + 1, *value;

	p = grammar_key(s, p, NULL);
	if (!p)
		return NULL;
	/* The name ends at the last quote before the colon. */
	value = memrchr(name, '"', (size_t)(p - name));
	ret_member->key = decode_key(arena, str_make(name, (size_t)(value - name)));
	value = scan_blanks(s, p);
	p = check_value(s, value);
	if (!p)
		return NULL;
	ret_member->raw = str_make(value, (size_t)(p - value));
	ret_member->type = type_of(*value);
	return p;
}

struct skimmed {
	struct json_member *members;
	size_t count, room;
};

/* The members of the object whose opening brace is before p, and the brace that closes it. */
static const char *skim_members(struct scan *s, const char *p, struct arena *arena, struct skimmed *skimmed)
{
	p = scan_blanks(s, p);
	if (scan_peek(s, p) == '}')
		return p + 1;
	for (;;) {
		if (skimmed->count == skimmed->room)
			return scan_fail_limit(s, p, "members in one object", skimmed->room);
		p = skim_member(s, p, arena, &skimmed->members[skimmed->count]);
		if (!p)
			return NULL;
		skimmed->count++;
		p = scan_blanks(s, p);
		if (scan_peek(s, p) == '}')
			return p + 1;
		if (scan_peek(s, p) != ',')
			return scan_fail(s, p, "',' or '}' after a member");
		p = scan_blanks(s, p + 1);
	}
}

int json_skim(struct str text, const struct json_limits *limits, struct arena *arena,
	      struct json_member *ret_members, size_t room, size_t *ret_count, struct err *err)
{
	struct skimmed skimmed = { .members = ret_members, .room = room };
	struct scan s;
	int code = scan_init(&s, text, limits, false, err);
	const char *p;

	BUG_ON(room == 0);
	if (code < 0)
		return code;
	s.depth_outside = 1;
	p = scan_blanks(&s, s.begin);
	p = scan_peek(&s, p) == '{' ? skim_members(&s, p + 1, arena, &skimmed)
				    : scan_fail(&s, p, "an object");
	if (!p || !scan_end(&s, p))
		return scan_error(&s, err);
	*ret_count = skimmed.count;
	return 0;
}

const struct json_member *json_member_find(const struct json_member *members, size_t count, struct str key)
{
	while (count-- > 0)
		if (str_eq(members[count].key, key))
			return &members[count];
	return NULL;
}

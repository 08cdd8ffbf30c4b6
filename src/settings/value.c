#include "base/base.h"
#include "settings/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quote.h"
#include "base/units.h"

static const struct str null_word = STR_INIT("null");

static int expected(struct err *err, const char *what, struct str got)
{
	return err_set(err, ERR_INVALID, "expected %s, got %s", what, QUOTE(got));
}

static int parse_bool(struct setting_value *value, struct str text, struct err *err)
{
	static const struct str yes[] = { STR_INIT("true"), STR_INIT("yes"), STR_INIT("on"), STR_INIT("1") };
	static const struct str no[] = { STR_INIT("false"), STR_INIT("no"), STR_INIT("off"), STR_INIT("0") };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (!str_eq_ignoring_case(text, yes[i]) && !str_eq_ignoring_case(text, no[i]))
			continue;
		value->u.truth = str_eq_ignoring_case(text, yes[i]);
		value->text = value->u.truth ? STR("true") : STR("false");
		return 0;
	}
	return expected(err, "true or false", text);
}

static size_t digits_of(struct str text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9')
		n++;
	return n;
}

/* A number that no integer type holds, as it is written. */
static int out_of_range(const struct setting_declaration *d, struct str text, struct err *err)
{
	char storage[BYTE_SIZE_TEXT_MAX];
	bool negative = str_starts_with(text, STR("-"));
	int64_t bound = negative ? d->min : d->max;

	if (d->kind == SETTING_KIND_BYTES)
		byte_size_text(storage, (uint64_t)bound);
	else
		snprintf(storage, sizeof(storage), "%" PRId64, bound);
	return negative ? err_set(err, ERR_INVALID, "%s is too small; the least is %s", QUOTE(text), storage)
			: err_set(err, ERR_INVALID, "%s is too large; the most is %s", QUOTE(text), storage);
}

static int parse_int(struct setting_value *value, const struct setting_declaration *d, struct str text,
		     struct arena *arena, struct err *err)
{
	int64_t number;

	if (str_to_i64(text, &number) < 0) {
		struct str digits = str_from(text, str_starts_with(text, STR("-")) ? 1 : 0);

		if (digits.n == 0 || digits_of(digits) < digits.n)
			return expected(err, "an integer", text);
		return out_of_range(d, text, err);
	}
	if (number < d->min)
		return err_set(err, ERR_INVALID, "%" PRId64 " is too small; the least is %" PRId64, number,
			       d->min);
	if (number > d->max)
		return err_set(err, ERR_INVALID, "%" PRId64 " is too large; the most is %" PRId64, number,
			       d->max);
	value->u.number = number;
	value->text = arena_printf(arena, "%" PRId64, number);
	return 0;
}

static int parse_duration(struct setting_value *value, const struct setting_declaration *d, struct str text,
			  struct arena *arena, struct err *err)
{
	char storage[DURATION_TEXT_MAX], bound[DURATION_TEXT_MAX];
	uint64_t ms;
	int r = duration_parse(text, &ms, err);

	if (r < 0)
		return r;
	value->text = arena_copy(arena, duration_text(storage, ms));
	if (ms < (uint64_t)d->min)
		return err_set(err, ERR_INVALID, "%s is too short; the least is %s", value->text.p,
			       duration_text(bound, (uint64_t)d->min).p);
	if (ms > (uint64_t)d->max)
		return err_set(err, ERR_INVALID, "%s is too long; the most is %s", value->text.p,
			       duration_text(bound, (uint64_t)d->max).p);
	value->u.size = ms;
	return 0;
}

static int parse_bytes(struct setting_value *value, const struct setting_declaration *d, struct str text,
		       struct arena *arena, struct err *err)
{
	char storage[BYTE_SIZE_TEXT_MAX], bound[BYTE_SIZE_TEXT_MAX];
	uint64_t bytes;
	int r = byte_size_parse(text, &bytes, err);

	if (r < 0)
		return r;
	value->text = arena_copy(arena, byte_size_text(storage, bytes));
	if (bytes < (uint64_t)d->min)
		return err_set(err, ERR_INVALID, "%s is too small; the least is %s", value->text.p,
			       byte_size_text(bound, (uint64_t)d->min).p);
	if (bytes > (uint64_t)d->max)
		return err_set(err, ERR_INVALID, "%s is too large; the most is %s", value->text.p,
			       byte_size_text(bound, (uint64_t)d->max).p);
	value->u.size = bytes;
	return 0;
}

/* "a, b or c" */
static struct str choices_text(const struct setting_declaration *d, struct arena *arena)
{
	struct str all = d->choices.words[0];

	for (size_t i = 1; i < d->choices.count; i++)
		all = arena_concat(arena, all, i + 1 == d->choices.count ? STR(" or ") : STR(", "),
				   d->choices.words[i]);
	return all;
}

static int parse_enum(struct setting_value *value, const struct setting_declaration *d, struct str text,
		      struct arena *arena, struct err *err)
{
	struct str word = text;

	for (size_t i = 0; i + 1 < d->synonyms.count; i += 2)
		if (str_eq(d->synonyms.words[i], text))
			word = d->synonyms.words[i + 1];
	for (size_t i = 0; i < d->choices.count; i++)
		if (str_eq(d->choices.words[i], word)) {
			value->u.choice = (unsigned)i;
			value->text = d->choices.words[i];
			return 0;
		}
	return expected(err, arena_cstr(arena, choices_text(d, arena)), text);
}

static struct str item_text(struct str item)
{
	return item.p ? item : null_word;
}

void setting_value_of_items(struct setting_value *value, struct setting_items items, struct arena *arena)
{
	size_t length = 0, at = 0;
	char *text;

	for (size_t i = 0; i < items.count; i++)
		length += item_text(items.items[i]).n + 1;
	text = arena_zalloc(arena, length + 1);
	for (size_t i = 0; i < items.count; i++) {
		struct str item = item_text(items.items[i]);

		if (i > 0)
			text[at++] = ',';
		memcpy(text + at, item.p, item.n);
		at += item.n;
	}
	value->u.items = items;
	value->text = str_make(text, at);
}

/* Elements are trimmed and empty ones dropped, so that "" is the empty list and "a, b" has two elements. */
static void parse_list(struct setting_value *value, const struct setting_declaration *d, struct str text,
		       struct arena *arena)
{
	struct str rest = text, part;
	size_t room = 1, count = 0;
	struct str *items;

	for (size_t i = 0; i < text.n; i++)
		room += text.p[i] == ',';
	items = arena_array(arena, struct str, room);
	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (part.n == 0)
			continue;
		if (d->kind == SETTING_KIND_PATHS && str_eq(part, null_word))
			items[count++] = (struct str){ NULL, 0 };
		else
			items[count++] = arena_copy(arena, part);
	}
	setting_value_of_items(value, (struct setting_items){ items, count }, arena);
}

static int parse_text(struct setting_value *value, const struct setting_declaration *declaration,
		      struct str text, struct arena *arena, struct err *err)
{
	if (text.n > 0 && memchr(text.p, '\0', text.n))
		return err_set(err, ERR_INVALID, "a value cannot hold a NUL character");
	switch (declaration->kind) {
	case SETTING_KIND_BOOL:
		return parse_bool(value, text, err);
	case SETTING_KIND_INT:
		return parse_int(value, declaration, text, arena, err);
	case SETTING_KIND_DURATION:
		return parse_duration(value, declaration, text, arena, err);
	case SETTING_KIND_BYTES:
		return parse_bytes(value, declaration, text, arena, err);
	case SETTING_KIND_ENUM:
		return parse_enum(value, declaration, text, arena, err);
	case SETTING_KIND_LIST:
	case SETTING_KIND_PATHS:
		parse_list(value, declaration, text, arena);
		return 0;
	case SETTING_KIND_STRING:
		value->text = arena_copy(arena, text);
		return 0;
	}
	return err_set(err, ERR_INVALID, "unknown kind");
}

static int check_variable(struct str element, struct err *err)
{
	size_t equals = str_find_char(element, '=');

	if (equals == STR_NONE)
		return err_set(err, ERR_INVALID, "%s has no =: a variable is written NAME=VALUE",
			       QUOTE(element));
	if (equals == 0)
		return err_set(err, ERR_INVALID, "%s has no name: a variable is written NAME=VALUE",
			       QUOTE(element));
	return 0;
}

static int check_url_path(struct str path, struct err *err)
{
	if (!str_starts_with(path, STR("/")))
		return err_set(err, ERR_INVALID, "%s does not begin with /: a path such as /mcp is expected",
			       QUOTE(path));
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] <= ' ' || path.p[i] == '?' || path.p[i] == '#')
			return err_set(err, ERR_INVALID, "%s is no path: it holds a blank, a ? or a #",
				       QUOTE(path));
	return 0;
}

int setting_value_check(const struct setting_value *value, const struct setting_declaration *declaration,
			struct err *err)
{
	int r = 0;

	if (declaration->form == SETTING_FORM_URL_PATH)
		return check_url_path(value->text, err);
	if (declaration->form == SETTING_FORM_VARIABLES)
		for (size_t i = 0; i < value->u.items.count && r == 0; i++)
			r = check_variable(value->u.items.items[i], err);
	return r;
}

int setting_value_parse(struct setting_value *value, const struct setting_declaration *declaration,
			struct str text, struct arena *arena, struct err *err)
{
	int r = parse_text(value, declaration, text, arena, err);

	return r < 0 ? r : setting_value_check(value, declaration, err);
}

static const char *json_type_name(const struct json *json)
{
	static const char *const names[] = { "null",	 "false",    "true",	 "a number",
					     "a string", "an array", "an object" };

	return names[json_type(json)];
}

/* An array of strings and, in paths, nulls. */
static int items_from_json(struct setting_value *value, const struct setting_declaration *d,
			   const struct json *json, struct arena *arena, struct err *err)
{
	struct str *items = arena_array(arena, struct str, json_count(json) + 1);
	const struct json *item;
	size_t count = 0;

	json_for_each(item, json) {
		bool null = d->kind == SETTING_KIND_PATHS && json_is(item, JSON_NULL);

		if (!null && !json_is(item, JSON_STRING))
			return err_set(err, ERR_INVALID, "expected an array of strings%s, got %s in it",
				       d->kind == SETTING_KIND_PATHS ? " and nulls" : "",
				       json_type_name(item));
		if (!null && memchr(json_str(item).p, '\0', json_str(item).n))
			return err_set(err, ERR_INVALID, "a value cannot hold a NUL character");
		items[count++] = null ? (struct str){ NULL, 0 } : arena_copy(arena, json_str(item));
	}
	setting_value_of_items(value, (struct setting_items){ items, count }, arena);
	return 0;
}

/* What a JSON value of the wrong type is told. */
static const char *json_form(enum setting_kind kind)
{
	static const char *const forms[] = { "true or false",
					     "an integer",
					     "a duration such as \"1m30s\"",
					     "a size such as \"64KiB\" or a number of bytes",
					     "a string",
					     "an array of strings",
					     "an array of strings and nulls",
					     "a string" };

	return forms[kind];
}

/* The text that stands for a JSON scalar; .p NULL when its type does not fit the kind. A number is no
 * duration: of what unit? */
static struct str scalar_text(enum setting_kind kind, const struct json *json)
{
	switch (json_type(json)) {
	case JSON_TRUE:
	case JSON_FALSE:
		if (kind != SETTING_KIND_BOOL)
			break;
		return json_bool_or(json, false) ? STR("true") : STR("false");
	case JSON_NUMBER:
		if (kind != SETTING_KIND_INT && kind != SETTING_KIND_BYTES)
			break;
		return json_number_text(json);
	case JSON_STRING:
		return json_str(json);
	default:
		break;
	}
	return (struct str){ NULL, 0 };
}

int setting_value_from_json(struct setting_value *value, const struct setting_declaration *declaration,
			    const struct json *json, struct arena *arena, struct err *err)
{
	bool list = declaration->kind == SETTING_KIND_LIST || declaration->kind == SETTING_KIND_PATHS;
	int64_t number;
	struct str text;

	if (list && json_is(json, JSON_ARRAY))
		return items_from_json(value, declaration, json, arena, err);
	text = scalar_text(declaration->kind, json);
	if (!text.p)
		return err_set(err, ERR_INVALID, "expected %s, got %s", json_form(declaration->kind),
			       json_type_name(json));
	/* 3.0 and 3e0 are integers too. */
	if (json_is(json, JSON_NUMBER)) {
		int r = json_i64(json, &number);

		if (r == ERR_TOO_LARGE)
			return out_of_range(declaration, text, err);
		if (r == 0)
			text = arena_printf(arena, "%" PRId64, number);
	}
	return parse_text(value, declaration, text, arena, err);
}

struct setting_items setting_items_join(struct setting_items a, struct setting_items b, struct arena *arena)
{
	struct str *items;

	if (a.count == 0 || b.count == 0)
		return a.count == 0 ? b : a;
	items = arena_array(arena, struct str, a.count + b.count);
	memcpy(items, a.items, a.count * sizeof(*items));
	memcpy(items + a.count, b.items, b.count * sizeof(*items));
	return (struct setting_items){ items, a.count + b.count };
}

static struct setting_items items_copy(struct setting_items items, struct arena *arena)
{
	struct str *copy = arena_array(arena, struct str, items.count + 1);

	for (size_t i = 0; i < items.count; i++)
		copy[i] = items.items[i].p ? arena_copy(arena, items.items[i]) : items.items[i];
	return (struct setting_items){ copy, items.count };
}

struct setting_value setting_value_copy(const struct setting_value *value,
					const struct setting_declaration *declaration, struct arena *arena)
{
	struct setting_value copy = *value;

	copy.text = arena_copy(arena, value->text);
	if (declaration->kind == SETTING_KIND_LIST || declaration->kind == SETTING_KIND_PATHS)
		copy.u.items = items_copy(value->u.items, arena);
	return copy;
}

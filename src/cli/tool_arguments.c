#include "base/base.h"
#include "cli/tool_arguments.h"

#include "base/quote.h"
#include "cli/standard_input.h"
#include "cli/tool_schema.h"
#include "io/files.h"
#include "json/writer.h"
#include "text/utf8.h"

enum {
	NESTED_MAX = 32, /* objects within objects that one name may set: "a.b.c" sets two */
};

/* -- a value in the light of its schema ------------------------------------------------------------------ */

static const char *allowed_text(unsigned allows)
{
	if (allows & ALLOW_NUMBER)
		return "a number";
	if (allows & ALLOW_INTEGER)
		return "a whole number";
	if (allows & ALLOW_BOOLEAN)
		return "true or false";
	if (allows & ALLOW_ARRAY)
		return "a JSON array";
	if (allows & ALLOW_OBJECT)
		return "a JSON object";
	return "null";
}

/* What `text` is as JSON that the allowance has room for; 0: it is none. */
static unsigned json_allowed(struct str text, unsigned allows)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	if (json_parse(&doc, text, NULL, NULL) < 0)
		return 0;
	return json_allows(json_root(&doc)) & allows & ~(unsigned)ALLOW_TEXT;
}

struct argument_value {
	struct str name;   /* as it was typed: "filter.status" */
	struct str rest;   /* of the name, within the object that is being written */
	struct str member; /* the beginning of the rest that names a member of that object */
	struct str text;
	bool is_json; /* := */
};

struct argument_list {
	struct argument_value *values;
	size_t count;
};

struct writing {
	struct json_writer *w;
	const struct json *root; /* the tool's schema */
	struct arena *arena;
	unsigned depth; /* objects around the one that is being written */
};

static int write_typed(struct json_writer *w, const struct argument_value *value, unsigned allows,
		       struct err *err)
{
	if (value->is_json || json_allowed(value->text, allows)) {
		json_write_raw(w, str_trim(value->text));
		return 0;
	}
	if (allows & ALLOW_TEXT || allows == 0) {
		json_write_str(w, value->text);
		return 0;
	}
	return err_set(err, ERR_INVALID, "%.*s must be %s, and is %s; %.*s:=JSON would send any value",
		       STR_ARG(value->name), allowed_text(allows), QUOTE(value->text), STR_ARG(value->name));
}

/* All values of one name: one by itself, several and those for an array as an array. */
static int write_values(const struct writing *writing, const struct argument_list *list,
			const struct json *schema, struct err *err)
{
	const struct argument_value *first = &list->values[0];
	unsigned allows = tool_schema_allows(writing->root, schema);
	bool one_element = allows & ALLOW_ARRAY && !(allows & ALLOW_TEXT) && !first->is_json &&
			   !json_allowed(first->text, allows);
	int r = 0;

	if (list->count == 1 && !one_element)
		return write_typed(writing->w, first, allows, err);
	schema = json_get(tool_schema_follow(writing->root, schema), STR("items"));
	allows = tool_schema_allows(writing->root, schema);
	json_write_array_begin(writing->w);
	for (size_t i = 0; i < list->count && r == 0; i++)
		r = write_typed(writing->w, &list->values[i], allows, err);
	json_write_array_end(writing->w);
	return r;
}

/* -- objects --------------------------------------------------------------------------------------------- */

/* All of `rest`; or what is before a dot, where the schema has an object of that name and nothing that is
 * called as the whole. */
static struct str member_of(const struct writing *writing, const struct json *properties, struct str rest)
{
	if (json_get(properties, rest))
		return rest;
	for (size_t at = 1; at + 1 < rest.n; at++) {
		const struct json *property =
			rest.p[at] == '.' ? json_get(properties, str_slice(rest, 0, at)) : NULL;

		if (property && tool_schema_allows(writing->root, property) & ALLOW_OBJECT)
			return str_slice(rest, 0, at);
	}
	return rest;
}

static bool written_before(const struct argument_list *list, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(list->values[i].member, list->values[at].member))
			return true;
	return false;
}

/* Those of the list that name the same member as the one at `at`, and how many of them name a part of it. */
static struct argument_list same_member(const struct writing *writing, const struct argument_list *list,
					size_t at, size_t *ret_parts)
{
	struct str member = list->values[at].member;
	struct argument_list same = { .values = arena_array(writing->arena, struct argument_value,
							    list->count) };

	*ret_parts = 0;
	for (size_t i = at; i < list->count; i++) {
		const struct argument_value *value = &list->values[i];

		if (!str_eq(value->member, member))
			continue;
		same.values[same.count++] = *value;
		*ret_parts += value->rest.n > member.n;
	}
	return same;
}

static int write_object(const struct writing *writing, const struct argument_list *list,
			const struct json *schema, struct err *err);

static int write_parts(const struct writing *writing, const struct argument_list *list,
		       const struct json *schema, struct err *err)
{
	struct writing inner = *writing;

	if (++inner.depth > NESTED_MAX)
		return err_set(err, ERR_INVALID, "%s names more than %d objects within each other",
			       QUOTE(list->values[0].name), NESTED_MAX);
	for (size_t i = 0; i < list->count; i++) {
		struct argument_value *value = &list->values[i];

		value->rest = str_from(value->rest, value->member.n + 1);
	}
	return write_object(&inner, list, schema, err);
}

static int write_member(const struct writing *writing, const struct argument_list *list, size_t at,
			const struct json *properties, struct err *err)
{
	const struct argument_value *value = &list->values[at];
	const struct json *schema = json_get(properties, value->member);
	size_t parts;
	struct argument_list same = same_member(writing, list, at, &parts);

	if (parts > 0 && parts < same.count)
		return err_set(err, ERR_INVALID, "%.*s is given as a whole and in parts: give one of them",
			       STR_ARG(value->member));
	json_write_key(writing->w, value->member);
	return parts > 0 ? write_parts(writing, &same, schema, err)
			 : write_values(writing, &same, schema, err);
}

static int write_object(const struct writing *writing, const struct argument_list *list,
			const struct json *schema, struct err *err)
{
	const struct json *properties =
		json_get(tool_schema_follow(writing->root, schema), STR("properties"));
	int r = 0;

	for (size_t i = 0; i < list->count; i++)
		list->values[i].member = member_of(writing, properties, list->values[i].rest);
	json_write_object_begin(writing->w);
	for (size_t i = 0; i < list->count && r == 0; i++)
		if (!written_before(list, i))
			r = write_member(writing, list, i, properties, err);
	if (r == 0)
		json_write_object_end(writing->w);
	return r;
}

/* -- words ----------------------------------------------------------------------------------------------- */

static bool is_whole(struct str word)
{
	return str_eq(word, STR("-")) || str_starts_with(word, STR("@")) ||
	       str_starts_with(str_trim(word), STR("{"));
}

/* The separator: "=" or ":=", whichever comes first; a colon elsewhere is part of the name. */
static bool split_word(struct str word, struct argument_value *ret_value)
{
	size_t equals = str_find_char(word, '=');

	if (equals == STR_NONE || equals == 0)
		return false;
	ret_value->is_json = word.p[equals - 1] == ':';
	ret_value->name = str_slice(word, 0, equals - ret_value->is_json);
	ret_value->rest = ret_value->name;
	ret_value->text = str_from(word, equals + 1);
	return ret_value->name.n > 0;
}

bool tool_words_need_schema(const struct tool_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		struct argument_value value;

		if (!is_whole(str_of(words->words[i])) && split_word(str_of(words->words[i]), &value) &&
		    (!value.is_json || str_find_char(value.name, '.') != STR_NONE))
			return true;
	}
	return false;
}

/* -- files and standard input ---------------------------------------------------------------------------- */

/* The text that "-" or "@FILE" stands for. */
static int read_text(struct str word, size_t bytes_max, struct arena *arena, struct str *ret_text,
		     struct err *err)
{
	struct str text;
	int r;

	if (str_eq(word, STR("-")) || str_eq(word, STR("@-")))
		return standard_input_read(bytes_max, arena, ret_text, err);
	if (word.n == 1)
		return err_set(err, ERR_INVALID, "@ is not followed by the name of a file");
	r = file_read(arena_cstr(arena, str_from(word, 1)), bytes_max, &text, err);
	if (r < 0)
		return r;
	*ret_text = arena_copy(arena, text);
	free((char *)text.p);
	return 0;
}

static int whole_object(struct str word, size_t bytes_max, struct arena *arena, struct str *ret_object,
			struct err *err)
{
	struct str text = word;
	const char *where = "the arguments";
	int r = 0;

	if (!str_starts_with(str_trim(word), STR("{"))) {
		where = str_eq(word, STR("-")) ? "standard input" : arena_cstr(arena, str_from(word, 1));
		r = read_text(word, bytes_max, arena, &text, err);
	}
	if (r == 0 && (r = json_check_foreign(&text, NULL, arena, err)) < 0)
		return err_prefix(err, r, "%s: not valid JSON", where);
	if (r == 0 && !str_starts_with(str_trim(text), STR("{")))
		return err_set(err, ERR_INVALID, "%s: the arguments of a tool are a JSON object", where);
	if (r == 0)
		*ret_object = arena_copy(arena, str_trim(text));
	return r;
}

static int check_json_value(struct argument_value *value, size_t bytes_max, struct arena *arena,
			    struct err *err)
{
	struct str file = { NULL, 0 };
	int r = 0;

	if (!value->is_json)
		return 0;
	if (str_starts_with(value->text, STR("@"))) {
		file = str_from(value->text, 1);
		r = read_text(value->text, bytes_max, arena, &value->text, err);
	}
	if (r < 0 || (r = json_check_foreign(&value->text, NULL, arena, err)) == 0)
		return r;
	if (file.n)
		return err_prefix(err, r, "%.*s:=@%.*s: the file is not JSON", STR_ARG(value->name),
				  STR_ARG(file));
	return err_prefix(err, r, "%.*s:= is not followed by JSON", STR_ARG(value->name));
}

static int split_words(const struct tool_words *words, struct argument_list *list, size_t bytes_max,
		       struct arena *arena, struct err *err)
{
	list->values = arena_array(arena, struct argument_value, words->count + 1);
	list->count = words->count;
	for (size_t i = 0; i < words->count; i++) {
		struct str word = str_of(words->words[i]);
		int r;

		/* JSON cannot carry it, and what stands for it there would be another value. */
		if (!utf8_valid(word))
			return err_set(err, ERR_INVALID, "%s is not UTF-8, so no tool can be given it",
				       QUOTE(word));
		if (!split_word(word, &list->values[i]))
			return err_set(
				err, ERR_INVALID,
				"%s is no argument: write name=value, name:=JSON, or all arguments as one JSON object",
				QUOTE(word));
		r = check_json_value(&list->values[i], bytes_max, arena, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int tool_arguments(const struct tool_words *words, const struct json *schema, size_t bytes_max,
		   struct arena *arena, struct str *ret_object, struct err *err)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct argument_list list;
	struct json_writer w;
	struct writing writing = { .w = &w, .root = schema, .arena = arena };
	int r;

	if (words->count == 1 && is_whole(str_of(words->words[0])))
		return whole_object(str_of(words->words[0]), bytes_max, arena, ret_object, err);
	r = split_words(words, &list, bytes_max, arena, err);
	if (r < 0)
		return r;
	buf_init(&out, bytes_max);
	json_writer_init(&w, &out, false);
	r = write_object(&writing, &list, schema, err);
	if (r < 0)
		return r;
	if (buf_failed(&out))
		return err_set(err, ERR_TOO_LARGE, "the arguments are longer than %zu bytes", bytes_max);
	*ret_object = arena_copy(arena, buf_str(&out));
	return 0;
}

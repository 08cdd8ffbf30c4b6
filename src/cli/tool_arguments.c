#include "base/base.h"
#include "cli/tool_arguments.h"

#include "base/quote.h"
#include "cli/standard_input.h"
#include "io/files.h"
#include "json/writer.h"

enum {
	REFERENCES_MAX =
		16, /* of $ref and alternatives followed for one argument: schemas may turn in circles */
};

/* -- what a schema allows ------------------------------------------------------------------------------------------------- */

enum {
	ALLOW_TEXT = 1,
	ALLOW_INTEGER = 2,
	ALLOW_NUMBER = 4,
	ALLOW_BOOLEAN = 8,
	ALLOW_NULL = 16,
	ALLOW_ARRAY = 32,
	ALLOW_OBJECT = 64,
	ALLOW_ALL = 127
};

static unsigned type_allows(struct str name)
{
	static const struct {
		struct str name;
		unsigned allows;
	} types[] = {
		{ STR_INIT("string"), ALLOW_TEXT },
		{ STR_INIT("integer"), ALLOW_INTEGER },
		{ STR_INIT("number"), ALLOW_INTEGER | ALLOW_NUMBER },
		{ STR_INIT("boolean"), ALLOW_BOOLEAN },
		{ STR_INIT("null"), ALLOW_NULL },
		{ STR_INIT("array"), ALLOW_ARRAY },
		{ STR_INIT("object"), ALLOW_OBJECT },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eq(types[i].name, name))
			return types[i].allows;
	return 0;
}

/* What one value is, as an allowance: 1 is an integer, 1.5 a number. */
static unsigned value_allows(const struct json *value)
{
	int64_t integer;

	switch (json_type(value)) {
	case JSON_NULL:
		return ALLOW_NULL;
	case JSON_FALSE:
	case JSON_TRUE:
		return ALLOW_BOOLEAN;
	case JSON_NUMBER:
		return json_i64(value, &integer) == ERR_INVALID ? ALLOW_NUMBER : ALLOW_INTEGER;
	case JSON_STRING:
		return ALLOW_TEXT;
	case JSON_ARRAY:
		return ALLOW_ARRAY;
	case JSON_OBJECT:
		return ALLOW_OBJECT;
	}
	return 0;
}

static unsigned types_allow(const struct json *type)
{
	unsigned allows = 0;
	const struct json *each;

	if (json_type(type) == JSON_STRING)
		return type_allows(json_str(type));
	json_for_each(each, type)
		allows |= type_allows(json_str(each));
	return allows;
}

static unsigned values_allow(const struct json *values)
{
	unsigned allows = 0;
	const struct json *each;

	json_for_each(each, values)
		allows |= value_allows(each);
	return allows;
}

struct schema_walk {
	const struct json *root;
	unsigned left; /* steps that may still be made */
};

static unsigned schema_allows(struct schema_walk *walk, const struct json *schema);

static unsigned alternatives_allow(struct schema_walk *walk, const struct json *alternatives)
{
	unsigned allows = 0;
	const struct json *each;

	json_for_each(each, alternatives)
		allows |= schema_allows(walk, each);
	return allows;
}

/* A reference into the same document; another is not followed, and so allows all. */
static const struct json *referenced(const struct schema_walk *walk, const struct json *schema)
{
	struct str reference = json_str(json_get(schema, STR("$ref")));

	return str_starts_with(reference, STR("#/")) ? json_pointer(walk->root, str_from(reference, 1))
						     : NULL;
}

/* All that each of a schema's keywords allows. A schema that says nothing of types allows all. */
static unsigned schema_allows(struct schema_walk *walk, const struct json *schema)
{
	unsigned allows = ALLOW_ALL;
	const struct json *part;

	if (walk->left == 0 || json_type(schema) != JSON_OBJECT)
		return ALLOW_ALL;
	walk->left--;
	if ((part = json_get(schema, STR("type"))))
		allows &= types_allow(part);
	if ((part = json_get(schema, STR("enum"))))
		allows &= values_allow(part);
	if ((part = json_get(schema, STR("const"))))
		allows &= value_allows(part);
	if ((part = json_get(schema, STR("anyOf"))))
		allows &= alternatives_allow(walk, part);
	if ((part = json_get(schema, STR("oneOf"))))
		allows &= alternatives_allow(walk, part);
	json_for_each(part, json_get(schema, STR("allOf")))
		allows &= schema_allows(walk, part);
	if ((part = referenced(walk, schema)))
		allows &= schema_allows(walk, part);
	return allows;
}

static const struct json *follow(const struct schema_walk *walk, const struct json *schema)
{
	for (unsigned i = 0; i < REFERENCES_MAX; i++) {
		const struct json *target = referenced(walk, schema);

		if (!target)
			break;
		schema = target;
	}
	return schema;
}

/* -- a value in the light of its schema -------------------------------------------------------------------------------------- */

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
	return value_allows(json_root(&doc)) & allows & ~(unsigned)ALLOW_TEXT;
}

struct argument_value {
	struct str name;
	struct str text;
	bool is_json; /* := */
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

struct argument_list {
	struct argument_value *values;
	size_t count;
};

static size_t times_given(const struct argument_list *list, struct str name)
{
	size_t times = 0;

	for (size_t i = 0; i < list->count; i++)
		times += str_eq(list->values[i].name, name);
	return times;
}

static bool given_before(const struct argument_list *list, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(list->values[i].name, list->values[at].name))
			return true;
	return false;
}

static int write_list(struct json_writer *w, const struct argument_list *list, struct str name,
		      unsigned allows, struct err *err)
{
	int r = 0;

	json_write_array_begin(w);
	for (size_t i = 0; i < list->count && r == 0; i++)
		if (str_eq(list->values[i].name, name))
			r = write_typed(w, &list->values[i], allows, err);
	json_write_array_end(w);
	return r;
}

static int write_argument(struct json_writer *w, const struct argument_list *list, size_t at,
			  const struct json *schema, struct err *err)
{
	const struct argument_value *value = &list->values[at];
	struct schema_walk walk = { schema, REFERENCES_MAX };
	const struct json *property =
		json_get(json_get(follow(&walk, schema), STR("properties")), value->name);
	unsigned allows = schema_allows(&walk, property);
	bool one_element = allows & ALLOW_ARRAY && !(allows & ALLOW_TEXT) && !value->is_json &&
			   !json_allowed(value->text, allows);

	json_write_key(w, value->name);
	if (times_given(list, value->name) == 1 && !one_element)
		return write_typed(w, value, allows, err);
	walk.left = REFERENCES_MAX;
	return write_list(w, list, value->name,
			  schema_allows(&walk, json_get(follow(&walk, property), STR("items"))), err);
}

/* -- words --------------------------------------------------------------------------------------------------------------------- */

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
	ret_value->text = str_from(word, equals + 1);
	return ret_value->name.n > 0;
}

bool tool_words_need_schema(const struct tool_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		struct argument_value value;

		if (!is_whole(str_of(words->words[i])) && split_word(str_of(words->words[i]), &value) &&
		    !value.is_json)
			return true;
	}
	return false;
}

/* -- files and standard input ---------------------------------------------------------------------------------------------------- */

/* The text that "-" or "@FILE" stands for. */
static int read_text(struct str word, size_t bytes_max, struct arena *arena, struct str *ret_text,
		     struct err *err)
{
	struct str text;
	int r;

	if (str_eq(word, STR("-")) || str_eq(word, STR("@-")))
		return standard_input_read(bytes_max, arena, ret_text, err);
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
	_cleanup_json_ struct json_doc doc = { 0 };
	struct str text = word;
	const char *where = "the arguments";
	int r = 0;

	if (!str_starts_with(str_trim(word), STR("{"))) {
		where = str_eq(word, STR("-")) ? "standard input" : arena_cstr(arena, str_from(word, 1));
		r = read_text(word, bytes_max, arena, &text, err);
	}
	if (r == 0 && (r = json_parse(&doc, text, NULL, err)) < 0)
		return err_prefix(err, r, "%s: not valid JSON", where);
	if (r == 0 && json_type(json_root(&doc)) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "%s: the arguments of a tool are a JSON object", where);
	if (r == 0)
		*ret_object = arena_copy(arena, str_trim(text));
	return r;
}

static int check_json_value(struct argument_value *value, size_t bytes_max, struct arena *arena,
			    struct err *err)
{
	int r = 0;

	if (!value->is_json)
		return 0;
	if (str_starts_with(value->text, STR("@")))
		r = read_text(value->text, bytes_max, arena, &value->text, err);
	if (r == 0 && (r = json_check(value->text, NULL, err)) < 0)
		return err_prefix(err, r, "%.*s:= is not followed by JSON", STR_ARG(value->name));
	return r;
}

static int split_words(const struct tool_words *words, struct argument_list *list, size_t bytes_max,
		       struct arena *arena, struct err *err)
{
	list->values = arena_array(arena, struct argument_value, words->count + 1);
	list->count = words->count;
	for (size_t i = 0; i < words->count; i++) {
		struct str word = str_of(words->words[i]);
		int r;

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
	int r;

	if (words->count == 1 && is_whole(str_of(words->words[0])))
		return whole_object(str_of(words->words[0]), bytes_max, arena, ret_object, err);
	r = split_words(words, &list, bytes_max, arena, err);
	if (r < 0)
		return r;
	buf_init(&out, bytes_max);
	json_writer_init(&w, &out, false);
	json_write_object_begin(&w);
	for (size_t i = 0; i < list.count && r == 0; i++)
		if (!given_before(&list, i))
			r = write_argument(&w, &list, i, schema, err);
	if (r < 0)
		return r;
	json_write_object_end(&w);
	if (buf_failed(&out))
		return err_set(err, ERR_TOO_LARGE, "the arguments are longer than %zu bytes", bytes_max);
	*ret_object = arena_copy(arena, buf_str(&out));
	return 0;
}

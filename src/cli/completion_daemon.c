/* Values that only the daemon knows. It is asked for one document at most, which is read for what the current
 * word needs. */
#include "base/base.h"
#include "cli/completion.h"

#include "cli/completion_private.h"
#include "cli/tool_name.h"
#include "json/json.h"
#include "text/percent.h"

enum {
	SCHEMA_DEPTH_MAX =
		8, /* references and alternatives that are followed on the way to a property's values */
	TARGET_MAX = 4096 /* bytes of a request's target */
};

static bool ask(struct completion *completion, struct str target, struct json_doc *doc)
{
	const struct completion_context *context = completion->context;
	struct str text = context->ask ? context->ask(context->owner, target) : str_make(NULL, 0);

	return text.n && json_parse(doc, text, NULL, NULL) == 0;
}

/* -- namespaces and tools -------------------------------------------------------------------------------- */

static void add_namespaces(struct completion *completion, bool open)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *row;

	if (!ask(completion, STR("/v1/namespaces"), &doc))
		return;
	json_for_each(row, json_root(&doc)) {
		struct str name = json_str(json_get(row, STR("namespace")));
		struct str note = json_str(json_get(row, STR("description")));

		if (!name.n)
			continue;
		if (open)
			completion_add_open(completion,
					    arena_concat(completion->context->arena, name, STR("."), STR("")),
					    note);
		else
			completion_add(completion, name, note);
	}
}

void completion_add_namespaces(struct completion *completion)
{
	add_namespaces(completion, false);
}

static bool ask_tools(struct completion *completion, struct str namespace, struct json_doc *doc)
{
	_cleanup_buf_ struct buf target = { 0 };

	buf_init(&target, TARGET_MAX);
	buf_append(&target, STR("/v1/tools?ns="));
	percent_encode(&target, namespace);
	return !buf_failed(&target) && ask(completion, buf_str(&target), doc);
}

/* "files." and "files.read": a namespace first, then its tools, so that one server's hundreds hide no
 * other. */
void completion_add_tools(struct completion *completion)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	size_t dot = str_find_char(completion->text, '.');
	const struct json *row;

	if (dot == STR_NONE) {
		add_namespaces(completion, true);
		return;
	}
	if (!ask_tools(completion, str_slice(completion->text, 0, dot), &doc))
		return;
	completion_advance(completion, dot + 1);
	json_for_each(row, json_root(&doc))
		completion_add(completion, tool_name(row), json_str(json_get(row, STR("description"))));
}

void completion_add_types(struct completion *completion)
{
	if (str_find_char(completion->text, '.') == STR_NONE)
		add_namespaces(completion, false);
	else
		completion_add_tools(completion);
}

/* -- arguments of a tool --------------------------------------------------------------------------------- */

/* The schema that a local reference leads to; others are left alone, with nothing to offer. */
static const struct json *follow(const struct json *root, const struct json *schema)
{
	struct str reference = json_str(json_get(schema, STR("$ref")));

	if (!reference.n || reference.p[0] != '#')
		return schema;
	return json_pointer(root, str_from(reference, 1));
}

static void add_value(struct completion *completion, const struct json *value)
{
	if (json_is(value, JSON_STRING))
		completion_add(completion, json_str(value), str_make(NULL, 0));
	else if (json_is(value, JSON_NUMBER))
		completion_add(completion, json_number_text(value), str_make(NULL, 0));
	else if (json_is_bool(value))
		completion_add(completion, json_bool_or(value, false) ? STR("true") : STR("false"),
			       str_make(NULL, 0));
}

/* The values that a schema enumerates, in whichever of the usual ways. */
static void add_values(struct completion *completion, const struct json *root, const struct json *schema,
		       unsigned depth)
{
	const struct json *item;

	if (depth == 0)
		return;
	schema = follow(root, schema);
	json_for_each(item, json_get(schema, STR("enum")))
		add_value(completion, item);
	add_value(completion, json_get(schema, STR("const")));
	if (str_eq(json_str(json_get(schema, STR("type"))), STR("boolean")))
		completion_add_truth(completion);
	json_for_each(item, json_get(schema, STR("anyOf")))
		add_values(completion, root, item, depth - 1);
	json_for_each(item, json_get(schema, STR("oneOf")))
		add_values(completion, root, item, depth - 1);
	if (json_get(schema, STR("items")))
		add_values(completion, root, json_get(schema, STR("items")), depth - 1);
}

/* Whether "key=" stands on the line already. A list may be given element by element. */
static bool is_given(const struct completion *completion, struct str key, const struct json *schema)
{
	const struct completion_line *line = completion->line;

	if (str_eq(json_str(json_get(schema, STR("type"))), STR("array")))
		return false;
	for (size_t i = completion->place.after_first; i < line->count; i++) {
		struct str word = line->words[i];

		if (str_starts_with(word, key) && (str_starts_with(str_from(word, key.n), STR("=")) ||
						   str_starts_with(str_from(word, key.n), STR(":="))))
			return true;
	}
	return false;
}

static bool is_required(const struct json *schema, struct str key)
{
	const struct json *item;

	json_for_each(item, json_get(schema, STR("required")))
		if (str_eq(json_str(item), key))
			return true;
	return false;
}

static void add_keys(struct completion *completion, const struct json *schema)
{
	struct arena *arena = completion->context->arena;
	const struct json *key, *property;

	json_for_each_member(key, property, json_get(schema, STR("properties"))) {
		struct str name = json_str(key);
		struct str note = json_str(json_get(follow(schema, property), STR("description")));

		if (is_given(completion, name, follow(schema, property)))
			continue;
		if (is_required(schema, name))
			note = arena_concat(arena, STR("required"), note.n ? STR(": ") : STR(""), note);
		completion_add_open(completion, arena_concat(arena, name, STR("="), STR("")), note);
	}
}

static const struct json *find_tool(const struct json *rows, struct str tool)
{
	const struct json *row;

	json_for_each(row, rows)
		if (str_eq(json_str(json_get(row, STR("tool"))), tool) ||
		    str_eq(json_str(json_get(row, STR("function"))), tool))
			return row;
	return NULL;
}

static void add_of_schema(struct completion *completion, const struct json *schema)
{
	size_t equals = str_find_char(completion->text, '=');
	struct str key = str_slice(completion->text, 0, equals);

	if (equals == STR_NONE) {
		add_keys(completion, schema);
		return;
	}
	completion_advance(completion, equals + 1);
	add_values(completion, schema, json_get(json_get(schema, STR("properties")), key), SCHEMA_DEPTH_MAX);
}

/* Where the value of "name:=value" begins; 0 when it is none. */
static size_t json_value_at(struct str text)
{
	size_t equals = str_find_char(text, '=');

	return equals != STR_NONE && equals > 0 && text.p[equals - 1] == ':' ? equals + 1 : 0;
}

/* "name=value", "name:=JSON", "name:=@FILE", "@FILE" */
void completion_add_arguments(struct completion *completion)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	struct str tool = completion->place.first;
	size_t dot = str_find_char(tool, '.');
	size_t json = json_value_at(completion->text);

	if (str_starts_with(str_from(completion->text, json), STR("@"))) {
		completion_advance(completion, json + 1);
		completion_expect_file(completion);
		return;
	}
	if (json || dot == STR_NONE || !ask_tools(completion, str_slice(tool, 0, dot), &doc))
		return;
	add_of_schema(completion,
		      json_get(find_tool(json_root(&doc), str_from(tool, dot + 1)), STR("inputSchema")));
}

/* -- artifacts ------------------------------------------------------------------------------------------- */

void completion_add_artifacts(struct completion *completion)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *row;

	if (!ask(completion, STR("/v1/artifacts"), &doc))
		return;
	json_for_each(row, json_get(json_root(&doc), STR("artifacts")))
		completion_add(completion, json_str(json_get(row, STR("id"))),
			       json_str(json_get(row, STR("name"))));
}

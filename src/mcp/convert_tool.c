/*
 * Strict clients check each Tool of a list against the schema of their revision, and one that fails costs
 * them the whole list. So what such a client would not take is brought into its nearest right form, or left
 * out when it has none: it was of no use to anybody.
 */
#include "base/base.h"
#include "mcp/convert.h"

#include "json/writer.h"
#include "mcp/tool_schema.h"

/* -- whether a member is right --------------------------------------------------------------------------- */

static bool is_string(const struct json *value, enum mcp_revision revision)
{
	(void)revision;
	return json_is(value, JSON_STRING);
}

static bool is_object(const struct json *value, enum mcp_revision revision)
{
	(void)revision;
	return json_is(value, JSON_OBJECT);
}

static bool absent_or(const struct json *object, struct str key, enum json_type type)
{
	const struct json *value = json_get(object, key);

	return !value || json_is(value, type);
}

static bool is_strings(const struct json *value)
{
	const struct json *item;

	json_for_each(item, value)
		if (!json_is(item, JSON_STRING))
			return false;
	return json_is(value, JSON_ARRAY);
}

static bool all_objects(const struct json *properties)
{
	const struct json *key, *value;

	json_for_each_member(key, value, properties)
		if (!json_is(value, JSON_OBJECT))
			return false;
	return json_is(properties, JSON_OBJECT);
}

/* The root of a tool's schema: an object that says so, and whose properties and required names are such. */
static bool root_fits(const struct json *schema)
{
	const struct json *properties = json_get(schema, STR("properties"));
	const struct json *required = json_get(schema, STR("required"));

	return str_eq(json_str(json_get(schema, STR("type"))), STR("object")) &&
	       (!properties || all_objects(properties)) && (!required || is_strings(required));
}

static bool input_fits(const struct json *value, enum mcp_revision revision)
{
	(void)revision;
	return root_fits(value);
}

/* Any schema describes the output since 2026-07-28; before, an object's. */
static bool output_fits(const struct json *value, enum mcp_revision revision)
{
	return json_is(value, JSON_OBJECT) &&
	       (mcp_has(revision, MCP_HAS_ANY_STRUCTURED) || root_fits(value)) && mcp_schema_compiles(value);
}

static bool is_word(const struct json *value, const struct str *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(json_str(value), words[i]))
			return true;
	return !value;
}

static bool icon_fits(const struct json *icon)
{
	static const struct str themes[] = { STR_INIT("light"), STR_INIT("dark") };
	const struct json *sizes = json_get(icon, STR("sizes"));

	return json_is(json_get(icon, STR("src")), JSON_STRING) &&
	       absent_or(icon, STR("mimeType"), JSON_STRING) && (!sizes || is_strings(sizes)) &&
	       is_word(json_get(icon, STR("theme")), themes, ARRAY_LEN(themes));
}

static bool icons_fit(const struct json *value, enum mcp_revision revision)
{
	const struct json *icon;

	(void)revision;
	json_for_each(icon, value)
		if (!icon_fits(icon))
			return false;
	return json_is(value, JSON_ARRAY);
}

static const struct str hints[] = { STR_INIT("readOnlyHint"), STR_INIT("destructiveHint"),
				    STR_INIT("idempotentHint"), STR_INIT("openWorldHint") };

static bool annotation_fits(struct str key, const struct json *value)
{
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (str_eq(key, hints[i]))
			return json_is_bool(value);
	return !str_eq(key, STR("title")) || json_is(value, JSON_STRING);
}

static bool annotations_fit(const struct json *value, enum mcp_revision revision)
{
	const struct json *key, *hint;

	(void)revision;
	json_for_each_member(key, hint, value)
		if (!annotation_fits(json_str(key), hint))
			return false;
	return json_is(value, JSON_OBJECT);
}

/* "required" makes clients refuse the tool; we offer no tasks, and servers that know them take calls
 * without. */
static bool execution_fits(const struct json *value, enum mcp_revision revision)
{
	static const struct str words[] = { STR_INIT("optional"), STR_INIT("forbidden") };

	(void)revision;
	return json_is(value, JSON_OBJECT) &&
	       is_word(json_get(value, STR("taskSupport")), words, ARRAY_LEN(words));
}

/* -- its nearest right form ------------------------------------------------------------------------------ */

/* As a schema, `true` is {} and `false` is what nothing fits; anything else says nothing. */
static void write_properties(struct json_writer *w, const struct json *properties)
{
	const struct json *key, *value;

	json_write_object_begin(w);
	json_for_each_member(key, value, properties) {
		json_write_key(w, json_str(key));
		if (json_is(value, JSON_OBJECT))
			json_write_value(w, value);
		else
			json_write_raw(w, json_is(value, JSON_FALSE) ? STR("{\"not\":{}}") : STR("{}"));
	}
	json_write_object_end(w);
}

static void write_root_member(struct json_writer *w, struct str key, const struct json *value)
{
	if (str_eq(key, STR("properties"))) {
		if (!json_is(value, JSON_OBJECT))
			return;
		json_write_key(w, key);
		write_properties(w, value);
	} else if (!str_eq(key, STR("type")) && (!str_eq(key, STR("required")) || is_strings(value))) {
		json_member_value(w, key, value);
	}
}

static void write_input(struct json_writer *w, const struct json *schema)
{
	const struct json *key, *value;

	json_write_object_begin(w);
	json_member_str(w, STR("type"), STR("object"));
	json_for_each_member(key, value, schema)
		write_root_member(w, json_str(key), value);
	json_write_object_end(w);
}

static void write_icons(struct json_writer *w, const struct json *icons)
{
	const struct json *icon;

	json_write_array_begin(w);
	json_for_each(icon, icons)
		if (icon_fits(icon))
			json_write_value(w, icon);
	json_write_array_end(w);
}

static void write_annotations(struct json_writer *w, const struct json *annotations)
{
	const struct json *key, *value;

	json_write_object_begin(w);
	json_for_each_member(key, value, annotations)
		if (annotation_fits(json_str(key), value))
			json_member_value(w, json_str(key), value);
	json_write_object_end(w);
}

/* -- tools ----------------------------------------------------------------------------------------------- */

static const struct tool_member {
	struct str key;
	bool (*fits)(const struct json *value, enum mcp_revision revision);
	void (*write)(struct json_writer *w,
		      const struct json *value); /* NULL: one that does not fit is left out */
} tool_members[] = {
	{ STR_INIT("title"), is_string, NULL },
	{ STR_INIT("description"), is_string, NULL },
	{ STR_INIT("inputSchema"), input_fits, write_input },
	{ STR_INIT("outputSchema"), output_fits, NULL },
	{ STR_INIT("icons"), icons_fit, write_icons },
	{ STR_INIT("annotations"), annotations_fit, write_annotations },
	{ STR_INIT("execution"), execution_fits, NULL },
	{ STR_INIT("_meta"), is_object, NULL },
};

static const struct tool_member *misfit(struct str key, const struct json *value, enum mcp_revision revision)
{
	for (size_t i = 0; i < ARRAY_LEN(tool_members); i++)
		if (str_eq(key, tool_members[i].key))
			return tool_members[i].fits(value, revision) ? NULL : &tool_members[i];
	return NULL;
}

static bool tool_fits(const struct json *tool, enum mcp_revision revision)
{
	const struct json *key, *value;

	json_for_each_member(key, value, tool)
		if (misfit(json_str(key), value, revision))
			return false;
	return json_get(tool, STR("inputSchema"));
}

static void write_tool(struct json_writer *w, const struct json *tool, enum mcp_revision revision)
{
	const struct json *key, *value;

	json_write_object_begin(w);
	json_for_each_member(key, value, tool) {
		const struct tool_member *odd = misfit(json_str(key), value, revision);

		if (!odd) {
			json_member_value(w, json_str(key), value);
		} else if (odd->write) {
			json_write_key(w, odd->key);
			odd->write(w, value);
		}
	}
	if (!json_get(tool, STR("inputSchema")))
		json_member_raw(w, STR("inputSchema"), STR("{\"type\":\"object\"}"));
	json_write_object_end(w);
}

struct str mcp_convert_tool(struct str tool, enum mcp_revision revision, struct arena *arena)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	if (json_parse(&doc, tool, NULL, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT) ||
	    tool_fits(json_root(&doc), revision))
		return tool;
	buf_init(&out, JSON_BYTES_MAX);
	json_writer_init(&w, &out, false);
	write_tool(&w, json_root(&doc), revision);
	return buf_failed(&out) ? tool : arena_copy(arena, buf_str(&out));
}

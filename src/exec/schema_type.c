/*
 * A type is put together from parts that a value must all satisfy (its own type, each of allOf, the union of
 * anyOf ...); parts that say nothing are left out, and what is left is joined by "&".
 */
#include "base/base.h"
#include "exec/schema_type.h"
#include "base/map.h"
#include "json/writer.h"
#include "text/identifier.h"
#include "text/percent.h"

/* Against schemas that nobody could read anyway. */
enum {
	TYPE_DEPTH_MAX = 24,
	TYPE_BYTES_MAX = 256 * 1024, /* of all texts for one tool */
	ALIASES_MAX = 256,	     /* definitions of one tool */
	ALIAS_NAME_MAX = 100,	     /* bytes of a definition's name; a longer one is cut */
	PARTS_MAX = 64,	      /* of one union or intersection; more of either is cut off with `unknown` */
	MEMBERS_MAX = 1000,   /* of one object; more are `unknown` by any name */
	REFERENCES_MAX = 16,  /* that lead to nothing but each other */
	LINE_MAX_BYTES = 100, /* of an object type without comments that stays on one line */
};

/* What must be put in parentheses inside what. */
enum binding { BINDS_ATOM, BINDS_INTERSECTION, BINDS_UNION };

struct type {
	struct str text;
	enum binding binding;
};

struct parts {
	struct type at[PARTS_MAX];
	size_t count;
};

static const struct type type_unknown = { STR_INIT("unknown"), BINDS_ATOM };

static struct type type_of(struct schema_types *types, const struct json *root, const struct json *schema,
			   unsigned indent, unsigned depth);

static struct type atom(struct str text)
{
	return (struct type){ text, BINDS_ATOM };
}

static bool is_unknown(struct type type)
{
	return str_eq(type.text, type_unknown.text);
}

static void add_part(struct parts *parts, struct type type)
{
	for (size_t i = 0; i < parts->count; i++)
		if (str_eq(parts->at[i].text, type.text))
			return;
	if (parts->count < PARTS_MAX)
		parts->at[parts->count++] = type;
}

/* The text with parentheses where `binding` needs them. */
static void append_within(struct buf *out, struct type type, enum binding binding)
{
	if (type.binding > binding)
		buf_append_char(out, '(');
	buf_append(out, type.text);
	if (type.binding > binding)
		buf_append_char(out, ')');
}

/* A type that is too long, be it for the words of its comments, is `unknown`. */
static struct str keep(struct schema_types *types, struct buf *text)
{
	struct str kept = buf_failed(text) ? type_unknown.text : arena_copy(types->arena, buf_str(text));

	types->bytes += buf_failed(text) ? TYPE_BYTES_MAX : kept.n;
	buf_release(text);
	return kept;
}

static struct type join(struct schema_types *types, const struct parts *parts, enum binding binding)
{
	struct buf text;

	if (parts->count == 1)
		return parts->at[0];
	buf_init(&text, TYPE_BYTES_MAX);
	for (size_t i = 0; i < parts->count; i++) {
		if (i)
			buf_append(&text, binding == BINDS_UNION ? STR(" | ") : STR(" & "));
		append_within(&text, parts->at[i], binding == BINDS_UNION ? BINDS_INTERSECTION : BINDS_ATOM);
	}
	return (struct type){ keep(types, &text), binding };
}

/* What takes anything takes all of the union. */
static struct type join_union(struct schema_types *types, const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (is_unknown(parts->at[i]))
			return type_unknown;
	return parts->count ? join(types, parts, BINDS_UNION) : type_unknown;
}

static struct type join_intersection(struct schema_types *types, const struct parts *parts)
{
	struct parts saying = { .count = 0 };

	for (size_t i = 0; i < parts->count; i++)
		if (!is_unknown(parts->at[i]))
			add_part(&saying, parts->at[i]);
	return saying.count ? join(types, &saying, BINDS_INTERSECTION) : type_unknown;
}

/* -- comments and names ---------------------------------------------------------------------------------- */

void schema_indent(struct buf *out, unsigned indent)
{
	while (indent-- > 0)
		buf_append_char(out, '\t');
}

/* One line of a comment. What terminals act on is left out, and the end of a comment in what is left is
 * split: what would stand behind it would be code of whoever imports the client. */
static void append_comment_line(struct buf *out, struct str line)
{
	char last = '\0';

	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if ((unsigned char)c < ' ' && c != '\t')
			continue;
		if (c == '/' && last == '*')
			buf_append_char(out, '\\');
		buf_append_char(out, c);
		last = c;
	}
}

static struct str value_text(struct arena *arena, const struct json *value)
{
	_cleanup_buf_ struct buf text = { .max = TYPE_BYTES_MAX };
	struct json_writer w;

	json_writer_init(&w, &text, false);
	json_write_value(&w, value);
	return buf_failed(&text) ? type_unknown.text : arena_copy(arena, buf_str(&text));
}

/* What stands between a description and more of it. */
static const char *comment_joint(struct str text)
{
	if (!text.n)
		return "";
	if (str_find_char(text, '\n') != STR_NONE)
		return "\n";
	return text.p[text.n - 1] == '.' ? " " : ". ";
}

void schema_write_comment(struct buf *out, struct str description, const struct json *schema, unsigned indent)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const struct json *otherwise = json_get(schema, STR("default"));
	struct str rest = str_trim(description), line;
	bool several;

	arena_init(&arena, 0);
	if (otherwise)
		rest = arena_printf(&arena, "%.*s%sDefault: %.*s", STR_ARG(rest), comment_joint(rest),
				    STR_ARG(value_text(&arena, otherwise)));
	if (json_bool_or(json_get(schema, STR("deprecated")), false))
		rest = arena_concat(&arena, rest, rest.n ? STR("\n@deprecated") : STR("@deprecated"),
				    STR(""));
	if (!rest.n)
		return;
	several = str_find_char(rest, '\n') != STR_NONE;
	schema_indent(out, indent);
	buf_append(out, several ? STR("/**\n") : STR("/** "));
	while (str_split(&rest, '\n', &line)) {
		if (several) {
			schema_indent(out, indent);
			buf_append(out, str_trim(line).n ? STR(" * ") : STR(" *"));
		}
		append_comment_line(out, str_trim(line).n ? line : STR(""));
		if (several)
			buf_append_char(out, '\n');
	}
	if (several)
		schema_indent(out, indent);
	buf_append(out, STR(" */\n"));
}

void schema_write_name(struct buf *out, struct str name)
{
	if (identifier_well_formed(name))
		buf_append(out, name);
	else
		json_quote(out, name);
}

/* -- references ------------------------------------------------------------------------------------------ */

static const struct json *resolve(const struct json *root, struct str reference)
{
	_cleanup_free_ char *pointer = NULL;
	size_t n;

	if (!str_starts_with(reference, STR("#")))
		return NULL;
	pointer = xmalloc(reference.n + 1);
	if (percent_decode_into(pointer, str_from(reference, 1), 0, &n, NULL) < 0)
		return NULL;
	return json_pointer(root, str_make(pointer, n));
}

static bool name_taken(const struct schema_types *types, struct str name)
{
	for (size_t i = 0; i < types->alias_count; i++)
		if (str_eq(types->aliases[i].name, name))
			return true;
	return false;
}

/* "files$read$Node" for #/$defs/Node; "$2" and so on behind it when another definition has that name. */
static struct str alias_name(struct schema_types *types, struct str reference)
{
	struct str last = str_from(reference, str_find_last_char(reference, '/') + 1);
	struct str name;

	if (str_find_char(reference, '/') == STR_NONE)
		last = STR("Root");
	last = str_slice(last, 0, ALIAS_NAME_MAX);
	name = arena_concat(types->arena, types->prefix, identifier_of(types->arena, last, IDENTIFIER_TOOL),
			    STR(""));
	for (unsigned n = 2; name_taken(types, name); n++)
		name = arena_printf(types->arena, "%.*s%.*s$%u", STR_ARG(types->prefix),
				    STR_ARG(identifier_of(types->arena, last, IDENTIFIER_TOOL)), n);
	return name;
}

static bool is_only_reference(const struct json *schema)
{
	return json_is(json_get(schema, STR("$ref")), JSON_STRING) && json_count(schema) == 1;
}

static struct type type_of_reference(struct schema_types *types, const struct json *root,
				     struct str reference)
{
	const struct json *target = resolve(root, reference);

	/* References that only lead on are followed to where something is said. */
	for (unsigned i = 0; target && is_only_reference(target); i++) {
		if (i == REFERENCES_MAX)
			return type_unknown;
		reference = json_str(json_get(target, STR("$ref")));
		target = resolve(root, reference);
	}
	if (!json_is(target, JSON_OBJECT))
		return json_is(target, JSON_FALSE) ? atom(STR("never")) : type_unknown;
	for (size_t i = 0; i < types->alias_count; i++)
		if (types->aliases[i].target == target)
			return atom(types->aliases[i].name);
	if (types->alias_count == ALIASES_MAX)
		return type_unknown;
	types->aliases[types->alias_count] =
		(struct schema_alias){ root, target, alias_name(types, reference) };
	return atom(types->aliases[types->alias_count++].name);
}

/* -- values, arrays -------------------------------------------------------------------------------------- */

static struct type type_of_value(struct schema_types *types, const struct json *value)
{
	switch (json_type(value)) {
	case JSON_ARRAY:
	case JSON_OBJECT:
		return type_unknown;
	case JSON_NUMBER:
		/* A number that TypeScript would round is any number. */
		return json_number_text(value).n > 15 ? atom(STR("number"))
						      : atom(value_text(types->arena, value));
	default:
		return atom(value_text(types->arena, value));
	}
}

static struct type type_of_enum(struct schema_types *types, const struct json *values)
{
	struct parts parts = { .count = 0 };
	const struct json *value;

	json_for_each(value, values)
		add_part(&parts, type_of_value(types, value));
	return join_union(types, &parts);
}

static struct type type_of_tuple(struct schema_types *types, const struct json *root,
				 const struct json *schema, const struct json *first, unsigned indent,
				 unsigned depth)
{
	const struct json *rest = json_get(schema, STR("items")), *item;
	uint64_t minimum = 0;
	struct buf text;
	size_t at = 0;

	if (rest == first)
		rest = json_get(schema, STR("additionalItems"));
	(void)json_u64(json_get(schema, STR("minItems")), &minimum);
	buf_init(&text, TYPE_BYTES_MAX);
	buf_append_char(&text, '[');
	json_for_each(item, first) {
		struct type type = type_of(types, root, item, indent, depth);

		if (at)
			buf_append(&text, STR(", "));
		append_within(&text, type, at < minimum ? BINDS_UNION : BINDS_ATOM);
		if (at++ >= minimum)
			buf_append_char(&text, '?');
	}
	if (!json_is(rest, JSON_FALSE)) {
		buf_append(&text, at ? STR(", ...") : STR("..."));
		append_within(&text, type_of(types, root, rest, indent, depth), BINDS_ATOM);
		buf_append(&text, STR("[]"));
	}
	buf_append_char(&text, ']');
	return atom(keep(types, &text));
}

static struct type type_of_array(struct schema_types *types, const struct json *root,
				 const struct json *schema, unsigned indent, unsigned depth)
{
	const struct json *items = json_get(schema, STR("items"));
	const struct json *first = json_get(schema, STR("prefixItems"));
	struct buf text;

	if (!json_is(first, JSON_ARRAY) && json_is(items, JSON_ARRAY))
		first = items; /* as drafts before 2020-12 say it */
	if (json_count(first))
		return type_of_tuple(types, root, schema, first, indent, depth);
	buf_init(&text, TYPE_BYTES_MAX);
	append_within(&text, type_of(types, root, items, indent, depth), BINDS_ATOM);
	buf_append(&text, STR("[]"));
	return atom(keep(types, &text));
}

/* -- objects --------------------------------------------------------------------------------------------- */

static bool is_required(const struct json *schema, struct str name)
{
	const struct json *item;
	size_t looked_at = 0;

	json_for_each(item, json_get(schema, STR("required"))) {
		if (looked_at++ == MEMBERS_MAX)
			return false;
		if (str_eq(json_str(item), name))
			return true;
	}
	return false;
}

/* What the type of further members is: NULL when there are none to speak of. */
static const struct json *further_members(const struct json *schema)
{
	const struct json *further = json_get(schema, STR("additionalProperties"));

	if (json_count(json_get(schema, STR("patternProperties"))))
		return json_get(schema, STR("patternProperties"));
	return json_is(further, JSON_OBJECT) || json_is(further, JSON_TRUE) ? further : NULL;
}

/* The members of an object by name, as far as they are written. Of a name that is there twice the last one
 * counts. So few collide at worst that the map needs no seed. */
static void take_declared(struct map *declared, const struct json *properties)
{
	const struct json *name, *property;
	size_t taken = 0;

	map_init(declared, 0);
	json_for_each_member(name, property, properties) {
		if (taken++ == MEMBERS_MAX)
			return;
		map_set(declared, json_str(name), (void *)property);
	}
}

/* Members that are required and declared nowhere are values of any kind. */
static void write_undeclared(const struct json *schema, struct map *declared, struct buf *out,
			     unsigned indent)
{
	const struct json *item;
	size_t looked_at = 0;

	json_for_each(item, json_get(schema, STR("required"))) {
		if (looked_at++ == MEMBERS_MAX)
			return;
		if (!json_is(item, JSON_STRING) || map_set(declared, json_str(item), (void *)item))
			continue;
		schema_indent(out, indent);
		schema_write_name(out, json_str(item));
		buf_append(out, STR(": unknown;\n"));
	}
}

static void write_members(struct schema_types *types, const struct json *root, const struct json *schema,
			  const struct map *declared, struct buf *out, unsigned indent, unsigned depth)
{
	const struct json *properties = json_get(schema, STR("properties")), *name, *property;
	size_t written = 0;

	json_for_each_member(name, property, properties) {
		if (written++ == MEMBERS_MAX)
			return;
		if (map_get(declared, json_str(name)) != property)
			continue;
		schema_write_comment(out, json_str(json_get(property, STR("description"))), property, indent);
		schema_indent(out, indent);
		schema_write_name(out, json_str(name));
		buf_append(out, is_required(schema, json_str(name)) ? STR(": ") : STR("?: "));
		buf_append(out, type_of(types, root, property, indent, depth).text);
		buf_append(out, STR(";\n"));
	}
}

/* "{ a: string; b?: number }" when there is nothing to say about the members and they are few; else a line
 * for each. */
static struct str lay_out(struct schema_types *types, struct buf *members, unsigned indent)
{
	struct str lines, line;
	struct buf text;
	bool narrow;

	if (buf_failed(members))
		return keep(types, members);
	lines = buf_str(members);
	narrow = lines.n <= LINE_MAX_BYTES && str_find(lines, STR("/**")) == STR_NONE &&
		 str_find(lines, STR("{\n")) == STR_NONE;

	buf_init(&text, TYPE_BYTES_MAX);
	buf_append(&text, narrow ? STR("{ ") : STR("{\n"));
	while (narrow && str_split(&lines, '\n', &line)) {
		if (!line.n)
			continue;
		buf_append(&text, str_trim(line));
		if (lines.p && lines.n)
			buf_append_char(&text, ' ');
	}
	if (narrow) {
		text.n -= text.p[text.n - 1] == ';';
		buf_append(&text, STR(" }"));
	} else {
		buf_append(&text, lines);
		schema_indent(&text, indent);
		buf_append_char(&text, '}');
	}
	buf_release(members);
	return keep(types, &text);
}

static struct type type_of_object(struct schema_types *types, const struct json *root,
				  const struct json *schema, unsigned indent, unsigned depth)
{
	const struct json *further = further_members(schema);
	const struct json *properties = json_get(schema, STR("properties"));
	bool declared = json_is(properties, JSON_OBJECT) && json_count(properties) > 0;
	struct map names;
	struct buf members;

	if (!declared && !json_count(json_get(schema, STR("required")))) {
		if (json_is(json_get(schema, STR("additionalProperties")), JSON_FALSE) && !further)
			return atom(STR("{}"));
		return atom(arena_printf(
			types->arena, "Record<string, %.*s>",
			STR_ARG(further && further == json_get(schema, STR("additionalProperties"))
					? type_of(types, root, further, indent, depth).text
					: STR("unknown"))));
	}
	buf_init(&members, TYPE_BYTES_MAX);
	take_declared(&names, properties);
	write_members(types, root, schema, &names, &members, indent + 1, depth);
	write_undeclared(schema, &names, &members, indent + 1);
	map_release(&names);
	if (further || json_count(properties) > MEMBERS_MAX) {
		schema_indent(&members, indent + 1);
		buf_append(&members, STR("[name: string]: unknown;\n"));
	}
	return atom(lay_out(types, &members, indent));
}

/* -- schemas --------------------------------------------------------------------------------------------- */

static struct type type_of_word(struct schema_types *types, const struct json *root,
				const struct json *schema, struct str word, unsigned indent, unsigned depth)
{
	static const struct str same[] = { STR_INIT("string"), STR_INIT("number"), STR_INIT("boolean"),
					   STR_INIT("null") };

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (str_eq(word, same[i]))
			return atom(same[i]);
	if (str_eq(word, STR("integer")))
		return atom(STR("number"));
	if (str_eq(word, STR("array")))
		return type_of_array(types, root, schema, indent, depth);
	if (str_eq(word, STR("object")))
		return type_of_object(types, root, schema, indent, depth);
	return type_unknown;
}

/* What `type` says; where it is missing, what the other words give away. */
static struct type type_of_type(struct schema_types *types, const struct json *root,
				const struct json *schema, unsigned indent, unsigned depth)
{
	const struct json *type = json_get(schema, STR("type")), *word;
	struct parts parts = { .count = 0 };

	if (json_is(type, JSON_STRING))
		return type_of_word(types, root, schema, json_str(type), indent, depth);
	json_for_each(word, type)
		add_part(&parts, type_of_word(types, root, schema, json_str(word), indent, depth));
	if (parts.count)
		return join_union(types, &parts);
	if (json_get(schema, STR("properties")) || json_get(schema, STR("required")) ||
	    json_is(json_get(schema, STR("additionalProperties")), JSON_OBJECT))
		return type_of_object(types, root, schema, indent, depth);
	if (json_get(schema, STR("items")) || json_get(schema, STR("prefixItems")))
		return type_of_array(types, root, schema, indent, depth);
	return type_unknown;
}

static struct type type_of_each(struct schema_types *types, const struct json *root,
				const struct json *schemas, unsigned indent, unsigned depth, bool all)
{
	struct parts parts = { .count = 0 };
	const struct json *schema;

	json_for_each(schema, schemas) {
		if (parts.count == PARTS_MAX)
			return type_unknown;
		add_part(&parts, type_of(types, root, schema, indent, depth));
	}
	return all ? join_intersection(types, &parts) : join_union(types, &parts);
}

/* { type: "object", anyOf: [...] } says nothing about the members itself. */
static bool says_only_object(struct type type)
{
	return str_eq(type.text, STR("Record<string, unknown>"));
}

static struct type type_of_parts(struct schema_types *types, const struct json *root,
				 const struct json *schema, unsigned indent, unsigned depth)
{
	const struct json *values = json_get(schema, STR("enum")), *constant = json_get(schema, STR("const"));
	const struct json *reference = json_get(schema, STR("$ref"));
	struct parts parts = { .count = 0 };
	struct type own;

	if (constant)
		own = type_of_value(types, constant);
	else if (json_is(values, JSON_ARRAY) && json_count(values) && json_count(values) <= PARTS_MAX)
		own = type_of_enum(types, values);
	else
		own = type_of_type(types, root, schema, indent, depth);
	if (json_is(reference, JSON_STRING))
		add_part(&parts, type_of_reference(types, root, json_str(reference)));
	add_part(&parts, type_of_each(types, root, json_get(schema, STR("allOf")), indent, depth, true));
	add_part(&parts, type_of_each(types, root, json_get(schema, STR("anyOf")), indent, depth, false));
	add_part(&parts, type_of_each(types, root, json_get(schema, STR("oneOf")), indent, depth, false));
	if (says_only_object(own) && !is_unknown(join_intersection(types, &parts)))
		return join_intersection(types, &parts);
	add_part(&parts, own);
	return join_intersection(types, &parts);
}

static struct type type_of(struct schema_types *types, const struct json *root, const struct json *schema,
			   unsigned indent, unsigned depth)
{
	struct parts nullable = { .count = 0 };
	struct type type;

	if (json_is(schema, JSON_FALSE))
		return atom(STR("never"));
	if (!json_is(schema, JSON_OBJECT) || depth == TYPE_DEPTH_MAX || types->bytes > TYPE_BYTES_MAX)
		return type_unknown;
	type = type_of_parts(types, root, schema, indent, depth + 1);
	if (!json_bool_or(json_get(schema, STR("nullable")), false))
		return type;
	add_part(&nullable, type);
	add_part(&nullable, atom(STR("null")));
	return join_union(types, &nullable);
}

/* -- the door -------------------------------------------------------------------------------------------- */

void schema_types_init(struct schema_types *types, struct arena *arena, struct str prefix)
{
	*types = (struct schema_types){ .arena = arena, .prefix = prefix };
	types->aliases = arena_array(arena, struct schema_alias, ALIASES_MAX);
}

struct str schema_type(struct schema_types *types, const struct json *root, const struct json *schema,
		       unsigned indent)
{
	return type_of(types, root, schema, indent, 0).text;
}

void schema_types_write_aliases(struct schema_types *types, struct buf *out)
{
	/* Writing one may refer to further ones, which come behind it. */
	for (; types->written < types->alias_count; types->written++) {
		const struct schema_alias alias = types->aliases[types->written];
		struct str type = type_of(types, alias.root, alias.target, 0, 0).text;

		schema_write_comment(out, json_str(json_get(alias.target, STR("description"))), NULL, 0);
		buf_printf(out, "type %.*s = %.*s;\n", STR_ARG(alias.name), STR_ARG(type));
	}
}

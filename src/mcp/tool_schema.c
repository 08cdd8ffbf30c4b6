#include "base/base.h"
#include "mcp/tool_schema.h"

enum {
	/* References that lead to nothing but another reference; one more is a circle. */
	REFERENCES_MAX = 64,
};

struct schema_check {
	const struct json *root;
};

static bool check_schema(const struct schema_check *check, const struct json *schema);

/* -- patterns -------------------------------------------------------------------------------------------- */

/* Where a group or a class begins, what follows must be one of these. */
static bool group_is_plain(struct str rest)
{
	return !str_starts_with(rest, STR("?")) || str_starts_with(rest, STR("?:")) ||
	       str_starts_with(rest, STR("?=")) || str_starts_with(rest, STR("?!"));
}

/* Escapes that mean the same in and out of Unicode mode; code points, properties and back-references are not
 * among them. */
static bool escape_is_plain(char c, bool in_class)
{
	return c && (memchr("dDwWsStnrfv^$\\.*+?()[]{}|/", c, sizeof("dDwWsStnrfv^$\\.*+?()[]{}|/") - 1) ||
		     (c == '-' && in_class) || ((c == 'b' || c == 'B') && !in_class));
}

/* The length of a quantifier {n}, {n,} or {n,m} at the start; 0: there is none. */
static size_t braces_length(struct str s)
{
	size_t at = 1, digits = 0, commas = 0;

	for (; at < s.n && s.p[at] != '}'; at++) {
		if (s.p[at] == ',' && digits > 0)
			commas++;
		else if (s.p[at] >= '0' && s.p[at] <= '9')
			digits++;
		else
			return 0;
	}
	return at < s.n && digits > 0 && digits < 10 && commas <= 1 ? at + 1 : 0;
}

/* What a walk over a pattern has seen so far. */
struct pattern_walk {
	unsigned depth;	 /* of groups */
	bool in_class;	 /* between [ and ] */
	bool quantifies; /* something is there that a quantifier could stand behind */
};

/* One element that is no escape; how many bytes it takes, 0: it is none. */
static size_t pattern_element(struct pattern_walk *walk, struct str rest)
{
	size_t n = 1;

	switch (rest.p[0]) {
	case '[':
		walk->in_class = true;
		return 1;
	case '(':
		walk->depth++;
		walk->quantifies = false;
		if (!group_is_plain(str_from(rest, 1)))
			return 0;
		return str_starts_with(rest, STR("(?")) ? 3 : 1;
	case ')':
		walk->quantifies = true;
		return walk->depth-- > 0;
	case '{':
		n = braces_length(rest);
		_fallthrough_;
	case '*':
	case '+':
	case '?':
		if (!walk->quantifies)
			return 0;
		walk->quantifies = false;
		/* Lazy. */
		return n + (n > 0 && n < rest.n && rest.p[n] == '?');
	case ']':
	case '}':
		return 0;
	default:
		walk->quantifies = rest.p[0] != '^' && rest.p[0] != '$' && rest.p[0] != '|';
		return 1;
	}
}

static bool pattern_is_plain(struct str pattern)
{
	struct pattern_walk walk = { 0 };

	for (size_t at = 0, n; at < pattern.n; at += n) {
		struct str rest = str_from(pattern, at);

		n = 1;
		if (rest.p[0] == '\\') {
			n = 2;
			if (rest.n < 2 || !escape_is_plain(rest.p[1], walk.in_class))
				return false;
			walk.quantifies = walk.in_class || (rest.p[1] != 'b' && rest.p[1] != 'B');
		} else if (walk.in_class) {
			walk.in_class = rest.p[0] != ']';
			walk.quantifies = true;
		} else {
			n = pattern_element(&walk, rest);
		}
		if (n == 0)
			return false;
	}
	return walk.depth == 0 && !walk.in_class;
}

/* Ranges such as [z-a] or [\w-x] are errors, too; those of letters and digits of one kind are not. */
static bool ranges_are_plain(struct str pattern)
{
	for (size_t at = 1; at + 1 < pattern.n; at++) {
		char from = pattern.p[at - 1], to = pattern.p[at + 1];

		if (pattern.p[at] == '-' && pattern.p[at - 1] != '\\' && from != '[' && from != '^' &&
		    to != ']' &&
		    ((unsigned char)from > (unsigned char)to || to == '\\' ||
		     (at > 1 && pattern.p[at - 2] == '\\')))
			return false;
	}
	return true;
}

/* -- kinds of keywords ----------------------------------------------------------------------------------- */

static bool check_pattern(const struct schema_check *check, const struct json *value)
{
	(void)check;
	return json_is(value, JSON_STRING) && pattern_is_plain(json_str(value)) &&
	       ranges_are_plain(json_str(value));
}

static bool check_string(const struct schema_check *check, const struct json *value)
{
	(void)check;
	return json_is(value, JSON_STRING);
}

static bool check_strings(const struct schema_check *check, const struct json *value)
{
	const struct json *item;

	(void)check;
	json_for_each(item, value)
		if (!json_is(item, JSON_STRING))
			return false;
	return json_is(value, JSON_ARRAY);
}

static bool check_number(const struct schema_check *check, const struct json *value)
{
	(void)check;
	return json_is(value, JSON_NUMBER);
}

static bool check_bool(const struct schema_check *check, const struct json *value)
{
	(void)check;
	return json_is_bool(value);
}

static bool check_never(const struct schema_check *check, const struct json *value)
{
	(void)check;
	(void)value;
	return false;
}

static bool check_enum(const struct schema_check *check, const struct json *value)
{
	(void)check;
	return json_is(value, JSON_ARRAY) && json_count(value) > 0;
}

static bool is_type_name(const struct json *value)
{
	static const struct str names[] = { STR_INIT("string"),	 STR_INIT("number"), STR_INIT("integer"),
					    STR_INIT("boolean"), STR_INIT("object"), STR_INIT("array"),
					    STR_INIT("null") };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(json_str(value), names[i]))
			return true;
	return false;
}

static bool check_type(const struct schema_check *check, const struct json *value)
{
	const struct json *item;

	(void)check;
	json_for_each(item, value)
		if (!is_type_name(item))
			return false;
	return json_is(value, JSON_ARRAY) || is_type_name(value);
}

static bool check_schemas(const struct schema_check *check, const struct json *value)
{
	const struct json *item;

	json_for_each(item, value)
		if (!check_schema(check, item))
			return false;
	return json_is(value, JSON_ARRAY) && json_count(value) > 0;
}

static bool check_items(const struct schema_check *check, const struct json *value)
{
	return json_is(value, JSON_ARRAY) ? check_schemas(check, value) : check_schema(check, value);
}

static bool check_properties(const struct schema_check *check, const struct json *value)
{
	const struct json *key, *schema;

	json_for_each_member(key, schema, value)
		if (!check_schema(check, schema))
			return false;
	return json_is(value, JSON_OBJECT);
}

static bool check_pattern_properties(const struct schema_check *check, const struct json *value)
{
	const struct json *key, *schema;

	json_for_each_member(key, schema, value)
		if (!check_pattern(check, key))
			return false;
	return check_properties(check, value);
}

/* `dependencies` of draft 7: a schema, or the names of what must be there as well. */
static bool check_dependencies(const struct schema_check *check, const struct json *value)
{
	const struct json *key, *wanted;

	json_for_each_member(key, wanted, value)
		if (!check_strings(check, wanted) && !check_schema(check, wanted))
			return false;
	return json_is(value, JSON_OBJECT);
}

/* The place in this document that the reference names; NULL for one that is elsewhere or nowhere. */
static const struct json *reference_target(const struct schema_check *check, const struct json *value)
{
	struct str pointer = json_str(value);

	/* What is escaped as in a URI may well lead somewhere; it is rare enough to be given up. */
	if (!str_starts_with(pointer, STR("#")) || str_find_char(pointer, '%') != STR_NONE)
		return NULL;
	return json_pointer(check->root, str_from(pointer, 1));
}

static bool check_reference(const struct schema_check *check, const struct json *value)
{
	for (unsigned i = 0; i < REFERENCES_MAX; i++) {
		const struct json *target = reference_target(check, value);

		if (!json_is(target, JSON_OBJECT))
			return json_is_bool(target);
		value = json_get(target, STR("$ref"));
		if (!value)
			return true;
	}
	return false;
}

/* -- schemas --------------------------------------------------------------------------------------------- */

static const struct keyword {
	struct str name;
	bool (*check)(const struct schema_check *check, const struct json *value);
} keywords[] = {
	{ STR_INIT("$ref"), check_reference },
	{ STR_INIT("$schema"), check_string },
	/* Of draft 4. */
	{ STR_INIT("id"), check_never },
	{ STR_INIT("$defs"), check_properties },
	{ STR_INIT("definitions"), check_properties },
	{ STR_INIT("type"), check_type },
	{ STR_INIT("enum"), check_enum },
	{ STR_INIT("properties"), check_properties },
	{ STR_INIT("patternProperties"), check_pattern_properties },
	{ STR_INIT("additionalProperties"), check_schema },
	{ STR_INIT("propertyNames"), check_schema },
	{ STR_INIT("required"), check_strings },
	{ STR_INIT("dependencies"), check_dependencies },
	{ STR_INIT("dependentSchemas"), check_properties },
	{ STR_INIT("items"), check_items },
	{ STR_INIT("prefixItems"), check_schemas },
	{ STR_INIT("additionalItems"), check_schema },
	{ STR_INIT("unevaluatedItems"), check_schema },
	{ STR_INIT("unevaluatedProperties"), check_schema },
	{ STR_INIT("contains"), check_schema },
	{ STR_INIT("allOf"), check_schemas },
	{ STR_INIT("anyOf"), check_schemas },
	{ STR_INIT("oneOf"), check_schemas },
	{ STR_INIT("not"), check_schema },
	{ STR_INIT("if"), check_schema },
	{ STR_INIT("then"), check_schema },
	{ STR_INIT("else"), check_schema },
	{ STR_INIT("multipleOf"), check_number },
	{ STR_INIT("minimum"), check_number },
	{ STR_INIT("maximum"), check_number },
	{ STR_INIT("exclusiveMinimum"), check_number },
	{ STR_INIT("exclusiveMaximum"), check_number },
	{ STR_INIT("minLength"), check_number },
	{ STR_INIT("maxLength"), check_number },
	{ STR_INIT("minItems"), check_number },
	{ STR_INIT("maxItems"), check_number },
	{ STR_INIT("minProperties"), check_number },
	{ STR_INIT("maxProperties"), check_number },
	{ STR_INIT("uniqueItems"), check_bool },
	{ STR_INIT("nullable"), check_bool },
	{ STR_INIT("format"), check_string },
	{ STR_INIT("pattern"), check_pattern },
};

/* An identifier inside changes what references mean, and `nullable` of OpenAPI needs a type beside it. */
static bool check_context(const struct schema_check *check, const struct json *schema)
{
	const struct json *id = json_get(schema, STR("$id"));

	if (id && (schema != check->root || !json_is(id, JSON_STRING)))
		return false;
	return !json_get(schema, STR("nullable")) || json_get(schema, STR("type"));
}

/* Recursive, as deep as the parser let the document be (JSON_DEPTH_MAX). */
static bool check_schema(const struct schema_check *check, const struct json *schema)
{
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
		const struct json *value = json_get(schema, keywords[i].name);

		if (value && !keywords[i].check(check, value))
			return false;
	}
	return json_is_bool(schema) || (json_is(schema, JSON_OBJECT) && check_context(check, schema));
}

bool mcp_schema_compiles(const struct json *schema)
{
	return check_schema(&(struct schema_check){ schema }, schema);
}

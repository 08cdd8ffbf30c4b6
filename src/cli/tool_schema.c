#include "base/base.h"
#include "cli/tool_schema.h"

enum {
	REFERENCES_MAX =
		16, /* of $ref and alternatives followed for one argument: schemas may turn in circles */
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

unsigned json_allows(const struct json *value)
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
		allows |= json_allows(each);
	return allows;
}

struct schema_walk {
	const struct json *root;
	unsigned left; /* steps that may still be made */
};

static unsigned walk_allows(struct schema_walk *walk, const struct json *schema);

static unsigned alternatives_allow(struct schema_walk *walk, const struct json *alternatives)
{
	unsigned allows = 0;
	const struct json *each;

	json_for_each(each, alternatives)
		allows |= walk_allows(walk, each);
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
static unsigned walk_allows(struct schema_walk *walk, const struct json *schema)
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
		allows &= json_allows(part);
	if ((part = json_get(schema, STR("anyOf"))))
		allows &= alternatives_allow(walk, part);
	if ((part = json_get(schema, STR("oneOf"))))
		allows &= alternatives_allow(walk, part);
	json_for_each(part, json_get(schema, STR("allOf")))
		allows &= walk_allows(walk, part);
	if ((part = referenced(walk, schema)))
		allows &= walk_allows(walk, part);
	return allows;
}

unsigned tool_schema_allows(const struct json *root, const struct json *schema)
{
	struct schema_walk walk = { root, REFERENCES_MAX };

	return walk_allows(&walk, schema);
}

const struct json *tool_schema_follow(const struct json *root, const struct json *schema)
{
	const struct schema_walk walk = { root, 0 };

	for (unsigned i = 0; i < REFERENCES_MAX; i++) {
		const struct json *target = referenced(&walk, schema);

		if (!target)
			break;
		schema = target;
	}
	return schema;
}

/*
 * tool_schema.h - what kinds of values the JSON Schema of a tool's arguments has room for. Pure.
 */
#ifndef CLI_TOOL_SCHEMA_H
#define CLI_TOOL_SCHEMA_H

#include "base/base.h"
#include "json/json.h"

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

/* What one value is: 1 is an integer, 1.5 a number. */
unsigned json_allows(const struct json *value);

/* All that `schema` allows, which is within `root`; one that says nothing of types, or is NULL, allows
 * all. */
unsigned tool_schema_allows(const struct json *root, const struct json *schema);

/* `schema`, or what its $ref leads to within `root`. */
const struct json *tool_schema_follow(const struct json *root, const struct json *schema);

#endif

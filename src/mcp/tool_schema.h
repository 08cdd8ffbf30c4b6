/*
 * tool_schema.h - whether a strict client could use a tool's schema.
 *
 * Clients compile the output schemas of a whole list of tools at once (the official TypeScript SDK with Ajv)
 * and throw for the first that does not compile: no tool of any server is left then. So a schema that may
 * fail there is not shown. Pure.
 */
#ifndef MCP_TOOL_SCHEMA_H
#define MCP_TOOL_SCHEMA_H

#include "base/base.h"
#include "json/json.h"

/*
 * Whether `schema`, the root of a JSON Schema, compiles in a strict validator: every keyword of drafts 7 to
 * 2020-12 has a value of its kind, every `$ref` leads to a place in the schema, every pattern is one that
 * ECMAScript takes in Unicode mode. False also for some that would compile, such as one with escapes by code
 * point in a pattern.
 */
bool mcp_schema_compiles(const struct json *schema);

#endif

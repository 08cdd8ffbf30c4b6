/*
 * schema_type.h - JSON Schema as TypeScript types.
 *
 * The aim is what a person would write for the same data: structure (properties, required, items, enum,
 * unions, intersections, recursion) and not constraints (lengths, patterns), which TypeScript cannot say.
 * What a schema says in a way that this does not know becomes `unknown`; a schema never makes it fail.
 * Definitions that are referred to become named types, so that recursion works. Pure.
 */
#ifndef EXEC_SCHEMA_TYPE_H
#define EXEC_SCHEMA_TYPE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

/* A definition that something referred to, and the name it has as a type. */
struct schema_alias {
	const struct json *root, *target;
	struct str name;
};

/* The types of one tool: its schemas share the names of their definitions. */
struct schema_types {
	struct arena *arena;
	struct str prefix; /* of the names of definitions: "files$read$" */
	struct schema_alias *aliases;
	size_t alias_count;
	size_t written; /* aliases that schema_types_write_aliases() has written */
	size_t bytes;	/* of all texts so far: a schema that unfolds without end is cut off with `unknown` */
};

void schema_types_init(struct schema_types *types, struct arena *arena, struct str prefix);

/* The type of `schema`, which is within `root`; NULL gives "unknown". Lines after the first are indented by
 * `indent` tabs. From the arena. */
struct str schema_type(struct schema_types *types, const struct json *root, const struct json *schema,
		       unsigned indent);

/* Writes "type NAME = ...;" for every definition that was referred to, also by these. */
void schema_types_write_aliases(struct schema_types *types, struct buf *out);

/* A doc comment with a line end, from texts that may be empty; nothing when all are. What would end the
 * comment is defused. */
void schema_write_comment(struct buf *out, struct str description, const struct json *schema,
			  unsigned indent);

/* `name` as a member of an object type: itself, or quoted. */
void schema_write_name(struct buf *out, struct str name);

void schema_indent(struct buf *out, unsigned indent);

#endif

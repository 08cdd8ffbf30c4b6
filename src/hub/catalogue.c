#include "base/base.h"
#include "hub/catalogue.h"
#include "base/character.h"
#include "json/json.h"
#include "json/writer.h"
#include "mcp/jsonrpc.h"
#include "text/nearest.h"
#include "text/identifier.h"

#include <stdio.h>

enum {
	LISTED_NAME_MAX = 64, /* what the strictest API for models takes */
	HASH_DIGITS = 8,
	NUMBER_DIGITS = sizeof("_18446744073709551615"),
	CACHE_FORMAT = 1,
};

/* -- names ----------------------------------------------------------------------------------------------- */

static bool listed_name_char(char c)
{
	return is_letter_or_digit(c) || c == '_' || c == '-';
}

static bool listed_name_fits(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!listed_name_char(name.p[i]))
			return false;
	return name.n > 0 && name.n <= LISTED_NAME_MAX;
}

/*
 * How often each name was made already, so that the next number need not be looked for from the first: a
 * server may call all its tools the same. What does not go through stays on the stack or is released; the
 * snapshot keeps one name of each kind for a tool.
 */
struct naming {
	struct catalogue_snapshot *snapshot;
	struct map made; /* name -> size_t *, in the arena */
	struct arena arena;
};

static size_t *naming_count(struct naming *naming, struct str name, size_t first)
{
	size_t *count = map_get(&naming->made, name);

	if (!count) {
		count = arena_new(&naming->arena, size_t);
		*count = first;
		map_set(&naming->made, name, count);
	}
	return count;
}

/* As much of `full_name` as fits, "_" for what is not allowed, and a hash of the name and of what tells it
 * from its like. */
static struct str listed_name_hashed(char storage[static LISTED_NAME_MAX + 1], struct str full_name,
				     uint64_t salt)
{
	int kept = (int)size_min(full_name.n, LISTED_NAME_MAX - HASH_DIGITS - 1);
	uint64_t hash = hash_str(full_name, salt);

	for (int i = 0; i < kept; i++)
		storage[i] = listed_name_char(full_name.p[i]) ? full_name.p[i] : '_';
	snprintf(storage + kept, (size_t)(LISTED_NAME_MAX + 1 - kept), "_%0*x", HASH_DIGITS, (unsigned)hash);
	return str_of(storage);
}

/*
 * Whether the full names of this namespace can be another's: of two namespaces "a" and "a__b" the tools
 * "b__c" and "c" are both "a__b__c". Then it is the longer one, which contains "__" or ends in "_", that
 * lists none of them.
 */
static bool namespace_ambiguous(struct str namespace)
{
	return str_find(namespace, STR("__")) != STR_NONE || str_ends_with(namespace, STR("_"));
}

static struct str listed_name(struct naming *naming, const struct catalogue_tool *tool)
{
	struct catalogue_snapshot *snapshot = naming->snapshot;
	uint64_t salt = tool->repeats ? hash_str(tool->raw, 0) : 0;
	char storage[LISTED_NAME_MAX + 1];
	struct str name = tool->full_name;
	size_t *taken;

	if (!tool->repeats && !namespace_ambiguous(snapshot->namespace) && listed_name_fits(name) &&
	    !map_get(&snapshot->names, name))
		return name;
	taken = naming_count(naming, listed_name_hashed(storage, tool->full_name, salt), 0);
	do
		name = listed_name_hashed(storage, tool->full_name, salt + (*taken)++);
	while (map_get(&snapshot->names, name));
	return arena_copy(&snapshot->arena, name);
}

static struct str function_name(struct naming *naming, const struct catalogue_tool *tool)
{
	struct catalogue_snapshot *snapshot = naming->snapshot;
	struct str function = identifier_of(&snapshot->arena, tool->name, IDENTIFIER_TOOL);
	_cleanup_buf_ struct buf numbered = { .max = function.n + NUMBER_DIGITS };
	size_t *number;

	if (!map_get(&snapshot->names, function) || (!tool->repeats && str_eq(function, tool->name)))
		return function;
	number = naming_count(naming, function, 2);
	do {
		buf_clear(&numbered, numbered.max);
		buf_printf(&numbered, "%.*s_%zu", STR_ARG(function), (*number)++);
	} while (map_get(&snapshot->names, buf_str(&numbered)));
	return arena_copy(&snapshot->arena, buf_str(&numbered));
}

static void snapshot_name_tool(struct naming *naming, struct catalogue_tool *tool)
{
	struct catalogue_snapshot *snapshot = naming->snapshot;

	tool->full_name = arena_printf(&snapshot->arena, "%.*s__%.*s", STR_ARG(snapshot->namespace),
				       STR_ARG(tool->name));
	tool->listed_name = listed_name(naming, tool);
	tool->function = function_name(naming, tool);
}

/* The first tool that claims a name keeps it. */
static void snapshot_claim(struct catalogue_snapshot *snapshot, struct str name, struct catalogue_tool *tool)
{
	if (!map_get(&snapshot->names, name))
		map_set(&snapshot->names, name, tool);
}

/* -- building -------------------------------------------------------------------------------------------- */

static bool raw_is(struct str raw, struct str word)
{
	return str_eq(raw, word);
}

static void tool_read_annotations(struct catalogue_tool *tool, struct str raw, struct arena *scratch)
{
	struct jsonrpc_members members = { 0 };

	if (raw.n)
		(void)jsonrpc_members(raw, scratch, &members, NULL);
	tool->read_only = raw_is(jsonrpc_member(&members, STR("readOnlyHint")), STR("true"));
	tool->destructive =
		!tool->read_only && !raw_is(jsonrpc_member(&members, STR("destructiveHint")), STR("false"));
}

static bool tool_read(struct catalogue_snapshot *snapshot, struct catalogue_tool *tool, struct str raw,
		      struct arena *scratch)
{
	struct jsonrpc_members members;

	if (jsonrpc_members(raw, scratch, &members, NULL) < 0)
		return false;
	tool->name = arena_copy(&snapshot->arena, jsonrpc_member_str(&members, STR("name"), scratch));
	if (tool->name.n == 0)
		return false;
	tool->raw = arena_copy(&snapshot->arena, raw);
	tool->description =
		arena_copy(&snapshot->arena, jsonrpc_member_str(&members, STR("description"), scratch));
	tool_read_annotations(tool, jsonrpc_member(&members, STR("annotations")), scratch);
	return true;
}

struct catalogue_snapshot *catalogue_build(struct str namespace, const struct str *items, size_t count,
					   struct str instructions, uint64_t fetched_at, uint64_t seed)
{
	struct catalogue_snapshot *snapshot = xnew(struct catalogue_snapshot);
	struct naming naming = { .snapshot = snapshot };
	_cleanup_arena_ struct arena scratch = { 0 };

	arena_init(&scratch, 0);
	arena_init(&naming.arena, 0);
	map_init(&naming.made, seed);
	arena_init(&snapshot->arena, 0);
	map_init(&snapshot->names, seed);
	snapshot->users = 1;
	snapshot->namespace = arena_copy(&snapshot->arena, namespace);
	snapshot->instructions = arena_copy(&snapshot->arena, instructions);
	snapshot->fetched_at = fetched_at;
	snapshot->hash = hash_str(instructions, 0);
	snapshot->tools = arena_array(&snapshot->arena, struct catalogue_tool, count);
	for (size_t i = 0; i < count; i++) {
		struct catalogue_tool *tool = &snapshot->tools[snapshot->count];

		arena_release(&scratch);
		if (!tool_read(snapshot, tool, items[i], &scratch)) {
			snapshot->skipped++;
			continue;
		}
		tool->repeats = map_get(&snapshot->names, tool->name);
		if (tool->repeats && snapshot->repeated++ == 0)
			snapshot->repeated_name = tool->name;
		snapshot->count++;
		snapshot->hash = hash_str(items[i], snapshot->hash);
		snapshot_claim(snapshot, tool->name, tool);
	}
	arena_release(&scratch);
	/* Own names first, so that no derived name of one tool takes another's. */
	for (size_t i = 0; i < snapshot->count; i++) {
		struct catalogue_tool *tool = &snapshot->tools[i];

		snapshot_name_tool(&naming, tool);
		snapshot_claim(snapshot, tool->listed_name, tool);
		snapshot_claim(snapshot, tool->full_name, tool);
		snapshot_claim(snapshot, tool->function, tool);
	}
	map_release(&naming.made);
	arena_release(&naming.arena);
	return snapshot;
}

struct catalogue_snapshot *catalogue_ref(struct catalogue_snapshot *snapshot)
{
	snapshot->users++;
	return snapshot;
}

void catalogue_unref(struct catalogue_snapshot **dropped)
{
	struct catalogue_snapshot *snapshot = *dropped;

	*dropped = NULL;
	if (!snapshot || --snapshot->users)
		return;
	map_release(&snapshot->names);
	arena_release(&snapshot->arena);
	free(snapshot);
}

const struct catalogue_tool *catalogue_find(const struct catalogue_snapshot *snapshot, struct str name)
{
	return map_get(&snapshot->names, name);
}

struct str catalogue_nearest(const struct catalogue_snapshot *snapshot, struct str name)
{
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < snapshot->count; i++)
		nearest_consider(&nearest, snapshot->tools[i].name);
	return nearest.best;
}

/* -- on disk --------------------------------------------------------------------------------------------- */

int catalogue_encode(const struct catalogue_snapshot *snapshot, struct buf *out)
{
	struct json_writer w;

	json_writer_init(&w, out, false);
	json_write_object_begin(&w);
	json_member_i64(&w, STR("format"), CACHE_FORMAT);
	json_member_u64(&w, STR("fetchedAt"), snapshot->fetched_at);
	json_member_str(&w, STR("instructions"), snapshot->instructions);
	json_write_key(&w, STR("tools"));
	json_write_array_begin(&w);
	for (size_t i = 0; i < snapshot->count; i++)
		json_write_raw(&w, snapshot->tools[i].raw);
	json_write_array_end(&w);
	json_write_object_end(&w);
	return buf_failed(out) ? ERR_TOO_LARGE : 0;
}

static bool cache_number(const struct jsonrpc_members *members, struct str key, uint64_t *ret_value)
{
	return str_to_u64(jsonrpc_member(members, key), ret_value) == 0;
}

int catalogue_decode(struct str text, struct str namespace, size_t tools_max, uint64_t seed,
		     struct catalogue_snapshot **ret_snapshot, struct err *err)
{
	static const struct json_limits limits = { 0 };
	_cleanup_arena_ struct arena scratch = { 0 };
	struct jsonrpc_members members;
	uint64_t format, fetched_at;
	const struct str *items;
	size_t count;
	int code;

	arena_init(&scratch, 0);
	if (jsonrpc_members(text, &scratch, &members, err) < 0)
		return ERR_INVALID;
	if (!cache_number(&members, STR("format"), &format) || format != CACHE_FORMAT ||
	    !cache_number(&members, STR("fetchedAt"), &fetched_at))
		return err_set(err, ERR_INVALID, "the cached schemas are of another format");
	code = jsonrpc_split(jsonrpc_member(&members, STR("tools")), &limits, &scratch, tools_max, &items,
			     &count, err);
	if (code < 0)
		return code;
	*ret_snapshot = catalogue_build(namespace, items, count,
					jsonrpc_member_str(&members, STR("instructions"), &scratch),
					fetched_at, seed);
	return 0;
}

/*
 * The runtime part of a client is the same for everybody and comes from script/. Around it stand two tables:
 * the index (names alone, looked at on every start) and the details (descriptions and schemas in one string,
 * parsed when search() or describe() first wants them).
 *
 * Names of ours in the module begin with "$", which no namespace's does.
 */
#include "base/base.h"
#include "exec/client.h"
#include "base/arena.h"
#include "exec/schema_type.h"
#include "json/json.h"
#include "json/writer.h"
#include "mcp/jsonrpc.h"

#include "client_text.inc"

#define EMBEDDED(bytes) str_make((const char *)(bytes), sizeof(bytes))

/* -- selections ------------------------------------------------------------------------------------------ */

/* The namespace of a word of a selection, and the tool behind its dot; .p NULL when it names none. */
static struct str word_namespace(struct str word, struct str *ret_tool)
{
	size_t dot;

	word = str_trim(word);
	dot = str_find_char(word, '.');
	*ret_tool = dot == STR_NONE ? str_make(NULL, 0) : str_from(word, dot + 1);
	return str_slice(word, 0, dot);
}

/* Whether anything of the namespace is selected. */
static bool selects(struct str selection, const struct catalogue_snapshot *snapshot)
{
	struct str word, tool;

	if (!str_trim(selection).n)
		return true;
	while (str_split(&selection, ',', &word))
		if (str_eq(word_namespace(word, &tool), snapshot->namespace))
			return true;
	return false;
}

/* Whether each of the namespace's tools is. The selection is gone through once, however many there are of
 * both; the caller frees the array. */
static bool *selected_tools(struct str selection, const struct catalogue_snapshot *snapshot)
{
	bool *selected = xcalloc(snapshot->count + 1, sizeof(*selected)), all = !str_trim(selection).n;
	struct str word, name;

	while (!all && str_split(&selection, ',', &word)) {
		const struct catalogue_tool *tool;

		if (!str_eq(word_namespace(word, &name), snapshot->namespace))
			continue;
		all = !name.p;
		tool = all ? NULL : catalogue_find(snapshot, name);
		if (tool)
			selected[tool - snapshot->tools] = true;
	}
	for (size_t i = 0; all && i < snapshot->count; i++)
		selected[i] = true;
	return selected;
}

static const struct catalogue_snapshot *find_namespace(const struct exec_catalogue *catalogue,
						       struct str name)
{
	for (size_t i = 0; i < catalogue->count; i++)
		if (str_eq(catalogue->snapshots[i]->namespace, name))
			return catalogue->snapshots[i];
	return NULL;
}

static int no_such_namespace(const struct exec_catalogue *catalogue, struct str name, struct err *err)
{
	_cleanup_buf_ struct buf names = { .max = ERR_MESSAGE_MAX / 2 };
	struct str known = STR("none");

	for (size_t i = 0; i < catalogue->count; i++)
		(void)buf_printf(&names, "%s%.*s", i ? ", " : "",
				 STR_ARG(catalogue->snapshots[i]->namespace));
	if (buf_failed(&names))
		known = STR("many; GET /v1/namespaces lists them");
	else if (names.n)
		known = buf_str(&names);
	return err_set(err, ERR_NOT_FOUND, "there is no namespace \"%.*s\"; there are: %.*s", STR_ARG(name),
		       STR_ARG(known));
}

int exec_selection_check(const struct exec_catalogue *catalogue, struct str selection, struct err *err)
{
	struct str word;

	if (!str_trim(selection).n)
		return 0;
	while (str_split(&selection, ',', &word)) {
		const struct catalogue_snapshot *snapshot;
		size_t dot;

		word = str_trim(word);
		dot = str_find_char(word, '.');
		snapshot = find_namespace(catalogue, str_slice(word, 0, dot));
		if (!snapshot)
			return no_such_namespace(catalogue, str_slice(word, 0, dot), err);
		if (dot != STR_NONE && !catalogue_find(snapshot, str_from(word, dot + 1)))
			return err_set(err, ERR_NOT_FOUND,
				       "%.*s has no tool \"%.*s\"; its declarations name those it has",
				       STR_ARG(snapshot->namespace), STR_ARG(str_from(word, dot + 1)));
	}
	return 0;
}

/* -- types ----------------------------------------------------------------------------------------------- */

static bool says_nothing(struct str type)
{
	return str_eq(type, STR("unknown")) || str_eq(type, STR("Record<string, unknown>"));
}

/* Whether a call may leave its argument out: nothing is required of it. */
static bool may_be_omitted(const struct json *schema)
{
	return !json_count(json_get(schema, STR("required"))) && !json_get(schema, STR("anyOf")) &&
	       !json_get(schema, STR("oneOf")) && !json_get(schema, STR("allOf")) &&
	       !json_get(schema, STR("$ref"));
}

/* The type of arguments of which the schema says nothing more: none, when it says that they are an object
 * without declared members. */
static struct str no_arguments(const struct json *schema)
{
	return json_is(json_get(schema, STR("properties")), JSON_OBJECT) ? STR("{}")
									 : STR("Record<string, unknown>");
}

/* "read(args: { path: string }, options?: CallOptions): Promise<any>;" with its comment, and the definitions
 * that this refers to into `aliases`. */
static void write_function(struct buf *out, struct buf *aliases, const struct catalogue_snapshot *snapshot,
			   const struct catalogue_tool *tool)
{
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *input = NULL, *output = NULL;
	struct schema_types types;
	struct str arguments, result;

	arena_init(&arena, 0);
	if (json_parse(&doc, tool->raw, NULL, NULL) == 0) {
		input = json_get(json_root(&doc), STR("inputSchema"));
		output = json_get(json_root(&doc), STR("outputSchema"));
	}
	schema_types_init(
		&types, &arena,
		arena_printf(&arena, "%.*s$%.*s$", STR_ARG(snapshot->namespace), STR_ARG(tool->function)));
	arguments = schema_type(&types, input, input, 1);
	result = schema_type(&types, output, output, 1);
	schema_write_comment(out, tool->description, NULL, 1);
	schema_indent(out, 1);
	schema_write_name(out, tool->function);
	buf_printf(out, "(args%s: %.*s, options?: CallOptions): Promise<", may_be_omitted(input) ? "?" : "",
		   STR_ARG(says_nothing(arguments) ? no_arguments(input) : arguments));
	if (says_nothing(result))
		buf_append(out, STR("any"));
	else
		buf_printf(out, "Result<%.*s>", STR_ARG(result));
	buf_append(out, STR(">;\n"));
	schema_types_write_aliases(&types, aliases);
}

/* "{ ...functions }" of one namespace. */
static void write_namespace_type(struct buf *out, struct buf *aliases,
				 const struct catalogue_snapshot *snapshot, struct str selection)
{
	_cleanup_free_ bool *selected = selected_tools(selection, snapshot);

	buf_append(out, STR("{\n"));
	for (size_t i = 0; i < snapshot->count; i++)
		if (selected[i])
			write_function(out, aliases, snapshot, &snapshot->tools[i]);
	buf_append_char(out, '}');
}

static struct str description_of(const struct exec_catalogue *catalogue, size_t i)
{
	return catalogue->descriptions ? catalogue->descriptions[i] : str_make(NULL, 0);
}

static void write_declaration(struct buf *out, const struct exec_catalogue *catalogue, size_t i,
			      struct str selection, bool instructions)
{
	const struct catalogue_snapshot *snapshot = catalogue->snapshots[i];
	_cleanup_buf_ struct buf functions = { .max = out->max }, aliases = { .max = out->max };
	_cleanup_buf_ struct buf about = { .max = out->max };

	write_namespace_type(&functions, &aliases, snapshot, selection);
	buf_append(&about, description_of(catalogue, i));
	if (instructions && snapshot->instructions.n) {
		if (about.n)
			buf_append(&about, STR("\n\n"));
		buf_append(&about, snapshot->instructions);
	}
	buf_append_char(out, '\n');
	if (buf_failed(&functions) || buf_failed(&aliases) || buf_failed(&about)) {
		buf_printf(out, "declare const %.*s: any; // its declarations are too long\n",
			   STR_ARG(snapshot->namespace));
		return;
	}
	buf_append(out, buf_str(&aliases));
	schema_write_comment(out, buf_str(&about), NULL, 0);
	buf_printf(out, "declare const %.*s: ", STR_ARG(snapshot->namespace));
	buf_append(out, buf_str(&functions));
	buf_append(out, STR(";\n"));
}

void exec_types_write(struct buf *out, const struct exec_catalogue *catalogue, struct str selection,
		      bool instructions)
{
	buf_append(out, EMBEDDED(declarations_prelude));
	for (size_t i = 0; i < catalogue->count; i++)
		if (selects(selection, catalogue->snapshots[i]))
			write_declaration(out, catalogue, i, selection, instructions);
}

/* -- the tables ------------------------------------------------------------------------------------------ */

static struct str server_of(const struct exec_catalogue *catalogue, size_t i)
{
	return catalogue->servers ? catalogue->servers[i] : catalogue->snapshots[i]->namespace;
}

/* The members of a Tool object that are looked up, as they stand. */
static void write_detail(struct json_writer *w, const struct catalogue_tool *tool)
{
	static const struct str kept[] = { STR_INIT("title"), STR_INIT("description"),
					   STR_INIT("inputSchema"), STR_INIT("outputSchema"),
					   STR_INIT("annotations") };
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_members members = { 0 };

	arena_init(&arena, 0);
	(void)jsonrpc_members(tool->raw, &arena, &members, NULL);
	json_write_object_begin(w);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		struct str raw = jsonrpc_member(&members, kept[i]);

		if (raw.n)
			json_member_raw(w, kept[i], raw);
	}
	json_write_object_end(w);
}

/* What the server itself says about destruction: 0 nothing, 1 no, 2 yes. */
static unsigned destructive_hint(const struct catalogue_tool *tool)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_members members = { 0 };
	struct str hint;

	arena_init(&arena, 0);
	if (jsonrpc_members(tool->raw, &arena, &members, NULL) < 0 ||
	    jsonrpc_members(jsonrpc_member(&members, STR("annotations")), &arena, &members, NULL) < 0)
		return 0;
	hint = jsonrpc_member(&members, STR("destructiveHint"));
	return str_eq(hint, STR("true")) ? 2 : str_eq(hint, STR("false"));
}

static void write_entry(struct json_writer *w, const struct catalogue_tool *tool)
{
	unsigned hint = destructive_hint(tool);

	json_write_array_begin(w);
	json_write_str(w, tool->function);
	json_write_str(w, tool->name);
	if (hint)
		json_write_u64(w, hint);
	json_write_array_end(w);
}

/*
 * Of the selected namespaces, with what `write_tool` writes of each tool. Arrays, since an object would treat
 * a name such as __proto__ specially:
 *
 *	details	[[namespace, [detail, ...]], ...]
 *	index	[[namespace, server, [[function, tool, hint?], ...]], ...]
 */
static void write_table(struct json_writer *w, const struct exec_catalogue *catalogue, struct str selection,
			bool servers,
			void (*write_tool)(struct json_writer *w, const struct catalogue_tool *tool))
{
	json_write_array_begin(w);
	for (size_t i = 0; i < catalogue->count; i++) {
		const struct catalogue_snapshot *snapshot = catalogue->snapshots[i];

		if (!selects(selection, snapshot))
			continue;
		json_write_array_begin(w);
		json_write_str(w, snapshot->namespace);
		if (servers)
			json_write_str(w, server_of(catalogue, i));
		json_write_array_begin(w);
		for (size_t k = 0; k < snapshot->count; k++)
			write_tool(w, &snapshot->tools[k]);
		json_write_array_end(w);
		json_write_array_end(w);
	}
	json_write_array_end(w);
}

/* -- the module ------------------------------------------------------------------------------------------ */

static void write_runtime(struct buf *out, const struct exec_catalogue *catalogue, struct str selection)
{
	_cleanup_buf_ struct buf details = { .max = out->max };
	struct json_writer w;

	buf_append(out, STR("const $mcpx = (($index, $details) => {\n"));
	buf_append(out, EMBEDDED(client_runtime));
	buf_append(out, STR("return { ...helpers, start, launch };\n})("));
	json_writer_init(&w, out, false);
	write_table(&w, catalogue, selection, true, write_entry);
	buf_append(out, STR(",\n"));
	json_writer_init(&w, &details, false);
	write_table(&w, catalogue, selection, false, write_detail);
	if (buf_failed(&details))
		buf_append(out, STR("\"[]\""));
	else
		json_quote(out, buf_str(&details));
	buf_append(out, STR(");\nexport { $mcpx };\n"));
}

static void write_plain_exports(struct buf *out, const struct exec_catalogue *catalogue, struct str selection)
{
	buf_append(
		out,
		STR("export const { call, emit, log, artifact, search, describe, ToolError, paths } = $mcpx;\n"));
	for (size_t i = 0; i < catalogue->count; i++) {
		struct str namespace = catalogue->snapshots[i]->namespace;

		if (selects(selection, catalogue->snapshots[i]))
			buf_printf(out, "const $%zu = $mcpx.tools.%.*s; export { $%zu as %.*s };\n", i,
				   STR_ARG(namespace), i, STR_ARG(namespace));
	}
}

static void write_typed_helpers(struct buf *out)
{
	static const char *const helpers[] = { "call",	 "emit",     "log",	  "artifact",
					       "search", "describe", "ToolError", "paths" };

	buf_append(out, STR("declare namespace $types {\n"));
	buf_append(out, EMBEDDED(client_types));
	buf_append(out,
		   STR("}\ntype Result<T> = $types.Result<T>;\ntype CallOptions = $types.CallOptions;\n"));
	for (size_t i = 0; i < ARRAY_LEN(helpers); i++)
		buf_printf(out, "export const %s: typeof $types.%s = $mcpx.%s;\n", helpers[i], helpers[i],
			   helpers[i]);
}

static void write_typed_exports(struct buf *out, const struct exec_catalogue *catalogue, struct str selection)
{
	_cleanup_buf_ struct buf aliases = { .max = out->max };

	write_typed_helpers(out);
	for (size_t i = 0; i < catalogue->count; i++) {
		const struct catalogue_snapshot *snapshot = catalogue->snapshots[i];

		if (!selects(selection, snapshot))
			continue;
		schema_write_comment(out, description_of(catalogue, i), NULL, 0);
		buf_printf(out, "const $%zu: ", i);
		write_namespace_type(out, &aliases, snapshot, str_make(NULL, 0));
		buf_printf(out, " = $mcpx.tools.%.*s; export { $%zu as %.*s };\n",
			   STR_ARG(snapshot->namespace), i, STR_ARG(snapshot->namespace));
	}
	if (!buf_failed(&aliases))
		buf_append(out, buf_str(&aliases));
}

static void write_default_export(struct buf *out, const struct exec_catalogue *catalogue,
				 struct str selection, bool plain)
{
	buf_append(out, STR("const $tools"));
	if (!plain) {
		buf_append(out, STR(": {"));
		for (size_t i = 0; i < catalogue->count; i++)
			if (selects(selection, catalogue->snapshots[i]))
				buf_printf(out, " %.*s: typeof $%zu;",
					   STR_ARG(catalogue->snapshots[i]->namespace), i);
		buf_append(out, STR(" }"));
	}
	buf_append(out, STR(" = $mcpx.tools;\nexport default $tools;\n"));
}

void exec_client_write(struct buf *out, const struct exec_catalogue *catalogue, struct str selection,
		       bool plain)
{
	if (!plain)
		buf_append(out, STR("// @ts-nocheck: what is typed here is what it exports\n"));
	write_runtime(out, catalogue, selection);
	if (plain)
		write_plain_exports(out, catalogue, selection);
	else
		write_typed_exports(out, catalogue, selection);
	write_default_export(out, catalogue, selection, plain);
}

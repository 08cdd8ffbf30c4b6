#include "base/base.h"
#include "cli/show_tool.h"

#include "cli/display.h"
#include "cli/help.h"
#include "cli/tool_name.h"
#include "exec/schema_type.h"

struct tool_view {
	struct cli *cli;
	const struct json *schema; /* of the arguments */
	struct schema_types types;
	bool shortened; /* a type, to fit */
};

enum { TYPE_COLUMNS = 60 };

static bool is_required(const struct tool_view *view, struct str name)
{
	const struct json *each;

	json_for_each(each, json_get(view->schema, STR("required")))
		if (str_eq(json_str(each), name))
			return true;
	return false;
}

/* " path=..." for those that must be given, " [tail=...]" for those that may. */
static void usage_arguments(const struct tool_view *view, bool required, struct buf *out)
{
	const struct json *key, *property;

	json_for_each_member(key, property, json_get(view->schema, STR("properties"))) {
		if (is_required(view, json_str(key)) != required)
			continue;
		buf_append(out, required ? STR(" ") : STR(" ["));
		display_line(out, json_str(key));
		buf_append(out, required ? STR("=...") : STR("=...]"));
	}
}

static void usage(const struct tool_view *view, const struct json *tool, struct buf *out)
{
	_cleanup_buf_ struct buf line = { 0 };

	buf_init(&line, out->max);
	buf_append(&line, STR("mcpx call "));
	display_line(&line, json_str(json_get(tool, STR("namespace"))));
	buf_append_char(&line, '.');
	display_line(&line, tool_name(tool));
	usage_arguments(view, true, &line);
	usage_arguments(view, false, &line);
	terminal_style(&view->cli->out, out, STYLE_STRONG, buf_str(&line));
	buf_append_char(out, '\n');
}

static void paragraph(const struct tool_view *view, struct str text, struct buf *out)
{
	if (text.n == 0)
		return;
	buf_append_char(out, '\n');
	terminal_append(&view->cli->out, out, str_trim(text));
	buf_append_char(out, '\n');
}

/* "path: string", "tail?: number". A type that would fill the line is one that is written as JSON. */
static void argument_name(struct tool_view *view, struct str name, const struct json *property, bool required,
			  struct buf *out)
{
	struct str type = schema_type(&view->types, view->schema, property, 0);

	display_line(out, name);
	buf_append(out, required ? STR(": ") : STR("?: "));
	if (type.n <= TYPE_COLUMNS) {
		display_line(out, type);
		return;
	}
	buf_append(out, STR("JSON"));
	view->shortened = true;
}

static void argument_entries(struct tool_view *view, bool required, struct buf *out)
{
	const struct json *key, *property;

	json_for_each_member(key, property, json_get(view->schema, STR("properties"))) {
		_cleanup_buf_ struct buf name = { 0 }, description = { 0 };

		if (is_required(view, json_str(key)) != required)
			continue;
		buf_init(&name, out->max);
		buf_init(&description, out->max);
		argument_name(view, json_str(key), property, required, &name);
		display_line(&description, json_str(json_get(property, STR("description"))));
		help_entry(view->cli, out, buf_str(&name), buf_str(&description));
	}
}

static void arguments(struct tool_view *view, struct buf *out)
{
	if (json_count(json_get(view->schema, STR("properties"))) == 0) {
		paragraph(view, STR("It takes no arguments."), out);
		return;
	}
	help_heading(view->cli, out, STR("Arguments"));
	argument_entries(view, true, out);
	argument_entries(view, false, out);
}

void show_tool(struct cli *cli, const struct json *tool, struct buf *out)
{
	struct tool_view view = { .cli = cli, .schema = json_get(tool, STR("inputSchema")) };

	schema_types_init(&view.types, &cli->arena, STR(""));
	usage(&view, tool, out);
	paragraph(&view, json_str(json_get(tool, STR("description"))), out);
	arguments(&view, out);
	if (view.shortened)
		paragraph(&view,
			  arena_printf(&cli->arena, "`mcpx types %.*s.%.*s` has the types in full.",
				       STR_ARG(json_str(json_get(tool, STR("namespace")))),
				       STR_ARG(tool_name(tool))),
			  out);
}

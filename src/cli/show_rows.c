#include "base/base.h"
#include "cli/show_rows.h"

#include "base/units.h"
#include "cli/display.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/tool_name.h"

#define COLUMNS(array) .columns = array, .column_count = ARRAY_LEN(array)

static const struct row_column namespace_columns[] = {
	{ "NAMESPACE", STR_INIT("namespace"), ROW_TEXT, STYLE_NAME },
	{ ">TOOLS", STR_INIT("tools"), ROW_NUMBER, STYLE_PLAIN },
	{ "STATE", STR_INIT("state"), ROW_STATE, STYLE_PLAIN },
	{ "DESCRIPTION", STR_INIT("description"), ROW_SENTENCE, STYLE_PLAIN },
	{ "ERROR", STR_INIT("error"), ROW_TEXT, STYLE_BAD },
};
const struct rows rows_namespaces = {
	.none = "no server is configured: name one under \"mcpServers\" in .mcpx.json; `mcpx config --sources` lists every place",
	.none_on = "every configured server is switched off; `mcpx servers list` shows them",
	COLUMNS(namespace_columns)
};

static const struct row_column tool_columns[] = {
	{ "TOOL", STR_INIT(""), ROW_TOOL, STYLE_NAME },
	{ "DESCRIPTION", STR_INIT("description"), ROW_SENTENCE, STYLE_PLAIN },
};
const struct rows rows_tools = { .none = "no tool is offered", COLUMNS(tool_columns) };
const struct rows rows_search = { .none = "no tool has these words", COLUMNS(tool_columns) };

static const struct row_column artifact_columns[] = {
	{ "ID", STR_INIT("id"), ROW_TEXT, STYLE_NAME },
	{ ">SIZE", STR_INIT("size"), ROW_BYTES, STYLE_PLAIN },
	{ "TYPE", STR_INIT("mime"), ROW_TEXT, STYLE_PLAIN },
	{ "CREATED", STR_INIT("created"), ROW_MOMENT, STYLE_PLAIN },
	{ "EXPIRES", STR_INIT("expires"), ROW_MOMENT, STYLE_PLAIN },
	{ "NAME", STR_INIT("name"), ROW_TEXT, STYLE_PLAIN },
};
const struct rows rows_artifacts = { .list = STR_INIT("artifacts"),
				     .none = "there is no artifact",
				     COLUMNS(artifact_columns) };

static const struct row_column server_columns[] = {
	{ "SERVER", STR_INIT("name"), ROW_TEXT, STYLE_NAME },
	{ "NAMESPACE", STR_INIT("namespace"), ROW_TEXT, STYLE_PLAIN },
	{ "USE", STR_INIT(""), ROW_USE, STYLE_FAINT },
	{ "ALIAS OF", STR_INIT("aliasOf"), ROW_TEXT, STYLE_PLAIN },
	{ "SCOPE", STR_INIT("scope"), ROW_TEXT, STYLE_PLAIN },
	{ "SHARING", STR_INIT("sharing"), ROW_TEXT, STYLE_PLAIN },
	{ "COMMAND", STR_INIT("command"), ROW_TEXT, STYLE_PLAIN },
	{ "URL", STR_INIT("url"), ROW_TEXT, STYLE_PLAIN },
	{ "DEFINED IN", STR_INIT("from"), ROW_TEXT, STYLE_PLAIN },
	{ "ERROR", STR_INIT("error"), ROW_TEXT, STYLE_BAD },
};
const struct rows rows_servers = {
	.list = STR_INIT("servers"),
	.none = "no server is configured: name one under \"mcpServers\" in .mcpx.json; `mcpx config --sources` lists every place",
	COLUMNS(server_columns)
};

static const struct row_column setting_columns[] = {
	{ "SETTING", STR_INIT("path"), ROW_TEXT, STYLE_NAME },
	{ "VALUE", STR_INIT("value"), ROW_VALUE, STYLE_PLAIN },
	{ "FROM", STR_INIT(""), ROW_SOURCE, STYLE_FAINT },
	{ "THIS COMMAND", STR_INIT("here"), ROW_HERE, STYLE_PLAIN },
};
const struct rows rows_settings = { .list = STR_INIT("settings"),
				    .none = "no setting is like that",
				    COLUMNS(setting_columns) };

/* -- cells ----------------------------------------------------------------------------------------------- */

static void cell_bytes(struct table *table, enum style style, const struct json *value)
{
	char text[BYTE_SIZE_TEXT_MAX];
	uint64_t bytes;

	table_cell(table, style, json_u64(value, &bytes) == 0 ? byte_size_rough(text, bytes) : STR(""));
}

/* "2026-07-28T09:08:07.123Z" as "2026-07-28 09:08". */
static void cell_moment(struct table *table, enum style style, struct str text)
{
	if (text.n < sizeof("2026-07-28T09:08") - 1)
		table_cell(table, style, text);
	else
		table_cell_printf(table, style, "%.10s %.5s", text.p, text.p + 11);
}

static void cell_state(struct table *table, struct str state)
{
	table_cell(table,
		   str_eq(state, STR("failed"))	   ? STYLE_BAD
		   : str_eq(state, STR("running")) ? STYLE_GOOD
						   : STYLE_PLAIN,
		   state);
}

/* "env MCPX_POOL_MAX" */
static void cell_source(struct table *table, enum style style, const struct json *record)
{
	struct str source = json_str(json_get(record, STR("source")));
	struct str origin = json_str(json_get(record, STR("origin")));

	table_cell_printf(table, style, "%.*s%s%.*s", STR_ARG(source), origin.n ? " " : "", STR_ARG(origin));
}

/* "3s, env MCPX_POOL_CALL_TIMEOUT" */
static void cell_here(struct table *table, enum style style, const struct json *here)
{
	struct str value = json_str(json_get(here, STR("value")));

	if (here)
		table_cell_printf(table, style, "%.*s, %.*s %.*s", STR_ARG(value.n ? value : STR("(empty)")),
				  STR_ARG(json_str(json_get(here, STR("source")))),
				  STR_ARG(json_str(json_get(here, STR("origin")))));
	else
		table_cell(table, style, STR(""));
}

static void cell(struct cli *cli, struct table *table, const struct row_column *column,
		 const struct json *element)
{
	const struct json *value = column->member.n ? json_get(element, column->member) : element;
	struct str tool;

	switch (column->kind) {
	case ROW_TEXT:
	case ROW_NUMBER:
		table_cell(table, column->style, value ? show_value_text(cli, value) : STR(""));
		break;
	case ROW_SENTENCE:
		table_cell(table, column->style, display_first_sentence(json_str(value)));
		break;
	case ROW_BYTES:
		cell_bytes(table, column->style, value);
		break;
	case ROW_MOMENT:
		cell_moment(table, column->style, json_str(value));
		break;
	case ROW_TOOL:
		tool = arena_concat(&cli->arena, json_str(json_get(element, STR("namespace"))), STR("."),
				    tool_name(element));
		table_cell(table, column->style, tool);
		break;
	case ROW_STATE:
		cell_state(table, json_str(value));
		break;
	case ROW_VALUE:
		table_cell(table, column->style, json_str(value).n ? json_str(value) : STR("(empty)"));
		break;
	case ROW_SOURCE:
		cell_source(table, column->style, element);
		break;
	case ROW_HERE:
		cell_here(table, column->style, value);
		break;
	case ROW_USE:
		table_cell(table, column->style,
			   json_bool_or(json_get(element, STR("disabled")), false) ? STR("off") : STR(""));
		break;
	}
}

void show_rows(struct cli *cli, const struct rows *rows, const struct json *root, struct buf *out)
{
	const struct json *list = rows->list.n ? json_get(root, rows->list) : root;
	const char *headings[TABLE_COLUMNS_MAX];
	const struct json *element;
	struct table table;

	if (json_count(list) == 0) {
		buf_printf(out, "%s\n",
			   rows->none_on && cli->config && cli->config->server_count > 0 ? rows->none_on
											 : rows->none);
		return;
	}
	for (size_t i = 0; i < rows->column_count; i++)
		headings[i] = rows->columns[i].heading;
	table_init(&table, &cli->out, out);
	table_heading(&table, headings, rows->column_count);
	json_for_each(element, list) {
		table_row(&table);
		for (size_t i = 0; i < rows->column_count; i++)
			cell(cli, &table, &rows->columns[i], element);
	}
	table_end(&table);
}

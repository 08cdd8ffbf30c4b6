#include "base/base.h"
#include "cli/show.h"

#include "cli/display.h"
#include "cli/show_rows.h"
#include "cli/show_settings.h"
#include "cli/show_status.h"
#include "cli/table.h"
#include "json/writer.h"

/* -- standard output ------------------------------------------------------------------------------------- */

int show_text(struct cli *cli, struct str text)
{
	struct err err;

	if (terminal_write(&cli->out, text, &err) == 0)
		return CLI_OK;
	/* Not cli_fail(): with --json that would be a document, for the output that cannot be written. */
	cli_say(cli, str_of(err.message));
	return CLI_FAILED;
}

int show_buf(struct cli *cli, const struct buf *out)
{
	if (!buf_failed(out))
		return show_text(cli, buf_str(out));
	cli_note(cli, "the answer is longer than the %d MiB that can be shown", SHOW_MAX >> 20);
	return CLI_FAILED;
}

static void write_pretty(struct buf *out, struct str document)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	struct json_writer w;

	if (json_parse(&doc, document, NULL, NULL) < 0) {
		buf_append(out, document);
		return;
	}
	json_writer_init(&w, out, true);
	json_write_value(&w, json_root(&doc));
}

static int show_pretty(struct cli *cli, struct str document)
{
	_cleanup_buf_ struct buf pretty = { 0 }, out = { 0 };

	buf_init(&pretty, SHOW_MAX);
	buf_init(&out, SHOW_MAX);
	write_pretty(&pretty, document);
	if (buf_failed(&pretty))
		return show_buf(cli, &pretty);
	display_json(&out, buf_str(&pretty));
	buf_append_char(&out, '\n');
	return show_buf(cli, &out);
}

int show_json(struct cli *cli, struct str document)
{
	_cleanup_buf_ struct buf out = { 0 };

	if (cli->out.is_terminal)
		return show_pretty(cli, document);
	buf_init(&out, SHOW_MAX);
	buf_append(&out, str_trim(document));
	buf_append_char(&out, '\n');
	return show_buf(cli, &out);
}

int show_member(struct cli *cli, struct str name, struct str value)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	json_write_object_begin(&w);
	json_member_str(&w, name, value);
	json_write_object_end(&w);
	return show_json(cli, buf_str(&out));
}

int show_version(struct cli *cli)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SHOW_MAX);
	if (cli_wants_json(cli))
		buf_printf(&out, "{\"version\":\"%s\"}\n", cli->version);
	else
		buf_printf(&out, "mcpx %s\n", cli->version);
	return show_buf(cli, &out);
}

/* -- any answer ------------------------------------------------------------------------------------------ */

struct str show_value_text(struct cli *cli, const struct json *value)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	if (json_type(value) == JSON_STRING)
		return arena_copy(&cli->arena, json_str(value));
	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	json_write_value(&w, value);
	return arena_copy(&cli->arena, buf_str(&out));
}

static void show_members(struct cli *cli, const struct json *object, struct buf *out)
{
	const struct json *key, *value;
	struct table table;

	table_init(&table, &cli->out, out);
	json_for_each_member(key, value, object) {
		table_row(&table);
		table_cell(&table, STYLE_NAME, json_str(key));
		table_cell(&table, STYLE_PLAIN, show_value_text(cli, value));
	}
	table_end(&table);
}

/* What each operation's rows are; the others are shown as they come. */
static const struct rows *rows_of(const struct operation *operation)
{
	switch (operation->id) {
	case OPERATION_NAMESPACES:
		return &rows_namespaces;
	case OPERATION_TOOLS:
		return &rows_tools;
	case OPERATION_SEARCH:
		return &rows_search;
	case OPERATION_ARTIFACTS:
		return &rows_artifacts;
	case OPERATION_SERVERS_LIST:
		return &rows_servers;
	case OPERATION_SETTINGS_LIST:
		return &rows_settings;
	default:
		return NULL;
	}
}

static void show_parsed(struct cli *cli, const struct operation *operation, const struct json *root,
			struct buf *out)
{
	const struct rows *rows = rows_of(operation);

	if (rows)
		show_rows(cli, rows, root, out);
	else if (operation->id == OPERATION_HEALTH)
		show_health(cli, root, out);
	else if (operation->id == OPERATION_STATUS)
		show_status(cli, root, out);
	else if (operation->id == OPERATION_REFRESH)
		show_refresh(cli, root, out);
	else if (operation->id == OPERATION_SETTINGS_GET)
		show_setting(root, out);
	else if (operation->id == OPERATION_SETTINGS_SET || operation->id == OPERATION_SETTINGS_UNSET)
		show_setting_change(root, out);
	else if (json_type(root) == JSON_OBJECT)
		show_members(cli, root, out);
	else
		terminal_append(&cli->out, out, show_value_text(cli, root));
}

/* {"types": "..."}: one document, as every other command gives. */
static int show_text_as_json(struct cli *cli, const struct operation *operation, struct str text)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	json_write_object_begin(&w);
	json_member_str(&w, operation->name, text);
	json_write_object_end(&w);
	return show_json(cli, buf_str(&out));
}

int show_answer(struct cli *cli, const struct operation *operation, struct str body)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct err err;

	if ((operation->flags & OPERATION_TEXT) && cli_wants_json(cli))
		return show_text_as_json(cli, operation, body);
	if (operation->flags & OPERATION_TEXT) {
		buf_init(&out, SHOW_MAX);
		terminal_append(&cli->out, &out, body);
		return show_buf(cli, &out);
	}
	if (cli_wants_json(cli) || operation->id == OPERATION_OPENAPI)
		return show_json(cli, body);
	if (json_parse(&doc, body, NULL, &err) < 0) {
		err_prefix(&err, err.code, "the daemon's answer is no JSON");
		return cli_fail(cli, &err);
	}
	buf_init(&out, SHOW_MAX);
	show_parsed(cli, operation, json_root(&doc), &out);
	return show_buf(cli, &out);
}

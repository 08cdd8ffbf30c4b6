/*
 * `mcpx settings`. `list` and `get` resolve here, which is what this command line will use; with --daemon the daemon is asked what it uses. The two
 * may differ, and that difference is what one wants to see: so both are answered in the same records and shown in the same way.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "cli/request.h"
#include "cli/show.h"
#include "settings/record.h"

enum {
	LISTING_MAX = 1 << 20, /* bytes of all settings as records: some ten times what they take */
};

static int list_here(struct cli *cli, const struct setting_filter *filter)
{
	_cleanup_buf_ struct buf answer = { 0 };
	struct json_writer w;

	buf_init(&answer, LISTING_MAX);
	json_writer_init(&w, &answer, false);
	json_write_object_begin(&w);
	json_write_key(&w, STR("settings"));
	settings_write_records(cli->settings, filter, &w);
	json_write_object_end(&w);
	return show_answer(cli, CLI_OPERATION(SETTINGS_LIST), buf_str(&answer));
}

int command_settings_list(struct cli *cli)
{
	const struct arguments *arguments = &cli->arguments;
	struct str scope = argument_text(arguments, STR("scope"));
	struct setting_filter filter = {
		.plumbing = argument_bool(arguments, STR("plumbing")),
		.changed = argument_bool(arguments, STR("changed")),
		.scoped = scope.n > 0,
	};

	if (argument_bool(arguments, STR("daemon")))
		return command_operation(cli);
	if (scope.n && !setting_scope_parse(scope, &filter.scope))
		return command_operation(cli); /* its words were checked against the same table */
	return list_here(cli, &filter);
}

int command_settings_get(struct cli *cli)
{
	struct str path = argument_text(&cli->arguments, STR("path")), near;
	_cleanup_buf_ struct buf answer = { 0 };
	struct json_writer w;
	enum setting setting;
	struct err err;

	if (argument_bool(&cli->arguments, STR("daemon")))
		return command_operation(cli);
	if (!setting_find(path, &setting)) {
		near = setting_suggestion(path);
		err_set(&err, ERR_NOT_FOUND, "there is no setting %s%s%.*s%s", QUOTE(path),
			near.n ? "; did you mean " : "", STR_ARG(near),
			near.n ? "?" : "; `mcpx settings list --plumbing` has them all");
		return cli_fail(cli, &err);
	}
	buf_init(&answer, LISTING_MAX);
	json_writer_init(&w, &answer, false);
	setting_write_record(cli->settings, setting, &w);
	return show_answer(cli, CLI_OPERATION(SETTINGS_GET), buf_str(&answer));
}

/* A change that did not come about is a failure, whatever the daemon's answer calls it. */
static bool was_applied(struct str body, struct cli *cli, struct str *ret_note)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	if (json_parse(&doc, body, NULL, NULL) < 0 ||
	    json_bool_or(json_get(json_root(&doc), STR("applied")), true))
		return true;
	*ret_note = arena_copy(&cli->arena, json_str(json_get(json_root(&doc), STR("note"))));
	return false;
}

int command_settings_set(struct cli *cli)
{
	struct request request;
	struct str body, note;
	unsigned status;
	struct err err;

	request_from_arguments(cli, &request);
	if (request_whole(cli, &request, &status, &body, &err) < 0)
		return cli_fail(cli, &err);
	if (!request_succeeded(status))
		return request_refused(cli, status, body);
	if (was_applied(body, cli, &note))
		return show_answer(cli, request.operation, body);
	err_set(&err, ERR_DENIED, "%.*s stays as it is: %.*s",
		STR_ARG(argument_text(&cli->arguments, STR("path"))), STR_ARG(note));
	return cli_fail_with(cli, &err, body);
}

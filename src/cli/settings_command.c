/*
 * `mcpx settings`. Settings that the daemon acts on are in force there and not here, so one that runs is
 * asked, and its values are shown, with a word where this command's own layers say something else. None is
 * started for that: without one, what is shown is what this command would start one with. --daemon asks the
 * daemon alone.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "cli/reach.h"
#include "cli/request.h"
#include "cli/show.h"
#include "settings/record.h"

enum {
	LISTING_MAX = 4 << 20, /* bytes of all records: some ten times what they take */
};

/* -- what the daemon says -------------------------------------------------------------------------------- */

/* One document of a running daemon; false when there is none, or when it does not say. */
static bool ask_running(struct cli *cli, struct str target, struct json_doc *ret_doc)
{
	struct request request = { .target = target };
	uint64_t patience = settings_duration(cli->settings, SETTING_AUTOSTART_PING_TIMEOUT);
	struct str body;
	unsigned status;
	struct err err;
	int r = daemon_reach_running(cli, &err);

	if (r == ERR_NOT_FOUND)
		return false;
	if (r == 0) {
		cli->daemon.limits = http_client_limits_all(patience);
		r = request_whole(cli, &request, &status, &body, &err);
	}
	if (r == 0 && request_succeeded(status))
		return json_parse(ret_doc, body, NULL, NULL) == 0;
	if (r < 0)
		cli_note(cli, "the daemon does not say what it uses: %s", err.message);
	return false;
}

static const struct json *record_of(const struct json *records, struct str path)
{
	const struct json *record;

	json_for_each(record, records)
		if (str_eq(json_str(json_get(record, STR("path"))), path))
			return record;
	return NULL;
}

static bool is_of(const struct json *record, const char *member, const char *word)
{
	return str_eq(json_str(json_get(record, str_of(member))), str_of(word));
}

/* -- one record of two ----------------------------------------------------------------------------------- */

static void write_member(struct json_writer *w, const char *name, const struct json *value)
{
	if (!value)
		return;
	json_write_key(w, str_of(name));
	json_write_value(w, value);
}

/* What this command's layers say, where that is something else than what is in force. */
static void write_here(struct json_writer *w, const struct json *here, const struct json *there)
{
	if (json_equal(json_get(here, STR("value")), json_get(there, STR("value"))))
		return;
	json_write_key(w, STR("here"));
	json_write_object_begin(w);
	write_member(w, "value", json_get(here, STR("value")));
	write_member(w, "source", json_get(here, STR("source")));
	write_member(w, "origin", json_get(here, STR("origin")));
	json_write_object_end(w);
}

/* What our own value displaced: our variable, where it is a flag's, and then all that the daemon has. */
static void write_displaced(struct json_writer *w, const struct json *here, const struct json *there)
{
	const struct json *layer;

	json_write_key(w, STR("shadowed"));
	json_write_array_begin(w);
	json_for_each(layer, json_get(here, STR("shadowed")))
		if (is_of(layer, "source", "env"))
			json_write_value(w, layer);
	json_for_each(layer, json_get(there, STR("shadowed")))
		json_write_value(w, layer);
	json_write_array_end(w);
}

/*
 * `there` is what the daemon says, to a request that carries what this command decides for its own calls:
 * those values come back with the source "call", and only we know which variable or flag that was.
 */
static void write_merged(struct json_writer *w, const struct json *here, const struct json *there)
{
	bool ours = is_of(there, "source", "call");
	const struct json *key, *value;

	json_write_object_begin(w);
	json_for_each_member(key, value, there) {
		if (ours && str_eq(json_str(key), STR("source"))) {
			write_member(w, "source", json_get(here, STR("source")));
			write_member(w, "origin", json_get(here, STR("origin")));
		} else if (ours && str_eq(json_str(key), STR("shadowed"))) {
			write_displaced(w, here, there);
		} else {
			json_write_key(w, json_str(key));
			json_write_value(w, value);
		}
	}
	json_member_bool(w, STR("fromDaemon"), true);
	write_here(w, here, there);
	json_write_object_end(w);
}

/* The daemon acts on it, alone or together with this command. */
static bool daemon_decides(const struct json *here)
{
	return is_of(here, "scope", "daemon") || is_of(here, "scope", "call");
}

static void write_in_force(struct json_writer *w, const struct json *here, const struct json *there)
{
	if (there && daemon_decides(here))
		write_merged(w, here, there);
	else
		json_write_value(w, here);
}

/* -- list ------------------------------------------------------------------------------------------------ */

static bool filter_needs_daemon(const struct setting_filter *filter)
{
	return !filter->scoped || filter->scope == SETTING_SCOPE_DAEMON ||
	       filter->scope == SETTING_SCOPE_CALL;
}

static bool is_changed(const struct json *here, const struct json *there)
{
	return !is_of(here, "source", "default") ||
	       (there && daemon_decides(here) && !is_of(there, "source", "default"));
}

static void write_list(struct json_writer *w, const struct json *here, const struct json *there, bool changed)
{
	const struct json *record;

	json_write_object_begin(w);
	json_write_key(w, STR("settings"));
	json_write_array_begin(w);
	json_for_each(record, here) {
		const struct json *other = record_of(there, json_str(json_get(record, STR("path"))));

		if (!changed || is_changed(record, other))
			write_in_force(w, record, other);
	}
	json_write_array_end(w);
	json_write_object_end(w);
}

/* A slip in the name of a variable has no effect, and nothing else would say so. */
static void note_misspelt(struct cli *cli)
{
	struct str name, meant;
	size_t at = 0;

	while (settings_next_misspelt(&cli->environment, &at, &name, &meant))
		cli_note(cli, "the variable %s is no setting; did you mean %.*s?", QUOTE(name),
			 STR_ARG(meant));
}

static int list(struct cli *cli, const struct setting_filter *filter, bool changed)
{
	_cleanup_json_ struct json_doc here = { 0 };
	_cleanup_json_ struct json_doc there = { 0 };
	_cleanup_buf_ struct buf records = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&records, LISTING_MAX);
	json_writer_init(&w, &records, false);
	settings_write_records(cli->settings, filter, &w);
	BUG_ON(json_parse(&here, buf_str(&records), NULL, NULL) < 0);
	if (filter_needs_daemon(filter))
		(void)ask_running(cli, STR("/v1/settings?plumbing=true"), &there);
	buf_init(&out, LISTING_MAX);
	json_writer_init(&w, &out, false);
	write_list(&w, json_root(&here), json_get(json_root(&there), STR("settings")), changed);
	note_misspelt(cli);
	return show_answer(cli, CLI_OPERATION(SETTINGS_LIST), buf_str(&out));
}

int command_settings_list(struct cli *cli)
{
	const struct arguments *arguments = &cli->arguments;
	struct str scope = argument_text(arguments, STR("scope"));
	struct setting_filter filter = {
		.plumbing = argument_bool(arguments, STR("plumbing")),
		.scoped = scope.n > 0,
	};

	if (argument_bool(arguments, STR("daemon")))
		return command_operation(cli);
	if (scope.n && !setting_scope_parse(scope, &filter.scope))
		return command_operation(cli); /* its words were checked against the same table */
	return list(cli, &filter, argument_bool(arguments, STR("changed")));
}

/* -- get ------------------------------------------------------------------------------------------------- */

static int show_one(struct cli *cli, enum setting setting)
{
	struct str target =
		arena_concat(&cli->arena, STR("/v1/settings/"), setting_declaration(setting)->path, STR(""));
	_cleanup_json_ struct json_doc here = { 0 };
	_cleanup_json_ struct json_doc there = { 0 };
	_cleanup_buf_ struct buf record = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&record, LISTING_MAX);
	json_writer_init(&w, &record, false);
	setting_write_record(cli->settings, setting, &w);
	BUG_ON(json_parse(&here, buf_str(&record), NULL, NULL) < 0);
	if (daemon_decides(json_root(&here)))
		(void)ask_running(cli, target, &there);
	buf_init(&out, LISTING_MAX);
	json_writer_init(&w, &out, false);
	write_in_force(&w, json_root(&here), json_root(&there));
	return show_answer(cli, CLI_OPERATION(SETTINGS_GET), buf_str(&out));
}

int command_settings_get(struct cli *cli)
{
	enum setting setting;
	struct err err;

	if (argument_bool(&cli->arguments, STR("daemon")))
		return command_operation(cli);
	if (setting_named(argument_text(&cli->arguments, STR("path")), &setting, &err) < 0)
		return cli_fail(cli, &err);
	return show_one(cli, setting);
}

/* -- set ------------------------------------------------------------------------------------------------- */

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
	int status;
	struct err err;

	request_from_arguments(cli, &request);
	if ((status = request_answered(cli, &request, &body)) != CLI_OK)
		return status;
	if (was_applied(body, cli, &note))
		return show_answer(cli, request.operation, body);
	err_set(&err, ERR_DENIED, "%.*s stays as it is: %.*s",
		STR_ARG(argument_text(&cli->arguments, STR("path"))), STR_ARG(note));
	return cli_fail_with(cli, &err, body);
}

/*
 * `mcpx call`: the tool's schema is asked for only when a word's type depends on it, over the same connection
 * as the call. A call whose progress is shown is relayed: a line for each notification, and the ordinary
 * answer last as {"status", "body"}.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "cli/show.h"
#include "cli/tool_arguments.h"
#include "cli/tool_hint.h"
#include "cli/tool_result.h"
#include "json/writer.h"

enum {
	METHOD_NOT_FOUND = -32601, /* JSON-RPC 2.0 section 5.1 */
	INVALID_PARAMS = -32602
};

struct call {
	struct cli *cli;
	struct str namespace, tool;
	struct progress progress;
	bool relay;
	unsigned status; /* of the answer */
	struct str body;
};

/* -- the tool -------------------------------------------------------------------------------------------- */

static int call_split_name(struct call *call, struct str name, struct err *err)
{
	size_t dot = str_find_char(name, '.');

	call->namespace = str_slice(name, 0, dot);
	call->tool = dot == STR_NONE ? str_make(NULL, 0) : str_from(name, dot + 1);
	if (!call->namespace.n || !call->tool.n)
		return err_set(err, ERR_INVALID,
			       "%s names no tool: write namespace.tool, as `mcpx tools` lists them",
			       QUOTE(name));
	return 0;
}

/* The input schema within the answer, which `doc` holds; NULL when the tool is not known, which the call will
 * tell better. */
static int call_find_schema(struct call *call, struct json_doc *doc, const struct json **ret_schema,
			    struct err *err)
{
	struct cli *cli = call->cli;
	struct request request = { .operation = CLI_OPERATION(TOOLS) };
	struct str name = arena_concat(&cli->arena, call->namespace, STR("."), call->tool);
	unsigned status;
	struct str body;
	int r;

	request.target = request_target(cli, request.operation->route, STR("ns"), name);
	r = request_whole(cli, &request, &status, &body, err);
	if (r < 0)
		return r;
	*ret_schema = NULL;
	if (request_succeeded(status) && json_parse(doc, body, NULL, NULL) == 0)
		*ret_schema = json_get(json_at(json_root(doc), 0), STR("inputSchema"));
	return 0;
}

static int call_arguments(struct call *call, struct str *ret_arguments, struct err *err)
{
	struct cli *cli = call->cli;
	const struct tool_words words = { cli->arguments.rest, cli->arguments.rest_count };
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *schema = NULL;
	int r = 0;

	if (tool_words_need_schema(&words))
		r = call_find_schema(call, &doc, &schema, err);
	if (r == 0)
		r = tool_arguments(&words, schema,
				   settings_bytes(cli->settings, SETTING_HTTP_CALL_BODY_LIMIT), &cli->arena,
				   ret_arguments, err);
	return r;
}

/* -- asking ---------------------------------------------------------------------------------------------- */

/* People are shown links to artifacts instead of bytes; who takes the document may say so. */
static bool call_wants_links(const struct call *call)
{
	const struct cli *cli = call->cli;

	if (argument_text(&cli->arguments, STR("links")).p)
		return argument_bool(&cli->arguments, STR("links"));
	return !cli_wants_json(cli) && !argument_bool(&cli->arguments, STR("raw"));
}

static struct str call_body(struct call *call, struct str arguments)
{
	struct cli *cli = call->cli;
	struct str timeout = argument_text(&cli->arguments, STR("timeoutMs"));
	_cleanup_buf_ struct buf body = { 0 };
	struct json_writer w;

	buf_init(&body, SHOW_MAX);
	json_writer_init(&w, &body, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("server"), call->namespace);
	json_member_str(&w, STR("tool"), call->tool);
	json_member_raw(&w, STR("args"), arguments);
	if (timeout.n)
		json_member_raw(&w, STR("timeoutMs"), timeout);
	if (call->relay)
		json_member_bool(&w, STR("relay"), true);
	if (call_wants_links(call))
		json_member_bool(&w, STR("links"), true);
	json_write_object_end(&w);
	return arena_copy(&cli->arena, buf_str(&body));
}

/* A notification, or the answer. */
static int call_line(void *context, struct str line)
{
	struct call *call = context;
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root;
	uint64_t status;

	if (json_parse(&doc, line, NULL, NULL) < 0)
		return 0;
	root = json_root(&doc);
	if (str_eq(json_str(json_get(root, STR("method"))), STR("notifications/progress")))
		progress_show(&call->progress, json_get(root, STR("params")));
	if (json_u64(json_get(root, STR("status")), &status) == 0) {
		call->status = (unsigned)status;
		call->body = show_value_text(call->cli, json_get(root, STR("body")));
	}
	return 0;
}

static int call_read_lines(struct call *call, const struct request *request, struct err *err)
{
	size_t line_max = settings_bytes(call->cli->settings, SETTING_HTTP_RESPONSE_MAX);
	int r = http_client_read_lines(&call->cli->daemon, line_max, call_line, call, err);

	progress_end(&call->progress);
	return r == ERR_CLOSED || (r == 0 && !call->status) ? request_lost(request, false, err) : r;
}

static int call_ask(struct call *call, struct str arguments, struct err *err)
{
	struct cli *cli = call->cli;
	struct request request = { .operation = CLI_OPERATION(CALL),
				   .target = CLI_OPERATION(CALL)->route,
				   .body = call_body(call, arguments),
				   .session = argument_text(&cli->arguments, STR("session")) };
	struct http_client_answer answer;
	int r = request_send(cli, &request, &answer, err);

	if (r < 0)
		return r;
	if (str_starts_with(http_client_field(&answer, STR("content-type")), STR("application/x-ndjson")))
		return call_read_lines(call, &request, err);
	call->status = answer.status;
	return request_read_body(cli, &call->body, err);
}

/* -- showing --------------------------------------------------------------------------------------------- */

/* Whether the server's answer was that it knows no such method or takes no such parameters (JSON-RPC 2.0
 * section 5.1). */
static bool may_be_misnamed(struct str body)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	int64_t code;

	return json_parse(&doc, body, NULL, NULL) == 0 &&
	       json_i64(json_pointer(json_root(&doc), STR("/upstream/code")), &code) == 0 &&
	       (code == METHOD_NOT_FOUND || code == INVALID_PARAMS);
}

/* Servers say in many ways that they have no such tool, so it is looked up. */
static void hint_at_names(struct call *call)
{
	struct str hint = tool_hint(call->cli, call->namespace, call->tool);

	if (hint.n)
		cli_say(call->cli, hint);
}

/* What a tool says of its failure, which may be nothing, or nothing that can be seen. */
static void write_failure(const struct terminal *terminal, const struct json *result, struct buf *out)
{
	struct str mark = STR("mcpx: ");

	buf_append(out, mark);
	tool_result_text(terminal, result, out);
	if (buf_failed(out) || str_trim(str_from(buf_str(out), mark.n)).n == 0) {
		buf_clear(out, 0);
		buf_append(out,
			   STR("mcpx: the tool failed and did not say why; --raw shows what it answered\n"));
	}
}

static int show_result(struct call *call, const struct json *answer)
{
	struct cli *cli = call->cli;
	const struct json *result = json_get(answer, STR("result"));
	bool failed = tool_result_is_error(result);
	const struct terminal *terminal = failed ? &cli->error : &cli->out;
	_cleanup_buf_ struct buf out = { 0 };
	int shown = CLI_OK;

	buf_init(&out, SHOW_MAX);
	if (cli_wants_json(cli)) {
		shown = show_json(cli, call->body);
	} else if (argument_bool(&cli->arguments, STR("raw"))) {
		shown = show_json(cli, show_value_text(cli, result));
	} else {
		if (failed) {
			write_failure(terminal, result, &out);
			(void)terminal_write(terminal, buf_str(&out), NULL);
		} else {
			tool_result_text(terminal, result, &out);
			shown = show_buf(cli, &out);
		}
	}
	if (failed)
		hint_at_names(call);
	return failed ? CLI_FAILED : shown;
}

static int call_refused(struct call *call)
{
	int status = request_refused(call->cli, call->status, call->body);

	if (may_be_misnamed(call->body))
		hint_at_names(call);
	return status;
}

static int call_show(struct call *call)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	struct err err;

	if (!request_succeeded(call->status))
		return call_refused(call);
	if (json_parse(&doc, call->body, NULL, &err) < 0) {
		err_prefix(&err, err.code, "the daemon's answer is no JSON");
		return cli_fail(call->cli, &err);
	}
	return show_result(call, json_root(&doc));
}

int command_call(struct cli *cli)
{
	struct call call = { .cli = cli, .progress = { .terminal = &cli->error } };
	struct str arguments, timeout = argument_text(&cli->arguments, STR("timeoutMs"));
	struct err err;
	int r;

	(void)str_to_u64(timeout, &cli->patience_ms);
	call.relay = progress_wanted(cli->settings, &cli->error);
	interrupt_ends(call.relay && progress_is_one_line(&cli->error) ? PROGRESS_WIPE : NULL);
	if (call_split_name(&call, argument_text(&cli->arguments, STR("tool")), &err) < 0)
		return cli_fail_usage(cli, &err);
	r = call_arguments(&call, &arguments, &err);
	if (r == ERR_INVALID)
		return cli_fail_usage(cli, &err);
	if (r < 0 || call_ask(&call, arguments, &err) < 0)
		return cli_fail(cli, &err);
	return call_show(&call);
}

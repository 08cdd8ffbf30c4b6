#include "base/base.h"
#include "cli/request.h"

#include "base/quote.h"
#include "cli/reach.h"
#include "json/json.h"
#include "json/writer.h"
#include "text/percent.h"

enum {
	FIELDS_MAX = 12,      /* of one request: the callers of request_fields() add at most so many */
	TARGET_MAX = 1 << 20, /* far beyond what the daemon takes, whose refusal says what its limit is */
	SETTINGS_HEADER_MAX = 8192, /* of the header of settings: half of what a request's head may have */
	STATUS_UNAVAILABLE = 503,
	STATUS_TIMED_OUT = 504,
	RESENDS_MAX = 8,       /* of one request, to daemons that end one after the other */
	HEARD_RESENDS_MAX = 3, /* of one that they had heard: it may be what ends them */
};

/* -- target and body ------------------------------------------------------------------------------------- */

struct str request_target(struct cli *cli, struct str target, struct str name, struct str value)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, TARGET_MAX);
	buf_append(&out, target);
	buf_append_char(&out, str_find_char(target, '?') == STR_NONE ? '?' : '&');
	percent_encode(&out, name);
	buf_append_char(&out, '=');
	percent_encode(&out, value);
	return buf_failed(&out) ? target : arena_copy(&cli->arena, buf_str(&out));
}

/* "/v1/artifacts/{id}" with the parameter in its place. */
static struct str fill_route(struct cli *cli, struct str route, struct str parameter)
{
	size_t brace = str_find_char(route, '{');
	_cleanup_buf_ struct buf out = { 0 };

	if (brace == STR_NONE)
		return route;
	buf_init(&out, TARGET_MAX);
	buf_append(&out, str_slice(route, 0, brace));
	percent_encode(&out, parameter);
	return buf_failed(&out) ? route : arena_copy(&cli->arena, buf_str(&out));
}

/* What was typed for an input: its own word, or the rest of the line. */
static struct str input_text(struct cli *cli, size_t at)
{
	const struct arguments *arguments = &cli->arguments;
	const struct operation_input *input = &arguments->command->inputs[at];

	if (input->command == INPUT_REST && arguments->rest_count)
		return arguments_joined(arguments, &cli->arena);
	return arguments->values[at].input ? arguments->values[at].text : str_make(NULL, 0);
}

static void write_input(struct json_writer *w, const struct operation_input *input, struct str text)
{
	json_write_key(w, input->name);
	if (input->kind == INPUT_STRING)
		json_write_str(w, text);
	else
		json_write_raw(w, text); /* a number or a boolean, checked when it was parsed */
}

void request_from_arguments(struct cli *cli, struct request *request)
{
	const struct operation *operation = cli->arguments.command->operation;
	_cleanup_buf_ struct buf body = { 0 };
	struct json_writer w;
	bool has_body = false;

	*request = (struct request){ .operation = operation, .target = operation->route };
	buf_init(&body, TARGET_MAX);
	json_writer_init(&w, &body, false);
	json_write_object_begin(&w);
	for (size_t i = 0; i < operation->input_count; i++) {
		const struct operation_input *input = &operation->inputs[i];
		struct str text = input_text(cli, i);

		if (!text.p)
			continue;
		if (input->place == INPUT_PATH)
			request->target = fill_route(cli, request->target, text);
		else if (input->place == INPUT_QUERY)
			request->target = request_target(cli, request->target, input->name, text);
		else if (input->place == INPUT_BODY)
			write_input(&w, input, text);
		has_body |= input->place == INPUT_BODY;
	}
	json_write_object_end(&w);
	if (has_body && !buf_failed(&body))
		request->body = arena_copy(&cli->arena, buf_str(&body));
}

/* -- who asks -------------------------------------------------------------------------------------------- */

struct field_list {
	struct http_field fields[FIELDS_MAX];
	size_t count;
};

/* A value that a header cannot carry, such as a directory with a line end in its name, is left out rather
 * than sent wrong. */
static void add_field(struct field_list *list, struct str name, struct str value)
{
	if (value.n == 0 || !http_is_field_value(value))
		return;
	BUG_ON(list->count == FIELDS_MAX);
	list->fields[list->count++] = (struct http_field){ name, value };
}

static struct str settings_header(struct cli *cli)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SETTINGS_HEADER_MAX);
	settings_write_header(cli->settings, &out);
	return buf_failed(&out) ? str_make(NULL, 0) : arena_copy(&cli->arena, buf_str(&out));
}

struct str request_session(const struct cli *cli, struct str named)
{
	return named.n ? named : environment_get(&cli->environment, STR("MCPX_SESSION_ID"));
}

struct str request_pid(struct cli *cli)
{
	struct str named = environment_get(&cli->environment, STR("MCPX_PID"));

	return str_is_digits(named) ? named : arena_printf(&cli->arena, "%d", (int)getpid());
}

static int request_fields(struct cli *cli, const struct request *request, struct field_list *list,
			  struct err *err)
{
	const struct environment *environment = &cli->environment;
	struct str session = request_session(cli, request->session);

	list->count = 0;
	if (!http_is_field_value(session))
		return err_set(err, ERR_INVALID,
			       "%s is no session: its name may hold no line ends or other control characters",
			       QUOTE(session));
	add_field(list, STR("X-Mcpx-Cwd"), cli->cwd);
	add_field(list, STR("X-Mcpx-Pid"), request_pid(cli));
	add_field(list, STR("X-Mcpx-Session"), session);
	add_field(list, STR("X-Mcpx-Parent-Session"),
		  environment_get(environment, STR("MCPX_PARENT_SESSION_ID")));
	add_field(list, STR("X-Mcpx-Run"), environment_get(environment, STR("MCPX_RUN")));
	add_field(list, STR("X-Mcpx-Settings"), settings_header(cli));
	if (request->body.n)
		add_field(list, STR("Content-Type"), STR("application/json"));
	if (request->upgrade.n) {
		add_field(list, STR("Connection"), STR("Upgrade"));
		add_field(list, STR("Upgrade"), request->upgrade);
	}
	return 0;
}

/* -- sending --------------------------------------------------------------------------------------------- */

/* *ret_lost: the daemon was there, and ended before it answered. */
static int send_once(struct cli *cli, const struct http_client_request *sent,
		     struct http_client_answer *ret_answer, bool *ret_lost, struct err *err)
{
	int r = http_client_reusable(&cli->daemon) ? 0 : daemon_reach(cli, err);

	*ret_lost = false;
	if (r < 0)
		return r;
	r = http_client_send(&cli->daemon, sent, ret_answer, err);
	*ret_lost = r == ERR_CLOSED;
	return r;
}

static bool reads_only(const struct request *request)
{
	return !request->operation || !(request->operation->flags & OPERATION_MUTATES);
}

/* Whether to ask again changes nothing that the first time may have changed already, and is answered alike:
 * what was deleted the first time is not found the second. */
static bool repeats(const struct request *request)
{
	return reads_only(request) ||
	       (request->operation->flags & (OPERATION_REPEATS | OPERATION_DESTROYS)) == OPERATION_REPEATS;
}

/* How often a request was sent again. */
struct resends {
	unsigned all, heard;
};

static bool may_send_again(const struct cli *cli, const struct request *request, struct resends *resends)
{
	return http_client_repeatable(&cli->daemon) && !request->for_this_daemon &&
	       resends->all++ < RESENDS_MAX;
}

/* What a daemon has heard goes to the next only if that changes nothing. */
static bool may_send_lost(const struct cli *cli, const struct request *request, struct resends *resends)
{
	return may_send_again(cli, request, resends) &&
	       (http_client_unheard(&cli->daemon) ||
		(repeats(request) && resends->heard++ < HEARD_RESENDS_MAX));
}

int request_lost(const struct request *request, bool unheard, struct err *err)
{
	const char *effect = ": whether this took effect is not known";

	if (reads_only(request))
		effect = "";
	else if (unheard)
		effect = ": this took no effect";
	return err_set(err, ERR_CLOSED,
		       "the daemon ended before it answered%s; the next command starts another", effect);
}

bool request_met_end(const struct http_client_answer *answer)
{
	return answer->status == STATUS_UNAVAILABLE && http_client_field(answer, STR("retry-after")).p;
}

/* The daemon ends, does this no more, and lives on only for the scripts that run in it. */
static bool is_for_the_next(const struct cli *cli, const struct request *request,
			    const struct http_client_answer *answer, struct resends *resends)
{
	return request_met_end(answer) && daemon_may_be_started(cli) && may_send_again(cli, request, resends);
}

int request_send(struct cli *cli, const struct request *request, struct http_client_answer *ret_answer,
		 struct err *err)
{
	struct field_list list;
	struct http_client_request sent = {
		.method = request->operation ? request->operation->method : STR("GET"),
		.target = request->target,
		.fields = list.fields,
		.body = request->body,
		.has_body_fd = request->has_body_fd,
		.body_fd = request->body_fd,
		.body_length = request->body_length,
	};
	int r = request_fields(cli, request, &list, err);
	struct resends resends = { 0 };
	bool lost;

	if (r < 0)
		return r;
	sent.field_count = list.count;
	r = send_once(cli, &sent, ret_answer, &lost, err);
	/* A daemon that is just ending closes connections that it never looked at. */
	for (;;) {
		if (r == 0 && is_for_the_next(cli, request, ret_answer, &resends))
			r = daemon_wait_end(cli, daemon_process(cli), err);
		else if (!lost || !may_send_lost(cli, request, &resends))
			break;
		if (r < 0 && !lost)
			return r;
		r = send_once(cli, &sent, ret_answer, &lost, err);
	}
	return lost ? request_lost(request, http_client_unheard(&cli->daemon), err) : r;
}

static int cut_off(struct err *err)
{
	return err_set(err, ERR_CLOSED,
		       "the daemon ended in the middle of its answer; the next command starts another");
}

int request_read_body(struct cli *cli, struct str *ret_body, struct err *err)
{
	_cleanup_buf_ struct buf body = { 0 };
	int r;

	buf_init(&body, settings_bytes(cli->settings, SETTING_HTTP_RESPONSE_MAX));
	r = http_client_read_all(&cli->daemon, &body, err);
	if (r == 0)
		*ret_body = arena_copy(&cli->arena, buf_str(&body));
	return r == ERR_CLOSED ? cut_off(err) : r;
}

int request_read(struct cli *cli, char *room, size_t n, size_t *ret_n, struct err *err)
{
	int r = http_client_read(&cli->daemon, room, n, ret_n, err);

	return r == ERR_CLOSED ? cut_off(err) : r;
}

int request_whole(struct cli *cli, const struct request *request, unsigned *ret_status, struct str *ret_body,
		  struct err *err)
{
	struct http_client_answer answer;
	int r = request_send(cli, request, &answer, err);

	if (r < 0)
		return r;
	*ret_status = answer.status;
	return request_read_body(cli, ret_body, err);
}

/* -- refusals -------------------------------------------------------------------------------------------- */

int request_refusal(unsigned status, struct str body, struct err *err)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	struct str message = { NULL, 0 };

	if (json_parse(&doc, body, NULL, NULL) == 0)
		message = json_str(json_get(json_root(&doc), STR("error")));
	if (!message.n)
		return err_set(err, ERR_PROTOCOL, "the daemon answered with status %u and no message",
			       status);
	return err_set(err, status == STATUS_TIMED_OUT ? ERR_TIMEOUT : ERR_UPSTREAM, "%.*s",
		       STR_ARG(message));
}

int request_refused(struct cli *cli, unsigned status, struct str body)
{
	struct err err;
	int r = request_refusal(status, body, &err);

	return cli_fail_with(cli, &err, r == ERR_PROTOCOL ? str_make(NULL, 0) : body);
}

int request_answered(struct cli *cli, const struct request *request, struct str *ret_body)
{
	struct str body;
	unsigned status;
	struct err err;

	if (request_whole(cli, request, &status, &body, &err) < 0)
		return cli_fail(cli, &err);
	if (!request_succeeded(status))
		return request_refused(cli, status, body);
	*ret_body = body;
	return CLI_OK;
}

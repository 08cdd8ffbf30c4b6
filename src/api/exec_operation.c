/*
 * POST /v1/exec and the tool mcpx_exec: the daemon runs a script, and whoever asked gets a document, its
 * text, or a stream of frames. Who asked and goes away ends the run.
 */
#include "base/base.h"
#include "api/api.h"
#include "api/exec_delivery.h"
#include "api/exec_options.h"
#include "api/long_text.h"
#include "api/script_operations.h"
#include "exec/report.h"
#include "exec/run.h"
#include "exec/run_limits.h"
#include "text/utf8.h"

struct exec_operation {
	struct api_call *call;
	struct list_node node; /* in api->runs */
	struct exec_options options;
	struct hub_ready ready;
	struct exec_run run;
	struct exec_delivery delivery;
	struct exec_report report;  /* unless the output is streamed */
	struct exec_text text;	    /* of a stream of text */
	struct long_text long_text; /* the report, for a model, when it is too long for one */
	struct http_stream stream;
	struct timer ping; /* of a stream of events, or of a client that is told of progress */
	bool streaming;	   /* the answer has begun */
	bool events;	   /* as events, not lines */
	bool own_session;  /* made up for this run */
	uint64_t steps;	   /* of progress that were told */
	uint64_t step_at;  /* loop_now() of the last that the script made; 0: there was none */
};

enum {
	STEP_TEXT_MAX = 200, /* bytes of what is said about one: the script's log has the rest */
	STEP_PAUSE_MS = 20,  /* from one to the next, at the least */
};

static struct exec_operation *operation_of(const struct exec_delivery *delivery)
{
	return container_of(delivery, struct exec_operation, delivery);
}

/* -- life ------------------------------------------------------------------------------------------------ */

/* Everything but the answer is over. */
static void exec_operation_release(struct exec_operation *op)
{
	struct api *api = op->call->api;

	timer_stop(&op->ping);
	hub_ready_cancel(&op->ready);
	/* Instances that nobody else can use any more. */
	if (op->own_session && op->delivery.session.n)
		(void)pool_end_session(api->hub->pool, op->delivery.session);
	exec_run_cancel(&op->run);
	exec_delivery_release(&op->delivery);
	long_text_cancel(&op->long_text);
	exec_report_release(&op->report);
	list_remove(&op->node);
	if (--api->run_count == 0 && api->draining)
		api->program.emptied(api->program.context);
}

static void exec_cancelled(struct api_call *call)
{
	exec_operation_release(call->state);
}

/* The call is answered by other means than api_answer_*(). */
static void exec_over(struct exec_operation *op)
{
	api_call_over(op->call);
	exec_operation_release(op);
}

/* The script did nothing: whoever asked must change something, or come again. */
static void exec_refuse(struct exec_operation *op, const struct err *err)
{
	struct api_call *call = op->call;
	unsigned status = err->code == ERR_BUSY ? api_status_of(ERR_BUSY) : api_status_of(ERR_INVALID);

	exec_operation_release(op);
	api_answer_status(call, status, err);
}

/* -- a document ------------------------------------------------------------------------------------------ */

static bool collect_frame(struct exec_delivery *delivery, const struct exec_frame *frame, struct str value)
{
	exec_report_take(&operation_of(delivery)->report, frame, value);
	return true;
}

/* Links to what the run made; of a run that made so much that they alone would be too long, where they
 * are. */
static void write_links(const struct exec_operation *op, struct json_writer *w)
{
	struct str links = buf_str(&op->delivery.links);

	if (long_text_is(op->call, links))
		api_write_text_block(
			w,
			arena_printf(
				op->call->arena,
				"[mcpx: the links to what this run made are %zu bytes long (mcp.textMax): mcpx_artifacts "
				"lists them, with run %s.]",
				links.n, op->run.id));
	else if (links.n)
		json_write_raw(w, links);
}

/* What a model gets: the text of the run, and links to what it made. */
static void write_tool_result(const struct exec_operation *op, struct json_writer *w)
{
	json_write_object_begin(w);
	json_write_key(w, STR("content"));
	json_write_array_begin(w);
	if (op->long_text.call)
		long_text_write(&op->long_text, w);
	else
		api_write_text_block(w, exec_report_text(&op->report));
	write_links(op, w);
	json_write_array_end(w);
	if (op->run.outcome.failed)
		json_member_bool(w, STR("isError"), true);
	json_write_object_end(w);
}

static void answer_model(struct exec_operation *op)
{
	struct api_call *call = op->call;
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	api_writer_init(&w, &out);
	write_tool_result(op, &w);
	exec_operation_release(op);
	api_answer_model(call, &out);
}

static void report_kept(struct long_text *text)
{
	answer_model(container_of(text, struct exec_operation, long_text));
}

static void answer_document(struct exec_delivery *delivery)
{
	struct exec_operation *op = operation_of(delivery);
	struct api_call *call = op->call;
	const struct artifact_spec spec = {
		.name = STR("output.txt"),
		.mime = STR("text/plain"),
		.run = str_of(op->run.id),
		.session = op->delivery.session,
	};
	struct json_writer w;
	struct buf out;

	if (long_text_is(call, exec_report_text(&op->report))) {
		long_text_start(&op->long_text, call, exec_report_text(&op->report), &spec, report_kept);
	} else if (call->mcp) {
		answer_model(op);
	} else {
		api_writer_init(&w, &out);
		exec_report_write(&op->report, &op->run, &w);
		exec_operation_release(op);
		api_answer_json(call, 200, &out);
	}
}

static const struct exec_delivery_events document_delivery = { .deliver = collect_frame,
							       .ended = answer_document };

/* -- a stream -------------------------------------------------------------------------------------------- */

static void stream_has_room(struct http_stream *stream)
{
	struct exec_operation *op = container_of(stream, struct exec_operation, stream);

	exec_run_resume(&op->run);
	exec_delivery_go_on(&op->delivery);
}

static void send_ping(struct timer *timer)
{
	struct exec_operation *op = container_of(timer, struct exec_operation, ping);
	_cleanup_buf_ struct buf comment = { 0 };
	struct json_writer w;

	api_writer_init(&w, &comment);
	(void)sse_comment(&comment, STR("still running"));
	/* A reader that is behind needs none. */
	(void)http_stream_write(&op->stream, buf_str(&comment));
	timer_start(timer, op->call->api->loop,
		    settings_duration(op->call->api->settings, SETTING_TRANSPORT_SSE_KEEP_ALIVE), send_ping);
}

/* Events unless the caller asked for lines: a browser reads them with no code, a program with a JSON decoder
 * would rather have lines. */
static void begin_stream(struct exec_operation *op)
{
	struct api_call *call = op->call;
	const struct http_field fields[] = { { STR("X-Mcpx-Run"), str_of(op->run.id) },
					     { STR("Cache-Control"), STR("no-store") } };
	struct http_answer answer = { .status = 200, .fields = fields, .field_count = ARRAY_LEN(fields) };
	bool lines = str_find(http_field(call->http, STR("accept")), STR("application/x-ndjson")) != STR_NONE;

	op->events = op->options.output == EXEC_OUTPUT_STREAM && !lines;
	if (op->options.output == EXEC_OUTPUT_TEXT)
		answer.content_type = STR("text/plain; charset=utf-8");
	else
		answer.content_type = lines ? STR("application/x-ndjson") : STR("text/event-stream");
	op->stream.on_room = stream_has_room;
	op->streaming = true;
	http_stream_start(&op->stream, call->http, &answer);
	if (op->events)
		timer_start(&op->ping, call->api->loop,
			    settings_duration(call->api->settings, SETTING_TRANSPORT_SSE_KEEP_ALIVE),
			    send_ping);
}

static void render_frame(struct exec_operation *op, const struct exec_frame *frame, struct str value,
			 struct buf *out)
{
	_cleanup_buf_ struct buf json = { 0 };
	struct json_writer w;

	if (op->options.output == EXEC_OUTPUT_TEXT) {
		exec_text_append(&op->text, frame, value, out);
		return;
	}
	api_writer_init(&w, &json);
	exec_frame_write(&w, frame, value);
	if (op->events) {
		(void)sse_event(out, exec_frame_name(frame->kind), str_make(NULL, 0), buf_str(&json));
	} else {
		buf_append(out, buf_str(&json));
		buf_append_char(out, '\n');
	}
}

static bool stream_frame(struct exec_delivery *delivery, const struct exec_frame *frame, struct str value)
{
	struct exec_operation *op = operation_of(delivery);
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	if (!op->streaming)
		begin_stream(op);
	api_writer_init(&w, &out);
	render_frame(op, frame, value, &out);
	/* A reader that has gone is told of by `gone`. */
	if (out.n == 0 || http_stream_write(&op->stream, buf_str(&out)) != ERR_BUSY)
		return true;
	exec_run_pause(&op->run);
	return false;
}

static void end_stream(struct exec_delivery *delivery)
{
	struct exec_operation *op = operation_of(delivery);

	exec_over(op);
	http_stream_end(&op->stream);
}

static const struct exec_delivery_events stream_delivery = { .deliver = stream_frame, .ended = end_stream };

/* -- progress -------------------------------------------------------------------------------------------- */

static void tell_step(struct exec_operation *op, struct str what);

/* A client that waits for a call only so long waits on when it hears something. */
static void tell_running(struct timer *timer)
{
	tell_step(container_of(timer, struct exec_operation, ping), STR("still running"));
}

static bool wants_progress(const struct exec_operation *op)
{
	return op->call->mcp && op->call->mcp->progress_token.n > 0;
}

static void await_step(struct exec_operation *op)
{
	const struct api_call *call = op->call;

	if (wants_progress(op))
		timer_start(&op->ping, call->api->loop,
			    settings_duration(call->api->settings, SETTING_TRANSPORT_SSE_KEEP_ALIVE),
			    tell_running);
}

static void tell_step(struct exec_operation *op, struct str what)
{
	char number[sizeof("18446744073709551615")];
	struct mcp_progress progress = { .message = utf8_cut(what, STEP_TEXT_MAX) };

	snprintf(number, sizeof(number), "%llu", (unsigned long long)++op->steps);
	progress.progress = str_of(number);
	mcp_call_progress(op->call->mcp, &progress);
	await_step(op);
}

static void tell_progress(struct exec_operation *op, const struct exec_frame *frame)
{
	uint64_t now = loop_now(op->call->api->loop);

	if (!wants_progress(op))
		return;
	if (frame->kind != EXEC_FRAME_LOG && frame->kind != EXEC_FRAME_CALL)
		return;
	if (op->step_at && now - op->step_at < STEP_PAUSE_MS)
		return;
	op->step_at = now;
	tell_step(op, frame->text);
}

/* -- the run --------------------------------------------------------------------------------------------- */

static void run_frame(struct exec_run *run, const struct exec_frame *frame)
{
	struct exec_operation *op = run->owner;

	tell_progress(op, frame);
	exec_delivery_take(&op->delivery, frame);
}

/* A run that started ends when its last frame was delivered. */
static void run_done(struct exec_run *run)
{
	struct exec_operation *op = run->owner;

	if (!run->outcome.started)
		exec_refuse(op, &run->err);
}

static const struct exec_events run_events = { .frame = run_frame, .done = run_done };

/* Variables that the settings add, then those of the caller. */
static void take_variables(struct exec_operation *op, struct exec_spec *spec)
{
	struct setting_items items = settings_items(op->call->settings, SETTING_SCRIPT_ENV);
	struct str *all =
		arena_array(op->call->arena, struct str, items.count + op->options.variable_count + 1);

	for (size_t i = 0; i < items.count; i++)
		all[i] = items.items[i];
	for (size_t i = 0; i < op->options.variable_count; i++)
		all[items.count + i] = op->options.variables[i];
	spec->variables = all;
	spec->variable_count = items.count + op->options.variable_count;
}

static void take_caller(struct exec_operation *op, struct exec_spec *spec)
{
	const struct hub_caller *caller = &op->call->caller;

	spec->session = op->options.session.n ? op->options.session : caller->session;
	op->own_session = !spec->session.n;
	spec->parent_session = caller->parent_session;
	if (caller->pid)
		spec->pid = arena_printf(op->call->arena, "%u", caller->pid);
}

static void start_run(struct exec_operation *op, struct str client)
{
	struct api_call *call = op->call;
	struct api *api = call->api;
	const struct settings *set = call->settings;
	const struct exec_options *options = &op->options;
	struct setting_items order = settings_items(set, SETTING_SCRIPT_RUNTIME_ORDER);
	struct exec_spec spec = {
		.supervisor = api->supervisor,
		.directory = arena_concat(call->arena, api->places->cache, STR("/exec"), STR("")),
		.client = client,
		.source = api_input_str(call, STR("source")),
		.file = api_input_str(call, STR("file")),
		.export_name = options->export_name,
		.arguments = options->arguments,
		.argument_count = options->argument_count,
		.runtime =
			options->runtime.n ? options->runtime : settings_string(set, SETTING_SCRIPT_RUNTIME),
		.order = order.items,
		.order_count = order.count,
		.stdin_kind = options->has_stdin ? EXEC_STDIN_BYTES : EXEC_STDIN_NONE,
		.stdin_bytes = options->stdin_bytes,
		.cwd = options->cwd.n ? options->cwd : call->caller.cwd,
		.env = api->hub->environment.entries,
		.socket = api->places->socket,
		.artifacts = options->directory,
		.config_path = config_nearest_file(api->hub->config),
		.capture_console = options->capture_console,
	};

	take_variables(op, &spec);
	take_caller(op, &spec);
	exec_limits_from_settings(set, &spec.limits);
	if (options->has_timeout)
		spec.limits.timeout_ms = options->timeout_ms;
	exec_run_start(&op->run, api->loop, &spec, &run_events, op);
	await_step(op);
	/* Frames are delivered after the run is over, too. */
	op->delivery.session = arena_copy(call->arena, op->run.session);
}

static int refuse_ending(const struct api *api, struct err *err)
{
	return api->ending ? err_set(err, ERR_BUSY, "the daemon is shutting down: the script did not begin")
			   : 0;
}

static void exec_ready(struct hub_ready *ready)
{
	struct exec_operation *op = ready->owner;
	struct api_call *call = op->call;
	struct str client;
	struct err err;

	if (refuse_ending(call->api, &err) < 0 ||
	    script_client(call->api, op->options.selection, call->arena, &client, &err) < 0)
		exec_refuse(op, &err);
	else
		start_run(op, client);
}

/* -- the operation --------------------------------------------------------------------------------------- */

static int exec_check(struct api_call *call, struct err *err)
{
	bool source = api_input_str(call, STR("source")).p != NULL;
	bool file = api_input_str(call, STR("file")).n > 0;
	int64_t most = settings_int(call->settings, SETTING_EXEC_MAX_RUNS);

	if (call->mcp && !source)
		return err_set(err, ERR_INVALID, "\"source\" is missing: the text of a script");
	if (source == file)
		return err_set(err, ERR_INVALID,
			       "give either \"source\", the text of a script, or \"file\", its path");
	if (refuse_ending(call->api, err) < 0)
		return ERR_BUSY;
	if (call->api->run_count >= most)
		return err_set(err, ERR_BUSY,
			       "%u scripts run already (exec.maxRuns): try again when one of them has ended",
			       call->api->run_count);
	return 0;
}

/* Links are for callers that said that they take them, and for models, to whom bytes are worth nothing. */
static bool takes_links(const struct exec_operation *op)
{
	const struct api_call *call = op->call;

	return call->api->artifacts && (call->mcp || op->options.links) &&
	       settings_bool(call->settings, SETTING_ARTIFACTS_INTERCEPT_IMAGES);
}

void api_exec(struct api_call *call)
{
	struct exec_operation *op = arena_new(call->arena, struct exec_operation);
	struct api *api = call->api;
	struct hub_wait wait;
	struct err err;
	bool document;

	if (exec_options_read(call, &op->options, &err) < 0 || exec_check(call, &err) < 0) {
		api_answer_status(call, api_status_of(err.code == ERR_BUSY ? ERR_BUSY : ERR_INVALID), &err);
		return;
	}
	op->call = call;
	call->state = op;
	call->cancelled = exec_cancelled;
	list_append(&api->runs, &op->node);
	api->run_count++;
	document = call->mcp || op->options.output == EXEC_OUTPUT_STRUCTURED;
	exec_report_init(&op->report, call->mcp != NULL);
	exec_delivery_init(&op->delivery, api, &op->options, takes_links(op), &op->run,
			   document ? &document_delivery : &stream_delivery);
	wait = api_wait_for(call, op->options.selection);
	hub_ready_start(&op->ready, api->hub, &wait, exec_ready, op);
}

bool api_exec_runs(const struct api *api, struct str run)
{
	const struct exec_operation *op;

	/* One that has not begun has no name yet, and no calls to make. */
	list_for_each(op, &api->runs, node)
		if (run.n && str_eq(run, str_of(op->run.id)))
			return true;
	return false;
}

void api_exec_end(struct api *api)
{
	struct exec_operation *op;

	/* One that waits for the list of tools hears that there is none, and refuses to begin. */
	list_for_each(op, &api->runs, node)
		exec_run_stop(&op->run, "the daemon is shutting down");
}

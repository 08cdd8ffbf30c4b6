/*
 * `mcpx run` and `mcpx exec`: a script runs here, beside the terminal, with the standard input and the
 * directory that the user has; the daemon only answers its calls. The run itself is exec/run.h's, as it is
 * for the daemon; this file says what to run and shows its frames.
 *
 * Standard input is the script's own. A script that was itself read from there has used it up: it finds the
 * end.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "base/quote.h"
#include "cli/cli.h"
#include "cli/display.h"
#include "cli/reach.h"
#include "cli/request.h"
#include "cli/script.h"
#include "cli/show.h"
#include "cli/show_log.h"
#include "cli/standard_input.h"
#include "exec/report.h"
#include "exec/run.h"
#include "exec/run_limits.h"
#include "io/program_path.h"

#include <limits.h>
#include <signal.h>

enum {
	EXIT_BY_SIGNAL = 128, /* as shells count */
};

struct script_run {
	struct cli *cli;
	struct loop *loop;
	struct exec_run run;
	struct exec_report report; /* for one document */
	struct exec_text text;	   /* for text */
	struct signal_watch interrupt, terminate;
	/* made up for this run, so it ends with it; empty: there is none, or it is somebody's */
	struct str session;
	unsigned output; /* CHOICE_EXEC_OUTPUT_ */
	int interrupted; /* the signal that ended it early, or 0 */
	bool broken;	 /* our output cannot be written any more; `write_err` says why */
	struct err write_err;
};

/* -- showing --------------------------------------------------------------------------------------------- */

static void write_out(struct script_run *run, struct str bytes)
{
	if (!run->broken && terminal_write(&run->cli->out, bytes, &run->write_err) < 0) {
		run->broken = true;
		exec_run_stop(&run->run, NULL);
	}
}

static void write_shown(struct script_run *run, const struct buf *out)
{
	if (!buf_failed(out)) {
		write_out(run, buf_str(out));
	} else if (!run->broken) {
		run->broken = true;
		err_set(&run->write_err, ERR_TOO_LARGE,
			"a value of the script is longer than the %d MiB that can be shown: keep it with artifact()",
			SHOW_MAX >> 20);
		exec_run_stop(&run->run, NULL);
	}
}

static void show_record(struct script_run *run, const struct exec_frame *frame)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SHOW_MAX);
	show_log(run->cli, frame, &out);
	if (!buf_failed(&out))
		(void)terminal_write(&run->cli->error, buf_str(&out), NULL);
}

static void show_failure(struct script_run *run, const struct exec_frame *frame)
{
	struct arena *arena = &run->cli->arena;

	cli_say(run->cli, frame->untold);
	if (frame->calls.n)
		cli_say(run->cli, arena_concat(arena, STR("the tool calls it had made:\n"),
					       str_slice(frame->calls, 0, frame->calls.n - 1), STR("")));
}

/* Where the copy of an artifact is, or why there is none, for who asked for copies. */
static void show_copy(struct script_run *run, const struct exec_frame *frame)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *artifact;
	struct str path, why;

	if (json_parse(&doc, frame->value, NULL, NULL) < 0)
		return;
	artifact = json_root(&doc);
	path = json_str(json_get(artifact, STR("path")));
	why = json_str(json_get(artifact, STR("pathError")));
	if (path.n)
		cli_note(run->cli, "kept %.*s", STR_ARG(path));
	else if (why.n)
		cli_say(run->cli, arena_concat(&run->cli->arena, json_str(json_get(artifact, STR("uri"))),
					       STR(" is kept, and has no copy: "), why));
}

static void show_as_text(struct script_run *run, const struct exec_frame *frame)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SHOW_MAX);
	switch (frame->kind) {
	case EXEC_FRAME_STDOUT:
	case EXEC_FRAME_EMIT:
	case EXEC_FRAME_RESULT:
		exec_text_append(&run->text, frame, frame->value, &out);
		write_shown(run, &out);
		break;
	case EXEC_FRAME_LOG:
		show_record(run, frame);
		break;
	case EXEC_FRAME_ARTIFACT:
		show_copy(run, frame);
		break;
	case EXEC_FRAME_ERROR:
		if (!run->broken)
			show_failure(run, frame);
		break;
	default:
		break;
	}
}

static void show_as_line(struct script_run *run, const struct exec_frame *frame)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	exec_frame_write(&w, frame, frame->value);
	buf_append_char(&out, '\n');
	write_shown(run, &out);
}

/* Empty: the run has one of its own, which ends with it. */
static struct str shared_session(const struct cli *cli)
{
	return request_session(cli, argument_text(&cli->arguments, STR("session")));
}

static void on_frame(struct exec_run *exec, const struct exec_frame *frame)
{
	struct script_run *run = exec->owner;

	if (frame->kind == EXEC_FRAME_START && !shared_session(run->cli).n)
		run->session = arena_copy(&run->cli->arena, exec->session);
	if (frame->kind == EXEC_FRAME_STDERR)
		(void)terminal_write(&run->cli->error, frame->text, NULL);
	else if (run->output == CHOICE_EXEC_OUTPUT_STREAM)
		show_as_line(run, frame);
	else if (run->output == CHOICE_EXEC_OUTPUT_STRUCTURED)
		exec_report_take(&run->report, frame, frame->value);
	else
		show_as_text(run, frame);
}

static void on_done(struct exec_run *exec)
{
	struct script_run *run = exec->owner;

	signal_watch_stop(&run->interrupt);
	signal_watch_stop(&run->terminate);
	loop_stop(run->loop);
}

static const struct exec_events run_events = { .frame = on_frame, .done = on_done };

/* -- running --------------------------------------------------------------------------------------------- */

static void on_interrupt(struct signal_watch *watch, int number)
{
	struct script_run *run = number == SIGINT ? container_of(watch, struct script_run, interrupt)
						  : container_of(watch, struct script_run, terminate);

	run->interrupted = number;
	exec_run_stop(&run->run, NULL);
}

/* The generated client, from the daemon: it knows every tool. */
static int fetch_client(struct cli *cli, struct str *ret_client, struct err *err)
{
	struct str namespaces = argument_text(&cli->arguments, STR("ns"));
	struct request request = { .operation = CLI_OPERATION(CLIENT) };
	unsigned status;

	request.target = request_target(cli, request.operation->route, STR("plain"), STR("true"));
	if (namespaces.n)
		request.target = request_target(cli, request.target, STR("ns"), namespaces);
	if (request_whole(cli, &request, &status, ret_client, err) < 0)
		return err->code;
	if (!request_succeeded(status))
		return request_refusal(status, *ret_client, err);
	return 0;
}

static void take_settings(struct cli *cli, struct exec_spec *spec, unsigned output)
{
	struct setting_items order = settings_items(cli->settings, SETTING_SCRIPT_RUNTIME_ORDER);
	struct setting_items variables = settings_items(cli->settings, SETTING_SCRIPT_ENV);

	exec_limits_from_settings(cli->settings, &spec->limits);
	/* What is shown as it comes is not kept, so it needs no bound: a person at a terminal has the
	 * interrupt key. */
	if (output != CHOICE_EXEC_OUTPUT_STRUCTURED)
		spec->limits.output_max = 0;
	spec->runtime = settings_string(cli->settings, SETTING_SCRIPT_RUNTIME);
	spec->order = order.items;
	spec->order_count = order.count;
	spec->variables = variables.items;
	spec->variable_count = variables.count;
	spec->capture_console = settings_bool(cli->settings, SETTING_SCRIPT_CAPTURE_CONSOLE);
}

static int exit_status(const struct script_run *run)
{
	if (run->interrupted)
		return EXIT_BY_SIGNAL + run->interrupted;
	if (run->broken && run->write_err.code == ERR_CLOSED)
		return EXIT_BY_SIGNAL + SIGPIPE; /* as programs end that do not ignore it: in silence */
	if (run->broken) {
		cli_say(run->cli, str_of(run->write_err.message));
		return CLI_FAILED;
	}
	return run->run.outcome.exit_code;
}

static int show_report(struct script_run *run)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOW_MAX);
	json_writer_init(&w, &out, false);
	exec_report_write(&run->report, &run->run, &w);
	if (buf_failed(&out))
		return show_buf(run->cli, &out);
	return show_json(run->cli, buf_str(&out)) == CLI_OK ? exit_status(run) : CLI_FAILED;
}

/*
 * Ends the instances that only this run's session could use. All is said and done by then, so a daemon that
 * does not take it is no failure: it ends them itself when they have been idle for long.
 */
static void release_session(struct script_run *run)
{
	_cleanup_buf_ struct buf body = { 0 };
	struct request request = { .operation = CLI_OPERATION(SESSION_RELEASE), .for_this_daemon = true };
	struct http_client_answer answer;
	struct json_writer w;

	if (!run->session.n || daemon_reach_running(run->cli, NULL) < 0)
		return;
	buf_init(&body, SHOW_MAX);
	json_writer_init(&w, &body, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("session"), run->session);
	json_write_object_end(&w);
	request.target = request.operation->route;
	request.body = buf_str(&body);
	(void)request_send(run->cli, &request, &answer, NULL);
	http_client_close(&run->cli->daemon);
}

static int run_on_loop(struct script_run *run, const struct exec_spec *spec)
{
	struct cli *cli = run->cli;
	struct err err;
	int status;

	if (loop_new(&run->loop, &err) < 0)
		return cli_fail(cli, &err);
	(void)signal_watch_start(&run->interrupt, run->loop, SIGINT, on_interrupt, NULL);
	(void)signal_watch_start(&run->terminate, run->loop, SIGTERM, on_interrupt, NULL);
	exec_report_init(&run->report, false);
	exec_run_start(&run->run, run->loop, spec, &run_events, run);
	loop_run(run->loop);
	if (!run->run.outcome.started)
		status = cli_fail(cli, &run->run.err);
	else if (run->output == CHOICE_EXEC_OUTPUT_STRUCTURED)
		status = show_report(run);
	else
		status = exit_status(run);
	release_session(run);
	exec_report_release(&run->report);
	loop_free(&run->loop);
	return status;
}

/* artifacts.dir, below the directory of whoever typed it. */
static struct str artifacts_directory(struct cli *cli)
{
	struct str directory = settings_string(cli->settings, SETTING_ARTIFACTS_DIR);

	if (!directory.n || str_starts_with(directory, STR("/")))
		return directory;
	return arena_printf(&cli->arena, "%.*s/%.*s", STR_ARG(cli->cwd), STR_ARG(directory));
}

/* Fills in what is the same for a file and a snippet, and runs it. */
static int run_script(struct cli *cli, struct exec_spec *spec)
{
	struct script_run run = { .cli = cli };
	char supervisor[PATH_MAX];
	struct err err;

	if (program_path_beside("mcpx-supervisor", supervisor, sizeof(supervisor), &err) < 0 ||
	    fetch_client(cli, &spec->client, &err) < 0)
		return cli_fail(cli, &err);
	http_client_close(&cli->daemon); /* the script has connections of its own */
	run.output = cli_wants_json(cli) ? CHOICE_EXEC_OUTPUT_STRUCTURED
					 : settings_choice(cli->settings, SETTING_EXEC_OUTPUT);
	take_settings(cli, spec, run.output);
	spec->supervisor = supervisor;
	spec->directory = arena_concat(&cli->arena, cli->places.cache, STR("/exec"), STR(""));
	spec->stdin_fd = STDIN_FILENO;
	spec->cwd = cli->cwd;
	spec->env = cli->environment.entries;
	spec->socket = cli->places.socket;
	spec->artifacts = artifacts_directory(cli);
	spec->session = shared_session(cli);
	spec->parent_session = environment_get(&cli->environment, STR("MCPX_PARENT_SESSION_ID"));
	spec->pid = request_pid(cli);
	spec->config_path = config_nearest_file(cli->config);
	spec->script_directories = script_search_path(&cli->environment, cli->cwd, &cli->arena);
	return run_on_loop(&run, spec);
}

/* The script itself comes on standard input, which it then finds at its end. */
static int read_source(struct cli *cli, struct exec_spec *spec, struct err *err)
{
	int r = standard_input_read(settings_bytes(cli->settings, SETTING_EXEC_SOURCE_MAX), &cli->arena,
				    &spec->source, err);

	spec->stdin_kind = EXEC_STDIN_NONE;
	if (r == 0 && str_trim(spec->source).n == 0)
		r = err_set(err, ERR_INVALID, "standard input has no script in it");
	return r;
}

/* Whether the snippet is on standard input: that is said, or nothing is said and nobody would have to type
 * it. */
static bool source_is_on_standard_input(const struct arguments *arguments)
{
	if (arguments->rest_count == 0)
		return !standard_input_is_terminal();
	return arguments->rest_count == 1 && str_eq(str_of(arguments->rest[0]), STR("-"));
}

int command_exec(struct cli *cli)
{
	struct exec_spec spec = { .source = arguments_joined(&cli->arguments, &cli->arena),
				  .export_name = argument_text(&cli->arguments, STR("export")),
				  .stdin_kind = EXEC_STDIN_FD };
	struct err err;

	if (source_is_on_standard_input(&cli->arguments)) {
		if (read_source(cli, &spec, &err) < 0)
			return err.code == ERR_INVALID ? cli_fail_usage(cli, &err) : cli_fail(cli, &err);
	} else if (str_trim(spec.source).n == 0) {
		err_set(&err, ERR_INVALID,
			"`mcpx exec` needs SOURCE: the snippet, in quotes, or - for standard input");
		return cli_fail_usage(cli, &err);
	}
	return run_script(cli, &spec);
}

static const struct str *script_arguments(struct cli *cli)
{
	const struct arguments *arguments = &cli->arguments;
	struct str *list = arena_array(&cli->arena, struct str, arguments->rest_count + 1);

	for (size_t i = 0; i < arguments->rest_count; i++)
		list[i] = str_of(arguments->rest[i]);
	return list;
}

/* The file that the word means. */
static int find_file(struct cli *cli, struct str word, struct str *ret_file, struct err *err)
{
	struct script script;
	int r = script_find(&script, word, &cli->environment, cli->cwd, &cli->arena, err);

	if (r == 0)
		return script_missing(word, &cli->arena, err);
	if (r < 0)
		return r;
	*ret_file = script.path;
	return 0;
}

int command_run_script(struct cli *cli)
{
	struct str word = argument_text(&cli->arguments, STR("script"));
	struct exec_spec spec = {
		.export_name = argument_text(&cli->arguments, STR("export")),
		.arguments = script_arguments(cli),
		.argument_count = cli->arguments.rest_count,
		.stdin_kind = EXEC_STDIN_FD,
	};
	struct err err;
	int r = str_eq(word, STR("-")) ? read_source(cli, &spec, &err)
				       : find_file(cli, word, &spec.file, &err);

	return r < 0 ? cli_fail(cli, &err) : run_script(cli, &spec);
}

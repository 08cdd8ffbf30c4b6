/* The command of an operation that has none of its own: asks, and shows the answer. And `stop`, which also
 * waits. */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/output_file.h"
#include "cli/reach.h"
#include "cli/request.h"
#include "cli/show.h"
#include "io/files.h"
#include "io/program.h"

/* "output" of the command line's own, where an operation has it: the file to write instead of showing the
 * answer. */
static struct str output_path(const struct cli *cli)
{
	const struct command *command = cli->arguments.command;

	for (size_t i = 0; i < command->input_count; i++)
		if (str_eq(command->inputs[i].name, STR("output")) &&
		    command->inputs[i].place == INPUT_COMMAND_LINE)
			return argument_text(&cli->arguments, STR("output"));
	return str_make(NULL, 0);
}

int command_operation(struct cli *cli)
{
	struct str path = output_path(cli), body;
	struct request request;
	int status;
	struct err err;

	request_from_arguments(cli, &request);
	if ((status = request_answered(cli, &request, &body)) != CLI_OK)
		return status;
	if (!path.n)
		return show_answer(cli, request.operation, body);
	if (output_file_write(cli, path, body, &err) < 0)
		return cli_fail(cli, &err);
	return CLI_OK;
}

/* One that cannot be asked. While it drains its socket is there and refuses; a second request would only cut
 * its grace short. */
static int end_unreachable(struct cli *cli, struct err *err)
{
	const struct places *places = &cli->places;
	pid_t holder = lock_file_holder(places->lock.p);
	int r = 0;

	if (access(places->socket.p, F_OK) < 0)
		r = lock_file_end_holder(places->lock.p, &holder, err);
	if (r == ERR_NOT_FOUND)
		return 0;
	return r < 0 ? r : daemon_wait_end(cli, holder, err);
}

/* Asks one that can be asked. CLI_OK, also when it is ending already and says so, or closes connections that
 * it never looked at. */
static int ask_to_end(struct cli *cli, struct str *ret_body)
{
	const struct request request = { .operation = CLI_OPERATION(SHUTDOWN),
					 .target = CLI_OPERATION(SHUTDOWN)->route,
					 .for_this_daemon = true };
	struct http_client_answer answer;
	struct err err;
	int r = request_send(cli, &request, &answer, &err);

	if (r == 0 && !request_met_end(&answer)) {
		unsigned status = answer.status;

		r = request_read_body(cli, ret_body, &err);
		if (r == 0)
			return request_succeeded(status) ? CLI_OK : request_refused(cli, status, *ret_body);
	}
	if (r < 0 && r != ERR_CLOSED)
		return cli_fail(cli, &err);
	*ret_body = STR("{\"stopping\":true}");
	return CLI_OK;
}

int command_stop(struct cli *cli)
{
	struct err err;
	struct str body;
	int status;
	int process, r;

	cli->patience_ms = settings_duration(cli->settings, SETTING_HTTP_SHUTDOWN_GRACE);
	r = daemon_reach_running(cli, &err);
	if (r == ERR_NOT_FOUND && cli_wants_json(cli))
		return show_json(cli, STR("{\"stopping\":false}"));
	if (r == ERR_NOT_FOUND)
		return show_text(cli, STR("no daemon is running\n"));
	if (r == ERR_BUSY) {
		body = STR("{\"stopping\":true}");
		r = end_unreachable(cli, &err);
	} else if (r == 0) {
		process = daemon_process(cli);
		if ((status = ask_to_end(cli, &body)) != CLI_OK)
			return status;
		r = daemon_wait_end(cli, process, &err);
	}
	if (r < 0)
		return cli_fail(cli, &err);
	if (cli_wants_json(cli))
		return show_json(cli, body);
	return show_text(cli, STR("the daemon has stopped\n"));
}

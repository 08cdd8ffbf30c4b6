/*
 * `mcpx serve`: an MCP server on standard input and output. All of MCP happens in the daemon (api/stdio.c); this end asks for a channel and copies bytes, so
 * that a client that starts it pays for no more than that.
 */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/request.h"
#include "io/pump.h"

static struct str serve_target(struct cli *cli)
{
	struct setting_items passthrough = settings_items(cli->settings, SETTING_MCP_PASSTHROUGH);
	struct str target = request_target(cli, STR("/v1/stdio"), STR("mode"),
					   settings_string(cli->settings, SETTING_SERVE_MODE));
	struct str names = { NULL, 0 };

	for (size_t i = 0; i < passthrough.count; i++)
		names = names.n ? arena_concat(&cli->arena, names, STR(","), passthrough.items[i])
				: passthrough.items[i];
	return names.n ? request_target(cli, target, STR("passthrough"), names) : target;
}

static int serve_pump(struct cli *cli, struct err *err)
{
	_cleanup_buf_ struct buf first = { 0 };
	_cleanup_close_ int fd = -1;
	struct pump_options options = {
		.input_fd = STDIN_FILENO,
		.output_fd = STDOUT_FILENO,
		.drain_ms = settings_duration(cli->settings, SETTING_TRANSPORT_STDIO_DRAIN),
	};
	enum pump_end end;
	int r;

	buf_init(&first, PUMP_PIECE);
	r = http_client_hand_over(&cli->daemon, &fd, &first, err);
	if (r < 0)
		return r;
	options.socket_fd = fd;
	options.first = buf_str(&first);
	r = pump_run(&options, &end, err);
	if (r == 0 && end == PUMP_PEER_CLOSED)
		return err_set(
			err, ERR_CLOSED,
			"the daemon closed the channel: it was stopped, or this client read nothing for too long");
	return r;
}

int command_serve(struct cli *cli)
{
	struct request request = { .target = serve_target(cli), .upgrade = STR("mcpx-stdio") };
	struct http_client_answer answer;
	struct str body;
	struct err err;

	if (request_send(cli, &request, &answer, &err) < 0)
		return cli_fail(cli, &err);
	if (answer.status != 101) {
		unsigned status = answer.status;

		return request_read_body(cli, &body, &err) < 0 ? cli_fail(cli, &err)
							       : request_refused(cli, status, body);
	}
	return serve_pump(cli, &err) < 0 ? cli_fail(cli, &err) : CLI_OK;
}

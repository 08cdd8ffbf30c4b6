/* `mcpx artifact put` and `get`: the operations whose bodies are bytes. */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/output_file.h"
#include "cli/request.h"
#include "cli/show.h"
#include "io/input_file.h"

/* -- put ------------------------------------------------------------------------------------------------- */

static struct str last_component(struct str path)
{
	size_t slash = str_find_last_char(path, '/');

	return slash == STR_NONE ? path : str_from(path, slash + 1);
}

int command_artifact_put(struct cli *cli)
{
	struct str path = argument_text(&cli->arguments, STR("file")), body;
	bool standard_input = !path.p || str_eq(path, STR("-"));
	_cleanup_close_ int fd = -1;
	struct request request;
	int status;
	struct err err;

	request_from_arguments(cli, &request);
	request.has_body_fd = true;
	request.body_fd = STDIN_FILENO;
	request.body_length = UINT64_MAX;
	if (!standard_input) {
		if (input_file_open(path.p, &fd, &request.body_length, &err) < 0)
			return cli_fail(cli, &err);
		request.body_fd = fd;
		if (!argument_text(&cli->arguments, STR("name")).p)
			request.target =
				request_target(cli, request.target, STR("name"), last_component(path));
	}
	if ((status = request_answered(cli, &request, &body)) != CLI_OK)
		return status;
	return show_answer(cli, request.operation, body);
}

/* -- get ------------------------------------------------------------------------------------------------- */

enum {
	PIECE = 64 * 1024, /* bytes passed on at once */
	LOOKED_AT = 1024,  /* bytes of the beginning by which text is told from other bytes, as git does it */
};

static bool is_for_terminal(struct str beginning)
{
	return str_find_char(str_slice(beginning, 0, LOOKED_AT), '\0') == STR_NONE;
}

static int get_to_output(struct cli *cli)
{
	static char piece[PIECE];
	bool first = true;
	struct err err;
	size_t n;
	int r;

	while ((r = request_read(cli, piece, sizeof(piece), &n, &err)) == 0 && n) {
		struct str bytes = str_make(piece, n);
		int status;

		if (first && cli->out.is_terminal && !is_for_terminal(bytes)) {
			err_set(&err, ERR_DENIED,
				"these are no bytes for a terminal: write them to a file with --output FILE, or into a pipe");
			return cli_fail(cli, &err);
		}
		first = false;
		if ((status = show_text(cli, bytes)) != CLI_OK)
			return status;
	}
	return r < 0 ? cli_fail(cli, &err) : CLI_OK;
}

static int get_to_file(struct cli *cli, struct str path)
{
	static char piece[PIECE];
	_cleanup_(output_file_release) struct output_file file = { 0 };
	struct err err;
	size_t n;
	int r = output_file_open(cli, &file, path, &err);

	while (r == 0 && (r = request_read(cli, piece, sizeof(piece), &n, &err)) == 0 && n)
		r = output_file_append(&file, str_make(piece, n), &err);
	if (r == 0)
		r = output_file_finish(&file, &err);
	return r < 0 ? cli_fail(cli, &err) : CLI_OK;
}

int command_artifact_get(struct cli *cli)
{
	struct str path = argument_text(&cli->arguments, STR("output")), body;
	struct http_client_answer answer;
	struct request request;
	struct err err;

	request_from_arguments(cli, &request);
	if (request_send(cli, &request, &answer, &err) < 0)
		return cli_fail(cli, &err);
	if (!request_succeeded(answer.status)) {
		unsigned status = answer.status;

		if (request_read_body(cli, &body, &err) < 0)
			return cli_fail(cli, &err);
		return request_refused(cli, status, body);
	}
	return path.n && !str_eq(path, STR("-")) ? get_to_file(cli, path) : get_to_output(cli);
}

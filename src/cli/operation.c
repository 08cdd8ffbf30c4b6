/* The command of an operation that has none of its own: asks, and shows the answer. */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/output_file.h"
#include "cli/request.h"
#include "cli/show.h"

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

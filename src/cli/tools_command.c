/* `mcpx tools`: a list, or all about one tool when it is named whole. */
#include "base/base.h"
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/request.h"
#include "cli/show.h"
#include "cli/show_tool.h"

static int show_one(struct cli *cli, const struct json *tool)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, SHOW_MAX);
	show_tool(cli, tool, &out);
	return show_buf(cli, &out);
}

int command_tools(struct cli *cli)
{
	struct str name = argument_text(&cli->arguments, STR("ns")), body;
	bool is_one = str_find_char(name, '.') != STR_NONE;
	_cleanup_json_ struct json_doc doc = { 0 };
	struct request request;
	int status;

	request_from_arguments(cli, &request);
	if ((status = request_answered(cli, &request, &body)) != CLI_OK)
		return status;
	if (!is_one || cli_wants_json(cli) || json_parse(&doc, body, NULL, NULL) < 0 ||
	    json_count(json_root(&doc)) != 1)
		return show_answer(cli, request.operation, body);
	return show_one(cli, json_at(json_root(&doc), 0));
}

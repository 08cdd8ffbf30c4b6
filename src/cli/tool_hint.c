#include "base/base.h"
#include "cli/tool_hint.h"

#include "cli/request.h"
#include "cli/tool_name.h"
#include "text/nearest.h"

static struct str hint_from(struct cli *cli, const struct json *tools, struct str namespace, struct str name)
{
	struct nearest nearest;
	const struct json *tool;

	nearest_init(&nearest, name);
	json_for_each(tool, tools) {
		struct str listed = tool_name(tool);

		if (str_eq(listed, name))
			return STR("");
		nearest_consider(&nearest, listed);
	}
	if (nearest.best.n)
		return arena_printf(&cli->arena, "did you mean %.*s.%.*s?", STR_ARG(namespace),
				    STR_ARG(nearest.best));
	return arena_printf(&cli->arena, "`mcpx tools %.*s` lists the tools there are", STR_ARG(namespace));
}

struct str tool_hint(struct cli *cli, struct str namespace, struct str tool)
{
	struct request request = { .operation = CLI_OPERATION(TOOLS) };
	_cleanup_json_ struct json_doc doc = { 0 };
	unsigned status;
	struct str body;

	request.target = request_target(cli, request.operation->route, STR("ns"), namespace);
	if (request_whole(cli, &request, &status, &body, NULL) < 0 || !request_succeeded(status) ||
	    json_parse(&doc, body, NULL, NULL) < 0)
		return STR("");
	return hint_from(cli, json_root(&doc), namespace, tool);
}

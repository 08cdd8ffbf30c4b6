/*
 * tool_name.h - by which name a tool is called from the command line.
 */
#ifndef CLI_TOOL_NAME_H
#define CLI_TOOL_NAME_H

#include "base/base.h"
#include "json/json.h"

/* Of one element of GET /v1/tools: the server's own name, or the function's where an earlier tool of the
 * server has that name, too. */
static inline struct str tool_name(const struct json *tool)
{
	return json_str(json_get(tool, json_bool_or(json_get(tool, STR("repeats")), false) ? STR("function")
											   : STR("tool")));
}

#endif

/* show_tool.h - one tool for people: how it is called, what it does, and each of its arguments. */
#ifndef CLI_SHOW_TOOL_H
#define CLI_SHOW_TOOL_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "json/json.h"

/* `tool` is an element of the answer of the operation tools. */
void show_tool(struct cli *cli, const struct json *tool, struct buf *out);

#endif

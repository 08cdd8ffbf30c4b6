/*
 * tool_result.h - what a tool gave back (MCP CallToolResult), for people: its text as it is, and what is no
 * text by name, type and size.
 */
#ifndef CLI_TOOL_RESULT_H
#define CLI_TOOL_RESULT_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/terminal.h"
#include "json/json.h"

/* Appends the content of the result, for that terminal, ending with a line end. Structured content is shown
 * when there is no other. */
void tool_result_text(const struct terminal *terminal, const struct json *result, struct buf *out);

static inline bool tool_result_is_error(const struct json *result)
{
	return json_bool_or(json_get(result, STR("isError")), false);
}

#endif

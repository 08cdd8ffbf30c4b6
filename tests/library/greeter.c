/* An MCP server over stdio with one tool, `greet {name}`: what a program of somebody else looks like that
 * uses libmcp as it is installed. */
#include <stdio.h>
#include <unistd.h>

#include "json/json.h"
#include "json/writer.h"
#include "mcp/jsonrpc.h"
#include "mcp/server.h"
#include "mcp/stdio_server.h"

enum { MESSAGE_MAX = 1 << 20 };

static void list_tools(struct mcp_server_call *call)
{
	const struct str greet = STR("{\"name\":\"greet\",\"inputSchema\":{\"type\":\"object\","
				     "\"properties\":{\"name\":{\"type\":\"string\"}}}}");

	mcp_answer_list(call, &greet, 1);
}

static void call_tool(struct mcp_server_call *call)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf result = { 0 };
	struct json_writer w;

	if (!str_eq(call->name, STR("greet"))) {
		mcp_answer_unknown_tool(call);
		return;
	}
	if (json_parse(&doc, call->arguments, NULL, NULL) < 0) {
		mcp_answer_tool_error(call, STR("greet needs arguments"));
		return;
	}
	buf_init(&result, MESSAGE_MAX);
	json_writer_init(&w, &result, false);
	json_write_object_begin(&w);
	json_write_key(&w, STR("content"));
	json_write_array_begin(&w);
	json_write_object_begin(&w);
	json_member_str(&w, STR("type"), STR("text"));
	json_write_key(&w, STR("text"));
	json_write_strf(&w, "Hello, %s!",
			json_str_or(json_get(json_root(&doc), STR("name")), STR("stranger")).p);
	json_write_object_end(&w);
	json_write_array_end(&w);
	json_write_object_end(&w);
	mcp_answer_result(call, buf_str(&result));
}

static void call_cancelled(struct mcp_server_call *call, struct str reason)
{
	(void)call;
	(void)reason;
}

static int print_line(struct mcp_stdio_server *stdio, struct str line)
{
	(void)stdio;
	return fwrite(line.p, 1, line.n, stdout) == line.n && fflush(stdout) == 0 ? 0 : ERR_IO;
}

int main(void)
{
	static const struct mcp_handler handler = { .tools_list = list_tools,
						    .tools_call = call_tool,
						    .cancelled = call_cancelled };
	static const struct mcp_server_limits limits = { .message_max = MESSAGE_MAX,
							 .answer_max = MESSAGE_MAX,
							 .calls_max = 16,
							 .listens_max = 1,
							 .batch_max = 16,
							 .page_items = 100,
							 .page_bytes = MESSAGE_MAX };
	struct mcp_server server;
	struct mcp_stdio_server stdio;
	char bytes[4096];
	ssize_t n;

	mcp_server_init(&server, &handler, &limits, NULL);
	server.info = STR("{\"name\":\"greeter\",\"version\":\"1\"}");
	mcp_stdio_init(&stdio, &server, STR("local"), print_line, NULL);
	while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		mcp_stdio_feed(&stdio, str_make(bytes, (size_t)n));
	mcp_stdio_release(&stdio);
	return 0;
}

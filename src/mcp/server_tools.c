#include "base/base.h"
#include "mcp/server.h"

#include "mcp/server_private.h"

void serve_tools_list(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	serve_list(call, in, call->session->server->handler->tools_list);
}

void serve_tools_call(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	const struct json_member *arguments = jsonrpc_member_find(&in->params, STR("arguments"));

	call->name = jsonrpc_member_str(&in->params, STR("name"), call->arena);
	call->arguments = STR("{}");
	if (arguments && arguments->type == JSON_OBJECT)
		call->arguments = arguments->raw;
	if (!call->name.p)
		call_refuse(call, MCP_INVALID_PARAMS, "\"name\" must be a string");
	else if (arguments && arguments->type != JSON_OBJECT && arguments->type != JSON_NULL)
		call_refuse(call, MCP_INVALID_PARAMS, "\"arguments\" must be an object");
	else if (call_list(call, false))
		call->session->server->handler->tools_call(call);
}

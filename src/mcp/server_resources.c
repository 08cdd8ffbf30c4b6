#include "base/base.h"
#include "mcp/server.h"

#include "json/writer.h"
#include "mcp/server_private.h"

/* False: it was refused, since there are none. */
static bool has_resources(struct mcp_server_call *call)
{
	if (call->session->server->handler->resources_read)
		return true;
	call_refuse(call, MCP_METHOD_NOT_FOUND, "resources are not offered");
	return false;
}

void serve_resources_list(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	if (has_resources(call))
		serve_list(call, in, call->session->server->handler->resources_list);
}

void serve_resource_templates_list(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	if (has_resources(call))
		serve_list(call, in, call->session->server->handler->resource_templates_list);
}

void serve_resources_read(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	if (!has_resources(call))
		return;
	call->name = jsonrpc_member_str(&in->params, STR("uri"), call->arena);
	if (!call->name.p)
		call_refuse(call, MCP_INVALID_PARAMS, "\"uri\" must be a string");
	else if (call_list(call, false))
		call->session->server->handler->resources_read(call);
}

void mcp_answer_contents(struct mcp_server_call *call, struct str contents)
{
	struct buf result;

	cacheable_result_begin(&result, call);
	buf_append(&result, STR("\"contents\":"));
	buf_append(&result, contents);
	cacheable_result_end(&result, call);
	call_answer_written(call, &result, false);
}

void mcp_answer_unknown_resource(struct mcp_server_call *call, struct str message)
{
	_cleanup_buf_ struct buf data = { 0 };
	struct err err;

	buf_init(&data, call->session->server->limits.answer_max);
	buf_append(&data, STR("{\"uri\":"));
	json_quote(&data, call->name);
	buf_append_char(&data, '}');
	err_set(&err, ERR_NOT_FOUND, "unknown resource: %.*s", STR_ARG(call->name));
	mcp_answer_error(
		call, &(struct mcp_error){ .code = MCP_RESOURCE_NOT_FOUND,
					   .message = message.n ? message : str_of(err.message),
					   .data = buf_failed(&data) ? (struct str){ 0 } : buf_str(&data) });
}

/* subscriptions/listen (2026-07-28, basic, "Subscriptions"): a request that is answered only when it ends,
 * and carries change notices until then. */
#include "base/base.h"
#include "mcp/server.h"

#include "mcp/server_private.h"

/* `{..."_meta":{subscriptionId}}` around the members of a notification's or result's object, which end in a
 * comma. */
static void write_with_subscription(struct buf *out, struct str members, struct str id)
{
	buf_append_char(out, '{');
	buf_append(out, members);
	buf_append(out, STR("\"_meta\":{\"" MCP_META_SUBSCRIPTION_ID "\":"));
	buf_append(out, id);
	buf_append(out, STR("}}"));
}

static void listen_notify(struct mcp_server_call *listen, enum mcp_method method, struct str members)
{
	_cleanup_buf_ struct buf params = { 0 };
	struct buf text;

	buf_init(&params, listen->session->server->limits.answer_max);
	write_with_subscription(&params, members, listen->id);
	if (buf_failed(&params))
		return;
	buf_init(&text, listen->session->server->limits.answer_max);
	jsonrpc_write_notification(&text, mcp_method_name(method), buf_str(&params));
	call_relate(listen, &text);
}

void listen_tools_changed(struct mcp_server_call *listen)
{
	if (listen->hears_tools)
		listen_notify(listen, MCP_TOOLS_CHANGED, (struct str){ 0 });
}

/* What is asked for, as far as we offer it. False when the filter is malformed. */
static bool read_filter(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	const struct json_member *filter = jsonrpc_member_find(&in->params, STR("notifications")), *tools;
	struct jsonrpc_members members;

	if (!filter || filter->type != JSON_OBJECT ||
	    jsonrpc_members(filter->raw, call->arena, &members, NULL) < 0)
		return false;
	tools = jsonrpc_member_find(&members, STR("toolsListChanged"));
	if (tools && tools->type != JSON_TRUE && tools->type != JSON_FALSE)
		return false;
	call->hears_tools = tools && tools->type == JSON_TRUE && call->session->server->tools_changed;
	return true;
}

void serve_listen(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	if (!read_filter(call, in)) {
		call_refuse(call, MCP_INVALID_PARAMS,
			    "\"notifications\" must be an object, and its \"toolsListChanged\" a boolean");
		return;
	}
	if (!call_list(call, true))
		return;
	listen_notify(call, MCP_ACKNOWLEDGED,
		      call->hears_tools ? STR("\"notifications\":{\"toolsListChanged\":true},")
					: STR("\"notifications\":{},"));
}

void mcp_session_end_listens(struct mcp_session *session)
{
	struct mcp_server_call *listen;

	list_for_each(listen, &session->listens, node) {
		struct buf result;

		buf_init(&result, session->server->limits.answer_max);
		write_with_subscription(&result, STR("\"resultType\":\"complete\","), listen->id);
		call_answer_written(listen, &result, false);
	}
}

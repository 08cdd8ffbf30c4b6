#include "base/base.h"
#include "mcp/server.h"

#include "json/writer.h"
#include "mcp/convert.h"
#include "mcp/server_private.h"

/*
 * A cursor is "from:" and the index of the next tool. It holds nothing about the list it was cut from: when
 * the list changes meanwhile, the peer is told so and lists again; until then what is there is better than an
 * error.
 */
#define CURSOR_PREFIX "from:"

static bool read_cursor(const struct mcp_incoming *in, struct arena *arena, uint64_t *ret_from)
{
	const struct json_member *member = jsonrpc_member_find(&in->params, STR("cursor"));
	struct str cursor;

	*ret_from = 0;
	if (!member || member->type == JSON_NULL)
		return true;
	cursor = jsonrpc_decode_str(member->raw, arena);
	return str_starts_with(cursor, STR(CURSOR_PREFIX)) &&
	       str_to_u64(str_from(cursor, sizeof(CURSOR_PREFIX) - 1), ret_from) == 0;
}

void serve_tools_list(struct mcp_server_call *call, const struct mcp_incoming *in)
{
	if (!read_cursor(in, call->arena, &call->list_from)) {
		call_refuse(call, MCP_INVALID_PARAMS, "\"cursor\" is not one that this server gave");
		return;
	}
	if (call_list(call, false))
		call->session->server->handler->tools_list(call);
}

/* Appends tools from `from` on as an array. Returns the index behind the last. */
static size_t write_page(struct buf *out, struct mcp_server_call *call, const struct str *tools, size_t count,
			 size_t from)
{
	const struct mcp_server_limits *limits = &call->session->server->limits;
	size_t at, begin = out->n;

	buf_append_char(out, '[');
	for (at = from; at < count; at++) {
		struct str tool = mcp_convert_tool(tools[at], call->revision, call->arena);

		if (at > from &&
		    (at - from >= limits->page_items || out->n - begin + tool.n > limits->page_bytes))
			break;
		if (at > from)
			buf_append_char(out, ',');
		buf_append(out, tool);
	}
	buf_append_char(out, ']');
	return at;
}

void mcp_answer_tools(struct mcp_server_call *call, const struct str *tools, size_t count)
{
	const struct mcp_server *server = call->session->server;
	size_t from = (size_t)(call->list_from < count ? call->list_from : count), end;
	struct buf result;

	buf_init(&result, server->limits.answer_max);
	buf_append_char(&result, '{');
	if (mcp_has(call->revision, MCP_HAS_RESULT_TYPE))
		mcp_modern_result_begin(&result);
	buf_append(&result, STR("\"tools\":"));
	end = write_page(&result, call, tools, count, from);
	if (end < count)
		buf_printf(&result, ",\"nextCursor\":\"" CURSOR_PREFIX "%zu\"", end);
	if (mcp_has(call->revision, MCP_HAS_CACHE_HINTS))
		buf_printf(&result, ",\"ttlMs\":%lld,\"cacheScope\":\"%s\"", (long long)server->tools_ttl_ms,
			   server->cache_public ? "public" : "private");
	if (mcp_has(call->revision, MCP_HAS_RESULT_TYPE))
		mcp_modern_result_meta(&result, server->info, (struct str){ 0 });
	buf_append_char(&result, '}');
	call_answer_written(call, &result, false);
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

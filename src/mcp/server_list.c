/* Lists of tools, of resources and of templates: whole from the handler, in pages to the peer. */
#include "base/base.h"
#include "mcp/server.h"

#include "mcp/convert.h"
#include "mcp/server_private.h"

/*
 * A cursor is "from:" and the index of the next item. It holds nothing about the list it was cut from: when
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

void serve_list(struct mcp_server_call *call, const struct mcp_incoming *in,
		void (*list)(struct mcp_server_call *call))
{
	if (!read_cursor(in, call->arena, &call->list_from)) {
		call_refuse(call, MCP_INVALID_PARAMS, "\"cursor\" is not one that this server gave");
		return;
	}
	if (call_list(call, false))
		list(call);
}

/* Appends items from `from` on as an array. Returns the index behind the last. */
static size_t write_page(struct buf *out, struct mcp_server_call *call, const struct str *items, size_t count,
			 size_t from)
{
	const struct mcp_server_limits *limits = &call->session->server->limits;
	size_t at, begin = out->n;

	buf_append_char(out, '[');
	for (at = from; at < count; at++) {
		struct str item = call->method == MCP_TOOLS_LIST
					  ? mcp_convert_tool(items[at], call->revision, call->arena)
					  : items[at];

		if (at > from &&
		    (at - from >= limits->page_items || out->n - begin + item.n > limits->page_bytes))
			break;
		if (at > from)
			buf_append_char(out, ',');
		buf_append(out, item);
	}
	buf_append_char(out, ']');
	return at;
}

void cacheable_result_begin(struct buf *result, const struct mcp_server_call *call)
{
	buf_init(result, call->session->server->limits.answer_max);
	buf_append_char(result, '{');
	if (mcp_has(call->revision, MCP_HAS_RESULT_TYPE))
		mcp_modern_result_begin(result);
}

void cacheable_result_end(struct buf *result, const struct mcp_server_call *call)
{
	const struct mcp_server *server = call->session->server;

	if (mcp_has(call->revision, MCP_HAS_CACHE_HINTS))
		buf_printf(result, ",\"ttlMs\":%lld,\"cacheScope\":\"%s\"", (long long)server->cache_ttl_ms,
			   server->cache_public ? "public" : "private");
	if (mcp_has(call->revision, MCP_HAS_RESULT_TYPE))
		mcp_modern_result_meta(result, server->info, (struct str){ 0 });
	buf_append_char(result, '}');
}

void mcp_answer_list(struct mcp_server_call *call, const struct str *items, size_t count)
{
	size_t from = (size_t)(call->list_from < count ? call->list_from : count), end;
	struct buf result;

	cacheable_result_begin(&result, call);
	buf_printf(&result, "\"%.*s\":", STR_ARG(mcp_method_row(call->method)->list_member));
	end = write_page(&result, call, items, count, from);
	if (end < count)
		buf_printf(&result, ",\"nextCursor\":\"" CURSOR_PREFIX "%zu\"", end);
	cacheable_result_end(&result, call);
	call_answer_written(call, &result, false);
}

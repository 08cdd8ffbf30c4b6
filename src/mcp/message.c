#include "base/base.h"
#include "mcp/message.h"

#include "json/writer.h"

/* The number's source text; empty when the member is none. */
static struct str number_of(const struct jsonrpc_members *members, struct str key)
{
	const struct json_member *member = jsonrpc_member_find(members, key);

	return member && member->type == JSON_NUMBER ? member->raw : (struct str){ 0 };
}

bool mcp_progress_read(struct str params, struct arena *arena, struct mcp_progress *ret_progress,
		       struct str *ret_token)
{
	struct jsonrpc_members members;
	const struct json_member *token;
	struct mcp_progress progress;

	if (jsonrpc_members(params, arena, &members, NULL) < 0)
		return false;
	token = jsonrpc_member_find(&members, STR("progressToken"));
	progress.progress = number_of(&members, STR("progress"));
	progress.total = number_of(&members, STR("total"));
	progress.message = jsonrpc_member_str(&members, STR("message"), arena);
	if (!token || !jsonrpc_is_id(token->raw, token->type) || !progress.progress.n)
		return false;
	*ret_progress = progress;
	*ret_token = token->raw;
	return true;
}

bool mcp_log_read(struct str params, struct arena *arena, struct mcp_log *ret_log)
{
	struct jsonrpc_members members;
	struct mcp_log log;

	if (jsonrpc_members(params, arena, &members, NULL) < 0)
		return false;
	log.logger = jsonrpc_member_str(&members, STR("logger"), arena);
	log.data = jsonrpc_member(&members, STR("data"));
	if (!log.data.n || !mcp_log_level_find(jsonrpc_member_str(&members, STR("level"), arena), &log.level))
		return false;
	*ret_log = log;
	return true;
}

bool mcp_implementation_read(struct str raw, struct arena *arena,
			     struct mcp_implementation *ret_implementation)
{
	struct jsonrpc_members members;

	if (!raw.n || jsonrpc_members(raw, arena, &members, NULL) < 0)
		return false;
	*ret_implementation = (struct mcp_implementation){
		.raw = raw,
		.name = jsonrpc_member_str(&members, STR("name"), arena),
		.version = jsonrpc_member_str(&members, STR("version"), arena),
		.title = jsonrpc_member_str(&members, STR("title"), arena),
	};
	return true;
}

static void notification_begin(struct buf *out, enum mcp_method method)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%.*s\",\"params\":{",
		   STR_ARG(mcp_method_name(method)));
}

static void append_member(struct buf *out, struct str quoted_key, struct str raw)
{
	buf_append(out, quoted_key);
	buf_append(out, raw);
}

void mcp_progress_write(struct buf *out, struct str token, const struct mcp_progress *progress,
			enum mcp_revision revision)
{
	size_t from = out->n;

	notification_begin(out, MCP_PROGRESS);
	append_member(out, STR("\"progressToken\":"), token);
	append_member(out, STR(",\"progress\":"), progress->progress);
	if (progress->total.n)
		append_member(out, STR(",\"total\":"), progress->total);
	if (progress->message.p && mcp_has(revision, MCP_HAS_PROGRESS_MESSAGE)) {
		buf_append(out, STR(",\"message\":"));
		json_quote(out, progress->message);
	}
	buf_append(out, STR("}}"));
	jsonrpc_make_line(out, from);
}

void mcp_log_write(struct buf *out, const struct mcp_log *log)
{
	size_t from = out->n;

	notification_begin(out, MCP_LOG_MESSAGE);
	buf_printf(out, "\"level\":\"%.*s\"", STR_ARG(mcp_log_level_name(log->level)));
	if (log->logger.p) {
		buf_append(out, STR(",\"logger\":"));
		json_quote(out, log->logger);
	}
	append_member(out, STR(",\"data\":"), log->data);
	buf_append(out, STR("}}"));
	jsonrpc_make_line(out, from);
}

void mcp_meta_relay(struct buf *out, struct str meta, bool *first)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_members members;

	arena_init(&arena, 0);
	if (!meta.n || jsonrpc_members(meta, &arena, &members, NULL) < 0)
		return;
	for (size_t i = 0; i < members.count; i++)
		if (!mcp_meta_is_per_hop(members.at[i].key))
			jsonrpc_write_member(out, first, members.at[i].key, members.at[i].raw);
}

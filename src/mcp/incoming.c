#include "base/base.h"
#include "mcp/incoming.h"

static struct str object_of(const struct jsonrpc_members *members, struct str key)
{
	const struct json_member *member = jsonrpc_member_find(members, key);

	return member && member->type == JSON_OBJECT ? member->raw : (struct str){ 0 };
}

/* A handshake that mentions some of the metadata is still a handshake. */
static bool is_modern_initialize(const struct mcp_incoming *in)
{
	enum mcp_revision revision;

	return in->client_capabilities.n && incoming_check_version(in, &revision, NULL) == 0;
}

static void read_meta(struct mcp_incoming *in, const struct jsonrpc_members *meta, struct arena *arena)
{
	const struct json_member *token = jsonrpc_member_find(meta, STR("progressToken"));

	if (token && jsonrpc_is_id(token->raw, token->type))
		in->progress_token = token->raw;
	in->version = jsonrpc_member_str(meta, STR(MCP_META_PROTOCOL_VERSION), arena);
	in->client_info = object_of(meta, STR(MCP_META_CLIENT_INFO));
	in->client_capabilities = object_of(meta, STR(MCP_META_CLIENT_CAPABILITIES));
	in->log_level = jsonrpc_member_find(meta, STR(MCP_META_LOG_LEVEL));
	in->modern = in->log_level || jsonrpc_member(meta, STR(MCP_META_PROTOCOL_VERSION)).n ||
		     jsonrpc_member(meta, STR(MCP_META_CLIENT_INFO)).n ||
		     jsonrpc_member(meta, STR(MCP_META_CLIENT_CAPABILITIES)).n;
	if (in->method == MCP_INITIALIZE)
		in->modern = is_modern_initialize(in);
}

int64_t incoming_read(struct mcp_incoming *in, const struct jsonrpc_message *message, struct arena *arena,
		      struct err *err)
{
	struct jsonrpc_members meta;
	const struct json_member *member;

	*in = (struct mcp_incoming){ .method = mcp_method_find(message->method) };
	if (jsonrpc_members(message->params, arena, &in->params, err) < 0)
		return MCP_INVALID_PARAMS;
	member = jsonrpc_member_find(&in->params, STR("_meta"));
	if (!member || member->type == JSON_NULL)
		return 0;
	if (member->type != JSON_OBJECT) {
		err_set(err, ERR_INVALID, "\"_meta\" must be an object");
		return MCP_INVALID_PARAMS;
	}
	if (jsonrpc_members(member->raw, arena, &meta, err) < 0)
		return MCP_INVALID_PARAMS;
	in->meta = member->raw;
	read_meta(in, &meta, arena);
	return 0;
}

int64_t incoming_check_metadata(const struct mcp_incoming *in, struct arena *arena,
				enum mcp_log_level *ret_log_level, struct err *err)
{
	enum mcp_log_level level = MCP_LOG_NONE;

	if (!in->version.p || !in->client_capabilities.n) {
		err_set(err, ERR_INVALID, "params._meta must have %s%s%s",
			in->version.p ? "" : "\"" MCP_META_PROTOCOL_VERSION "\", a string",
			in->version.p || in->client_capabilities.n ? "" : ", and ",
			in->client_capabilities.n ? "" : "\"" MCP_META_CLIENT_CAPABILITIES "\", an object");
		return MCP_INVALID_PARAMS;
	}
	if (in->log_level && !mcp_log_level_find(jsonrpc_decode_str(in->log_level->raw, arena), &level)) {
		err_set(err, ERR_INVALID, "unknown log level %.*s", STR_ARG(in->log_level->raw));
		return MCP_INVALID_PARAMS;
	}
	*ret_log_level = level;
	return 0;
}

int64_t incoming_check_version(const struct mcp_incoming *in, enum mcp_revision *ret_revision,
			       struct err *err)
{
	enum mcp_revision revision;

	if (!mcp_revision_find(in->version, &revision) || mcp_era_of(revision) != MCP_MODERN) {
		err_set(err, ERR_UNSUPPORTED, "unsupported protocol version \"%.*s\"", STR_ARG(in->version));
		return MCP_UNSUPPORTED_VERSION;
	}
	*ret_revision = revision;
	return 0;
}

#include "base/base.h"
#include "mcp/convert.h"

#include "json/writer.h"
#include "mcp/message.h"

/* Text in an arena cannot be written piece by piece, so it is made in a buffer first. What goes in is bounded
 * already, and what comes out has a few members more. */
static void out_init(struct buf *out, struct str from, struct str server_info)
{
	buf_init(out, JSON_BYTES_MAX);
	buf_reserve(out, from.n + server_info.n + 256);
}

static struct str out_keep(struct buf *out, struct arena *arena)
{
	struct str kept = arena_copy(arena, buf_str(out));

	buf_release(out);
	return kept;
}

/* -- content blocks -------------------------------------------------------------------------------------- */

/* audio is an embedded resource to a peer that knows no audio: nothing of it is lost. */
static void write_audio_as_resource(struct buf *out, const struct json *block)
{
	struct json_writer w;

	json_writer_init(&w, out, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("type"), STR("resource"));
	json_write_key(&w, STR("resource"));
	json_write_object_begin(&w);
	json_member_str(&w, STR("uri"), STR("audio:content"));
	json_member_value(&w, STR("mimeType"), json_get(block, STR("mimeType")));
	json_member_value(&w, STR("blob"), json_get(block, STR("data")));
	json_write_object_end(&w);
	json_write_object_end(&w);
}

/* resource_link is a text with the same words. */
static void write_link_as_text(struct buf *out, const struct json *block)
{
	struct str mime_type = json_str(json_get(block, STR("mimeType")));
	struct str description = json_str(json_get(block, STR("description")));
	struct json_writer w;
	struct buf text;

	buf_init(&text, JSON_BYTES_MAX);
	buf_printf(&text, "%.*s: %.*s", STR_ARG(json_str(json_get(block, STR("name")))),
		   STR_ARG(json_str(json_get(block, STR("uri")))));
	if (mime_type.n)
		buf_printf(&text, " (%.*s)", STR_ARG(mime_type));
	if (description.n)
		buf_printf(&text, "\n%.*s", STR_ARG(description));
	json_writer_init(&w, out, false);
	json_write_object_begin(&w);
	json_member_str(&w, STR("type"), STR("text"));
	json_member_str(&w, STR("text"), buf_str(&text));
	json_write_object_end(&w);
	buf_release(&text);
}

static const struct block_rule {
	struct str type;
	enum mcp_feature since;
	void (*write)(struct buf *out, const struct json *block);
} block_rules[] = {
	{ STR_INIT("audio"), MCP_HAS_AUDIO, write_audio_as_resource },
	{ STR_INIT("resource_link"), MCP_HAS_RESOURCE_LINK, write_link_as_text },
};

static bool knows_all_blocks(enum mcp_revision revision)
{
	for (size_t i = 0; i < ARRAY_LEN(block_rules); i++)
		if (!mcp_has(revision, block_rules[i].since))
			return false;
	return true;
}

static const struct block_rule *rule_for(struct str block, enum mcp_revision revision)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_members members;
	struct str type;

	arena_init(&arena, 0);
	if (!str_starts_with(block, STR("{")) || jsonrpc_members(block, &arena, &members, NULL) < 0)
		return NULL;
	type = jsonrpc_member_str(&members, STR("type"), &arena);
	for (size_t i = 0; i < ARRAY_LEN(block_rules); i++)
		if (str_eq(type, block_rules[i].type) && !mcp_has(revision, block_rules[i].since))
			return &block_rules[i];
	return NULL;
}

/* The content array with what the peer does not know replaced; the array itself when that is nothing. */
static struct str convert_content(struct str content, enum mcp_revision revision, struct arena *arena)
{
	struct jsonrpc_elements blocks;
	bool first = true, replaced = false;
	struct str block;
	struct buf out;

	if (knows_all_blocks(revision) || jsonrpc_elements(content, NULL, &blocks, NULL) < 0)
		return content;
	out_init(&out, content, (struct str){ 0 });
	buf_append_char(&out, '[');
	while (jsonrpc_element(&blocks, &block)) {
		const struct block_rule *rule = rule_for(block, revision);
		_cleanup_json_ struct json_doc doc = { 0 };

		if (!first)
			buf_append_char(&out, ',');
		first = false;
		if (rule && json_parse(&doc, block, NULL, NULL) == 0) {
			rule->write(&out, json_root(&doc));
			replaced = true;
		} else {
			buf_append(&out, block);
		}
	}
	buf_append_char(&out, ']');
	if (replaced)
		return out_keep(&out, arena);
	buf_release(&out);
	return content;
}

/* -- results --------------------------------------------------------------------------------------------- */

void mcp_modern_result_begin(struct buf *out)
{
	buf_append(out, STR("\"resultType\":\"complete\","));
}

void mcp_modern_result_meta(struct buf *out, struct str server_info, struct str meta)
{
	bool first = true;

	buf_append(out, STR(",\"_meta\":{"));
	if (server_info.n)
		jsonrpc_write_member(out, &first, STR(MCP_META_SERVER_INFO), server_info);
	mcp_meta_relay(out, meta, &first);
	buf_append_char(out, '}');
}

static struct str modern_result(struct str result, const struct jsonrpc_members *members,
				struct str server_info, struct arena *arena)
{
	const struct json_member *meta = jsonrpc_member_find(members, STR("_meta"));
	bool first = true;
	struct buf out;

	out_init(&out, result, server_info);
	buf_append_char(&out, '{');
	if (!jsonrpc_member(members, STR("resultType")).n)
		jsonrpc_write_member(&out, &first, STR("resultType"), STR("\"complete\""));
	for (size_t i = 0; i < members->count; i++)
		if (!str_eq(members->at[i].key, STR("_meta")))
			jsonrpc_write_member(&out, &first, members->at[i].key, members->at[i].raw);
	mcp_modern_result_meta(&out, server_info,
			       meta && meta->type == JSON_OBJECT ? meta->raw : (struct str){ 0 });
	buf_append_char(&out, '}');
	return out_keep(&out, arena);
}

static bool legacy_drops(const struct json_member *member)
{
	return str_eq(member->key, STR("resultType")) ||
	       (str_eq(member->key, STR("structuredContent")) && member->type != JSON_OBJECT);
}

/* Whether the peer looks at structured content of that kind. */
static bool peer_reads(const struct json_member *structured, enum mcp_revision revision)
{
	return mcp_has(revision,
		       structured->type == JSON_OBJECT ? MCP_HAS_STRUCTURED_CONTENT : MCP_HAS_ANY_STRUCTURED);
}

static bool is_empty_array(struct str raw)
{
	struct jsonrpc_elements elements;

	return jsonrpc_elements(raw, NULL, &elements, NULL) == 0 && !elements.rest.n;
}

static struct str structured_as_text(struct str structured, struct arena *arena)
{
	struct buf out;

	out_init(&out, structured, (struct str){ 0 });
	buf_append(&out, STR("[{\"type\":\"text\",\"text\":"));
	json_quote(&out, structured);
	buf_append(&out, STR("}]"));
	return out_keep(&out, arena);
}

/* The content for the peer; the source's own text when nothing changes. A tool should say in text, too, what
 * it gives as structured content; for one that does not, it is said here. */
static struct str legacy_content(const struct jsonrpc_members *members, enum mcp_revision revision,
				 struct arena *arena)
{
	const struct json_member *structured = jsonrpc_member_find(members, STR("structuredContent"));
	struct str content = jsonrpc_member(members, STR("content"));

	if (structured && structured->type != JSON_NULL && !peer_reads(structured, revision) &&
	    (!content.n || is_empty_array(content)))
		return structured_as_text(structured->raw, arena);
	return content.n ? convert_content(content, revision, arena) : content;
}

static struct str legacy_result(struct str result, const struct jsonrpc_members *members,
				enum mcp_revision revision, struct arena *arena)
{
	const struct json_member *content = jsonrpc_member_find(members, STR("content"));
	struct str converted = legacy_content(members, revision, arena);
	bool changed = converted.p != (content ? content->raw.p : NULL), first = true;
	struct buf out;

	for (size_t i = 0; i < members->count; i++)
		changed = changed || legacy_drops(&members->at[i]);
	if (!changed)
		return result;
	out_init(&out, result, converted);
	buf_append_char(&out, '{');
	if (converted.n)
		jsonrpc_write_member(&out, &first, STR("content"), converted);
	for (size_t i = 0; i < members->count; i++) {
		const struct json_member *member = &members->at[i];

		if (!legacy_drops(member) && !str_eq(member->key, STR("content")))
			jsonrpc_write_member(&out, &first, member->key, member->raw);
	}
	buf_append_char(&out, '}');
	return out_keep(&out, arena);
}

int mcp_convert_result(struct str result, enum mcp_revision revision, struct str server_info,
		       struct arena *arena, struct str *ret_result, struct err *err)
{
	struct jsonrpc_members members;

	if (!result.n || jsonrpc_members(result, arena, &members, err) < 0)
		return err_set(err, ERR_PROTOCOL, "the tool's result is no JSON object");
	if (mcp_has(revision, MCP_HAS_RESULT_TYPE))
		*ret_result = modern_result(result, &members, server_info, arena);
	else
		*ret_result = legacy_result(result, &members, revision, arena);
	return 0;
}

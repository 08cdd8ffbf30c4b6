#include "base/base.h"
#include "api/long_text.h"
#include "api/api.h"
#include "text/utf8.h"

static size_t text_max(const struct api_call *call)
{
	return settings_bytes(call->settings, SETTING_MCP_TEXT_MAX);
}

bool long_text_is(const struct api_call *call, struct str text)
{
	return call->mcp && text.n > text_max(call);
}

static void text_stored(struct artifact_upload *upload, const struct artifact *artifact,
			const struct err *err)
{
	struct long_text *text = container_of(upload, struct long_text, upload);

	if (err)
		text->err = *err;
	else
		text->artifact = artifact_copy(text->call->arena, artifact);
	text->done(text);
}

static void text_not_stored(struct deferred *later)
{
	struct long_text *text = container_of(later, struct long_text, later);

	text->done(text);
}

void long_text_start(struct long_text *text, const struct api_call *call, struct str value,
		     const struct artifact_spec *spec, long_text_done *done)
{
	struct api *api = call->api;

	*text = (struct long_text){ .call = call, .text = value, .done = done };
	if (api->artifacts) {
		struct buf copy;

		buf_init(&copy, value.n);
		buf_append(&copy, value);
		artifact_upload_memory(&text->upload, api->artifacts, spec, buf_take(&copy), false,
				       text_stored);
		return;
	}
	err_set(&text->err, ERR_BUSY, "artifacts are switched off (artifacts.enabled)");
	loop_defer(api->loop, &text->later, text_not_stored);
}

void long_text_cancel(struct long_text *text)
{
	artifact_upload_cancel(&text->upload);
	deferred_cancel(&text->later);
}

static void write_mark(const struct long_text *text, size_t shown, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("type"), STR("text"));
	json_write_key(w, STR("text"));
	if (text->artifact.uri.n)
		json_write_strf(
			w,
			"[mcpx: these are the first %zu of %zu bytes (mcp.textMax). All of it is the artifact %.*s: read the resource "
			"%.*s?offset=%zu for what follows, or ask for less.]",
			shown, text->text.n, STR_ARG(text->artifact.id), STR_ARG(text->artifact.uri), shown);
	else
		json_write_strf(
			w,
			"[mcpx: these are the first %zu of %zu bytes (mcp.textMax). The rest is lost, since it could not be stored: "
			"%s. Ask for less.]",
			shown, text->text.n, text->err.message);
	json_write_object_end(w);
}

void long_text_write(const struct long_text *text, struct json_writer *w)
{
	struct str shown = utf8_cut(text->text, text_max(text->call));

	api_write_text_block(w, shown);
	write_mark(text, shown.n, w);
	if (text->artifact.uri.n)
		artifact_write_link(w, &text->artifact);
}

void long_text_write_result(const struct long_text *text, bool is_error, struct json_writer *w)
{
	json_write_object_begin(w);
	json_write_key(w, STR("content"));
	json_write_array_begin(w);
	long_text_write(text, w);
	json_write_array_end(w);
	if (is_error)
		json_member_bool(w, STR("isError"), true);
	json_write_object_end(w);
}

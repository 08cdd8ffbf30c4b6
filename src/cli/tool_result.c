#include "base/base.h"
#include "cli/tool_result.h"

#include "base/units.h"
#include "cli/display.h"
#include "json/writer.h"
#include "text/base64.h"

static void end_line(struct buf *out)
{
	if (!buf_failed(out) && out->n && out->p[out->n - 1] != '\n')
		buf_append_char(out, '\n');
}

/* -- what is no text ------------------------------------------------------------------------------------- */

/* Bytes that base 64 stands for, without decoding it. */
static uint64_t decoded_size(struct str base64)
{
	uint64_t size = base64_decoded_bound(base64.n);

	for (size_t i = 0; i < 2 && base64.n > i && base64.p[base64.n - 1 - i] == '='; i++)
		size -= size > 0;
	return size;
}

static void add_size(struct buf *out, uint64_t bytes)
{
	char text[BYTE_SIZE_TEXT_MAX];

	buf_printf(out, ", %.*s", STR_ARG(byte_size_rough(text, bytes)));
}

static void add_word(struct buf *out, const char *before, struct str word)
{
	if (word.n == 0)
		return;
	buf_append(out, str_of(before));
	display_line(out, word);
}

/* "[image: image/png, 12.3 KiB]": never the bytes themselves. */
static void media(struct buf *out, const char *kind, const struct json *block, struct str bytes)
{
	buf_printf(out, "[%s", kind);
	add_word(out, ": ", json_str(json_get(block, STR("uri"))));
	add_word(out, json_get(block, STR("uri")) ? ", " : ": ", json_str(json_get(block, STR("mimeType"))));
	add_size(out, decoded_size(bytes));
	buf_append(out, STR("]\n"));
}

/* "photo.png (image/png, 12.3 KiB): mcpx://artifacts/art-..." */
static void link_block(struct buf *out, const struct json *block)
{
	struct str uri = json_str(json_get(block, STR("uri")));
	struct str name = json_str(json_get(block, STR("name")));
	struct str type = json_str(json_get(block, STR("mimeType")));
	uint64_t size;

	display_line(out, name.n ? name : STR("resource"));
	if (type.n) {
		add_word(out, " (", type);
		if (json_u64(json_get(block, STR("size")), &size) == 0)
			add_size(out, size);
		buf_append_char(out, ')');
	}
	add_word(out, ": ", uri);
	buf_append_char(out, '\n');
}

static void resource_block(const struct terminal *terminal, struct buf *out, const struct json *resource)
{
	struct str text = json_str(json_get(resource, STR("text")));

	if (text.p) {
		terminal_append(terminal, out, text);
		end_line(out);
	} else {
		media(out, "resource", resource, json_str(json_get(resource, STR("blob"))));
	}
}

/* -- blocks ---------------------------------------------------------------------------------------------- */

static void content_block(const struct terminal *terminal, struct buf *out, const struct json *block)
{
	struct str type = json_str(json_get(block, STR("type")));

	if (str_eq(type, STR("text"))) {
		terminal_append(terminal, out, json_str(json_get(block, STR("text"))));
		end_line(out);
	} else if (str_eq(type, STR("image"))) {
		media(out, "image", block, json_str(json_get(block, STR("data"))));
	} else if (str_eq(type, STR("audio"))) {
		media(out, "audio", block, json_str(json_get(block, STR("data"))));
	} else if (str_eq(type, STR("resource_link"))) {
		link_block(out, block);
	} else if (str_eq(type, STR("resource"))) {
		resource_block(terminal, out, json_get(block, STR("resource")));
	} else {
		buf_append(out, STR("[content of the unknown type "));
		display_line(out, type);
		buf_append(out, STR("; --raw shows it]\n"));
	}
}

static void structured(const struct terminal *terminal, struct buf *out, const struct json *value)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct json_writer w;

	buf_init(&text, out->max);
	json_writer_init(&w, &text, true);
	json_write_value(&w, value);
	if (!buf_failed(&text))
		terminal_append(terminal, out, buf_str(&text));
	end_line(out);
}

void tool_result_text(const struct terminal *terminal, const struct json *result, struct buf *out)
{
	const struct json *content = json_get(result, STR("content"));
	const struct json *value = json_get(result, STR("structuredContent"));
	const struct json *block;

	json_for_each(block, content)
		content_block(terminal, out, block);
	if (json_count(content) == 0 && value)
		structured(terminal, out, value);
}

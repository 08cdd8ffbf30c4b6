/* Parses JSONC: what is accepted is JSON once written, what is refused has a position within the text. */
#include "base/base.h"
#include "json/json.h"

#include "base/buf.h"
#include "json/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUT_MAX = 64 << 20 };

static void expect_position(struct str text, const struct err *err)
{
	struct str before = str_slice(text, 0, err->offset), line;
	unsigned lines = 0;

	BUG_ON(err->offset > text.n || err->line == 0 || err->column == 0);
	while (str_split(&before, '\n', &line))
		lines++;
	BUG_ON(lines != err->line);
	if (str_starts_with(text, STR("\xef\xbb\xbf")) && lines == 1)
		line = str_from(line, 3);
	BUG_ON(line.n + 1 != err->column);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make((const char *)data, size);
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_json_ struct json_doc again = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;
	struct err err = { 0 };

	if (json_parse_jsonc(&doc, text, NULL, &err) < 0) {
		expect_position(text, &err);
		/* JSON is JSONC. */
		BUG_ON(json_check(text, NULL, NULL) == 0);
		return 0;
	}
	buf_init(&out, OUTPUT_MAX);
	json_writer_init(&w, &out, true);
	json_write_value(&w, json_root(&doc));
	BUG_ON(json_parse(&again, buf_str(&out), NULL, NULL) < 0);
	BUG_ON(!json_equal(json_root(&doc), json_root(&again)));
	return 0;
}

/* Any JSON as a schema: declarations are written, in bounded room, as valid UTF-8, and the doc comments in
 * them are balanced. */
#include "base/base.h"
#include "exec/client.h"
#include "json/json.h"
#include "text/utf8.h"

enum { ROOM = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Outside strings, every comment that begins ends before the next begins. */
static void check_comments(struct str text)
{
	bool in_comment = false, in_string = false;

	for (size_t i = 0; i + 1 < text.n; i++) {
		char c = text.p[i], d = text.p[i + 1];

		if (in_string) {
			i += c == '\\';
			in_string = c != '"';
		} else if (in_comment) {
			in_comment = !(c == '*' && d == '/');
		} else if (c == '/' && d == '*') {
			in_comment = true;
		} else {
			in_string = c == '"';
			BUG_ON(c == '*' && d == '/');
		}
	}
	BUG_ON(in_comment || in_string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf tool = { .max = size * 2 + 1024 }, out = { .max = ROOM };
	struct str schema = str_make((const char *)data, size), items[1];
	const struct catalogue_snapshot *snapshots[1];
	struct catalogue_snapshot *snapshot;
	struct exec_catalogue catalogue = { .snapshots = snapshots, .count = 1 };

	if (json_check(schema, NULL, NULL) < 0)
		return 0;
	buf_printf(&tool, "{\"name\":\"t\",\"description\":\"d\",\"inputSchema\":%.*s,\"outputSchema\":%.*s}",
		   STR_ARG(schema), STR_ARG(schema));
	items[0] = buf_str(&tool);
	snapshot = catalogue_build(STR("ns"), items, 1, str_make(NULL, 0), 0, 1);
	snapshots[0] = snapshot;
	exec_types_write(&out, &catalogue, str_make(NULL, 0), false);
	BUG_ON(buf_failed(&out) || !utf8_valid(buf_str(&out)));
	check_comments(buf_str(&out));
	catalogue_unref(&snapshot);
	return 0;
}

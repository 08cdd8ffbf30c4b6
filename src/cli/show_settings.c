#include "base/base.h"
#include "cli/show_settings.h"

#include "cli/display.h"

static void member(const struct json *object, struct str name, struct buf *out)
{
	struct str text = json_str(json_get(object, name));

	display_line(out, text.n ? text : STR("(empty)"));
}

/* "file /etc/mcpx/config.json:3:5" */
static void source(const struct json *layer, struct buf *out)
{
	member(layer, STR("source"), out);
	if (json_get(layer, STR("origin"))) {
		buf_append_char(out, ' ');
		member(layer, STR("origin"), out);
	}
	buf_append_char(out, '\n');
}

static void line(const struct json *record, const char *heading, struct str name, struct buf *out)
{
	if (!json_get(record, name))
		return;
	buf_printf(out, "  %-9s  ", heading);
	member(record, name, out);
	buf_append_char(out, '\n');
}

void show_setting(const struct json *record, struct buf *out)
{
	const struct json *layer;

	member(record, STR("path"), out);
	buf_append(out, STR(" = "));
	member(record, STR("value"), out);
	buf_append(out, STR("\n  from       "));
	source(record, out);
	json_for_each(layer, json_get(record, STR("shadowed"))) {
		buf_append(out, STR("  displaced  "));
		member(layer, STR("value"), out);
		buf_append(out, STR(" from "));
		source(layer, out);
	}
	line(record, "pending", STR("pending"), out);
	line(record, "decides", STR("description"), out);
	line(record, "kind", STR("kind"), out);
	line(record, "scope", STR("scope"), out);
	line(record, "spelled", STR("env"), out);
}

void show_setting_change(const struct json *answer, struct buf *out)
{
	member(answer, STR("path"), out);
	buf_append(out, STR(" = "));
	member(answer, STR("value"), out);
	if (json_is(json_get(answer, STR("removed")), JSON_FALSE))
		buf_append(out, STR(", which was not overridden"));
	if (json_get(answer, STR("source"))) {
		buf_append(out, STR(", from "));
		source(answer, out);
	} else {
		buf_append_char(out, '\n');
	}
}

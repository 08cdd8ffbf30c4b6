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
}

static void line(const char *heading, struct buf *out)
{
	buf_printf(out, "  %-9s  ", heading);
}

static void text_line(const struct json *record, const char *heading, struct str name, struct buf *out)
{
	if (!json_get(record, name))
		return;
	line(heading, out);
	member(record, name, out);
	buf_append_char(out, '\n');
}

static void pending_line(const struct json *record, struct buf *out)
{
	if (!json_get(record, STR("pending")))
		return;
	line("pending", out);
	member(record, STR("pending"), out);
	buf_append(out, STR(" after a restart of the daemon\n"));
}

static void kind_line(const struct json *record, struct buf *out)
{
	const struct json *choice;
	const char *before = ": ";

	line("kind", out);
	member(record, STR("kind"), out);
	json_for_each(choice, json_get(record, STR("enum"))) {
		buf_append(out, str_of(before));
		display_line(out, json_str(choice));
		before = ", ";
	}
	buf_append_char(out, '\n');
}

/* Whoever makes a call reads the settings of its scope at each, and a command those of the client. */
static void scope_line(const struct json *record, struct buf *out)
{
	struct str scope = json_str(json_get(record, STR("scope")));

	line("scope", out);
	member(record, STR("scope"), out);
	if (json_bool_or(json_get(record, STR("hot")), false) || str_eq(scope, STR("call")))
		buf_append(out, STR(", a change takes effect at once\n"));
	else if (str_eq(scope, STR("client")))
		buf_append(out, STR(", a change takes effect at the next command\n"));
	else
		buf_append(out, STR(", a change takes effect at the next start\n"));
}

static void spelling(struct buf *out, const char *before, const char *dashes, struct str word)
{
	buf_printf(out, "%s%s", before, dashes);
	display_line(out, word);
}

static void spelled_line(const struct json *record, struct buf *out)
{
	const struct json *alias;

	line("spelled", out);
	spelling(out, "", "", json_str(json_get(record, STR("env"))));
	json_for_each(alias, json_get(record, STR("envAliases")))
		spelling(out, ", ", "", json_str(alias));
	spelling(out, ", ", "--", json_str(json_get(record, STR("flag"))));
	json_for_each(alias, json_get(record, STR("flagAliases")))
		spelling(out, ", ", json_str(alias).n == 1 ? "-" : "--", json_str(alias));
	buf_append_char(out, '\n');
}

static void layer_line(const char *heading, const struct json *layer, struct buf *out)
{
	line(heading, out);
	member(layer, STR("value"), out);
	buf_append(out, STR(" from "));
	source(layer, out);
	buf_append_char(out, '\n');
}

void show_setting(const struct json *record, struct buf *out)
{
	const struct json *layer, *here = json_get(record, STR("here"));

	member(record, STR("path"), out);
	buf_append(out, STR(" = "));
	member(record, STR("value"), out);
	buf_append_char(out, '\n');
	line("from", out);
	source(record, out);
	buf_append(out, here ? STR(", in the daemon that is running\n") : STR("\n"));
	json_for_each(layer, json_get(record, STR("shadowed")))
		layer_line("displaced", layer, out);
	if (here)
		layer_line("here", here, out);
	pending_line(record, out);
	text_line(record, "decides", STR("description"), out);
	text_line(record, "", STR("detail"), out);
	kind_line(record, out);
	scope_line(record, out);
	spelled_line(record, out);
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
	}
	buf_append_char(out, '\n');
}

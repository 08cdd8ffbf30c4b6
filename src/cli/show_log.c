#include "base/base.h"
#include "cli/show_log.h"

#include "cli/display.h"
#include "cli/show.h"
#include "io/loop.h"

enum {
	FIELD_SHORTEST = 4, /* bytes of a field in a line: " k=v" */
};

/* The fields behind the message: " name=value" each. */
static void append_fields(struct buf *out, const struct json *attrs)
{
	const struct json *key, *value;
	struct json_writer w;

	json_for_each_member(key, value, attrs) {
		buf_append_char(out, ' ');
		display_line(out, json_str(key));
		buf_append_char(out, '=');
		if (json_is(value, JSON_STRING)) {
			display_line(out, json_str(value));
		} else {
			json_writer_init(&w, out, false);
			json_write_value(&w, value);
		}
	}
}

/* "info: kept tiny.png bytes=312", as a script's own words would look. */
static void append_text(const struct terminal *terminal, const struct exec_frame *frame,
			const struct json *attrs, struct buf *out)
{
	enum style style = frame->level >= LOG_LEVEL_WARN ? STYLE_BAD : STYLE_FAINT;

	terminal_style(terminal, out, style, str_of(log_level_name(frame->level)));
	buf_append(out, STR(": "));
	terminal_append(terminal, out, frame->text);
	append_fields(out, attrs);
	buf_append_char(out, '\n');
}

static struct str text_of(const struct json *value, struct arena *arena)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct json_writer w;

	if (json_is(value, JSON_STRING))
		return json_str(value);
	buf_init(&text, SHOW_MAX);
	json_writer_init(&w, &text, false);
	json_write_value(&w, value);
	return arena_copy(arena, buf_str(&text));
}

/* As the daemon writes its own, with the same limits. */
static void append_logfmt(const struct settings *set, const struct exec_frame *frame,
			  const struct json *attrs, struct buf *out)
{
	const struct log_bounds bounds = { .value_max = settings_bytes(set, SETTING_LOGGING_VALUE_MAX),
					   .line_max = settings_bytes(set, SETTING_LOGGING_LINE_MAX) };
	struct log_record record = { loop_wall_ms(), frame->level, frame->text, NULL };
	size_t most = size_min(json_count(attrs), bounds.line_max / FIELD_SHORTEST), count = 0;
	_cleanup_arena_ struct arena arena = { 0 };
	const struct json *key, *value;
	struct log_field *fields;

	arena_init(&arena, 0);
	fields = arena_array(&arena, struct log_field, most + 1); /* the last is LOG_FIELD_END */
	json_for_each_member(key, value, attrs)
		if (count < most)
			fields[count++] = (struct log_field){ LOG_FIELD_STR,
							      json_str(key),
							      { .s = text_of(value, &arena) } };
	record.fields = fields;
	(void)log_render(out, LOG_FORMAT_LOGFMT, &bounds, &record);
}

void show_log(const struct cli *cli, const struct exec_frame *frame, struct buf *out)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *attrs = NULL;

	if (json_parse(&doc, frame->value, NULL, NULL) == 0)
		attrs = json_get(json_root(&doc), STR("attrs"));
	switch (settings_choice(cli->settings, SETTING_LOGGING_FORMAT)) {
	case CHOICE_LOGGING_FORMAT_JSON:
		buf_append(out, frame->value);
		buf_append_char(out, '\n');
		break;
	case CHOICE_LOGGING_FORMAT_LOGFMT:
		append_logfmt(cli->settings, frame, attrs, out);
		break;
	default:
		append_text(&cli->error, frame, attrs, out);
	}
}

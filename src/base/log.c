/*
 * A record is written through a struct line, which knows where the line must end: a field that would pass
 * that place is taken back whole. All formats share one way to escape, that of JSON, which readers of logfmt
 * understand too.
 */
#include "base/base.h"
#include "base/log.h"
#include "base/character.h"
#include "base/quote.h"
#include "base/time_text.h"
#include "base/units.h"
#include "base/utf8_character.h"

#include <inttypes.h>
#include <stdarg.h>

/* -- names ----------------------------------------------------------------------------------------------- */

static const char *const level_names[] = { "debug", "info", "warn", "error" };
static const char *const format_names[] = { "text", "json", "logfmt" };

const char *log_level_name(enum log_level level)
{
	BUG_ON((size_t)level >= ARRAY_LEN(level_names));
	return level_names[level];
}

const char *log_format_name(enum log_format format)
{
	BUG_ON((size_t)format >= ARRAY_LEN(format_names));
	return format_names[format];
}

/* The position of `text` among the names, or -1. */
static int name_find(struct str text, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(text, str_of(names[i])))
			return (int)i;
	return -1;
}

int log_level_parse(struct str text, enum log_level *ret_level, struct err *err)
{
	int at = name_find(text, level_names, ARRAY_LEN(level_names));

	if (at < 0)
		return err_set(err, ERR_INVALID, "%s is no log level; use debug, info, warn or error",
			       QUOTE(text));
	*ret_level = (enum log_level)at;
	return 0;
}

int log_format_parse(struct str text, enum log_format *ret_format, struct err *err)
{
	int at = name_find(text, format_names, ARRAY_LEN(format_names));

	if (at < 0)
		return err_set(err, ERR_INVALID, "%s is no log format; use text, json or logfmt",
			       QUOTE(text));
	*ret_format = (enum log_format)at;
	return 0;
}

/* -- lines ----------------------------------------------------------------------------------------------- */

struct line {
	struct buf *out;
	enum log_format format;
	size_t end;	  /* no byte of a field may stand here or beyond */
	size_t value_max; /* bytes of one written value, without its quotes */
	bool overflow;	  /* something did not fit since the flag was last cleared */
	bool truncated;	  /* a field was left out */
};

/* What follows the last field, at its longest, and so must be kept free: ,"truncated":true} and the
 * newline. */
#define LINE_TAIL_JSON ",\"truncated\":true"
#define LINE_TAIL_TEXT " truncated=true"
enum {
	LINE_TAIL_MAX = sizeof(LINE_TAIL_JSON) - 1 + 2,
	LINE_HEAD_MAX = 160, /* time, level and their keys, without the message */
	LOG_VALUE_MAX_LEAST = 16
};

static void line_put(struct line *line, struct str s)
{
	if (line->overflow || s.n > line->end - line->out->n)
		line->overflow = true;
	else
		buf_append(line->out, s);
}

/* The n bytes of the first character of `rest` as they are written: itself, or an escape in `storage`. */
static struct str escape_first(struct str rest, char storage[8], unsigned *ret_taken)
{
	static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
	const char *named;
	uint32_t c;
	unsigned skip, n = utf8_decode_first(rest, &c, &skip);

	*ret_taken = n ? n : skip;
	if (n == 0)
		return STR("\xef\xbf\xbd");
	if (!quote_needed(c))
		return str_slice(rest, 0, n);
	named = c != 0 && c < 0x80 ? strchr(from, (int)c) : NULL;
	if (named)
		return str_make(storage, (size_t)snprintf(storage, 8, "\\%c", to[named - from]));
	return str_make(storage, (size_t)snprintf(storage, 8, "\\u%04x", (unsigned)(c & 0xffff)));
}

/* Writes s escaped, at most line->value_max bytes; what is cut ends in "...". */
static void line_put_escaped(struct line *line, struct str s)
{
	static const struct str dots = STR_INIT("...");
	size_t start = line->out->n, room = line->value_max, cut_at = start;
	char storage[8];
	unsigned taken;

	for (; s.n > 0 && !line->overflow; s = str_from(s, taken)) {
		struct str unit = escape_first(s, storage, &taken);

		if (line->out->n - start + unit.n > room) {
			line->out->n = cut_at;
			line_put(line, dots);
			return;
		}
		line_put(line, unit);
		if (line->out->n - start <= room - dots.n)
			cut_at = line->out->n;
	}
}

/* Whether `s` may stand without quotes where they are optional. */
static bool plain(struct str s, bool spaces_allowed)
{
	uint32_t c;
	unsigned skip, n;

	if (s.n == 0 || s.p[0] == ' ' || s.p[s.n - 1] == ' ')
		return false;
	for (; s.n > 0; s = str_from(s, n)) {
		n = utf8_decode_first(s, &c, &skip);
		if (n == 0 || quote_needed(c) || c == '=' || (c == ' ' && !spaces_allowed))
			return false;
	}
	return true;
}

static void line_put_quoted(struct line *line, struct str s)
{
	line_put(line, STR("\""));
	line_put_escaped(line, s);
	line_put(line, STR("\""));
}

/* Quotes only where the format or the text needs them. */
static void line_put_text(struct line *line, struct str s, bool spaces_allowed)
{
	if (line->format != LOG_FORMAT_JSON && plain(s, spaces_allowed))
		line_put_escaped(line, s);
	else
		line_put_quoted(line, s);
}

/* -- fields ---------------------------------------------------------------------------------------------- */

static bool key_char(char c)
{
	return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool key_taken(struct str key)
{
	return str_eq(key, STR("time")) || str_eq(key, STR("level")) || str_eq(key, STR("msg")) ||
	       str_eq(key, STR("truncated"));
}

/* Separator, key and what stands before the value. */
static void line_put_key(struct line *line, struct str key, struct str suffix)
{
	bool json = line->format == LOG_FORMAT_JSON;
	char safe[LOG_KEY_MAX];
	size_t n = size_min(key.n, sizeof(safe));

	for (size_t i = 0; i < n; i++)
		safe[i] = key_char(key.p[i]) ? key.p[i] : '_';
	line_put(line, json ? STR(",\"") : STR(" "));
	line_put(line, n ? str_make(safe, n) : STR("_"));
	if (suffix.n == 0 && key_taken(str_make(safe, n)))
		suffix = STR("_");
	line_put(line, suffix);
	line_put(line, json ? STR("\":") : STR("="));
}

static void line_put_member(struct line *line, struct str key, struct str suffix, struct str text)
{
	line_put_key(line, key, suffix);
	line_put_text(line, text, false);
}

_printf_(4, 5) static void line_put_number(struct line *line, struct str key, struct str suffix,
					   const char *format, ...)
{
	char text[24];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line_put_key(line, key, suffix);
	line_put(line, str_make(text, (size_t)n));
}

static void line_put_duration(struct line *line, struct str key, uint64_t ms)
{
	char text[DURATION_TEXT_MAX];

	if (line->format == LOG_FORMAT_JSON)
		line_put_number(line, key, STR("Ms"), "%" PRIu64, ms);
	else
		line_put_member(line, key, STR(""), duration_text(text, ms));
}

static void line_put_err(struct line *line, struct str key, const struct err *err)
{
	if (!err) {
		line_put_member(line, key, STR(""), STR("none"));
		return;
	}
	line_put_member(line, key, STR(""), str_of(err->message));
	line_put_member(line, key, STR("_code"), str_of(err_code_name(err->code)));
	if (err->line) {
		line_put_number(line, key, STR("_line"), "%u", err->line);
		line_put_number(line, key, STR("_column"), "%u", err->column);
	}
}

static void line_put_field(struct line *line, const struct log_field *field)
{
	if (log_key_is_secret(field->key)) {
		line_put_member(line, field->key, STR(""), STR("[redacted]"));
		return;
	}
	switch (field->type) {
	case LOG_FIELD_STR:
		line_put_member(line, field->key, STR(""), field->value.s);
		break;
	case LOG_FIELD_INT:
		line_put_number(line, field->key, STR(""), "%" PRId64, field->value.i);
		break;
	case LOG_FIELD_UINT:
		line_put_number(line, field->key, STR(""), "%" PRIu64, field->value.u);
		break;
	case LOG_FIELD_BOOL:
		line_put_key(line, field->key, STR(""));
		line_put(line, field->value.b ? STR("true") : STR("false"));
		break;
	case LOG_FIELD_DURATION:
		line_put_duration(line, field->key, field->value.u);
		break;
	case LOG_FIELD_ERR:
		line_put_err(line, field->key, field->value.err);
		break;
	case LOG_FIELD_END:
		break;
	}
}

/* -- records --------------------------------------------------------------------------------------------- */

static void line_put_head(struct line *line, const struct log_record *record)
{
	char storage[TIME_TEXT_MAX];
	struct str time = time_rfc3339(storage, record->wall_ms);
	struct str level = str_of(log_level_name(record->level));

	switch (line->format) {
	case LOG_FORMAT_TEXT:
		line_put(line, time);
		line_put(line, STR(" "));
		line_put(line, level);
		line_put(line, level.n < 5 ? STR("  ") : STR(" "));
		break;
	case LOG_FORMAT_JSON:
		line_put(line, STR("{\"time\":\""));
		line_put(line, time);
		line_put(line, STR("\",\"level\":\""));
		line_put(line, level);
		line_put(line, STR("\",\"msg\":"));
		break;
	case LOG_FORMAT_LOGFMT:
		line_put(line, STR("time="));
		line_put(line, time);
		line_put(line, STR(" level="));
		line_put(line, level);
		line_put(line, STR(" msg="));
		break;
	}
	line_put_text(line, record->message, line->format == LOG_FORMAT_TEXT);
}

static void line_put_fields(struct line *line, const struct log_field *field)
{
	for (; field && field->type != LOG_FIELD_END; field++) {
		size_t before = line->out->n;

		line_put_field(line, field);
		if (line->overflow) {
			line->out->n = before;
			line->overflow = false;
			line->truncated = true;
		}
	}
}

int log_render(struct buf *out, enum log_format format, const struct log_bounds *bounds,
	       const struct log_record *record)
{
	struct line line = { .out = out, .format = format };
	size_t value_max = size_max(bounds->value_max, LOG_VALUE_MAX_LEAST);

	BUG_ON(bounds->line_max < LOG_LINE_MIN);
	if (!buf_reserve(out, bounds->line_max))
		return ERR_TOO_LARGE;
	line.end = out->n + bounds->line_max - LINE_TAIL_MAX;
	line.value_max = size_min(value_max, bounds->line_max - LINE_TAIL_MAX - LINE_HEAD_MAX);
	line_put_head(&line, record);
	BUG_ON(line.overflow);
	line.value_max = value_max;
	line_put_fields(&line, record->fields);
	line.end += LINE_TAIL_MAX;
	if (line.truncated)
		line_put(&line, format == LOG_FORMAT_JSON ? STR(LINE_TAIL_JSON) : STR(LINE_TAIL_TEXT));
	line_put(&line, format == LOG_FORMAT_JSON ? STR("}\n") : STR("\n"));
	BUG_ON(line.overflow);
	return 0;
}

/* -- loggers --------------------------------------------------------------------------------------------- */

void logger_release(struct logger *logger)
{
	buf_release(&logger->line);
}

void logger_log(struct logger *logger, enum log_level level, struct str message,
		const struct log_field *fields)
{
	struct log_record record = { .level = level, .message = message, .fields = fields };

	if (!logger_wants(logger, level))
		return;
	if (logger->line.max != logger->bounds.line_max) {
		buf_release(&logger->line);
		buf_init(&logger->line, logger->bounds.line_max);
	}
	buf_clear(&logger->line, SIZE_MAX);
	record.wall_ms = logger->clock();
	if (log_render(&logger->line, logger->format, &logger->bounds, &record) == 0)
		logger->sink(logger->context, level, buf_str(&logger->line));
}

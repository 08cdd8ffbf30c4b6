#include "base/base.h"
#include "io/sse.h"

/* -- writing --------------------------------------------------------------------------------------------- */

static bool breaks_line(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == '\0')
			return true;
	return false;
}

static size_t line_length(struct str text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] != '\r' && text.p[n] != '\n')
		n++;
	return n;
}

/* Takes the first line off `rest`; its end is CR LF, CR or LF. False when `rest` was used up; an end at the
 * very end begins one more, empty line, so that a reader gets back what was written. */
static bool next_line(struct str *rest, struct str *ret_line)
{
	struct str end;

	if (rest->n == SIZE_MAX)
		return false;
	*ret_line = str_slice(*rest, 0, line_length(*rest));
	end = str_from(*rest, ret_line->n);
	if (end.n == 0)
		*rest = str_make(NULL, SIZE_MAX);
	else
		*rest = str_from(end, str_starts_with(end, STR("\r\n")) ? 2 : 1);
	return true;
}

static void append_line(struct buf *out, struct str name, struct str value)
{
	buf_append(out, name);
	buf_append(out, value);
	buf_append_char(out, '\n');
}

static void append_lines(struct buf *out, struct str name, struct str text)
{
	struct str line;

	while (next_line(&text, &line))
		append_line(out, name, line);
}

static int finish(struct buf *out)
{
	buf_append_char(out, '\n');
	return buf_failed(out) ? ERR_TOO_LARGE : 0;
}

int sse_event(struct buf *out, struct str event, struct str id, struct str data)
{
	if (breaks_line(event) || breaks_line(id))
		return ERR_INVALID;
	if (event.n)
		append_line(out, STR("event: "), event);
	if (id.n)
		append_line(out, STR("id: "), id);
	if (data.p)
		append_lines(out, STR("data: "), data);
	return finish(out);
}

int sse_comment(struct buf *out, struct str text)
{
	append_lines(out, STR(": "), text);
	return finish(out);
}

int sse_retry(struct buf *out, uint64_t ms)
{
	buf_printf(out, "retry: %llu\n", (unsigned long long)ms);
	return finish(out);
}

/* -- reading --------------------------------------------------------------------------------------------- */

void sse_reader_init(struct sse_reader *reader, size_t max)
{
	*reader = (struct sse_reader){ .max = max, .retry_ms = UINT64_MAX };
	buf_init(&reader->line, max);
	buf_init(&reader->event, max);
	buf_init(&reader->id, max);
	buf_init(&reader->data, max);
}

void sse_reader_release(struct sse_reader *reader)
{
	buf_release(&reader->line);
	buf_release(&reader->event);
	buf_release(&reader->id);
	buf_release(&reader->data);
}

static int set(struct buf *buf, struct str value)
{
	buf_clear(buf, SIZE_MAX);
	return buf_append(buf, value);
}

static int take_data(struct sse_reader *reader, struct str value)
{
	if (reader->has_data)
		buf_append_char(&reader->data, '\n');
	reader->has_data = true;
	return buf_append(&reader->data, value);
}

static void take_retry(struct sse_reader *reader, struct str value)
{
	uint64_t ms;

	if (str_to_u64(value, &ms) == 0)
		reader->retry_ms = ms;
}

static int take_field(struct sse_reader *reader, struct str name, struct str value)
{
	if (str_eq(name, STR("data")))
		return take_data(reader, value);
	if (str_eq(name, STR("event")))
		return set(&reader->event, value);
	if (str_eq(name, STR("id")))
		return str_find_char(value, '\0') == STR_NONE ? set(&reader->id, value) : 0;
	if (str_eq(name, STR("retry")))
		take_retry(reader, value);
	return 0;
}

static void forget_event(struct sse_reader *reader)
{
	/* An event's storage is not kept for the next when it was large. */
	enum { KEEP = 4096 };

	buf_clear(&reader->event, KEEP);
	buf_clear(&reader->data, KEEP);
	reader->has_data = false;
	reader->delivered = false;
}

/* 1 when the line ended an event that is to be delivered. */
static int take_line(struct sse_reader *reader, struct str line)
{
	size_t colon = str_find_char(line, ':');
	struct str value = colon == STR_NONE ? str_make(NULL, 0) : str_from(line, colon + 1);

	if (line.n == 0) {
		reader->delivered = reader->has_data;
		if (!reader->has_data)
			forget_event(reader);
		return reader->delivered ? 1 : 0;
	}
	if (colon == 0)
		return 0;
	return take_field(reader, str_slice(line, 0, colon),
			  str_starts_with(value, STR(" ")) ? str_from(value, 1) : value);
}

/* The mark may come in pieces: it is looked for at the start of the first line, once that is whole. */
static struct str without_mark(struct sse_reader *reader, struct str line)
{
	static const struct str mark = STR_INIT("\xEF\xBB\xBF");

	if (reader->begun)
		return line;
	reader->begun = true;
	return str_starts_with(line, mark) ? str_from(line, mark.n) : line;
}

static bool is_too_large(const struct sse_reader *reader, size_t more)
{
	return more > reader->max || reader->line.n + reader->event.n + reader->data.n > reader->max - more;
}

/* Takes one line, or the rest of the input, off *bytes. */
static int take_some(struct sse_reader *reader, struct str *bytes)
{
	size_t end = line_length(*bytes);
	struct str part = str_slice(*bytes, 0, end), line = part;
	int result;

	if (is_too_large(reader, part.n + 1))
		return ERR_TOO_LARGE;
	if (end == bytes->n) {
		*bytes = str_from(*bytes, end);
		return buf_append(&reader->line, part);
	}
	reader->after_cr = bytes->p[end] == '\r';
	*bytes = str_from(*bytes, end + 1);
	if (reader->line.n) {
		buf_append(&reader->line, part);
		line = buf_str(&reader->line);
	}
	result = take_line(reader, without_mark(reader, line));
	buf_clear(&reader->line, 0);
	return result;
}

int sse_read(struct sse_reader *reader, struct str *bytes, struct sse_message *ret_message, struct err *err)
{
	int result = 0;

	if (reader->delivered)
		forget_event(reader);
	while (result == 0 && bytes->n) {
		if (reader->after_cr && bytes->p[0] == '\n')
			*bytes = str_from(*bytes, 1);
		reader->after_cr = false;
		if (bytes->n)
			result = take_some(reader, bytes);
	}
	if (result < 0)
		return err_set(err, ERR_TOO_LARGE, "an event of the stream is larger than %zu bytes",
			       reader->max);
	if (result > 0)
		*ret_message = (struct sse_message){
			.event = reader->event.n ? buf_str(&reader->event) : STR("message"),
			.id = buf_str(&reader->id),
			.data = buf_str(&reader->data),
		};
	return result;
}

#include "base/base.h"
#include "json/writer.h"

#include "json/scan.h"

#include <float.h>
#include <stdarg.h>

static void put(struct buf *out, struct str s)
{
	buf_append(out, s);
}

static void put_char(struct buf *out, char c)
{
	buf_append_char(out, c);
}

/* -- strings --------------------------------------------------------------------------------------------- */

/* Copies the bytes at the start of `s` that are written as they are. Never stores more than s.n bytes. */
static size_t copy_as_is(char *room, struct str s)
{
	struct copy c = { s.p, room };
	const char *end = s.p + s.n;

	for (;;) {
		unsigned n;

		c = scan_plain(c, end);
		if (c.in == end || (unsigned char)*c.in < 0x80)
			break;
		n = utf8_length(c.in, end);
		if (n == 0)
			break;
		c.out = store_sequence(c.out, c.in, end, n);
		c.in += n;
	}
	return (size_t)(c.in - s.p);
}

static void put_escape(struct buf *out, unsigned char c)
{
	static const char letters[] = { ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
					['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't' };
	static const char hex[] = "0123456789abcdef";
	char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	if (letters[c]) {
		escape[1] = letters[c];
		put(out, str_make(escape, 2));
	} else {
		put(out, str_make(escape, 6));
	}
}

static void put_string(struct buf *out, struct str s)
{
	put_char(out, '"');
	while (s.n > 0) {
		/* What is left needs at least as many bytes as it has, so this fails only when the string
		 * cannot fit. */
		char *room = buf_reserve(out, s.n + 1);
		size_t n;

		if (!room)
			return;
		n = copy_as_is(room, s);
		buf_claim(out, n);
		s = str_from(s, n);
		for (unsigned taken = 1; s.n > 0 && is_special_byte((unsigned char)s.p[0]);
		     s = str_from(s, taken), taken = 1) {
			uint32_t c;

			if ((unsigned char)s.p[0] < 0x80)
				put_escape(out, (unsigned char)s.p[0]);
			else if (utf8_decode_first(s, &c, &taken) == 0)
				put(out, STR("\xef\xbf\xbd"));
			else
				break;
		}
	}
	put_char(out, '"');
}

int json_quote(struct buf *out, struct str s)
{
	put_string(out, s);
	return buf_failed(out) ? ERR_TOO_LARGE : 0;
}

/* -- separators ------------------------------------------------------------------------------------------ */

static void put_line(struct buf *out, size_t depth)
{
	put_char(out, '\n');
	while (depth-- > 0)
		put(out, STR("  "));
}

static uint64_t level_bit(const struct json_writer *w)
{
	return (uint64_t)1 << (w->depth - 1);
}

static bool in_object(const struct json_writer *w)
{
	return w->depth > 0 && (w->in_object & level_bit(w)) != 0;
}

/* The comma and line break before an element or a member. */
static void begin_item(struct json_writer *w)
{
	if (w->depth == 0)
		return;
	if (w->not_first & level_bit(w))
		put_char(w->out, ',');
	w->not_first |= level_bit(w);
	if (w->pretty)
		put_line(w->out, w->depth);
}

static void begin_value(struct json_writer *w)
{
	BUG_ON(in_object(w) && !w->after_key);
	BUG_ON(w->depth == 0 && w->complete);
	if (!w->after_key)
		begin_item(w);
	w->after_key = false;
	w->complete = w->depth == 0;
}

static void begin_container(struct json_writer *w, bool object)
{
	begin_value(w);
	BUG_ON(w->depth == JSON_WRITER_DEPTH_MAX);
	put_char(w->out, object ? '{' : '[');
	w->complete = false;
	w->depth++;
	w->not_first &= ~level_bit(w);
	w->in_object = object ? w->in_object | level_bit(w) : w->in_object & ~level_bit(w);
}

static void end_container(struct json_writer *w, bool object)
{
	bool empty;

	BUG_ON(w->depth == 0 || in_object(w) != object || w->after_key);
	empty = (w->not_first & level_bit(w)) == 0;
	w->depth--;
	if (w->pretty && !empty)
		put_line(w->out, w->depth);
	put_char(w->out, object ? '}' : ']');
	w->complete = w->depth == 0;
}

/* -- the stream ------------------------------------------------------------------------------------------ */

void json_writer_init(struct json_writer *w, struct buf *out, bool pretty)
{
	*w = (struct json_writer){ .out = out, .pretty = pretty };
}

void json_write_object_begin(struct json_writer *w)
{
	begin_container(w, true);
}

void json_write_object_end(struct json_writer *w)
{
	end_container(w, true);
}

void json_write_array_begin(struct json_writer *w)
{
	begin_container(w, false);
}

void json_write_array_end(struct json_writer *w)
{
	end_container(w, false);
}

void json_write_key(struct json_writer *w, struct str key)
{
	BUG_ON(!in_object(w) || w->after_key);
	begin_item(w);
	put_string(w->out, key);
	put(w->out, w->pretty ? STR(": ") : STR(":"));
	w->after_key = true;
}

void json_write_str(struct json_writer *w, struct str s)
{
	begin_value(w);
	put_string(w->out, s);
}

void json_write_strf(struct json_writer *w, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	BUG_ON(n < 0);
	json_write_str(w, str_make(text, (size_t)n));
}

static void write_integer(struct json_writer *w, bool negative, uint64_t magnitude)
{
	char digits[20 + 1];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + magnitude % 10);
		magnitude /= 10;
	} while (magnitude > 0);
	if (negative)
		digits[--at] = '-';
	json_write_raw(w, str_make(digits + at, sizeof(digits) - at));
}

void json_write_i64(struct json_writer *w, int64_t n)
{
	write_integer(w, n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void json_write_u64(struct json_writer *w, uint64_t n)
{
	write_integer(w, false, n);
}

void json_write_double(struct json_writer *w, double d)
{
	char text[32];
	int n = 0;

	if (!(d >= -DBL_MAX && d <= DBL_MAX)) {
		json_write_null(w);
		return;
	}
	/* Up to 15 digits survive the way through a double; 17 tell every double from its neighbours. */
	for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
		n = snprintf(text, sizeof(text), "%.*g", digits, d);
		if (strtod(text, NULL) == d)
			break;
	}
	json_write_raw(w, str_make(text, (size_t)n));
}

void json_write_bool(struct json_writer *w, bool b)
{
	json_write_raw(w, b ? STR("true") : STR("false"));
}

void json_write_null(struct json_writer *w)
{
	json_write_raw(w, STR("null"));
}

void json_write_raw(struct json_writer *w, struct str raw)
{
	BUG_ON(raw.n == 0);
	begin_value(w);
	put(w->out, raw);
}

/* -- trees ----------------------------------------------------------------------------------------------- */

/* The containers that are open while a tree is written, the innermost last. */
struct open_tree {
	struct json_writer *w;
	size_t depth;
	struct {
		const struct json *end; /* the node behind it */
		bool object;
	} levels[JSON_DEPTH_MAX];
};

static void tree_line(const struct open_tree *t)
{
	if (t->w->pretty)
		put_line(t->w->out, t->w->depth + t->depth);
}

/* The name of the member whose value comes next, if one does. Returns the value. */
static const struct json *tree_item(const struct open_tree *t, const struct json *at)
{
	tree_line(t);
	if (!t->levels[t->depth - 1].object)
		return at;
	put_string(t->w->out, json_str(at));
	put(t->w->out, t->w->pretty ? STR(": ") : STR(":"));
	return at + 1;
}

/* Opens a container that is not empty. Returns its first value. */
static const struct json *tree_open(struct open_tree *t, const struct json *v)
{
	bool object = json_is(v, JSON_OBJECT);

	t->levels[t->depth].end = json_after(v);
	t->levels[t->depth].object = object;
	t->depth++;
	put_char(t->w->out, object ? '{' : '[');
	return tree_item(t, json_first(v));
}

static void put_leaf(struct buf *out, const struct json *v)
{
	static const struct str words[] = {
		[JSON_NULL] = STR_INIT("null"), [JSON_FALSE] = STR_INIT("false"),
		[JSON_TRUE] = STR_INIT("true"), [JSON_ARRAY] = STR_INIT("[]"),
		[JSON_OBJECT] = STR_INIT("{}"),
	};

	if (json_is(v, JSON_STRING))
		put_string(out, json_str(v));
	else if (json_is(v, JSON_NUMBER))
		put(out, json_number_text(v));
	else
		put(out, words[json_type(v)]);
}

/* Closes the containers that end at `at`, and goes on to the next value if there is one. */
static const struct json *tree_advance(struct open_tree *t, const struct json *at)
{
	while (t->depth > 0 && t->levels[t->depth - 1].end == at) {
		t->depth--;
		tree_line(t);
		put_char(t->w->out, t->levels[t->depth].object ? '}' : ']');
	}
	if (t->depth == 0)
		return at;
	put_char(t->w->out, ',');
	return tree_item(t, at);
}

void json_write_value(struct json_writer *w, const struct json *v)
{
	struct open_tree t;

	if (!v) {
		json_write_null(w);
		return;
	}
	begin_value(w);
	t.w = w;
	t.depth = 0;
	do {
		if (json_count(v) > 0) {
			v = tree_open(&t, v);
			continue;
		}
		put_leaf(w->out, v);
		v = tree_advance(&t, json_after(v));
	} while (t.depth > 0);
}

/* -- members --------------------------------------------------------------------------------------------- */

void json_member_str(struct json_writer *w, struct str key, struct str value)
{
	json_write_key(w, key);
	json_write_str(w, value);
}

void json_member_i64(struct json_writer *w, struct str key, int64_t value)
{
	json_write_key(w, key);
	json_write_i64(w, value);
}

void json_member_u64(struct json_writer *w, struct str key, uint64_t value)
{
	json_write_key(w, key);
	json_write_u64(w, value);
}

void json_member_bool(struct json_writer *w, struct str key, bool value)
{
	json_write_key(w, key);
	json_write_bool(w, value);
}

void json_member_raw(struct json_writer *w, struct str key, struct str raw)
{
	json_write_key(w, key);
	json_write_raw(w, raw);
}

void json_member_value(struct json_writer *w, struct str key, const struct json *value)
{
	json_write_key(w, key);
	json_write_value(w, value);
}

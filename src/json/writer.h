/*
 * writer.h - writing JSON into a buffer, as a stream.
 *
 * The writer puts commas and colons; the caller says what comes. Misuse is a BUG: a value where a key
 * belongs, an end without its begin, a second value at the root. Output is compact, or indented by two
 * spaces. What does not fit the buffer's maximum makes the buffer fail: ask buf_failed() once at the end.
 * Strings must be UTF-8; each maximal broken part becomes one U+FFFD, so that what leaves us is always valid.
 * Pure.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

/* Of begin and end; a parsed value within may be as deep as it is. */
enum { JSON_WRITER_DEPTH_MAX = 64 };

struct json_writer {
	struct buf *out;
	unsigned depth;
	bool pretty;
	bool after_key;		       /* a key was written, its value is due */
	bool complete;		       /* the root value is written */
	uint64_t in_object, not_first; /* a bit per level */
};

void json_writer_init(struct json_writer *w, struct buf *out, bool pretty);

void json_write_object_begin(struct json_writer *w);
void json_write_object_end(struct json_writer *w);
void json_write_array_begin(struct json_writer *w);
void json_write_array_end(struct json_writer *w);
void json_write_key(struct json_writer *w, struct str key);

void json_write_str(struct json_writer *w, struct str s);
void json_write_strf(struct json_writer *w, const char *format, ...) _printf_(2, 3);
void json_write_i64(struct json_writer *w, int64_t n);
void json_write_u64(struct json_writer *w, uint64_t n);
/* The text with the fewest digits of 15 to 17 that reads back equal; not finite: null. */
void json_write_double(struct json_writer *w, double d);
void json_write_bool(struct json_writer *w, bool b);
void json_write_null(struct json_writer *w);
/* Bytes that are already one valid JSON value, written as they are. */
void json_write_raw(struct json_writer *w, struct str raw);
/* A parsed value; NULL writes null. */
void json_write_value(struct json_writer *w, const struct json *v);

/* A key and its value in one call. */
void json_member_str(struct json_writer *w, struct str key, struct str value);
void json_member_i64(struct json_writer *w, struct str key, int64_t value);
void json_member_u64(struct json_writer *w, struct str key, uint64_t value);
void json_member_bool(struct json_writer *w, struct str key, bool value);
void json_member_raw(struct json_writer *w, struct str key, struct str raw);
void json_member_value(struct json_writer *w, struct str key, const struct json *value);

/* `s` as a JSON string with its quotes. */
int json_quote(struct buf *out, struct str s);

#endif

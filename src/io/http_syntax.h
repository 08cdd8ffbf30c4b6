/*
 * http_syntax.h - the small grain of HTTP/1.1 that requests, answers and trailers share: lines, tokens,
 * fields and lists (RFC 9110 section 5, RFC 9112 section 2.2).
 *
 * Pure; nothing allocates; results are views into what was passed.
 */
#ifndef IO_HTTP_SYNTAX_H
#define IO_HTTP_SYNTAX_H

#include "base/base.h"
#include "base/str.h"

struct http_field {
	struct str name, value; /* value without surrounding blanks */
};

/* -- lines ----------------------------------------------------------------------------------------------- */

enum http_line {
	HTTP_LINE_MORE,	 /* the current line's end has not arrived */
	HTTP_LINE_WHOLE, /* here is a line */
	HTTP_LINE_BAD	 /* a CR or LF that stands alone, a NUL, or another control character (tab is none) */
};

struct http_lines {
	size_t from; /* where the current line begins */
	size_t at;   /* bytes that were looked at already */
};

/*
 * Finds the next line of `bytes`, which are always the same bytes from their beginning, possibly longer than
 * last time. Begin with a zeroed struct http_lines. A line ends with CR LF and nothing else; *ret_line is
 * without it. Each byte is looked at once, however the bytes were cut.
 */
enum http_line http_next_line(struct http_lines *lines, struct str bytes, struct str *ret_line);

/* -- tokens and fields ----------------------------------------------------------------------------------- */

/* One or more of the characters that methods and field names are made of. */
bool http_is_token(struct str s);

/* No CR, LF, NUL or other control character except tab. */
bool http_is_field_value(struct str s);

/* Splits "Name: value". Returns NULL, or what is wrong with the line, as the end of a sentence about it. */
const char *http_parse_field(struct str line, struct http_field *ret_field);

/* The value of the first field of that name, or an empty string with .p NULL. Names compare without case. */
struct str http_find_field(const struct http_field *fields, size_t count, struct str name);

/* Takes the next member off a comma-separated list, without surrounding blanks; empty members are skipped and
 * commas between double quotes do not separate. False at the end. */
bool http_next_member(struct str *rest, struct str *ret_member);

/* Whether the list has that member, compared without case: for Connection, Upgrade and the like. */
bool http_list_has(struct str list, struct str member);

/* The phrase of a status ("Not Found"), "Unknown" for one that has none. */
const char *http_status_phrase(unsigned status);

#endif

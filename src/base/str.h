/*
 * str.h - counted strings.
 *
 * A struct str is a view: a pointer and a length, not terminated, never owned. It is passed by value. The
 * empty string may have a NULL pointer. The bytes are whatever they are; text/utf8.h says whether they are
 * UTF-8. Pure; any thread.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/base.h"

struct str {
	const char *p;
	size_t n;
};

/* A string literal as a counted string, also in static initialisers. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_INIT(literal) { "" literal, sizeof(literal) - 1 }

/* For printf: "%.*s", STR_ARG(s). Cut at INT_MAX. */
#define STR_ARG(s) str_printf_length(s), (s).p ? (s).p : ""
int str_printf_length(struct str s);

/* The view of a NUL-terminated string; NULL gives the empty string. */
struct str str_of(const char *terminated);
static inline struct str str_make(const char *p, size_t n)
{
	return (struct str){ p, n };
}

bool str_eq(struct str a, struct str b);
bool str_eq_ignoring_case(struct str a, struct str b); /* ASCII letters only */
int str_compare(struct str a, struct str b);	       /* byte order; <0, 0, >0 */
bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);

/* The part from `from`, at most `n` bytes; clamped to the string. */
struct str str_slice(struct str s, size_t from, size_t n);
static inline struct str str_from(struct str s, size_t from)
{
	return str_slice(s, from, SIZE_MAX);
}

/* Offset of the first or last occurrence, or STR_NONE. */
#define STR_NONE SIZE_MAX
size_t str_find(struct str s, struct str needle);
size_t str_find_char(struct str s, char c);
size_t str_find_last_char(struct str s, char c);

/* Without the ASCII space, tab, CR and LF at both ends. */
struct str str_trim(struct str s);

/* Takes the part before the next `separator` off *rest: true and *ret_part, or false when *rest was used up.
 * "a,,b" has three parts, "" has one empty part. Begin with *rest = the whole string. Behind the last part
 * *rest is no string: its length is SIZE_MAX, which is how the next call knows. */
bool str_split(struct str *rest, char separator, struct str *ret_part);

/* Whether it is decimal digits and nothing else, at least one. */
bool str_is_digits(struct str s);

/* Takes what *rest begins with off it: the decimal digits, perhaps none; or `c`, false when something else is
 * there. */
struct str str_take_digits(struct str *rest);
bool str_take_char(struct str *rest, char c);

/* Decimal numbers, the whole string, no sign for the unsigned, no spaces. 0 or ERR_INVALID (also out of
 * range). */
int str_to_u64(struct str s, uint64_t *ret_value);
int str_to_i64(struct str s, int64_t *ret_value);

#endif

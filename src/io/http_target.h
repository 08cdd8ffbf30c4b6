/*
 * http_target.h - the target of a request in origin form (RFC 9112 section 3.2.1): its path and its query.
 *
 * A path has one reading here. Refused are: a raw character that a URI cannot hold, a broken escape, an
 * escaped NUL or other control character, an escaped slash or backslash (it would be a separator to some and
 * a name to others), dot segments, raw or escaped (whoever joins the path to a directory would leave it),
 * empty segments other than the last, and what does not decode to UTF-8. In a query, a broken escape, an
 * escaped NUL and what is not UTF-8 are refused. Pure.
 */
#ifndef IO_HTTP_TARGET_H
#define IO_HTTP_TARGET_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

/* NULL when the target is good ("*" is not), else a sentence about it. */
const char *http_target_check(struct str target);

/* Splits a target that was checked. *ret_path is decoded into the arena; *ret_query is as sent, .p NULL
 * without "?". "*" is its own path. */
void http_target_split(struct str target, struct arena *arena, struct str *ret_path, struct str *ret_query);

/* The decoded value of the first parameter `name` of a query that was checked ("+" is a blank), from the
 * arena; .p NULL when there is none. */
struct str http_query_get(struct str query, struct str name, struct arena *arena);

#endif

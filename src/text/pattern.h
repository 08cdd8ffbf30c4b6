/*
 * pattern.h - how configuration names tools: an exact name, a glob, or /a regular expression/.
 *
 * A pattern that begins and ends with "/" is a regular expression, one that holds * ? or [ is a glob over the
 * whole name, and everything else is the name itself. Regular expressions are not offered yet and are refused
 * as such. A struct pattern is a view of the text it was made from, which must outlive it. Pure; any thread.
 */
#ifndef TEXT_PATTERN_H
#define TEXT_PATTERN_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum pattern_kind { PATTERN_EXACT, PATTERN_GLOB };

struct pattern {
	enum pattern_kind kind;
	struct str text;
};

/* ERR_INVALID: empty, or a malformed glob (with the column); ERR_TOO_LARGE; ERR_UNSUPPORTED: a regular
 * expression. */
int pattern_parse(struct str text, struct pattern *ret_pattern, struct err *err);

bool pattern_matches(const struct pattern *pattern, struct str name);

#endif

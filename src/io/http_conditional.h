/*
 * http_conditional.h - what a request's conditions and its range make of a file's answer (RFC 9110 sections
 * 13 and 14). Pure.
 *
 * Only one range is served; a request for several, or a malformed one, gets the whole file, as the RFC
 * allows.
 */
#ifndef IO_HTTP_CONDITIONAL_H
#define IO_HTTP_CONDITIONAL_H

#include "base/base.h"
#include "base/str.h"
#include "io/http_syntax.h"

struct http_selected {
	unsigned status;      /* 200, 206, 304, 412 or 416 */
	uint64_t from, count; /* the bytes to send; for 200 and 206 */
};

struct http_validators {
	uint64_t size;
	uint64_t modified_ms; /* 0: unknown */
	uint64_t now_ms;      /* the clock, which the obsolete dates with two digits for the year need */
	struct str etag;      /* with its quotes; empty: none */
};

struct http_selected http_select(struct str method, const struct http_field *fields, size_t field_count,
				 const struct http_validators *validators);

#endif

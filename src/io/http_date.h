/*
 * http_date.h - dates in HTTP fields (RFC 9110 section 5.6.7). Independent of the locale. Pure.
 */
#ifndef IO_HTTP_DATE_H
#define IO_HTTP_DATE_H

#include "base/base.h"
#include "base/str.h"

enum { HTTP_DATE_LENGTH = 29 };

/* "Sun, 06 Nov 1994 08:49:37 GMT", without a NUL; seconds since 1970, up to the year 9999. */
void http_date_write(char room[HTTP_DATE_LENGTH], uint64_t seconds);

/* Reads that form and the two obsolete ones, which a recipient must accept. 0 or ERR_INVALID; dates before 1970 are ERR_INVALID. */
int http_date_read(struct str text, uint64_t *ret_seconds);

#endif

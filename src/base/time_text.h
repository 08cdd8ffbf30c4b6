/*
 * time_text.h - moments as text: RFC 3339 for records and answers, HTTP-date for HTTP fields. Always UTC.
 *
 * A moment is a uint64_t of milliseconds since 1970-01-01T00:00:00Z, without leap seconds. Text ends with the
 * year 9999; a later moment is written as the last one of that year. Pure, locale-independent; any thread.
 */
#ifndef BASE_TIME_TEXT_H
#define BASE_TIME_TEXT_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum { TIME_TEXT_MAX = 32 };

/* 9999-12-31T23:59:59.999Z */
#define TIME_MAX_MS UINT64_C(253402300799999)

/* A moment taken apart (proleptic Gregorian calendar). */
struct civil_time {
	unsigned year, month, day; /* 1970..9999, 1..12, 1..31 */
	unsigned hour, minute, second, millisecond;
	unsigned weekday; /* 0 is Sunday */
};
struct civil_time civil_of_ms(uint64_t wall_ms);

/* The inverse; `weekday` is not read. ERR_INVALID when the fields name no moment. Second 60 counts as the
 * first of the next minute (RFC 3339 section 5.7, RFC 9110 section 5.6.7 allow it). */
int civil_to_ms(const struct civil_time *civil, uint64_t *ret_ms);

/* "2026-07-28T09:08:07.123Z" (RFC 3339), written into `storage` and followed by a NUL. */
struct str time_rfc3339(char storage[TIME_TEXT_MAX], uint64_t wall_ms);

/* Reads any RFC 3339 date-time from 1970 to 9999, with any offset; digits beyond the millisecond are dropped.
 * ERR_INVALID. */
int time_parse_rfc3339(struct str text, uint64_t *ret_ms, struct err *err);

/* "Tue, 28 Jul 2026 09:08:07 GMT": IMF-fixdate (RFC 9110 section 5.6.7), written into `storage` and followed
 * by a NUL. */
struct str time_http(char storage[TIME_TEXT_MAX], uint64_t wall_ms);

/*
 * Reads an HTTP-date in any of its three forms, which a recipient must all accept (RFC 9110 section 5.6.7).
 * The two-digit year of the RFC 850 form is the one that is not over 50 years after `now_ms`. ERR_INVALID:
 * malformed, a wrong weekday, or before 1970.
 */
int time_parse_http(struct str text, uint64_t now_ms, uint64_t *ret_ms, struct err *err);

#endif

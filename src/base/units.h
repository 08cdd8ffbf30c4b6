/*
 * units.h - durations and byte sizes as people write them.
 *
 * A duration is text in Go's syntax ("1m30s", "1.5h", "250ms", "0") and a uint64_t of milliseconds in the
 * program, which is the grain of everything that waits here. A text that is not a whole number of
 * milliseconds ("1us", "0.5ms") is refused rather than rounded, because rounding a short time-out to 0 would
 * switch it off.
 *
 * A byte size is text such as "256KiB" or "16MB" and a uint64_t of bytes. A fraction of a byte is rounded
 * down ("1.1KiB" is 1126), because a size is nearly always a limit.
 *
 * Both read back exactly what duration_text() (up to DURATION_MAX_MS) and byte_size_text() write.
 * Pure; any thread.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/* The longest duration that can be read: Go's own range, a little over 292 years. */
#define DURATION_MAX_MS (INT64_MAX / UINT64_C(1000000))

/*
 * Reads one or more pairs of a decimal number and a unit (ns, us, µs, ms, s, m, h), added up; "0" needs no
 * unit, and a leading "+" is allowed. ERR_INVALID: malformed, negative, or finer than a millisecond;
 * ERR_TOO_LARGE: over DURATION_MAX_MS. The message names the text, the place and what is allowed.
 */
int duration_parse(struct str text, uint64_t *ret_ms, struct err *err);

enum { MS_PER_SECOND = 1000 };

enum { DURATION_TEXT_MAX = 40, BYTE_SIZE_TEXT_MAX = 32 };

/* Exact, in the fewest parts: "0s", "250ms", "1.5s", "1m30s", "24h". Written into `storage`, followed by a
 * NUL. */
struct str duration_text(char storage[DURATION_TEXT_MAX], uint64_t ms);

/* For reports, three digits or two units, rounded down: "843ms", "1.24s", "12.4s", "3m12s", "5h7m",
 * "9d4h". */
struct str duration_rough(char storage[DURATION_TEXT_MAX], uint64_t ms);

/*
 * Reads a decimal number and a unit: B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024),
 * in any case; without a unit it is bytes. ERR_INVALID: malformed, or a fraction of plain bytes;
 * ERR_TOO_LARGE: over UINT64_MAX.
 */
int byte_size_parse(struct str text, uint64_t *ret_bytes, struct err *err);

/* Exact, in the largest unit that divides it: "256KiB", "16MB", "1001B", "0B". Where both kinds of unit
 * divide it, the shorter text, and of equally short ones the binary. */
struct str byte_size_text(char storage[BYTE_SIZE_TEXT_MAX], uint64_t bytes);

/* For reports, about three digits in binary units, rounded down: "512 B", "1.50 KiB", "12.0 MiB". */
struct str byte_size_rough(char storage[BYTE_SIZE_TEXT_MAX], uint64_t bytes);

#endif

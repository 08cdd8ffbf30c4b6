/*
 * buf.h - a growing byte buffer that was born with a maximum.
 *
 * An append that would pass the maximum stores nothing more, from then on: the buffer has *failed*, later
 * appends fail too, and buf_str() of a failed buffer is a BUG. So a writer may append many times and ask
 * once, at the end, with buf_failed(). The contents are not terminated; buf_cstr() terminates them. Not
 * thread-safe.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

struct buf {
	char *p;
	size_t n, capacity, max;
	bool failed;
};

/* Empty, nothing allocated; holds at most `max` bytes. */
void buf_init(struct buf *buf, size_t max);

/* Frees the storage. The buffer may be used again with the same maximum. Accepts a zeroed buffer. */
void buf_release(struct buf *buf);
#define _cleanup_buf_ _cleanup_(buf_release)

/* Empties it and forgets a failure; keeps the storage unless that is larger than `keep` bytes. */
void buf_clear(struct buf *buf, size_t keep);

/* Room for `n` more bytes at buf->p + buf->n, to be claimed with buf_claim(); NULL when that would pass the
 * maximum. */
static inline char *buf_reserve(struct buf *buf, size_t n);
void buf_claim(struct buf *buf, size_t n);

/* 0, or ERR_TOO_LARGE when the buffer has failed (now or before). What is appended is not a part of the
 * buffer itself. */
static inline int buf_append(struct buf *buf, struct str s);
static inline int buf_append_char(struct buf *buf, char c);
int buf_printf(struct buf *buf, const char *format, ...) _printf_(2, 3);

/* Drops the first `n` bytes (n <= buf->n); moves the rest down. */
void buf_drop(struct buf *buf, size_t n);

static inline bool buf_failed(const struct buf *buf)
{
	return buf->failed;
}

/* The contents, valid until the next change. */
struct str buf_str(const struct buf *buf);
const char *buf_cstr(struct buf *buf);

/* The storage passes to the caller, who frees it with free(); the buffer is empty afterwards. */
struct str buf_take(struct buf *buf);

/* -- the short ways, inline because writers take them for every few bytes -------------------------------- */

/* The long way of buf_reserve(): grows, or fails. */
char *buf_reserve_slowly(struct buf *buf, size_t n);

/* One byte more than the contents is always allocated, so that buf_cstr() cannot fail. */
static inline char *buf_reserve(struct buf *buf, size_t n)
{
	if (__builtin_expect(n < buf->capacity - buf->n && !buf->failed, 1))
		return buf->p + buf->n;
	return buf_reserve_slowly(buf, n);
}

static inline int buf_append(struct buf *buf, struct str s)
{
	char *room = buf_reserve(buf, s.n);

	if (!room)
		return ERR_TOO_LARGE;
	if (s.n)
		memcpy(room, s.p, s.n);
	buf->n += s.n;
	return 0;
}

static inline int buf_append_char(struct buf *buf, char c)
{
	return buf_append(buf, str_make(&c, 1));
}

#endif

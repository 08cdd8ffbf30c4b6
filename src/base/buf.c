#include "base/base.h"
#include "base/buf.h"

#include <stdarg.h>

enum { BUF_FIRST = 256 };

void buf_init(struct buf *buf, size_t max)
{
	*buf = (struct buf){ .max = max };
}

void buf_release(struct buf *buf)
{
	free(buf->p);
	buf_init(buf, buf->max);
}

void buf_clear(struct buf *buf, size_t keep)
{
	if (buf->capacity > keep)
		buf_release(buf);
	buf->n = 0;
	buf->failed = false;
}

char *buf_reserve_slowly(struct buf *buf, size_t n)
{
	size_t want, grown;

	if (buf->failed || n > buf->max - buf->n || n >= SIZE_MAX - buf->n) {
		buf->failed = true;
		return NULL;
	}
	want = buf->n + n + 1;
	if (want > buf->capacity) {
		grown = size_max(buf->capacity * 2, BUF_FIRST);
		if (grown > buf->max)
			grown = buf->max + 1;
		buf->capacity = size_max(grown, want);
		buf->p = xrealloc(buf->p, buf->capacity);
	}
	return buf->p + buf->n;
}

void buf_claim(struct buf *buf, size_t n)
{
	BUG_ON(n >= buf->capacity - buf->n);
	buf->n += n;
}

int buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args, again;
	char *room;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	BUG_ON(n < 0);
	room = buf_reserve(buf, (size_t)n);
	if (room) {
		vsnprintf(room, (size_t)n + 1, format, again);
		buf->n += (size_t)n;
	}
	va_end(again);
	va_end(args);
	return room ? 0 : ERR_TOO_LARGE;
}

void buf_drop(struct buf *buf, size_t n)
{
	BUG_ON(n > buf->n);
	if (n == 0)
		return;
	memmove(buf->p, buf->p + n, buf->n - n);
	buf->n -= n;
}

struct str buf_str(const struct buf *buf)
{
	BUG_ON(buf->failed);
	return str_make(buf->p, buf->n);
}

const char *buf_cstr(struct buf *buf)
{
	BUG_ON(buf->failed);
	if (!buf->p)
		return "";
	buf->p[buf->n] = '\0';
	return buf->p;
}

struct str buf_take(struct buf *buf)
{
	struct str s = buf_str(buf);

	buf->p = NULL;
	buf_init(buf, buf->max);
	return s;
}

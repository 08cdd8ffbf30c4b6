#include "base/base.h"
#include "io/tail.h"

/* A buffer of twice the size, in which the last half is moved to the front whenever it is full: linear, and
 * always in one piece, which a ring is not. */

enum { TAIL_FIRST = 256 };

void tail_init(struct tail *tail, size_t keep)
{
	BUG_ON(keep > SIZE_MAX / 2);
	*tail = (struct tail){ .keep = keep };
}

void tail_release(struct tail *tail)
{
	free(tail->bytes);
	tail_init(tail, tail->keep);
}

static void tail_reserve(struct tail *tail, size_t n)
{
	if (tail->n + n <= tail->capacity)
		return;
	tail->capacity = size_max(size_max(tail->capacity * 2, TAIL_FIRST), tail->n + n);
	tail->capacity = size_min(tail->capacity, tail->keep * 2);
	tail->bytes = xrealloc(tail->bytes, tail->capacity);
}

void tail_append(struct tail *tail, struct str bytes)
{
	if (bytes.n > tail->keep)
		bytes = str_from(bytes, bytes.n - tail->keep);
	if (bytes.n == 0)
		return;
	if (tail->n + bytes.n > tail->keep * 2) {
		memmove(tail->bytes, tail->bytes + tail->n - tail->keep, tail->keep);
		tail->n = tail->keep;
	}
	tail_reserve(tail, bytes.n);
	memcpy(tail->bytes + tail->n, bytes.p, bytes.n);
	tail->n += bytes.n;
}

struct str tail_str(const struct tail *tail)
{
	size_t n = size_min(tail->n, tail->keep);

	return str_make(n ? tail->bytes + tail->n - n : NULL, n);
}

/*
 * utf8proc knows the characters; the order of combining marks is ours. Its own utf8proc_map() sorts them by
 * swapping neighbours, which takes a minute for a megabyte of marks in the wrong order. Here long runs of
 * marks are sorted by counting, so that the time stays proportional to the text.
 */
#include "base/base.h"
#include "text/normal.h"
#include "base/character.h"
#include "text/utf8.h"

#include <utf8proc.h>

enum {
	EXPANSION_MAX = 32, /* code points from one; U+FDFA has the most, 18 */
	SHORT_RUN = 32,	    /* marks that are sorted by insertion: texts of people have one or two */
	CLASS_COUNT = 256   /* canonical combining classes are bytes */
};

struct points {
	utf8proc_int32_t *p;
	size_t n, capacity;
};

static void points_release(struct points *points)
{
	free(points->p);
}

static void points_decompose(struct points *points, struct str s, utf8proc_option_t options)
{
	int boundary = 0;

	while (s.n > 0) {
		uint32_t c = 0;
		unsigned length = utf8_decode(s, &c);
		utf8proc_ssize_t n;

		if (points->capacity - points->n < EXPANSION_MAX) {
			points->capacity = points->capacity * 2 + s.n + EXPANSION_MAX;
			points->p = xrealloc(points->p, points->capacity * sizeof(*points->p));
		}
		n = utf8proc_decompose_char((utf8proc_int32_t)c, points->p + points->n, EXPANSION_MAX,
					    options, &boundary);
		BUG_ON(length == 0 || n < 0 || n > EXPANSION_MAX);
		points->n += (size_t)n;
		s = str_from(s, length);
	}
}

static unsigned combining_class(utf8proc_int32_t c)
{
	return (unsigned)utf8proc_get_property(c)->combining_class & (CLASS_COUNT - 1);
}

static void sort_short_run(utf8proc_int32_t *run, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		utf8proc_int32_t moving = run[i];
		size_t at = i;

		for (; at > 0 && combining_class(run[at - 1]) > combining_class(moving); at--)
			run[at] = run[at - 1];
		run[at] = moving;
	}
}

static void sort_long_run(utf8proc_int32_t *run, size_t n)
{
	size_t place[CLASS_COUNT + 1] = { 0 };
	utf8proc_int32_t *copy = xmalloc(n * sizeof(*copy));

	memcpy(copy, run, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		place[combining_class(copy[i]) + 1]++;
	for (size_t c = 1; c <= CLASS_COUNT; c++)
		place[c] += place[c - 1];
	for (size_t i = 0; i < n; i++)
		run[place[combining_class(copy[i])]++] = copy[i];
	free(copy);
}

/* Brings each run of marks into canonical order, keeping the order within a class (Unicode 15, section
 * 3.11). */
static void points_order(struct points *points)
{
	size_t from = 0;

	while (from < points->n) {
		size_t to = from;

		while (to < points->n && combining_class(points->p[to]) != 0)
			to++;
		if (to - from > SHORT_RUN)
			sort_long_run(points->p + from, to - from);
		else if (to - from > 1)
			sort_short_run(points->p + from, to - from);
		from = to + 1;
	}
}

static void points_compose(struct points *points, utf8proc_option_t options)
{
	utf8proc_ssize_t n = utf8proc_normalize_utf32(points->p, (utf8proc_ssize_t)points->n, options);

	BUG_ON(n < 0 || (size_t)n > points->n);
	points->n = (size_t)n;
}

static int points_append(const struct points *points, struct buf *out)
{
	for (size_t i = 0; i < points->n; i++) {
		char bytes[4];
		unsigned n = utf8_encode((uint32_t)points->p[i], bytes);

		BUG_ON(n == 0);
		if (buf_append(out, str_make(bytes, n)) < 0)
			return ERR_TOO_LARGE;
	}
	return 0;
}

static int out_is_full(const struct buf *out, struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "the normalised text has more than %zu bytes", out->max);
}

static int normalise(struct buf *out, struct str s, utf8proc_option_t options, struct err *err)
{
	_cleanup_(points_release) struct points points = { 0 };
	int r;

	if (s.n > NORMAL_INPUT_MAX)
		return err_set(err, ERR_TOO_LARGE, "a text of %zu bytes is too long to normalise: at most %d",
			       s.n, NORMAL_INPUT_MAX);
	r = utf8_check(s, err);
	if (r < 0)
		return r;
	points_decompose(&points, s, options);
	points_order(&points);
	points_compose(&points, options);
	return points_append(&points, out) < 0 ? out_is_full(out, err) : 0;
}

int normal_nfkc(struct buf *out, struct str s, struct err *err)
{
	if (s.n <= NORMAL_INPUT_MAX && utf8_ascii(s))
		return buf_append(out, s) < 0 ? out_is_full(out, err) : 0;
	return normalise(out, s, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT, err);
}

static int fold_ascii(struct buf *out, struct str s, struct err *err)
{
	char *room = buf_reserve(out, s.n);

	if (!room)
		return out_is_full(out, err);
	for (size_t i = 0; i < s.n; i++)
		room[i] = to_lower(s.p[i]);
	buf_claim(out, s.n);
	return 0;
}

int normal_fold(struct buf *out, struct str s, struct err *err)
{
	if (s.n <= NORMAL_INPUT_MAX && utf8_ascii(s))
		return fold_ascii(out, s, err);
	return normalise(out, s,
			 UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
				 UTF8PROC_IGNORE,
			 err);
}

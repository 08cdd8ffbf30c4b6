/*
 * base.h - what every source file starts with: attributes, ownership macros, checked arithmetic and the BUG
 * macros.
 *
 * Include it first in every .c file. It has no run-time state. Functions that are easy to misuse are made
 * compile errors by banned.h, which this header includes last.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define _printf_(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define _must_check_ __attribute__((warn_unused_result))
#define _noreturn_ __attribute__((noreturn))
#define _cold_ __attribute__((cold))
#define _unused_ __attribute__((unused))
#define _fallthrough_ __attribute__((fallthrough))
#define _cleanup_(release) __attribute__((cleanup(release)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The object of type `type` whose field `member` is at `pointer`. */
#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

/*
 * A broken invariant of ours ends the program with the place and the condition, also in release builds: going
 * on would corrupt what we keep. What a peer, a file or a user sends is never a BUG.
 */
#define BUG_ON(condition)                                                                                    \
	do {                                                                                                 \
		if (__builtin_expect(!!(condition), 0))                                                      \
			bug(__FILE__, __LINE__, #condition);                                                 \
	} while (0)
_noreturn_ _cold_ void bug(const char *file, int line, const char *what);

/* Memory that cannot be had ends the program: what may grow with input is bounded long before this. Never
 * NULL. */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));

/* Allocates zeroed storage for one object of `type`. */
#define xnew(type) ((type *)xcalloc(1, sizeof(type)))

/* Hands a pointer or descriptor on: yields the value and leaves NULL or -1 behind, so that a cleanup does
 * nothing. */
#define take_ptr(p)                                                                                          \
	__extension__({                                                                                      \
		__typeof__(p) *_taken_from = &(p);                                                           \
		__typeof__(p) _taken = *_taken_from;                                                         \
		*_taken_from = NULL;                                                                         \
		_taken;                                                                                      \
	})
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Closes *fd unless it is negative and leaves -1. Keeps errno. */
void close_fd(int *fd);
static inline void free_ptr(void *p)
{
	free(*(void **)p);
	*(void **)p = NULL;
}
#define _cleanup_close_ _cleanup_(close_fd)
#define _cleanup_free_ _cleanup_(free_ptr)

/* a + b and a * b; true on overflow, when *ret is untouched in meaning. */
#define add_overflows(a, b, ret) __builtin_add_overflow(a, b, ret)
#define mul_overflows(a, b, ret) __builtin_mul_overflow(a, b, ret)

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}
static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Not installed: what programs of others may call is their own business. */
#if __has_include("base/banned.h")
#include "base/banned.h"
#endif

#endif

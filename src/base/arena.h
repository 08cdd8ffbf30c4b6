/*
 * arena.h - memory that is released all at once: one arena per request, message, document or configuration.
 *
 * An arena hands out zero-cost slices of large blocks and frees them together in arena_release(). Single
 * objects are never freed. Allocation cannot fail: an arena that passes its own maximum is a BUG of ours. Not
 * thread-safe; an arena may be moved to another thread whole.
 *
 * So that nothing from outside can bring that about, there is one rule for what goes into an arena:
 *
 * - Copies of an input, a few of them. An input is bounded where it enters the program, to ARENA_INPUT_MAX at
 *   most (which src/daemon/limits.c checks of the settings that bound inputs), so that an arena has room for
 *   eight.
 * - Of something that an input has many of (elements, members, names), a thing each only when their number
 *   has a maximum of its own, which is checked before anything is allocated. "0," is two bytes, a view of its
 *   element 16. What has no such maximum is walked (jsonrpc_elements(), json_for_each()), with an arena of
 *   its own for each step where one is needed.
 * - Nothing that grows by being copied larger again and again: that takes memory with the square. Grow a
 *   struct buf or an array from xrealloc(), and copy the result once.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/base.h"
#include "base/str.h"

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	char *at, *end;		    /* free room in the newest block */
	size_t total, max;	    /* bytes taken from malloc; the bound on them */
};

/* Ready for use, holding nothing. `max` bounds all blocks together, in bytes; 0 means ARENA_MAX_DEFAULT. */
void arena_init(struct arena *arena, size_t max);
enum {
	ARENA_MAX_DEFAULT = 1 << 30, /* a bound against our own mistakes */
	ARENA_INPUT_MAX =
		ARENA_MAX_DEFAULT / 8, /* what one input (a message, a body, a file) may have at most */
};

/* Frees everything that came from the arena. It may be used again. Accepts a zeroed arena. */
void arena_release(struct arena *arena);
#define _cleanup_arena_ _cleanup_(arena_release)

/* `size` bytes aligned for any object. Not cleared; arena_zalloc() clears. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_zalloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
#define arena_new(arena, type) ((type *)arena_zalloc(arena, sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_zalloc_array(arena, count, sizeof(type)))
void *arena_zalloc_array(struct arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of `s` that lives as long as the arena, followed by a NUL, so that .p is also a C string when s
 * holds no NUL. */
struct str arena_copy(struct arena *arena, struct str s);
char *arena_cstr(struct arena *arena, struct str s);

/* Formatted text, followed by a NUL. */
struct str arena_printf(struct arena *arena, const char *format, ...) _printf_(2, 3);

/* a followed by b followed by c, followed by a NUL. */
struct str arena_concat(struct arena *arena, struct str a, struct str b, struct str c);

#endif

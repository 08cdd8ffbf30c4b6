/*
 * arena.h - memory that is released all at once: one arena per request, message, document or configuration.
 *
 * An arena hands out zero-cost slices of large blocks and frees them together in arena_release(). Single objects are never
 * freed. Allocation cannot fail: what feeds an arena is bounded where it enters the program (a body, a line, a file), and an
 * arena that passes its own maximum is a BUG of ours. Not thread-safe; an arena may be moved to another thread whole.
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
	ARENA_MAX_DEFAULT = 1 << 30
}; /* a bound against our own mistakes: what feeds arenas has its own, smaller ones */

/* Frees everything that came from the arena. It may be used again. Accepts a zeroed arena. */
void arena_release(struct arena *arena);
#define _cleanup_arena_ _cleanup_(arena_release)

/* `size` bytes aligned for any object. Not cleared; arena_zalloc() clears. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_zalloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
#define arena_new(arena, type) ((type *)arena_zalloc(arena, sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_zalloc_array(arena, count, sizeof(type)))
void *arena_zalloc_array(struct arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of `s` that lives as long as the arena, followed by a NUL, so that .p is also a C string when s holds no NUL. */
struct str arena_copy(struct arena *arena, struct str s);
char *arena_cstr(struct arena *arena, struct str s);

/* Formatted text, followed by a NUL. */
struct str arena_printf(struct arena *arena, const char *format, ...) _printf_(2, 3);

/* a followed by b followed by c, followed by a NUL. */
struct str arena_concat(struct arena *arena, struct str a, struct str b, struct str c);

#endif

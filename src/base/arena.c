#include "base/base.h"
#include "base/arena.h"

#include <stdarg.h>

/* The first block holds a small request whole; blocks double up to a size that malloc(3) maps on its own. */
enum { ARENA_ALIGN = 16, ARENA_BLOCK_FIRST = 1024, ARENA_BLOCK_LARGEST = 256 * 1024 };

struct arena_block {
	struct arena_block *older;
	size_t size;
	_Alignas(ARENA_ALIGN) char room[];
};

void arena_init(struct arena *arena, size_t max)
{
	*arena = (struct arena){ .max = max ? max : ARENA_MAX_DEFAULT };
}

void arena_release(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block) {
		struct arena_block *older = block->older;

		free(block);
		block = older;
	}
	arena_init(arena, arena->max);
}

/* Blocks double in size, so that a small request costs one small block and a large one costs few. */
static void arena_grow(struct arena *arena, size_t size)
{
	size_t want =
		arena->blocks ? size_min(arena->blocks->size * 2, ARENA_BLOCK_LARGEST) : ARENA_BLOCK_FIRST;
	size_t left = arena->max - size_min(arena->total, arena->max);
	struct arena_block *block;

	BUG_ON(size > left);
	want = size_max(size_min(want, left), size);
	block = xmalloc(sizeof(*block) + want);
	block->older = arena->blocks;
	block->size = want;
	arena->blocks = block;
	arena->total += want;
	arena->at = block->room;
	arena->end = block->room + want;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	void *p;

	BUG_ON(size > SIZE_MAX / 2);
	/* Not even nothing is at NULL. */
	size = (size_max(size, 1) + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (size > (size_t)(arena->end - arena->at))
		arena_grow(arena, size);
	p = arena->at;
	arena->at += size;
	return p;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
	return memset(arena_alloc(arena, size), 0, size);
}

void *arena_zalloc_array(struct arena *arena, size_t count, size_t size)
{
	size_t total;

	BUG_ON(mul_overflows(count, size, &total));
	return arena_zalloc(arena, total);
}

char *arena_cstr(struct arena *arena, struct str s)
{
	char *p = arena_alloc(arena, s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

struct str arena_copy(struct arena *arena, struct str s)
{
	return str_make(arena_cstr(arena, s), s.n);
}

struct str arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args, again;
	int n;
	char *p;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	BUG_ON(n < 0);
	p = arena_alloc(arena, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, format, again);
	va_end(again);
	va_end(args);
	return str_make(p, (size_t)n);
}

struct str arena_concat(struct arena *arena, struct str a, struct str b, struct str c)
{
	const struct str parts[] = { a, b, c };
	size_t n = a.n + b.n + c.n;
	char *p = arena_alloc(arena, n + 1), *at = p;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i].n)
			memcpy(at, parts[i].p, parts[i].n);
		at += parts[i].n;
	}
	*at = '\0';
	return str_make(p, n);
}

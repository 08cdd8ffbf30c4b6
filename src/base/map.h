/*
 * map.h - a hash map from strings to pointers.
 *
 * Keys are copied in; values belong to the caller. The hash is keyed by a seed (SipHash-1-3), which a map
 * that is filled from outside must get from getrandom(2), so that nobody can choose colliding keys; a map of
 * our own names may use 0. Iteration is in order of insertion. What a map holds is bounded by who fills it;
 * 2^29 entries are a BUG. Not thread-safe.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/base.h"
#include "base/str.h"

struct map_entry {
	struct str key; /* owned by the map; followed by a NUL; .p is NULL for a removed entry */
	void *value;
	uint64_t hash;
};

struct map {
	struct map_entry *entries; /* in order of insertion, with holes where something was removed */
	uint32_t *slots;	   /* open addressing: 0 free, else index into entries + 1 */
	size_t used, count;	   /* entries in use including holes; live ones */
	size_t slot_count;	   /* a power of two, or 0 */
	uint64_t seed;
};

void map_init(struct map *map, uint64_t seed);

/* Frees keys and storage, not the values. Accepts a zeroed map. */
void map_release(struct map *map);

/* The value of `key`, or NULL. */
void *map_get(const struct map *map, struct str key);

/* Sets it and returns the value that was there before, or NULL. `value` is not NULL. */
void *map_set(struct map *map, struct str key, void *value);

/* Takes it out and returns its value, or NULL. */
void *map_remove(struct map *map, struct str key);

static inline size_t map_count(const struct map *map)
{
	return map->count;
}

/* Steps to the next live entry; begin with *cursor = 0. NULL at the end. Entries may be removed while
 * iterating, not added. */
const struct map_entry *map_next(const struct map *map, size_t *cursor);

/* SipHash-1-3 of `s`, for those who need a hash without a map. */
uint64_t hash_str(struct str s, uint64_t seed);

#endif

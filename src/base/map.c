#include "base/base.h"
#include "base/map.h"

/* Entries lie in order of insertion in one array; a table of indices finds them. Removal leaves a hole in the
 * entries and a tombstone in the table; both go at the next rehash. */

enum { MAP_SLOTS_FIRST = 8 };
#define MAP_TOMBSTONE UINT32_MAX

static inline uint64_t rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

struct sip {
	uint64_t a, b, c, d;
};

static inline void sip_round(struct sip *s)
{
	s->a += s->b;
	s->b = rotate(s->b, 13) ^ s->a;
	s->a = rotate(s->a, 32);
	s->c += s->d;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a += s->d;
	s->d = rotate(s->d, 21) ^ s->a;
	s->c += s->b;
	s->b = rotate(s->b, 17) ^ s->c;
	s->c = rotate(s->c, 32);
}

/* SipHash-1-3 with the key (seed, ~seed): Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012. */
uint64_t hash_str(struct str s, uint64_t seed)
{
	struct sip v = { seed ^ 0x736f6d6570736575, ~seed ^ 0x646f72616e646f6d, seed ^ 0x6c7967656e657261,
			 ~seed ^ 0x7465646279746573 };
	uint64_t last = (uint64_t)s.n << 56;
	size_t i = 0;

	for (; i + 8 <= s.n; i += 8) {
		uint64_t word;

		memcpy(&word, s.p + i, 8);
		v.d ^= word;
		sip_round(&v);
		v.a ^= word;
	}
	for (unsigned shift = 0; i < s.n; i++, shift += 8)
		last |= (uint64_t)(unsigned char)s.p[i] << shift;
	v.d ^= last;
	sip_round(&v);
	v.a ^= last;
	v.c ^= 0xff;
	sip_round(&v);
	sip_round(&v);
	sip_round(&v);
	return v.a ^ v.b ^ v.c ^ v.d;
}

void map_init(struct map *map, uint64_t seed)
{
	*map = (struct map){ .seed = seed };
}

void map_release(struct map *map)
{
	for (size_t i = 0; i < map->used; i++)
		free((char *)map->entries[i].key.p);
	free(map->entries);
	free(map->slots);
	map_init(map, map->seed);
}

static size_t map_find_slot(const struct map *map, struct str key, uint64_t hash)
{
	size_t mask = map->slot_count - 1;

	if (map->slot_count == 0)
		return SIZE_MAX;
	for (size_t at = hash & mask;; at = (at + 1) & mask) {
		uint32_t index = map->slots[at];

		if (index == 0)
			return SIZE_MAX;
		if (index != MAP_TOMBSTONE && map->entries[index - 1].hash == hash &&
		    str_eq(map->entries[index - 1].key, key))
			return at;
	}
}

/* Makes room for one more entry: rebuilds the table, without holes, at a load of at most one half. */
static void map_rehash(struct map *map)
{
	size_t slots = MAP_SLOTS_FIRST, kept = 0;

	while (slots < (map->count + 1) * 4)
		slots *= 2;
	BUG_ON(slots >= MAP_TOMBSTONE);
	for (size_t i = 0; i < map->used; i++)
		if (map->entries[i].key.p)
			map->entries[kept++] = map->entries[i];
	map->used = kept;
	map->entries = xrealloc(map->entries, slots / 2 * sizeof(*map->entries));
	free(map->slots);
	map->slots = xcalloc(slots, sizeof(*map->slots));
	map->slot_count = slots;
	for (size_t i = 0; i < kept; i++) {
		size_t at = map->entries[i].hash & (slots - 1);

		while (map->slots[at])
			at = (at + 1) & (slots - 1);
		map->slots[at] = (uint32_t)i + 1;
	}
}

void *map_get(const struct map *map, struct str key)
{
	size_t at = map_find_slot(map, key, hash_str(key, map->seed));

	return at == SIZE_MAX ? NULL : map->entries[map->slots[at] - 1].value;
}

static struct str map_copy_key(struct str key)
{
	char *p = xmalloc(key.n + 1);

	if (key.n)
		memcpy(p, key.p, key.n);
	p[key.n] = '\0';
	return str_make(p, key.n);
}

void *map_set(struct map *map, struct str key, void *value)
{
	uint64_t hash = hash_str(key, map->seed);
	size_t at = map_find_slot(map, key, hash);

	BUG_ON(!value);
	if (at != SIZE_MAX) {
		struct map_entry *entry = &map->entries[map->slots[at] - 1];
		void *old = entry->value;

		entry->value = value;
		return old;
	}
	if (map->used * 2 >= map->slot_count)
		map_rehash(map);
	map->entries[map->used] = (struct map_entry){ map_copy_key(key), value, hash };
	at = hash & (map->slot_count - 1);
	while (map->slots[at] && map->slots[at] != MAP_TOMBSTONE)
		at = (at + 1) & (map->slot_count - 1);
	map->slots[at] = (uint32_t)++map->used;
	map->count++;
	return NULL;
}

void *map_remove(struct map *map, struct str key)
{
	size_t at = map_find_slot(map, key, hash_str(key, map->seed));
	struct map_entry *entry;

	if (at == SIZE_MAX)
		return NULL;
	entry = &map->entries[map->slots[at] - 1];
	map->slots[at] = MAP_TOMBSTONE;
	map->count--;
	free((char *)entry->key.p);
	entry->key = str_make(NULL, 0);
	return entry->value;
}

const struct map_entry *map_next(const struct map *map, size_t *cursor)
{
	while (*cursor < map->used) {
		const struct map_entry *entry = &map->entries[(*cursor)++];

		if (entry->key.p)
			return entry;
	}
	return NULL;
}

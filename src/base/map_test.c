#include "base/base.h"
#include "base/map.h"

#include "base/bug_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static int one, two, three;

static void test_set_get_remove(void **state)
{
	struct map map;

	(void)state;
	map_init(&map, 0);
	assert_null(map_get(&map, STR("a")));
	assert_null(map_remove(&map, STR("a")));
	assert_int_equal(map_count(&map), 0);
	assert_null(map_set(&map, STR("a"), &one));
	assert_null(map_set(&map, STR("b"), &two));
	assert_ptr_equal(map_get(&map, STR("a")), &one);
	assert_ptr_equal(map_get(&map, STR("b")), &two);
	assert_null(map_get(&map, STR("c")));
	assert_int_equal(map_count(&map), 2);
	assert_ptr_equal(map_set(&map, STR("a"), &three), &one);
	assert_ptr_equal(map_get(&map, STR("a")), &three);
	assert_int_equal(map_count(&map), 2);
	assert_ptr_equal(map_remove(&map, STR("a")), &three);
	assert_null(map_get(&map, STR("a")));
	assert_null(map_remove(&map, STR("a")));
	assert_int_equal(map_count(&map), 1);
	map_release(&map);
	assert_int_equal(map_count(&map), 0);
	assert_null(map_get(&map, STR("b")));
	assert_null(map_set(&map, STR("b"), &one));
	map_release(&map);
	map = (struct map){ 0 };
	map_release(&map);
}

static void test_keys(void **state)
{
	char changing[] = "abc";
	size_t cursor = 0;
	struct map map;

	(void)state;
	map_init(&map, 7);
	assert_null(map_set(&map, STR(""), &one));
	assert_ptr_equal(map_get(&map, str_make(NULL, 0)), &one);
	assert_ptr_equal(map_set(&map, str_make(NULL, 0), &two), &one);
	map_set(&map, STR("a\0b"), &one);
	map_set(&map, STR("a\0c"), &two);
	map_set(&map, STR("a"), &three);
	assert_ptr_equal(map_get(&map, STR("a\0b")), &one);
	assert_ptr_equal(map_get(&map, STR("a\0c")), &two);
	assert_ptr_equal(map_get(&map, STR("a")), &three);
	/* The map has a copy. */
	map_set(&map, str_of(changing), &one);
	changing[0] = 'x';
	assert_ptr_equal(map_get(&map, STR("abc")), &one);
	assert_null(map_get(&map, STR("xbc")));
	for (const struct map_entry *entry; (entry = map_next(&map, &cursor));)
		assert_int_equal(entry->key.p[entry->key.n], '\0');
	map_release(&map);
}

static void assert_order(const struct map *map, const char *expected)
{
	char keys[32];
	size_t cursor = 0, n = 0;

	for (const struct map_entry *entry; (entry = map_next(map, &cursor));)
		keys[n++] = entry->key.p[0];
	keys[n] = '\0';
	assert_string_equal(keys, expected);
	assert_null(map_next(map, &cursor));
	assert_int_equal(map_count(map), n);
}

static void test_order_of_insertion(void **state)
{
	struct map map;

	(void)state;
	map_init(&map, 0);
	assert_order(&map, "");
	for (const char *key = "qwertyuiopasdfgh"; *key; key++)
		map_set(&map, str_make(key, 1), &one);
	assert_order(&map, "qwertyuiopasdfgh");
	map_set(&map, STR("e"), &two);
	assert_order(&map, "qwertyuiopasdfgh");
	map_remove(&map, STR("q"));
	map_remove(&map, STR("h"));
	map_remove(&map, STR("i"));
	assert_order(&map, "wertyuopasdfg");
	map_set(&map, STR("i"), &one);
	assert_order(&map, "wertyuopasdfgi");
	map_release(&map);
}

static void test_removal_while_iterating(void **state)
{
	size_t cursor = 0;
	struct map map;

	(void)state;
	map_init(&map, 0);
	for (const char *key = "abcdefgh"; *key; key++)
		map_set(&map, str_make(key, 1), &one);
	for (const struct map_entry *entry; (entry = map_next(&map, &cursor));)
		if (entry->key.p[0] % 2)
			map_remove(&map, entry->key);
	assert_order(&map, "bdfh");
	map_release(&map);
}

/* The simplest map there is: every key there can be, in a table of their values. */
enum { KEYS = 3000, STEPS = 60000 };

struct model {
	void *values[KEYS];
	size_t count;
};

/* A linear congruential generator (Knuth, MMIX), so that every run does the same. */
static unsigned next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(*seed >> 33);
}

static struct str make_key(char storage[16], unsigned number)
{
	return str_make(storage, (size_t)snprintf(storage, 16, "key %u", number));
}

static void assert_same(const struct map *map, const struct model *model)
{
	char storage[16];
	size_t cursor = 0, visited = 0;

	assert_int_equal(map_count(map), model->count);
	for (unsigned i = 0; i < KEYS; i++)
		assert_ptr_equal(map_get(map, make_key(storage, i)), model->values[i]);
	while (map_next(map, &cursor))
		visited++;
	assert_int_equal(visited, model->count);
}

static void step(struct map *map, struct model *model, uint64_t *random, bool growing)
{
	unsigned number = next_random(random) % KEYS, action = next_random(random) % 4;
	void *value = (char *)&model->values + 1 + next_random(random) % KEYS;
	char storage[16];
	struct str key = make_key(storage, number);

	if (action < (growing ? 3U : 1U)) {
		assert_ptr_equal(map_set(map, key, value), model->values[number]);
		model->count += model->values[number] == NULL;
		model->values[number] = value;
	} else {
		assert_ptr_equal(map_remove(map, key), model->values[number]);
		model->count -= model->values[number] != NULL;
		model->values[number] = NULL;
	}
}

static void test_against_a_model(void **state)
{
	struct model *model = xnew(struct model);
	uint64_t random = 1;
	struct map map;

	(void)state;
	map_init(&map, 0x0123456789abcdef);
	for (unsigned i = 0; i < STEPS; i++) {
		/* It fills and empties by turns. */
		step(&map, model, &random, i / (STEPS / 6) % 2 == 0);
		if (i % (STEPS / 60) == 0)
			assert_same(&map, model);
	}
	assert_same(&map, model);
	/* What was removed is not kept forever. */
	assert_in_range(map.slot_count, 0, 8 * KEYS);
	map_release(&map);
	free(model);
}

/* One key that comes and goes leaves a hole each time; the table must not grow. */
static void test_holes_are_reclaimed(void **state)
{
	struct map map;

	(void)state;
	map_init(&map, 0);
	map_set(&map, STR("stays"), &one);
	for (unsigned i = 0; i < 10000; i++) {
		assert_null(map_set(&map, STR("comes and goes"), &two));
		assert_ptr_equal(map_remove(&map, STR("comes and goes")), &two);
	}
	assert_in_range(map.slot_count, 1, 16);
	assert_ptr_equal(map_get(&map, STR("stays")), &one);
	map_release(&map);
}

/* Computed with an independent implementation of SipHash-1-3, which agrees with the vectors published for
 * it. */
static void test_hash(void **state)
{
	static const struct {
		struct str text;
		uint64_t seed, hash;
	} rows[] = {
		{ STR_INIT(""), 0, 0x6b3c89e238a4996e },
		{ STR_INIT("a"), 0, 0x429be242cfb091af },
		{ STR_INIT("1234567"), 0, 0x7c868d618245c35d },
		{ STR_INIT("12345678"), 0, 0xa70abd2096e69e53 },
		{ STR_INIT("123456789"), 0, 0x2f159b1c3310f863 },
		{ STR_INIT(""), 0x0706050403020100, 0x7a39a0a3602cd672 },
		{ STR_INIT("12345678"), 0x0706050403020100, 0x038544427f0228ad },
	};
	char long_text[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_true(hash_str(rows[i].text, rows[i].seed) == rows[i].hash);
	memset(long_text, 'x', sizeof(long_text));
	assert_true(hash_str(str_make(long_text, sizeof(long_text)), 0) == 0x2fb41756b3a390b5);
	assert_true(hash_str(str_make(NULL, 0), 0) == rows[0].hash);
}

static void set_nothing(void *map)
{
	map_set(map, STR("a"), NULL);
}

static void test_no_value_is_a_bug(void **state)
{
	struct map map;

	(void)state;
	map_init(&map, 0);
	assert_true(is_bug(set_nothing, &map));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_get_remove),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_order_of_insertion),
		cmocka_unit_test(test_removal_while_iterating),
		cmocka_unit_test(test_against_a_model),
		cmocka_unit_test(test_holes_are_reclaimed),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_no_value_is_a_bug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

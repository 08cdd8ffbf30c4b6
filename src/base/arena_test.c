#include "base/base.h"
#include "base/arena.h"

#include "base/bug_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { ALIGNMENT = 16 };

static void test_alignment_and_distance(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	char *before = NULL;
	size_t before_size = 0;

	(void)state;
	arena_init(&arena, 0);
	for (size_t size = 0; size < 2000; size++) {
		char *p = arena_alloc(&arena, size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % ALIGNMENT, 0);
		assert_true(p != before);
		if (before)
			assert_true(p >= before + before_size || p + size <= before);
		memset(p, 0xa5, size);
		before = p;
		before_size = size;
	}
}

static void test_contents_stay(void **state)
{
	enum { COUNT = 5000 };
	_cleanup_arena_ struct arena arena = { 0 };
	unsigned *numbers[COUNT];

	(void)state;
	arena_init(&arena, 0);
	for (unsigned i = 0; i < COUNT; i++) {
		numbers[i] = arena_alloc(&arena, sizeof(unsigned) * (1 + i % 100));
		for (unsigned j = 0; j <= i % 100; j++)
			numbers[i][j] = i;
	}
	for (unsigned i = 0; i < COUNT; i++)
		for (unsigned j = 0; j <= i % 100; j++)
			assert_int_equal(numbers[i][j], i);
}

static void test_cleared(void **state)
{
	struct pair {
		void *pointer;
		uint64_t number;
	};
	_cleanup_arena_ struct arena arena = { 0 };

	(void)state;
	arena_init(&arena, 0);
	for (unsigned i = 0; i < 100; i++) {
		struct pair *pair = arena_new(&arena, struct pair);
		uint64_t *many = arena_array(&arena, uint64_t, i);

		assert_null(pair->pointer);
		assert_int_equal(pair->number, 0);
		for (unsigned j = 0; j < i; j++)
			assert_int_equal(many[j], 0);
		memset(pair, 0xff, sizeof(*pair));
		memset(many, 0xff, i * sizeof(*many));
	}
}

static void test_large_objects(void **state)
{
	enum { LARGE = 1 << 20 };
	_cleanup_arena_ struct arena arena = { 0 };
	char *small, *large;

	(void)state;
	arena_init(&arena, 0);
	small = arena_alloc(&arena, 1);
	*small = 's';
	large = arena_alloc(&arena, LARGE);
	memset(large, 'l', LARGE);
	assert_int_equal(*small, 's');
	assert_in_range(arena.total, LARGE, 2 * LARGE);
}

static void test_released_and_used_again(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, 4096);
	memset(arena_alloc(&arena, 3000), 'x', 3000);
	arena_release(&arena);
	assert_int_equal(arena.total, 0);
	memset(arena_alloc(&arena, 3000), 'x', 3000);
	assert_int_equal(arena.max, 4096);
	arena_release(&arena);
	arena_release(&arena);
	arena = (struct arena){ 0 };
	arena_release(&arena);
	memset(arena_alloc(&arena, 100), 'x', 100);
	arena_release(&arena);
}

static void test_all_of_the_maximum_can_be_used(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };

	(void)state;
	arena_init(&arena, 4096);
	for (size_t used = 0; used < 4096; used += ALIGNMENT)
		memset(arena_alloc(&arena, ALIGNMENT), 'x', ALIGNMENT);
	assert_int_equal(arena.total, 4096);
}

static void pass_maximum(void *argument)
{
	(void)argument;
	struct arena arena;

	arena_init(&arena, 4096);
	for (size_t used = 0; used <= 4096; used += ALIGNMENT)
		arena_alloc(&arena, ALIGNMENT);
}

static void alloc_much(void *size)
{
	struct arena arena;

	arena_init(&arena, SIZE_MAX);
	arena_alloc(&arena, *(size_t *)size);
}

static void overflow_array(void *argument)
{
	struct arena arena;

	(void)argument;
	arena_init(&arena, 0);
	arena_zalloc_array(&arena, SIZE_MAX / 4, 8);
}

static void test_limits_are_bugs(void **state)
{
	size_t too_much = SIZE_MAX - 3;

	(void)state;
	assert_true(is_bug(pass_maximum, NULL));
	assert_true(is_bug(alloc_much, &too_much));
	assert_true(is_bug(overflow_array, NULL));
}

static void assert_text(struct str s, struct str expected)
{
	assert_int_equal(s.n, expected.n);
	assert_memory_equal(s.p, expected.p, expected.n);
	assert_int_equal(s.p[s.n], '\0');
}

static void test_copies(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str original = STR("a\0b");

	(void)state;
	arena_init(&arena, 0);
	assert_text(arena_copy(&arena, original), original);
	assert_true(arena_copy(&arena, original).p != original.p);
	assert_text(arena_copy(&arena, str_make(NULL, 0)), STR(""));
	assert_string_equal(arena_cstr(&arena, STR("text")), "text");
}

static void test_formatted_text(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };

	(void)state;
	arena_init(&arena, 0);
	assert_text(arena_printf(&arena, "%s-%d", "a", 17), STR("a-17"));
	assert_text(arena_printf(&arena, "%s", ""), STR(""));
	assert_int_equal(arena_printf(&arena, "%5000d", 1).n, 5000);
}

static void test_concatenation(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };

	(void)state;
	arena_init(&arena, 0);
	assert_text(arena_concat(&arena, STR("a"), STR("bc"), STR("d")), STR("abcd"));
	assert_text(arena_concat(&arena, STR("a\0"), STR("\0b"), STR("c")), STR("a\0\0bc"));
	assert_text(arena_concat(&arena, str_make(NULL, 0), STR(""), str_make(NULL, 0)), STR(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_and_distance),
		cmocka_unit_test(test_contents_stay),
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_large_objects),
		cmocka_unit_test(test_released_and_used_again),
		cmocka_unit_test(test_all_of_the_maximum_can_be_used),
		cmocka_unit_test(test_limits_are_bugs),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_formatted_text),
		cmocka_unit_test(test_concatenation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

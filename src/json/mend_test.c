#include "base/base.h"
#include "json/json.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

/* From an allocation of exactly these bytes. Empty when there was nothing to mend. */
static struct str mend(struct str text, struct arena *arena)
{
	_cleanup_free_ char *exact = xmalloc(text.n);
	struct str mended = { 0 };

	memcpy(exact, text.p, text.n);
	if (!json_mend_surrogates(str_make(exact, text.n), arena, &mended))
		assert_null(mended.p);
	return mended;
}

static void test_halves_become_replacement_characters(void **state)
{
	static const char *const rows[][2] = {
		{ "\"a\\ud83d\"", "\"a\\ufffd\"" },
		{ "\"\\ude00b\"", "\"\\ufffdb\"" },
		{ "\"\\uD83D\\uDBFF\"", "\"\\ufffd\\ufffd\"" },
		{ "\"\\ude00\\ud83d\"", "\"\\ufffd\\ufffd\"" },
		{ "\"\\ud83d\\ud83d\\ude00\\ude00\"", "\"\\ufffd\\ud83d\\ude00\\ufffd\"" },
		{ "\"\\ud83d \\ude00\"", "\"\\ufffd \\ufffd\"" },
		{ "\"\\ud83d\\n\\udE00\"", "\"\\ufffd\\n\\ufffd\"" },
		{ "\"\\ud83d\\u0041\"", "\"\\ufffd\\u0041\"" },
		{ "\"\\ud83d\\\\ude00\"", "\"\\ufffd\\\\ude00\"" },
		{ "\"\\\\\\ud800\"", "\"\\\\\\ufffd\"" },
		{ "{\"\\udfff\":[\"\\ud800\",{\"\\ud83d\\ude00\":\"\\udc00\"}]}",
		  "{\"\\ufffd\":[\"\\ufffd\",{\"\\ud83d\\ude00\":\"\\ufffd\"}]}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_arena_ struct arena arena = { 0 };
		struct str mended;

		arena_init(&arena, 0);
		assert_int_equal(json_check(str_of(rows[i][0]), NULL, NULL), ERR_INVALID);
		mended = mend(str_of(rows[i][0]), &arena);
		assert_non_null(mended.p);
		assert_string_equal(mended.p, rows[i][1]);
		assert_int_equal(json_check(mended, NULL, NULL), 0);
		assert_null(mend(mended, &arena).p);
	}
}

static void test_what_has_no_half_takes_no_memory(void **state)
{
	static const char *const rows[] = {
		"",
		"17",
		"\"\\ud83d\\ude00\"",
		"\"\\uD83D\\uDE00\\uDBFF\\uDFFF\"",
		"\"\\\\ud83d\"",
		"\"\\\\\\\\ud83d\"",
		"\"\\ud7ff\\ue000\\ufffd\"",
		"\"ud83d\"",
		"\"\\ud83",
		"\"\\ud83g\"",
		"\"\\U+d83d\"",
		"\\",
	};
	_cleanup_arena_ struct arena arena = { 0 };

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_null(mend(str_of(rows[i]), &arena).p);
	assert_int_equal(arena.total, 0);
}

/* Wherever the text is cut, what is before the cut is mended as in the whole, but for an escape that the
 * cut goes through and a high half whose low one it took away. */
static void test_any_beginning(void **state)
{
	static const struct str whole =
		STR_INIT("[\"\\\\\\ud83d\\ude00\\ud83d\\\\ud83d\\udc00\",\"\\uDBFF\"]");

	(void)state;
	for (size_t n = 0; n <= whole.n; n++) {
		_cleanup_arena_ struct arena arena = { 0 };
		struct str mended;

		arena_init(&arena, 0);
		mended = mend(str_slice(whole, 0, n), &arena);
		/* The first escape is a pair from its twelfth byte on. */
		assert_int_equal(mended.p != NULL, (n >= 10 && n < 16) || n >= 22);
		if (mended.p)
			assert_int_equal(mended.n, n);
		if (mended.p && n < 16)
			assert_memory_equal(mended.p + 4, "\\ufffd", 6);
		else if (mended.p)
			assert_memory_equal(mended.p + 4, "\\ud83d\\ude00\\ufffd", 18);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_halves_become_replacement_characters),
		cmocka_unit_test(test_what_has_no_half_takes_no_memory),
		cmocka_unit_test(test_any_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "hub/last_words.h"
#include "text/plain.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static struct arena arena;

static int begin(void **state)
{
	(void)state;
	arena_init(&arena, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static const char *quote(const char *words)
{
	return arena_cstr(&arena, last_words_quote(str_of(words), &arena));
}

static void little_is_quoted_whole(void **state)
{
	(void)state;
	assert_string_equal(quote(""), "it wrote nothing to stderr");
	assert_string_equal(quote(" \n\x1b[0m\n"), "it wrote nothing to stderr");
	assert_string_equal(quote("Error: one\ntwo\n"), "its stderr ends: Error: one\ntwo");
}

/* `lines` of what says nothing. */
static struct str padding(unsigned lines)
{
	struct str text = STR("");

	for (unsigned i = 0; i < lines; i++)
		text = arena_concat(&arena, text, STR("    at Some.function (node:internal/modules:1:2)\n"),
				    STR(""));
	return text;
}

static const char *quote_around(const char *before, unsigned lines, const char *after)
{
	return quote(arena_cstr(&arena, arena_concat(&arena, str_of(before), padding(lines), str_of(after))));
}

static void the_line_that_names_the_error_is_quoted_with_the_end(void **state)
{
	const char *quoted = quote_around("node:internal/modules/cjs/loader:1\n  throw err;\n\n"
					  "Error: Cannot find module '/x/y.js'\nRequire stack:\n",
					  15, "\nNode.js v22.1.0\n");
	static const char *const causes[] = {
		"sh: 1: no-such-program: not found",
		"thread 'main' panicked at src/main.rs:4:5:",
		"npm ERR! code E404",
		"2026-01-01 FATAL there is no key",
		"TypeError [ERR_INVALID_ARG]: no",
		"bash: /x: Permission denied",
	};

	(void)state;
	assert_true(
		str_starts_with(
			str_of(quoted),
			STR("its stderr says: Error: Cannot find module '/x/y.js'\nand ends: at Some")) ||
		str_starts_with(
			str_of(quoted),
			STR("its stderr says: Error: Cannot find module '/x/y.js'\nand ends:     at Some")));
	assert_true(str_ends_with(str_of(quoted), STR("\n\nNode.js v22.1.0")));
	assert_true(strlen(quoted) < 700);
	for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
		struct str expected = arena_concat(&arena, STR("its stderr says: "), str_of(causes[i]),
						   STR("\nand ends: "));
		const char *line = arena_cstr(
			&arena, arena_concat(&arena, STR("starting\n"), str_of(causes[i]), STR("\n")));

		assert_true(str_starts_with(str_of(quote_around(line, 15, "")), expected));
	}
}

static void a_remark_does_not_stand_before_an_error(void **state)
{
	const char *quoted = quote_around("no such file: x, going on\nValueError: real\n", 15, "");

	(void)state;
	assert_true(str_starts_with(str_of(quoted), STR("its stderr says: ValueError: real\n")));
}

static void an_error_that_the_end_has_is_not_quoted_twice(void **state)
{
	const char *quoted = quote_around("Traceback (most recent call last):\n", 15,
					  "ModuleNotFoundError: No module named 'x'\n");

	(void)state;
	assert_true(str_starts_with(str_of(quoted), STR("its stderr ends:     at Some")));
	assert_true(str_ends_with(str_of(quoted), STR("\nModuleNotFoundError: No module named 'x'")));
	/* Nothing that names an error, and long lines: the last bytes, not within a character. */
	quoted = quote_around("", 15, "");
	assert_true(str_starts_with(str_of(quoted), STR("its stderr ends:     at Some")));
}

static void long_lines_are_cut_between_characters(void **state)
{
	char line[3000];
	struct str quoted;

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(line); i += 2)
		memcpy(line + i, "\xc3\xa9", 2);
	memcpy(line, "error: ", 7);
	line[7] = 'x';
	line[sizeof(line) - 2] = '\0';
	quoted = str_of(quote(line));
	assert_true(str_starts_with(quoted, STR("its stderr says: error: x\xc3\xa9")));
	assert_true(quoted.n < 700);
	assert_int_equal(str_find(quoted, STR("\xef\xbf\xbd")), STR_NONE);
	assert_true(str_eq(plain_text(quoted, &arena), quoted));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(little_is_quoted_whole, begin, end),
		cmocka_unit_test_setup_teardown(the_line_that_names_the_error_is_quoted_with_the_end, begin,
						end),
		cmocka_unit_test_setup_teardown(a_remark_does_not_stand_before_an_error, begin, end),
		cmocka_unit_test_setup_teardown(an_error_that_the_end_has_is_not_quoted_twice, begin, end),
		cmocka_unit_test_setup_teardown(long_lines_are_cut_between_characters, begin, end),
	};

	return cmocka_run_group_tests_name("last_words", tests, NULL, NULL);
}

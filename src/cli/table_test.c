#include "base/base.h"
#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/display.h"

enum { OUT_MAX = 10000 };

static void expect(struct buf *out, const char *expected)
{
	assert_string_equal(buf_cstr(out), expected);
	buf_release(out);
}

/* -- text from outside ----------------------------------------------------------------------------------- */

static void expect_line(const char *text, size_t n, const char *expected)
{
	struct buf out;

	buf_init(&out, OUT_MAX);
	display_line(&out, str_make(text, n));
	expect(&out, expected);
}
#define LINE(text, expected) expect_line("" text, sizeof(text) - 1, expected)

static void test_lines(void **state)
{
	(void)state;
	LINE("", "");
	LINE("plain \"text\" and \\", "plain \"text\" and \\");
	LINE("  two\n\n  lines\t\tand  blanks \r\n", "two lines and blanks");
	LINE("\033[2Jgone", "\xef\xbf\xbd[2Jgone");
	LINE("a\0b\x7f"
	     "c",
	     "a\xef\xbf\xbd"
	     "b\xef\xbf\xbd"
	     "c");
	LINE("caf\xc3\xa9 \xe6\xbc\xa2", "caf\xc3\xa9 \xe6\xbc\xa2");
	LINE("\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd");
	/* U+202E turns the direction of writing around; U+009B begins a control sequence on some
	 * terminals. */
	LINE("a\xe2\x80\xae"
	     "b\xc2\x9b"
	     "c",
	     "a\xef\xbf\xbd"
	     "b\xef\xbf\xbd"
	     "c");
}

static void test_text_keeps_its_lines(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, OUT_MAX);
	display_text(&out, STR("one\r\n\ttwo\n\n\033]0;title\007"));
	expect(&out, "one\n\ttwo\n\n\xef\xbf\xbd]0;title\xef\xbf\xbd");
}

static void test_json_says_the_same(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, OUT_MAX);
	display_json(&out,
		     STR("{\n  \"\\u001b caf\xc3\xa9\": \"\xc2\x9b\x7f\xe2\x80\xae\xf0\x9f\x98\x80\"\n}"));
	expect(&out, "{\n  \"\\u001b caf\xc3\xa9\": \"\\u009b\\u007f\\u202e\xf0\x9f\x98\x80\"\n}");
}

static void test_widths(void **state)
{
	(void)state;
	assert_int_equal(display_width(STR("")), 0);
	assert_int_equal(display_width(STR("abc")), 3);
	assert_int_equal(display_width(STR("caf\xc3\xa9")), 4);
	assert_int_equal(display_width(STR("cafe\xcc\x81")), 4);	     /* U+0301 over the e */
	assert_int_equal(display_width(STR("\xe6\xbc\xa2\xe5\xad\x97")), 4); /* two ideographs */
	assert_int_equal(display_width(STR("\xf0\x9f\x98\x80")), 2);	     /* U+1F600 */
	assert_int_equal(display_width(STR("\xff")), 1);
}

static void test_cuts(void **state)
{
	(void)state;
	assert_int_equal(display_cut(STR("abc"), 2).n, 2);
	assert_int_equal(display_cut(STR("abc"), 3).n, 3);
	assert_int_equal(display_cut(STR("abc"), 0).n, 0);
	/* A wide character is not cut in two, and a mark stays with its letter. */
	assert_int_equal(display_cut(STR("\xe6\xbc\xa2\xe5\xad\x97"), 3).n, 3);
	assert_int_equal(display_cut(STR("e\xcc\x81x"), 1).n, 3);
}

static void expect_sentence(const char *text, const char *expected)
{
	struct str found = display_first_sentence(str_of(text));

	if (!str_eq(found, str_of(expected)))
		fail_msg("\"%.*s\" is not \"%s\"", STR_ARG(found), expected);
}

static void test_first_sentences(void **state)
{
	(void)state;
	expect_sentence("", "");
	expect_sentence("  One. Two.", "One.");
	expect_sentence("Version 1.2 of it", "Version 1.2 of it");
	expect_sentence("One line\nand another", "One line");
	expect_sentence("All of it.", "All of it.");
}

/* -- tables ---------------------------------------------------------------------------------------------- */

static void fill(struct table *table)
{
	static const char *const headings[] = { "NAME", ">SIZE", "NEVER", "TEXT" };

	table_heading(table, headings, ARRAY_LEN(headings));
	table_row(table);
	table_cell(table, STYLE_NAME, STR("a"));
	table_cell_printf(table, STYLE_PLAIN, "%d", 1024);
	table_cell(table, STYLE_PLAIN, STR(""));
	table_cell(table, STYLE_PLAIN, STR("a text that\ngoes on"));
	table_row(table);
	table_cell(table, STYLE_NAME, STR("\xe6\xbc\xa2\xe5\xad\x97 longer"));
	table_cell_printf(table, STYLE_PLAIN, "%d", 7);
	table_row(table);
	table_cell(table, STYLE_BAD, STR("b"));
}

static void expect_filled(const struct terminal *terminal, const char *expected)
{
	struct table table;
	struct buf out;

	buf_init(&out, OUT_MAX);
	table_init(&table, terminal, &out);
	fill(&table);
	table_end(&table);
	expect(&out, expected);
}

static void test_columns_are_aligned(void **state)
{
	const struct terminal pipe = { .fd = -1 };

	(void)state;
	expect_filled(&pipe, "NAME         SIZE  TEXT\n"
			     "a            1024  a text that goes on\n"
			     "\xe6\xbc\xa2\xe5\xad\x97 longer     7\n"
			     "b\n");
}

static void test_a_terminal_cuts_and_colours(void **state)
{
	const struct terminal terminal = { .fd = -1, .is_terminal = true, .colour = true, .width = 30 };

	(void)state;
	expect_filled(&terminal, "\033[2mNAME\033[0m         \033[2mSIZE\033[0m  \033[2mTEXT\033[0m\n"
				 "\033[36ma\033[0m            1024  a text tha\xe2\x80\xa6\n"
				 "\033[36m\xe6\xbc\xa2\xe5\xad\x97 longer\033[0m     7\n"
				 "\033[31mb\033[0m\n");
}

static void test_nothing_is_nothing(void **state)
{
	static const char *const headings[] = { "NAME" };
	const struct terminal pipe = { .fd = -1 };
	struct table table;
	struct buf out;

	(void)state;
	buf_init(&out, OUT_MAX);
	table_init(&table, &pipe, &out);
	table_heading(&table, headings, ARRAY_LEN(headings));
	table_end(&table);
	expect(&out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_text_keeps_its_lines),
		cmocka_unit_test(test_json_says_the_same),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_first_sentences),
		cmocka_unit_test(test_columns_are_aligned),
		cmocka_unit_test(test_a_terminal_cuts_and_colours),
		cmocka_unit_test(test_nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

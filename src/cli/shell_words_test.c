#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/shell_words.h"

/* The words with | between them, the current one last; then what is open. */
static void expect_words(const char *line, const char *expected)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct shell_words words;
	struct str all = { "", 0 };

	arena_init(&arena, 0);
	shell_words_read(&words, str_of(line), SIZE_MAX, &arena);
	for (size_t i = 0; i < words.count; i++)
		all = arena_printf(&arena, "%.*s%.*s|", STR_ARG(all), STR_ARG(words.words[i]));
	all = arena_printf(&arena, "%.*s%.*s", STR_ARG(all), STR_ARG(words.current));
	if (words.quote)
		all = arena_printf(&arena, "%.*s (%c open)", STR_ARG(all), words.quote);
	if (words.redirects)
		all = arena_printf(&arena, "%.*s (file)", STR_ARG(all));
	assert_string_equal(all.p, expected);
}

static void test_words(void **state)
{
	(void)state;
	expect_words("", "");
	expect_words("mcpx", "mcpx");
	expect_words("mcpx ", "mcpx|");
	expect_words("  mcpx \t call  files.re", "mcpx|call|files.re");
	expect_words("mcpx --flag=a:b", "mcpx|--flag=a:b");
	expect_words("caf\xc3\xa9 x", "caf\xc3\xa9|x");
}

static void test_quotes(void **state)
{
	(void)state;
	expect_words("a 'b c' d", "a|b c|d");
	expect_words("a \"b c\"d e", "a|b cd|e");
	expect_words("a b\\ c", "a|b c");
	expect_words("a ''", "a|");
	expect_words("a '' ", "a||");
	expect_words("a 'b c", "a|b c (' open)");
	expect_words("a \"b c", "a|b c (\" open)");
	expect_words("a key=\"va lu", "a|key=va lu (\" open)");
	expect_words("a \"it's", "a|it's (\" open)");
	expect_words("a '\\", "a|\\ (' open)");
	expect_words("a \"\\\"\\$\\`\\\\\\n\"", "a|\"$`\\\\n");
	expect_words("a \\", "a|");
	expect_words("a \"\\", "a|\\ (\" open)");
	expect_words("a '\n' b", "a|\n|b");
}

static void test_redirections(void **state)
{
	(void)state;
	expect_words("a > out", "a|out (file)");
	expect_words("a >out b", "a|b");
	expect_words("a 2>out b", "a|b");
	expect_words("a b2>out c", "a|b2|c");
	expect_words("a 2>&1 b", "a|b");
	expect_words("a < in > ", "a| (file)");
	expect_words("a '>' b", "a|>|b");
	expect_words("a >> \"o u", "a|o u (\" open) (file)");
}

static void expect_kept(const char *line, const char *end, size_t kept)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct shell_words words;

	arena_init(&arena, 0);
	assert_true(str_ends_with(str_of(line), str_of(end)));
	shell_words_read(&words, str_of(line), strlen(line) - strlen(end), &arena);
	assert_int_equal(words.kept, kept);
}

static void test_mark(void **state)
{
	(void)state;
	expect_kept("a --flag=val", "val", strlen("--flag="));
	expect_kept("a --flag=", "", strlen("--flag="));
	expect_kept("a --flag", "--flag", 0);
	expect_kept("a \"key=va", "key=va", 0);
	expect_kept("a key=\"va", "va", strlen("key="));
	expect_kept("a b\\ c:d", "d", strlen("b c:"));
	expect_kept("a b ", "", 0);
	expect_kept("a b", "a b", 0);
}

static void expect_quoted(const char *word, char quote, const char *expected)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, 100);
	shell_quote(&out, str_of(word), quote);
	assert_string_equal(buf_cstr(&out), expected);
}

static void test_quoting(void **state)
{
	(void)state;
	expect_quoted("files.read_text-2", '\0', "files.read_text-2");
	expect_quoted("--a=b:c,d/@e%+", '\0', "--a=b:c,d/@e%+");
	expect_quoted("a b", '\0', "a\\ b");
	expect_quoted("$(x)`y`;~*?'\"\\", '\0', "\\$\\(x\\)\\`y\\`\\;\\~\\*\\?\\'\\\"\\\\");
	expect_quoted("caf\xc3\xa9", '\0', "caf\xc3\xa9");
	expect_quoted("a 'b' $c", '\'', "a '\\''b'\\'' $c");
	expect_quoted("a \"b\" $c `d` \\ 'e'", '"', "a \\\"b\\\" \\$c \\`d\\` \\\\ 'e'");
}

/* What was quoted is read as it was, also in the middle of a quote. */
static void test_there_and_back(void **state)
{
	static const char *const texts[] = {
		"a b", "$(reboot)", "it's \"so\"", "\\\\", "a\tb>c&d", "'", "`"
	};
	static const char quotes[] = { '\0', '\'', '"' };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (size_t k = 0; k < ARRAY_LEN(quotes); k++) {
			_cleanup_arena_ struct arena arena = { 0 };
			_cleanup_buf_ struct buf line = { 0 };
			struct shell_words words;

			arena_init(&arena, 0);
			buf_init(&line, 100);
			if (quotes[k])
				buf_append_char(&line, quotes[k]);
			shell_quote(&line, str_of(texts[i]), quotes[k]);
			shell_words_read(&words, buf_str(&line), 0, &arena);
			assert_int_equal(words.count, 0);
			assert_int_equal(words.quote, quotes[k]);
			assert_true(str_eq(words.current, str_of(texts[i])));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	     cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_redirections), cmocka_unit_test(test_mark),
		cmocka_unit_test(test_quoting),	     cmocka_unit_test(test_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

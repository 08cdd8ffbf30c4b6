#include "base/base.h"
#include "exec/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct exec_names snippet = { STR_INIT("/c/exec/snippet-1.mts"), STR_INIT("snippet"),
					   STR_INIT("import{$mcpx}from\"./c.mjs\";start(()=>{") };

static void check(const struct exec_names *names, const char *words, const char *expected)
{
	struct arena arena;
	struct str clean;

	arena_init(&arena, 0);
	clean = exec_clean_words(str_of(words), names, &arena);
	assert_string_equal(arena_cstr(&arena, clean), expected);
	arena_release(&arena);
}

static void test_the_script_has_its_own_name(void **state)
{
	(void)state;
	check(&snippet, "at file:///c/exec/snippet-1.mts:2:3\nat /c/exec/snippet-1.mts:4:5\n",
	      "at snippet:2:3\nat snippet:4:5");
	check(&(struct exec_names){ 0 }, "at file:///x.ts:1:2", "at file:///x.ts:1:2");
}

/* Which bytes of a path are encoded in its URL depends on the runtime. */
static void test_a_url_is_the_path_however_it_is_encoded(void **state)
{
	static const struct exec_names odd = { STR_INIT("/a b/100%/\xc3\xbc.ts"), STR_INIT("script"),
					       STR_INIT("") };

	(void)state;
	check(&odd, "at file:///a%20b/100%25/%C3%BC.ts:1:2", "at script:1:2");
	check(&odd, "at file:///a%20b/100%/\xc3\xbc.ts:1:2", "at script:1:2");
	check(&odd, "at /a b/100%/\xc3\xbc.ts:1:2", "at script:1:2");
	check(&odd, "at /a%20b/100%25/%C3%BC.ts", "at /a%20b/100%25/%C3%BC.ts");
	check(&odd, "at file:///a%20b/100%25/%C3%BD.ts", "at file:///a%20b/100%25/%C3%BD.ts");
	check(&odd, "at file:///a%20b/100%", "at file:///a%20b/100%");
	check(&odd, "at file:///a%2", "at file:///a%2");
}

static void test_control_sequences_go(void **state)
{
	(void)state;
	check(&snippet, "\x1b[0m\x1b[1;31merror\x1b[0m:\a no\r\n\tmore\x1b", "error: no\n\tmore");
	check(&snippet, "\x1b[31", "");
	check(&snippet, "a\xff z", "a\xef\xbf\xbd z");
}

static void test_a_quoted_first_line(void **state)
{
	(void)state;
	check(&snippet,
	      "error: Expected\n"
	      "1 | import{$mcpx}from\"./c.mjs\";start(()=>{const a = ;\n"
	      "  |                                                 ~\n"
	      "    at file:///c/exec/snippet-1.mts:1:49",
	      "error: Expected\n"
	      "1 | const a = ;\n"
	      "  |           ~\n"
	      "    at snippet:1:11");
	check(&snippet, "at snippet:1:5 and snippet:1:x", "at snippet:1:5 and snippet:1:x");
	check(&snippet, "at snippet:1:99999999999999999999", "at snippet:1:99999999999999999999");
}

static void test_the_runtimes_inside_goes(void **state)
{
	(void)state;
	check(&snippet,
	      "node:internal/modules/run_main:123\n"
	      "    triggerUncaughtException(\n"
	      "    ^\n"
	      "\n"
	      "SyntaxError: no\n"
	      "    at parse (node:internal/modules/typescript:67:36)\n"
	      "Node.js v22.23.3\n",
	      "SyntaxError: no");
	check(&snippet, "error: no\n\nStack backtrace:\n   0: <unknown>\n", "error: no");
}

static void test_waiting_for_nothing_is_known(void **state)
{
	(void)state;
	assert_true(exec_words_wait_for_nothing(
		STR("\x1b[31merror\x1b[0m: Top-level await promise never resolved\n")));
	assert_false(exec_words_wait_for_nothing(STR("error: Uncaught (in promise)")));
	assert_false(exec_words_wait_for_nothing(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_script_has_its_own_name),
		cmocka_unit_test(test_a_url_is_the_path_however_it_is_encoded),
		cmocka_unit_test(test_control_sequences_go),
		cmocka_unit_test(test_a_quoted_first_line),
		cmocka_unit_test(test_the_runtimes_inside_goes),
		cmocka_unit_test(test_waiting_for_nothing_is_known),
	};

	return cmocka_run_group_tests_name("exec-words", tests, NULL, NULL);
}

#include "base/base.h"
#include "text/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_clean(struct str words, const char *expected)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str clean;

	arena_init(&arena, 0);
	clean = plain_text(words, &arena);

	assert_string_equal(arena_cstr(&arena, clean), expected);
}

static void control_sequences_are_taken_out(void **state)
{
	(void)state;
	assert_clean(STR("\x1b[31;1mError\x1b[0m: no\ttab\r\nnext\n"), "Error: no\ttab\nnext");
	assert_clean(STR("\x1b]0;a title\aa\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ b"), "alink b");
	assert_clean(STR("1%\r2%\r\n\b\x7f\x01"
			 "c\x1b(d"),
		     "1%\n2%\n\x7f"
		     "cd");
	assert_clean(STR("a\xc2\x9b"
			 "31mb\xc2\x85\xc2\xa0"
			 "c\xc2"),
		     "a31mb\xc2\xa0"
		     "c\xef\xbf\xbd");
	assert_clean(STR("bad \xff byte"), "bad \xef\xbf\xbd byte");
	/* Cut anywhere. */
	assert_clean(STR("a\x1b"), "a");
	assert_clean(STR("a\x1b["), "a");
	assert_clean(STR("a\x1b[31"), "a");
	assert_clean(STR("a\x1b]0;x"), "a");
	assert_clean(STR(""), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_sequences_are_taken_out),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}

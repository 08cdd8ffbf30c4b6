#include "base/base.h"
#include "artifacts/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MAX = 40 };

static void assert_str(struct str s, const char *expected)
{
	if (s.n != strlen(expected) || (s.n && memcmp(s.p, expected, s.n) != 0))
		fail_msg("\"%.*s\" should be \"%s\"", STR_ARG(s), expected);
}

static void test_clean(void **state)
{
	static const struct {
		const char *raw, *clean;
	} cases[] = {
		{ "shot.png", "shot.png" },
		{ "../../etc/passwd", "passwd" },
		{ "/etc/passwd", "passwd" },
		{ "reports/2024/", "2024" },
		{ "my report v1.2+final_x-y.pdf", "my-report-v1.2+final_x-y.pdf" },
		{ "a\tb\nc\r.txt", "a_b_c_.txt" },
		{ "\"quoted\"; rm -rf *.sh", "_quoted__-rm--rf-_.sh" },
		{ "..\\..\\windows", "_.._windows" },
		{ "C:\\temp\\a.txt", "C__temp_a.txt" },
		{ ".bashrc", "bashrc" },
		{ "...hidden...", "hidden" },
		{ "", "artifact" },
		{ ".", "artifact" },
		{ "..", "artifact" },
		{ "/", "artifact" },
		{ "a/..", "artifact" },
		{ "////", "artifact" },
		{ "\xc3\xa9t\xc3\xa9.png", "_t_.png" },
		{ "\xf0\x9f\x98\x80.gif", "_.gif" },
		{ "broken\xff\xc3.txt", "broken__.txt" },
		{ "100%.txt", "100_.txt" },
		{ "-rf", "-rf" },
		{ "a\x7f\x01z", "a__z" },
		/* Exactly the maximum, one more, and far more. */
		{ "abcdefghijklmnopqrstuvwxyz0123456789.png", "abcdefghijklmnopqrstuvwxyz0123456789.png" },
		{ "abcdefghijklmnopqrstuvwxyz0123456789x.png", "abcdefghijklmnopqrstuvwxyz0123456789.png" },
		{ "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
		  "abcdefghijklmnopqrstuvwxyz0123456789abcd" },
		/* An extension that would fill the name is no extension. */
		{ "a.bcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
		  "a.bcdefghijklmnopqrstuvwxyz0123456789abc" },
		{ "abcdefghijklmnopqrstuvwxyz0123456789abc.defghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
		  "abcdefghijklmnopqrstuvwxyz0123456789abc" },
	};
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_str(artifact_name_clean(&arena, str_of(cases[i].raw), MAX), cases[i].clean);
	assert_str(artifact_name_clean(&arena, STR("nul\0byte.txt"), MAX), "nul_byte.txt");
	arena_release(&arena);
}

/* Whatever comes in, what goes out is a file name that cannot leave its directory or hide in it. */
static void test_clean_is_always_a_safe_name(void **state)
{
	static const char alphabet[] = { '.', '/', 'a', ' ', '\\', '\xc3', '\xa9', '\0', '\n' };
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	for (unsigned i = 0; i < 9 * 9 * 9 * 9 * 9; i++) {
		char raw[5];
		struct str clean;

		for (unsigned at = 0, rest = i; at < sizeof(raw); at++, rest /= ARRAY_LEN(alphabet))
			raw[at] = alphabet[rest % ARRAY_LEN(alphabet)];
		clean = artifact_name_clean(&arena, str_make(raw, sizeof(raw)), MAX);
		assert_in_range(clean.n, 1, MAX);
		assert_true(clean.p[0] != '.' && clean.p[clean.n - 1] != '.');
		for (size_t at = 0; at < clean.n; at++)
			assert_non_null(memchr("a.-_rtifc", clean.p[at], 9));
		if (i % 1000 == 0)
			arena_release(&arena);
	}
	arena_release(&arena);
}

static void test_numbered(void **state)
{
	static const struct {
		const char *name;
		unsigned number;
		const char *expected;
	} cases[] = {
		{ "shot.png", 0, "shot.png" },
		{ "shot.png", 1, "shot-1.png" },
		{ "shot.png", 4294967295, "shot-4294967295.png" },
		{ "archive.tar.gz", 2, "archive.tar-2.gz" },
		{ "README", 3, "README-3" },
		{ "abcdefghijklmnopqrstuvwxyz0123456789.png", 1, "abcdefghijklmnopqrstuvwxyz01234567-1.png" },
		{ "abcdefghijklmnopqrstuvwxyz0123456789.png", 10,
		  "abcdefghijklmnopqrstuvwxyz0123456-10.png" },
		{ "a.bcdefghijklmnopqrstuvwxyz0123456789abc", 1, "a.bcdefghijklmnopqrstuvwxyz0123456789a-1" },
	};
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_str(artifact_name_numbered(&arena, str_of(cases[i].name), cases[i].number, MAX),
			   cases[i].expected);
	arena_release(&arena);
}

static void test_extension(void **state)
{
	(void)state;
	assert_str(artifact_name_extension(STR("shot.png")), ".png");
	assert_str(artifact_name_extension(STR("a.tar.gz")), ".gz");
	assert_str(artifact_name_extension(STR("README")), "");
	assert_str(artifact_name_extension(STR(".png")), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_clean_is_always_a_safe_name),
		cmocka_unit_test(test_numbered),
		cmocka_unit_test(test_extension),
	};

	return cmocka_run_group_tests_name("artifact_name", tests, NULL, NULL);
}

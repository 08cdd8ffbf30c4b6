#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/completion_shell.h"

static const struct candidate three[] = {
	{ STR_INIT("files.read"), STR_INIT("Reads: a file"), false },
	{ STR_INIT("files.two words"), STR_INIT(""), false },
	{ STR_INIT("a:b\\c="), STR_INIT("odd"), true },
};

static struct str reply(const char *const *words, size_t count, struct candidates *found, struct arena *arena)
{
	struct completion_request request;
	_cleanup_buf_ struct buf out = { 0 };

	assert_int_equal(completion_request_read(&request, words, count, arena, NULL), 0);
	buf_init(&out, 1000);
	completion_reply_write(&out, &request, found);
	return arena_copy(arena, buf_str(&out));
}

static struct candidates copy_of(const struct candidate *items, size_t count, struct arena *arena)
{
	struct candidates found = { .items = arena_array(arena, struct candidate, count), .count = count };

	memcpy(found.items, items, count * sizeof(*items));
	return found;
}

#define REPLY(found, ...)                                                                                    \
	reply((const char *const[]){ __VA_ARGS__ },                                                          \
	      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), found, &arena)

static void test_bash_reply(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct candidates found, none = { 0 };

	(void)state;
	arena_init(&arena, 0);
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "bash", "mcpx call ", "").p,
			    "-\n0\nfiles.read\nfiles.two\\ words\na:b\\\\c=\n");
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "bash", "mcpx call fi", "fi").p,
			    "-\n0\nfiles.read\nfiles.two\\ words\n");
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "bash", "mcpx call 'fi", "fi").p,
			    "-\n0\nfiles.read\nfiles.two words\n");
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "bash", "mcpx call a:b", "b").p, "nospace\n0\nb\\\\c=\n");
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "bash", "mcpx call \"a:b", "a:b").p, "nospace\n0\na:b\\\\c=\n");
	assert_string_equal(REPLY(&none, "bash", "mcpx call ", "").p, "-\n0\n");
}

static void test_bash_files(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct candidates found;

	(void)state;
	arena_init(&arena, 0);
	found = copy_of(three, 2, &arena);
	found.files = true;
	assert_string_equal(REPLY(&found, "bash", "mcpx run fi", "fi").p,
			    "files\n0\nfiles.read\nfiles.two words\n");
	found = (struct candidates){ .files = true, .files_at = strlen("--output=") };
	assert_string_equal(REPLY(&found, "bash", "mcpx x --output=a", "a").p, "files\n0\n");
	assert_string_equal(REPLY(&found, "bash", "mcpx x \"--output=a", "--output=a").p, "files\n9\n");
	found = (struct candidates){ .files = true, .files_at = strlen("k:=@") };
	assert_string_equal(REPLY(&found, "bash", "mcpx x k:=@a", "@a").p, "files\n1\n");
}

static void test_zsh_reply(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct candidates found;

	(void)state;
	arena_init(&arena, 0);
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "zsh", "mcpx", "call", "nothing like it").p,
			    "-\nwfiles.read:Reads: a file\nwfiles.two words\noa\\:b\\\\c=:odd\n");
	found = (struct candidates){ .files = true, .files_at = 9 };
	assert_string_equal(REPLY(&found, "zsh", "mcpx", "--output=").p, "9\n");
}

static void test_fish_reply(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct candidates found;

	(void)state;
	arena_init(&arena, 0);
	found = copy_of(three, 3, &arena);
	assert_string_equal(REPLY(&found, "fish", "mcpx", "call", "").p,
			    "-\nfiles.read\tReads: a file\nfiles.two words\na:b\\c=\todd\n");
	found = (struct candidates){ .files = true };
	assert_string_equal(REPLY(&found, "fish", "mcpx", "run", "").p, "0\n");
}

static void test_request(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct completion_request request;

	(void)state;
	arena_init(&arena, 0);
	const char *const bash[] = { "bash", "mcpx call 'a b' > x c", "c" };
	assert_int_equal(completion_request_read(&request, bash, 3, &arena, NULL), 0);
	assert_int_equal(request.line.count, 2);
	assert_true(str_eq(request.line.words[0], STR("call")));
	assert_true(str_eq(request.line.words[1], STR("a b")));
	assert_true(str_eq(request.line.current, STR("c")));
	assert_false(request.line.redirects);

	const char *const redirection[] = { "bash", "mcpx call > fi", "fi" };
	assert_int_equal(completion_request_read(&request, redirection, 3, &arena, NULL), 0);
	assert_true(request.line.redirects);

	const char *const zsh[] = { "zsh", "mcpx", "call", "", "'x" };
	assert_int_equal(completion_request_read(&request, zsh, 5, &arena, NULL), 0);
	assert_int_equal(request.line.count, 2);
	assert_true(str_eq(request.line.words[1], STR("")));
	assert_true(str_eq(request.line.current, STR("'x")));

	const char *const fish[] = { "fish", "mcpx", "\"a b" };
	assert_int_equal(completion_request_read(&request, fish, 3, &arena, NULL), 0);
	assert_int_equal(request.line.count, 0);
	assert_true(str_eq(request.line.current, STR("a b")));
}

static void expect_refused(const char *const *words, size_t count, const char *message)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct completion_request request;
	struct err err;

	arena_init(&arena, 0);
	assert_int_equal(completion_request_read(&request, words, count, &arena, &err), ERR_INVALID);
	assert_string_equal(err.message, message);
}

static void test_refused(void **state)
{
	static const char hand_over[] =
		"what the completion of bash, zsh or fish hands over begins with its name and has the line after it";
	const char *const unknown[] = { "tcsh", "mcpx", "" };
	const char *const short_line[] = { "zsh", "mcpx" };
	const char *const no_blank[] = { "bash", "mcp", "mcp" };

	(void)state;
	expect_refused(NULL, 0, hand_over);
	expect_refused(unknown, 3, hand_over);
	expect_refused(short_line, 2, hand_over);
	expect_refused(no_blank, 3, "a line to complete begins with the program and has a blank behind it");
}

static void test_scripts(void **state)
{
	static const struct str names[] = { STR_INIT("bash"), STR_INIT("zsh"), STR_INIT("fish") };
	enum completion_shell shell;

	(void)state;
	assert_false(completion_shell_find(STR("words"), &shell));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct str script;

		assert_true(completion_shell_find(names[i], &shell));
		script = completion_script(shell);
		assert_int_not_equal(str_find(script, STR("command mcpx completion words -- ")), STR_NONE);
		assert_int_not_equal(str_find(script, names[i]), STR_NONE);
		assert_true(str_ends_with(script, STR("\n")));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bash_reply), cmocka_unit_test(test_bash_files),
		cmocka_unit_test(test_zsh_reply),  cmocka_unit_test(test_fish_reply),
		cmocka_unit_test(test_request),	   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_scripts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

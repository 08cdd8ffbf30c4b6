#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/command.h"
#include "cli/manual.h"
#include "cli/roff.h"
#include "settings/registry.h"

/* -- roff ------------------------------------------------------------------------------------------------ */

static void expect_prose(const char *text, const char *expected)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, 1000);
	roff_prose(&out, str_of(text));
	assert_string_equal(buf_cstr(&out), expected);
}

static void test_prose(void **state)
{
	(void)state;
	expect_prose("", "");
	expect_prose("One.", "One.\n");
	expect_prose("One. Two words? Three", "One.\nTwo words?\nThree\n");
	expect_prose("say  `mcpx ls` or `a`", "say \\fBmcpx ls\\fR or \\fBa\\fR\n");
	expect_prose("Read .mcpx.json and 'x'", "Read \\&.mcpx.json and \\(aqx\\(aq\n");
	expect_prose(".so /etc/passwd", "\\&.so /etc/passwd\n");
	expect_prose("'so x", "\\(aqso x\n");
	expect_prose("a\\b -x \"q\" ^ ~ caf\xc3\xa9 \xf0\x9f\x98\x80 \xff",
		     "a\\eb \\-x \\(dqq\\(dq \\(ha \\(ti caf\\[u00E9] \\[u1F600] \\[uFFFD]\n");
}

static void test_lines_are_short(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct str rest, line;

	(void)state;
	buf_init(&out, 10000);
	for (unsigned i = 0; i < 200; i++) {
		_cleanup_buf_ struct buf text = { 0 };

		buf_init(&text, 10000);
		for (unsigned k = 0; k < i; k++)
			buf_append(&text, k % 7 ? STR(".word ") : STR("w "));
		roff_prose(&out, buf_str(&text));
		rest = buf_str(&out);
		while (str_split(&rest, '\n', &line)) {
			assert_true(line.n <= 78);
			assert_false(str_starts_with(line, STR(".")));
			assert_false(str_ends_with(line, STR(" ")));
		}
		buf_clear(&out, SIZE_MAX);
	}
}

static void test_requests(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 1000);
	roff_section(&out, STR("A \"B\" -C"));
	roff_verbatim(&out, STR(".first\n'second' \\"));
	assert_string_equal(buf_cstr(&out),
			    ".SH \"A \\(dqB\\(dq \\-C\"\n.PP\n.nf\n\\&.first\n\\(aqsecond\\(aq \\e\n.fi\n");
}

/* -- the page -------------------------------------------------------------------------------------------- */

struct page {
	struct buf text;
};

static int setup(void **state)
{
	struct page *page = xnew(struct page);

	buf_init(&page->text, MANUAL_MAX);
	manual_write(&page->text, "1.2.3-test");
	assert_false(buf_failed(&page->text));
	*state = page;
	return 0;
}

static int teardown(void **state)
{
	struct page *page = *state;

	buf_release(&page->text);
	free(page);
	return 0;
}

static bool has(const struct page *page, struct str text)
{
	return str_find(buf_str(&page->text), text) != STR_NONE;
}

/* Whether "before TEXT after" stands there, with the text as roff has it. */
static void expect_escaped(const struct page *page, const char *before, struct str text, const char *after)
{
	_cleanup_buf_ struct buf wanted = { 0 };

	buf_init(&wanted, 1000);
	buf_append(&wanted, str_of(before));
	roff_append(&wanted, text);
	buf_append(&wanted, str_of(after));
	if (!has(page, buf_str(&wanted)))
		fail_msg("the page has no %.*s", STR_ARG(buf_str(&wanted)));
}

static void test_sections(void **state)
{
	static const char *const names[] = { "NAME",	    "SYNOPSIS", "DESCRIPTION", "COMMANDS",
					     "SETTINGS",    "PLUMBING", "ENVIRONMENT", "FILES",
					     "EXIT STATUS", "EXAMPLES" };
	const struct page *page = *state;
	size_t at = 0;

	assert_true(str_starts_with(buf_str(&page->text),
				    STR(".TH MCPX 1 \"\" \"mcpx 1.2.3\\-test\" \"User Commands\"\n")));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_buf_ struct buf wanted = { 0 };
		size_t found;

		buf_init(&wanted, 100);
		buf_printf(&wanted, "\n.SH \"%s\"\n", names[i]);
		found = str_find(buf_str(&page->text), buf_str(&wanted));
		if (found == STR_NONE || found < at)
			fail_msg("no section %s, or not in this place", names[i]);
		at = found;
	}
}

static void test_every_command(void **state)
{
	const struct page *page = *state;

	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_at(i);

		expect_escaped(page, "\n.TP\n\\fBmcpx ", command->words, "\\fR");
		for (size_t k = 0; k < command->input_count; k++) {
			char storage[COMMAND_FLAG_MAX];

			if (command->inputs[k].command == INPUT_FLAG)
				expect_escaped(page, "\\fB\\-\\-",
					       command_flag_text(storage, command->inputs[k].name), "\\fR");
		}
	}
}

static void test_every_setting(void **state)
{
	const struct page *page = *state;

	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		const struct setting_declaration *setting = &setting_declarations[i];

		expect_escaped(page, "\n.TP\n\\fB\\-\\-", setting->flag, "\\fR");
		expect_escaped(page, "\\fI", setting->path, "\\fR");
		expect_escaped(page, "\\fB", setting->env, "\\fR");
		for (size_t k = 0; k < setting->flag_aliases.count; k++)
			expect_escaped(page, setting->flag_aliases.words[k].n == 1 ? "\\fB\\-" : "\\fB\\-\\-",
				       setting->flag_aliases.words[k], "\\fR");
		for (size_t k = 0; k < setting->env_aliases.count; k++)
			expect_escaped(page, "\\fB", setting->env_aliases.words[k], "\\fR");
	}
}

/* Plumbing stands behind everything else. */
static void test_plumbing_is_apart(void **state)
{
	const struct page *page = *state;
	struct str text = buf_str(&page->text);
	size_t plumbing = str_find(text, STR("\n.SH \"PLUMBING\"\n"));

	for (unsigned i = 0; i < SETTING_COUNT; i++) {
		_cleanup_buf_ struct buf wanted = { 0 };

		buf_init(&wanted, 1000);
		buf_append(&wanted, STR("\n\\fI"));
		roff_append(&wanted, setting_declarations[i].path);
		buf_append(&wanted, STR("\\fR"));
		assert_int_equal(str_find(str_slice(text, 0, plumbing), buf_str(&wanted)) == STR_NONE,
				 setting_declarations[i].plumbing);
	}
}

/* "mcpx --flag value artifact get art_1": the longest run of words that is a command. */
static bool names_command(struct str line)
{
	struct str word;

	for (str_split(&line, ' ', &word); line.n; str_split(&line, ' ', &word)) {
		size_t blank = str_find_char(line, ' ');
		struct str second = blank == STR_NONE ? line : str_from(line, blank + 1);
		size_t two = blank == STR_NONE ? line.n
					       : blank + 1 + size_min(str_find_char(second, ' '), second.n);

		if (command_find(str_slice(line, 0, blank)) || command_find(str_slice(line, 0, two)))
			return true;
	}
	return false;
}

static void test_examples_exist(void **state)
{
	const struct page *page = *state;
	struct str rest = buf_str(&page->text), line;
	unsigned count = 0;

	rest = str_from(rest, str_find(rest, STR("\n.SH \"EXAMPLES\"\n")));
	while (str_split(&rest, '\n', &line)) {
		if (!str_starts_with(line, STR("mcpx ")))
			continue;
		count++;
		if (!names_command(line))
			fail_msg("not a command: %.*s", STR_ARG(line));
	}
	assert_true(count >= 8);
}

/* Every line that begins with a dot is a request that we meant. */
static void test_requests_are_ours(void **state)
{
	static const struct str requests[] = { STR_INIT(".TH "), STR_INIT(".SH "), STR_INIT(".SS "),
					       STR_INIT(".PP"),	 STR_INIT(".TP"),  STR_INIT(".TQ"),
					       STR_INIT(".RS"),	 STR_INIT(".RE"),  STR_INIT(".nf"),
					       STR_INIT(".fi"),	 STR_INIT(".br"),  STR_INIT(".nh"),
					       STR_INIT(".ds"),	 STR_INIT(".ad l") };
	const struct page *page = *state;
	struct str rest = buf_str(&page->text), line;

	while (str_split(&rest, '\n', &line)) {
		bool known = !str_starts_with(line, STR(".")) && !str_starts_with(line, STR("'"));

		for (size_t i = 0; i < ARRAY_LEN(requests); i++)
			known |= str_starts_with(line, requests[i]);
		if (!known)
			fail_msg("%.*s", STR_ARG(line));
		for (size_t i = 0; i < line.n; i++)
			assert_true(line.p[i] >= ' ' && (unsigned char)line.p[i] < 0x7f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prose),
		cmocka_unit_test(test_lines_are_short),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_every_command),
		cmocka_unit_test(test_every_setting),
		cmocka_unit_test(test_plumbing_is_apart),
		cmocka_unit_test(test_examples_exist),
		cmocka_unit_test(test_requests_are_ours),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

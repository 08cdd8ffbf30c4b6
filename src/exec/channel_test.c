#include "base/base.h"
#include "exec/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define MARK                                                                                                 \
	"\x1e"                                                                                               \
	"mcpx\x1e"

enum { RECORD_MAX = 16, STORY_MAX = 4096 };

/* What came out: records in <>, text in [], joined where it came in pieces, and of records that were too long
 * the size and the head in (). */
static char story[STORY_MAX];
static bool in_text;

static void tell(const char *open, struct str s, const char *close)
{
	size_t n = strlen(story);

	snprintf(story + n, sizeof(story) - n, "%s%.*s%s", open, STR_ARG(s), close);
}

static void end_text(void)
{
	if (in_text)
		tell("]", str_make(NULL, 0), "");
	in_text = false;
}

static void took_record(struct exec_channel *channel, struct str json)
{
	(void)channel;
	end_text();
	tell("<", json, ">");
}

static void took_too_long(struct exec_channel *channel, struct str head, uint64_t bytes)
{
	char size[32];

	(void)channel;
	end_text();
	snprintf(size, sizeof(size), "%llu ", (unsigned long long)bytes);
	tell("(", str_of(size), "");
	tell("", head, ")");
}

static void took_text(struct exec_channel *channel, struct str bytes)
{
	(void)channel;
	assert_true(bytes.n > 0);
	tell(in_text ? "" : "[", bytes, "");
	in_text = true;
}

static const struct exec_channel_events events = { took_record, took_too_long, took_text };

static const char *feed(struct str bytes, size_t step)
{
	struct exec_channel channel;

	story[0] = '\0';
	in_text = false;
	exec_channel_init(&channel, RECORD_MAX, &events);
	for (size_t at = 0; at < bytes.n; at += step)
		exec_channel_feed(&channel, str_slice(bytes, at, step));
	exec_channel_end(&channel);
	end_text();
	exec_channel_release(&channel);
	return story;
}

/* Whole, in every size of piece, and one byte at a time. */
static void check(struct str bytes, const char *expected)
{
	for (size_t step = bytes.n ? bytes.n : 1; step > 0; step--)
		assert_string_equal(feed(bytes, step), expected);
}

static void test_records_and_text(void **state)
{
	(void)state;
	check(STR(""), "");
	check(STR("plain\ntext"), "[plain\ntext]");
	check(STR(MARK "{\"a\":1}\n"), "<{\"a\":1}>");
	check(STR("before" MARK "{}\nafter\n" MARK "1\n" MARK "2\n"), "[before]<{}>[after\n]<1><2>");
	check(STR(MARK "\n"), "<>");
}

static void test_what_only_begins_like_a_mark_is_text(void **state)
{
	(void)state;
	check(STR("\x1e"), "[\x1e]");
	check(STR("\x1emcp"), "[\x1emcp]");
	check(STR("\x1emcpX" MARK "{}\n"), "[\x1emcpX]<{}>");
	check(STR("\x1emcpx\x1f"), "[\x1emcpx\x1f]");
	check(STR("\x1e\x1e" MARK "{}\n"), "[\x1e\x1e]<{}>");
	check(STR("\x1emc" MARK "{}\n"), "[\x1emc]<{}>");
}

static void test_long_records_are_counted(void **state)
{
	(void)state;
	check(STR(MARK "0123456789abcdef\nx"), "<0123456789abcdef>[x]");
	check(STR(MARK "0123456789abcdefg\nx"), "(17 0123456789abcdefg)[x]");
	check(STR(MARK "0123456789abcdefghijklmnopqrstuvwxyz" MARK "{}\n" MARK "{}\n"),
	      "(44 0123456789abcdefghijklmnopqrstuvwxyz\x1emcpx\x1e{})<{}>");
	check(STR(MARK "0123456789abcdefg"), "(17 0123456789abcdefg)");
#define SIXTEEN "0123456789abcdef"
	check(STR(MARK SIXTEEN SIXTEEN SIXTEEN SIXTEEN "z\n"), "(65 " SIXTEEN SIXTEEN SIXTEEN SIXTEEN ")");
}

static void test_a_record_that_is_cut_off_is_text(void **state)
{
	(void)state;
	check(STR("a" MARK "{\"half"), "[a{\"half]");
}

static void test_nul_and_broken_utf8_pass(void **state)
{
	static const char bytes[] = "\xff\0" MARK "\"\xff\"\n\xc3";
	struct exec_channel channel;

	(void)state;
	story[0] = '\0';
	in_text = false;
	exec_channel_init(&channel, RECORD_MAX, &events);
	exec_channel_feed(&channel, str_make(bytes + 2, sizeof(bytes) - 3));
	end_text();
	assert_string_equal(story, "<\"\xff\">[\xc3]");
	exec_channel_release(&channel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_and_text),
		cmocka_unit_test(test_what_only_begins_like_a_mark_is_text),
		cmocka_unit_test(test_long_records_are_counted),
		cmocka_unit_test(test_a_record_that_is_cut_off_is_text),
		cmocka_unit_test(test_nul_and_broken_utf8_pass),
	};

	return cmocka_run_group_tests_name("exec-channel", tests, NULL, NULL);
}

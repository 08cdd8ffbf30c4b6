#include "base/base.h"
#include "cli/show_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_shown(void (*show)(const struct json *record, struct buf *out), const char *record,
			 const char *expected)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, 1 << 16);
	assert_int_equal(json_parse(&doc, str_of(record), NULL, NULL), 0);
	show(json_root(&doc), &out);
	assert_string_equal(buf_cstr(&out), expected);
}

static void test_a_setting_in_full(void **state)
{
	(void)state;
	expect_shown(
		show_setting,
		"{\"path\":\"http.connections\",\"kind\":\"int\",\"value\":\"7\",\"source\":\"file\","
		"\"origin\":\"/a/.mcpx.json:1:27\",\"pending\":\"8\",\"shadowed\":["
		"{\"value\":\"\",\"source\":\"env\",\"origin\":\"MCPX_X\"},{\"value\":\"4096\",\"source\":\"default\"}],"
		"\"env\":\"MCPX_HTTP_CONNECTIONS\",\"flag\":\"http-connections\",\"description\":\"most connections\","
		"\"scope\":\"daemon\",\"hot\":false}",
		"http.connections = 7\n"
		"  from       file /a/.mcpx.json:1:27\n"
		"  displaced  (empty) from env MCPX_X\n"
		"  displaced  4096 from default\n"
		"  pending    8 after a restart of the daemon\n"
		"  decides    most connections\n"
		"  kind       int\n"
		"  scope      daemon, a change takes effect at the next start\n"
		"  spelled    MCPX_HTTP_CONNECTIONS, --http-connections\n");
}

static void test_spellings_choices_and_detail(void **state)
{
	(void)state;
	expect_shown(
		show_setting,
		"{\"path\":\"exec.output\",\"kind\":\"enum\",\"value\":\"text\",\"source\":\"default\",\"shadowed\":[],"
		"\"env\":\"MCPX_EXEC_OUTPUT\",\"envAliases\":[\"MCPX_OUT\"],\"flag\":\"exec-output\",\"flagAliases\":[\"output\",\"o\"],"
		"\"description\":\"how a run is shown\",\"detail\":\"More of it.\",\"enum\":[\"text\",\"stream\"],\"scope\":\"call\",\"hot\":false}",
		"exec.output = text\n"
		"  from       default\n"
		"  decides    how a run is shown\n"
		"             More of it.\n"
		"  kind       enum: text, stream\n"
		"  scope      call, a change takes effect at once\n"
		"  spelled    MCPX_EXEC_OUTPUT, MCPX_OUT, --exec-output, --output, -o\n");
}

static void test_when_a_change_takes_effect(void **state)
{
	(void)state;
	expect_shown(
		show_setting,
		"{\"path\":\"output.color\",\"kind\":\"enum\",\"value\":\"auto\",\"source\":\"default\","
		"\"env\":\"MCPX_OUTPUT_COLOR\",\"flag\":\"output-color\",\"scope\":\"client\",\"hot\":false}",
		"output.color = auto\n"
		"  from       default\n"
		"  kind       enum\n"
		"  scope      client, a change takes effect at the next command\n"
		"  spelled    MCPX_OUTPUT_COLOR, --output-color\n");
}

/* A daemon's answer is text from outside. */
static void test_escapes_do_not_pass(void **state)
{
	(void)state;
	expect_shown(show_setting_change,
		     "{\"path\":\"pool.max\",\"value\":\"1\\u001b[2J\\n2\",\"applied\":true}",
		     "pool.max = 1\uFFFD[2J 2\n");
	expect_shown(show_setting_change,
		     "{\"path\":\"pool.max\",\"removed\":false,\"value\":\"4\",\"source\":\"default\"}",
		     "pool.max = 4, which was not overridden, from default\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_setting_in_full),
		cmocka_unit_test(test_spellings_choices_and_detail),
		cmocka_unit_test(test_when_a_change_takes_effect),
		cmocka_unit_test(test_escapes_do_not_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "cli/show_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_shown(void (*show)(struct cli *cli, const struct json *root, struct buf *out),
			 const char *answer, const char *expected)
{
	struct cli cli = { .version = "1.2.3" };
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };

	arena_init(&cli.arena, 0);
	buf_init(&out, 1 << 16);
	assert_int_equal(json_parse(&doc, str_of(answer), NULL, NULL), 0);
	show(&cli, json_root(&doc), &out);
	assert_string_equal(buf_cstr(&out), expected);
	arena_release(&cli.arena);
}

static void test_a_daemon_of_another_version_is_told(void **state)
{
	(void)state;
	expect_shown(show_health,
		     "{\"version\":\"1.2.3\",\"pid\":7,\"uptimeSec\":61,\"endpoint\":\"unix:/a\"}",
		     "daemon    version 1.2.3, process 7, up 1m1s\n"
		     "endpoint  unix:/a\n");
	expect_shown(show_health,
		     "{\"version\":\"1.2.2\",\"pid\":7,\"uptimeSec\":5,\"endpoint\":\"unix:/a\"}",
		     "daemon    version 1.2.2, process 7, up 5s\n"
		     "          this command is version 1.2.3: `mcpx stop` lets the next one start its own\n"
		     "endpoint  unix:/a\n");
}

static void test_a_daemon_on_tcp_has_its_socket_too(void **state)
{
	(void)state;
	expect_shown(
		show_status,
		"{\"version\":\"1.2.3\",\"pid\":7,\"endpoint\":\"http://127.0.0.1:8\",\"socket\":\"/a.sock\",\"servers\":[]}",
		"daemon    version 1.2.3, process 7, up 0s\n"
		"memory    0 B\n"
		"endpoint  http://127.0.0.1:8\n"
		"socket    /a.sock\n"
		"in use    0 connections, 0 MCP sessions, 0 runs\n");
}

static void test_what_could_not_be_refreshed_is_named(void **state)
{
	(void)state;
	expect_shown(
		show_refresh,
		"{\"namespaces\":1,\"added\":2,\"removed\":0,\"errors\":[{\"server\":\"s\",\"error\":\"a\\nb\"}]}",
		"1 namespace, 2 added, 0 removed\ns\n  a b\n");
}

static void test_what_is_said_of_a_server_stands_under_its_name(void **state)
{
	(void)state;
	expect_shown(
		show_status,
		"{\"version\":\"1.2.3\",\"pid\":7,\"servers\":["
		"{\"name\":\"bad\",\"lastError\":\"it failed\",\"retryInSec\":3,\"instances\":[]},"
		"{\"name\":\"well\",\"instances\":[{\"id\":\"well#1\",\"noiseLines\":0,\"warnings\":[]}]},"
		"{\"name\":\"odd\",\"repeatedTool\":\"echo\",\"instances\":[{\"id\":\"odd#1\",\"noiseLines\":2,"
		"\"noiseFirst\":\"hello\",\"warnings\":[\"it is slow\"]}]}]}",
		"daemon  version 1.2.3, process 7, up 0s\n"
		"memory  0 B\n"
		"in use  0 connections, 0 MCP sessions, 0 runs\n"
		"\n"
		"SERVER  TOOLS  LIVE  CALLS\n"
		"bad         -     0      0\n"
		"well        -     0      0\n"
		"odd         -     0      0\n"
		"\n"
		"bad is tried again in 3s\n"
		"  it failed\n"
		"\n"
		"odd\n"
		"  odd lists \"echo\" more than once: the later ones have names of their own here, but all that the server hears is \"echo\"\n"
		"  odd#1 wrote 2 lines to its standard output that are no messages; the first: hello\n"
		"  odd#1: it is slow\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_daemon_of_another_version_is_told),
		cmocka_unit_test(test_a_daemon_on_tcp_has_its_socket_too),
		cmocka_unit_test(test_what_could_not_be_refreshed_is_named),
		cmocka_unit_test(test_what_is_said_of_a_server_stands_under_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

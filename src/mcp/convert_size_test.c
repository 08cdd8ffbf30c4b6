/* What servers may send in large numbers: conversions take as much time and memory as the text is long. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json/json.h"
#include "mcp/convert.h"

enum { BLOCKS = 1000 * 1000, PROPERTIES = 100 * 1000, TEXT_MAX = 128 << 20, SPARE = 1 << 20 };

static void append_times(struct buf *out, struct str item, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		buf_append(out, i ? STR(",") : STR(""));
		buf_append(out, item);
	}
}

/* A result of a million blocks, and what becomes of each for a peer of the first revision. */
static void expect_blocks(struct str block, struct str converted)
{
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_buf_ struct buf result = { .max = TEXT_MAX }, expected = { .max = TEXT_MAX };
	struct str actual;
	struct err err;

	arena_init(&arena, 0);
	buf_append(&result, STR("{\"content\":["));
	append_times(&result, block, BLOCKS);
	buf_append(&result, STR("]}"));
	buf_append(&expected, STR("{\"content\":["));
	append_times(&expected, converted, BLOCKS);
	buf_append(&expected, STR("]}"));
	assert_int_equal(mcp_convert_result(buf_str(&result), MCP_2024_11_05, (struct str){ 0 }, &arena,
					    &actual, &err),
			 0);
	assert_true(str_eq(actual, buf_str(&expected)));
	/* Neither an object for each block, nor a copy for each that is added. */
	assert_true(arena.total <= 2 * expected.n + SPARE);
}

static void a_million_blocks_are_walked(void **state)
{
	(void)state;
	expect_blocks(STR("0"), STR("0"));
	expect_blocks(STR("{}"), STR("{}"));
	expect_blocks(STR("{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"a:b\"}"),
		      STR("{\"type\":\"text\",\"text\":\"n: a:b\"}"));
}

/* {"name":"t","inputSchema":{"type":"object","properties":{"p0":value,...}}} */
static void write_tool(struct buf *out, const char *value)
{
	buf_append(out, STR("{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"));
	for (unsigned i = 0; i < PROPERTIES; i++)
		buf_printf(out, "%s\"p%u\":%s", i ? "," : "", i, value);
	buf_append(out, STR("}}}"));
}

static void a_schema_of_many_properties_is_walked(void **state)
{
	_cleanup_buf_ struct buf right = { .max = TEXT_MAX }, wrong = { .max = TEXT_MAX };
	_cleanup_arena_ struct arena arena = { 0 };
	struct str converted;

	(void)state;
	arena_init(&arena, 0);
	write_tool(&right, "{}");
	converted = mcp_convert_tool(buf_str(&right), MCP_2025_11_25, &arena);
	assert_ptr_equal(converted.p, right.p);
	write_tool(&wrong, "true");
	converted = mcp_convert_tool(buf_str(&wrong), MCP_2025_11_25, &arena);
	assert_true(str_eq(converted, buf_str(&right)));
	assert_true(arena.total <= 2 * right.n + SPARE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_blocks_are_walked),
		cmocka_unit_test(a_schema_of_many_properties_is_walked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A row for each rule of "Custom Headers from Tool Parameters". */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/http_params.h"
#include "mcp/revision.h"

#define MARKED(type) "{\"type\":\"" type "\",\"x-mcp-header\":\"Region\"}"
#define TOOL(property) "{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"region\":" property "}}}"
#define MISSING "the header Mcp-Param-Region is missing: the tool's input schema asks for it"
#define DIFFERS "the header Mcp-Param-Region does not say what the body says"
#define NO_ARGUMENT "the header Mcp-Param-Region stands for an argument that the body does not have"

struct row {
	const char *tool, *arguments;
	const char *name, *value; /* of the header; NULL: none */
	const char *problem;	  /* NULL: it agrees */
};

static void check(const struct row *row)
{
	const struct http_field field = { str_of(row->name), str_of(row->value) };
	const struct http_request request = { .fields = &field, .field_count = row->name ? 1 : 0 };
	_cleanup_arena_ struct arena arena = { 0 };
	struct err err = { 0 };
	int64_t code;

	arena_init(&arena, 0);
	code = params_check(&request, str_of(row->tool), str_of(row->arguments), &arena, &err);
	assert_string_equal(row->problem ? row->problem : "", err.message);
	assert_int_equal(code, row->problem ? MCP_HEADER_MISMATCH : 0);
}

#define STRING_ROW(argument, header, problem)                                                                \
	{ TOOL(MARKED("string")), "{\"region\":" argument "}", "Mcp-Param-Region", header, problem }
#define NUMBER_ROW(argument, header, problem)                                                                \
	{ TOOL(MARKED("integer")), "{\"region\":" argument "}", "Mcp-Param-Region", header, problem }

static void headers_repeat_arguments(void **state)
{
	static const struct row rows[] = {
		STRING_ROW("\"us-west1\"", "us-west1", NULL),
		STRING_ROW("\"us-west1\"", "US-WEST1", DIFFERS),
		STRING_ROW("\"\\u0075s\"", "us", NULL),
		STRING_ROW("\"\"", "", NULL),
		STRING_ROW("\"x\"", "", DIFFERS),
		STRING_ROW("null", "x", NO_ARGUMENT),
		/* Base64, also of what would not need it. */
		STRING_ROW("\"Hello, \\u4e16\\u754c\"", "=?base64?SGVsbG8sIOS4lueVjA==?=", NULL),
		STRING_ROW("\" padded \"", "=?base64?IHBhZGRlZCA=?=", NULL),
		STRING_ROW("\"line1\\nline2\"", "=?base64?bGluZTEKbGluZTI=?=", NULL),
		STRING_ROW("\"=?base64?literal?=\"", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", NULL),
		STRING_ROW("\"us\"", "=?base64?dXM=?=", NULL),
		STRING_ROW("\"us\"", "=?BASE64?dXM=?=", DIFFERS),
		STRING_ROW("\"us\"", "=?base64?dXM?=", "the header Mcp-Param-Region is malformed Base64"),
		STRING_ROW("\"us\"", "=?base64?d*M=?=", "the header Mcp-Param-Region is malformed Base64"),
		STRING_ROW("\"\\u4e16\"", "\xe4\xb8\x96",
			   "the header Mcp-Param-Region has characters that must be sent in Base64"),
		/* Integers are compared as numbers. */
		NUMBER_ROW("42", "42", NULL),
		NUMBER_ROW("42", "42.0", NULL),
		NUMBER_ROW("-7", "-7", NULL),
		NUMBER_ROW("42", "=?base64?NDI=?=", NULL),
		NUMBER_ROW("9007199254740991", "9007199254740992", DIFFERS),
		NUMBER_ROW("42", "+42", DIFFERS),
		NUMBER_ROW("42", "\"42\"", DIFFERS),
		NUMBER_ROW("{}", "{}", DIFFERS),
		/* The argument's own type counts. */
		STRING_ROW("true", "true", NULL),
		STRING_ROW("true", "True", DIFFERS),
		STRING_ROW("false", "false", NULL),
		STRING_ROW("false", "true", DIFFERS),
		/* Names of headers compare without case; other headers of the kind are none of ours. */
		{ TOOL(MARKED("string")), "{\"region\":\"x\"}", "MCP-PARAM-REGION", "x", NULL },
		{ TOOL(MARKED("string")), "{}", "Mcp-Param-Other", "x", NULL },
		/* Left out. */
		{ TOOL(MARKED("string")), "{\"region\":\"x\"}", NULL, NULL, MISSING },
		{ TOOL(MARKED("string")), "{\"region\":[]}", NULL, NULL, MISSING },
		{ TOOL(MARKED("string")), "{\"region\":null}", NULL, NULL, NULL },
		{ TOOL(MARKED("string")), "{}", NULL, NULL, NULL },
		{ TOOL(MARKED("string")), "", NULL, NULL, NULL },
		{ TOOL(MARKED("string")), "", "Mcp-Param-Region", "x", NO_ARGUMENT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(&rows[i]);
}

static void nested_properties_are_found(void **state)
{
#define NESTED "{\"inputSchema\":{\"properties\":{\"a\":{\"properties\":{\"b\":" MARKED("string") "}}}}}"
	static const struct row rows[] = {
		{ NESTED, "{\"a\":{\"b\":\"x\"}}", "Mcp-Param-Region", "x", NULL },
		{ NESTED, "{\"a\":{\"b\":\"x\"}}", NULL, NULL, MISSING },
		{ NESTED, "{\"a\":{},\"b\":\"x\"}", NULL, NULL, NULL },
		{ NESTED, "{\"a\":\"x\"}", "Mcp-Param-Region", "x", NO_ARGUMENT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check(&rows[i]);
}

/* Without a problem although the header is missing: nothing is marked. */
static void annotations_that_break_the_rules_mark_nothing(void **state)
{
	static const char *const tools[] = {
		"",
		"7",
		"{}",
		"{\"inputSchema\":7}",
		TOOL("{\"type\":\"string\"}"),
		TOOL("{\"type\":\"string\",\"x-mcp-header\":\"\"}"),
		TOOL("{\"type\":\"string\",\"x-mcp-header\":\"a b\"}"),
		TOOL("{\"type\":\"string\",\"x-mcp-header\":\"a\\r\\nb\"}"),
		TOOL("{\"type\":\"string\",\"x-mcp-header\":7}"),
		TOOL("{\"x-mcp-header\":\"Region\"}"),
		TOOL(MARKED("number")),
		TOOL(MARKED("object")),
		TOOL(MARKED("null")),
		TOOL("{\"type\":[\"string\"],\"x-mcp-header\":\"Region\"}"),
		/* not reached through properties only */
		"{\"inputSchema\":{\"allOf\":[{\"properties\":{\"region\":" MARKED("string") "}}]}}",
		"{\"inputSchema\":{\"items\":{\"properties\":{\"region\":" MARKED("string") "}}}}",
		/* one bad annotation, or the same name twice, and the tool is not one that can be called */
		"{\"inputSchema\":{\"properties\":{\"region\":" MARKED("string") ",\"other\":" MARKED(
			"number") "}}}",
		"{\"inputSchema\":{\"properties\":{\"region\":" MARKED(
			"string") ",\"other\":{\"type\":\"string\",\"x-mcp-header\":\"REGION\"}}}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		check(&(struct row){ tools[i], "{\"region\":\"x\",\"other\":1}", NULL, NULL, NULL });
}

/* As many as a request could carry are checked; one more is more than a tool may mark. */
static void a_tool_marks_so_many_parameters_at_most(void **state)
{
	_cleanup_buf_ struct buf tool = { 0 };
	const size_t most = 64;

	(void)state;
	for (size_t n = most; n <= most + 1; n++) {
		buf_init(&tool, SIZE_MAX);
		buf_append(&tool, STR("{\"inputSchema\":{\"properties\":{\"region\":" MARKED("string")));
		for (size_t i = 1; i < n; i++)
			buf_printf(&tool, ",\"p%zu\":{\"type\":\"string\",\"x-mcp-header\":\"P%zu\"}", i, i);
		buf_append(&tool, STR("}}}"));
		check(&(struct row){ buf_cstr(&tool), "{\"region\":\"x\"}", NULL, NULL,
				     n == most ? MISSING : NULL });
		buf_release(&tool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_repeat_arguments),
		cmocka_unit_test(nested_properties_are_found),
		cmocka_unit_test(annotations_that_break_the_rules_mark_nothing),
		cmocka_unit_test(a_tool_marks_so_many_parameters_at_most),
	};

	return cmocka_run_group_tests_name("mcp/http_params", tests, NULL, NULL);
}

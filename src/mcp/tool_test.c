#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/convert.h"
#include "mcp/tool_schema.h"

#define INPUT "\"inputSchema\":{\"type\":\"object\"}"

/* A Tool as a server sends it, and as a peer of a revision gets it; NULL: unchanged, the very same bytes. */
static const struct {
	enum mcp_revision revision;
	const char *tool, *converted;
} conversions[] = {
	{ MCP_2025_11_25, "{\"name\":\"t\", " INPUT ", \"unknownField\":{\"keep\":true}}", NULL },
	{ MCP_2025_11_25, "[1]", NULL },
	{ MCP_2025_11_25, "{\"name\":\"t\"}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2024_11_05, "{\"name\":\"t\"}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2026_07_28, "{\"name\":\"t\"}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2025_11_25, "{\"name\":\"t\",\"inputSchema\":\"x\"}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2025_11_25, "{\"name\":\"t\",\"inputSchema\":null}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2025_11_25, "{\"name\":\"t\",\"inputSchema\":true}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2025_11_25, "{\"name\":\"t\",\"inputSchema\":{\"oneOf\":[{\"type\":\"object\"}]}}",
	  "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"oneOf\":[{\"type\":\"object\"}]}}" },
	{ MCP_2025_11_25,
	  "{\"name\":\"t\",\"inputSchema\":{\"type\":[\"object\",\"null\"],\"maximum\":1.50}}",
	  "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"maximum\":1.50}}" },
	{ MCP_2025_11_25,
	  "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":false,\"c\":null,\"d\":{\"type\":\"string\"}}}}",
	  "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{\"not\":{}},\"c\":{},\"d\":{\"type\":\"string\"}}}}" },
	{ MCP_2025_11_25,
	  "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":[],\"required\":true}}",
	  "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2025_11_25,
	  "{\"name\":\"t\"," INPUT
	  ",\"title\":5,\"description\":[],\"_meta\":1,\"icons\":{},\"execution\":1}",
	  "{\"name\":\"t\"," INPUT ",\"icons\":[]}" },
	{ MCP_2025_11_25,
	  "{\"name\":\"t\"," INPUT
	  ",\"icons\":[1,{\"src\":\"data:,\",\"theme\":\"light\"},{\"src\":\"x\",\"sizes\":\"any\"}]}",
	  "{\"name\":\"t\"," INPUT ",\"icons\":[{\"src\":\"data:,\",\"theme\":\"light\"}]}" },
	{ MCP_2025_11_25,
	  "{\"name\":\"t\"," INPUT
	  ",\"annotations\":{\"title\":1,\"readOnlyHint\":\"yes\",\"openWorldHint\":true,\"x\":1}}",
	  "{\"name\":\"t\"," INPUT ",\"annotations\":{\"openWorldHint\":true,\"x\":1}}" },
	{ MCP_2025_11_25, "{\"name\":\"t\"," INPUT ",\"annotations\":[]}",
	  "{\"name\":\"t\"," INPUT ",\"annotations\":{}}" },
	{ MCP_2025_11_25, "{\"name\":\"t\"," INPUT ",\"execution\":{\"taskSupport\":\"required\"}}",
	  "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2025_11_25, "{\"name\":\"t\"," INPUT ",\"outputSchema\":{\"anyOf\":[{}]}}",
	  "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2026_07_28, "{\"name\":\"t\"," INPUT ",\"outputSchema\":{\"anyOf\":[{}]}}", NULL },
	{ MCP_2026_07_28, "{\"name\":\"t\"," INPUT ",\"outputSchema\":[]}", "{\"name\":\"t\"," INPUT "}" },
	{ MCP_2026_07_28, "{\"name\":\"t\"," INPUT ",\"outputSchema\":{\"$ref\":\"#/no\"}}",
	  "{\"name\":\"t\"," INPUT "}" },
};

static void a_tool_is_brought_into_a_form_that_strict_peers_take(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(conversions); i++) {
		struct str tool = str_of(conversions[i].tool), converted;
		_cleanup_arena_ struct arena arena = { 0 };

		arena_init(&arena, 0);
		converted = mcp_convert_tool(tool, conversions[i].revision, &arena);
		if (!conversions[i].converted)
			assert_ptr_equal(converted.p, tool.p);
		else if (!str_eq(converted, str_of(conversions[i].converted)))
			fail_msg("%s became %.*s", conversions[i].tool, STR_ARG(converted));
	}
}

static bool compiles(const char *text)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	assert_int_equal(json_parse(&doc, str_of(text), NULL, NULL), 0);
	return mcp_schema_compiles(json_root(&doc));
}

static const char *const sound[] = {
	"{}",
	"true",
	"{\"type\":[\"string\",\"null\"],\"nullable\":true,\"format\":\"odd\",\"foo\":1}",
	"{\"$id\":\"x\",\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"const\":{\"a\":null}}",
	"{\"$defs\":{\"a\":{\"properties\":{\"next\":{\"$ref\":\"#/$defs/a\"}}}},\"items\":[{\"$ref\":\"#\"}]}",
	"{\"properties\":{\"id\":{\"type\":\"string\"},\"pattern\":false}}",
	"{\"dependencies\":{\"a\":[\"b\"],\"c\":{}},\"if\":{},\"then\":true,\"else\":false,\"not\":{}}",
	"{\"pattern\":\"^(?:[a-z0-9_.-]+|\\\\d{1,3}(?=x)|\\\\/|[^\\\\]\\\\-])*?$\"}",
	"{\"patternProperties\":{\"^x-\":{\"minimum\":1}}}",
};

static const char *const unsound[] = {
	"null",
	"5",
	"{\"type\":\"nonsense\"}",
	"{\"type\":[\"string\",5]}",
	"{\"$ref\":\"#/$defs/no\"}",
	"{\"$ref\":\"https://example.com/s.json\"}",
	"{\"properties\":{\"x\":{\"$ref\":\"#/properties/x\"}}}",
	"{\"$ref\":5}",
	"{\"properties\":{\"x\":null}}",
	"{\"properties\":5}",
	"{\"enum\":[]}",
	"{\"enum\":\"x\"}",
	"{\"allOf\":{}}",
	"{\"oneOf\":[5]}",
	"{\"minimum\":\"1\"}",
	"{\"exclusiveMinimum\":true}",
	"{\"items\":5}",
	"{\"additionalProperties\":\"no\"}",
	"{\"dependencies\":5}",
	"{\"dependencies\":{\"a\":5}}",
	"{\"required\":\"x\"}",
	"{\"required\":[1]}",
	"{\"nullable\":true}",
	"{\"id\":\"x\"}",
	"{\"$id\":5}",
	"{\"properties\":{\"x\":{\"$id\":\"y\"}}}",
	"{\"if\":5}",
	"{\"pattern\":5}",
	"{\"patternProperties\":{\"(\":{}}}",
};

static const char *const odd_patterns[] = { "(?i)x", "(?<n>x)",	  "\\\\-", "\\\\p{L}", "\\\\u0041", "\\\\1",
					    "x**",   "*",	  "(*)",   "(",	       ")",	    "[a",
					    "]",     "{",	  "x{,3}", "x{2",      "a|+",	    "[z-a]",
					    "\\\\",  "[\\\\w-z]", "^*" };

static void schemas_that_a_validator_would_not_compile_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sound); i++)
		if (!compiles(sound[i]))
			fail_msg("%s is sound", sound[i]);
	for (size_t i = 0; i < ARRAY_LEN(unsound); i++)
		if (compiles(unsound[i]))
			fail_msg("%s is unsound", unsound[i]);
	for (size_t i = 0; i < ARRAY_LEN(odd_patterns); i++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"pattern\":\"%s\"}", odd_patterns[i]);
		if (compiles(text))
			fail_msg("%s is unsound", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tool_is_brought_into_a_form_that_strict_peers_take),
		cmocka_unit_test(schemas_that_a_validator_would_not_compile_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

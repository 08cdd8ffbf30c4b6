#include "base/base.h"
#include "exec/schema_type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROOM = 1 << 20 };

/* The type of a schema, then the definitions it refers to, with line ends as they are. */
static const char *type_text(const char *schema)
{
	static char text[ROOM];
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { .max = ROOM };
	struct schema_types types;

	arena_init(&arena, 0);
	assert_int_equal(json_parse(&doc, str_of(schema), NULL, NULL), 0);
	schema_types_init(&types, &arena, STR("t$"));
	buf_append(&out, schema_type(&types, json_root(&doc), json_root(&doc), 0));
	buf_append_char(&out, '\n');
	schema_types_write_aliases(&types, &out);
	assert_false(buf_failed(&out));
	snprintf(text, sizeof(text), "%.*s", STR_ARG(str_trim(buf_str(&out))));
	return text;
}

static const struct {
	const char *schema, *type;
} table[] = {
	/* words of type */
	{ "{\"type\":\"string\"}", "string" },
	{ "{\"type\":\"integer\"}", "number" },
	{ "{\"type\":\"number\"}", "number" },
	{ "{\"type\":\"boolean\"}", "boolean" },
	{ "{\"type\":\"null\"}", "null" },
	{ "{\"type\":[\"string\",\"null\"]}", "string | null" },
	{ "{\"type\":[\"integer\",\"number\"]}", "number" },
	{ "{\"type\":[]}", "unknown" },
	{ "{\"type\":\"string\",\"nullable\":true}", "string | null" },
	{ "{\"type\":\"file\"}", "unknown" },
	{ "{\"type\":17}", "unknown" },
	{ "{\"type\":[17,\"string\"]}", "unknown" },
	{ "{}", "unknown" },
	{ "true", "unknown" },
	{ "false", "never" },
	{ "[]", "unknown" },
	{ "null", "unknown" },
	{ "\"string\"", "unknown" },
	/* enum and const */
	{ "{\"enum\":[\"a\",\"b\",1,null,true]}", "\"a\" | \"b\" | 1 | null | true" },
	{ "{\"type\":\"string\",\"enum\":[\"it's \\\"q\\\"\\n\"]}", "\"it's \\\"q\\\"\\n\"" },
	{ "{\"enum\":[]}", "unknown" },
	{ "{\"type\":\"string\",\"enum\":\"a\"}", "string" },
	{ "{\"enum\":[{\"a\":1}]}", "unknown" },
	{ "{\"const\":\"x\"}", "\"x\"" },
	{ "{\"const\":-1.5}", "-1.5" },
	{ "{\"const\":12345678901234567890}", "number" },
	{ "{\"const\":null}", "null" },
	/* arrays */
	{ "{\"type\":\"array\"}", "unknown[]" },
	{ "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "string[]" },
	{ "{\"items\":{\"type\":[\"string\",\"null\"]}}", "(string | null)[]" },
	{ "{\"type\":\"array\",\"items\":false}", "never[]" },
	{ "{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"items\":false,\"minItems\":1}",
	  "[string, number?]" },
	{ "{\"type\":\"array\",\"prefixItems\":[{\"type\":[\"string\",\"null\"]}]}",
	  "[(string | null)?, ...unknown[]]" },
	{ "{\"type\":\"array\",\"items\":[{\"type\":\"string\"}],\"additionalItems\":{\"type\":\"number\"}}",
	  "[string?, ...number[]]" },
	{ "{\"type\":\"array\",\"prefixItems\":{}}", "unknown[]" },
	/* objects */
	{ "{\"type\":\"object\"}", "Record<string, unknown>" },
	{ "{\"type\":\"object\",\"properties\":{}}", "Record<string, unknown>" },
	{ "{\"type\":\"object\",\"additionalProperties\":false}", "{}" },
	{ "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}", "Record<string, number>" },
	{ "{\"type\":\"object\",\"additionalProperties\":true}", "Record<string, unknown>" },
	{ "{\"type\":\"object\",\"patternProperties\":{\"^x\":{\"type\":\"number\"}},\"additionalProperties\":false}",
	  "Record<string, unknown>" },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{}},\"required\":[\"a\"]}",
	  "{ a: string; b?: unknown }" },
	{ "{\"properties\":{\"a\":true},\"additionalProperties\":{\"type\":\"number\"}}",
	  "{ a?: unknown; [name: string]: unknown }" },
	{ "{\"type\":\"object\",\"required\":[\"a\",\"b c\",7]}", "{ a: unknown; \"b c\": unknown }" },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"},\"a\":{\"type\":\"number\"}}}", "{ a?: number }" },
	{ "{\"properties\":{\"a-b\":{\"type\":\"string\"},\"__proto__\":{},\"\":{}}}",
	  "{ \"a-b\"?: string; __proto__?: unknown; \"\"?: unknown }" },
	{ "{\"properties\":[1]}", "Record<string, unknown>" },
	{ "{\"type\":\"object\",\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":\"string\"}}}}}",
	  "{ a?: { b?: string } }" },
	/* combinations */
	{ "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}", "string | number" },
	{ "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"string\",\"format\":\"uri\"}]}", "string" },
	{ "{\"anyOf\":[{\"type\":\"string\"},{}]}", "unknown" },
	{ "{\"anyOf\":[]}", "unknown" },
	{ "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":{}}},{\"type\":\"object\",\"properties\":{\"b\":{}}}]}",
	  "{ a?: unknown } | { b?: unknown }" },
	{ "{\"type\":\"object\",\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
	  "{ a: unknown } | { b: unknown }" },
	{ "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
	  "({ a: unknown } | { b: unknown }) & { a?: string }" },
	{ "{\"allOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}}}]}",
	  "{ a?: unknown } & { b?: unknown }" },
	{ "{\"allOf\":[{\"type\":\"string\"},{\"minLength\":3}]}", "string" },
	{ "{\"not\":{\"type\":\"string\"}}", "unknown" },
	{ "{\"if\":{},\"then\":false}", "unknown" },
	{ "{\"items\":{\"allOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}}}]}}",
	  "({ a?: unknown } & { b?: unknown })[]" },
	/* references */
	{ "{\"$defs\":{\"A\":{\"type\":\"string\"}},\"items\":{\"$ref\":\"#/$defs/A\"}}",
	  "t$A[]\ntype t$A = string;" },
	{ "{\"definitions\":{\"N\":{\"properties\":{\"next\":{\"$ref\":\"#/definitions/N\"}}}},\"$ref\":\"#/definitions/N\"}",
	  "t$N\ntype t$N = { next?: t$N };" },
	{ "{\"properties\":{\"child\":{\"$ref\":\"#\"}}}",
	  "{ child?: t$Root }\ntype t$Root = { child?: t$Root };" },
	{ "{\"$defs\":{\"a.b\":{\"type\":\"string\"},\"a-b\":{\"type\":\"number\"}},"
	  "\"prefixItems\":[{\"$ref\":\"#/$defs/a%2eb\"},{\"$ref\":\"#/$defs/a-b\"}],\"items\":false}",
	  "[t$a_2eb?, t$a_b?]\ntype t$a_2eb = string;\ntype t$a_b = number;" },
	{ "{\"$defs\":{\"a.b\":{\"type\":\"string\"},\"a-b\":{\"type\":\"number\"}},"
	  "\"anyOf\":[{\"$ref\":\"#/$defs/a.b\"},{\"$ref\":\"#/$defs/a-b\"}]}",
	  "t$a_b | t$a_b$2\ntype t$a_b = string;\ntype t$a_b$2 = number;" },
	{ "{\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B\"},\"B\":{\"$ref\":\"#/$defs/A\"}},\"$ref\":\"#/$defs/A\"}",
	  "unknown" },
	{ "{\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B\"},\"B\":{\"type\":\"string\"}},\"$ref\":\"#/$defs/A\"}",
	  "t$B\ntype t$B = string;" },
	{ "{\"$ref\":\"https://example.com/schema\"}", "unknown" },
	{ "{\"$ref\":\"#/$defs/none\"}", "unknown" },
	{ "{\"$ref\":\"#anchor\"}", "unknown" },
	{ "{\"$ref\":\"#/%zz\"}", "unknown" },
	{ "{\"$ref\":7}", "unknown" },
	{ "{\"$defs\":{\"no\":false},\"$ref\":\"#/$defs/no\"}", "never" },
	{ "{\"$defs\":{\"A\":{\"properties\":{\"a\":{}}}},\"$ref\":\"#/$defs/A\",\"properties\":{\"b\":{}}}",
	  "t$A & { b?: unknown }\ntype t$A = { a?: unknown };" },
};

static void test_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *type = type_text(table[i].schema);

		if (strcmp(type, table[i].type) != 0)
			fail_msg("%s\nbecomes   %s\nshould be %s", table[i].schema, type, table[i].type);
	}
}

static void test_described_members_have_lines_of_their_own(void **state)
{
	(void)state;
	assert_string_equal(
		type_text(
			"{\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"the */ first\",\"default\":\"x\"},"
			"\"b\":{\"properties\":{\"c\":{\"description\":\"two\\nlines\",\"deprecated\":true}}}}}"),
		"{\n"
		"\t/** the *\\/ first. Default: \"x\" */\n"
		"\ta?: string;\n"
		"\tb?: {\n"
		"\t\t/**\n"
		"\t\t * two\n"
		"\t\t * lines\n"
		"\t\t * @deprecated\n"
		"\t\t */\n"
		"\t\tc?: unknown;\n"
		"\t};\n"
		"}");
}

/* Deep, wide and unfolding schemas end in `unknown`, and soon. */
/* What a server says stays in the comment, whatever is left out of it. */
static void test_a_comment_does_not_end_early(void **state)
{
	static const char *const descriptions[] = { "*/", "*\x01/", "**\r/", "*\x7f/*/", "*\n/", "/*/" };
	static const char *const written[] = { "/** *\\/ */\n",		 "/** *\\/ */\n",
					       "/** **\\/ */\n",	 "/** *\x7f/*\\/ */\n",
					       "/**\n * *\n * /\n */\n", "/** /*\\/ */\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(descriptions); i++) {
		_cleanup_buf_ struct buf out = { .max = ROOM };

		schema_write_comment(&out, str_of(descriptions[i]), NULL, 0);
		assert_string_equal(buf_cstr(&out), written[i]);
	}
}

enum { MANY = 100000 };

/* { "properties": { "p0": {}, ... }, "required": ["p0", ..., "r0", "r0", ...] } */
static void write_wide_schema(struct buf *out)
{
	buf_append(out, STR("{\"properties\":{\"p0\":{\"type\":\"string\"}"));
	for (unsigned i = 0; i < MANY; i++)
		buf_printf(out, ",\"p%u\":{}", i);
	buf_append(out, STR("},\"required\":[\"p0\",\"r0\",\"r0\""));
	for (unsigned i = 0; i < MANY; i++)
		buf_printf(out, ",\"p%u\"", i);
	buf_append(out, STR("]}"));
}

/* As wide as no schema is: the first members are there, each once, and others may be. */
static void test_a_schema_with_endless_members(void **state)
{
	_cleanup_buf_ struct buf schema = { .max = 16 * ROOM };
	const char *text;

	(void)state;
	write_wide_schema(&schema);
	text = type_text(buf_cstr(&schema));
	assert_true(str_starts_with(str_of(text), STR("{\n\tp0: unknown;\n\tp1: unknown;\n")));
	assert_non_null(strstr(text, "\tp998?: unknown;\n\tr0: unknown;\n\t[name: string]: unknown;\n}"));
}

static void test_schemas_without_end(void **state)
{
	static char text[ROOM];
	size_t n = 0;

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "{\"items\":");
	n += (size_t)snprintf(text + n, sizeof(text) - n, "{\"type\":\"string\"}");
	for (unsigned i = 0; i < 50; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "}");
	assert_int_equal(strncmp(type_text(text), "unknown[][]", 11), 0);

	/* Each definition has the next one ten times, without a name of its own. */
	n = (size_t)snprintf(text, sizeof(text), "{\"allOf\":[");
	for (unsigned i = 0; i < 500; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "{\"properties\":{\"p%u\":{\"type\":\"string\"}}},", i);
	snprintf(text + n, sizeof(text) - n, "{}]}");
	assert_string_equal(type_text(text), "unknown");

	n = (size_t)snprintf(text, sizeof(text), "{\"enum\":[0");
	for (unsigned i = 1; i < 200; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ",%u", i);
	snprintf(text + n, sizeof(text) - n, "],\"type\":\"integer\"}");
	assert_string_equal(type_text(text), "number");

	n = (size_t)snprintf(text, sizeof(text), "{\"properties\":{\"p\":{}");
	for (unsigned i = 1; i < 1500; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ",\"p%u\":{}", i);
	snprintf(text + n, sizeof(text) - n, "}}");
	assert_non_null(strstr(type_text(text), "p999?: unknown;\n\t[name: string]: unknown;\n}"));
	assert_null(strstr(type_text(text), "p1000?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_described_members_have_lines_of_their_own),
		cmocka_unit_test(test_a_comment_does_not_end_early),
		cmocka_unit_test(test_a_schema_with_endless_members),
		cmocka_unit_test(test_schemas_without_end),
	};

	return cmocka_run_group_tests_name("exec-schema_type", tests, NULL, NULL);
}

#include "base/base.h"
#include "cli/tool_arguments.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/files.h"

enum { BYTES_MAX = 1 << 20 };

static const char schema_text[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"text\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"x\":{\"type\":\"number\"},\"yes\":{\"type\":\"boolean\"},"
	"\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"numbers\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}},"
	"\"object\":{\"type\":\"object\"},\"nothing\":{\"type\":\"null\"},\"maybe\":{\"type\":[\"string\",\"null\"]},"
	"\"either\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]},\"choice\":{\"enum\":[\"1\",\"2\"]},\"level\":{\"enum\":[1,2]},"
	"\"fixed\":{\"const\":true},\"ref\":{\"$ref\":\"#/$defs/amount\"},\"loop\":{\"$ref\":\"#/$defs/loop\"},\"any\":{},\"all\":true,"
	"\"both\":{\"allOf\":[{\"type\":[\"string\",\"integer\"]},{\"type\":\"integer\"}]},\"odd\":{\"type\":\"nonsense\"},"
	"\"deep\":{\"type\":\"object\",\"properties\":{\"box\":{\"$ref\":\"#/$defs/box\"},\"s\":{\"type\":\"string\"}}},"
	"\"dot.ted\":{\"type\":\"string\"},\"dot\":{\"type\":\"object\"},\"lists\":{\"$ref\":\"#/$defs/lists\"}},"
	"\"$defs\":{\"box\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"box\":{\"$ref\":\"#/$defs/box\"}}},\"amount\":{\"type\":\"integer\"},\"loop\":{\"$ref\":\"#/$defs/loop\"},"
	"\"lists\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}";

struct outcome {
	struct arena arena;
	struct str object;
	struct err err;
	int result;
};

static void arguments_of(struct outcome *outcome, const char *const *words, size_t count, bool with_schema)
{
	struct json_doc doc = { 0 };
	const struct tool_words given = { words, count };

	arena_init(&outcome->arena, 0);
	assert_int_equal(json_parse(&doc, str_of(schema_text), NULL, NULL), 0);
	outcome->result = tool_arguments(&given, with_schema ? json_root(&doc) : NULL, BYTES_MAX,
					 &outcome->arena, &outcome->object, &outcome->err);
	json_release(&doc);
}

static void expect_words(const char *const *words, size_t count, bool with_schema, const char *expected)
{
	struct outcome outcome;

	arguments_of(&outcome, words, count, with_schema);
	if (outcome.result < 0)
		fail_msg("%s: %s", words[0], outcome.err.message);
	if (!str_eq(outcome.object, str_of(expected)))
		fail_msg("%s gives %.*s, expected %s", words[0], STR_ARG(outcome.object), expected);
	arena_release(&outcome.arena);
}

#define EXPECT(expected, ...)                                                                                \
	do {                                                                                                 \
		static const char *const words[] = { __VA_ARGS__ };                                          \
		expect_words(words, ARRAY_LEN(words), true, expected);                                       \
	} while (0)
#define EXPECT_WITHOUT_SCHEMA(expected, ...)                                                                 \
	do {                                                                                                 \
		static const char *const words[] = { __VA_ARGS__ };                                          \
		expect_words(words, ARRAY_LEN(words), false, expected);                                      \
	} while (0)

static void expect_refused(const char *word, const char *message)
{
	struct outcome outcome;

	arguments_of(&outcome, &word, 1, true);
	assert_int_equal(outcome.result, ERR_INVALID);
	assert_string_equal(outcome.err.message, message);
	arena_release(&outcome.arena);
}

/* The beginning of a message. */
static void expect_refused_with(const char *word, const char *beginning)
{
	struct outcome outcome;

	arguments_of(&outcome, &word, 1, true);
	assert_int_equal(outcome.result, ERR_INVALID);
	if (!str_starts_with(str_of(outcome.err.message), str_of(beginning)))
		fail_msg("%s", outcome.err.message);
	arena_release(&outcome.arena);
}

static void test_the_schema_decides(void **state)
{
	(void)state;
	EXPECT("{\"text\":\"12\"}", "text=12");
	EXPECT("{\"text\":\"true\"}", "text=true");
	EXPECT("{\"text\":\"{}\"}", "text={}");
	EXPECT("{\"text\":\"\"}", "text=");
	EXPECT("{\"text\":\"a=b:=c\"}", "text=a=b:=c");
	EXPECT("{\"n\":12}", "n=12");
	EXPECT("{\"n\":123456789012345678901234567890}", "n=123456789012345678901234567890");
	EXPECT("{\"x\":1.50e3}", "x=1.50e3");
	EXPECT("{\"x\":2}", "x=2");
	EXPECT("{\"yes\":false}", "yes=false");
	EXPECT("{\"object\":{\"a\":[1]}}", "object={\"a\":[1]}");
	EXPECT("{\"nothing\":null}", "nothing=null");
	EXPECT("{\"maybe\":null}", "maybe=null");
	EXPECT("{\"maybe\":\"1\"}", "maybe=1");
	EXPECT("{\"either\":1}", "either=1");
	EXPECT("{\"either\":\"one\"}", "either=one");
	EXPECT("{\"choice\":\"1\"}", "choice=1");
	EXPECT("{\"level\":1}", "level=1");
	EXPECT("{\"fixed\":true}", "fixed=true");
	EXPECT("{\"ref\":7}", "ref=7");
	EXPECT("{\"loop\":7}", "loop=7");
	EXPECT("{\"any\":7}", "any=7");
	EXPECT("{\"all\":7}", "all=7");
	EXPECT("{\"both\":7}", "both=7");
	EXPECT("{\"odd\":\"7\"}", "odd=7");
	EXPECT("{\"n\":1,\"text\":\"a\",\"unheard\":true}", "n=1", "text=a", "unheard=true");
}

static void test_without_a_schema_json_is_json(void **state)
{
	(void)state;
	EXPECT_WITHOUT_SCHEMA("{\"a\":12,\"b\":\"12a\",\"c\":true,\"d\":[1],\"e\":\"[1\",\"f\":null}", "a=12",
			      "b=12a", "c=true", "d=[1]", "e=[1", "f=null");
	/* Digits that are no JSON number stay as typed. */
	EXPECT_WITHOUT_SCHEMA("{\"a\":\"007\",\"b\":\"+1\",\"c\":\"0x10\"}", "a=007", "b=+1", "c=0x10");
}

static void test_lists(void **state)
{
	(void)state;
	EXPECT("{\"list\":[\"a\"]}", "list=a");
	EXPECT("{\"list\":[\"1\",\"2\"]}", "list=1", "list=2");
	EXPECT("{\"list\":[\"a,b\"]}", "list=a,b");
	EXPECT("{\"list\":[\"x\"]}", "list=[\"x\"]");
	EXPECT("{\"numbers\":[1,2]}", "numbers=1", "numbers=2");
	EXPECT("{\"numbers\":[1]}", "numbers=1");
	EXPECT("{\"lists\":[1,2],\"n\":3}", "lists=1", "n=3", "lists=2");
	EXPECT("{\"list\":[1]}", "list:=[1]");
}

static void test_members_of_objects(void **state)
{
	(void)state;
	EXPECT("{\"deep\":{\"s\":\"1\",\"box\":{\"n\":2}},\"n\":3}", "deep.s=1", "n=3", "deep.box.n=2");
	EXPECT("{\"deep\":{\"box\":{\"box\":{\"box\":{\"n\":1}}}}}", "deep.box.box.box.n=1");
	EXPECT("{\"deep\":{\"s\":1}}", "deep.s:=1");
	EXPECT("{\"object\":{\"list\":[1,\"b\"],\"x.y\":true}}", "object.list=1", "object.list=b",
	       "object.x.y=true");
	/* What the schema calls so goes first, and what has no object of that name is a name with a dot. */
	EXPECT("{\"dot.ted\":\"1\",\"dot\":{\"other\":1}}", "dot.ted=1", "dot.other=1");
	EXPECT("{\"text.x\":1,\"unheard.x\":2,\".deep\":3,\"deep.\":4}", "text.x=1", "unheard.x=2", ".deep=3",
	       "deep.=4");
	EXPECT_WITHOUT_SCHEMA("{\"deep.s\":1}", "deep.s=1");
}

static void test_members_that_cannot_be(void **state)
{
	static const char *const both[] = { "deep={}", "deep.s=1" };
	struct buf name = { 0 };
	struct outcome outcome;

	(void)state;
	expect_refused(
		"deep.box.n=x",
		"deep.box.n must be a whole number, and is \"x\"; deep.box.n:=JSON would send any value");
	arguments_of(&outcome, both, ARRAY_LEN(both), true);
	assert_int_equal(outcome.result, ERR_INVALID);
	assert_string_equal(outcome.err.message, "deep is given as a whole and in parts: give one of them");
	arena_release(&outcome.arena);
	buf_init(&name, BYTES_MAX);
	buf_append(&name, STR("deep"));
	for (int i = 0; i < 32; i++)
		buf_append(&name, STR(".box"));
	buf_append(&name, STR(".n=1"));
	arguments_of(&outcome, (const char *const[]){ buf_cstr(&name) }, 1, true);
	assert_int_equal(outcome.result, ERR_INVALID);
	assert_non_null(strstr(outcome.err.message, "names more than 32 objects within each other"));
	arena_release(&outcome.arena);
	buf_release(&name);
}

static void test_json_is_taken_as_such(void **state)
{
	(void)state;
	EXPECT("{\"text\":12}", "text:=12");
	EXPECT("{\"text\":{\"a\":1}}", "text:= {\"a\":1} ");
	EXPECT("{\"n\":\"12\"}", "n:=\"12\"");
	/* What a program in JavaScript gives of a string that was cut within a surrogate pair. */
	EXPECT("{\"text\":\"\\ufffd\"}", "text:=\"\\ud83d\"");
	EXPECT("{\"a:b\":1}", "a:b=1");
	expect_refused("text=caf\xe9", "\"text=caf\\xe9\" is not UTF-8, so no tool can be given it");
	expect_refused("text:=nope", "text:= is not followed by JSON: line 1, column 1: expected a value");
}

static void test_everything_at_once(void **state)
{
	(void)state;
	EXPECT("{\"text\": 1}", " {\"text\": 1} ");
	EXPECT("{}", "{}");
	EXPECT("{\"\\ufffd\":1}", "{\"\\udc00\":1}");
	expect_refused("{\"text\": }", "the arguments: not valid JSON: line 1, column 10: expected a value");
	expect_words(NULL, 0, true, "{}");
}

static void test_files(void **state)
{
	const struct file_write_options options = { .mode = 0600 };
	char path[] = "/tmp/mcpx-tool-arguments-XXXXXX", whole[64], part[64];
	const char *word;
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, STR("{\"n\": 1}\n"), &options, NULL), 0);
	snprintf(whole, sizeof(whole), "@%s", path);
	snprintf(part, sizeof(part), "object:=@%s", path);
	word = whole;
	expect_words(&word, 1, true, "{\"n\": 1}");
	word = part;
	expect_words(&word, 1, true, "{\"object\":{\"n\": 1}}");
	assert_int_equal(file_write(path, STR("[1]"), &options, NULL), 0);
	{
		struct outcome outcome;
		char expected[128];

		word = whole;
		arguments_of(&outcome, &word, 1, true);
		assert_int_equal(outcome.result, ERR_INVALID);
		snprintf(expected, sizeof(expected), "%s: the arguments of a tool are a JSON object", path);
		assert_string_equal(outcome.err.message, expected);
		arena_release(&outcome.arena);
	}
	assert_int_equal(file_write(path, STR("[1"), &options, NULL), 0);
	{
		char expected[128];

		snprintf(expected, sizeof(expected),
			 "object:=@%s: the file is not JSON: line 1, column 3: the text ends, expected",
			 path);
		expect_refused_with(part, expected);
	}
	assert_int_equal(unlink(path), 0);
}

static void test_mistakes(void **state)
{
	(void)state;
	expect_refused("@", "@ is not followed by the name of a file");
	expect_refused("n:=@", "@ is not followed by the name of a file");
	expect_refused("n=many", "n must be a whole number, and is \"many\"; n:=JSON would send any value");
	expect_refused("n=1.5", "n must be a whole number, and is \"1.5\"; n:=JSON would send any value");
	expect_refused("yes=1", "yes must be true or false, and is \"1\"; yes:=JSON would send any value");
	expect_refused("object=[1]",
		       "object must be a JSON object, and is \"[1]\"; object:=JSON would send any value");
	expect_refused("numbers=one",
		       "numbers must be a number, and is \"one\"; numbers:=JSON would send any value");
	expect_refused(
		"word",
		"\"word\" is no argument: write name=value, name:=JSON, or all arguments as one JSON object");
	expect_refused(
		"=x",
		"\"=x\" is no argument: write name=value, name:=JSON, or all arguments as one JSON object");
	expect_refused(
		":=1",
		"\":=1\" is no argument: write name=value, name:=JSON, or all arguments as one JSON object");
}

static bool needs_schema(const char *word)
{
	return tool_words_need_schema(&(struct tool_words){ &word, 1 });
}

static void test_when_the_schema_is_needed(void **state)
{
	(void)state;
	assert_true(needs_schema("n=1"));
	assert_false(needs_schema("n:=1"));
	assert_true(needs_schema("deep.n:=1"));
	assert_false(needs_schema("-"));
	assert_false(needs_schema("@file=1"));
	assert_false(needs_schema("{\"a\":\"b=c\"}"));
	assert_false(tool_words_need_schema(&(struct tool_words){ NULL, 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_schema_decides),
		cmocka_unit_test(test_without_a_schema_json_is_json),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_members_of_objects),
		cmocka_unit_test(test_members_that_cannot_be),
		cmocka_unit_test(test_json_is_taken_as_such),
		cmocka_unit_test(test_everything_at_once),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_when_the_schema_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

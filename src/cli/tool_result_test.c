#include "base/base.h"
#include "cli/tool_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/progress.h"

enum { OUT_MAX = 100000 };

static void expect_result(bool is_terminal, const char *result, const char *expected)
{
	const struct terminal terminal = { .fd = -1, .is_terminal = is_terminal };
	struct json_doc doc = { 0 };
	struct buf out;

	assert_int_equal(json_parse(&doc, str_of(result), NULL, NULL), 0);
	buf_init(&out, OUT_MAX);
	tool_result_text(&terminal, json_root(&doc), &out);
	assert_string_equal(buf_cstr(&out), expected);
	buf_release(&out);
	json_release(&doc);
}

static void test_text(void **state)
{
	(void)state;
	expect_result(false, "{\"content\":[]}", "");
	expect_result(false, "{}", "");
	expect_result(
		false,
		"{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":\"two\\n\"}]}",
		"one\ntwo\n");
	/* A pipe gets what there is; a terminal nothing that it would obey. */
	expect_result(false, "{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[2J\"}]}", "\033[2J\n");
	expect_result(true, "{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[2J\"}]}",
		      "\xef\xbf\xbd[2J\n");
}

static void test_media_is_named_and_measured(void **state)
{
	(void)state;
	expect_result(false,
		      "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAECAw==\"}]}",
		      "[image: image/png, 4 B]\n");
	expect_result(false,
		      "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAEC\"}]}",
		      "[audio: audio/wav, 3 B]\n");
	expect_result(
		false,
		"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x://y\",\"mimeType\":\"a/b\",\"blob\":\"AA==\"}}]}",
		"[resource: x://y, a/b, 1 B]\n");
	expect_result(
		false,
		"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x://y\",\"text\":\"inside\"}}]}",
		"inside\n");
	expect_result(false, "{\"content\":[{\"type\":\"image\",\"data\":7}]}", "[image, 0 B]\n");
	expect_result(false, "{\"content\":[{\"type\":\"hologram\"}]}",
		      "[content of the unknown type hologram; --raw shows it]\n");
}

static void test_links(void **state)
{
	(void)state;
	expect_result(
		false,
		"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"mcpx://artifacts/a\",\"name\":\"p.png\",\"mimeType\":\"image/png\",\"size\":2048}]}",
		"p.png (image/png, 2.00 KiB): mcpx://artifacts/a\n");
	expect_result(false,
		      "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///x\",\"name\":\"a\\nb\"}]}",
		      "a b: file:///x\n");
}

static void test_structure_stands_in_for_missing_content(void **state)
{
	(void)state;
	expect_result(false, "{\"structuredContent\":{\"a\":1}}", "{\n  \"a\": 1\n}\n");
	expect_result(
		false,
		"{\"content\":[{\"type\":\"text\",\"text\":\"a is 1\"}],\"structuredContent\":{\"a\":1}}",
		"a is 1\n");
}

/* -- progress -------------------------------------------------------------------------------------------- */

static void expect_progress(const char *params, size_t width, const char *expected)
{
	struct json_doc doc = { 0 };
	struct buf out;

	assert_int_equal(json_parse(&doc, str_of(params), NULL, NULL), 0);
	buf_init(&out, OUT_MAX);
	progress_line(&out, json_root(&doc), width);
	assert_string_equal(buf_cstr(&out), expected);
	buf_release(&out);
	json_release(&doc);
}

static void test_progress(void **state)
{
	(void)state;
	expect_progress("{\"progress\":0,\"total\":4}", 80, "[                        ]   0%");
	expect_progress("{\"progress\":2,\"total\":4,\"message\":\"half\\nway\"}", 80,
			"[############            ]  50%  half way");
	expect_progress("{\"progress\":9,\"total\":4}", 80, "[########################] 100%");
	expect_progress("{\"progress\":-1,\"total\":4}", 80, "[                        ]   0%");
	expect_progress("{\"progress\":7.5}", 80, "progress 7.5");
	expect_progress("{\"progress\":1,\"total\":0}", 80, "progress 1");
	/* The last column stays free. */
	expect_progress("{\"progress\":2,\"total\":4,\"message\":\"a long story\"}", 40,
			"[############            ]  50%  a long");
	expect_progress("{\"progress\":1,\"message\":\"\\u001b[31mred\"}", 0,
			"progress 1  \xef\xbf\xbd[31mred");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_media_is_named_and_measured),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_structure_stands_in_for_missing_content),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

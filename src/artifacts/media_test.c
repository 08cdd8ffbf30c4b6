#include "base/base.h"
#include "artifacts/media.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Finding and replacing, without a store. */

enum { BLOCKS_MAX = 8 };

static const struct artifact LINKED = {
	.uri = STR_INIT("mcpx://artifacts/art-0"),
	.name = STR_INIT("n.png"),
	.mime = STR_INIT("image/png"),
	.size = 3,
};
#define LINK_MEMBERS                                                                                         \
	"{\"type\":\"resource_link\",\"uri\":\"mcpx://artifacts/art-0\",\"name\":\"n.png\","                 \
	"\"mimeType\":\"image/png\",\"size\":3"
#define LINK LINK_MEMBERS "}"
#define IMAGE "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}"

/* Replaces every block that is found. */
static void assert_replaced(const char *value, const char *expected)
{
	const struct artifact *links[BLOCKS_MAX];
	struct media_block blocks[BLOCKS_MAX];
	struct arena arena;
	struct buf out;
	size_t count;

	arena_init(&arena, 0);
	buf_init(&out, 65536);
	count = media_find(str_of(value), &arena, blocks, BLOCKS_MAX);
	for (size_t i = 0; i < count; i++)
		links[i] = &LINKED;
	assert_int_equal(media_replace(str_of(value), blocks, links, count, &out), 0);
	assert_string_equal(buf_cstr(&out), expected);
	buf_release(&out);
	arena_release(&arena);
}

static void assert_kept(const char *value)
{
	assert_replaced(value, value);
}

static void test_blocks_at_any_depth(void **state)
{
	(void)state;
	assert_replaced(IMAGE, LINK);
	assert_replaced("[" IMAGE "," IMAGE "]", "[" LINK "," LINK "]");
	assert_replaced("{\"content\":[{\"type\":\"text\",\"text\":\"a\"}," IMAGE "],\"isError\":false}",
			"{\"content\":[{\"type\":\"text\",\"text\":\"a\"}," LINK "],\"isError\":false}");
	assert_replaced("{\"a\":[[{\"b\":" IMAGE "}]]}", "{\"a\":[[{\"b\":" LINK "}]]}");
	assert_replaced("{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"QUJD\"}", LINK);
	assert_replaced(
		"{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a/b.pdf\",\"blob\":\"QUJD\"}}", LINK);
}

static void test_everything_else_stays_byte_for_byte(void **state)
{
	(void)state;
	assert_replaced(" {\"n\" : 12345678901234567890.000 ,\r\n\t\"s\":\"\\u00e9\\/\\\"\" , \"i\" :\n" IMAGE
			" , \"e\":1E+2,\"d\":1,\"d\":2 } ",
			" {\"n\" : 12345678901234567890.000 ,\r\n\t\"s\":\"\\u00e9\\/\\\"\" , \"i\" :\n" LINK
			" , \"e\":1E+2,\"d\":1,\"d\":2 } ");
}

static void test_annotations_and_meta_are_kept(void **state)
{
	(void)state;
	assert_replaced("{\"_meta\": {\"a\" : 1.0}, \"type\":\"image\",\"annotations\":{\"priority\":0.50},"
			"\"data\":\"QUJD\",\"mimeType\":\"image/png\",\"other\":true}",
			LINK_MEMBERS ",\"annotations\":{\"priority\":0.50},\"_meta\":{\"a\" : 1.0}}");
}

static void test_what_is_no_block(void **state)
{
	static const char *const values[] = {
		"null",
		"\"image\"",
		"[]",
		"{\"type\":\"text\",\"text\":\"\\\"image\\\"\"}",
		"{\"type\":\"image\",\"data\":\"QUJD\"}",
		"{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"image/png\"}",
		"{\"type\":\"image\",\"data\":5,\"mimeType\":\"image/png\"}",
		"{\"type\":\"image\",\"data\":[\"QUJD\"],\"mimeType\":\"image/png\"}",
		"{\"type\":[\"image\"],\"data\":\"QUJD\",\"mimeType\":\"image/png\"}",
		"{\"x\":{\"type\":\"image\"},\"data\":\"QUJD\",\"mimeType\":\"image/png\"}",
		"{\"type\":\"image\",\"x\":{\"data\":\"QUJD\"},\"mimeType\":\"image/png\"}",
		"{\"type\":\"image\",\"type\":\"text\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}",
		"{\"type\":\"resource_link\",\"uri\":\"a\",\"mimeType\":\"image/png\",\"name\":\"\\\"image\\\"\"}",
		"{\"type\":\"resource\",\"resource\":{\"uri\":\"a\",\"text\":\"\\\"blob\\\"\"}}",
		"{\"type\":\"resource\",\"resource\":{\"blob\":\"QUJD\"}}",
		"{\"type\":\"resource\",\"uri\":\"a\",\"blob\":\"QUJD\"}",
		"{\"type\":\"resource\",\"resource\":[{\"uri\":\"a\",\"blob\":\"QUJD\"}]}",
		"{\"type\":\"resource\",\"resource\":{\"uri\":\"a\",\"blob\":\"QUJD\"},\"resource\":\"x\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_kept(values[i]);
}

static void test_block_inside_a_block_goes_with_it(void **state)
{
	(void)state;
	assert_replaced("[" IMAGE ",{\"type\":\"image\",\"x\":[" IMAGE
			"],\"data\":\"QUJD\",\"mimeType\":\"image/png\"}]",
			"[" LINK "," LINK "]");
}

static void test_parts_of_a_block(void **state)
{
	static const char value[] =
		"[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a/b%20c.pdf?x=/1#y\",\"mimeType\":"
		"\"application/pdf\",\"blob\":\"Q\\/JD\"}},"
		"{\"\\u0074ype\":\"im\\u0061ge\",\"data\":\"QUJD\",\"mimeType\":\"image\\/png\"}]";
	struct media_block blocks[BLOCKS_MAX];
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(media_find(str_of(value), &arena, blocks, BLOCKS_MAX), 2);
	assert_true(str_eq(blocks[0].data, STR("Q/JD")));
	assert_true(str_eq(blocks[0].mime, STR("application/pdf")));
	assert_true(str_eq(blocks[0].name, STR("b%20c.pdf")));
	assert_true(str_eq(blocks[1].data, STR("QUJD")));
	assert_true(str_eq(blocks[1].mime, STR("image/png")));
	assert_true(str_eq(blocks[1].name, STR("image")));
	arena_release(&arena);
}

static void test_no_more_than_the_maximum(void **state)
{
	static const char value[] = "[" IMAGE "," IMAGE "," IMAGE "]";
	const struct artifact *links[] = { &LINKED, NULL };
	struct media_block blocks[2];
	struct arena arena;
	struct buf out;

	(void)state;
	arena_init(&arena, 0);
	buf_init(&out, 1024);
	assert_int_equal(media_find(str_of(value), &arena, blocks, 0), 0);
	assert_int_equal(media_find(str_of(value), &arena, blocks, 2), 2);
	assert_int_equal(media_replace(str_of(value), blocks, links, 2, &out), 0);
	assert_string_equal(buf_cstr(&out), "[" LINK "," IMAGE "," IMAGE "]");
	buf_release(&out);
	buf_init(&out, 20);
	assert_int_equal(media_replace(str_of(value), blocks, links, 2, &out), ERR_TOO_LARGE);
	buf_release(&out);
	arena_release(&arena);
}

/* Deeper than any text that was parsed. */
static void test_too_deep(void **state)
{
	char value[2 * (JSON_DEPTH_MAX + 1) + sizeof(IMAGE)];
	struct media_block block;
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	memset(value, '[', JSON_DEPTH_MAX + 1);
	memcpy(value + JSON_DEPTH_MAX + 1, IMAGE, sizeof(IMAGE) - 1);
	memset(value + JSON_DEPTH_MAX + sizeof(IMAGE), ']', JSON_DEPTH_MAX + 1);
	assert_int_equal(media_find(str_make(value, sizeof(value) - 1), &arena, &block, 1), 0);
	assert_int_equal(media_find(str_make(value + 2, sizeof(value) - 4), &arena, &block, 1), 1);
	arena_release(&arena);
}

/* Text that is cut anywhere is no JSON; nothing outside it is read (the sanitizers look on). */
static void test_text_that_is_cut(void **state)
{
	static const char value[] =
		"{\"content\":[" IMAGE ",{\"\\u0074ype\":\"resource\",\"resource\":{\"uri\":\"a\\\\\","
		"\"blob\":\"QUJD\"}}],\"n\":-1.5e3,\"t\":true}";
	struct media_block blocks[BLOCKS_MAX];
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	for (size_t n = 0; n < sizeof(value); n++) {
		char *cut = memcpy(xmalloc(n), value, n);

		assert_in_range(media_find(str_make(cut, n), &arena, blocks, BLOCKS_MAX), 0, 2);
		free(cut);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_at_any_depth),
		cmocka_unit_test(test_everything_else_stays_byte_for_byte),
		cmocka_unit_test(test_annotations_and_meta_are_kept),
		cmocka_unit_test(test_what_is_no_block),
		cmocka_unit_test(test_block_inside_a_block_goes_with_it),
		cmocka_unit_test(test_parts_of_a_block),
		cmocka_unit_test(test_no_more_than_the_maximum),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_text_that_is_cut),
	};

	return cmocka_run_group_tests_name("media", tests, NULL, NULL);
}

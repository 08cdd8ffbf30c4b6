#include "base/base.h"
#include "artifacts/media.h"
#include "artifacts/store_loop_fixture.h"

/* Storing the media of a value, on a real loop with a real store. */

/* What the last interception was told. */
static struct {
	struct media_intercept intercept;
	struct str value;
	struct str names;
	size_t stored;
	struct err err;
	bool over;
} told;

static void intercepted(struct media_intercept *intercept, struct str value, const struct artifact *artifacts,
			size_t count, const struct err *err)
{
	struct fixture *f = fixture;

	assert_ptr_equal(intercept, &told.intercept);
	assert_false(told.over);
	told.over = true;
	told.value = arena_copy(&f->arena, value);
	told.stored = count;
	told.names = STR("");
	for (size_t i = 0; i < count; i++) {
		struct str line =
			arena_printf(&f->arena, "%.*s %.*s %zu %.*s %.*s;", STR_ARG(artifacts[i].name),
				     STR_ARG(artifacts[i].mime), (size_t)artifacts[i].size,
				     STR_ARG(artifacts[i].run), STR_ARG(artifacts[i].session));

		assert_true(str_find(value, artifacts[i].uri) != STR_NONE);
		told.names = arena_concat(&f->arena, told.names, line, STR(""));
	}
	told.err = err ? *err : (struct err){ 0 };
	loop_stop(f->loop);
}

static void intercept(struct fixture *f, const char *value, size_t blocks_max)
{
	told.over = false;
	media_intercept_start(&told.intercept, f->store, f->loop, str_of(value), STR("r"), STR("s"),
			      blocks_max, intercepted);
	assert_false(told.over);
	loop_run(f->loop);
	assert_true(told.over);
}

#define PNG "iVBORw0KGgo="

static void test_media_becomes_links(void **state)
{
	struct fixture *f = *state;
	struct artifact_usage usage;

	intercept(
		f,
		"{\"shots\":[{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"},"
		"{\"type\":\"audio\",\"data\":\"QUJD\",\"mimeType\":\"audio/wav\"},"
		"{\"type\":\"resource\",\"resource\":{\"uri\":\"x:/dir/report\",\"mimeType\":\"application/pdf\","
		"\"blob\":\"QUJD\"}}],\"total\":1.50}",
		10);
	assert_int_equal(told.err.code, 0);
	assert_str(told.names,
		   "image.png image/png 8 r s;audio.wav audio/wav 3 r s;report.pdf application/pdf 3 r s;");
	assert_true(str_starts_with(
		told.value, STR("{\"shots\":[{\"type\":\"resource_link\",\"uri\":\"mcpx://artifacts/art-")));
	assert_true(str_ends_with(told.value, STR("}],\"total\":1.50}")));
	assert_int_equal(str_find(told.value, STR("QUJD")), STR_NONE);
	artifact_store_usage(f->store, &usage);
	assert_int_equal(usage.artifacts, 3);
	assert_int_equal(usage.bytes, 11);
}

static void test_value_without_media(void **state)
{
	struct fixture *f = *state;

	intercept(f, "{\"a\":[1,2]}", 10);
	assert_str(told.value, "{\"a\":[1,2]}");
	assert_int_equal(told.stored, 0);
	intercept(f, "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}", 0);
	assert_int_equal(told.stored, 0);
}

/* What cannot be stored stays where it was, and the rest is stored all the same. */
static void test_media_that_cannot_be_stored(void **state)
{
	struct fixture *f = *state;

	intercept(f,
		  "[{\"type\":\"image\",\"data\":\"not base64\",\"mimeType\":\"image/png\"},"
		  "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"no type\"}]",
		  10);
	assert_int_equal(told.err.code, ERR_INVALID);
	assert_contains(told.err.message, "the artifact's base64 text");
	assert_str(told.names, "image text/plain 3 r s;");
	assert_true(str_starts_with(
		told.value, STR("[{\"type\":\"image\",\"data\":\"not base64\",\"mimeType\":\"image/png\"},"
				"{\"type\":\"resource_link\"")));
}

static void test_full_store_leaves_the_value_alone(void **state)
{
	static const char value[] = "[{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}]";
	struct fixture *f = *state;

	close_store(f);
	f->limits.quota = 2;
	open_store(f);
	intercept(f, value, 10);
	assert_int_equal(told.err.code, ERR_TOO_LARGE);
	assert_str(told.value, value);
}

static void test_cancel(void **state)
{
	struct fixture *f = *state;
	struct disk disk;

	told.over = false;
	media_intercept_cancel(&told.intercept);
	media_intercept_start(&told.intercept, f->store, f->loop,
			      STR("{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}"),
			      STR(""), STR(""), 10, intercepted);
	media_intercept_cancel(&told.intercept);
	media_intercept_cancel(&told.intercept);
	close_store(f);
	assert_false(told.over);
	disk = survey(f->path);
	assert_int_equal(disk.blobs, 0);
	open_store(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_media_becomes_links),
		TEST(test_value_without_media),
		TEST(test_media_that_cannot_be_stored),
		TEST(test_full_store_leaves_the_value_alone),
		TEST(test_cancel),
	};

	return cmocka_run_group_tests_name("media_intercept", tests, NULL, NULL);
}

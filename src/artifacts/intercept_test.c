#include "base/base.h"
#include "artifacts/media.h"
#include "artifacts/store_fixture.h"

/* Storing the media of a value, on a real loop with a real store. */

struct fixture {
	struct test_directory directory;
	const char *path;
	struct artifact_limits limits;
	struct loop *loop;
	struct artifact_store *store;
	struct media_intercept intercept;
	struct arena arena;
	struct str value;
	struct str names;
	size_t stored;
	struct err err;
	bool over;
};

static void open_store(struct fixture *f)
{
	assert_int_equal(artifact_store_open(&f->store, f->loop, f->path, &f->limits, &f->err), 0);
}

static void stop_loop(void *context)
{
	loop_stop(context);
}

static void close_store(struct fixture *f)
{
	artifact_store_close(&f->store, stop_loop, f->loop);
	loop_run(f->loop);
}

static int set_up(void **state)
{
	struct fixture *f = xnew(struct fixture);

	test_directory_make(&f->directory);
	f->path = strdup(test_directory_path(&f->directory, "artifacts"));
	f->limits = TEST_LIMITS;
	arena_init(&f->arena, 0);
	assert_int_equal(loop_new(&f->loop, &f->err), 0);
	open_store(f);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close_store(f);
	loop_free(&f->loop);
	arena_release(&f->arena);
	test_directory_remove(&f->directory);
	free((void *)f->path);
	free(f);
	return 0;
}

static void intercepted(struct media_intercept *intercept, struct str value, const struct artifact *artifacts,
			size_t count, const struct err *err)
{
	struct fixture *f = container_of(intercept, struct fixture, intercept);

	assert_false(f->over);
	f->over = true;
	f->value = arena_copy(&f->arena, value);
	f->stored = count;
	f->names = STR("");
	for (size_t i = 0; i < count; i++) {
		struct str line =
			arena_printf(&f->arena, "%.*s %.*s %zu %.*s %.*s;", STR_ARG(artifacts[i].name),
				     STR_ARG(artifacts[i].mime), (size_t)artifacts[i].size,
				     STR_ARG(artifacts[i].run), STR_ARG(artifacts[i].session));

		assert_true(str_find(value, artifacts[i].uri) != STR_NONE);
		f->names = arena_concat(&f->arena, f->names, line, STR(""));
	}
	f->err = err ? *err : (struct err){ 0 };
	loop_stop(f->loop);
}

static void intercept(struct fixture *f, const char *value, size_t blocks_max)
{
	f->over = false;
	media_intercept_start(&f->intercept, f->store, f->loop, str_of(value), STR("r"), STR("s"), blocks_max,
			      intercepted);
	assert_false(f->over);
	loop_run(f->loop);
	assert_true(f->over);
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
	assert_int_equal(f->err.code, 0);
	assert_str(f->names,
		   "image.png image/png 8 r s;audio.wav audio/wav 3 r s;report.pdf application/pdf 3 r s;");
	assert_true(str_starts_with(
		f->value, STR("{\"shots\":[{\"type\":\"resource_link\",\"uri\":\"mcpx://artifacts/art-")));
	assert_true(str_ends_with(f->value, STR("}],\"total\":1.50}")));
	assert_int_equal(str_find(f->value, STR("QUJD")), STR_NONE);
	artifact_store_usage(f->store, &usage);
	assert_int_equal(usage.artifacts, 3);
	assert_int_equal(usage.bytes, 11);
}

static void test_value_without_media(void **state)
{
	struct fixture *f = *state;

	intercept(f, "{\"a\":[1,2]}", 10);
	assert_str(f->value, "{\"a\":[1,2]}");
	assert_int_equal(f->stored, 0);
	intercept(f, "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}", 0);
	assert_int_equal(f->stored, 0);
}

/* What cannot be stored stays where it was, and the rest is stored all the same. */
static void test_media_that_cannot_be_stored(void **state)
{
	struct fixture *f = *state;

	intercept(f,
		  "[{\"type\":\"image\",\"data\":\"not base64\",\"mimeType\":\"image/png\"},"
		  "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"no type\"}]",
		  10);
	assert_int_equal(f->err.code, ERR_INVALID);
	assert_contains(f->err.message, "the artifact's base64 text");
	assert_str(f->names, "image text/plain 3 r s;");
	assert_true(str_starts_with(
		f->value, STR("[{\"type\":\"image\",\"data\":\"not base64\",\"mimeType\":\"image/png\"},"
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
	assert_int_equal(f->err.code, ERR_TOO_LARGE);
	assert_str(f->value, value);
}

static void test_cancel(void **state)
{
	struct fixture *f = *state;
	struct disk disk;

	media_intercept_cancel(&f->intercept);
	media_intercept_start(&f->intercept, f->store, f->loop,
			      STR("{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}"),
			      STR(""), STR(""), 10, intercepted);
	media_intercept_cancel(&f->intercept);
	media_intercept_cancel(&f->intercept);
	close_store(f);
	assert_false(f->over);
	disk = survey(f->path);
	assert_int_equal(disk.blobs, 0);
	open_store(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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

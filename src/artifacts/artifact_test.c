#include "base/base.h"
#include "artifacts/artifact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define ID "art-0123456789abcdef0123456789abcdef"

static const struct artifact FULL = {
	.id = STR_INIT(ID),
	.name = STR_INIT("shot.png"),
	.mime = STR_INIT("image/png"),
	.sha256 = STR_INIT("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
	.uri = STR_INIT(ARTIFACT_URI_PREFIX ID),
	.run = STR_INIT("run-1"),
	.session = STR_INIT("s\"1"),
	.size = 5,
	.created_ms = 1785229687123,
	.expires_ms = 1785316087000,
};

static void assert_written(void (*write)(struct json_writer *, const struct artifact *),
			   const struct artifact *artifact, const char *expected)
{
	struct buf out;
	struct json_writer w;

	buf_init(&out, 4096);
	json_writer_init(&w, &out, false);
	write(&w, artifact);
	assert_string_equal(buf_cstr(&out), expected);
	buf_release(&out);
}

static void test_metadata(void **state)
{
	struct artifact sparse = FULL;

	(void)state;
	assert_written(artifact_write, &FULL,
		       "{\"id\":\"" ID "\",\"name\":\"shot.png\",\"mime\":\"image/png\",\"size\":5,"
		       "\"sha256\":\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\","
		       "\"uri\":\"mcpx://artifacts/" ID "\",\"run\":\"run-1\",\"session\":\"s\\\"1\","
		       "\"created\":\"2026-07-28T09:08:07.123Z\",\"expires\":\"2026-07-29T09:08:07.000Z\"}");
	sparse.run = sparse.session = STR("");
	sparse.expires_ms = 0;
	assert_written(artifact_write, &sparse,
		       "{\"id\":\"" ID "\",\"name\":\"shot.png\",\"mime\":\"image/png\",\"size\":5,"
		       "\"sha256\":\"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\","
		       "\"uri\":\"mcpx://artifacts/" ID "\",\"created\":\"2026-07-28T09:08:07.123Z\"}");
}

static void test_link(void **state)
{
	(void)state;
	assert_written(artifact_write_link, &FULL,
		       "{\"type\":\"resource_link\",\"uri\":\"mcpx://artifacts/" ID
		       "\",\"name\":\"shot.png\",\"mimeType\":\"image/png\",\"size\":5}");
}

static void test_ids(void **state)
{
	static const char *const wrong[] = {
		"",
		"art-",
		"art-0123",
		"ART-0123456789abcdef0123456789abcdef",
		"art-0123456789ABCDEF0123456789abcdef",
		ID "0",
		"art-0123456789abcdef0123456789abcdeg",
		"../0123456789abcdef0123456789abcdefg",
	};

	(void)state;
	assert_true(artifact_id_valid(STR(ID)));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(artifact_id_valid(str_of(wrong[i])));
}

static void test_uris(void **state)
{
	static const char *const wrong[] = {
		"", "mcpx://artifacts/", "mcpx://artifacts/" ID "/x", "mcpx://files/" ID, ID, "file:///" ID,
	};

	(void)state;
	assert_true(str_eq(artifact_id_of_uri(STR("mcpx://artifacts/" ID)), STR(ID)));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_null(artifact_id_of_uri(str_of(wrong[i])).p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_uris),
	};

	return cmocka_run_group_tests_name("artifact", tests, NULL, NULL);
}

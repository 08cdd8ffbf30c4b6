#include "base/base.h"
#include "artifacts/store_loop_fixture.h"

/* Asking the store, on a real loop. */

static void test_get_without_body(void **state)
{
	struct fixture *f = *state;
	struct artifact artifact = put_bytes(f, "a", STR("hello"));
	struct got got = { 0 };

	f->waiting++;
	artifact_get_start(&got.get, f->store, artifact.id, false, got_done);
	run_until_ended(f);
	assert_int_equal(got.artifact.size, 5);
	assert_null(got.bytes.p);
}

static void test_unknown_ids(void **state)
{
	struct fixture *f = *state;

	put_bytes(f, "a", STR("hello"));
	assert_gone(f, STR("art-00000000000000000000000000000000"));
	assert_gone(f, STR(""));
	assert_gone(f, STR("' OR 1=1 --"));
	assert_int_equal(delete_one(f, STR("art-00000000000000000000000000000000")), ERR_NOT_FOUND);
}

static void test_body_outlives_its_deletion(void **state)
{
	struct fixture *f = *state;
	struct artifact artifact = put_bytes(f, "a", STR("hello"));
	struct got got = { 0 };
	struct deleted deleted = { 0 };

	/* Both are under way at once; the body was open before it was removed. */
	f->waiting += 2;
	artifact_get_start(&got.get, f->store, artifact.id, true, got_done);
	artifact_delete_start(&deleted.delete, f->store, artifact.id, delete_done);
	run_until_ended(f);
	assert_int_equal(deleted.err.code, 0);
	assert_true(str_eq(got.bytes, STR("hello")));
	assert_gone(f, artifact.id);
	assert_usage(f, 0, 0, 0);
}

struct listed {
	struct artifact_list list;
	struct err err;
	size_t count;
	char names[64];
};

static void listed_done(struct artifact_list *list, const struct artifact *artifacts, size_t count,
			const struct err *err)
{
	struct listed *listed = container_of(list, struct listed, list);

	assert_null(err);
	listed->count = count;
	for (size_t i = 0; i < count; i++)
		snprintf(listed->names + strlen(listed->names), sizeof(listed->names) - strlen(listed->names),
			 "%.*s ", STR_ARG(artifacts[i].name));
	ended();
}

static void assert_listed(struct fixture *f, const char *run, unsigned limit, const char *names)
{
	struct listed listed = { 0 };

	f->waiting++;
	artifact_list_start(&listed.list, f->store, str_of(run), STR(""), limit, listed_done);
	run_until_ended(f);
	assert_string_equal(listed.names, names);
}

static void test_list(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { .run = STR("r1") };
	struct put put;

	close_store(f);
	f->limits.list_limit = 3;
	open_store(f);
	spec.name = STR("a");
	put_start(f, &put, &spec, STR("x"));
	run_until_ended(f);
	put_bytes(f, "b", STR("x"));
	put_bytes(f, "c", STR("x"));
	put_bytes(f, "d", STR("x"));
	assert_listed(f, "", 0, "d c b ");
	assert_listed(f, "", 2, "d c ");
	assert_listed(f, "", 1000, "d c b ");
	assert_listed(f, "r1", 0, "a ");
	assert_listed(f, "r2", 0, "");
}

struct read_part {
	struct artifact_read read;
	struct str bytes;
	struct err err;
};

static void read_part_done(struct artifact_read *read, const struct artifact *artifact, struct str bytes,
			   const struct err *err)
{
	struct read_part *part = container_of(read, struct read_part, read);

	assert_true(!artifact == !!err);
	if (err)
		part->err = *err;
	part->bytes = keep_str(bytes);
	ended();
}

static struct read_part read_one(struct fixture *f, struct str id, uint64_t offset, size_t n, bool base64)
{
	struct read_part part = { 0 };

	f->waiting++;
	artifact_read_start(&part.read, f->store, id, offset, n, base64, read_part_done);
	run_until_ended(f);
	return part;
}

static void test_read(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;

	assert_str(read_one(f, id, 0, SIZE_MAX, false).bytes, "hello");
	assert_str(read_one(f, id, 1, 3, false).bytes, "ell");
	assert_str(read_one(f, id, 4, 3, false).bytes, "o");
	assert_str(read_one(f, id, 5, 3, false).bytes, "");
	assert_str(read_one(f, id, UINT64_MAX, 3, false).bytes, "");
	assert_str(read_one(f, id, 0, SIZE_MAX, true).bytes, "aGVsbG8=");
	assert_int_equal(read_one(f, STR("nonsense"), 0, 1, false).err.code, ERR_NOT_FOUND);
}

struct placed {
	struct artifact_place place;
	struct str path;
	struct err err;
};

static void placed_done(struct artifact_place *place, struct str path, const struct err *err)
{
	struct placed *placed = container_of(place, struct placed, place);

	if (err)
		placed->err = *err;
	placed->path = keep_str(path);
	ended();
}

/* Two runs place the same name at the same time: both files are there. */
static void test_place_at_once(void **state)
{
	struct fixture *f = *state;
	struct str a = put_bytes(f, "shot.png", STR("first")).id,
		   b = put_bytes(f, "shot.png", STR("second")).id;
	struct str directory = keep_str(str_of(test_directory_path(&f->directory, "out")));
	struct placed placed[2] = { 0 }, missing = { 0 };

	f->waiting += 3;
	artifact_place_start(&placed[0].place, f->store, a, directory, placed_done);
	artifact_place_start(&placed[1].place, f->store, b, directory, placed_done);
	artifact_place_start(&missing.place, f->store, STR("nonsense"), directory, placed_done);
	run_until_ended(f);
	assert_true(str_eq(read_whole_file(placed[0].path.p, &f->arena), STR("first")));
	assert_true(str_eq(read_whole_file(placed[1].path.p, &f->arena), STR("second")));
	assert_int_equal(missing.err.code, ERR_NOT_FOUND);
	assert_int_equal(access(test_directory_path(&f->directory, "out/shot.png"), F_OK), 0);
	assert_int_equal(access(test_directory_path(&f->directory, "out/shot-1.png"), F_OK), 0);
}

/* Cancelled questions end in silence, and the store closes when the last of their work is done. */
static void test_cancelled_questions(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;
	struct got got = { 0 };
	struct listed listed = { 0 };
	struct deleted deleted = { 0 };
	struct read_part part = { 0 };
	struct placed placed = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		artifact_get_start(&got.get, f->store, id, true, got_done);
		artifact_read_start(&part.read, f->store, id, 0, 10, false, read_part_done);
		artifact_list_start(&listed.list, f->store, STR(""), STR(""), 0, listed_done);
		artifact_place_start(&placed.place, f->store, id, str_of(f->directory.path), placed_done);
		artifact_get_cancel(&got.get);
		artifact_get_cancel(&got.get);
		artifact_read_cancel(&part.read);
		artifact_list_cancel(&listed.list);
		artifact_place_cancel(&placed.place);
	}
	assert_usage(f, 1, 1, 5);
	artifact_delete_start(&deleted.delete, f->store, id, delete_done);
	artifact_delete_cancel(&deleted.delete);
	close_store(f);
	open_store(f);
	assert_usage(f, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_get_without_body),
		TEST(test_unknown_ids),
		TEST(test_body_outlives_its_deletion),
		TEST(test_list),
		TEST(test_read),
		TEST(test_place_at_once),
		TEST(test_cancelled_questions),
	};

	return cmocka_run_group_tests_name("artifact_store", tests, NULL, NULL);
}

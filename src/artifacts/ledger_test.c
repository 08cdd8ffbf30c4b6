#include "base/base.h"
#include "artifacts/ledger.h"
#include "artifacts/store_fixture.h"
#include "artifacts/system_fixture.h"

/* The blocking half of the store: bodies and index together, without a loop. */

enum { NOW = 1000000 };

struct fixture {
	struct test_directory directory;
	const char *path;
	struct artifact_limits limits;
	struct ledger ledger;
	struct db *db;
	struct arena arena;
	struct err err;
	unsigned ids;
};

static void open_ledger(struct fixture *f)
{
	assert_int_equal(ledger_open(&f->ledger, f->path, &f->limits, &f->db, &f->err), 0);
}

static void close_ledger(struct fixture *f)
{
	db_close(&f->db);
	ledger_release(&f->ledger);
}

static int set_up(void **state)
{
	struct fixture *f = xnew(struct fixture);

	test_directory_make(&f->directory);
	f->path = strdup(test_directory_path(&f->directory, "artifacts"));
	f->limits = TEST_LIMITS;
	arena_init(&f->arena, 0);
	open_ledger(f);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	system_fixture_reset();
	close_ledger(f);
	arena_release(&f->arena);
	test_directory_remove(&f->directory);
	free((void *)f->path);
	free(f);
	return 0;
}

static struct str repeated(struct fixture *f, char c, size_t n)
{
	char *bytes = arena_alloc(&f->arena, n);

	memset(bytes, c, n);
	return str_make(bytes, n);
}

static void write_body(struct fixture *f, struct blob_writer *writer, struct str bytes)
{
	blob_writer_init(writer, &f->ledger.blobs);
	assert_int_equal(blob_writer_open(writer, &f->err), 0);
	assert_int_equal(blob_writer_add(writer, bytes, &f->err), 0);
	assert_int_equal(blob_writer_seal(writer, &f->err), 0);
}

/* Keeps `bytes`, with ids that count from 0. */
static int keep_until(struct fixture *f, struct str bytes, const char *run, const char *session,
		      uint64_t now_ms, uint64_t expires_ms, struct str *ret_id)
{
	_cleanup_blob_writer_ struct blob_writer writer = { 0 };
	struct artifact artifact = {
		.id = arena_printf(&f->arena, "art-%032u", f->ids++),
		.name = STR("body.bin"),
		.mime = STR("application/octet-stream"),
		.run = str_of(run),
		.session = str_of(session),
		.created_ms = now_ms,
		.expires_ms = expires_ms,
	};

	write_body(f, &writer, bytes);
	*ret_id = artifact.id;
	return ledger_keep(&f->ledger, f->db, &writer, &artifact, &f->arena, &f->err);
}

static struct str keep(struct fixture *f, struct str bytes)
{
	struct str id;

	assert_int_equal(keep_until(f, bytes, "", "", NOW, 0, &id), 0);
	return id;
}

static bool is_found(struct fixture *f, struct str id, uint64_t now_ms)
{
	struct artifact artifact;
	struct blob_hash hash;
	int r = index_find(f->db, id, now_ms, &f->arena, &artifact, &hash, &f->err);

	assert_true(r == 0 || r == ERR_NOT_FOUND);
	return r == 0;
}

static void assert_usage(struct fixture *f, uint64_t artifacts, uint64_t blobs, uint64_t bytes)
{
	struct artifact_usage usage = { 0 };
	struct disk disk = survey(f->path);

	assert_int_equal(index_usage(f->db, &usage, &f->err), 0);
	assert_int_equal(usage.artifacts, artifacts);
	assert_int_equal(usage.blobs, blobs);
	assert_int_equal(usage.bytes, bytes);
	assert_int_equal(disk.blobs, blobs);
	assert_int_equal(disk.bytes, bytes);
	assert_int_equal(disk.strangers, 0);
	assert_int_equal(disk.temporaries, 0);
}

static const char *body_path(struct fixture *f, struct str bytes)
{
	struct blob_hash hash = hash_of(bytes);
	struct str text = blob_hash_text(&hash, &f->arena);

	return arena_printf(&f->arena, "%s/blobs/%.2s/%s", f->path, text.p, text.p + 2).p;
}

/* -- keeping --------------------------------------------------------------------------------------------- */

static void test_keep_and_find(void **state)
{
	struct fixture *f = *state;
	struct artifact found;
	struct blob_hash hash;
	struct str id;
	int fd;
	char bytes[16] = { 0 };

	assert_int_equal(keep_until(f, STR("hello"), "run-1", "session-1", NOW, NOW + 5, &id), 0);
	assert_int_equal(index_find(f->db, id, NOW, &f->arena, &found, &hash, &f->err), 0);
	assert_str(found.id, "art-00000000000000000000000000000000");
	assert_str(found.uri, "mcpx://artifacts/art-00000000000000000000000000000000");
	assert_str(found.name, "body.bin");
	assert_str(found.mime, "application/octet-stream");
	assert_str(found.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
	assert_str(found.run, "run-1");
	assert_str(found.session, "session-1");
	assert_int_equal(found.size, 5);
	assert_int_equal(found.created_ms, NOW);
	assert_int_equal(found.expires_ms, NOW + 5);
	assert_int_equal(blob_open(&f->ledger.blobs, &hash, 5, &fd, &f->err), 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 5);
	assert_string_equal(bytes, "hello");
	close_fd(&fd);
	assert_usage(f, 1, 1, 5);
}

static void test_same_bytes_are_kept_once(void **state)
{
	struct fixture *f = *state;
	struct str a = keep(f, STR("same")), b = keep(f, STR("same")), c = keep(f, STR("other"));

	assert_usage(f, 3, 2, 9);
	assert_int_equal(ledger_delete(&f->ledger, f->db, a, NOW, &f->err), 0);
	assert_usage(f, 2, 2, 9);
	assert_true(is_found(f, b, NOW));
	assert_int_equal(ledger_delete(&f->ledger, f->db, b, NOW, &f->err), 0);
	assert_usage(f, 1, 1, 5);
	assert_false(is_found(f, b, NOW));
	assert_true(is_found(f, c, NOW));
}

static void test_empty_body(void **state)
{
	struct fixture *f = *state;

	assert_true(is_found(f, keep(f, STR("")), NOW));
	assert_usage(f, 1, 1, 0);
}

static void test_usage_survives_closing(void **state)
{
	struct fixture *f = *state;

	keep(f, STR("one"));
	keep(f, STR("three"));
	close_ledger(f);
	open_ledger(f);
	assert_usage(f, 2, 2, 8);
}

static void test_id_that_exists_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct str id;

	keep(f, STR("first"));
	f->ids = 0;
	assert_int_equal(keep_until(f, STR("second"), "", "", NOW, 0, &id), ERR_EXISTS);
	assert_contains(f->err.message, "UNIQUE constraint failed: artifacts.id");
	assert_usage(f, 1, 1, 5);
}

/* Bodies that something else removed come back with the next upload of the same bytes. */
static void test_missing_body_is_mended(void **state)
{
	struct fixture *f = *state;

	keep(f, STR("precious"));
	assert_int_equal(unlink(body_path(f, STR("precious"))), 0);
	keep(f, STR("precious"));
	assert_usage(f, 2, 1, 8);
}

/* -- the quota ------------------------------------------------------------------------------------------- */

static void test_quota_is_exact(void **state)
{
	struct fixture *f = *state;
	struct str id;

	close_ledger(f);
	f->limits.quota = 100;
	open_ledger(f);
	keep(f, repeated(f, 'a', 60));
	keep(f, repeated(f, 'a', 60));
	keep(f, repeated(f, 'b', 40));
	assert_usage(f, 3, 2, 100);
	keep(f, repeated(f, 'b', 40));
	keep(f, STR(""));
	assert_int_equal(keep_until(f, STR("c"), "", "", NOW, 0, &id), ERR_TOO_LARGE);
	assert_string_equal(f->err.message,
			    "the artifact store holds 100 B of artifacts.quota (100B), and 1 B more "
			    "would pass it; delete artifacts, or raise the quota");
	assert_usage(f, 5, 3, 100);
}

static void test_quota_that_was_lowered(void **state)
{
	struct fixture *f = *state;
	struct str id;

	keep(f, repeated(f, 'a', 60));
	close_ledger(f);
	f->limits.quota = 50;
	open_ledger(f);
	assert_int_equal(keep_until(f, STR("c"), "", "", NOW, 0, &id), ERR_TOO_LARGE);
	assert_int_equal(keep_until(f, STR(""), "", "", NOW, 0, &id), ERR_TOO_LARGE);
	keep(f, repeated(f, 'a', 60));
	assert_usage(f, 2, 1, 60);
}

/* Small ones, and the same one again, cost a handle each. */
static void test_their_number_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct str id;

	close_ledger(f);
	f->limits.count_max = 2;
	open_ledger(f);
	assert_int_equal(keep_until(f, STR(""), "", "", NOW, NOW + 10, &id), 0);
	keep(f, STR("a"));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(keep_until(f, i ? STR("a") : STR("b"), "", "", NOW, 0, &id), ERR_TOO_LARGE);
		assert_string_equal(f->err.message,
				    "the artifact store has 2 artifacts, and artifacts.maxCount is 2; "
				    "delete artifacts, or raise the limit");
		assert_usage(f, 2, 2, 1);
	}
	/* What has expired makes room. */
	f->err.code = 0;
	assert_int_equal(keep_until(f, STR("b"), "", "", NOW + 10, 0, &id), 0);
	assert_usage(f, 2, 2, 2);
}

static void test_expired_artifacts_make_room(void **state)
{
	struct fixture *f = *state;
	struct str old, id;

	close_ledger(f);
	f->limits.quota = 100;
	open_ledger(f);
	assert_int_equal(keep_until(f, repeated(f, 'a', 60), "", "", NOW, NOW + 10, &old), 0);
	assert_int_equal(keep_until(f, repeated(f, 'b', 60), "", "", NOW + 9, 0, &id), ERR_TOO_LARGE);
	f->err.code = 0;
	assert_int_equal(keep_until(f, repeated(f, 'b', 60), "", "", NOW + 10, 0, &id), 0);
	assert_int_equal(f->err.code, 0);
	assert_usage(f, 1, 1, 60);
}

/* -- expiry ---------------------------------------------------------------------------------------------- */

static void test_expired_is_not_found_before_it_is_collected(void **state)
{
	struct fixture *f = *state;
	struct artifact *list;
	size_t count;
	struct str id;

	assert_int_equal(keep_until(f, STR("x"), "r", "", NOW, NOW + 10, &id), 0);
	assert_true(is_found(f, id, NOW + 9));
	assert_false(is_found(f, id, NOW + 10));
	assert_contains(
		f->err.message,
		"no such artifact: it was deleted, has expired, or the id is not one of this store's");
	assert_int_equal(ledger_delete(&f->ledger, f->db, id, NOW + 10, &f->err), ERR_NOT_FOUND);
	assert_int_equal(index_list(f->db, STR("r"), STR(""), 9, NOW + 10, &f->arena, &list, &count, &f->err),
			 0);
	assert_int_equal(count, 0);
	assert_usage(f, 1, 1, 1);
}

static void test_collect(void **state)
{
	struct fixture *f = *state;
	struct str forever = keep(f, STR("shared")), id;
	bool more = true;

	assert_int_equal(keep_until(f, STR("shared"), "", "", NOW, NOW + 10, &id), 0);
	assert_int_equal(keep_until(f, STR("alone"), "", "", NOW, NOW + 10, &id), 0);
	assert_int_equal(keep_until(f, STR("later"), "", "", NOW, NOW + 11, &id), 0);
	assert_int_equal(ledger_collect(&f->ledger, f->db, NOW + 10, &more, &f->err), 0);
	assert_false(more);
	assert_usage(f, 2, 2, 11);
	assert_true(is_found(f, forever, NOW + 10));
	assert_true(is_found(f, id, NOW + 10));
}

static void test_collect_goes_in_batches(void **state)
{
	struct fixture *f = *state;
	unsigned rounds = 0;
	bool more = true;
	struct str id;

	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(keep_until(f, STR("x"), "", "", NOW, NOW + 1, &id), 0);
	for (; more; rounds++)
		assert_int_equal(ledger_collect(&f->ledger, f->db, NOW + 1, &more, &f->err), 0);
	assert_true(rounds > 1);
	assert_usage(f, 0, 0, 0);
}

/* -- lists ----------------------------------------------------------------------------------------------- */

static void assert_list(struct fixture *f, const char *run, const char *session, unsigned limit,
			const char *names)
{
	struct artifact *list;
	size_t count;
	struct buf found;

	buf_init(&found, 1000);
	assert_int_equal(index_list(f->db, str_of(run), str_of(session), limit, NOW, &f->arena, &list, &count,
				    &f->err),
			 0);
	for (size_t i = 0; i < count; i++)
		buf_append(&found, str_from(list[i].id, list[i].id.n - 1));
	assert_string_equal(buf_cstr(&found), names);
	buf_release(&found);
}

static void test_list(void **state)
{
	static const struct {
		const char *run, *session;
	} origins[] = { { "r1", "s1" }, { "r1", "s2" }, { "r2", "s1" }, { "", "" }, { "r2", "s2" } };
	struct fixture *f = *state;
	struct str id;

	for (size_t i = 0; i < ARRAY_LEN(origins); i++)
		assert_int_equal(keep_until(f, STR("x"), origins[i].run, origins[i].session, NOW, 0, &id), 0);
	assert_list(f, "", "", 100, "43210");
	assert_list(f, "", "", 2, "43");
	assert_list(f, "r1", "", 100, "10");
	assert_list(f, "", "s1", 100, "20");
	assert_list(f, "r2", "s1", 100, "2");
	assert_list(f, "r3", "", 100, "");
	assert_list(f, "r1'--", "", 100, "");
}

/* -- recovery -------------------------------------------------------------------------------------------- */

static struct artifact_usage recover(struct fixture *f)
{
	struct artifact_usage usage = { 0 };
	unsigned prefix = 0;

	while (prefix < BLOB_PREFIX_COUNT)
		assert_int_equal(ledger_recover(&f->ledger, f->db, &prefix, &usage, &f->err), 0);
	return usage;
}

static void test_recovery_leaves_what_is_whole(void **state)
{
	struct fixture *f = *state;
	struct artifact_usage usage;
	struct str ids[40];
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		ids[i] = keep(f, repeated(f, 'a', i));
		bytes += i;
	}
	usage = recover(f);
	assert_int_equal(usage.removed_orphans, 0);
	assert_int_equal(usage.removed_missing, 0);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		assert_true(is_found(f, ids[i], NOW));
	assert_usage(f, ARRAY_LEN(ids), ARRAY_LEN(ids), bytes);
}

/* As after a kill between the renaming and the commit. */
static void test_recovery_removes_orphans(void **state)
{
	struct fixture *f = *state;
	struct blob_writer writer;

	keep(f, STR("known"));
	write_body(f, &writer, STR("orphan"));
	assert_int_equal(blob_keep(&writer, &f->err), 0);
	blob_writer_release(&writer);
	assert_int_equal(survey(f->path).blobs, 2);
	assert_int_equal(recover(f).removed_orphans, 1);
	assert_usage(f, 1, 1, 5);
}

static void test_recovery_forgets_what_is_missing_or_cut(void **state)
{
	struct fixture *f = *state;
	struct str whole = keep(f, STR("whole")), missing = keep(f, STR("missing")),
		   cut = keep(f, STR("cut short"));

	assert_int_equal(unlink(body_path(f, STR("missing"))), 0);
	assert_int_equal(truncate(body_path(f, STR("cut short")), 3), 0);
	assert_int_equal(recover(f).removed_missing, 2);
	assert_true(is_found(f, whole, NOW));
	assert_false(is_found(f, missing, NOW));
	assert_false(is_found(f, cut, NOW));
	assert_usage(f, 1, 1, 5);
}

static void test_recovery_leaves_files_of_others(void **state)
{
	struct fixture *f = *state;
	const char *stranger = arena_printf(&f->arena, "%s.bak", body_path(f, STR("known"))).p;

	keep(f, STR("known"));
	write_whole_file(stranger, STR("notes"));
	assert_int_equal(recover(f).removed_orphans, 0);
	assert_int_equal(unlink(stranger), 0);
}

static void test_opening_removes_temporary_files(void **state)
{
	struct fixture *f = *state;

	close_ledger(f);
	write_whole_file(test_directory_path(&f->directory, "artifacts/tmp/0123456789"), STR("half"));
	write_whole_file(test_directory_path(&f->directory, "artifacts/tmp/abc"), STR(""));
	open_ledger(f);
	assert_int_equal(f->ledger.blobs.removed_temporaries, 2);
	assert_usage(f, 0, 0, 0);
}

static void test_writer_that_is_dropped_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct blob_writer writer;

	write_body(f, &writer, STR("unwanted"));
	assert_int_equal(survey(f->path).temporaries, 1);
	blob_writer_release(&writer);
	blob_writer_release(&writer);
	assert_usage(f, 0, 0, 0);
}

/* A disk that cannot tell loses nothing: only what is certainly gone is forgotten. */
static void test_recovery_keeps_what_it_cannot_look_at(void **state)
{
	struct fixture *f = *state;
	struct artifact_usage usage = { 0 };
	struct str id = keep(f, STR("precious"));
	unsigned prefix = 0;
	int r = 0;

	system_fixture.stat_error = EIO;
	while (r == 0 && prefix < BLOB_PREFIX_COUNT)
		r = ledger_recover(&f->ledger, f->db, &prefix, &usage, &f->err);
	system_fixture_reset();
	assert_int_equal(r, ERR_IO);
	assert_contains(f->err.message, ": cannot be looked at: Input/output error");
	assert_int_equal(usage.removed_missing, 0);
	assert_true(is_found(f, id, NOW));
	assert_usage(f, 1, 1, 8);
}

/* -- a full disk ----------------------------------------------------------------------------------------- */

static void test_full_disk_keeps_nothing_new(void **state)
{
	struct fixture *f = *state;
	struct str id;

	keep(f, STR("old"));
	system_fixture.disk_is_full = true;
	assert_int_equal(keep_until(f, STR("new"), "", "", NOW, 0, &id), ERR_FULL);
	assert_contains(f->err.message, "/artifacts/index.db: COMMIT: database or disk is full");
	assert_false(is_found(f, id, NOW));
	assert_usage(f, 1, 1, 3);
	system_fixture_reset();
	keep(f, STR("new"));
	assert_usage(f, 2, 2, 6);
}

/* Deleting is how a disk gets room again, so it must not need any that the body cannot give. */
static void test_full_disk_lets_delete(void **state)
{
	struct fixture *f = *state;
	struct str id = keep(f, STR("large")), other = keep(f, STR("other"));

	system_fixture.disk_is_full = true;
	system_fixture.full_while = body_path(f, STR("large"));
	assert_int_equal(ledger_delete(&f->ledger, f->db, id, NOW, &f->err), 0);
	assert_int_equal(f->err.code, 0);
	assert_false(is_found(f, id, NOW));
	assert_true(is_found(f, other, NOW));
	assert_usage(f, 1, 1, 5);
}

static void test_full_disk_lets_collect(void **state)
{
	struct fixture *f = *state;
	bool more = true;
	struct str id;

	assert_int_equal(keep_until(f, STR("large"), "", "", NOW, NOW + 10, &id), 0);
	assert_int_equal(keep_until(f, STR("later"), "", "", NOW, NOW + 11, &id), 0);
	system_fixture.disk_is_full = true;
	system_fixture.full_while = body_path(f, STR("large"));
	assert_int_equal(ledger_collect(&f->ledger, f->db, NOW + 10, &more, &f->err), 0);
	assert_int_equal(f->err.code, 0);
	assert_false(more);
	assert_usage(f, 1, 1, 5);
}

/* The room that a body gave may be gone at once: then the deletion fails, and what it took is not offered. */
static void test_full_disk_that_stays_full(void **state)
{
	struct fixture *f = *state;
	struct str id = keep(f, STR("large")), shared = keep(f, STR("shared")), twin = keep(f, STR("shared"));

	system_fixture.disk_is_full = true;
	assert_int_equal(ledger_delete(&f->ledger, f->db, shared, NOW, &f->err), ERR_FULL);
	assert_int_equal(ledger_delete(&f->ledger, f->db, id, NOW, &f->err), ERR_FULL);
	assert_contains(f->err.message, "/artifacts/index.db: COMMIT: database or disk is full");
	assert_int_equal(survey(f->path).blobs, 1);
	system_fixture_reset();
	assert_true(is_found(f, shared, NOW));
	assert_true(is_found(f, twin, NOW));
	assert_int_equal(recover(f).removed_missing, 1);
	assert_false(is_found(f, id, NOW));
	assert_usage(f, 2, 1, 6);
}

/* -- a clock that was set -------------------------------------------------------------------------------- */

static struct artifact find(struct fixture *f, struct str id, uint64_t now_ms)
{
	struct artifact artifact;
	struct blob_hash hash;

	assert_int_equal(index_find(f->db, id, now_ms, &f->arena, &artifact, &hash, &f->err), 0);
	return artifact;
}

static void test_times_move_with_the_clock(void **state)
{
	enum { STEP = 500000 };
	struct fixture *f = *state;
	struct str id, forever;

	assert_int_equal(keep_until(f, STR("x"), "", "", NOW, NOW + 10, &id), 0);
	assert_int_equal(keep_until(f, STR("x"), "", "", NOW, 0, &forever), 0);
	assert_int_equal(index_move_times(f->db, STEP, &f->err), 0);
	assert_true(is_found(f, id, NOW + STEP + 9));
	assert_false(is_found(f, id, NOW + STEP + 10));
	assert_int_equal(find(f, id, NOW).created_ms, NOW + STEP);
	assert_int_equal(find(f, forever, NOW).expires_ms, 0);
	assert_int_equal(index_move_times(f->db, -STEP, &f->err), 0);
	assert_int_equal(find(f, id, NOW).expires_ms, NOW + 10);
	assert_int_equal(index_move_times(f->db, -2 * NOW, &f->err), 0);
	assert_false(is_found(f, id, 1));
	assert_int_equal(find(f, forever, 0).created_ms, 0);
}

/* As after a start with a clock that was years ahead. */
static void test_what_comes_from_the_future_is_new(void **state)
{
	enum { AHEAD = 9000000 };
	struct fixture *f = *state;
	struct str id, old, forever;

	assert_int_equal(keep_until(f, STR("x"), "", "", NOW + AHEAD, NOW + AHEAD + 10, &id), 0);
	assert_int_equal(keep_until(f, STR("x"), "", "", NOW + AHEAD, 0, &forever), 0);
	assert_int_equal(keep_until(f, STR("x"), "", "", NOW - 5, NOW + 5, &old), 0);
	assert_int_equal(index_mend_future(f->db, NOW, &f->err), 0);
	assert_int_equal(find(f, id, NOW).created_ms, NOW);
	assert_int_equal(find(f, id, NOW).expires_ms, NOW + 10);
	assert_int_equal(find(f, forever, NOW).created_ms, NOW);
	assert_int_equal(find(f, forever, NOW).expires_ms, 0);
	assert_int_equal(find(f, old, NOW).created_ms, NOW - 5);
	assert_int_equal(find(f, old, NOW).expires_ms, NOW + 5);
}

/* -- opening --------------------------------------------------------------------------------------------- */

static void test_second_opener_is_refused(void **state)
{
	struct fixture *f = *state;
	struct ledger other;
	struct db *db = NULL;

	f->limits.busy_ms = 0;
	assert_int_equal(ledger_open(&other, f->path, &f->limits, &db, &f->err), ERR_BUSY);
	assert_contains(f->err.message, "another process has this artifact store open");
	assert_null(db);
}

static void test_directory_that_cannot_be_made(void **state)
{
	struct fixture *f = *state;
	struct ledger other;
	struct db *db = NULL;

	assert_int_equal(ledger_open(&other, "/proc/nonexistent/artifacts", &f->limits, &db, &f->err),
			 ERR_NOT_FOUND);
	assert_string_equal(
		f->err.message,
		"/proc/nonexistent/artifacts: cannot create the artifact store: No such file or directory");
}

/* A failure after the lock was taken gives it back. */
static void test_index_of_a_newer_program(void **state)
{
	struct fixture *f = *state;
	struct db *db = NULL;

	assert_int_equal(db_run(f->db, "PRAGMA user_version = 99", &f->err), 0);
	close_ledger(f);
	assert_int_equal(ledger_open(&f->ledger, f->path, &f->limits, &db, &f->err), ERR_UNSUPPORTED);
	assert_contains(f->err.message, "/artifacts/index.db: has schema version 99");
	assert_int_equal(unlink(test_directory_path(&f->directory, "artifacts/index.db")), 0);
	open_ledger(f);
}

static void test_store_is_private(void **state)
{
	struct fixture *f = *state;
	struct stat status;

	keep(f, STR("secret"));
	assert_int_equal(stat(f->path, &status), 0);
	assert_int_equal(status.st_mode & 077, 0);
	assert_int_equal(stat(body_path(f, STR("secret")), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_keep_and_find),
		TEST(test_same_bytes_are_kept_once),
		TEST(test_empty_body),
		TEST(test_usage_survives_closing),
		TEST(test_id_that_exists_leaves_nothing),
		TEST(test_missing_body_is_mended),
		TEST(test_quota_is_exact),
		TEST(test_quota_that_was_lowered),
		TEST(test_their_number_is_bounded),
		TEST(test_expired_artifacts_make_room),
		TEST(test_expired_is_not_found_before_it_is_collected),
		TEST(test_collect),
		TEST(test_collect_goes_in_batches),
		TEST(test_list),
		TEST(test_recovery_leaves_what_is_whole),
		TEST(test_recovery_removes_orphans),
		TEST(test_recovery_forgets_what_is_missing_or_cut),
		TEST(test_recovery_leaves_files_of_others),
		TEST(test_opening_removes_temporary_files),
		TEST(test_writer_that_is_dropped_leaves_nothing),
		TEST(test_recovery_keeps_what_it_cannot_look_at),
		TEST(test_full_disk_keeps_nothing_new),
		TEST(test_full_disk_lets_delete),
		TEST(test_full_disk_lets_collect),
		TEST(test_full_disk_that_stays_full),
		TEST(test_times_move_with_the_clock),
		TEST(test_what_comes_from_the_future_is_new),
		TEST(test_second_opener_is_refused),
		TEST(test_directory_that_cannot_be_made),
		TEST(test_index_of_a_newer_program),
		TEST(test_store_is_private),
	};

	return cmocka_run_group_tests_name("artifact_ledger", tests, NULL, NULL);
}

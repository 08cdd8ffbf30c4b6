#include "base/base.h"
#include "artifacts/store_loop_fixture.h"
#include "base/units.h"

/* -- putting --------------------------------------------------------------------------------------------- */

static void test_put_and_get(void **state)
{
	struct fixture *f = *state;
	uint64_t before = loop_wall_ms();
	struct artifact_spec spec = { .name = STR("../my shot.png"), .run = STR("r1"), .session = STR("s1") };
	struct put put;
	struct got got;

	put_start(f, &put, &spec, STR("hello"));
	run_until_ended(f);
	assert_int_equal(put.err.code, 0);
	assert_true(artifact_id_valid(put.artifact.id));
	assert_str(put.artifact.name, "my-shot.png");
	assert_str(put.artifact.mime, "image/png");
	assert_str(put.artifact.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
	assert_true(str_eq(artifact_id_of_uri(put.artifact.uri), put.artifact.id));
	assert_true(put.artifact.created_ms >= before);
	assert_int_equal(put.artifact.expires_ms, put.artifact.created_ms + f->limits.ttl_ms);

	got = get_body(f, put.artifact.id);
	assert_true(str_eq(got.bytes, STR("hello")));
	assert_true(str_eq(got.artifact.name, put.artifact.name));
	assert_true(str_eq(got.artifact.mime, put.artifact.mime));
	assert_true(str_eq(got.artifact.sha256, put.artifact.sha256));
	assert_str(got.artifact.run, "r1");
	assert_str(got.artifact.session, "s1");
	assert_int_equal(got.artifact.size, 5);
	assert_usage(f, 1, 1, 5);
}

static void test_large_body_goes_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct str bytes = noise(f, f->limits.max_bytes, 1);
	struct artifact_spec spec = { .name = STR("noise") };
	struct put put;

	put_start(f, &put, &spec, bytes);
	run_until_ended(f);
	assert_int_equal(put.err.code, 0);
	assert_true(put.rooms > 1);
	assert_str(put.artifact.mime, "application/octet-stream");
	assert_body(f, put.artifact.id, bytes);
	assert_usage(f, 1, 1, bytes.n);
}

static void test_empty_body(void **state)
{
	struct fixture *f = *state;

	assert_body(f, put_bytes(f, "", STR("")).id, STR(""));
	assert_str(put_bytes(f, "", STR("")).name, "artifact");
	assert_usage(f, 2, 1, 0);
}

static void test_many_uploads_at_once(void **state)
{
	enum { COUNT = 20 };
	struct fixture *f = *state;
	struct artifact_spec spec = { .name = STR("x") };
	struct put puts[COUNT];
	struct str bytes[COUNT];
	uint64_t total = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		bytes[i] = noise(f, i * 5000, i);
		put_start(f, &puts[i], &spec, bytes[i]);
		total += bytes[i].n;
	}
	run_until_ended(f);
	for (unsigned i = 0; i < COUNT; i++)
		assert_body(f, puts[i].artifact.id, bytes[i]);
	assert_usage(f, COUNT, COUNT, total);
}

static void test_more_than_the_maximum_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct str bytes = noise(f, f->limits.max_bytes + 1, 1);
	struct artifact_spec spec = { .name = STR("x") };
	struct put put;

	put_start(f, &put, &spec, bytes);
	run_until_ended(f);
	assert_int_equal(put.err.code, ERR_TOO_LARGE);
	assert_string_equal(put.err.message,
			    "the artifact is larger than artifacts.maxBytes (1MiB); nothing of it was kept");
	assert_usage(f, 0, 0, 0);
}

static void test_quota(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { .name = STR("x") };
	struct put put;

	close_store(f);
	f->limits.quota = 150000;
	open_store(f);
	put_bytes(f, "a", noise(f, 100000, 1));
	put_start(f, &put, &spec, noise(f, 50001, 2));
	run_until_ended(f);
	assert_int_equal(put.err.code, ERR_TOO_LARGE);
	assert_contains(put.err.message,
			"97.6 KiB of artifacts.quota (150KB), and 48.8 KiB more would pass it");
	put_bytes(f, "a again", noise(f, 100000, 1));
	put_bytes(f, "fits", noise(f, 50000, 2));
	assert_usage(f, 3, 2, 150000);
}

/* Of uploads that together pass the quota, exactly those are refused that do not fit. */
/* An upload for which the store first collects what has expired is told that it was stored. */
static void test_quota_makes_room(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec brief = { .ttl_ms = 1 };
	struct artifact kept;
	struct put put;

	close_store(f);
	f->limits.quota = 100;
	open_store(f);
	put_start(f, &put, &brief, noise(f, 60, 1));
	run_until_ended(f);
	assert_int_equal(put.err.code, 0);
	while (get_body(f, put.artifact.id).err.code == 0)
		;
	kept = put_bytes(f, "b", noise(f, 60, 2));
	assert_body(f, kept.id, noise(f, 60, 2));
	assert_usage(f, 1, 1, 60);
}

static void test_quota_with_uploads_at_once(void **state)
{
	enum { COUNT = 10 };
	struct fixture *f = *state;
	struct artifact_spec spec = { .name = STR("x") };
	struct put puts[COUNT];
	unsigned kept = 0;

	close_store(f);
	f->limits.quota = 45000;
	open_store(f);
	for (unsigned i = 0; i < COUNT; i++)
		put_start(f, &puts[i], &spec, noise(f, 10000, i));
	run_until_ended(f);
	for (unsigned i = 0; i < COUNT; i++) {
		assert_true(puts[i].err.code == 0 || puts[i].err.code == ERR_TOO_LARGE);
		kept += puts[i].err.code == 0;
	}
	assert_int_equal(kept, 4);
	assert_usage(f, 4, 4, 40000);
}

static void assert_refused(struct fixture *f, const struct artifact_spec *spec, const char *message)
{
	struct put put;

	put_start(f, &put, spec, STR("bytes"));
	run_until_ended(f);
	assert_int_equal(put.err.code, ERR_INVALID);
	assert_string_equal(put.err.message, message);
	assert_usage(f, 0, 0, 0);
}

static void test_specification_that_is_wrong(void **state)
{
	struct fixture *f = *state;
	struct str long_label = noise(f, ARTIFACT_LABEL_MAX + 1, 1);

	assert_refused(f, &(struct artifact_spec){ .mime = STR("image/png\r\nX: y") },
		       "mime: \"image/png\\r\\nX: y\" is not a media type such as \"image/png\"");
	assert_refused(f, &(struct artifact_spec){ .run = long_label }, "run: longer than 256 bytes");
	assert_refused(f, &(struct artifact_spec){ .session = long_label }, "session: longer than 256 bytes");
}

static void test_media_type(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { .name = STR("x.png"), .content_type = STR("text/csv") };
	struct put put;

	put_start(f, &put, &spec, STR("a,b"));
	run_until_ended(f);
	assert_str(put.artifact.mime, "text/csv");
	spec.mime = STR("application/x-table");
	put_start(f, &put, &spec, STR("a,b"));
	run_until_ended(f);
	assert_str(put.artifact.mime, "application/x-table");
}

static void test_time_to_live(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { .ttl_ms = 5000 };
	struct put put;

	put_start(f, &put, &spec, STR("a"));
	run_until_ended(f);
	assert_int_equal(put.artifact.expires_ms, put.artifact.created_ms + 5000);
	spec.ttl_ms = ARTIFACT_TTL_NEVER;
	put_start(f, &put, &spec, STR("a"));
	run_until_ended(f);
	assert_int_equal(put.artifact.expires_ms, 0);
	spec.ttl_ms = ARTIFACT_TTL_NEVER - 1;
	put_start(f, &put, &spec, STR("a"));
	run_until_ended(f);
	assert_int_equal(put.artifact.expires_ms, 0);
}

/* -- cancelling ------------------------------------------------------------------------------------------ */

static void test_cancel_right_after_the_start(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { 0 };
	struct artifact_upload upload = { 0 };

	artifact_upload_cancel(&upload);
	artifact_upload_start(&upload, f->store, &spec, put_done, NULL);
	artifact_upload_write(&upload, STR("bytes"));
	artifact_upload_finish(&upload);
	artifact_upload_cancel(&upload);
	artifact_upload_cancel(&upload);
	assert_usage(f, 0, 0, 0);
}

static void cancel_on_room(struct artifact_upload *upload)
{
	artifact_upload_cancel(upload);
	ended();
}

static void test_cancel_in_the_middle(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { 0 };
	struct artifact_upload upload;

	artifact_upload_start(&upload, f->store, &spec, put_done, cancel_on_room);
	assert_false(artifact_upload_write(&upload, noise(f, f->limits.buffer_bytes, 1)));
	f->waiting++;
	run_until_ended(f);
	assert_usage(f, 0, 0, 0);
}

struct late_cancel {
	struct timer timer;
	struct artifact_upload upload;
};

static void cancel_late(struct timer *timer)
{
	struct artifact_upload *upload = &container_of(timer, struct late_cancel, timer)->upload;

	/* The upload may have ended in this very turn of the loop. */
	if (!upload->done)
		return;
	artifact_upload_cancel(upload);
	ended();
}

static void never_done(struct artifact_upload *upload, const struct artifact *artifact, const struct err *err)
{
	(void)artifact;
	(void)err;
	upload->done = NULL;
	ended();
}

/* Whenever the cancel comes, either the upload had ended or nothing of it stays. */
static void test_cancel_at_any_turn(void **state)
{
	struct fixture *f = *state;
	uint64_t kept = 0;

	for (unsigned turns = 0; turns < 40; turns++) {
		struct artifact_spec spec = { 0 };
		struct late_cancel late = { 0 };

		artifact_upload_start(&late.upload, f->store, &spec, never_done, NULL);
		artifact_upload_write(&late.upload, noise(f, 20000, turns));
		artifact_upload_finish(&late.upload);
		f->waiting++;
		timer_start(&late.timer, f->loop, turns / 4, cancel_late);
		run_until_ended(f);
		timer_stop(&late.timer);
		kept += !late.upload.done;
	}
	/* The last cancel may still be undoing what was kept already: closing waits for that. */
	close_store(f);
	open_store(f);
	assert_usage(f, kept, kept, kept * 20000);
}

static void test_failed_upload_takes_no_more(void **state)
{
	struct fixture *f = *state;
	struct artifact_spec spec = { .mime = STR("nonsense") };
	struct put put = { 0 };

	f->waiting++;
	artifact_upload_start(&put.upload, f->store, &spec, put_done, NULL);
	assert_true(artifact_upload_write(&put.upload, noise(f, f->limits.max_bytes, 1)));
	run_until_ended(f);
	assert_true(put.over);
	assert_true(artifact_upload_write(&put.upload, STR("more")));
	artifact_upload_finish(&put.upload);
	artifact_upload_cancel(&put.upload);
}

/* -- from memory and from files -------------------------------------------------------------------------- */

static struct put put_memory(struct fixture *f, struct str text, bool base64)
{
	struct artifact_spec spec = { .name = STR("memory.txt") };
	struct put put = { 0 };

	f->waiting++;
	artifact_upload_memory(&put.upload, f->store, &spec, str_make(heap_copy(text), text.n), base64,
			       put_done);
	run_until_ended(f);
	return put;
}

static void test_memory(void **state)
{
	struct fixture *f = *state;
	struct put put = put_memory(f, STR("aGVsbG8="), false);

	assert_body(f, put.artifact.id, STR("aGVsbG8="));
	put = put_memory(f, STR("aGVsbG8="), true);
	assert_body(f, put.artifact.id, STR("hello"));
	put = put_memory(f, STR(""), true);
	assert_body(f, put.artifact.id, STR(""));
	assert_usage(f, 3, 3, 13);
}

static void test_memory_that_is_wrong(void **state)
{
	struct fixture *f = *state;
	struct put put = put_memory(f, STR("aGVs*G8="), true);

	assert_int_equal(put.err.code, ERR_INVALID);
	assert_contains(put.err.message, "the artifact's base64 text: ");
	put = put_memory(f, noise(f, f->limits.max_bytes + 1, 1), false);
	assert_int_equal(put.err.code, ERR_TOO_LARGE);
	assert_usage(f, 0, 0, 0);
}

static struct put put_file(struct fixture *f, const char *path, const char *name)
{
	struct artifact_spec spec = { .name = str_of(name) };
	struct put put = { 0 };

	f->waiting++;
	artifact_upload_file(&put.upload, f->store, &spec, str_of(path), put_done);
	run_until_ended(f);
	return put;
}

static void test_file(void **state)
{
	struct fixture *f = *state;
	struct str bytes = noise(f, f->limits.max_bytes, 3);
	const char *path = test_directory_path(&f->directory, "report one.html");
	struct put put;

	write_whole_file(path, bytes);
	put = put_file(f, path, "");
	assert_int_equal(put.err.code, 0);
	assert_str(put.artifact.name, "report-one.html");
	assert_str(put.artifact.mime, "text/html");
	assert_body(f, put.artifact.id, bytes);
	assert_str(put_file(f, path, "other.txt").artifact.name, "other.txt");
	assert_int_equal(access(path, F_OK), 0);
	assert_usage(f, 2, 1, bytes.n);
}

static void assert_file_refused(struct fixture *f, const char *path, int code, const char *message)
{
	struct put put = put_file(f, path, "");

	assert_int_equal(put.err.code, code);
	assert_contains(put.err.message, message);
}

static void test_files_that_cannot_be_taken(void **state)
{
	struct fixture *f = *state;
	const char *fifo = test_directory_path(&f->directory, "fifo");
	const char *large = test_directory_path(&f->directory, "large");

	assert_int_equal(mkfifo(fifo, 0600), 0);
	write_whole_file(large, STR("x"));
	assert_int_equal(truncate(large, (off_t)f->limits.max_bytes + 1), 0);
	assert_file_refused(f, fifo, ERR_INVALID, "/fifo: is not a regular file");
	assert_file_refused(f, f->directory.path, ERR_INVALID, ": is not a regular file");
	assert_file_refused(f, "/proc/nonexistent", ERR_NOT_FOUND,
			    "/proc/nonexistent: cannot be read: No such file or directory");
	assert_file_refused(f, "relative.txt", ERR_INVALID, "path: \"relative.txt\" is not an absolute path");
	assert_file_refused(f, large, ERR_TOO_LARGE, "larger than artifacts.maxBytes (1MiB)");
	assert_usage(f, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_put_and_get),
		TEST(test_large_body_goes_in_pieces),
		TEST(test_empty_body),
		TEST(test_many_uploads_at_once),
		TEST(test_more_than_the_maximum_is_an_error),
		TEST(test_quota),
		TEST(test_quota_makes_room),
		TEST(test_quota_with_uploads_at_once),
		TEST(test_specification_that_is_wrong),
		TEST(test_media_type),
		TEST(test_time_to_live),
		TEST(test_cancel_right_after_the_start),
		TEST(test_cancel_in_the_middle),
		TEST(test_cancel_at_any_turn),
		TEST(test_failed_upload_takes_no_more),
		TEST(test_memory),
		TEST(test_memory_that_is_wrong),
		TEST(test_file),
		TEST(test_files_that_cannot_be_taken),
	};

	return cmocka_run_group_tests_name("artifact_upload", tests, NULL, NULL);
}

#include "base/base.h"
#include "artifacts/store.h"
#include "artifacts/store_fixture.h"
#include "base/units.h"

#include <signal.h>
#include <sys/resource.h>

/* The store on a real loop. Each test starts operations, runs the loop until they have ended, and looks at
 * what they were told. */

struct fixture {
	struct test_directory directory;
	const char *path;
	struct artifact_limits limits;
	struct loop *loop;
	struct artifact_store *store;
	struct arena arena;
	struct err err;
	unsigned waiting; /* operations that have not ended */
	bool closed;
};

static struct fixture *fixture; /* of the running test, for callbacks */

static void open_store(struct fixture *f)
{
	assert_int_equal(artifact_store_open(&f->store, f->loop, f->path, &f->limits, &f->err), 0);
}

static void note_closed(void *context)
{
	struct fixture *f = context;

	f->closed = true;
	loop_stop(f->loop);
}

static void close_store(struct fixture *f)
{
	f->closed = false;
	artifact_store_close(&f->store, note_closed, f);
	assert_null(f->store);
	assert_false(f->closed);
	loop_run(f->loop);
	assert_true(f->closed);
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
	*state = fixture = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (f->store)
		close_store(f);
	loop_free(&f->loop);
	arena_release(&f->arena);
	test_directory_remove(&f->directory);
	free((void *)f->path);
	free(f);
	return 0;
}

static void ended(void)
{
	assert_true(fixture->waiting > 0);
	if (--fixture->waiting == 0)
		loop_stop(fixture->loop);
}

static void run_until_ended(struct fixture *f)
{
	if (f->waiting)
		loop_run(f->loop);
	assert_int_equal(f->waiting, 0);
}

static struct str keep_str(struct str s)
{
	return arena_copy(&fixture->arena, s);
}

static struct artifact copy_of(const struct artifact *a)
{
	return (struct artifact){
		.id = keep_str(a->id),
		.name = keep_str(a->name),
		.mime = keep_str(a->mime),
		.sha256 = keep_str(a->sha256),
		.uri = keep_str(a->uri),
		.run = keep_str(a->run),
		.session = keep_str(a->session),
		.size = a->size,
		.created_ms = a->created_ms,
		.expires_ms = a->expires_ms,
	};
}

/* -- operations and what they were told ------------------------------------------------------------------ */

struct put {
	struct artifact_upload upload;
	struct artifact artifact;
	struct err err;
	bool over;
	unsigned rooms;
	struct str rest; /* written whenever there is room */
	bool finished;
};

static void put_done(struct artifact_upload *upload, const struct artifact *artifact, const struct err *err)
{
	struct put *put = container_of(upload, struct put, upload);

	assert_false(put->over);
	assert_true(!artifact == !!err);
	put->over = true;
	if (err)
		put->err = *err;
	else
		put->artifact = copy_of(artifact);
	ended();
}

static void put_more(struct put *put)
{
	enum { PIECE = 10 * 1024 };

	while (put->rest.n > 0) {
		struct str piece = str_slice(put->rest, 0, PIECE);

		put->rest = str_from(put->rest, piece.n);
		if (!artifact_upload_write(&put->upload, piece) && put->rest.n > 0)
			return;
	}
	if (!put->finished)
		artifact_upload_finish(&put->upload);
	put->finished = true;
}

static void put_room(struct artifact_upload *upload)
{
	struct put *put = container_of(upload, struct put, upload);

	put->rooms++;
	put_more(put);
}

static void put_start(struct fixture *f, struct put *put, const struct artifact_spec *spec, struct str bytes)
{
	*put = (struct put){ .rest = bytes };
	f->waiting++;
	artifact_upload_start(&put->upload, f->store, spec, put_done, put_room);
	put_more(put);
	assert_false(put->over);
}

static struct artifact put_bytes(struct fixture *f, const char *name, struct str bytes)
{
	struct artifact_spec spec = { .name = str_of(name) };
	struct put put;

	put_start(f, &put, &spec, bytes);
	run_until_ended(f);
	if (put.err.code)
		fail_msg("%s", put.err.message);
	return put.artifact;
}

struct got {
	struct artifact_get get;
	struct artifact artifact;
	struct str bytes;
	struct err err;
};

static void got_done(struct artifact_get *get, const struct artifact *artifact, int fd, const struct err *err)
{
	struct got *got = container_of(get, struct got, get);

	if (err)
		got->err = *err;
	else
		got->artifact = copy_of(artifact);
	if (fd >= 0) {
		char *bytes = arena_alloc(&fixture->arena, artifact->size + 1);

		assert_int_equal(read(fd, bytes, artifact->size + 1), artifact->size);
		got->bytes = str_make(bytes, artifact->size);
		close_fd(&fd);
	}
	ended();
}

static struct got get_body(struct fixture *f, struct str id)
{
	struct got got = { 0 };

	f->waiting++;
	artifact_get_start(&got.get, f->store, id, true, got_done);
	run_until_ended(f);
	return got;
}

static void assert_body(struct fixture *f, struct str id, struct str bytes)
{
	struct got got = get_body(f, id);

	if (got.err.code)
		fail_msg("%s", got.err.message);
	assert_true(str_eq(got.bytes, bytes));
}

static void assert_gone(struct fixture *f, struct str id)
{
	assert_int_equal(get_body(f, id).err.code, ERR_NOT_FOUND);
}

struct deleted {
	struct artifact_delete delete;
	struct err err;
};

static void delete_done(struct artifact_delete *delete, const struct err *err)
{
	struct deleted *deleted = container_of(delete, struct deleted, delete);

	if (err)
		deleted->err = *err;
	ended();
}

static int delete_one(struct fixture *f, struct str id)
{
	struct deleted deleted = { 0 };

	f->waiting++;
	artifact_delete_start(&deleted.delete, f->store, id, delete_done);
	run_until_ended(f);
	return deleted.err.code;
}

static struct str noise(struct fixture *f, size_t n, unsigned seed)
{
	char *bytes = arena_alloc(&f->arena, n);

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (char)(seed >> 24);
	}
	return str_make(bytes, n);
}

static char *heap_copy(struct str s)
{
	char *copy = xmalloc(s.n);

	if (s.n)
		memcpy(copy, s.p, s.n);
	return copy;
}

/* The counts of the store, of its index after reopening, and of the disk are the same. */
static void assert_usage(struct fixture *f, uint64_t artifacts, uint64_t blobs, uint64_t bytes)
{
	struct disk disk;

	for (unsigned i = 0; i < 2; i++) {
		struct artifact_usage usage;

		artifact_store_usage(f->store, &usage);
		assert_int_equal(usage.artifacts, artifacts);
		assert_int_equal(usage.blobs, blobs);
		assert_int_equal(usage.bytes, bytes);
		assert_int_equal(usage.quota, f->limits.quota);
		close_store(f);
		open_store(f);
	}
	disk = survey(f->path);
	assert_int_equal(disk.blobs, blobs);
	assert_int_equal(disk.bytes, bytes);
	assert_int_equal(disk.temporaries, 0);
	assert_int_equal(disk.strangers, 0);
}

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
	assert_file_refused(f, "/nonexistent", ERR_NOT_FOUND,
			    "/nonexistent: cannot be read: No such file or directory");
	assert_file_refused(f, "relative.txt", ERR_INVALID, "path: \"relative.txt\" is not an absolute path");
	assert_file_refused(f, large, ERR_TOO_LARGE, "larger than artifacts.maxBytes (1MiB)");
	assert_usage(f, 0, 0, 0);
}

/* -- asking ---------------------------------------------------------------------------------------------- */

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

/* -- time and recovery ----------------------------------------------------------------------------------- */

struct gone_waiter {
	struct timer timer;
	struct fixture *fixture;
};

static void look_whether_gone(struct timer *timer)
{
	struct gone_waiter *waiter = container_of(timer, struct gone_waiter, timer);
	struct artifact_usage usage;

	artifact_store_usage(waiter->fixture->store, &usage);
	if (usage.artifacts == 0)
		ended();
	else
		timer_start(timer, waiter->fixture->loop, 1, look_whether_gone);
}

static void test_sweep_collects_what_has_expired(void **state)
{
	struct fixture *f = *state;
	struct gone_waiter waiter = { .fixture = f };

	close_store(f);
	f->limits.sweep_ms = 2;
	f->limits.ttl_ms = 1;
	open_store(f);
	put_bytes(f, "a", STR("hello"));
	f->waiting++;
	timer_start(&waiter.timer, f->loop, 0, look_whether_gone);
	run_until_ended(f);
	assert_null(artifact_store_trouble(f->store));
	assert_usage(f, 0, 0, 0);
}

static void test_start_removes_what_a_kill_left(void **state)
{
	struct fixture *f = *state;
	const char *orphan =
		"artifacts/blobs/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
	struct artifact_usage usage;

	put_bytes(f, "b", STR("other"));
	close_store(f);
	assert_true(mkdir(test_directory_path(&f->directory, "artifacts/blobs/2c"), 0700) == 0);
	write_whole_file(test_directory_path(&f->directory, orphan), STR("hello"));
	write_whole_file(test_directory_path(&f->directory, "artifacts/tmp/half"), STR("hel"));
	open_store(f);
	/* Recovery is in the queue in front of this question. */
	f->waiting++;
	artifact_list_start(&(struct listed){ 0 }.list, f->store, STR(""), STR(""), 0, listed_done);
	run_until_ended(f);
	artifact_store_usage(f->store, &usage);
	assert_int_equal(usage.removed_temporaries, 1);
	assert_int_equal(usage.removed_orphans, 1);
	assert_int_equal(usage.removed_missing, 0);
	assert_usage(f, 1, 1, 5);
}

/* One directory that cannot be read keeps nothing else from being recovered, and is told. */
static void test_trouble_of_the_recovery(void **state)
{
	struct fixture *f = *state;
	const char *orphan =
		"artifacts/blobs/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
	struct artifact_usage usage;

	assert_null(artifact_store_trouble(f->store));
	close_store(f);
	write_whole_file(test_directory_path(&f->directory, "artifacts/blobs/00"), STR("no directory"));
	assert_int_equal(mkdir(test_directory_path(&f->directory, "artifacts/blobs/2c"), 0700), 0);
	write_whole_file(test_directory_path(&f->directory, orphan), STR("hello"));
	open_store(f);
	while (f->store && !artifact_store_trouble(f->store))
		assert_gone(f, STR("nonsense"));
	assert_contains(artifact_store_trouble(f->store)->message,
			"/artifacts/blobs/00: cannot be read: Not a directory");
	do
		assert_gone(f, STR("nonsense"));
	while (artifact_store_usage(f->store, &usage), usage.removed_orphans == 0);
	assert_int_equal(unlink(test_directory_path(&f->directory, "artifacts/blobs/00")), 0);
	assert_usage(f, 0, 0, 0);
}

static void test_body_that_is_missing(void **state)
{
	struct fixture *f = *state;
	struct str id = put_bytes(f, "a", STR("hello")).id;
	struct got got;

	assert_int_equal(
		unlink(test_directory_path(&f->directory,
					   "artifacts/blobs/2c/"
					   "f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")),
		0);
	got = get_body(f, id);
	assert_int_equal(got.err.code, ERR_NOT_FOUND);
	assert_contains(got.err.message, "9824: cannot be opened: No such file or directory");
	assert_int_equal(read_one(f, id, 0, 5, false).err.code, ERR_NOT_FOUND);
}

/* The limit on file sizes stands in for a disk that is full: a write stops half-way. */
static void test_disk_that_is_full(void **state)
{
	struct fixture *f = *state;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_action;
	struct artifact_spec spec = { 0 };
	struct rlimit old, small;
	struct put put;

	assert_int_equal(sigaction(SIGXFSZ, &ignore, &old_action), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){ .rlim_cur = 300000, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	put_start(f, &put, &spec, noise(f, 400000, 1));
	run_until_ended(f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(sigaction(SIGXFSZ, &old_action, NULL), 0);
	assert_int_equal(put.err.code, ERR_IO);
	assert_contains(put.err.message, ": cannot be written: File too large");
	put_start(f, &put, &spec, noise(f, 400000, 1));
	run_until_ended(f);
	assert_int_equal(put.err.code, 0);
	assert_usage(f, 1, 1, 400000);
}

static void test_second_store_is_refused(void **state)
{
	struct fixture *f = *state;
	struct artifact_store *other = NULL;

	assert_int_equal(artifact_store_open(&other, f->loop, f->path, &f->limits, &f->err), ERR_BUSY);
	assert_contains(f->err.message,
			"/artifacts: another process has this artifact store open; stop it, or choose "
			"another state directory");
	assert_null(other);
	assert_int_equal(artifact_store_open(&other, f->loop, f->path, &f->limits, NULL), ERR_BUSY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_put_and_get),
		TEST(test_large_body_goes_in_pieces),
		TEST(test_empty_body),
		TEST(test_many_uploads_at_once),
		TEST(test_more_than_the_maximum_is_an_error),
		TEST(test_quota),
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
		TEST(test_get_without_body),
		TEST(test_unknown_ids),
		TEST(test_body_outlives_its_deletion),
		TEST(test_list),
		TEST(test_read),
		TEST(test_place_at_once),
		TEST(test_cancelled_questions),
		TEST(test_sweep_collects_what_has_expired),
		TEST(test_start_removes_what_a_kill_left),
		TEST(test_trouble_of_the_recovery),
		TEST(test_body_that_is_missing),
		TEST(test_disk_that_is_full),
		TEST(test_second_store_is_refused),
	};

	return cmocka_run_group_tests_name("artifact_store", tests, NULL, NULL);
}

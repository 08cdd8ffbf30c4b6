/*
 * store_loop_fixture.h - a store on a real loop, for tests. Each test starts operations, runs the loop until
 * they have ended, and looks at what they were told.
 */
#ifndef ARTIFACTS_STORE_LOOP_FIXTURE_H
#define ARTIFACTS_STORE_LOOP_FIXTURE_H

#include "artifacts/store.h"
#include "artifacts/store_fixture.h"
#include "base/base.h"

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

static inline void open_store(struct fixture *f)
{
	assert_int_equal(artifact_store_open(&f->store, f->loop, f->path, &f->limits, &f->err), 0);
}

static inline void note_closed(void *context)
{
	struct fixture *f = context;

	f->closed = true;
	loop_stop(f->loop);
}

static inline void close_store(struct fixture *f)
{
	f->closed = false;
	artifact_store_close(&f->store, note_closed, f);
	assert_null(f->store);
	assert_false(f->closed);
	loop_run(f->loop);
	assert_true(f->closed);
}

/* What a kill leaves of a store that is closed: a blob, the text "hello", that no artifact has. */
static inline void leave_orphan(struct fixture *f)
{
	const char *blob =
		"artifacts/blobs/2c/f24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

	assert_int_equal(mkdir(test_directory_path(&f->directory, "artifacts/blobs/2c"), 0700), 0);
	write_whole_file(test_directory_path(&f->directory, blob), STR("hello"));
}

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
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

static inline void ended(void)
{
	assert_true(fixture->waiting > 0);
	if (--fixture->waiting == 0)
		loop_stop(fixture->loop);
}

static inline void run_until_ended(struct fixture *f)
{
	if (f->waiting)
		loop_run(f->loop);
	assert_int_equal(f->waiting, 0);
}

static inline struct str keep_str(struct str s)
{
	return arena_copy(&fixture->arena, s);
}

static inline struct artifact copy_of(const struct artifact *artifact)
{
	return artifact_copy(&fixture->arena, artifact);
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

static inline void put_done(struct artifact_upload *upload, const struct artifact *artifact,
			    const struct err *err)
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

static inline void put_more(struct put *put)
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

static inline void put_room(struct artifact_upload *upload)
{
	struct put *put = container_of(upload, struct put, upload);

	put->rooms++;
	put_more(put);
}

static inline void put_start(struct fixture *f, struct put *put, const struct artifact_spec *spec,
			     struct str bytes)
{
	*put = (struct put){ .rest = bytes };
	f->waiting++;
	artifact_upload_start(&put->upload, f->store, spec, put_done, put_room);
	put_more(put);
	assert_false(put->over);
}

static inline struct artifact put_bytes(struct fixture *f, const char *name, struct str bytes)
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

static inline void got_done(struct artifact_get *get, const struct artifact *artifact, int fd,
			    const struct err *err)
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

static inline struct got get_body(struct fixture *f, struct str id)
{
	struct got got = { 0 };

	f->waiting++;
	artifact_get_start(&got.get, f->store, id, true, got_done);
	run_until_ended(f);
	return got;
}

static inline void assert_body(struct fixture *f, struct str id, struct str bytes)
{
	struct got got = get_body(f, id);

	if (got.err.code)
		fail_msg("%s", got.err.message);
	assert_true(str_eq(got.bytes, bytes));
}

static inline void assert_gone(struct fixture *f, struct str id)
{
	assert_int_equal(get_body(f, id).err.code, ERR_NOT_FOUND);
}

struct deleted {
	struct artifact_delete delete;
	struct err err;
};

static inline void delete_done(struct artifact_delete *delete, const struct err *err)
{
	struct deleted *deleted = container_of(delete, struct deleted, delete);

	if (err)
		deleted->err = *err;
	ended();
}

static inline int delete_one(struct fixture *f, struct str id)
{
	struct deleted deleted = { 0 };

	f->waiting++;
	artifact_delete_start(&deleted.delete, f->store, id, delete_done);
	run_until_ended(f);
	return deleted.err.code;
}

static inline struct str noise(struct fixture *f, size_t n, unsigned seed)
{
	char *bytes = arena_alloc(&f->arena, n);

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (char)(seed >> 24);
	}
	return str_make(bytes, n);
}

static inline char *heap_copy(struct str s)
{
	char *copy = xmalloc(s.n);

	if (s.n)
		memcpy(copy, s.p, s.n);
	return copy;
}

/* The counts of the store, of its index after reopening, and of the disk are the same. */
static inline void assert_usage(struct fixture *f, uint64_t artifacts, uint64_t blobs, uint64_t bytes)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

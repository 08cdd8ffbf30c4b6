#include "base/base.h"
#include "artifacts/ledger.h"
#include "base/units.h"

#include <sys/stat.h>

/* How much is done in one turn on the worker, so that uploads need not wait long for their turn. */
enum { COLLECT_BATCH = 128, RECOVER_BATCH = 512 };

static int open_index(struct ledger *ledger, struct db **ret_db, bool may_be_link, struct err *err)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const char *path;
	struct stat status;
	int r;

	arena_init(&arena, 0);
	path = arena_printf(&arena, "%s/index.db", ledger->blobs.path).p;
	if (!may_be_link && lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		r = err_set(err, ERR_INVALID, "%s: is no file, and is left alone", path);
	else
		r = index_open(ret_db, path, &ledger->limits, err);
	if (r < 0)
		ledger_release(ledger);
	return r;
}

int ledger_open(struct ledger *ledger, const char *directory, const struct artifact_limits *limits,
		struct db **ret_db, struct err *err)
{
	int r;

	ledger->limits = *limits;
	r = blobs_open(&ledger->blobs, directory, limits->busy_ms, err);
	return r < 0 ? r : open_index(ledger, ret_db, true, err);
}

int ledger_open_abandoned(struct ledger *ledger, const char *directory, const struct artifact_limits *limits,
			  struct db **ret_db, struct err *err)
{
	int r;

	ledger->limits = *limits;
	r = blobs_open_abandoned(&ledger->blobs, directory, err);
	return r < 0 ? r : open_index(ledger, ret_db, false, err);
}

void ledger_release(struct ledger *ledger)
{
	blobs_release(&ledger->blobs);
}

/* What is tried again must not leave the reason of an attempt before: callers go by err->code. */
static int tell(int r, const struct err *reason, struct err *err)
{
	if (r < 0 && err)
		*err = *reason;
	return r;
}

/* Commits, unless something has failed already. */
static int end_transaction(struct db *db, int r, struct err *err)
{
	if (r == 0)
		r = db_commit(db, err);
	if (r < 0)
		db_rollback(db);
	return r;
}

/* What cannot be removed is no longer known to the index, and the next start tries again. */
static void remove_bodies(const struct ledger *ledger, const struct unwanted *unwanted)
{
	for (size_t i = 0; i < unwanted->count; i++)
		blob_remove(&ledger->blobs, &unwanted->hashes[i], NULL);
}

/* -- keeping --------------------------------------------------------------------------------------------- */

static int check_quota(const struct ledger *ledger, struct db *db, uint64_t size, struct err *err)
{
	char held[BYTE_SIZE_TEXT_MAX], quota[BYTE_SIZE_TEXT_MAX], wanted[BYTE_SIZE_TEXT_MAX];
	struct artifact_usage usage;
	int r = index_usage(db, &usage, err);

	if (r < 0)
		return r;
	if (usage.bytes <= ledger->limits.quota && size <= ledger->limits.quota - usage.bytes)
		return 0;
	byte_size_rough(held, usage.bytes);
	byte_size_text(quota, ledger->limits.quota);
	byte_size_rough(wanted, size);
	return err_set(
		err, ERR_TOO_LARGE,
		"the artifact store holds %s of artifacts.quota (%s), and %s more would pass it; delete "
		"artifacts, or raise the quota",
		held, quota, wanted);
}

/* The quota counts distinct bodies by their bytes: of empty ones, or of one that is kept again and again, it
 * allows any number. */
static int check_count(const struct ledger *ledger, struct db *db, struct err *err)
{
	struct artifact_usage usage;
	int r = index_usage(db, &usage, err);

	if (r < 0 || usage.artifacts < ledger->limits.count_max)
		return r;
	return err_set(
		err, ERR_TOO_LARGE,
		"the artifact store has %llu artifacts, and artifacts.maxCount is %llu; delete artifacts, or "
		"raise the limit",
		(unsigned long long)usage.artifacts, (unsigned long long)ledger->limits.count_max);
}

static int keep_new_body(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
			 int64_t *ret_blob, bool *ret_placed, struct err *err)
{
	int r = check_quota(ledger, db, writer->size, err);

	if (r < 0)
		return r;
	/* From here on there may be a body, also when blob_keep() fails. */
	*ret_placed = true;
	r = blob_keep(writer, err);
	return r < 0 ? r : index_blob_add(db, &writer->hash, writer->size, ret_blob, err);
}

/* A body that the index knows is used again, and mended when something else took it away. */
static int keep_body(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
		     int64_t *ret_blob, bool *ret_placed, struct err *err)
{
	int r = index_blob_find(db, &writer->hash, ret_blob, err);

	if (r < 0)
		return r;
	if (*ret_blob == 0)
		return keep_new_body(ledger, db, writer, ret_blob, ret_placed, err);
	r = blob_exists(&ledger->blobs, &writer->hash, writer->size, err);
	if (r != 0)
		return r < 0 ? r : 0;
	return blob_keep(writer, err);
}

static int keep_once(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
		     const struct artifact *artifact, struct err *err)
{
	bool placed = false;
	int64_t blob = 0;
	int r = db_begin(db, err);

	if (r < 0)
		return r;
	r = check_count(ledger, db, err);
	if (r == 0)
		r = keep_body(ledger, db, writer, &blob, &placed, err);
	if (r == 0)
		r = index_add(db, artifact, blob, err);
	r = end_transaction(db, r, err);
	if (r < 0 && placed)
		blob_remove(&ledger->blobs, &writer->hash, NULL);
	return r;
}

int ledger_keep(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
		struct artifact *artifact, struct arena *arena, struct err *err)
{
	struct err reason;
	bool more = true;
	int r;

	artifact->sha256 = blob_hash_text(&writer->hash, arena);
	artifact->size = writer->size;
	r = keep_once(ledger, db, writer, artifact, &reason);
	while (r == ERR_TOO_LARGE && more &&
	       ledger_collect(ledger, db, artifact->created_ms, &more, NULL) == 0)
		r = keep_once(ledger, db, writer, artifact, &reason);
	return tell(r, &reason, err);
}

/* -- removing -------------------------------------------------------------------------------------------- */

/* What is to be removed: one handle, or those that have expired. */
struct removal {
	const struct str *id; /* NULL: those that have expired */
	uint64_t now_ms;
	size_t expired; /* that were removed */
	struct unwanted unwanted;
};

static int removal_commit(struct removal *removal, struct db *db, struct arena *arena, struct err *err)
{
	int r = db_begin(db, err);

	if (r < 0)
		return r;
	if (removal->id)
		r = index_delete(db, *removal->id, removal->now_ms, arena, &removal->unwanted, err);
	else
		r = index_expire(db, removal->now_ms, COLLECT_BATCH, arena, &removal->unwanted,
				 &removal->expired, err);
	return end_transaction(db, r, err);
}

/*
 * The index forgets first, and then the bodies go. But forgetting takes a few pages of SQLite's log, and on a
 * full disk only the bodies can give those: there they go first. Should the index not forget them even then,
 * or a kill come between, handles without a body are left that nobody wanted any more, and recovery drops
 * them.
 */
static int removal_run(struct removal *removal, const struct ledger *ledger, struct db *db, struct err *err)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct err reason;
	int r;

	arena_init(&arena, 0);
	r = removal_commit(removal, db, &arena, &reason);
	if (r == ERR_FULL && removal->unwanted.count) {
		remove_bodies(ledger, &removal->unwanted);
		r = removal_commit(removal, db, &arena, &reason);
	}
	if (r == 0)
		remove_bodies(ledger, &removal->unwanted);
	return tell(r, &reason, err);
}

int ledger_delete(const struct ledger *ledger, struct db *db, struct str id, uint64_t now_ms, struct err *err)
{
	struct removal removal = { .id = &id, .now_ms = now_ms };

	return removal_run(&removal, ledger, db, err);
}

int ledger_collect(const struct ledger *ledger, struct db *db, uint64_t now_ms, bool *ret_more,
		   struct err *err)
{
	struct removal removal = { .now_ms = now_ms };
	int r = removal_run(&removal, ledger, db, err);

	if (r == 0)
		*ret_more = removal.expired == COLLECT_BATCH;
	return r;
}

/* -- recovering ------------------------------------------------------------------------------------------ */

static int remove_orphans(const struct ledger *ledger, struct db *db, uint8_t prefix, struct arena *arena,
			  struct artifact_usage *usage, size_t *looked, struct err *err)
{
	struct blob_hash *hashes;
	size_t count;
	int r = blob_list(&ledger->blobs, prefix, arena, &hashes, &count, err);

	for (size_t i = 0; r == 0 && i < count; i++) {
		int64_t blob;

		r = index_blob_find(db, &hashes[i], &blob, err);
		if (r < 0 || blob != 0)
			continue;
		r = blob_remove(&ledger->blobs, &hashes[i], err);
		usage->removed_orphans += r == 0;
	}
	*looked += r == 0 ? count : 0;
	return r;
}

/* What is left of a body that was cut goes too. */
static int forget_body(const struct ledger *ledger, struct db *db, const struct indexed_blob *body,
		       struct artifact_usage *usage, struct err *err)
{
	int r = db_begin(db, err);

	if (r < 0)
		return r;
	r = end_transaction(db, index_blob_delete(db, body->blob, err), err);
	if (r < 0)
		return r;
	usage->removed_missing++;
	return blob_remove(&ledger->blobs, &body->hash, err);
}

static int forget_missing(const struct ledger *ledger, struct db *db, uint8_t prefix, struct arena *arena,
			  struct artifact_usage *usage, size_t *looked, struct err *err)
{
	struct indexed_blob *blobs;
	size_t count;
	int r = index_blob_list(db, prefix, arena, &blobs, &count, err);

	for (size_t i = 0; r == 0 && i < count; i++) {
		int there = blob_exists(&ledger->blobs, &blobs[i].hash, blobs[i].size, err);

		if (there == 0)
			r = forget_body(ledger, db, &blobs[i], usage, err);
		else if (there < 0)
			r = there;
	}
	*looked += r == 0 ? count : 0;
	return r;
}

int ledger_recover(const struct ledger *ledger, struct db *db, unsigned *prefix, struct artifact_usage *usage,
		   struct err *err)
{
	_cleanup_arena_ struct arena arena = { 0 };
	size_t looked = 0;
	int r = 0;

	arena_init(&arena, 0);
	while (r == 0 && *prefix < BLOB_PREFIX_COUNT && looked < RECOVER_BATCH) {
		r = remove_orphans(ledger, db, (uint8_t)*prefix, &arena, usage, &looked, err);
		if (r == 0)
			r = forget_missing(ledger, db, (uint8_t)*prefix, &arena, usage, &looked, err);
		(*prefix)++;
	}
	return r;
}

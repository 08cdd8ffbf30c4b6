#include "base/base.h"
#include "artifacts/ledger.h"
#include "base/units.h"

/* How much is done in one turn on the worker, so that uploads need not wait long for their turn. */
enum { COLLECT_BATCH = 128, RECOVER_BATCH = 512 };

int ledger_open(struct ledger *ledger, const char *directory, const struct artifact_limits *limits,
		struct db **ret_db, struct err *err)
{
	_cleanup_arena_ struct arena arena = { 0 };
	int r;

	arena_init(&arena, 0);
	ledger->limits = *limits;
	r = blobs_open(&ledger->blobs, directory, err);
	if (r < 0)
		return r;
	r = index_open(ret_db, arena_printf(&arena, "%s/index.db", directory).p, limits, err);
	if (r < 0)
		ledger_release(ledger);
	return r;
}

void ledger_release(struct ledger *ledger)
{
	blobs_release(&ledger->blobs);
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
	if (!blob_exists(&ledger->blobs, &writer->hash, writer->size))
		return blob_keep(writer, err);
	return 0;
}

static int keep_once(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
		     const struct artifact *artifact, struct err *err)
{
	bool placed = false;
	int64_t blob = 0;
	int r = db_begin(db, err);

	if (r < 0)
		return r;
	r = keep_body(ledger, db, writer, &blob, &placed, err);
	if (r == 0)
		r = index_add(db, artifact, blob, err);
	if (r == 0)
		r = db_commit(db, err);
	if (r < 0) {
		db_rollback(db);
		if (placed)
			blob_remove(&ledger->blobs, &writer->hash, NULL);
	}
	return r;
}

int ledger_keep(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
		struct artifact *artifact, struct arena *arena, struct err *err)
{
	bool more = true;
	int r;

	artifact->sha256 = blob_hash_text(&writer->hash, arena);
	artifact->size = writer->size;
	r = keep_once(ledger, db, writer, artifact, err);
	while (r == ERR_TOO_LARGE && more) {
		if (ledger_collect(ledger, db, artifact->created_ms, &more, NULL) < 0)
			return r;
		r = keep_once(ledger, db, writer, artifact, err);
	}
	return r;
}

/* -- removing -------------------------------------------------------------------------------------------- */

/* Ends a transaction in which `r` is how things went so far. */
static int finish(const struct ledger *ledger, struct db *db, int r, const struct unwanted *unwanted,
		  struct err *err)
{
	if (r == 0)
		r = db_commit(db, err);
	if (r < 0)
		db_rollback(db);
	else
		remove_bodies(ledger, unwanted);
	return r;
}

int ledger_delete(const struct ledger *ledger, struct db *db, struct str id, uint64_t now_ms, struct err *err)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct unwanted unwanted = { 0 };
	int r = db_begin(db, err);

	if (r < 0)
		return r;
	arena_init(&arena, 0);
	r = index_delete(db, id, now_ms, &arena, &unwanted, err);
	return finish(ledger, db, r, &unwanted, err);
}

int ledger_collect(const struct ledger *ledger, struct db *db, uint64_t now_ms, bool *ret_more,
		   struct err *err)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct unwanted unwanted = { 0 };
	struct err reason; /* the index's functions need one */
	size_t count = 0;
	int r = db_begin(db, err);

	if (r < 0)
		return r;
	arena_init(&arena, 0);
	r = index_expire(db, now_ms, COLLECT_BATCH, &arena, &unwanted, &count, err ? err : &reason);
	r = finish(ledger, db, r, &unwanted, err);
	if (r == 0)
		*ret_more = count == COLLECT_BATCH;
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
		if (r == 0 && blob == 0) {
			r = blob_remove(&ledger->blobs, &hashes[i], err);
			usage->removed_orphans++;
		}
	}
	*looked += r == 0 ? count : 0;
	return r;
}

static int forget_missing(const struct ledger *ledger, struct db *db, uint8_t prefix, struct arena *arena,
			  struct artifact_usage *usage, size_t *looked, struct err *err)
{
	struct indexed_blob *blobs;
	size_t count;
	int r = index_blob_list(db, prefix, arena, &blobs, &count, err);

	for (size_t i = 0; r == 0 && i < count; i++) {
		struct unwanted cut = { &blobs[i].hash, 1 };

		if (blob_exists(&ledger->blobs, &blobs[i].hash, blobs[i].size))
			continue;
		usage->removed_missing++;
		r = db_begin(db, err);
		if (r == 0)
			r = finish(ledger, db, index_blob_delete(db, blobs[i].blob, err), &cut, err);
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

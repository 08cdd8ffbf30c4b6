/*
 * index.h - the index of the store: which artifacts there are and which bodies they need. Private to this
 * room; blocking; on the thread that has the database at the time.
 *
 * Two tables: a blob is a body by its hash, an artifact is a handle that refers to one. A third has one row
 * that counts both and the bytes, kept by triggers, so that a count cannot differ from what it counts: they
 * change in one transaction or not at all.
 *
 * Functions that change something run inside the caller's transaction. `now_ms` is the wall clock; what has
 * expired by then is not found, whether or not it was collected.
 */
#ifndef ARTIFACTS_INDEX_H
#define ARTIFACTS_INDEX_H

#include "artifacts/artifact.h"
#include "artifacts/blobs.h"
#include "artifacts/store.h"
#include "base/arena.h"
#include "db/db.h"

int index_open(struct db **ret_db, const char *path, const struct artifact_limits *limits, struct err *err);

/* Sets bytes, blobs and artifacts; leaves the rest. */
int index_usage(struct db *db, struct artifact_usage *usage, struct err *err);

/* -- artifacts ------------------------------------------------------------------------------------------- */

int index_find(struct db *db, struct str id, uint64_t now_ms, struct arena *arena,
	       struct artifact *ret_artifact, struct blob_hash *ret_hash, struct err *err);

/* Newest first. `run` and `session` select when they are not empty. */
int index_list(struct db *db, struct str run, struct str session, unsigned limit, uint64_t now_ms,
	       struct arena *arena, struct artifact **ret_artifacts, size_t *ret_count, struct err *err);

/* Adds a handle to a blob that is there; `blob` is its rowid. */
int index_add(struct db *db, const struct artifact *artifact, int64_t blob, struct err *err);

/* Bodies that lost their last handle and are to be removed once the transaction is committed. */
struct unwanted {
	struct blob_hash *hashes;
	size_t count;
};

/* Removes one handle. ERR_NOT_FOUND when there is none. */
int index_delete(struct db *db, struct str id, uint64_t now_ms, struct arena *arena,
		 struct unwanted *unwanted, struct err *err);

/* Removes at most `max` handles that have expired, oldest first; *ret_count says how many. */
int index_expire(struct db *db, uint64_t now_ms, size_t max, struct arena *arena, struct unwanted *unwanted,
		 size_t *ret_count, struct err *err);

/* -- blobs ----------------------------------------------------------------------------------------------- */

/* The rowid of a blob, 0 when it is not in the index. */
int index_blob_find(struct db *db, const struct blob_hash *hash, int64_t *ret_blob, struct err *err);
int index_blob_add(struct db *db, const struct blob_hash *hash, uint64_t size, int64_t *ret_blob,
		   struct err *err);

struct indexed_blob {
	int64_t blob;
	struct blob_hash hash;
	uint64_t size;
};
/* Those whose first byte is `prefix`. */
int index_blob_list(struct db *db, uint8_t prefix, struct arena *arena, struct indexed_blob **ret_blobs,
		    size_t *ret_count, struct err *err);
/* Removes it with its handles: its body is gone. */
int index_blob_delete(struct db *db, int64_t blob, struct err *err);

#endif

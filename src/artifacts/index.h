/*
 * index.h - the index of the store: which artifacts there are and which bodies they need. Private to this
 * room; blocking; on the thread that has the database at the time.
 *
 * Two tables: a blob is a body by its hash, an artifact is a handle that refers to one. A third has one row
 * that counts both and the bytes, kept by triggers, so that a count cannot differ from what it counts: they
 * change in one transaction or not at all.
 *
 * Sizes are bytes; times are milliseconds of the wall clock since 1970, and `now_ms` is what it says: what
 * has expired by then is not found, whether or not it was collected. Sizes and times beyond 2^63 - 1 are
 * stored as that. A rowid is at least 1. Strings of results are from `arena`.
 *
 * Functions that change something return with it done but not committed: the caller begins the transaction
 * before and commits or rolls back after, whatever they return; the two that say so are a transaction of
 * their own. All of them need `err`, and can fail as db_step() does: ERR_FULL for the disk, ERR_BUSY when
 * another process holds the lock for longer than limits.busy_ms, ERR_IO for the rest, damage included. What
 * else one returns stands at it.
 */
#ifndef ARTIFACTS_INDEX_H
#define ARTIFACTS_INDEX_H

#include "artifacts/artifact.h"
#include "artifacts/blobs.h"
#include "artifacts/store.h"
#include "base/arena.h"
#include "db/db.h"

/* Opens or creates the index at `path` (absolute; its directory exists), with limits.busy_ms and
 * limits.cache_bytes. Commits survive a power loss. ERR_UNSUPPORTED when a newer program wrote it. `err` may
 * be NULL. */
int index_open(struct db **ret_db, const char *path, const struct artifact_limits *limits, struct err *err);

/* Sets bytes, blobs and artifacts; leaves the rest. */
int index_usage(struct db *db, struct artifact_usage *usage, struct err *err);

/* -- artifacts ------------------------------------------------------------------------------------------- */

/* The artifact with that handle and the hash of its body. ERR_NOT_FOUND when there is none or it has expired,
 * with a message that keeps the handle secret. */
int index_find(struct db *db, struct str id, uint64_t now_ms, struct arena *arena,
	       struct artifact *ret_artifact, struct blob_hash *ret_hash, struct err *err);

/* Newest first, at most `limit`. `run` and `session` select when they are not empty. */
int index_list(struct db *db, struct str run, struct str session, unsigned limit, uint64_t now_ms,
	       struct arena *arena, struct artifact **ret_artifacts, size_t *ret_count, struct err *err);

/* Adds a handle to a blob that is there; `blob` is its rowid. The sha256, size, uri and path of `artifact`
 * are not looked at. ERR_EXISTS when the handle is taken. */
int index_add(struct db *db, const struct artifact *artifact, int64_t blob, struct err *err);

/* The wall clock was set by `step_ms` while the store was open (clock.h): moves all times with it. A
 * transaction of its own. */
int index_move_times(struct db *db, int64_t step_ms, struct err *err);

/* What was created in the future was created by a clock that was wrong: it is taken as created now, and keeps
 * the time it was given to live. A transaction of its own. */
int index_mend_future(struct db *db, uint64_t now_ms, struct err *err);

/* Bodies that lost their last handle and are to be removed once the transaction is committed. */
struct unwanted {
	struct blob_hash *hashes;
	size_t count;
};

/* Removes one handle. ERR_NOT_FOUND when there is none or it has expired. */
int index_delete(struct db *db, struct str id, uint64_t now_ms, struct arena *arena,
		 struct unwanted *unwanted, struct err *err);

/* Removes at most `max` handles that have expired, longest ago first; *ret_count says how many. */
int index_expire(struct db *db, uint64_t now_ms, size_t max, struct arena *arena, struct unwanted *unwanted,
		 size_t *ret_count, struct err *err);

/* -- blobs ----------------------------------------------------------------------------------------------- */

/* *ret_blob is the rowid of a blob, 0 when it is not in the index. */
int index_blob_find(struct db *db, const struct blob_hash *hash, int64_t *ret_blob, struct err *err);
/* Adds a blob that is not in the index yet (ERR_EXISTS). */
int index_blob_add(struct db *db, const struct blob_hash *hash, uint64_t size, int64_t *ret_blob,
		   struct err *err);

struct indexed_blob {
	int64_t blob;
	struct blob_hash hash;
	uint64_t size;
};
/* Those whose hash begins with the byte `prefix`, in no order. */
int index_blob_list(struct db *db, uint8_t prefix, struct arena *arena, struct indexed_blob **ret_blobs,
		    size_t *ret_count, struct err *err);
/* Removes it with its handles: its body is gone. */
int index_blob_delete(struct db *db, int64_t blob, struct err *err);

#endif

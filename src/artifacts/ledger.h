/*
 * ledger.h - changes that concern the index and the bodies together. Private to this room; blocking; on the
 * thread that has the database at the time.
 *
 * The two cannot change at one moment, so they change in an order in which a kill between any two steps does
 * no harm: a body is in place before the index says so, and the index forgets it before it goes. What such a
 * kill can leave is a body that nobody knows, and ledger_recover() removes those. On a full disk bodies that
 * are not wanted go first, because the index needs room to forget; a kill then can leave a handle without a
 * body, and ledger_recover() drops it.
 *
 * All fail as the index does (index.h) and as the file system does, ERR_FULL for both; what else one returns
 * stands at it. `err` may be NULL, except in ledger_recover(), and is touched by failures only.
 */
#ifndef ARTIFACTS_LEDGER_H
#define ARTIFACTS_LEDGER_H

#include "artifacts/artifact.h"
#include "artifacts/blobs.h"
#include "artifacts/index.h"
#include "base/arena.h"
#include "db/db.h"

struct ledger {
	struct blobs blobs;
	struct artifact_limits limits;
};

/* Opens the store's directories and its index. A process that collects here (abandoned.h) is waited for up
 * to limits.busy_ms. */
int ledger_open(struct ledger *ledger, const char *directory, const struct artifact_limits *limits,
		struct db **ret_db, struct err *err);
/* The same for a store of another owner: blobs_open_abandoned(). Its index must be no link either. */
int ledger_open_abandoned(struct ledger *ledger, const char *directory, const struct artifact_limits *limits,
			  struct db **ret_db, struct err *err);
void ledger_release(struct ledger *ledger);

/*
 * Makes a sealed body an artifact: all fields of `artifact` but sha256 and size are given, and those two are
 * set. ERR_TOO_LARGE when there are as many as there may be, or the body is new and would pass the quota,
 * also after everything that has expired was collected. On failure nothing has changed.
 */
int ledger_keep(const struct ledger *ledger, struct db *db, struct blob_writer *writer,
		struct artifact *artifact, struct arena *arena, struct err *err);

/* Removes a handle, and the body with its last one. ERR_NOT_FOUND when there is no such handle or it has
 * expired. */
int ledger_delete(const struct ledger *ledger, struct db *db, struct str id, uint64_t now_ms,
		  struct err *err);

/* Removes artifacts that have expired, at most a batch; *ret_more says that there may be more. */
int ledger_collect(const struct ledger *ledger, struct db *db, uint64_t now_ms, bool *ret_more,
		   struct err *err);

/*
 * Compares bodies and index, a batch of directories at a time: *prefix goes from 0 to BLOB_PREFIX_COUNT, when
 * all is done. Removes bodies that the index does not know, and handles whose body is missing or has another
 * size. Adds to the counts in `usage`.
 */
int ledger_recover(const struct ledger *ledger, struct db *db, unsigned *prefix, struct artifact_usage *usage,
		   struct err *err);

#endif

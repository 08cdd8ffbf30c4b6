/*
 * store.h - the artifact store: bytes that a run, a script or an upstream server produced, reachable by an
 * unguessable name.
 *
 * A body is a file named after its SHA-256 (`blobs/ab/cdef...`); the same bytes are kept once. An artifact is
 * a row of the index that points to a body: a random 128-bit handle with a name, a media type and where it
 * came from. The handle is the only access control, so it is a secret and never derived from the bytes. The
 * quota counts distinct bodies; a body goes with its last handle.
 *
 * What holds, also when the process is killed at any moment: an artifact that was acknowledged is whole and
 * stays until it expires or is deleted; one that was not is invisible; the bytes in use, as counted, are
 * exactly those of the bodies in the index. An acknowledged artifact also survives a power loss: body,
 * directory and index are on the disk before `done` is called. docs/internals/artifacts.md tells how.
 *
 * Everything here belongs to the loop thread and does its blocking work on the worker pool, as async.md says:
 * callbacks never come from within a start, come once, and not after a cancel. Operations are embedded in
 * their owner, who may free them in their callback. All must have ended or been cancelled before
 * artifact_store_close(). One process at a time has a store open.
 */
#ifndef ARTIFACTS_STORE_H
#define ARTIFACTS_STORE_H

#include "artifacts/artifact.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct artifact_store;
struct artifact_work;

/* From settings; fixed while the store is open. Sizes in bytes. */
struct artifact_limits {
	uint64_t max_bytes;	  /* artifacts.maxBytes: biggest single body; more is an error, never a cut */
	uint64_t quota;		  /* artifacts.quota: all distinct bodies together */
	uint64_t count_max;	  /* artifacts.maxCount: handles, also of bodies that are there already */
	uint64_t ttl_ms;	  /* artifacts.ttl: age at which an artifact is collected; 0 keeps it */
	uint64_t sweep_ms;	  /* artifacts.gcInterval: time between two collections of what has expired */
	size_t name_max;	  /* longest name */
	unsigned list_limit;	  /* most artifacts in one list */
	unsigned collision_limit; /* numeric suffixes tried before artifact_place() gives up */
	size_t buffer_bytes;	  /* bytes an upload holds in memory before it asks its writer to pause */
	uint64_t busy_ms;	  /* wait for a lock on the store or its index that another process holds */
	size_t cache_bytes;	  /* page cache of the index */
};

/* Opens or creates the store in `directory` (absolute; its parent exists). ERR_BUSY when another process
 * has it open for longer than limits.busy_ms. Leftovers of a process that was killed are removed: temporary
 * files before this returns, the rest soon after on the worker pool. */
int artifact_store_open(struct artifact_store **ret_store, struct loop *loop, const char *directory,
			const struct artifact_limits *limits, struct err *err);

/* Lets what runs end, closes the index and calls `closed` (may be NULL) from the loop. Sets the pointer to
 * NULL at once. */
void artifact_store_close(struct artifact_store **store, void (*closed)(void *context), void *context);

/* What is stored, as of the last operation that ended; and what the start found left behind by a process
 * that was killed. */
struct artifact_usage {
	uint64_t bytes;	    /* of distinct bodies */
	uint64_t blobs;	    /* distinct bodies */
	uint64_t artifacts; /* handles, expired ones included until they are collected */
	uint64_t quota;
	uint64_t removed_temporaries; /* uploads that had not ended */
	uint64_t removed_orphans;     /* bodies that no handle refers to */
	uint64_t removed_missing;     /* bodies that something else deleted or cut: their handles are gone */
};
void artifact_store_usage(const struct artifact_store *store, struct artifact_usage *ret_usage);
/* Why the last collection or recovery in the background failed; NULL when it did not. */
const struct err *artifact_store_trouble(const struct artifact_store *store);
const struct artifact_limits *artifact_store_limits(const struct artifact_store *store);

/* -- putting --------------------------------------------------------------------------------------------- */

/* What the uploader says of the bytes. All strings are copied and may be empty. */
struct artifact_spec {
	struct str name; /* untrusted; cleaned */
	struct str mime; /* chosen explicitly: ERR_INVALID when it is no media type */
	/* of the transfer; used unless it is application/octet-stream or no media type */
	struct str content_type;
	struct str run, session; /* at most ARTIFACT_LABEL_MAX bytes each, ERR_INVALID beyond */
	uint64_t ttl_ms;	 /* 0: the store's; ARTIFACT_TTL_NEVER: kept until deleted */
};
enum { ARTIFACT_LABEL_MAX = 256 };
#define ARTIFACT_TTL_NEVER UINT64_MAX

struct artifact_upload;
/* The artifact is stored for good, or `err` says why not: ERR_TOO_LARGE over the maximum, the quota or
 * the most there may be (the message names the setting), ERR_INVALID for the specification, ERR_IO for the
 * disk. Strings of `artifact` are valid during the call. May come before artifact_upload_finish() when it is
 * a failure. */
typedef void artifact_upload_done(struct artifact_upload *upload, const struct artifact *artifact,
				  const struct err *err);
/* There is room again after artifact_upload_write() returned false. */
typedef void artifact_upload_room(struct artifact_upload *upload);

struct artifact_upload {
	struct upload *state; /* private; NULL when it has not begun or is over */
	artifact_upload_done *done;
	artifact_upload_room *on_room;
};

/* Begins an upload whose bytes come in pieces. `on_room` may be NULL for a caller that has all bytes at
 * hand anyway. */
void artifact_upload_start(struct artifact_upload *upload, struct artifact_store *store,
			   const struct artifact_spec *spec, artifact_upload_done *done,
			   artifact_upload_room *on_room);
/* Takes all of `bytes` (copied). False: that is enough for now, write on after `on_room`. Once the upload
 * has failed, bytes are dropped until `done` says so. */
bool artifact_upload_write(struct artifact_upload *upload, struct str bytes);
/* There are no more bytes: hash, index and acknowledge. */
void artifact_upload_finish(struct artifact_upload *upload);
/* Leaves nothing behind. Harmless on one that is over or never began (zeroed). */
void artifact_upload_cancel(struct artifact_upload *upload);

/* A whole upload of bytes at hand: `storage` comes from malloc and is taken over. With `base64` it is text
 * to be decoded first (on the worker pool; ERR_INVALID when it is not base64). */
void artifact_upload_memory(struct artifact_upload *upload, struct artifact_store *store,
			    const struct artifact_spec *spec, struct str storage, bool base64,
			    artifact_upload_done *done);

/* A whole upload of a file of ours: read, hashed and copied. `path` is absolute and names a regular file
 * (ERR_INVALID, ERR_NOT_FOUND, ERR_DENIED); an empty spec->name becomes its last component. */
void artifact_upload_file(struct artifact_upload *upload, struct artifact_store *store,
			  const struct artifact_spec *spec, struct str path, artifact_upload_done *done);

/* -- asking ---------------------------------------------------------------------------------------------- */

/* An id that was never given out, was deleted or has expired is ERR_NOT_FOUND in all of these. */

struct artifact_get;
/* `fd` is the body, open for reading at its start, and the callee's to close; -1 when it was not wanted. A
 * body stays readable through it even when the artifact is deleted meanwhile. Strings of `artifact` are
 * valid during the call. */
typedef void artifact_get_done(struct artifact_get *get, const struct artifact *artifact, int fd,
			       const struct err *err);
struct artifact_get {
	struct artifact_work *work; /* private */
	artifact_get_done *done;
};
void artifact_get_start(struct artifact_get *get, struct artifact_store *store, struct str id, bool want_body,
			artifact_get_done *done);
void artifact_get_cancel(struct artifact_get *get);

struct artifact_read;
/* `bytes` is the asked part of the body, or its base64 text; valid during the call. */
typedef void artifact_read_done(struct artifact_read *read, const struct artifact *artifact, struct str bytes,
				const struct err *err);
struct artifact_read {
	struct artifact_work *work; /* private */
	artifact_read_done *done;
};
/* At most `n` bytes of the body from `offset` (fewer at its end, none beyond), for delivery inside an
 * answer or in chunks. */
void artifact_read_start(struct artifact_read *read, struct artifact_store *store, struct str id,
			 uint64_t offset, size_t n, bool base64, artifact_read_done *done);
void artifact_read_cancel(struct artifact_read *read);

struct artifact_list;
/* Newest first; valid during the call. */
typedef void artifact_list_done(struct artifact_list *list, const struct artifact *artifacts, size_t count,
				const struct err *err);
struct artifact_list {
	struct artifact_work *work; /* private */
	artifact_list_done *done;
};
/* Those of `run` and of `session`, each ignored when empty; at most `limit`, or limits.list_limit when
 * that is smaller or `limit` 0. */
void artifact_list_start(struct artifact_list *list, struct artifact_store *store, struct str run,
			 struct str session, unsigned limit, artifact_list_done *done);
void artifact_list_cancel(struct artifact_list *list);

struct artifact_delete;
typedef void artifact_delete_done(struct artifact_delete *delete, const struct err *err);
struct artifact_delete {
	struct artifact_work *work; /* private */
	artifact_delete_done *done;
};
/* Removes the handle, and the body with its last handle. Once begun it happens, even when it is cancelled. */
void artifact_delete_start(struct artifact_delete *delete, struct artifact_store *store, struct str id,
			   artifact_delete_done *done);
void artifact_delete_cancel(struct artifact_delete *delete);

struct artifact_place;
/* `path` is where the copy is now, valid during the call. */
typedef void artifact_place_done(struct artifact_place *place, struct str path, const struct err *err);
struct artifact_place {
	struct artifact_work *work; /* private */
	artifact_place_done *done;
};
/* Copies the body into `directory` (absolute; created when it is missing) under the artifact's name, or
 * the first free one of "name-1.ext", "name-2.ext" and so on up to limits.collision_limit (ERR_EXISTS
 * beyond). Nothing is ever overwritten, and the name appears only when the copy is whole; after a cancel
 * it may or may not appear. place.h has the blocking part. */
void artifact_place_start(struct artifact_place *place, struct artifact_store *store, struct str id,
			  struct str directory, artifact_place_done *done);
void artifact_place_cancel(struct artifact_place *place);

#endif

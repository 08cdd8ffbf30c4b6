/*
 * blobs.h - bodies on the disk, each a file named after its SHA-256. Private to this room; blocking.
 *
 *   store/lock               held by flock(2) while a process has the store open
 *   store/tmp/XXXXXXXX       bodies that are being written
 *   store/blobs/ab/cdef...   whole bodies: 2 and 62 hexadecimal digits of the hash
 *
 * A body gets its final name only when it is whole and on the disk, and the name is on the disk when
 * blob_keep() returns. Which bodies are wanted is the index's to say; this file knows nothing of it. Writers
 * may run on several threads at once, each on one; blob_keep(), blob_open(), blob_remove() and blob_list()
 * belong to the thread that has the index at the time.
 */
#ifndef ARTIFACTS_BLOBS_H
#define ARTIFACTS_BLOBS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

#include <openssl/evp.h>

enum {
	SHA256_BYTES = 32,
	BLOB_HEAD_BYTES = 512,	/* kept from the start of a body, to tell its type */
	BLOB_PREFIX_COUNT = 256 /* directories under blobs/ */
};

struct blob_hash {
	uint8_t bytes[SHA256_BYTES];
};

struct blobs {
	char *path;
	int lock_fd, temporary_fd, blobs_fd; /* -1 when not open */
	uint64_t removed_temporaries;	     /* left by a process that was killed */
};

/* Creates what is missing, takes the lock (ERR_BUSY when another process holds it for longer than `wait_ms`)
 * and empties tmp/. On failure nothing is held. */
int blobs_open(struct blobs *blobs, const char *path, uint64_t wait_ms, struct err *err);
/* The same for a store of another owner, which must be there (ERR_NOT_FOUND) and no link, and is not waited
 * for. */
int blobs_open_abandoned(struct blobs *blobs, const char *path, struct err *err);
void blobs_release(struct blobs *blobs);

/* -- writing --------------------------------------------------------------------------------------------- */

struct blob_writer {
	const struct blobs *blobs;
	int fd; /* -1 when there is no temporary file */
	char name[40];
	EVP_MD_CTX *digest;
	uint64_t size;
	struct blob_hash hash; /* once it is sealed */
	char head[BLOB_HEAD_BYTES];
	size_t head_n;
};

/* Not begun: blob_writer_release() does nothing. */
void blob_writer_init(struct blob_writer *w, const struct blobs *blobs);
/* Begins a temporary file. */
int blob_writer_open(struct blob_writer *w, struct err *err);
int blob_writer_add(struct blob_writer *w, struct str bytes, struct err *err);
/* There is no more: w->hash is known and the bytes are on the disk. */
int blob_writer_seal(struct blob_writer *w, struct err *err);
/* Removes the temporary file unless blob_keep() made it a body. */
void blob_writer_release(struct blob_writer *w);
#define _cleanup_blob_writer_ _cleanup_(blob_writer_release)

static inline struct str blob_writer_head(const struct blob_writer *w)
{
	return str_make(w->head, w->head_n);
}

/* -- bodies ---------------------------------------------------------------------------------------------- */

/* Gives a sealed body its name, in place of whatever has it. */
int blob_keep(struct blob_writer *w, struct err *err);
/* Opens a body that the index knows. ERR_IO when it is not there or has another size than `size`: something
 * else removed or cut it. Its bytes are not compared with the hash. */
int blob_open(const struct blobs *blobs, const struct blob_hash *hash, uint64_t size, int *ret_fd,
	      struct err *err);
/* 1 when a body of this hash and size is there, 0 when not, and an error when that cannot be told. Its bytes
 * are not read. */
int blob_exists(const struct blobs *blobs, const struct blob_hash *hash, uint64_t size, struct err *err);
/* One that is not there is no failure. */
int blob_remove(const struct blobs *blobs, const struct blob_hash *hash, struct err *err);
/* The bodies whose first byte is `prefix`, in no order. Files that are not named like a body are not ours
 * and left alone. */
int blob_list(const struct blobs *blobs, uint8_t prefix, struct arena *arena, struct blob_hash **ret_hashes,
	      size_t *ret_count, struct err *err);

/* 64 lower-case hexadecimal digits, in the arena. */
struct str blob_hash_text(const struct blob_hash *hash, struct arena *arena);

#endif

/*
 * upload_source.h - where the bytes of an upload come from, and the part of it that runs on the worker pool.
 * Private to this room.
 *
 * The loop gives a source what it needs and lets upload_source_run() do the next piece of work on a worker,
 * until it is sealed. At any time either the loop or one worker uses a source.
 */
#ifndef ARTIFACTS_UPLOAD_SOURCE_H
#define ARTIFACTS_UPLOAD_SOURCE_H

#include "artifacts/blobs.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum upload_kind {
	UPLOAD_PIECES, /* given one after the other */
	UPLOAD_WHOLE,  /* one piece, given at the start */
	UPLOAD_FILE,   /* copied from a file */
};

struct upload_source {
	enum upload_kind kind;
	struct blob_writer writer;
	uint64_t max_bytes;
	struct str piece; /* from malloc; .p NULL when there is none */
	bool last;	  /* no further piece comes */
	bool base64;	  /* UPLOAD_WHOLE: the piece is text to decode */
	char *path;	  /* UPLOAD_FILE */
	int file;	  /* -1 while it is not open */
	bool sealed;	  /* the body is complete and its hash known */
};

void upload_source_init(struct upload_source *source, enum upload_kind kind, const struct blobs *blobs,
			uint64_t max_bytes);
/* Removes the temporary file, if there is one. */
void upload_source_release(struct upload_source *source);

/* Takes over a piece for the next run. */
void upload_source_give(struct upload_source *source, struct str piece, bool last);

/* Writes the piece, or copies the next part of the file; seals the body after the last. */
int upload_source_run(struct upload_source *source, struct err *err);

static inline bool upload_source_has_file(const struct upload_source *source)
{
	return source->writer.fd >= 0;
}

/* ERR_TOO_LARGE, with the setting that says so. */
int upload_too_large(uint64_t max_bytes, struct err *err);

#endif

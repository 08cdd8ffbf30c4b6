/*
 * long_text.h - what is longer than a model should get in one answer (mcp.textMax): kept whole as an
 * artifact, shown from its beginning.
 *
 * Clients end the connection over a message of some MiB (the official TypeScript SDK over stdio at 10 MiB),
 * and a model's context ends long before that. So what is too long is never sent and never cut in silence:
 * the answer has the beginning, a mark with the full size and how to read on, and a link. All on the loop
 * thread, as async.md says.
 */
#ifndef API_LONG_TEXT_H
#define API_LONG_TEXT_H

#include "api/call.h"
#include "artifacts/store.h"
#include "base/base.h"
#include "base/str.h"
#include "io/loop.h"

struct long_text;
typedef void long_text_done(struct long_text *text);

struct long_text {
	const struct api_call *call;
	struct str text; /* the caller's, until it was written */
	/* that has all of it; .uri empty when it could not be stored: then err says why */
	struct artifact artifact;
	struct err err;
	struct artifact_upload upload;
	struct deferred later;
	long_text_done *done;
};

/* Whether `text` must not stand in the answer to the call whole. Never at /v1, whose clients take what they
 * asked for. */
bool long_text_is(const struct api_call *call, struct str text);

/* Stores the text; `done` is called also when that is not possible. The strings stay until then. */
void long_text_start(struct long_text *text, const struct api_call *call, struct str value,
		     const struct artifact_spec *spec, long_text_done *done);
void long_text_cancel(struct long_text *text);

/* The content blocks for it, into an array that has been begun. */
void long_text_write(const struct long_text *text, struct json_writer *w);
/* A tool's whole result that is nothing else. */
void long_text_write_result(const struct long_text *text, bool is_error, struct json_writer *w);

#endif

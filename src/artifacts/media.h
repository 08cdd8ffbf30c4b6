/*
 * media.h - turns media inside a JSON value into artifacts: what a script or a tool gives back to a caller
 * that can take links.
 *
 * A content block of MCP that carries bytes (an image, an audio clip, a resource with a blob) costs a
 * caller's context more than the rest of the task and is rarely looked at there. At the output boundary each
 * such block, at any depth, is stored and replaced by a resource_link with the artifact's URI, name, type and
 * size. Its `annotations` and `_meta` are kept. Everything else in the value stays byte for byte.
 */
#ifndef ARTIFACTS_MEDIA_H
#define ARTIFACTS_MEDIA_H

#include "artifacts/store.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* -- finding (pure) -------------------------------------------------------------------------------------- */

/* One block that carries bytes. Its strings point into the value, or into the arena when they had escapes. */
struct media_block {
	struct str raw;	 /* the block as it stands in the value */
	struct str data; /* base64 */
	struct str mime; /* as the server says, unchecked; may be empty */
	struct str name; /* unclean: a resource has the end of its URI, others "image" or "audio" */
	struct str annotations, meta; /* raw JSON; empty when absent */
};

/*
 * The media blocks of `value`, which must be one valid JSON text, in order. A block is an object with "type"
 * "image" or "audio" and the strings "data" and "mimeType", or with "type" "resource" and an object
 * "resource" with the strings "uri" and "blob". At most `max` are looked for; later ones stay what they are.
 */
size_t media_find(struct str value, struct arena *arena, struct media_block *ret_blocks, size_t max);

/* Writes `value` with blocks[i] replaced by the link in artifacts[i]; NULL there leaves that block as it
 * is. ERR_TOO_LARGE when it does not fit. */
int media_replace(struct str value, const struct media_block *blocks, const struct artifact *const *artifacts,
		  size_t count, struct buf *out);

/* -- storing (on the loop) ------------------------------------------------------------------------------- */

struct media_intercept;
struct media_work;
/*
 * `value` is the rewritten text, or the one that was given when it held no media; valid during the call.
 * `artifacts` were stored. A block that could not be stored stays inside the value, so that nothing is lost;
 * `err` is then the reason of the first, else NULL.
 */
typedef void media_intercept_done(struct media_intercept *intercept, struct str value,
				  const struct artifact *artifacts, size_t count, const struct err *err);

struct media_intercept {
	struct media_work *work; /* private */
	media_intercept_done *done;
};

/* `value` is one valid JSON text, which must stay where it is until `done` or a cancel. At most
 * `blocks_max` blocks are replaced. */
void media_intercept_start(struct media_intercept *intercept, struct artifact_store *store, struct loop *loop,
			   struct str value, struct str run, struct str session, size_t blocks_max,
			   media_intercept_done *done);
/* Artifacts that were stored by then stay until they expire. */
void media_intercept_cancel(struct media_intercept *intercept);

/* Whether `value` may hold media: false is certain, true is not. Cheap, for skipping the rest. */
bool media_possible(struct str value);

#endif

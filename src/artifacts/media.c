#include "base/base.h"
#include "artifacts/media.h"
#include "artifacts/name.h"
#include "json/writer.h"
#include "text/mime.h"

/* What a link may take beyond the block it replaces, apart from the name: a URI, a type with its quotes
 * escaped, the keys. */
enum { LINK_BYTES_MAX = 1024 };

/* -- replacing ------------------------------------------------------------------------------------------- */

static void write_link(const struct media_block *block, const struct artifact *artifact, struct buf *out)
{
	struct json_writer w;

	json_writer_init(&w, out, false);
	json_write_object_begin(&w);
	artifact_write_link_members(&w, artifact);
	if (block->annotations.n)
		json_member_raw(&w, STR("annotations"), block->annotations);
	if (block->meta.n)
		json_member_raw(&w, STR("_meta"), block->meta);
	json_write_object_end(&w);
}

int media_replace(struct str value, const struct media_block *blocks, const struct artifact *const *artifacts,
		  size_t count, struct buf *out)
{
	const char *at = value.p, *end = value.p + value.n;

	for (size_t i = 0; i < count; i++) {
		if (!artifacts[i])
			continue;
		buf_append(out, str_make(at, (size_t)(blocks[i].raw.p - at)));
		write_link(&blocks[i], artifacts[i], out);
		at = blocks[i].raw.p + blocks[i].raw.n;
	}
	buf_append(out, str_make(at, (size_t)(end - at)));
	return buf_failed(out) ? ERR_TOO_LARGE : 0;
}

/* -- storing --------------------------------------------------------------------------------------------- */

/* The blocks are stored one after the other: an upload at a time bounds what is held in memory. */
struct media_work {
	struct media_intercept *operation; /* NULL once it was cancelled */
	struct artifact_store *store;
	struct loop *loop;
	struct deferred begin;
	struct artifact_upload upload;
	struct arena arena;
	struct str value, run, session;
	struct media_block *blocks;
	const struct artifact **links; /* one for each block; NULL for one that stays */
	struct artifact *stored;
	size_t count, at, stored_count;
	struct err err; /* the first failure; code 0: none */
};

static void media_next(struct media_work *work);

static void media_free(struct media_work *work)
{
	deferred_cancel(&work->begin);
	artifact_upload_cancel(&work->upload);
	arena_release(&work->arena);
	loop_free_later(work->loop, work);
}

static void media_end(struct media_work *work)
{
	struct media_intercept *operation = work->operation;
	struct str value = work->value;
	size_t link_max = LINK_BYTES_MAX + artifact_store_limits(work->store)->name_max;
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, value.n + work->count * link_max);
	if (work->stored_count) {
		BUG_ON(media_replace(work->value, work->blocks, work->links, work->count, &out) < 0);
		value = buf_str(&out);
	}
	operation->work = NULL;
	operation->done(operation, value, work->stored, work->stored_count,
			work->err.code ? &work->err : NULL);
	media_free(work);
}

static void media_stored(struct artifact_upload *upload, const struct artifact *artifact,
			 const struct err *err)
{
	struct media_work *work = container_of(upload, struct media_work, upload);

	if (artifact) {
		work->stored[work->stored_count] = artifact_copy(&work->arena, artifact);
		work->links[work->at] = &work->stored[work->stored_count++];
	} else if (!work->err.code) {
		work->err = *err;
	}
	work->at++;
	media_next(work);
}

/* A name without an extension gets the one of the type, so that the file opens in what it is for. */
static struct str name_block(struct media_work *work, const struct media_block *block)
{
	struct str name =
		artifact_name_clean(&work->arena, block->name, artifact_store_limits(work->store)->name_max);

	if (artifact_name_extension(name).n)
		return name;
	return arena_concat(&work->arena, name, mime_extension(block->mime), STR(""));
}

static void media_store(struct media_work *work, const struct media_block *block)
{
	struct artifact_spec spec = {
		.name = name_block(work, block),
		.content_type = block->mime,
		.run = work->run,
		.session = work->session,
	};
	char *data = xmalloc(block->data.n);

	memcpy(data, block->data.p, block->data.n);
	artifact_upload_memory(&work->upload, work->store, &spec, str_make(data, block->data.n), true,
			       media_stored);
}

static void media_next(struct media_work *work)
{
	if (work->at == work->count)
		media_end(work);
	else
		media_store(work, &work->blocks[work->at]);
}

static void media_begin(struct deferred *deferred)
{
	struct media_work *work = container_of(deferred, struct media_work, begin);

	work->count = media_find(work->value, &work->arena, work->blocks, work->count);
	work->links = arena_array(&work->arena, const struct artifact *, work->count);
	work->stored = arena_array(&work->arena, struct artifact, work->count);
	media_next(work);
}

void media_intercept_start(struct media_intercept *intercept, struct artifact_store *store, struct loop *loop,
			   struct str value, struct str run, struct str session, size_t blocks_max,
			   media_intercept_done *done)
{
	struct media_work *work = xnew(struct media_work);

	arena_init(&work->arena, 0);
	work->operation = intercept;
	work->store = store;
	work->loop = loop;
	work->value = value;
	work->run = arena_copy(&work->arena, run);
	work->session = arena_copy(&work->arena, session);
	work->count = media_possible(value) ? blocks_max : 0;
	work->blocks = arena_array(&work->arena, struct media_block, work->count);
	*intercept = (struct media_intercept){ .work = work, .done = done };
	loop_defer(loop, &work->begin, media_begin);
}

void media_intercept_cancel(struct media_intercept *intercept)
{
	if (intercept->work)
		media_free(intercept->work);
	intercept->work = NULL;
}

#include "base/base.h"
#include "artifacts/store_private.h"

struct artifact_work *work_new(struct artifact_store *store, void *operation)
{
	struct artifact_work *work = xnew(struct artifact_work);

	store_hold(store);
	work->store = store;
	work->operation = operation;
	work->now_ms = store_now(store);
	work->fd = -1;
	arena_init(&work->arena, 0);
	return work;
}

void work_free(struct artifact_work *work)
{
	struct artifact_store *store = work->store;

	close_fd(&work->fd);
	buf_release(&work->bytes);
	arena_release(&work->arena);
	free(work);
	store_let_go(store);
}

void work_find(struct db_request *request, struct db *db)
{
	struct artifact_work *work = container_of(request, struct artifact_work, request);
	struct blob_hash hash;
	int r = index_find(db, work->id, work->now_ms, &work->arena, &work->artifact, &hash, &work->err);

	if (r == 0 && work->want_body)
		blob_open(&work->store->ledger.blobs, &hash, work->artifact.size, &work->fd, &work->err);
}

void work_cancel(struct artifact_work **work)
{
	if (*work)
		(*work)->operation = NULL;
	*work = NULL;
}

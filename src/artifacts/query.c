#include "base/base.h"
#include "artifacts/store_private.h"

/* Getting, listing and deleting: one request to the index each. */

/* -- get ------------------------------------------------------------------------------------------------- */

static void get_done(struct db_request *request, bool cancelled)
{
	struct artifact_work *work = container_of(request, struct artifact_work, request);
	struct artifact_get *get = work->operation;

	(void)cancelled; /* work->operation tells */
	if (get) {
		get->work = NULL;
		get->done(get, work->err.code ? NULL : &work->artifact, take_fd(&work->fd), work_err(work));
	}
	work_free(work);
}

void artifact_get_start(struct artifact_get *get, struct artifact_store *store, struct str id, bool want_body,
			artifact_get_done *done)
{
	struct artifact_work *work = work_new(store, get);

	work->id = arena_copy(&work->arena, id);
	work->want_body = want_body;
	*get = (struct artifact_get){ .work = work, .done = done };
	db_worker_submit(store->worker, &work->request, work_find, get_done);
}

void artifact_get_cancel(struct artifact_get *get)
{
	if (get->work)
		db_request_cancel(&get->work->request);
	work_cancel(&get->work);
}

/* -- list ------------------------------------------------------------------------------------------------ */

static void list_work(struct db_request *request, struct db *db)
{
	struct artifact_work *work = container_of(request, struct artifact_work, request);

	index_list(db, work->run, work->session, work->limit, work->now_ms, &work->arena, &work->list,
		   &work->count, &work->err);
}

static void list_done(struct db_request *request, bool cancelled)
{
	struct artifact_work *work = container_of(request, struct artifact_work, request);
	struct artifact_list *list = work->operation;

	(void)cancelled;
	if (list) {
		list->work = NULL;
		list->done(list, work->list, work->count, work_err(work));
	}
	work_free(work);
}

void artifact_list_start(struct artifact_list *list, struct artifact_store *store, struct str run,
			 struct str session, unsigned limit, artifact_list_done *done)
{
	struct artifact_work *work = work_new(store, list);
	unsigned most = store->ledger.limits.list_limit;

	work->run = arena_copy(&work->arena, run);
	work->session = arena_copy(&work->arena, session);
	work->limit = limit == 0 || limit > most ? most : limit;
	*list = (struct artifact_list){ .work = work, .done = done };
	db_worker_submit(store->worker, &work->request, list_work, list_done);
}

void artifact_list_cancel(struct artifact_list *list)
{
	if (list->work)
		db_request_cancel(&list->work->request);
	work_cancel(&list->work);
}

/* -- delete ---------------------------------------------------------------------------------------------- */

static void delete_work(struct db_request *request, struct db *db)
{
	struct artifact_work *work = container_of(request, struct artifact_work, request);

	if (ledger_delete(&work->store->ledger, db, work->id, work->now_ms, &work->err) == 0)
		index_usage(db, &work->usage, &work->err);
}

static void delete_done(struct db_request *request, bool cancelled)
{
	struct artifact_work *work = container_of(request, struct artifact_work, request);
	struct artifact_delete *delete = work->operation;

	(void)cancelled;
	if (!work->err.code)
		store_count(work->store, &work->usage);
	if (delete) {
		delete->work = NULL;
		delete->done(delete, work_err(work));
	}
	work_free(work);
}

void artifact_delete_start(struct artifact_delete *delete, struct artifact_store *store, struct str id,
			   artifact_delete_done *done)
{
	struct artifact_work *work = work_new(store, delete);

	work->id = arena_copy(&work->arena, id);
	*delete = (struct artifact_delete){ .work = work, .done = done };
	db_worker_submit(store->worker, &work->request, delete_work, delete_done);
}

/* The request itself goes on: a deletion that was asked for happens. */
void artifact_delete_cancel(struct artifact_delete *delete)
{
	work_cancel(&delete->work);
}

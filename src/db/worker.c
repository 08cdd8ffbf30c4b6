#include "base/base.h"
#include "db/db.h"

/* One turn is one request on the worker pool. The next one begins when its `done` has returned, so `done`
 * may submit more. */
struct turn {
	struct job job;
	struct db_worker *worker;
	struct db_request *request; /* NULL: close the database */
};

struct db_worker {
	struct loop *loop;
	struct db *db;
	struct list_node waiting; /* requests, oldest first */
	bool running;
	bool closing;
	void (*closed)(void *context);
	void *context;
};

static void turn_next(struct db_worker *worker);

static void turn_work(struct job *job)
{
	struct turn *turn = container_of(job, struct turn, job);

	if (turn->request)
		turn->request->work(turn->request, turn->worker->db);
	else
		db_close(&turn->worker->db);
}

static void worker_closed(struct db_worker *worker)
{
	void (*closed)(void *context) = worker->closed;
	void *context = worker->context;

	free(worker);
	if (closed)
		closed(context);
}

static void turn_done(struct job *job, bool cancelled)
{
	struct turn *turn = container_of(job, struct turn, job);
	struct db_worker *worker = turn->worker;
	struct db_request *request = turn->request;

	/* Turns are never cancelled: only the request knows whether anyone still cares. */
	BUG_ON(cancelled);
	free(turn);
	if (!request) {
		worker_closed(worker);
		return;
	}
	request->done(request, request->cancelled);
	worker->running = false;
	turn_next(worker);
}

static void turn_start(struct db_worker *worker, struct db_request *request)
{
	struct turn *turn = xnew(struct turn);

	turn->worker = worker;
	turn->request = request;
	worker->running = true;
	loop_work(worker->loop, &turn->job, turn_work, turn_done);
}

/* Begins the oldest request that is still wanted, or the end. */
static void turn_next(struct db_worker *worker)
{
	while (!worker->running && !list_empty(&worker->waiting)) {
		struct db_request *request = list_first(&worker->waiting, struct db_request, node);

		list_remove(&request->node);
		if (!request->cancelled) {
			turn_start(worker, request);
			return;
		}
		/* Submitting from within `done` must not begin a turn here as well. */
		worker->running = true;
		request->done(request, true);
		worker->running = false;
	}
	if (!worker->running && worker->closing)
		turn_start(worker, NULL);
}

struct db_worker *db_worker_new(struct loop *loop, struct db *db)
{
	struct db_worker *worker = xnew(struct db_worker);

	worker->loop = loop;
	worker->db = db;
	list_init(&worker->waiting);
	return worker;
}

void db_worker_close(struct db_worker *worker, void (*closed)(void *context), void *context)
{
	BUG_ON(worker->closing);
	worker->closing = true;
	worker->closed = closed;
	worker->context = context;
	turn_next(worker);
}

void db_worker_submit(struct db_worker *worker, struct db_request *request, db_request_work *work,
		      db_request_done *done)
{
	BUG_ON(worker->closing);
	request->work = work;
	request->done = done;
	request->cancelled = false;
	list_append(&worker->waiting, &request->node);
	if (!worker->running)
		turn_next(worker);
}

void db_request_cancel(struct db_request *request)
{
	request->cancelled = true;
}

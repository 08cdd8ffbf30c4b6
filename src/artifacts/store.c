#include "base/base.h"
#include "artifacts/store_private.h"

/*
 * A sweep is a chain of short requests to the index. The first after the start compares bodies and index;
 * every one collects what has expired. Between two requests of it uploads and questions have their turn.
 */
struct sweep {
	struct db_request request;
	struct artifact_store *store;
	unsigned prefix; /* BLOB_PREFIX_COUNT when there is nothing to recover (any more) */
	bool more;
	uint64_t now_ms;
	struct artifact_usage usage;
	struct err err;
};

static void sweep_start(struct artifact_store *store, unsigned prefix);

static void close_if_idle(struct artifact_store *store);

void store_hold(struct artifact_store *store)
{
	BUG_ON(store->closing);
	store->active++;
}

void store_let_go(struct artifact_store *store)
{
	BUG_ON(store->active == 0);
	store->active--;
	close_if_idle(store);
}

void store_count(struct artifact_store *store, const struct artifact_usage *counted)
{
	store->usage.bytes = counted->bytes;
	store->usage.blobs = counted->blobs;
	store->usage.artifacts = counted->artifacts;
}

/* -- the time -------------------------------------------------------------------------------------------- */

struct clock_change {
	struct db_request request;
	struct artifact_store *store;
	int64_t step_ms;
	struct err err;
};

static void change_work(struct db_request *request, struct db *db)
{
	struct clock_change *change = container_of(request, struct clock_change, request);

	index_move_times(db, change->step_ms, &change->err);
}

static void change_done(struct db_request *request, bool cancelled)
{
	struct clock_change *change = container_of(request, struct clock_change, request);
	struct artifact_store *store = change->store;

	(void)cancelled; /* nobody cancels it */
	if (change->err.code)
		store->trouble = change->err;
	free(change);
	store_let_go(store);
}

uint64_t store_now(struct artifact_store *store)
{
	struct clock_reading now = clock_read();
	int64_t step_ms = clock_step(&store->clock, &now);
	struct clock_change *change;

	store->clock = now;
	if (step_ms == 0)
		return now.wall_ms;
	change = xnew(struct clock_change);
	store_hold(store);
	change->store = store;
	change->step_ms = step_ms;
	db_worker_submit(store->worker, &change->request, change_work, change_done);
	return now.wall_ms;
}

/* -- sweeping -------------------------------------------------------------------------------------------- */

static void sweep_timer(struct timer *timer)
{
	sweep_start(container_of(timer, struct artifact_store, timer), BLOB_PREFIX_COUNT);
}

static void sweep_work(struct db_request *request, struct db *db)
{
	struct sweep *sweep = container_of(request, struct sweep, request);
	const struct ledger *ledger = &sweep->store->ledger;
	int r;

	if (sweep->prefix == 0)
		index_mend_future(db, sweep->now_ms, &sweep->err);
	if (sweep->prefix < BLOB_PREFIX_COUNT)
		r = ledger_recover(ledger, db, &sweep->prefix, &sweep->usage, &sweep->err);
	else
		r = ledger_collect(ledger, db, sweep->now_ms, &sweep->more, &sweep->err);
	if (r == 0)
		index_usage(db, &sweep->usage, &sweep->err);
}

static void sweep_done(struct db_request *request, bool cancelled);

static void sweep_next(struct sweep *sweep)
{
	sweep->more = false;
	sweep->err.code = 0;
	db_worker_submit(sweep->store->worker, &sweep->request, sweep_work, sweep_done);
}

static void sweep_end(struct sweep *sweep)
{
	struct artifact_store *store = sweep->store;

	store->sweep = NULL;
	free(sweep);
	if (!store->closing)
		timer_start(&store->timer, store->loop, store->ledger.limits.sweep_ms, sweep_timer);
	close_if_idle(store);
}

static void sweep_account(struct sweep *sweep)
{
	struct artifact_store *store = sweep->store;

	store->usage.removed_orphans += sweep->usage.removed_orphans;
	store->usage.removed_missing += sweep->usage.removed_missing;
	sweep->usage.removed_orphans = sweep->usage.removed_missing = 0;
	if (sweep->err.code)
		store->trouble = sweep->err;
	else
		store_count(store, &sweep->usage);
}

/* A directory that cannot be read does not keep the others from being recovered. */
static void sweep_done(struct db_request *request, bool cancelled)
{
	struct sweep *sweep = container_of(request, struct sweep, request);
	bool recovering = sweep->prefix < BLOB_PREFIX_COUNT;

	(void)cancelled; /* nobody cancels it */
	sweep_account(sweep);
	if (sweep->store->closing || !(recovering || sweep->more))
		sweep_end(sweep);
	else
		sweep_next(sweep);
}

static void sweep_start(struct artifact_store *store, unsigned prefix)
{
	struct sweep *sweep = xnew(struct sweep);

	sweep->store = store;
	sweep->prefix = prefix;
	sweep->now_ms = store_now(store);
	store->sweep = sweep;
	store->trouble.code = 0;
	sweep_next(sweep);
}

/* -- opening and closing --------------------------------------------------------------------------------- */

int artifact_store_open(struct artifact_store **ret_store, struct loop *loop, const char *directory,
			const struct artifact_limits *limits, struct err *err)
{
	_cleanup_free_ struct artifact_store *store = xnew(struct artifact_store);
	struct db *db = NULL;
	struct err reason;
	int r = ledger_open(&store->ledger, directory, limits, &db, &reason);

	if (r == 0) {
		r = index_usage(db, &store->usage, &reason);
		if (r < 0) {
			db_close(&db);
			ledger_release(&store->ledger);
		}
	}
	if (r < 0)
		return err_set(err, r, "%s", reason.message);
	store->loop = loop;
	store->clock = clock_read();
	store->usage.quota = limits->quota;
	store->usage.removed_temporaries = store->ledger.blobs.removed_temporaries;
	store->worker = db_worker_new(loop, db);
	sweep_start(store, 0);
	*ret_store = take_ptr(store);
	return 0;
}

static void store_closed(void *context)
{
	struct artifact_store *store = context;
	void (*closed)(void *context) = store->closed;
	void *closed_context = store->context;

	ledger_release(&store->ledger);
	free(store);
	if (closed)
		closed(closed_context);
}

static void close_if_idle(struct artifact_store *store)
{
	if (store->closing && store->active == 0 && !store->sweep)
		db_worker_close(store->worker, store_closed, store);
}

void artifact_store_close(struct artifact_store **store, void (*closed)(void *context), void *context)
{
	struct artifact_store *closing = take_ptr(*store);

	closing->closing = true;
	closing->closed = closed;
	closing->context = context;
	timer_stop(&closing->timer);
	close_if_idle(closing);
}

void artifact_store_usage(const struct artifact_store *store, struct artifact_usage *ret_usage)
{
	*ret_usage = store->usage;
}

const struct err *artifact_store_trouble(const struct artifact_store *store)
{
	return store->trouble.code ? &store->trouble : NULL;
}

const struct artifact_limits *artifact_store_limits(const struct artifact_store *store)
{
	return &store->ledger.limits;
}

/*
 * store_private.h - what the operations of the store share. Private to this room; the loop thread's, except
 * where it says otherwise.
 */
#ifndef ARTIFACTS_STORE_PRIVATE_H
#define ARTIFACTS_STORE_PRIVATE_H

#include "artifacts/clock.h"
#include "artifacts/ledger.h"
#include "artifacts/store.h"
#include "db/db.h"

struct sweep;

struct artifact_store {
	struct loop *loop;
	struct ledger ledger; /* does not change while the store is open, so workers may read it */
	struct db_worker *worker;
	struct artifact_usage usage;
	struct clock_reading clock; /* the last; times in the index are from before any later step */
	struct err trouble;	    /* code 0: none */
	struct timer timer;	    /* until the next sweep */
	struct sweep *sweep;	    /* under way; NULL between two */
	size_t active;		    /* operations whose work may still touch the store, also cancelled ones */
	bool closing;
	void (*closed)(void *context);
	void *context;
};

/* An operation has work under way; the store stays until it lets go. */
void store_hold(struct artifact_store *store);
void store_let_go(struct artifact_store *store);

/* The wall clock, for whatever is asked of the index next. When it was set, what moves the times in the index
 * is queued first. */
uint64_t store_now(struct artifact_store *store);

/* Takes over what index_usage() counted on the worker. */
void store_count(struct artifact_store *store, const struct artifact_usage *counted);

/*
 * One question to the index, of which some go on to do something with the body. The work owns everything it
 * needs; the operation that began it only holds a pointer, and `operation` is NULL once that was cancelled.
 */
struct artifact_work {
	struct db_request request;
	struct job job;
	struct artifact_store *store;
	void *operation;
	struct arena arena;
	struct err err; /* code 0: fine */
	/* asked */
	struct str id, run, session, directory;
	unsigned limit;
	uint64_t offset, now_ms;
	size_t n;
	bool want_body, base64;
	/* found */
	struct artifact artifact;
	struct artifact *list;
	size_t count;
	int fd; /* -1 when there is none */
	struct buf bytes;
	struct str path;
	struct artifact_usage usage;
};

struct artifact_work *work_new(struct artifact_store *store, void *operation);
void work_free(struct artifact_work *work);
/* Finds work->id, and opens its body when that is wanted. On the worker. */
void work_find(struct db_request *request, struct db *db);
/* The operation's pointer to its work goes, and with it every further callback. */
void work_cancel(struct artifact_work **work);

static inline const struct err *work_err(const struct artifact_work *work)
{
	return work->err.code ? &work->err : NULL;
}

#endif

/*
 * db.h - SQLite databases: one file per concern in the state directory.
 *
 * A database is opened in WAL mode with foreign keys, a busy time-out, a bounded page cache, no extensions,
 * no trusted schema and mode 0600. The schema is a list of numbered migrations, applied in one transaction
 * each; user_version says which were. A migration that fails leaves the schema as it was before it.
 *
 * Every error message begins with the file's path, carries SQLite's own words and says what can be done. The
 * codes are the same everywhere:
 *
 *	ERR_BUSY         another process held a lock for longer than `busy_ms`
 *	ERR_EXISTS       a row with this key is there already (UNIQUE, PRIMARY KEY)
 *	ERR_INVALID      another constraint of the schema forbids it; what has the path is no file
 *	ERR_TOO_LARGE    a value is larger than SQLite's limit (by default 10^9 bytes)
 *	ERR_DENIED       the file, or where it lies, cannot be written
 *	ERR_NOT_FOUND    the directory it should be in is not there (db_open() only)
 *	ERR_UNSUPPORTED  a newer program wrote it (db_open() only)
 *	ERR_FULL         no space is left on the disk or in its quota
 *	ERR_IO           all else: the disk fails, the file is damaged or is no database
 *
 * What a commit promises: it survives the end of this process, however that comes. With `durable` it is also
 * on the disk when db_commit() returns (synchronous = FULL: one fsync of the log per commit) and so survives
 * a power loss; without, a power loss may take the last commits back, never tear one (synchronous = NORMAL).
 * Caches and indexes that can be rebuilt need no more.
 *
 * A struct db belongs to one thread at a time. On the event loop use struct db_worker: it owns one connection
 * and runs requests on it one after the other on the worker pool, in order, so that there is one writer and
 * the loop never waits for a disk.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct db;
struct db_statement;

struct db_options {
	/* migrations[i] takes the schema from version i to i + 1; without BEGIN and COMMIT. */
	const char *const *migrations;
	size_t migration_count;
	uint64_t busy_ms;   /* wait for a lock that another process holds; then ERR_BUSY */
	size_t cache_bytes; /* most memory for pages; at least one page is kept */
	bool durable;	    /* commits survive a power loss */
};

/* Opens or creates `path` (absolute; its directory exists) and brings its schema up to date.
 * ERR_UNSUPPORTED when a newer program wrote it. */
int db_open(struct db **ret_db, const char *path, const struct db_options *options, struct err *err);
/* Accepts NULL; sets the pointer to NULL. A transaction that is open is rolled back. */
void db_close(struct db **db);
#define _cleanup_db_ _cleanup_(db_close)

/* A prepared statement, kept by the database and prepared once per text (compared by pointer: pass string
 * literals). It comes back reset, all its parameters NULL. NULL on failure, which err->code names. */
struct db_statement *db_prepare(struct db *db, const char *sql, struct err *err);
/* Values are copied. An empty string is an empty text, not NULL. What does not fit SQLite's limits fails
 * at db_step(). */
void db_bind_str(struct db_statement *s, int at, struct str value); /* text; 1-based */
void db_bind_blob(struct db_statement *s, int at, struct str value);
void db_bind_int(struct db_statement *s, int at, int64_t value);
void db_bind_null(struct db_statement *s, int at);
/* 1 a row is there, 0 done (the statement is reset), negative an error (reset too). */
int db_step(struct db_statement *s, struct err *err);
/* Ends a statement of which not all rows were taken; until then it keeps the database from being
 * checkpointed. Accepts NULL. */
void db_reset(struct db_statement *s);
static inline void db_reset_at(struct db_statement **s)
{
	db_reset(*s);
}
#define _cleanup_statement_ _cleanup_(db_reset_at)
/* Columns count from 0. Copied into the arena; NULL gives an empty string with .p NULL. */
struct str db_column_str(struct db_statement *s, int at, struct arena *arena);
int64_t db_column_int(struct db_statement *s, int at);

/* One statement without parameters; rows are dropped. */
int db_run(struct db *db, const char *sql, struct err *err);
/* Rows changed by the last INSERT, UPDATE or DELETE, and the rowid of the last INSERT. */
int64_t db_changes(const struct db *db);
int64_t db_last_rowid(const struct db *db);

/* Transactions: begin takes the write lock at once. A failed commit rolls back. Nesting is a BUG. A
 * rollback without a transaction does nothing, so that every failure may end in one, and every failure must:
 * some (a full disk) have already taken back all that was done, and a commit without a transaction is a
 * BUG. */
int db_begin(struct db *db, struct err *err);
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);

/* -- on the loop ----------------------------------------------------------------------------------------- */

struct db_worker;
struct db_request;
/* On a worker thread: touches only db and the request's own fields. */
typedef void db_request_work(struct db_request *request, struct db *db);
/* On the loop; frees the request. `cancelled`: only free what the request owns; its work may have run or
 * not. */
typedef void db_request_done(struct db_request *request, bool cancelled);

struct db_request {
	struct list_node node;
	db_request_work *work;
	db_request_done *done;
	bool cancelled;
};

/* Takes over `db`. */
struct db_worker *db_worker_new(struct loop *loop, struct db *db);
/* Lets the queue run empty, then closes the database on the worker pool, calls `closed` (may be NULL) from
 * the loop and frees the worker. Nothing may be submitted any more. */
void db_worker_close(struct db_worker *worker, void (*closed)(void *context), void *context);
/* Queues a request. Its storage is on the heap and its own, as with struct job: `done` always comes, once,
 * and frees it. The queue takes what it is given: how many may wait is bounded by who submits. */
void db_worker_submit(struct db_worker *worker, struct db_request *request, db_request_work *work,
		      db_request_done *done);
/* The owner has lost interest: `done` still comes, with cancelled = true. Work that has not begun is
 * skipped. */
void db_request_cancel(struct db_request *request);

#endif

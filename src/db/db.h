/*
 * db.h - SQLite databases: one file per concern in the state directory.
 *
 * A database is opened in WAL mode with foreign keys, a busy time-out, no extensions, no trusted schema and secure permissions (0600).
 * The schema is a list of numbered migrations, applied in one transaction each; user_version says which were. A database of a
 * newer program is refused.
 *
 * A struct db belongs to one thread at a time. On the event loop use struct db_worker: it owns one connection and runs requests on it one after the
 * other on the worker pool, in order, so that there is one writer and the loop never waits for a disk.
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

/* Opens or creates `path` and brings its schema up to date: migrations[i] takes it from version i to i + 1. */
int db_open(struct db **ret_db, const char *path, const char *const *migrations, size_t migration_count,
	    struct err *err);
void db_close(struct db **db);

/* A prepared statement, kept by the database and prepared once per text (compare by pointer: pass string literals). */
struct db_statement *db_prepare(struct db *db, const char *sql, struct err *err);
void db_bind_str(struct db_statement *s, int at, struct str value); /* text; 1-based */
void db_bind_blob(struct db_statement *s, int at, struct str value);
void db_bind_int(struct db_statement *s, int at, int64_t value);
void db_bind_null(struct db_statement *s, int at);
/* 1 a row is there, 0 done (the statement is reset), negative an error (reset too). */
int db_step(struct db_statement *s, struct err *err);
void db_reset(struct db_statement *s);
/* Copied into the arena; NULL gives an empty string with .p NULL. */
struct str db_column_str(struct db_statement *s, int at, struct arena *arena);
int64_t db_column_int(struct db_statement *s, int at);

/* One statement without parameters or rows. */
int db_run(struct db *db, const char *sql, struct err *err);
int64_t db_changes(const struct db *db);

/* Transactions: begin takes the write lock at once. A failed commit rolls back. Nesting is a BUG. */
int db_begin(struct db *db, struct err *err);
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);

/* -- on the loop --------------------------------------------------------------------------------------------------------- */

struct db_worker;
struct db_request;
/* On the worker thread: only db and the request's own fields. */
typedef void db_request_work(struct db_request *request, struct db *db);
/* On the loop; frees the request. */
typedef void db_request_done(struct db_request *request, bool cancelled);

struct db_request {
	struct list_node node;
	db_request_work *work;
	db_request_done *done;
	bool cancelled;
};

/* Takes over `db`. */
struct db_worker *db_worker_new(struct loop *loop, struct db *db);
/* Waits for the queue to empty, then closes and calls `closed`. */
void db_worker_close(struct db_worker *worker, void (*closed)(void *context), void *context);
/* Heap storage owned by the request, as with struct job. */
void db_worker_submit(struct db_worker *worker, struct db_request *request, db_request_work *work,
		      db_request_done *done);
void db_request_cancel(struct db_request *request);

#endif

#include "base/base.h"
#include "db/connection.h"

struct db_statement {
	struct db_statement *next;
	struct db *db;
	const char *sql; /* the literal, which is also its identity */
	sqlite3_stmt *handle;
	int bind_result; /* the first bind that failed, told by db_step() */
};

static struct db_statement *find_statement(struct db *db, const char *sql)
{
	for (struct db_statement *s = db->statements; s; s = s->next)
		if (s->sql == sql)
			return s;
	return NULL;
}

static void clear_statement(struct db_statement *s)
{
	sqlite3_reset(s->handle);
	sqlite3_clear_bindings(s->handle);
	s->bind_result = SQLITE_OK;
}

struct db_statement *db_prepare(struct db *db, const char *sql, struct err *err)
{
	struct db_statement *s = find_statement(db, sql);
	sqlite3_stmt *handle;
	int result;

	if (s) {
		clear_statement(s);
		return s;
	}
	BUG_ON(db->statement_count == DB_STATEMENTS_MAX);
	result = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, NULL);
	if (result != SQLITE_OK) {
		db_fail(db, result, sql, err);
		return NULL;
	}
	s = xnew(struct db_statement);
	*s = (struct db_statement){ .next = db->statements, .db = db, .sql = sql, .handle = handle };
	db->statements = s;
	db->statement_count++;
	return s;
}

/* A parameter that the statement does not have is our own mistake; a value that is too big is not. */
static void note_bind(struct db_statement *s, int result)
{
	BUG_ON(result == SQLITE_RANGE || result == SQLITE_MISUSE);
	if (s->bind_result == SQLITE_OK)
		s->bind_result = result;
}

void db_bind_str(struct db_statement *s, int at, struct str value)
{
	note_bind(s, sqlite3_bind_text64(s->handle, at, value.n ? value.p : "", value.n, SQLITE_TRANSIENT,
					 SQLITE_UTF8));
}

void db_bind_blob(struct db_statement *s, int at, struct str value)
{
	note_bind(s, sqlite3_bind_blob64(s->handle, at, value.n ? value.p : "", value.n, SQLITE_TRANSIENT));
}

void db_bind_int(struct db_statement *s, int at, int64_t value)
{
	note_bind(s, sqlite3_bind_int64(s->handle, at, value));
}

void db_bind_null(struct db_statement *s, int at)
{
	note_bind(s, sqlite3_bind_null(s->handle, at));
}

static int fail_bind(struct db_statement *s, struct err *err)
{
	if (s->bind_result == SQLITE_TOOBIG)
		return err_set(err, ERR_TOO_LARGE, "%s: %s: a value is larger than SQLite's limit",
			       s->db->path, s->sql);
	return err_set(err, ERR_IO, "%s: %s: %s", s->db->path, s->sql, sqlite3_errstr(s->bind_result));
}

int db_step(struct db_statement *s, struct err *err)
{
	int result, r;

	if (s->bind_result != SQLITE_OK) {
		r = fail_bind(s, err);
		clear_statement(s);
		return r;
	}
	result = sqlite3_step(s->handle);
	if (result == SQLITE_ROW)
		return 1;
	r = result == SQLITE_DONE ? 0 : db_fail(s->db, result, s->sql, err);
	sqlite3_reset(s->handle);
	return r;
}

void db_reset(struct db_statement *s)
{
	if (s)
		sqlite3_reset(s->handle);
}

struct str db_column_str(struct db_statement *s, int at, struct arena *arena)
{
	const void *p;

	if (sqlite3_column_type(s->handle, at) == SQLITE_NULL)
		return str_make(NULL, 0);
	/* The pointer first: asking for it may convert the value and change its length. An empty blob has
	 * none. */
	p = sqlite3_column_blob(s->handle, at);
	return arena_copy(arena, str_make(p, p ? (size_t)sqlite3_column_bytes(s->handle, at) : 0));
}

int64_t db_column_int(struct db_statement *s, int at)
{
	return sqlite3_column_int64(s->handle, at);
}

static void free_statements(struct db *db)
{
	while (db->statements) {
		struct db_statement *s = db->statements;

		db->statements = s->next;
		sqlite3_finalize(s->handle);
		free(s);
	}
}

void db_close(struct db **db)
{
	struct db *closing = *db;

	if (!closing)
		return;
	free_statements(closing);
	/* Fails only when statements are left. */
	BUG_ON(sqlite3_close(closing->handle) != SQLITE_OK);
	free(closing->path);
	free(closing);
	*db = NULL;
}

int db_run(struct db *db, const char *sql, struct err *err)
{
	int result = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return result == SQLITE_OK ? 0 : db_fail(db, result, sql, err);
}

int64_t db_changes(const struct db *db)
{
	return sqlite3_changes64(db->handle);
}

int64_t db_last_rowid(const struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

static bool in_transaction(const struct db *db)
{
	return sqlite3_get_autocommit(db->handle) == 0;
}

int db_begin(struct db *db, struct err *err)
{
	BUG_ON(in_transaction(db));
	return db_run(db, "BEGIN IMMEDIATE", err);
}

int db_commit(struct db *db, struct err *err)
{
	int r;

	BUG_ON(!in_transaction(db));
	r = db_run(db, "COMMIT", err);
	if (r < 0)
		db_rollback(db);
	return r;
}

/* Some failures (a full disk, no memory) have ended the transaction already. */
void db_rollback(struct db *db)
{
	if (in_transaction(db))
		db_run(db, "ROLLBACK", NULL);
}

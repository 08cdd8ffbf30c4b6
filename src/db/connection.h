/*
 * connection.h - what the files of this room share: one open connection. Private to db/.
 */
#ifndef DB_CONNECTION_H
#define DB_CONNECTION_H

#include "base/base.h"
#include "base/err.h"
#include "db/db.h"

#include <sqlite3.h>

/* A cache of statements that outgrows this was given texts that are no literals. */
enum { DB_STATEMENTS_MAX = 256 };

struct db {
	sqlite3 *handle;
	char *path;
	uint64_t busy_ms;
	struct db_statement *statements; /* newest first */
	size_t statement_count;
};

/* Fills `err` for an extended result code of SQLite on this connection: "path: what: SQLite's message". */
int db_fail(struct db *db, int result, const char *what, struct err *err);

/* Brings the schema from the version the file has to `count`. */
int db_migrate(struct db *db, const char *const *migrations, size_t count, struct err *err);

#endif

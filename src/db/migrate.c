#include "base/base.h"
#include "db/connection.h"

/*
 * user_version counts the migrations that a file has seen. Each runs with its own counting in one
 * transaction, and looks at the version again inside it, because another process may have opened the same
 * file a moment ago.
 */

static int read_version(struct db *db, int64_t *ret_version, struct err *err)
{
	struct db_statement *s = db_prepare(db, "PRAGMA user_version", err);
	int r;

	if (!s)
		return err ? err->code : ERR_IO;
	r = db_step(s, err);
	if (r < 0)
		return r;
	*ret_version = db_column_int(s, 0);
	db_reset(s);
	return 0;
}

static int apply(struct db *db, const char *migration, size_t at, struct err *err)
{
	char pragma[64];
	int64_t version = 0;
	int r = read_version(db, &version, err);
	int result;

	if (r < 0 || version != (int64_t)at)
		return r;
	result = sqlite3_exec(db->handle, migration, NULL, NULL, NULL);
	if (result != SQLITE_OK)
		return db_fail(db, result, "changing the schema", err);
	BUG_ON(sqlite3_get_autocommit(db->handle));
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %zu", at + 1);
	return db_run(db, pragma, err);
}

static int migrate_one(struct db *db, const char *migration, size_t at, struct err *err)
{
	int r = db_begin(db, err);

	if (r == 0)
		r = apply(db, migration, at, err);
	if (r == 0)
		r = db_commit(db, err);
	if (r < 0) {
		db_rollback(db);
		return err_prefix(err, r, "schema version %zu", at + 1);
	}
	return 0;
}

int db_migrate(struct db *db, const char *const *migrations, size_t count, struct err *err)
{
	int64_t version = 0;
	int r = read_version(db, &version, err);

	if (r < 0)
		return r;
	if (version < 0 || (uint64_t)version > count)
		return err_set(
			err, ERR_UNSUPPORTED,
			"%s: has schema version %lld, and this program knows versions up to %zu: a newer "
			"program wrote it; run that one, or move its directory away to begin with an empty one",
			db->path, (long long)version, count);
	for (size_t at = (size_t)version; at < count; at++) {
		r = migrate_one(db, migrations[at], at, err);
		if (r < 0)
			return r;
	}
	return 0;
}

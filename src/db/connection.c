#include "base/base.h"
#include "db/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/*
 * A connection is set up so that a damaged or hostile file can do as little as SQLite allows: no extensions,
 * no functions with side effects from the schema, no writes to shadow tables, cells checked before they are
 * used.
 */

static int code_of_result(int result)
{
	if (result == SQLITE_CONSTRAINT_UNIQUE || result == SQLITE_CONSTRAINT_PRIMARYKEY ||
	    result == SQLITE_CONSTRAINT_ROWID)
		return ERR_EXISTS;
	switch (result & 0xff) {
	case SQLITE_BUSY:
		return ERR_BUSY;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_RANGE:
		return ERR_INVALID;
	case SQLITE_TOOBIG:
		return ERR_TOO_LARGE;
	case SQLITE_FULL:
		return ERR_FULL;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_AUTH:
		return ERR_DENIED;
	case SQLITE_INTERRUPT:
		return ERR_CANCELLED;
	default:
		return ERR_IO;
	}
}

/* What the user can do, where SQLite's own words leave that open. */
static const char *advice_for(int reason)
{
	switch (reason) {
	case SQLITE_FULL:
		return "; free space and try again";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return "; the database is damaged: move its directory away to begin with an empty one";
	default:
		return "";
	}
}

int db_fail(struct db *db, int result, const char *what, struct err *err)
{
	int reason = result & 0xff;
	int system = sqlite3_system_errno(db->handle);
	int code = reason == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT) ? ERR_FULL
										    : code_of_result(result);

	if (code == ERR_BUSY)
		return err_set(err, code, "%s: %s: another process held the lock for over %llu ms (%s)",
			       db->path, what, (unsigned long long)db->busy_ms, sqlite3_errmsg(db->handle));
	if ((reason == SQLITE_IOERR || reason == SQLITE_CANTOPEN) && system != 0)
		return err_set(err, code, "%s: %s: %s: %s", db->path, what, sqlite3_errmsg(db->handle),
			       strerrordesc_np(system));
	return err_set(err, code, "%s: %s: %s%s", db->path, what, sqlite3_errmsg(db->handle),
		       advice_for(reason));
}

/*
 * SQLite would create the file with the umask's idea of permissions, and gives its log the permissions of the
 * file. An existing file is not opened here: closing any descriptor of it would drop the locks of another
 * connection of this process (fcntl(2)).
 */
static int make_private(const char *path, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat status;

	if (fd >= 0)
		return 0;
	if (errno != EEXIST)
		return err_errno(err, "%s: cannot create the database", path);
	if (stat(path, &status) < 0)
		return err_errno(err, "%s: cannot open the database", path);
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_INVALID, "%s: cannot open the database: not a regular file", path);
	if ((status.st_mode & 077) != 0 && chmod(path, 0600) < 0)
		return err_errno(err, "%s: others may read the database and its mode cannot be changed",
				 path);
	return 0;
}

static int configure_connection(struct db *db, struct err *err)
{
	static const struct {
		int option, value;
	} options[] = {
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		int result = sqlite3_db_config(db->handle, options[i].option, options[i].value, NULL);

		if (result != SQLITE_OK)
			return db_fail(db, result, "configuring the connection", err);
	}
	sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
	return 0;
}

/* A negative cache_size counts KiB. */
static int set_cache(struct db *db, size_t cache_bytes, struct err *err)
{
	char pragma[64];
	size_t kibibytes = size_max(size_min(cache_bytes / 1024, INT32_MAX), 1);

	snprintf(pragma, sizeof(pragma), "PRAGMA cache_size = -%zu", kibibytes);
	return db_run(db, pragma, err);
}

/* Where the file system cannot share memory between processes, SQLite keeps its rollback journal: slower, and
 * with `durable` as safe. */
static int set_pragmas(struct db *db, const struct db_options *options, struct err *err)
{
	int r = db_run(db, "PRAGMA journal_mode = WAL", err);

	if (r == 0)
		r = db_run(db, options->durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
			   err);
	if (r == 0)
		r = db_run(db, "PRAGMA cell_size_check = ON", err);
	if (r == 0)
		r = db_run(db, "PRAGMA mmap_size = 0", err);
	if (r == 0)
		r = set_cache(db, options->cache_bytes, err);
	return r;
}

/* sqlite3_busy_timeout() counts in an int. */
static int busy_milliseconds(uint64_t ms)
{
	return (int)(ms > INT32_MAX ? INT32_MAX : ms);
}

static int open_handle(struct db *db, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
		    SQLITE_OPEN_EXRESCODE;
	int result = sqlite3_open_v2(db->path, &db->handle, flags, NULL);

	if (result != SQLITE_OK)
		return db_fail(db, result, "opening the database", err);
	sqlite3_busy_timeout(db->handle, busy_milliseconds(db->busy_ms));
	return 0;
}

int db_open(struct db **ret_db, const char *path, const struct db_options *options, struct err *err)
{
	_cleanup_db_ struct db *db = xnew(struct db);
	int r;

	db->path = strdup(path);
	BUG_ON(!db->path);
	db->busy_ms = options->busy_ms;
	r = make_private(path, err);
	if (r == 0)
		r = open_handle(db, err);
	if (r == 0)
		r = configure_connection(db, err);
	if (r == 0)
		r = set_pragmas(db, options, err);
	if (r == 0)
		r = db_migrate(db, options->migrations, options->migration_count, err);
	if (r < 0)
		return r;
	*ret_db = take_ptr(db);
	return 0;
}

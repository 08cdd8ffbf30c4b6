#include "base/base.h"
#include "artifacts/abandoned.h"
#include "artifacts/ledger.h"
#include "base/ids.h"
#include "settings/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* -- finding --------------------------------------------------------------------------------------------- */

static bool is_store(struct str name)
{
	static const struct str prefix = STR_INIT("artifacts-");
	uint8_t key[DAEMON_KEY_BYTES];

	return str_eq(name, STR("artifacts")) ||
	       (str_starts_with(name, prefix) && hex_decode(key, sizeof(key), str_from(name, prefix.n)) == 0);
}

static bool is_directory(int at, const char *name)
{
	struct stat status;

	return fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

int abandoned_find(struct str state, struct str after, struct arena *arena, struct str *ret_name,
		   struct err *err)
{
	char least[ABANDONED_NAME_MAX] = "";
	DIR *directory = opendir(arena_cstr(arena, state));
	const struct dirent *entry;

	if (!directory)
		return err_errno(err, "%.*s: cannot be read", STR_ARG(state));
	while ((entry = readdir(directory)) != NULL) {
		struct str name = str_of(entry->d_name);

		if (name.n < sizeof(least) && is_store(name) && str_compare(name, after) > 0 &&
		    (!least[0] || strcmp(name.p, least) < 0) && is_directory(dirfd(directory), name.p))
			memcpy(least, name.p, name.n + 1);
	}
	closedir(directory);
	*ret_name = arena_copy(arena, str_of(least));
	return 0;
}

/* -- removing a store ------------------------------------------------------------------------------------ */

/* In the order in which they go: a log of changes must not outlive its index. */
static const char *const INDEX_FILES[] = { "index.db-wal", "index.db-shm", "index.db" };

static bool is_own_file(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(INDEX_FILES); i++)
		if (strcmp(name, INDEX_FILES[i]) == 0)
			return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lock") == 0 ||
	       strcmp(name, "tmp") == 0 || strcmp(name, "blobs") == 0;
}

static int refuse_strangers(int root, const char *path, struct err *err)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		close_fd(&fd);
		return err_errno(err, "%s: cannot be read", path);
	}
	while (r == 0 && (entry = readdir(directory)) != NULL)
		if (!is_own_file(entry->d_name))
			r = err_set(
				err, ERR_EXISTS,
				"%s: no artifact is left in it, and it stays for a file that is not the store's: %s",
				path, entry->d_name);
	closedir(directory);
	return r;
}

static int remove_name(int at, const char *name, int flags, const char *path, struct err *err)
{
	if (unlinkat(at, name, flags) < 0 && errno != ENOENT)
		return err_errno(err, "%s: %s cannot be removed", path, name);
	return 0;
}

static int remove_prefixes(const struct blobs *blobs, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < BLOB_PREFIX_COUNT; i++) {
		char name[3] = "";

		hex_encode(name, &(uint8_t){ (uint8_t)i }, 1);
		r = remove_name(blobs->blobs_fd, name, AT_REMOVEDIR, blobs->path, err);
	}
	return r;
}

/*
 * The lock goes last, so that whoever gets another one of that name finds an empty directory and not one that
 * still loses its files. Such a one keeps the directory.
 */
static int remove_store(const struct blobs *blobs, bool *ret_removed, struct err *err)
{
	_cleanup_close_ int root = open(blobs->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = root < 0 ? err_errno(err, "%s: cannot be opened", blobs->path)
			 : refuse_strangers(root, blobs->path, err);

	if (r == 0)
		r = remove_prefixes(blobs, err);
	if (r == 0)
		r = remove_name(root, "blobs", AT_REMOVEDIR, blobs->path, err);
	if (r == 0)
		r = remove_name(root, "tmp", AT_REMOVEDIR, blobs->path, err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(INDEX_FILES); i++)
		r = remove_name(root, INDEX_FILES[i], 0, blobs->path, err);
	if (r == 0)
		r = remove_name(root, "lock", 0, blobs->path, err);
	if (r == 0)
		*ret_removed = rmdir(blobs->path) == 0;
	return r;
}

/* -- a turn ---------------------------------------------------------------------------------------------- */

/* Bodies without a row, which a daemon that was killed left, go before the store can. */
static int remove_orphans(const struct ledger *ledger, struct db *db, bool *ret_more, struct err *err)
{
	struct artifact_usage found = { 0 };
	unsigned prefix = 0;
	int r = ledger_recover(ledger, db, &prefix, &found, err);

	*ret_more = r == 0 && prefix < BLOB_PREFIX_COUNT;
	return r;
}

static int collect(const struct ledger *ledger, struct db *db, const struct clock_bounds *now, bool *ret_more,
		   bool *ret_empty, struct err *err)
{
	struct artifact_usage usage;
	int r = index_mend_future(db, now->latest_ms, err);

	if (r == 0)
		r = ledger_collect(ledger, db, now->earliest_ms, ret_more, err);
	if (r == 0)
		r = index_usage(db, &usage, err);
	if (r < 0 || *ret_more || usage.artifacts > 0 || usage.blobs > 0)
		return r;
	r = remove_orphans(ledger, db, ret_more, err);
	*ret_empty = r == 0 && !*ret_more;
	return r;
}

int abandoned_collect(const char *directory, const struct artifact_limits *limits,
		      const struct clock_bounds *now, struct abandoned_result *ret_result, struct err *err)
{
	struct abandoned_result result = { 0 };
	struct ledger ledger;
	bool empty = false;
	struct err reason;
	struct db *db;
	int r = ledger_open_abandoned(&ledger, directory, limits, &db, &reason);

	if (r == 0) {
		r = collect(&ledger, db, now, &result.more, &empty, &reason);
		db_close(&db);
		if (empty)
			r = remove_store(&ledger.blobs, &result.removed, &reason);
		ledger_release(&ledger);
	} else if (r == ERR_BUSY || r == ERR_NOT_FOUND)
		r = 0;
	if (r < 0)
		return err_set(err, r, "%s", reason.message);
	*ret_result = result;
	return 0;
}

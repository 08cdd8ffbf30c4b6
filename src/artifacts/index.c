#include "base/base.h"
#include "artifacts/index.h"

static const char *const MIGRATIONS[] = {
	"CREATE TABLE blobs ("
	"  blob INTEGER PRIMARY KEY,"
	"  sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),"
	"  size INTEGER NOT NULL CHECK (size >= 0)"
	");"
	/* AUTOINCREMENT: a later artifact has a larger number, also when the newest was deleted. */
	"CREATE TABLE artifacts ("
	"  artifact INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  id TEXT NOT NULL UNIQUE,"
	"  blob INTEGER NOT NULL REFERENCES blobs (blob),"
	"  name TEXT NOT NULL,"
	"  mime TEXT NOT NULL,"
	"  run TEXT NOT NULL,"
	"  session TEXT NOT NULL,"
	"  created INTEGER NOT NULL,"
	"  expires INTEGER"
	");"
	"CREATE INDEX artifacts_by_blob ON artifacts (blob);"
	"CREATE INDEX artifacts_by_run ON artifacts (run, artifact);"
	"CREATE INDEX artifacts_by_session ON artifacts (session, artifact);"
	"CREATE INDEX artifacts_by_expiry ON artifacts (expires) WHERE expires IS NOT NULL;"
	"CREATE TABLE usage (bytes INTEGER NOT NULL, blobs INTEGER NOT NULL, artifacts INTEGER NOT NULL);"
	"INSERT INTO usage VALUES (0, 0, 0);"
	"CREATE TRIGGER blob_added AFTER INSERT ON blobs BEGIN"
	"  UPDATE usage SET bytes = bytes + new.size, blobs = blobs + 1;"
	"END;"
	"CREATE TRIGGER blob_removed AFTER DELETE ON blobs BEGIN"
	"  UPDATE usage SET bytes = bytes - old.size, blobs = blobs - 1;"
	"END;"
	"CREATE TRIGGER artifact_added AFTER INSERT ON artifacts BEGIN"
	"  UPDATE usage SET artifacts = artifacts + 1;"
	"END;"
	"CREATE TRIGGER artifact_removed AFTER DELETE ON artifacts BEGIN"
	"  UPDATE usage SET artifacts = artifacts - 1;"
	"END;",
};

int index_open(struct db **ret_db, const char *path, const struct artifact_limits *limits, struct err *err)
{
	struct db_options options = {
		.migrations = MIGRATIONS,
		.migration_count = ARRAY_LEN(MIGRATIONS),
		.busy_ms = limits->busy_ms,
		.cache_bytes = limits->cache_bytes,
		.durable = true,
	};

	return db_open(ret_db, path, &options, err);
}

int index_usage(struct db *db, struct artifact_usage *usage, struct err *err)
{
	_cleanup_statement_ struct db_statement *s =
		db_prepare(db, "SELECT bytes, blobs, artifacts FROM usage", err);
	int r = s ? db_step(s, err) : err->code;

	if (r < 0)
		return r;
	usage->bytes = (uint64_t)db_column_int(s, 0);
	usage->blobs = (uint64_t)db_column_int(s, 1);
	usage->artifacts = (uint64_t)db_column_int(s, 2);
	return 0;
}

/* Wall clocks and sizes stay far below 2^63; SQLite's integers end there. */
static int64_t stored(uint64_t value)
{
	return (int64_t)(value > INT64_MAX ? INT64_MAX : value);
}

static struct blob_hash column_hash(struct db_statement *s, int at, struct arena *arena)
{
	struct str bytes = db_column_str(s, at, arena);
	struct blob_hash hash = { { 0 } };

	/* The table's CHECK sees to it, but a file that was edited may say anything: then no body has that
	 * hash. */
	if (bytes.n == SHA256_BYTES)
		memcpy(hash.bytes, bytes.p, SHA256_BYTES);
	return hash;
}

static struct str hash_bytes(const struct blob_hash *hash)
{
	return str_make((const char *)hash->bytes, SHA256_BYTES);
}

/* -- artifacts ------------------------------------------------------------------------------------------- */

#define ARTIFACT_COLUMNS                                                                                     \
	"SELECT artifact, id, name, mime, run, session, created, expires, sha256, size FROM artifacts "      \
	"JOIN blobs USING (blob) "

static struct artifact column_artifact(struct db_statement *s, struct arena *arena,
				       struct blob_hash *ret_hash)
{
	struct str id = db_column_str(s, 1, arena);

	*ret_hash = column_hash(s, 8, arena);
	return (struct artifact){
		.id = id,
		.name = db_column_str(s, 2, arena),
		.mime = db_column_str(s, 3, arena),
		.sha256 = blob_hash_text(ret_hash, arena),
		.uri = arena_concat(arena, STR(ARTIFACT_URI_PREFIX), id, STR("")),
		.run = db_column_str(s, 4, arena),
		.session = db_column_str(s, 5, arena),
		.size = (uint64_t)db_column_int(s, 9),
		.created_ms = (uint64_t)db_column_int(s, 6),
		.expires_ms = (uint64_t)db_column_int(s, 7), /* NULL reads as 0 */
	};
}

/* Without the id: a handle is a secret, and messages end up in logs. */
static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND,
		       "no such artifact: it was deleted, has expired, or the id is not one of this store's");
}

int index_find(struct db *db, struct str id, uint64_t now_ms, struct arena *arena,
	       struct artifact *ret_artifact, struct blob_hash *ret_hash, struct err *err)
{
	_cleanup_statement_ struct db_statement *s =
		db_prepare(db, ARTIFACT_COLUMNS "WHERE id = ?1 AND (expires IS NULL OR expires > ?2)", err);
	int r;

	if (!s)
		return err->code;
	db_bind_str(s, 1, id);
	db_bind_int(s, 2, stored(now_ms));
	r = db_step(s, err);
	if (r <= 0)
		return r < 0 ? r : not_found(err);
	*ret_artifact = column_artifact(s, arena, ret_hash);
	return 0;
}

/* One text for each way to select, so that each uses its index. */
static const char *list_sql(struct str run, struct str session)
{
	if (run.n)
		return ARTIFACT_COLUMNS "WHERE (expires IS NULL OR expires > ?1) AND run = ?3 AND "
					"(?4 = '' OR session = ?4) ORDER BY artifact DESC LIMIT ?2";
	if (session.n)
		return ARTIFACT_COLUMNS
			"WHERE (expires IS NULL OR expires > ?1) AND ?3 = '' AND session = ?4 "
			"ORDER BY artifact DESC LIMIT ?2";
	return ARTIFACT_COLUMNS "WHERE (expires IS NULL OR expires > ?1) AND ?3 = '' AND ?4 = '' "
				"ORDER BY artifact DESC LIMIT ?2";
}

int index_list(struct db *db, struct str run, struct str session, unsigned limit, uint64_t now_ms,
	       struct arena *arena, struct artifact **ret_artifacts, size_t *ret_count, struct err *err)
{
	_cleanup_statement_ struct db_statement *s = db_prepare(db, list_sql(run, session), err);
	struct artifact *artifacts;
	struct blob_hash hash;
	size_t count = 0;
	int r;

	if (!s)
		return err->code;
	db_bind_int(s, 1, stored(now_ms));
	db_bind_int(s, 2, limit);
	db_bind_str(s, 3, run);
	db_bind_str(s, 4, session);
	artifacts = arena_array(arena, struct artifact, limit);
	while ((r = db_step(s, err)) > 0)
		artifacts[count++] = column_artifact(s, arena, &hash);
	if (r < 0)
		return r;
	*ret_artifacts = artifacts;
	*ret_count = count;
	return 0;
}

int index_add(struct db *db, const struct artifact *artifact, int64_t blob, struct err *err)
{
	struct db_statement *s =
		db_prepare(db,
			   "INSERT INTO artifacts (id, blob, name, mime, run, session, created, expires) "
			   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			   err);

	if (!s)
		return err->code;
	db_bind_str(s, 1, artifact->id);
	db_bind_int(s, 2, blob);
	db_bind_str(s, 3, artifact->name);
	db_bind_str(s, 4, artifact->mime);
	db_bind_str(s, 5, artifact->run);
	db_bind_str(s, 6, artifact->session);
	db_bind_int(s, 7, stored(artifact->created_ms));
	if (artifact->expires_ms)
		db_bind_int(s, 8, stored(artifact->expires_ms));
	return db_step(s, err);
}

/* -- times ----------------------------------------------------------------------------------------------- */

/* Nothing expires at 0, which would read as never. */
int index_move_times(struct db *db, int64_t step_ms, struct err *err)
{
	struct db_statement *s = db_prepare(
		db, "UPDATE artifacts SET created = max(0, created + ?1), expires = max(1, expires + ?1)",
		err);

	if (!s)
		return err->code;
	db_bind_int(s, 1, step_ms);
	return db_step(s, err);
}

int index_mend_future(struct db *db, uint64_t now_ms, struct err *err)
{
	struct db_statement *s = db_prepare(
		db, "UPDATE artifacts SET created = ?1, expires = ?1 + expires - created WHERE created > ?1",
		err);

	if (!s)
		return err->code;
	db_bind_int(s, 1, stored(now_ms));
	return db_step(s, err);
}

/* -- removing -------------------------------------------------------------------------------------------- */

struct handle {
	int64_t artifact, blob;
};

static int delete_row(struct db *db, int64_t artifact, struct err *err)
{
	struct db_statement *s = db_prepare(db, "DELETE FROM artifacts WHERE artifact = ?1", err);

	if (!s)
		return err->code;
	db_bind_int(s, 1, artifact);
	return db_step(s, err);
}

/* Removes a blob that no handle refers to, and notes its body. */
static int delete_unreferenced(struct db *db, int64_t blob, struct arena *arena, struct unwanted *unwanted,
			       struct err *err)
{
	_cleanup_statement_ struct db_statement *s = db_prepare(
		db,
		"DELETE FROM blobs WHERE blob = ?1 AND NOT EXISTS (SELECT 1 FROM artifacts WHERE blob = ?1) "
		"RETURNING sha256",
		err);
	int r;

	if (!s)
		return err->code;
	db_bind_int(s, 1, blob);
	r = db_step(s, err);
	if (r > 0)
		unwanted->hashes[unwanted->count++] = column_hash(s, 0, arena);
	return r < 0 ? r : 0;
}

static int delete_handles(struct db *db, const struct handle *handles, size_t count, struct arena *arena,
			  struct unwanted *unwanted, struct err *err)
{
	unwanted->hashes = arena_array(arena, struct blob_hash, count);
	unwanted->count = 0;
	for (size_t i = 0; i < count; i++) {
		int r = delete_row(db, handles[i].artifact, err);

		if (r == 0)
			r = delete_unreferenced(db, handles[i].blob, arena, unwanted, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int index_delete(struct db *db, struct str id, uint64_t now_ms, struct arena *arena,
		 struct unwanted *unwanted, struct err *err)
{
	_cleanup_statement_ struct db_statement *s = db_prepare(
		db,
		"SELECT artifact, blob FROM artifacts WHERE id = ?1 AND (expires IS NULL OR expires > ?2)",
		err);
	struct handle handle;
	int r;

	if (!s)
		return err->code;
	db_bind_str(s, 1, id);
	db_bind_int(s, 2, stored(now_ms));
	r = db_step(s, err);
	if (r <= 0)
		return r < 0 ? r : not_found(err);
	handle = (struct handle){ db_column_int(s, 0), db_column_int(s, 1) };
	db_reset(s);
	return delete_handles(db, &handle, 1, arena, unwanted, err);
}

int index_expire(struct db *db, uint64_t now_ms, size_t max, struct arena *arena, struct unwanted *unwanted,
		 size_t *ret_count, struct err *err)
{
	struct db_statement *s =
		db_prepare(db,
			   "SELECT artifact, blob FROM artifacts WHERE expires IS NOT NULL AND expires <= ?1 "
			   "ORDER BY expires LIMIT ?2",
			   err);
	struct handle *handles = arena_array(arena, struct handle, max);
	size_t count = 0;
	int r;

	if (!s)
		return err->code;
	db_bind_int(s, 1, stored(now_ms));
	db_bind_int(s, 2, (int64_t)max);
	while ((r = db_step(s, err)) > 0)
		handles[count++] = (struct handle){ db_column_int(s, 0), db_column_int(s, 1) };
	if (r == 0)
		r = delete_handles(db, handles, count, arena, unwanted, err);
	if (r < 0)
		return r;
	*ret_count = count;
	return 0;
}

/* -- blobs ----------------------------------------------------------------------------------------------- */

int index_blob_find(struct db *db, const struct blob_hash *hash, int64_t *ret_blob, struct err *err)
{
	_cleanup_statement_ struct db_statement *s =
		db_prepare(db, "SELECT blob FROM blobs WHERE sha256 = ?1", err);
	int r;

	if (!s)
		return err->code;
	db_bind_blob(s, 1, hash_bytes(hash));
	r = db_step(s, err);
	if (r < 0)
		return r;
	*ret_blob = r > 0 ? db_column_int(s, 0) : 0;
	return 0;
}

int index_blob_add(struct db *db, const struct blob_hash *hash, uint64_t size, int64_t *ret_blob,
		   struct err *err)
{
	struct db_statement *s = db_prepare(db, "INSERT INTO blobs (sha256, size) VALUES (?1, ?2)", err);
	int r;

	if (!s)
		return err->code;
	db_bind_blob(s, 1, hash_bytes(hash));
	db_bind_int(s, 2, stored(size));
	r = db_step(s, err);
	if (r < 0)
		return r;
	*ret_blob = db_last_rowid(db);
	return 0;
}

static int count_prefix(struct db_statement *s, struct err *err, size_t *ret_count)
{
	int r = db_step(s, err);

	if (r < 0)
		return r;
	*ret_count = (size_t)db_column_int(s, 0);
	db_reset(s);
	return 0;
}

/* Hashes compare byte by byte, so those with one first byte lie between that byte alone and that byte
 * before 32 times 0xff. */
static void bind_prefix(struct db_statement *s, uint8_t prefix)
{
	char last[SHA256_BYTES + 1];

	memset(last, 0xff, sizeof(last));
	last[0] = (char)prefix;
	db_bind_blob(s, 1, str_make(last, 1));
	db_bind_blob(s, 2, str_make(last, sizeof(last)));
}

int index_blob_list(struct db *db, uint8_t prefix, struct arena *arena, struct indexed_blob **ret_blobs,
		    size_t *ret_count, struct err *err)
{
	struct db_statement *counter =
		db_prepare(db, "SELECT count(*) FROM blobs WHERE sha256 BETWEEN ?1 AND ?2", err);
	struct db_statement *s =
		db_prepare(db, "SELECT blob, sha256, size FROM blobs WHERE sha256 BETWEEN ?1 AND ?2", err);
	struct indexed_blob *blobs;
	size_t room = 0, count = 0;
	int r;

	if (!counter || !s)
		return err->code;
	bind_prefix(counter, prefix);
	bind_prefix(s, prefix);
	r = count_prefix(counter, err, &room);
	if (r < 0)
		return r;
	blobs = arena_array(arena, struct indexed_blob, room);
	while ((r = db_step(s, err)) > 0)
		blobs[count++] = (struct indexed_blob){ .blob = db_column_int(s, 0),
							.hash = column_hash(s, 1, arena),
							.size = (uint64_t)db_column_int(s, 2) };
	if (r < 0)
		return r;
	*ret_blobs = blobs;
	*ret_count = count;
	return 0;
}

int index_blob_delete(struct db *db, int64_t blob, struct err *err)
{
	struct db_statement *handles = db_prepare(db, "DELETE FROM artifacts WHERE blob = ?1", err);
	struct db_statement *s = db_prepare(db, "DELETE FROM blobs WHERE blob = ?1", err);
	int r;

	if (!handles || !s)
		return err->code;
	db_bind_int(handles, 1, blob);
	db_bind_int(s, 1, blob);
	r = db_step(handles, err);
	return r < 0 ? r : db_step(s, err);
}

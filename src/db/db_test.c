#include "base/base.h"
#include "db/connection.h"
#include "db/directory_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <cmocka.h>

static const char *const MIGRATIONS[] = {
	"CREATE TABLE words (word TEXT NOT NULL UNIQUE, n INTEGER, bytes BLOB);",
	"CREATE TABLE uses (word TEXT NOT NULL REFERENCES words (word), line INTEGER NOT NULL);"
	"CREATE INDEX uses_by_word ON uses (word);",
};

struct fixture {
	struct test_directory directory;
	const char *path;
	struct db_options options;
	struct db *db;
	struct arena arena;
	struct err err;
};

static int set_up(void **state)
{
	struct fixture *f = xnew(struct fixture);

	test_directory_make(&f->directory);
	f->path = strdup(test_directory_path(&f->directory, "words.db"));
	f->options = (struct db_options){
		.migrations = MIGRATIONS,
		.migration_count = ARRAY_LEN(MIGRATIONS),
		.busy_ms = 1,
		.cache_bytes = 64 * 1024,
		.durable = true,
	};
	arena_init(&f->arena, 0);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	db_close(&f->db);
	assert_null(f->db);
	arena_release(&f->arena);
	test_directory_remove(&f->directory);
	free((void *)f->path);
	free(f);
	return 0;
}

static void assert_str(struct str s, const char *expected)
{
	assert_int_equal(s.n, strlen(expected));
	assert_memory_equal(s.p, expected, s.n);
}

static void assert_message(struct fixture *f, const char *expected_end)
{
	char expected[2 * ERR_MESSAGE_MAX];

	snprintf(expected, sizeof(expected), "%s: %s", f->path, expected_end);
	assert_string_equal(f->err.message, expected);
}

static void reopen(struct fixture *f)
{
	db_close(&f->db);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), 0);
}

static int64_t ask_int(struct fixture *f, const char *sql)
{
	struct db_statement *s = db_prepare(f->db, sql, &f->err);
	int64_t value;

	assert_non_null(s);
	assert_int_equal(db_step(s, &f->err), 1);
	value = db_column_int(s, 0);
	db_reset(s);
	return value;
}

static struct str ask_str(struct fixture *f, const char *sql)
{
	struct db_statement *s = db_prepare(f->db, sql, &f->err);
	struct str value;

	assert_non_null(s);
	assert_int_equal(db_step(s, &f->err), 1);
	value = db_column_str(s, 0, &f->arena);
	db_reset(s);
	return value;
}

static void fill_words(struct fixture *f, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct db_statement *s = db_prepare(
			f->db, "INSERT INTO words (word, bytes) VALUES ('word' || ?1, zeroblob(1000))",
			&f->err);

		db_bind_int(s, 1, i);
		assert_int_equal(db_step(s, &f->err), 0);
	}
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

static void test_file_is_private(void **state)
{
	struct fixture *f = *state;
	mode_t old = umask(0);

	db_close(&f->db);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), 0);
	umask(old);
	assert_int_equal(mode_of(f->path), 0600);
	assert_int_equal(mode_of(test_directory_path(&f->directory, "words.db-wal")), 0600);
	assert_int_equal(mode_of(test_directory_path(&f->directory, "words.db-shm")), 0600);
}

static void test_file_that_others_may_read_is_closed_to_them(void **state)
{
	struct fixture *f = *state;

	db_close(&f->db);
	assert_int_equal(chmod(f->path, 0664), 0);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), 0);
	assert_int_equal(mode_of(f->path), 0600);
}

static void test_settings_of_a_connection(void **state)
{
	struct fixture *f = *state;

	assert_str(ask_str(f, "PRAGMA journal_mode"), "wal");
	assert_int_equal(ask_int(f, "PRAGMA synchronous"), 2);
	assert_int_equal(ask_int(f, "PRAGMA foreign_keys"), 1);
	assert_int_equal(ask_int(f, "PRAGMA trusted_schema"), 0);
	assert_int_equal(ask_int(f, "PRAGMA cell_size_check"), 1);
	assert_int_equal(ask_int(f, "PRAGMA busy_timeout"), 1);
	assert_int_equal(ask_int(f, "PRAGMA cache_size"), -64);
	f->options.durable = false;
	reopen(f);
	assert_int_equal(ask_int(f, "PRAGMA synchronous"), 1);
}

static void test_dangerous_statements_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(db_run(f->db, "SELECT load_extension('x')", &f->err), ERR_IO);
	assert_message(f, "SELECT load_extension('x'): not authorized");
	db_run(f->db, "PRAGMA writable_schema = ON", NULL);
	assert_int_equal(db_run(f->db, "DELETE FROM sqlite_schema", &f->err), ERR_IO);
	assert_message(f, "DELETE FROM sqlite_schema: table sqlite_master may not be modified");
	assert_int_equal(db_run(f->db, "ATTACH ':memory:' AS other", &f->err), ERR_IO);
	assert_message(f, "ATTACH ':memory:' AS other: too many attached databases - max 0");
	assert_int_equal(db_run(f->db, "INSERT INTO words (word) VALUES (\"apple\")", &f->err), ERR_IO);
	/* Newer versions of SQLite quote the name and add a hint. */
	assert_non_null(
		strstr(f->err.message, "INSERT INTO words (word) VALUES (\"apple\"): no such column: "));
}

static void test_migrations_continue_where_the_file_stands(void **state)
{
	static const char *const longer[] = {
		"this one is never read again",
		"nor this",
		"ALTER TABLE uses ADD COLUMN page INTEGER;",
	};
	struct fixture *f = *state;

	assert_int_equal(ask_int(f, "PRAGMA user_version"), 2);
	f->options.migrations = longer;
	f->options.migration_count = ARRAY_LEN(longer);
	reopen(f);
	assert_int_equal(ask_int(f, "PRAGMA user_version"), 3);
	assert_int_equal(db_run(f->db, "SELECT page FROM uses", &f->err), 0);
}

static void test_migration_that_fails_leaves_nothing(void **state)
{
	static const char *const broken[] = {
		"", "", "CREATE TABLE half (a); INSERT INTO half VALUES (1); CREATE TABLE words (word);"
	};
	struct fixture *f = *state;

	db_close(&f->db);
	f->options.migrations = broken;
	f->options.migration_count = ARRAY_LEN(broken);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), ERR_IO);
	assert_null(f->db);
	assert_string_equal(strstr(f->err.message, "schema version 3: "), f->err.message);
	assert_non_null(strstr(f->err.message, "changing the schema: table words already exists"));
	f->options.migrations = MIGRATIONS;
	f->options.migration_count = ARRAY_LEN(MIGRATIONS);
	reopen(f);
	assert_int_equal(ask_int(f, "PRAGMA user_version"), 2);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
}

static void test_newer_database_is_refused(void **state)
{
	struct fixture *f = *state;

	db_close(&f->db);
	f->options.migration_count = 1;
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), ERR_UNSUPPORTED);
	assert_message(
		f, "has schema version 2, and this program knows versions up to 1: a newer program wrote it; "
		   "run that one, or move its directory away to begin with an empty one");
	f->options.migration_count = 2;
	reopen(f);
}

static void test_file_that_is_no_database(void **state)
{
	struct fixture *f = *state;
	FILE *file;

	db_close(&f->db);
	file = fopen(f->path, "w");
	assert_non_null(file);
	for (int i = 0; i < 100; i++)
		fputs("These are words, but not in a table.\n", file);
	fclose(file);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), ERR_IO);
	assert_message(f,
		       "PRAGMA journal_mode = WAL: file is not a database; the database is damaged: move its "
		       "directory away to begin with an empty one");
}

/* Every page but the first, which has the header and the schema, is overwritten. */
static void test_damaged_file(void **state)
{
	struct fixture *f = *state;
	char junk[4096];
	struct stat status;
	int fd;

	fill_words(f, 20);
	db_close(&f->db);
	fd = open(f->path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	memset(junk, 0xee, sizeof(junk));
	for (off_t at = sizeof(junk); at < status.st_size; at += (off_t)sizeof(junk))
		assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), 0);
	assert_int_equal(db_run(f->db, "SELECT count(n) FROM words", &f->err), ERR_IO);
	assert_message(
		f,
		"SELECT count(n) FROM words: database disk image is malformed; the database is damaged: move "
		"its directory away to begin with an empty one");
}

/* The log of a database that is gone is not taken for the new one's. */
static void test_log_that_outlived_its_file(void **state)
{
	struct fixture *f = *state;

	fill_words(f, 20);
	assert_int_equal(link(test_directory_path(&f->directory, "words.db-wal"),
			      test_directory_path(&f->directory, "kept-wal")),
			 0);
	db_close(&f->db);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(rename(test_directory_path(&f->directory, "kept-wal"),
				test_directory_path(&f->directory, "words.db-wal")),
			 0);
	assert_int_equal(db_open(&f->db, f->path, &f->options, &f->err), 0);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM words"), 0);
	assert_str(ask_str(f, "PRAGMA integrity_check"), "ok");
}

/* A failure in the middle of a transaction takes back all of it, and the database goes on. */
static void assert_insert_fails(struct fixture *f, int code, const char *expected_end)
{
	static const char insert[] = "INSERT INTO words (word, bytes) VALUES ('large', zeroblob(200000))";
	char expected[ERR_MESSAGE_MAX];

	assert_int_equal(db_begin(f->db, &f->err), 0);
	assert_int_equal(db_run(f->db, "INSERT INTO words (word) VALUES ('apple')", &f->err), 0);
	assert_int_equal(db_run(f->db, insert, &f->err), code);
	snprintf(expected, sizeof(expected), "%s: %s", insert, expected_end);
	assert_message(f, expected);
	db_rollback(f->db);
}

static void assert_goes_on(struct fixture *f)
{
	assert_int_equal(ask_int(f, "SELECT count(*) FROM words"), 0);
	assert_int_equal(db_run(f->db, "INSERT INTO words (word) VALUES ('pear')", &f->err), 0);
	reopen(f);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM words"), 1);
	assert_str(ask_str(f, "PRAGMA integrity_check"), "ok");
}

static void test_full_disk(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(db_run(f->db, "PRAGMA max_page_count = 20", &f->err), 0);
	assert_insert_fails(f, ERR_FULL, "database or disk is full; free space and try again");
	assert_goes_on(f);
}

static void test_disk_that_fails(void **state)
{
	struct fixture *f = *state;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_action;
	struct rlimit old, small;

	assert_int_equal(sigaction(SIGXFSZ, &ignore, &old_action), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){ .rlim_cur = 100000, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_insert_fails(f, ERR_IO, "disk I/O error: File too large");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(sigaction(SIGXFSZ, &old_action, NULL), 0);
	assert_goes_on(f);
}

/* Within one connection it is no other process that is in the way. */
static void test_table_that_is_being_read(void **state)
{
	struct fixture *f = *state;
	struct db_statement *s;

	fill_words(f, 2);
	s = db_prepare(f->db, "SELECT word FROM words", &f->err);
	assert_int_equal(db_step(s, &f->err), 1);
	assert_int_equal(db_run(f->db, "DROP TABLE words", &f->err), ERR_IO);
	assert_message(f, "DROP TABLE words: database table is locked");
	db_reset(s);
}

static void test_place_where_no_file_can_be(void **state)
{
	struct fixture *f = *state;
	struct db *db = NULL;

	assert_int_equal(db_open(&db, "/proc/nonexistent/words.db", &f->options, &f->err), ERR_NOT_FOUND);
	assert_string_equal(
		f->err.message,
		"/proc/nonexistent/words.db: cannot create the database: No such file or directory");
	assert_int_equal(db_open(&db, f->directory.path, &f->options, &f->err), ERR_INVALID);
	assert_null(db);
}

static void test_statements_are_prepared_once(void **state)
{
	static const char sql[] = "INSERT INTO words (word, n) VALUES (?1, ?2)";
	struct fixture *f = *state;
	struct db_statement *s = db_prepare(f->db, sql, &f->err);

	db_bind_str(s, 1, STR("apple"));
	db_bind_int(s, 2, INT64_MIN);
	assert_int_equal(db_step(s, &f->err), 0);
	assert_int_equal(db_changes(f->db), 1);
	assert_int_equal(db_last_rowid(f->db), 1);
	assert_ptr_equal(db_prepare(f->db, sql, &f->err), s);
	db_bind_str(s, 1, STR("pear"));
	assert_int_equal(db_step(s, &f->err), 0);
	assert_int_equal(ask_int(f, "SELECT n FROM words WHERE word = 'apple'"), INT64_MIN);
	assert_int_equal(ask_int(f, "SELECT n IS NULL FROM words WHERE word = 'pear'"), 1);
	assert_int_equal(f->db->statement_count, 4); /* those three and the one that reads user_version */
	assert_null(db_prepare(f->db, "SELECT missing FROM words", &f->err));
	assert_message(f, "SELECT missing FROM words: no such column: missing");
}

static void test_values_come_back_as_they_went_in(void **state)
{
	struct fixture *f = *state;
	struct db_statement *s =
		db_prepare(f->db, "INSERT INTO words (word, n, bytes) VALUES (?, ?, ?)", &f->err);
	struct str word, bytes;

	db_bind_str(s, 1, STR("nul\0inside"));
	db_bind_null(s, 2);
	db_bind_blob(s, 3, STR("\xff\0\xfe"));
	assert_int_equal(db_step(s, &f->err), 0);
	db_bind_str(s, 1, str_make(NULL, 0));
	db_bind_blob(s, 3, str_make(NULL, 0));
	assert_int_equal(db_step(s, &f->err), 0);

	s = db_prepare(f->db, "SELECT word, n, bytes FROM words ORDER BY rowid", &f->err);
	assert_int_equal(db_step(s, &f->err), 1);
	word = db_column_str(s, 0, &f->arena);
	bytes = db_column_str(s, 2, &f->arena);
	assert_true(str_eq(word, STR("nul\0inside")));
	assert_true(str_eq(bytes, STR("\xff\0\xfe")));
	assert_null(db_column_str(s, 1, &f->arena).p);
	assert_int_equal(db_step(s, &f->err), 1);
	word = db_column_str(s, 0, &f->arena);
	assert_non_null(word.p);
	assert_int_equal(word.n, 0);
	assert_int_equal(db_step(s, &f->err), 0);
}

static void test_value_that_is_too_large(void **state)
{
	struct fixture *f = *state;
	struct db_statement *s = db_prepare(f->db, "SELECT ?", &f->err);

	/* SQLite refuses by the length alone, before it looks at a byte. */
	db_bind_str(s, 1, str_make("x", (size_t)INT32_MAX + 1));
	assert_int_equal(db_step(s, &f->err), ERR_TOO_LARGE);
	assert_message(f, "SELECT ?: a value is larger than SQLite's limit");
	db_bind_str(s, 1, STR("x"));
	assert_int_equal(db_step(s, &f->err), 1);
	db_reset(s);
}

static void test_constraints(void **state)
{
	static const char again[] = "INSERT INTO words (word) VALUES ('apple')";
	static const char orphan[] = "INSERT INTO uses VALUES ('pear', 1)";
	static const char empty[] = "INSERT INTO words (n) VALUES (1)";
	struct fixture *f = *state;

	assert_int_equal(db_run(f->db, again, &f->err), 0);
	assert_int_equal(db_run(f->db, again, &f->err), ERR_EXISTS);
	assert_message(f, "INSERT INTO words (word) VALUES ('apple'): UNIQUE constraint failed: words.word");
	assert_int_equal(db_run(f->db, orphan, &f->err), ERR_INVALID);
	assert_message(f, "INSERT INTO uses VALUES ('pear', 1): FOREIGN KEY constraint failed");
	assert_int_equal(db_run(f->db, empty, &f->err), ERR_INVALID);
	assert_message(f, "INSERT INTO words (n) VALUES (1): NOT NULL constraint failed: words.word");
}

static void test_transactions(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(db_begin(f->db, &f->err), 0);
	assert_int_equal(db_run(f->db, "INSERT INTO words (word) VALUES ('apple')", &f->err), 0);
	db_rollback(f->db);
	db_rollback(f->db);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM words"), 0);
	assert_int_equal(db_begin(f->db, &f->err), 0);
	assert_int_equal(db_run(f->db, "INSERT INTO words (word) VALUES ('apple')", &f->err), 0);
	assert_int_equal(db_commit(f->db, &f->err), 0);
	reopen(f);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM words"), 1);
}

static void test_commit_that_fails_rolls_back(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		db_run(f->db,
		       "CREATE TABLE later (word TEXT REFERENCES words (word) DEFERRABLE INITIALLY DEFERRED)",
		       &f->err),
		0);
	assert_int_equal(db_begin(f->db, &f->err), 0);
	assert_int_equal(db_run(f->db, "INSERT INTO later VALUES ('pear')", &f->err), 0);
	assert_int_equal(db_commit(f->db, &f->err), ERR_INVALID);
	assert_message(f, "COMMIT: FOREIGN KEY constraint failed");
	assert_int_equal(db_begin(f->db, &f->err), 0);
	db_rollback(f->db);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM later"), 0);
}

static void test_lock_of_another_connection(void **state)
{
	struct fixture *f = *state;
	struct db *other = NULL;

	assert_int_equal(db_open(&other, f->path, &f->options, &f->err), 0);
	assert_int_equal(db_begin(other, &f->err), 0);
	assert_int_equal(db_begin(f->db, &f->err), ERR_BUSY);
	assert_message(f,
		       "BEGIN IMMEDIATE: another process held the lock for over 1 ms (database is locked)");
	db_close(&other);
	assert_int_equal(db_begin(f->db, &f->err), 0);
	db_rollback(f->db);
}

/* Far more pages than the cache may hold pass through it. */
static void test_page_cache_is_bounded(void **state)
{
	struct fixture *f = *state;
	int used = 0, most = 0;

	assert_int_equal(
		db_run(f->db,
		       "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
		       "INSERT INTO words (word, bytes) SELECT 'word' || i, randomblob(1000) FROM n",
		       &f->err),
		0);
	assert_int_equal(ask_int(f, "SELECT count(*) FROM words WHERE length(bytes) = 1000"), 2000);
	sqlite3_db_status(f->db->handle, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0);
	assert_in_range(used, 1, 2 * f->options.cache_bytes);
}

static void test_failure_without_err(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(db_run(f->db, "nonsense", NULL), ERR_IO);
	assert_null(db_prepare(f->db, "nonsense", NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_file_is_private),
		TEST(test_file_that_others_may_read_is_closed_to_them),
		TEST(test_settings_of_a_connection),
		TEST(test_dangerous_statements_are_refused),
		TEST(test_migrations_continue_where_the_file_stands),
		TEST(test_migration_that_fails_leaves_nothing),
		TEST(test_newer_database_is_refused),
		TEST(test_file_that_is_no_database),
		TEST(test_damaged_file),
		TEST(test_log_that_outlived_its_file),
		TEST(test_full_disk),
		TEST(test_disk_that_fails),
		TEST(test_table_that_is_being_read),
		TEST(test_place_where_no_file_can_be),
		TEST(test_statements_are_prepared_once),
		TEST(test_values_come_back_as_they_went_in),
		TEST(test_value_that_is_too_large),
		TEST(test_constraints),
		TEST(test_transactions),
		TEST(test_commit_that_fails_rolls_back),
		TEST(test_lock_of_another_connection),
		TEST(test_page_cache_is_bounded),
		TEST(test_failure_without_err),
	};

	return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}

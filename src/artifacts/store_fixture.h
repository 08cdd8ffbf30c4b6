/*
 * store_fixture.h - what the tests of this room share: a ledger or a store in a directory of its own, and what is really on its disk.
 */
#ifndef ARTIFACTS_STORE_FIXTURE_H
#define ARTIFACTS_STORE_FIXTURE_H

#include "artifacts/ledger.h"
#include "base/base.h"
#include "base/ids.h"
#include "db/directory_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct artifact_limits TEST_LIMITS = {
	.max_bytes = 1 << 20,
	.quota = 4 << 20,
	.ttl_ms = 60 * 60 * 1000,
	.sweep_ms = 60 * 60 * 1000,
	.name_max = 64,
	.list_limit = 100,
	.collision_limit = 3,
	.buffer_bytes = 64 * 1024,
	.busy_ms = 1000,
	.cache_bytes = 64 * 1024,
};

static inline void assert_str(struct str s, const char *expected)
{
	if (s.n != strlen(expected) || (s.n && memcmp(s.p, expected, s.n) != 0))
		fail_msg("\"%.*s\" should be \"%s\"", STR_ARG(s), expected);
}

static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" should contain \"%s\"", text, part);
}

/* -- what is on the disk -------------------------------------------------------------------------------------------------- */

struct disk {
	uint64_t bytes, blobs; /* files under blobs/ */
	uint64_t temporaries;  /* files under tmp/ */
	uint64_t strangers;    /* files that should not be there */
};

static inline struct str read_whole_file(const char *path, struct arena *arena)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *bytes;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	bytes = arena_alloc(arena, (size_t)status.st_size + 1);
	assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
	return str_make(bytes, (size_t)status.st_size);
}

static inline void write_whole_file(const char *path, struct str bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
}

static inline struct blob_hash hash_of(struct str bytes)
{
	struct blob_hash hash;
	unsigned n = sizeof(hash.bytes);

	assert_int_equal(EVP_Digest(bytes.p, bytes.n, hash.bytes, &n, EVP_sha256(), NULL), 1);
	return hash;
}

static inline bool names_its_bytes(const char *path, const char *prefix, const char *file)
{
	struct arena arena;
	struct blob_hash hash;
	struct str text;
	bool same;

	arena_init(&arena, 0);
	hash = hash_of(read_whole_file(path, &arena));
	text = blob_hash_text(&hash, &arena);
	same = str_starts_with(text, str_of(prefix)) && str_eq(str_from(text, 2), str_of(file));
	arena_release(&arena);
	return same;
}

static inline void survey_prefix(const char *blobs, const char *prefix, struct disk *disk)
{
	char path[512], file[1024];
	struct dirent *entry;
	struct stat status;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/%s", blobs, prefix);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		assert_int_equal(stat(file, &status), 0);
		disk->bytes += (uint64_t)status.st_size;
		disk->blobs++;
		if (!names_its_bytes(file, prefix, entry->d_name))
			disk->strangers++;
	}
	closedir(directory);
}

/* Counts every body and checks it against its name, and counts the temporary files. */
static inline struct disk survey(const char *store)
{
	struct disk disk = { 0 };
	char path[256];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/blobs", store);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			survey_prefix(path, entry->d_name, &disk);
	closedir(directory);
	snprintf(path, sizeof(path), "%s/tmp", store);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		disk.temporaries += entry->d_name[0] != '.';
	closedir(directory);
	return disk;
}

#endif

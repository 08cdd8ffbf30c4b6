/*
 * disk_fixture.h - what is really on the disk of a store, for tests and for the crash trial.
 */
#ifndef ARTIFACTS_DISK_FIXTURE_H
#define ARTIFACTS_DISK_FIXTURE_H

#include "artifacts/blobs.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

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

	BUG_ON(fd < 0);
	BUG_ON(fstat(fd, &status) != 0);
	bytes = arena_alloc(arena, (size_t)status.st_size + 1);
	BUG_ON(read(fd, bytes, (size_t)status.st_size) != (ssize_t)status.st_size);
	return str_make(bytes, (size_t)status.st_size);
}

static inline void write_whole_file(const char *path, struct str bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	BUG_ON(fd < 0);
	BUG_ON(write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n);
}

static inline struct blob_hash hash_of(struct str bytes)
{
	struct blob_hash hash;
	unsigned n = sizeof(hash.bytes);

	BUG_ON(EVP_Digest(bytes.p, bytes.n, hash.bytes, &n, EVP_sha256(), NULL) != 1);
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
	BUG_ON(!directory);
	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		BUG_ON(stat(file, &status) != 0);
		disk->bytes += (uint64_t)status.st_size;
		disk->blobs++;
		if (!names_its_bytes(file, prefix, entry->d_name))
			disk->strangers++;
	}
	closedir(directory);
}

/* Counts every body and checks it against its name, and counts the temporary files. A store that was not
 * made yet is empty. */
static inline struct disk survey(const char *store)
{
	struct disk disk = { 0 };
	char path[256];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/blobs", store);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.')
			survey_prefix(path, entry->d_name, &disk);
	if (directory)
		closedir(directory);
	snprintf(path, sizeof(path), "%s/tmp", store);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)) != NULL)
		disk.temporaries += entry->d_name[0] != '.';
	if (directory)
		closedir(directory);
	return disk;
}

#endif

/*
 * directory_fixture.h - a directory of its own for each test that touches files. For tests of this room and
 * those above it.
 */
#ifndef DB_DIRECTORY_FIXTURE_H
#define DB_DIRECTORY_FIXTURE_H

#include "base/base.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

struct test_directory {
	char path[64];
};

static inline void test_directory_make(struct test_directory *d)
{
	snprintf(d->path, sizeof(d->path), "/tmp/mcpx-test-XXXXXX");
	BUG_ON(!mkdtemp(d->path));
}

static inline int test_directory_remove_one(const char *path, const struct stat *status, int type,
					    struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void test_directory_remove(struct test_directory *d)
{
	BUG_ON(nftw(d->path, test_directory_remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0);
}

/* "directory/name" in storage that lasts until the next but three calls. */
static inline const char *test_directory_path(const struct test_directory *d, const char *name)
{
	static char paths[4][512];
	static unsigned at;
	char *path = paths[at++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", d->path, name);
	return path;
}

#endif

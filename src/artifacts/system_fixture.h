/*
 * system_fixture.h - system calls that fail on request, for tests of what the store does on a disk that is
 * full or broken. A program that includes this stands in front of the C library, also for SQLite.
 */
#ifndef ARTIFACTS_SYSTEM_FIXTURE_H
#define ARTIFACTS_SYSTEM_FIXTURE_H

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

static struct {
	bool disk_is_full;	/* what would make SQLite's files longer fails */
	const char *full_while; /* only as long as this file is there; NULL: in any case */
	int stat_error;		/* of every fstatat(); 0: none */
} system_fixture;

static inline void system_fixture_reset(void)
{
	memset(&system_fixture, 0, sizeof(system_fixture));
}

static bool makes_longer(int fd, size_t n, off_t offset)
{
	struct stat status;

	return fstat(fd, &status) == 0 && offset + (off_t)n > status.st_size;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t offset)
{
	struct iovec part = { (void *)bytes, n };

	if (system_fixture.disk_is_full && makes_longer(fd, n, offset) &&
	    (!system_fixture.full_while || access(system_fixture.full_while, F_OK) == 0)) {
		errno = ENOSPC;
		return -1;
	}
	return pwritev(fd, &part, 1, offset);
}

int fstatat(int at, const char *path, struct stat *status, int flags)
{
	_cleanup_close_ int fd = -1;

	if (system_fixture.stat_error) {
		errno = system_fixture.stat_error;
		return -1;
	}
	fd = openat(at, path, O_PATH | O_CLOEXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0));
	return fd < 0 ? -1 : fstat(fd, status);
}

#endif

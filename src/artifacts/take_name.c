#include "base/base.h"
#include "artifacts/take_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

struct unnamed_path unnamed_path(int fd)
{
	struct unnamed_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

int take_name_for_unnamed(int directory_fd, int fd, const char *name)
{
	return linkat(AT_FDCWD, unnamed_path(fd).text, directory_fd, name, AT_SYMLINK_FOLLOW);
}

int take_name_by_rename(int directory_fd, const char *temporary, const char *name)
{
	return renameat2(directory_fd, temporary, directory_fd, name, RENAME_NOREPLACE);
}

int take_name_by_link(int directory_fd, const char *temporary, const char *name)
{
	if (linkat(directory_fd, temporary, directory_fd, name, 0) < 0)
		return -1;
	unlinkat(directory_fd, temporary, 0);
	return 0;
}

/* The name is ours once O_EXCL has made it, and the rename replaces our own empty file. */
int take_name_by_reserving(int directory_fd, const char *temporary, const char *name)
{
	_cleanup_close_ int reserved =
		openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int error;

	if (reserved < 0)
		return -1;
	if (renameat(directory_fd, temporary, directory_fd, name) == 0)
		return 0;
	error = errno;
	unlinkat(directory_fd, name, 0);
	errno = error;
	return -1;
}

static bool unsupported(int error)
{
	return error == EINVAL || error == ENOSYS || error == EPERM || error == EOPNOTSUPP;
}

int take_name(int directory_fd, const char *temporary, const char *name)
{
	static take_name_by *const ways[] = { take_name_by_rename, take_name_by_link,
					      take_name_by_reserving };

	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (ways[i](directory_fd, temporary, name) == 0)
			return 0;
		else if (!unsupported(errno))
			return -1;
	return -1;
}

#include "base/base.h"
#include "io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>

int input_file_open(const char *path, int *ret_fd, uint64_t *ret_length, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return err_errno(err, "cannot read %s", path);
	if (S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "%s is a directory; name a file", path);
	*ret_length = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : UINT64_MAX;
	*ret_fd = take_fd(&fd);
	return 0;
}

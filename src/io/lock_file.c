#include "base/base.h"
#include "io/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The file is unlinked while the lock is held. So a lock counts only if the name still leads to the file that
 * was locked; otherwise its former holder was just giving it back, and we try again with the file of that
 * name now. */

enum { PID_TEXT_MAX = 32, LOCK_ATTEMPTS = 100 };

static int lock_file_busy(int fd, const char *path, struct err *err)
{
	char text[PID_TEXT_MAX];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct str pid = str_trim(str_make(text, n > 0 ? (size_t)n : 0));

	if (pid.n == 0)
		return err_set(err, ERR_BUSY, "%s is locked by another process", path);
	return err_set(err, ERR_BUSY, "%s is locked by process %.*s", path, STR_ARG(pid));
}

static bool lock_file_is_named(int fd, const char *path)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_dev == named.st_dev &&
	       ours.st_ino == named.st_ino;
}

static int lock_file_sign(int fd)
{
	char text[PID_TEXT_MAX];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n ? 0 : -1;
}

int lock_file_take(struct lock_file *lock, const char *path, struct err *err)
{
	for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return err_errno(err, "cannot open the lock file %s", path);
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK ? lock_file_busy(fd, path, err)
						    : err_errno(err, "cannot lock %s", path);
		if (!lock_file_is_named(fd, path))
			continue;
		if (lock_file_sign(fd) < 0)
			return err_errno(err, "cannot write the lock file %s", path);
		lock->path = strdup(path);
		BUG_ON(!lock->path);
		lock->fd = take_fd(&fd);
		return 0;
	}
	return err_set(err, ERR_BUSY, "%s is taken and given back by other processes all the time", path);
}

void lock_file_release(struct lock_file *lock)
{
	if (!lock->path)
		return;
	unlink(lock->path);
	close_fd(&lock->fd);
	free_ptr(&lock->path);
}

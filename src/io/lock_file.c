#include "base/base.h"
#include "io/files.h"
#include "io/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* The file is unlinked while the lock is held. So a lock counts only if the name still leads to the file that
 * was locked; otherwise its former holder was just giving it back, and we try again with the file of that
 * name now. */

enum { PID_TEXT_MAX = 32, LOCK_ATTEMPTS = 100, LOCK_STEP_MS = 10 /* between two attempts */ };

static int lock_file_busy(int fd, const char *path, struct err *err)
{
	char text[PID_TEXT_MAX];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct str pid = str_trim(str_make(text, n > 0 ? (size_t)n : 0));

	if (pid.n == 0)
		return err_set(err, ERR_BUSY, "%s is locked by another process", path);
	return err_set(err, ERR_BUSY, "%s is locked by process %.*s", path, STR_ARG(pid));
}

bool file_is_named(int fd, int at, const char *name, int flags)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && fstatat(at, name, &named, flags) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static int lock_file_sign(int fd)
{
	char text[PID_TEXT_MAX];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n ? 0 : -1;
}

bool lock_file_is_ours(const struct lock_file *lock)
{
	return lock->path && file_is_named(lock->fd, AT_FDCWD, lock->path, 0);
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
		if (!file_is_named(fd, AT_FDCWD, path, 0))
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
	if (lock_file_is_ours(lock))
		unlink(lock->path);
	close_fd(&lock->fd);
	free_ptr(&lock->path);
}

/* The kernel has no such wait with a deadline. */
int file_lock_within(int fd, uint64_t wait_ms)
{
	for (uint64_t waited = 0;; waited += LOCK_STEP_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return ERR_IO;
		if (waited >= wait_ms)
			return ERR_BUSY;
		clock_pause_ms(LOCK_STEP_MS);
	}
}

/* -- the lock of another --------------------------------------------------------------------------------- */

/* Whether the process has the file open. Ours to see are processes of ours alone. */
static bool process_has_open(pid_t pid, const struct stat *file)
{
	char path[sizeof("/proc//fd") + PID_TEXT_MAX];
	const struct dirent *entry;
	bool found = false;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	directory = opendir(path);
	while (directory && !found && (entry = readdir(directory))) {
		struct stat status;

		found = fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
			status.st_dev == file->st_dev && status.st_ino == file->st_ino;
	}
	if (directory)
		closedir(directory);
	return found;
}

/* Trying to take the lock would tell, too, and would make its next holder believe that it is held. */
pid_t lock_file_holder(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[PID_TEXT_MAX];
	struct stat status;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);
	uint64_t pid;

	if (n <= 0 || fstat(fd, &status) < 0 || str_to_u64(str_trim(str_make(text, (size_t)n)), &pid) < 0 ||
	    pid == 0 || pid > INT32_MAX || (pid_t)pid == getpid())
		return 0;
	return process_has_open((pid_t)pid, &status) ? (pid_t)pid : 0;
}

int lock_file_end_holder(const char *path, pid_t *ret_pid, struct err *err)
{
	pid_t pid = lock_file_holder(path);
	_cleanup_close_ int fd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	/* The number may have become another's until it was opened. */
	if (fd < 0 || lock_file_holder(path) != pid)
		return err_set(err, ERR_NOT_FOUND, "no process holds %s", path);
	if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) < 0)
		return err_errno(err, "cannot end process %ld, which holds %s", (long)pid, path);
	*ret_pid = pid;
	return 0;
}

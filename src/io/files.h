/*
 * files.h - whole files, private directories and locks: what a program keeps on disk.
 *
 * Everything here blocks, except file_write_now(); call it at start-up, from short-lived programs, or on the
 * worker pool. Any thread. Every descriptor is close-on-exec. Every error names the path.
 */
#ifndef IO_FILES_H
#define IO_FILES_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

/* -- files ----------------------------------------------------------------------------------------------- */

/*
 * Reads a regular file of at most `max` bytes. On success ret_bytes->p is the caller's, to be released with
 * free(), and is followed by a NUL. ERR_NOT_FOUND, ERR_DENIED, ERR_TOO_LARGE, ERR_INVALID (no regular file),
 * ERR_IO.
 */
int file_read(const char *path, size_t max, struct str *ret_bytes, struct err *err);

struct file_write_options {
	mode_t mode; /* exactly, whatever the umask */
	bool sync;   /* on the disk when this returns, the name too: survives a power cut */
};

/*
 * Gives `path` new contents, or leaves it as it was: writes under a temporary name in the same directory and
 * renames. A reader sees the old file or the new one, whole. A symbolic link is replaced, not followed.
 */
int file_write(const char *path, struct str bytes, const struct file_write_options *options, struct err *err);

/* The temporary names of file_write(): ".NAME.XXXXXXXXXXXXXXXX.tmp", 16 hexadecimal digits. */
bool file_is_temporary(const char *name);

/*
 * Removes temporary files that a killed writer left in a directory: those that were last written more than
 * `age_ms` ago, so that a writer at work keeps its own. *ret_removed may be NULL.
 */
int file_sweep_temporary(const char *directory, uint64_t age_ms, size_t *ret_removed, struct err *err);

/*
 * Writes as much as the descriptor takes without waiting, and says how much that was: for standard error and
 * its like, which may be a pipe or a socket that nobody reads. The descriptor is left as it is: making it
 * non-blocking would make it so for every process that has it. Up to PIPE_BUF bytes go into a pipe whole or
 * not at all. Nothing is written, and no signal raised, when the reader has gone. It may wait after all when
 * another process fills the same pipe at the same moment.
 */
size_t file_write_now(int fd, struct str bytes);

/* -- directories ----------------------------------------------------------------------------------------- */

/*
 * Makes sure that there is a directory for our eyes only: creates it and its missing parents with mode 0700.
 * One that exists must be ours and closed to others (no bit of 077), else ERR_DENIED; the message says how to
 * repair that.
 */
int directory_make_private(const char *path, struct err *err);

struct directory_prune {
	bool (*takes)(void *context, struct str name);	 /* whether a file of that name is to be looked at */
	void (*removed)(void *context, struct str name); /* NULL, or it was removed */
	void *context;
	uint64_t now_ms;   /* since 1970 */
	uint64_t keep_ms;  /* older files go; 0: none for its age */
	size_t keep_files; /* beyond, the oldest go */
};

/* Removes files that nobody has written for long. What cannot be removed stays; a directory that is not there
 * has none. Looks at a million entries at the most. */
void directory_prune(const char *path, const struct directory_prune *options);

/* -- locks ----------------------------------------------------------------------------------------------- */

/*
 * A lock that the kernel holds (flock(2) on a file), so that it ends with the process that took it, however
 * that ends, and is never stale. Children do not inherit it. The file holds the process id of the holder, for
 * people. It is removed when the lock is given back; one that is left behind by a killed holder hinders
 * nobody.
 */
struct lock_file {
	char *path; /* NULL while nothing is held */
	int fd;
};

/* Does not wait: ERR_BUSY names the process that holds it. The file is created with mode 0600. */
int lock_file_take(struct lock_file *lock, const char *path, struct err *err);

/* Whether the name, looked up as fstatat(2) does it, leads to the open file. */
bool file_is_named(int fd, int at, const char *name, int flags);

/* Whether it is held, and its name still leads to it: else another process may take a lock of that name. */
bool lock_file_is_ours(const struct lock_file *lock);

/* Takes an exclusive flock(2) on a file. Another process may hold it for a moment: waits up to `wait_ms`.
 * ERR_BUSY when it is held for longer, ERR_IO when the file cannot be locked (errno says why). */
int file_lock_within(int fd, uint64_t wait_ms);

/* The process that holds the lock of that name: 0 when none does that is of our user and that we can see. It
 * only looks, and is in nobody's way. */
pid_t lock_file_holder(const char *path);

/* Asks that process to end (SIGTERM); no other can get the signal. ERR_NOT_FOUND: none holds it. */
int lock_file_end_holder(const char *path, pid_t *ret_pid, struct err *err);

/* Gives it back. Accepts a zeroed or released one. */
void lock_file_release(struct lock_file *lock);

#endif

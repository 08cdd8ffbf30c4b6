#include "base/base.h"
#include "io/files.h"
#include "base/units.h"
#include "io/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>

enum {
	READ_FIRST = 4096,	 /* first buffer for files that say they are empty, as those of /proc do */
	TEMPORARY_RANDOM = 8,	 /* random bytes in a temporary name */
	TEMPORARY_ATTEMPTS = 16, /* names tried before we believe that something else is wrong */
	NS_PER_MS = 1000 * 1000,
};

/* -- reading --------------------------------------------------------------------------------------------- */

static int file_open_regular(const char *path, int *ret_fd, struct stat *st, struct err *err)
{
	/* O_NONBLOCK: opening a FIFO must not wait for its writer, only to be told that it is no regular
	 * file. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, st) < 0)
		return err_errno(err, "cannot read %s", path);
	if (S_ISDIR(st->st_mode))
		return err_set(err, ERR_INVALID, "cannot read %s: it is a directory", path);
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_INVALID, "cannot read %s: it is not a regular file", path);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int file_too_large(const char *path, size_t max, struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "cannot read %s: it is larger than %zu bytes", path, max);
}

/* Reads to the end of the file, which may grow or shrink meanwhile. */
static int file_read_all(int fd, const char *path, size_t expected, size_t max, struct str *ret_bytes,
			 struct err *err)
{
	size_t capacity = expected + 2, n = 0; /* one to see the end of the file, one for the NUL */
	_cleanup_free_ char *bytes = xmalloc(capacity);

	for (;;) {
		ssize_t got = read(fd, bytes + n, capacity - 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "cannot read %s", path);
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > max)
			return file_too_large(path, max, err);
		if (n == capacity - 1)
			bytes = xrealloc(bytes, capacity = size_max(capacity * 2, READ_FIRST));
	}
	bytes[n] = '\0';
	*ret_bytes = str_make(take_ptr(bytes), n);
	return 0;
}

int file_read(const char *path, size_t max, struct str *ret_bytes, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int code = file_open_regular(path, &fd, &st, err);

	if (code < 0)
		return code;
	if ((uint64_t)st.st_size > max)
		return file_too_large(path, max, err);
	return file_read_all(fd, path, (size_t)st.st_size, max, ret_bytes, err);
}

/* -- writing --------------------------------------------------------------------------------------------- */

/* A file under construction: its directory is held open, so that all of it happens in one place, whatever is
 * renamed above. */
struct file_draft {
	int directory, fd;
	const char *name;	      /* the final name */
	char temporary[NAME_MAX + 1]; /* empty when there is nothing to remove */
};

static void file_draft_release(struct file_draft *draft)
{
	if (draft->temporary[0])
		unlinkat(draft->directory, draft->temporary, 0);
	close_fd(&draft->fd);
	close_fd(&draft->directory);
}

static int file_draft_open_directory(struct file_draft *draft, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *directory = NULL;

	draft->name = slash ? slash + 1 : path;
	directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	if (!directory)
		return -1;
	draft->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return draft->directory < 0 ? -1 : 0;
}

static int file_draft_create(struct file_draft *draft)
{
	uint8_t random[TEMPORARY_RANDOM];
	char digits[2 * TEMPORARY_RANDOM];
	int name_length = (int)strnlen(draft->name, NAME_MAX - sizeof("..tmp.") - sizeof(digits));

	for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS && draft->fd < 0; attempt++) {
		random_bytes(random, sizeof(random));
		hex_encode(digits, random, sizeof(random));
		snprintf(draft->temporary, sizeof(draft->temporary), ".%.*s.%.*s.tmp", name_length,
			 draft->name, (int)sizeof(digits), digits);
		draft->fd = openat(draft->directory, draft->temporary,
				   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (draft->fd < 0 && errno != EEXIST)
			break;
	}
	if (draft->fd < 0)
		draft->temporary[0] = '\0';
	return draft->fd < 0 ? -1 : 0;
}

static int write_all(int fd, struct str bytes)
{
	while (bytes.n > 0) {
		ssize_t wrote = write(fd, bytes.p, bytes.n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -1;
		bytes = str_from(bytes, (size_t)wrote);
	}
	return 0;
}

static int file_draft_publish(struct file_draft *draft, const struct file_write_options *options)
{
	if (fchmod(draft->fd, options->mode) < 0 || (options->sync && fsync(draft->fd) < 0) ||
	    renameat(draft->directory, draft->temporary, draft->directory, draft->name) < 0)
		return -1;
	draft->temporary[0] = '\0';
	return options->sync ? fsync(draft->directory) : 0;
}

int file_write(const char *path, struct str bytes, const struct file_write_options *options, struct err *err)
{
	_cleanup_(file_draft_release) struct file_draft draft = { .directory = -1, .fd = -1 };

	if (file_draft_open_directory(&draft, path) < 0 || file_draft_create(&draft) < 0 ||
	    write_all(draft.fd, bytes) < 0 || file_draft_publish(&draft, options) < 0)
		return err_errno(err, "cannot write %s", path);
	return 0;
}

/* A pipe that polls as writable has room for PIPE_BUF bytes. */
static bool has_room(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	return poll(&room, 1, 0) > 0 && room.revents == POLLOUT;
}

size_t file_write_now(int fd, struct str bytes)
{
	size_t written = 0;

	while (written < bytes.n && has_room(fd)) {
		ssize_t n = write(fd, bytes.p + written, size_min(bytes.n - written, PIPE_BUF));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		written += (size_t)n;
	}
	return written;
}

bool file_is_temporary(const char *name)
{
	struct str s = str_of(name), digits;
	uint8_t random[TEMPORARY_RANDOM];

	if (!str_starts_with(s, STR(".")) || !str_ends_with(s, STR(".tmp")))
		return false;
	s = str_slice(s, 0, s.n - strlen(".tmp"));
	if (s.n < 2 + 2 * TEMPORARY_RANDOM)
		return false;
	digits = str_from(s, s.n - 2 * TEMPORARY_RANDOM);
	return digits.p[-1] == '.' && hex_decode(random, sizeof(random), digits) == 0;
}

static uint64_t wall_ms(struct timespec time)
{
	return (uint64_t)time.tv_sec * MS_PER_SECOND + (uint64_t)time.tv_nsec / NS_PER_MS;
}

static bool sweep_entry(int directory, const char *name, uint64_t age_ms)
{
	struct timespec now;
	struct stat st;

	if (!file_is_temporary(name) || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	if (wall_ms(now) < wall_ms(st.st_mtim) || wall_ms(now) - wall_ms(st.st_mtim) < age_ms)
		return false;
	return unlinkat(directory, name, 0) == 0;
}

int file_sweep_temporary(const char *directory, uint64_t age_ms, size_t *ret_removed, struct err *err)
{
	DIR *entries = opendir(directory);
	size_t removed = 0;
	struct dirent *entry;

	if (!entries)
		return err_errno(err, "cannot look for temporary files in %s", directory);
	while ((entry = readdir(entries)))
		removed += sweep_entry(dirfd(entries), entry->d_name, age_ms);
	closedir(entries);
	if (ret_removed)
		*ret_removed = removed;
	return 0;
}

#include "base/base.h"
#include "daemon/log_file.h"
#include "io/files.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { LOG_FILE_MODE = 0600 };

static int log_file_reopen(struct log_file *file)
{
	struct stat status;

	file->fd = open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, LOG_FILE_MODE);
	if (file->fd < 0)
		return -1;
	file->size = fstat(file->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
	file->cut = false;
	return 0;
}

int log_file_open(struct log_file *file, const char *path, uint64_t max_bytes, unsigned keep, struct err *err)
{
	*file = (struct log_file){ .path = strdup(path), .max_bytes = max_bytes, .keep = keep };
	BUG_ON(!file->path);
	if (log_file_reopen(file) == 0)
		return 0;
	err_errno(err, "cannot open the log file %s", path);
	free_ptr(&file->path);
	return err ? err->code : ERR_IO;
}

static void rolled_name(const struct log_file *file, unsigned number, char *name, size_t size)
{
	if (number)
		snprintf(name, size, "%s.%u", file->path, number);
	else
		snprintf(name, size, "%s", file->path);
}

static void log_file_roll(struct log_file *file)
{
	size_t size = strlen(file->path) + 16;
	_cleanup_free_ char *from = xmalloc(size), *to = xmalloc(size);

	for (unsigned number = file->keep; number > 0; number--) {
		rolled_name(file, number - 1, from, size);
		rolled_name(file, number, to, size);
		(void)rename(from, to);
	}
	if (file->keep == 0)
		(void)unlink(file->path);
	close_fd(&file->fd);
	(void)log_file_reopen(file);
}

/* Rolls only what is open: each further attempt to open the next file would push an older one out. */
static bool log_file_ready(struct log_file *file, size_t n)
{
	if (file->fd < 0)
		return log_file_reopen(file) == 0;
	if (file->size && file->size + n > file->max_bytes)
		log_file_roll(file);
	return file->fd >= 0;
}

static bool log_file_put(struct log_file *file, struct str bytes)
{
	ssize_t written = write(file->fd, bytes.p, bytes.n);

	if (written <= 0)
		return false;
	file->size += (uint64_t)written;
	file->cut = (size_t)written < bytes.n;
	return !file->cut;
}

void log_file_follow(struct log_file *file)
{
	struct log_file fresh = *file;

	if (!file->path || file->fd < 0 || file_is_named(file->fd, AT_FDCWD, file->path, 0) ||
	    log_file_reopen(&fresh) < 0)
		return;
	close_fd(&file->fd);
	*file = fresh;
}

void log_file_write(struct log_file *file, struct str line)
{
	if (!file->path)
		return;
	if (!log_file_ready(file, line.n) || (file->cut && !log_file_put(file, STR("\n"))) ||
	    !log_file_put(file, line))
		file->dropped++;
}

void log_file_close(struct log_file *file)
{
	if (!file->path)
		return;
	close_fd(&file->fd);
	free_ptr(&file->path);
}

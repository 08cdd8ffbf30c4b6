#include "base/base.h"
#include "cli/output_file.h"

#include "cli/cli.h"
#include "io/random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum { OUTPUT_MODE = 0666 /* the umask takes from it */ };

/* Writing to a device or a pipe by renaming would replace it. */
static int check_target(const char *path, struct err *err)
{
	struct stat status;

	if (stat(path, &status) < 0 || S_ISREG(status.st_mode))
		return 0;
	return err_set(err, ERR_INVALID,
		       "%s is not a regular file: leave the flag out and redirect standard output", path);
}

int output_file_open(struct cli *cli, struct output_file *file, struct str path, struct err *err)
{
	size_t slash = str_find_last_char(path, '/');
	struct str directory = slash == STR_NONE ? STR("") : str_slice(path, 0, slash + 1);
	struct str name = slash == STR_NONE ? path : str_from(path, slash + 1);
	int r;

	*file = (struct output_file){ .path = arena_cstr(&cli->arena, path), .fd = -1 };
	r = check_target(file->path, err);
	if (r < 0)
		return r;
	file->temporary = arena_printf(&cli->arena, "%.*s.%.*s.%016" PRIx64 ".tmp", STR_ARG(directory),
				       STR_ARG(name), random_u64())
				  .p;
	file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, OUTPUT_MODE);
	if (file->fd >= 0)
		return 0;
	file->temporary = NULL;
	return err_errno(err, "cannot create %s", file->path);
}

int output_file_append(struct output_file *file, struct str bytes, struct err *err)
{
	while (bytes.n) {
		ssize_t written = write(file->fd, bytes.p, bytes.n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return err_errno(err, "cannot write %s", file->path);
		bytes = str_from(bytes, (size_t)written);
	}
	return 0;
}

int output_file_finish(struct output_file *file, struct err *err)
{
	int fd = take_fd(&file->fd);

	if (close(fd) < 0)
		return err_errno(err, "cannot write %s", file->path);
	if (rename(file->temporary, file->path) < 0)
		return err_errno(err, "cannot name the file %s", file->path);
	file->temporary = NULL;
	return 0;
}

void output_file_release(struct output_file *file)
{
	if (!file->temporary)
		return;
	close_fd(&file->fd);
	(void)unlink(file->temporary);
	file->temporary = NULL;
}

int output_file_write(struct cli *cli, struct str path, struct str bytes, struct err *err)
{
	_cleanup_(output_file_release) struct output_file file = { 0 };
	int r = output_file_open(cli, &file, path, err);

	if (r == 0)
		r = output_file_append(&file, bytes, err);
	if (r == 0)
		r = output_file_finish(&file, err);
	return r;
}

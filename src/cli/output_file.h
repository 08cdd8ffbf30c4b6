/*
 * output_file.h - the file that a command writes its answer to.
 *
 * Bytes go to a temporary name beside the file, which takes the file's name when all of it is there: whoever
 * looks sees the old file or the new one, and a command that fails leaves no part of one. Permissions are
 * those the umask leaves, as for any file a command creates.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

struct cli;

struct output_file {
	const char *path;      /* the name it will have */
	const char *temporary; /* NULL: nothing is open */
	int fd;
};

/* `path` "-" or a device is not for this: ERR_INVALID. */
int output_file_open(struct cli *cli, struct output_file *file, struct str path, struct err *err);
int output_file_append(struct output_file *file, struct str bytes, struct err *err);
/* Gives it its name. */
int output_file_finish(struct output_file *file, struct err *err);
/* Removes what was written, unless it was finished. Harmless on a zeroed one. */
void output_file_release(struct output_file *file);

/* All at once. */
int output_file_write(struct cli *cli, struct str path, struct str bytes, struct err *err);

#endif

/*
 * input_file.h - a file whose bytes are sent somewhere as they are read.
 */
#ifndef IO_INPUT_FILE_H
#define IO_INPUT_FILE_H

#include "base/base.h"
#include "base/err.h"

/* Opens `path` for reading. *ret_length is its size, or UINT64_MAX for a pipe or device, whose end shows only
 * when it comes. ERR_INVALID for a directory. */
int input_file_open(const char *path, int *ret_fd, uint64_t *ret_length, struct err *err);

#endif

/*
 * program_path.h - where our other programs are: beside this one (a build tree), or in ../libexec/mcpx (an
 * installation).
 */
#ifndef IO_PROGRAM_PATH_H
#define IO_PROGRAM_PATH_H

#include "base/base.h"
#include "base/err.h"

/* Writes the path of `program`, followed by a NUL. ERR_NOT_FOUND names both places. */
int program_path_beside(const char *program, char *path, size_t size, struct err *err);

/* The same for a file that comes with mcpx: share/mcpx/FILE beside bin/ of an installation, or where the
 * build leaves it. */
int program_share_path(const char *file, char *path, size_t size, struct err *err);

#endif

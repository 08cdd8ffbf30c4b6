/*
 * place.h - putting a whole file into a directory under a free name, without ever overwriting one. Blocking;
 * any thread.
 *
 * The copy is written to a file without a name (O_TMPFILE), which leaves nothing behind however the process
 * ends, and then linked to its name by an operation that fails when the name exists (take_name.h). Asking
 * first and creating then would be a race that two runs of one script lose. Where the file system lacks
 * unnamed files, the copy is called ".mcpx-*.part" until it is whole.
 */
#ifndef ARTIFACTS_PLACE_H
#define ARTIFACTS_PLACE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/* Copies `size` bytes of the file `fd` into `directory`, which is created with its parents when it is
 * missing. `name` is clean; the first free of artifact_name_numbered(name, 0 .. collisions) is taken, else
 * ERR_EXISTS. The file is flushed to the disk. */
int artifact_place(int fd, uint64_t size, const char *directory, struct str name, size_t name_max,
		   unsigned collisions, struct arena *arena, struct str *ret_path, struct err *err);

/* The same by way of a temporary name, to which artifact_place() resorts by itself. */
int artifact_place_named(int fd, uint64_t size, const char *directory, struct str name, size_t name_max,
			 unsigned collisions, struct arena *arena, struct str *ret_path, struct err *err);

#endif

/*
 * work_files.h - the files that a run needs, kept by their contents.
 *
 * A file's name holds a hash of its contents, so the same client, snippet or module is written once and every later run finds it, and so does the
 * runtime's own cache of compiled code. The name is only where to look: what is there is compared, and replaced if it is something else. Files are written
 * whole or not at all, and removed when nobody used them for long. Blocking; for the worker pool. Private to exec/.
 */
#ifndef EXEC_WORK_FILES_H
#define EXEC_WORK_FILES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/* Makes sure that "<directory>/<kind>-<hash>.<extension>" holds `content`; its name and path are from the arena. *ret_written (may be NULL): it
 * was not there. */
int work_file_keep(struct str directory, const char *kind, const char *extension, struct str content,
		   struct arena *arena, struct str *ret_name, bool *ret_written, struct err *err);

/* Removes files that were not used for `keep_ms`, and the longest unused beyond `keep_files`. Only files that work_file_keep() has written. */
void work_files_prune(struct str directory, uint64_t keep_ms, size_t keep_files, uint64_t now_ms);

#endif

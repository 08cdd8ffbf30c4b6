/*
 * work_files.h - the files that a run needs, kept by their contents.
 *
 * A file's name holds a hash of its contents, so the same client, snippet or module is written once and every
 * later run finds it, and so does the runtime's own cache of compiled code. The name is only where to look:
 * what is there is compared, and replaced if it is something else. Files are written whole or not at all,
 * with mode 0600, and removed when nobody used them for long; a file counts as used when it was last found or
 * written. Several processes may do all of this in one directory at once.
 *
 * Blocking; for the worker pool. Private to exec/.
 */
#ifndef EXEC_WORK_FILES_H
#define EXEC_WORK_FILES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Makes sure that "<directory>/<kind>-<hash>.<extension>" holds `content`; *ret_name is the name within the
 * directory, from the arena. *ret_written (may be NULL): it was not there, and is now. The directory exists;
 * `kind` is client, launch, module or snippet.
 *
 * ERR_NOT_FOUND, ERR_DENIED or ERR_IO when it cannot be written, with a message that names the path; what was
 * there is still there then. A content of any length is taken: whoever hands it in bounds it.
 */
int work_file_keep(struct str directory, const char *kind, const char *extension, struct str content,
		   struct arena *arena, struct str *ret_name, bool *ret_written, struct err *err);

/*
 * Removes files that were not used for `keep_ms` milliseconds (0: no such bound), and the longest unused
 * beyond `keep_files`. `now_ms` is the wall clock's, as loop_wall_ms() gives it. Only files that
 * work_file_keep() or the memory of runtimes (runtime.h) has written. What cannot be removed stays, without
 * an error: the next run tries again.
 */
void work_files_prune(struct str directory, uint64_t keep_ms, size_t keep_files, uint64_t now_ms);

#endif

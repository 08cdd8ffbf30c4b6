/*
 * runtime.h - the programs that run scripts: deno and node.
 *
 * Which one runs a script is said by script.runtime: a name, a path whose last component is a name, or "auto" for the first of
 * script.runtimeOrder that is there. They are looked for in the PATH of the script's environment, then in node_modules/.bin of the source tree that
 * this program was built in. node must be able to run TypeScript by itself (22.6 or newer), which is asked of it once; what is known of a
 * program is remembered as long as that file stays the same. On the loop thread.
 */
#ifndef EXEC_RUNTIME_H
#define EXEC_RUNTIME_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

enum exec_runtime_kind { EXEC_DENO, EXEC_NODE, EXEC_RUNTIME_COUNT };

/* "deno", "node". */
struct str exec_runtime_name(enum exec_runtime_kind kind);

#endif

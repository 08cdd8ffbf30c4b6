/*
 * runtime.h - the programs that run scripts: deno and node.
 *
 * Which one runs a script is said by script.runtime: a name, a path whose last component is a name, or "auto"
 * for the first of script.runtimeOrder that is there. They are looked for in the PATH of the script's
 * environment, then in node_modules/.bin of the source tree that this program was built in. node must be able
 * to run TypeScript by itself (22.6 or newer), which is asked of it once; the answer is kept in the work
 * directory for as long as that program's file stays the same.
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

/* A program that may run the script. */
struct exec_candidate {
	enum exec_runtime_kind kind;
	struct str path;
	struct str identity; /* changes when the file does */
	/* major << 16 | minor, or 0: not known yet. Always 0 for deno, of which every version will do */
	uint32_t version;
};
enum { EXEC_CANDIDATES_MAX = 4 };

/*
 * The programs that are there for `runtime`, best first; blocking. ERR_INVALID: `runtime` is no name or path
 * of one. ERR_NOT_FOUND: none is there; the message says what was looked for and how to get one. Strings are
 * from the arena.
 */
int exec_runtime_find(struct str runtime, const struct str *order, size_t order_count, struct str path,
		      struct str directory, struct arena *arena,
		      struct exec_candidate ret_candidates[EXEC_CANDIDATES_MAX], size_t *ret_count,
		      struct err *err);

/* The version in what `node --version` printed ("v22.23.3"), 0 when there is none; whether it will do; and
 * keeping it. */
uint32_t exec_runtime_parse_version(struct str text);
bool exec_runtime_will_do(const struct exec_candidate *candidate);
void exec_runtime_remember(struct str directory, const struct exec_candidate *candidate, struct arena *arena);

#endif

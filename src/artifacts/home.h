/*
 * home.h - which directory of a state directory a daemon keeps its artifacts in.
 *
 * Daemons of several sets of configuration files share a state directory, and a store has one owner. The
 * first daemon that asks gets `<state>/artifacts`, and keeps it: a link beside it, `artifacts.owner`, names
 * its key. Daemons with other keys get `<state>/artifacts-<key>`. So who has one set of files, as most do,
 * finds the artifacts where they are expected, and the answer for a key never changes. Blocking; before the
 * loop runs.
 */
#ifndef ARTIFACTS_HOME_H
#define ARTIFACTS_HOME_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/* `state` is absolute, exists, and is followed by a NUL, as the result is. ERR_IO when the link can neither
 * be read nor made. */
int artifact_home(struct str state, struct str key, struct arena *arena, struct str *ret_directory,
		  struct err *err);

#endif

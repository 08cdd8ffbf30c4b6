/*
 * script_names.h - which names script_find() would find.
 */
#ifndef CLI_SCRIPT_NAMES_H
#define CLI_SCRIPT_NAMES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"
#include "settings/environment.h"

enum { SCRIPT_NAMES_MAX = 1024 }; /* further ones are left out */

/* `path` is that of its file. Both live as long as the arena. */
typedef void script_name_found(void *owner, struct str name, struct str path);

/* Each name once, with the file that it means: the nearest. Directories that cannot be read are passed
 * over. */
void script_names(const struct environment *environment, struct str cwd, struct arena *arena,
		  script_name_found *found, void *owner);

#endif

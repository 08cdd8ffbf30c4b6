/*
 * scratch.h - a directory of a test's own, for the tests of this room.
 */
#ifndef SETTINGS_SCRATCH_H
#define SETTINGS_SCRATCH_H

#include "base/base.h"
#include "base/arena.h"
#include "base/str.h"
#include "io/files.h"
#include "settings/environment.h"

#include <ftw.h>
#include <sys/stat.h>

struct scratch {
	struct arena arena;
	struct str root; /* absolute, real, followed by a NUL */
};

static inline void scratch_init(struct scratch *scratch)
{
	char name[] = "/tmp/mcpx-settings-test-XXXXXX";
	char *made = mkdtemp(name), *real;

	BUG_ON(!made);
	real = realpath(made, NULL);
	BUG_ON(!real);
	arena_init(&scratch->arena, 0);
	scratch->root = arena_copy(&scratch->arena, str_of(real));
	free(real);
}

static inline struct str scratch_path(struct scratch *scratch, const char *name)
{
	return arena_printf(&scratch->arena, "%s/%s", scratch->root.p, name);
}

/* Writes a file below the root, with the directories that it needs. */
static inline struct str scratch_write(struct scratch *scratch, const char *name, const char *text)
{
	struct str path = scratch_path(scratch, name);
	char *parent = arena_cstr(&scratch->arena, path);
	struct file_write_options options = { .mode = 0600 };

	*strrchr(parent, '/') = '\0';
	BUG_ON(directory_make_private(parent, NULL) < 0);
	BUG_ON(file_write(path.p, str_of(text), &options, NULL) < 0);
	return path;
}

static inline int scratch_remove(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void scratch_release(struct scratch *scratch)
{
	nftw(scratch->root.p, scratch_remove, 8, FTW_DEPTH | FTW_PHYS);
	arena_release(&scratch->arena);
}

/* An environment of these entries. */
#define ENVIRONMENT(...) ((struct environment){ (const char *const[]){ __VA_ARGS__, NULL } })

#endif

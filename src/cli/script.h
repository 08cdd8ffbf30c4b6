/*
 * script.h - from what a user calls a script to its file.
 *
 * A word with a slash, or that ends in .ts, .mts or .js, is a path. Any other is a name: NAME.ts or NAME.js
 * in .mcpx/scripts or .config/mcpx/scripts of the working directory and of each directory above it, then in
 * the user's $XDG_CONFIG_HOME/mcpx/scripts and ~/.config/mcpx/scripts. The nearest wins; both extensions in
 * one directory are an error, because nothing says which is meant.
 */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/environment.h"

struct script {
	/* absolute, or relative to the working directory as it was typed; followed by a NUL */
	struct str path;
};

/* Where names are looked up: absolute, nearest first, whether they are there or not. */
struct script_directories {
	struct str *paths; /* followed by a NUL each */
	size_t count;
};
struct script_directories script_directories(const struct environment *environment, struct str cwd,
					     struct arena *arena);

/* Those that are there, with colons between them. One with a colon in its own name is left out. */
struct str script_search_path(const struct environment *environment, struct str cwd, struct arena *arena);

/* Whether the word ends as the files of scripts do. */
bool script_has_extension(struct str word);

/* Whether the word is a path, and not a name to look up. */
bool script_word_is_path(struct str word);

/* 1 when there is one; 0 when there is none; ERR_INVALID when there are two. */
int script_find(struct script *script, struct str word, const struct environment *environment, struct str cwd,
		struct arena *arena, struct err *err);

/* Why script_find() found none: what stands at the path instead of a script, or what to do about the name.
 * ERR_NOT_FOUND, or what the system says of the path. */
int script_missing(struct str word, struct arena *arena, struct err *err);

#endif

/*
 * words.h - what a runtime wrote to stderr when it could not run a script, as the script's author should read
 * it.
 *
 * Pure.
 */
#ifndef EXEC_WORDS_H
#define EXEC_WORDS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

/* A script by its names. */
struct exec_names {
	struct str path;   /* of the file that is evaluated */
	struct str shown;  /* what its author calls it */
	struct str prefix; /* what we put in front of the first line of a snippet; empty: nothing */
};

/*
 * The text without terminal control sequences, without lines that tell of the runtime's own inside, and with
 * the script under its own name: what was put in front of a snippet is cut from quoted lines, and columns are
 * counted without it. Trimmed, valid UTF-8, from the arena.
 */
struct str exec_clean_words(struct str words, const struct exec_names *names, struct arena *arena);

/* Whether deno says that the top level of a module waits for what nothing will bring: the client cannot
 * notice this itself there (script/launch.js). */
bool exec_words_wait_for_nothing(struct str words);

#endif

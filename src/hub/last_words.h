/*
 * last_words.h - what a program wrote to its standard error before it failed, made fit to be read.
 *
 * Runtimes say what is wrong first and then, at length, where: a plain tail of it loses the cause. Pure.
 */
#ifndef HUB_LAST_WORDS_H
#define HUB_LAST_WORDS_H

#include "base/base.h"
#include "base/arena.h"
#include "base/str.h"

/* The end of an error's message, from the arena: "its stderr ends: ..." with all of it or the last lines, or,
 * when the line that names the error is not among these, "its stderr says: LINE\nand ends: ...", or "it wrote
 * nothing to stderr". */
struct str last_words_quote(struct str words, struct arena *arena);

#endif

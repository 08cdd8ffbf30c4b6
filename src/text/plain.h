/*
 * plain.h - text that a program wrote for a terminal, as plain text.
 *
 * Pure; any thread.
 */
#ifndef TEXT_PLAIN_H
#define TEXT_PLAIN_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

/*
 * The text without escape sequences (ECMA-48) and other control characters, trimmed, and as valid UTF-8; from
 * the arena. Line ends and tabs stay; a carriage return, which draws the same line anew, begins a new one.
 */
struct str plain_text(struct str text, struct arena *arena);

#endif

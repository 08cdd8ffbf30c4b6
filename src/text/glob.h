/*
 * glob.h - shell-like patterns over whole names.
 *
 *   *        any characters, also none; "/" and "." are nothing special
 *   ?        one character
 *   [a-z_]   one of these; "]" is itself in the first place, "-" in the first or last
 *   [!a-z_]  one that is none of these
 *
 * Everything else stands for itself, also a backslash; write [*] for a star. Characters are code points; a
 * broken byte of a name counts as one that only "*", "?" and [!...] match. Case matters. Matching needs no
 * memory and at most pattern length times name length steps. Pure; any thread.
 */
#ifndef TEXT_GLOB_H
#define TEXT_GLOB_H

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/* Far above any name a server has given a tool; bounds the time that one match can take. */
enum { GLOB_TEXT_MAX = 1024 };

/* Whether `text` holds one of * ? [ and so is a glob where patterns and plain names are mixed. */
bool glob_magic(struct str text);

/* 0, or ERR_INVALID (a class that does not end, a range that runs backwards, [^...], broken UTF-8) or
 * ERR_TOO_LARGE. The message names the column; err->column and err->offset are set. */
int glob_check(struct str text, struct err *err);

/* Whether the whole `name` matches. `glob` has passed glob_check(). */
bool glob_matches(struct str glob, struct str name);

#endif

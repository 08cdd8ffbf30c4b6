/*
 * expand.h - ${NAME} in the strings of configuration files.
 *
 * ${NAME} is the variable's value and an error when it is not set, because a server that starts with half a
 * command line fails later and less clearly. ${NAME:-text} is the text when the variable is not set or empty.
 * $${ stands for a plain ${. Every other dollar is itself. Pure.
 */
#ifndef SETTINGS_EXPAND_H
#define SETTINGS_EXPAND_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/environment.h"

/* Bytes that all expansions with one budget may come to: a file of a few megabytes could ask for gigabytes
 * otherwise. */
enum { EXPAND_BUDGET = 32 << 20 };

struct expander {
	const struct environment *environment;
	struct arena *arena; /* results live here, followed by a NUL */
	size_t budget;	     /* what is left of EXPAND_BUDGET */
};

/* ERR_INVALID: a variable is not set (the message names it), or something between the braces is no name; a
 * NUL character. ERR_TOO_LARGE: over the budget. */
int expand(struct expander *expander, struct str text, struct str *ret_text, struct err *err);

#endif

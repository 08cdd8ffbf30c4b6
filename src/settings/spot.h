/*
 * spot.h - where in a configuration file something stands.
 *
 * A parsed document does not know its source positions, and only messages need them. So the code that walks a
 * document keeps its way as a chain of spots on the stack ("the third member of the first member"), and the
 * line is looked up in the text when there is something to say about it. Pure.
 */
#ifndef SETTINGS_SPOT_H
#define SETTINGS_SPOT_H

#include "base/base.h"
#include "base/str.h"

/* The `index`-th member or element of what is at `within`; NULL is the whole document. */
struct spot {
	const struct spot *within;
	size_t index;
};

struct spot_position {
	unsigned line, column; /* 1-based, the column in bytes */
};

/* The position of a member's key or of an element in `text`, which json_parse_jsonc() has accepted. The start
 * of the text when the way leads nowhere. */
struct spot_position spot_find(const struct spot *spot, struct str text);

#endif

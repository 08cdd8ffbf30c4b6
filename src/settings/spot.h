/*
 * spot.h - where in a configuration file something stands.
 *
 * A parsed document does not know its source positions, and only messages need them. So the code that walks a
 * document keeps its way as a chain of spots on the stack ("the third member of the first member"), and the
 * line is looked up in the text when there is something to say about it. The finder remembers where it was:
 * asking about everything in a file, in order, costs one walk over it. Pure.
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

/* The place last looked up at one depth: the `index`-th child of the container that begins at `container`. */
struct spot_level {
	size_t container, index, at;
	size_t value; /* where the child's value begins; 0: not looked for yet */
};
enum { SPOT_LEVELS = 8 }; /* remembered; what lies deeper is walked to each time */

struct spot_finder {
	struct str text;
	size_t root;
	struct spot_level levels[SPOT_LEVELS];
	size_t offset, line_begin; /* the last answer */
	unsigned line;
};

/* `text` is what json_parse_jsonc() has accepted, and outlives the finder. */
void spot_finder_init(struct spot_finder *finder, struct str text);

/* The position of a member's key or of an element. Within the text also when the way leads nowhere. */
struct spot_position spot_find(struct spot_finder *finder, const struct spot *spot);

#endif

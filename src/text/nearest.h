/*
 * nearest.h - "did you mean": the known word that looks most like a mistyped one.
 *
 *	nearest_init(&nearest, typed);
 *	... nearest_consider(&nearest, word) for each word there is ...
 *	if (nearest.best.n) "did you mean " nearest.best
 *
 * Words are compared by edits: one character put in, taken out or changed, or two neighbours swapped. Three
 * letters may hide one slip, six two and so on; what is farther away is another word. Of equally near words
 * the first is kept. Pure; any thread.
 */
#ifndef TEXT_NEAREST_H
#define TEXT_NEAREST_H

#include "base/base.h"
#include "base/str.h"

enum { NEAREST_WORD_MAX = 64 }; /* longer words are like none */

struct nearest {
	struct str typed;
	struct str best; /* as given to nearest_consider(); empty: no word is near */
	size_t distance;
};

void nearest_init(struct nearest *nearest, struct str typed);
void nearest_consider(struct nearest *nearest, struct str word);

#endif

/* number.h - comparing the text of JSON numbers. Private to the room. */
#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include "base/base.h"
#include "base/str.h"

/* Whether two valid JSON numbers have the same value, however many digits they have: 1.50e1 is 15, -0 is
 * 0. */
bool number_equal(struct str a, struct str b);

#endif

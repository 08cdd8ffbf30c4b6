/* place.h - inside this room: where in a one-line text an error is. */
#ifndef TEXT_PLACE_H
#define TEXT_PLACE_H

#include "base/base.h"
#include "base/err.h"

#include <limits.h>

/* Adds the position of byte `offset` to an error that was just set, and returns its code. */
static inline int place_err(struct err *err, int code, size_t offset)
{
	if (err) {
		err->line = 1;
		err->column = offset < UINT_MAX ? (unsigned)offset + 1 : UINT_MAX;
		err->offset = offset;
	}
	return code;
}

#endif

/*
 * tail.h - the last bytes of a stream, such as what a program said before it died. Pure; not thread-safe.
 */
#ifndef IO_TAIL_H
#define IO_TAIL_H

#include "base/base.h"
#include "base/str.h"

/* Holds the last `keep` bytes; allocates at most twice that, and nothing before the first byte. */
struct tail {
	char *bytes;
	size_t n, capacity, keep;
};

void tail_init(struct tail *tail, size_t keep);
void tail_release(struct tail *tail);
void tail_append(struct tail *tail, struct str bytes);

/* In one piece, valid until the next change. */
struct str tail_str(const struct tail *tail);

#endif

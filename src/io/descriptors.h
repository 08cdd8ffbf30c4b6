/*
 * descriptors.h - how many descriptors this process may have.
 *
 * The soft limit is 1,024 nearly everywhere, for the sake of programs that use select(2); the hard limit is
 * what the system allows. A daemon takes the hard one for itself, and its children begin with the soft limit
 * that it was started with (child.h). The limit belongs to the process, and so does what is remembered here;
 * call it before there are threads.
 */
#ifndef IO_DESCRIPTORS_H
#define IO_DESCRIPTORS_H

#include "base/base.h"

/* Raises our soft limit to the hard one, or to `most` when that is lower. Nothing is lost when it cannot be
 * done. */
void descriptors_raise(uint64_t most);

/* The soft limit before it was raised; 0 when it was not. */
uint64_t descriptors_inherited(void);

#endif

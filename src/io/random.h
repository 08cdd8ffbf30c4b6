/*
 * random.h - bytes that nobody can guess, from the kernel. Any thread; never blocks once the machine has
 * booted.
 */
#ifndef IO_RANDOM_H
#define IO_RANDOM_H

#include "base/base.h"
#include "base/ids.h"

/* Fills `bytes`. Cannot fail: a kernel that has no random numbers to give ends the program, because going on
 * would be unsafe. */
void random_bytes(void *bytes, size_t n);

/* For seeds of maps and jitter. */
uint64_t random_u64(void);

/* A new id of this kind, written into `storage` and followed by a NUL (ids.h). */
struct str random_id(char storage[ID_TEXT_MAX], const struct id_kind *kind);

#endif

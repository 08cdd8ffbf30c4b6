/*
 * process.h - what this process costs, as the kernel counts it. Any thread.
 */
#ifndef IO_PROCESS_H
#define IO_PROCESS_H

#include "base/base.h"

/* Bytes of physical memory in use (resident set size, proc(5) statm); 0 when the kernel does not say. */
uint64_t process_memory(void);

#endif

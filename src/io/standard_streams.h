/*
 * standard_streams.h - standard input, output and error are there, whatever we were started with.
 *
 * A program that is started without one of them gets its number for the next thing that it opens: a
 * connection that its output is then written into, or a database that its messages destroy.
 */
#ifndef IO_STANDARD_STREAMS_H
#define IO_STANDARD_STREAMS_H

#include "base/base.h"
#include "base/err.h"

/*
 * Opens those that are closed: an input that is at its end, and outputs that refuse every write with EBADF,
 * so that nobody believes in output that nobody got. First of all in main(). Fails where there is no
 * /dev/null; then nothing may be opened.
 */
int standard_streams_open(struct err *err);

#endif

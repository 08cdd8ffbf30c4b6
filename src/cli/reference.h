/*
 * reference.h - docs/commands.md, written from the table of commands.
 *
 * `mcpx help --markdown` prints it; a test holds the document to it. Pure.
 */
#ifndef CLI_REFERENCE_H
#define CLI_REFERENCE_H

#include "base/base.h"
#include "base/buf.h"

enum { REFERENCE_MAX = 1 << 20 }; /* bytes that are always enough for it */

void reference_write(struct buf *out);

#endif

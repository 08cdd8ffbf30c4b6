/*
 * manual.h - the manual page mcpx(1), written from the tables of commands and settings.
 *
 * In roff with the macros of man(7), for man(1), groff and mandoc. What the tables do not say, such as files
 * and exit statuses, stands in manual.c. Pure.
 */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "base/base.h"
#include "base/buf.h"

enum { MANUAL_MAX = 1 << 20 }; /* bytes that are always enough for it */

/* Appends the whole page. `version` stands in its footer. */
void manual_write(struct buf *out, const char *version);

#endif

/*
 * manual_private.h - the sections of the manual page that are made from tables.
 */
#ifndef CLI_MANUAL_PRIVATE_H
#define CLI_MANUAL_PRIVATE_H

#include "base/base.h"
#include "base/buf.h"

/* Each command with its arguments and flags, under the headings of the help. */
void manual_write_commands(struct buf *out);

/* Each setting with its flags and variables, a subsection for each part of the registry; plumbing, or what is
 * none. */
void manual_write_settings(struct buf *out, bool plumbing);

#endif

/*
 * standard_input.h - all of standard input as one text, for the words that stand for it ("-").
 *
 * Waits for its end, so it is for commands that have nothing else to do.
 */
#ifndef CLI_STANDARD_INPUT_H
#define CLI_STANDARD_INPUT_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

/* The text is from the arena. ERR_TOO_LARGE when it has more than `bytes_max` bytes. */
int standard_input_read(size_t bytes_max, struct arena *arena, struct str *ret_text, struct err *err);

/* Whether somebody would have to type it. */
bool standard_input_is_terminal(void);

#endif

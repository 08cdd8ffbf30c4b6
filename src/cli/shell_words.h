/*
 * shell_words.h - a command line that is still being typed, taken apart as a POSIX shell would (XCU 2.2 and
 * 2.3).
 *
 * Quotes and backslashes are removed. Variables, ~ and patterns stay as they are, redirections are left out.
 * Only the end may be unfinished: an open quote goes on to the end. Pure.
 */
#ifndef CLI_SHELL_WORDS_H
#define CLI_SHELL_WORDS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct shell_words {
	const struct str *words; /* whole ones */
	size_t count;
	struct str current; /* the last one, which ends with the line; empty behind a blank */
	char quote;	    /* that is open at the end: ', " or NUL */
	bool redirects;	    /* the last one is the file of a redirection */
	size_t kept;	    /* bytes of `current` that come from before the mark */
};

/* `mark` is an offset in `line`. Words are the arena's. */
void shell_words_read(struct shell_words *words, struct str line, size_t mark, struct arena *arena);

/* Appends `word` so that a shell takes it as one, within the quote that is open before it (', " or NUL). */
void shell_quote(struct buf *out, struct str word, char quote);

#endif

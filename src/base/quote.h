/*
 * quote.h - text from outside made fit for a message.
 *
 * Messages name what a peer or a user sent, which may hold newlines, terminal escapes, broken UTF-8 or a
 * megabyte. quote() shows it between double quotes on one line: control characters and broken bytes as \n, \t
 * or \xNN, the rest as it is, cut after QUOTE_SHOWN_MAX bytes. For people only; JSON has its own rules. Pure;
 * any thread.
 */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include "base/base.h"
#include "base/str.h"

enum {
	QUOTE_SHOWN_MAX = 80,			     /* bytes of the source that are shown */
	QUOTE_TEXT_MAX = 4 * QUOTE_SHOWN_MAX + 2 + 4 /* all escaped, the quotes, "..." and the NUL */
};

struct quoted {
	char text[QUOTE_TEXT_MAX];
};

/* Fills *quoted and returns its text. */
const char *quote_into(struct quoted *quoted, struct str s);

/* For one printf argument; lives as long as the enclosing block: err_set(err, ERR_INVALID, "no server %s",
 * QUOTE(name)). */
#define QUOTE(s) quote_into(&(struct quoted){ { 0 } }, (s))

/*
 * Whether a character does not stand for itself between quotes: the quote and the backslash, C0 and C1
 * controls and DEL, the line and paragraph separators, the byte order mark, and the marks that turn the
 * direction of writing around, which can make a line read as something else.
 */
bool quote_needed(uint32_t code_point);

#endif

/*
 * terminal.h - where output goes, and what may be sent there.
 *
 * Text for people is written through here. To a terminal it is coloured, cut to the width and cleaned of what
 * a terminal would obey (display.h); to a file or a pipe it goes as it is. Colour follows output.color: auto
 * means on a terminal, and not when NO_COLOR is set or TERM is dumb.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "settings/environment.h"
#include "settings/settings.h"

struct terminal {
	int fd;
	bool is_terminal;
	bool dumb; /* a terminal that obeys no escapes, as TERM says */
	bool colour;
	unsigned width; /* columns; 0: no terminal, so nothing is cut */
};

enum style { STYLE_PLAIN, STYLE_STRONG, STYLE_FAINT, STYLE_GOOD, STYLE_BAD, STYLE_NAME };

void terminal_init(struct terminal *terminal, int fd, const struct settings *set,
		   const struct environment *environment);

/* Appends `text` in that style, with escapes or without, and cleaned like terminal_append()'s. */
void terminal_style(const struct terminal *terminal, struct buf *out, enum style style, struct str text);

/* Appends text from outside: cleaned for a terminal, else as it is. */
void terminal_append(const struct terminal *terminal, struct buf *out, struct str text);

/* Writes all of it. ERR_CLOSED when nobody reads it and SIGPIPE is ignored, ERR_IO when it cannot be done
 * otherwise. */
int terminal_write(const struct terminal *terminal, struct str bytes, struct err *err);

#endif

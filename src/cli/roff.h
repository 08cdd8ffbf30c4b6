/*
 * roff.h - text for manual pages, in the macros of man(7) that groff, mandoc and others have in common.
 *
 * Nothing in a text is taken for a request, an escape or a typographic quote: what is shown can be copied
 * into a shell. A hyphen is a minus everywhere, because nobody can tell a flag from a compound word. `Code`
 * between backquotes is set in bold. Pure.
 */
#ifndef CLI_ROFF_H
#define CLI_ROFF_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum roff_font { ROFF_ROMAN, ROFF_BOLD, ROFF_ITALIC };

/* Appends text within a line, escaped. */
void roff_append(struct buf *out, struct str text);
/* The same in a font, and back to roman. */
void roff_font(struct buf *out, enum roff_font font, struct str text);

/* ".SH" or ".SS" and a title. */
void roff_section(struct buf *out, struct str title);
void roff_subsection(struct buf *out, struct str title);

/* Whole sentences, filled: each begins a line, and lines are kept short. Code between backquotes in bold. */
void roff_prose(struct buf *out, struct str text);

/* A paragraph begins. */
void roff_paragraph(struct buf *out);
/* What follows on the next line is the term of an entry, and what comes after it its text. */
void roff_entry(struct buf *out);
/* What lies between is indented. */
void roff_indent(struct buf *out);
void roff_outdent(struct buf *out);

/* Lines as they are, in a paragraph of their own. */
void roff_verbatim(struct buf *out, struct str lines);

#endif

/*
 * display.h - text from outside, made fit to be shown to a person.
 *
 * Servers, files and tools name things as they like: with line ends, terminal escapes, characters that turn
 * the direction of writing around, broken UTF-8. A terminal obeys such text, so none of it gets there as it
 * is. Widths are those of a terminal with a fixed font: two columns for the wide characters of East Asia and
 * for pictures, none for marks that are drawn over others. Pure.
 */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* On one line: each run of blanks and line ends becomes one blank; what a terminal would obey becomes
 * U+FFFD. */
void display_line(struct buf *out, struct str s);

/* Line ends and tabs stay; what else a terminal would obey becomes U+FFFD. */
void display_text(struct buf *out, struct str s);

/* JSON text stays what it says: what a terminal would obey stands in it as an escape. */
void display_json(struct buf *out, struct str json);

/* Columns of a line that display_line() gave. */
size_t display_width(struct str line);

/* The longest beginning of such a line that takes at most `columns`. */
struct str display_cut(struct str line, size_t columns);

/* The beginning of a longer text that says what it is about: up to the first line end or the end of the first
 * sentence. */
struct str display_first_sentence(struct str text);

#endif

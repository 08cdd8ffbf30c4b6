/*
 * show.h - answers as they are shown: one JSON document with --json, aligned text for people otherwise.
 *
 * An answer that no function here knows is shown all the same: an object as lines of names and values, an
 * array as a table of what its elements have in common.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cli.h"
#include "json/json.h"

enum {
	SHOW_MAX = 1 << 30
}; /* of what one command shows: its answer is bounded by http.responseMax, and text is not much longer */

/* Writes to standard output; returns the exit status. */
int show_text(struct cli *cli, struct str text);
/* The same for a buffer that may have failed, which is then said. */
int show_buf(struct cli *cli, const struct buf *out);

/* A JSON document and a line end; laid out on a terminal, as it came otherwise. */
int show_json(struct cli *cli, struct str document);

/* The document {name: value}. */
int show_member(struct cli *cli, struct str name, struct str value);

int show_version(struct cli *cli);

/* The answer of an operation. */
int show_answer(struct cli *cli, const struct operation *operation, struct str body);

/* The value as text: strings as they are, everything else as JSON. From the arena. */
struct str show_value_text(struct cli *cli, const struct json *value);

#endif

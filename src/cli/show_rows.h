/*
 * show_rows.h - answers that are lists, as tables: which member of a list's elements stands in which column.
 */
#ifndef CLI_SHOW_ROWS_H
#define CLI_SHOW_ROWS_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "json/json.h"

/* How a member is shown. */
enum row_kind {
	ROW_TEXT,
	ROW_SENTENCE, /* the first sentence of a text */
	ROW_NUMBER,
	ROW_BYTES,  /* a size */
	ROW_MOMENT, /* RFC 3339, as a date and a time */
	ROW_TOOL,   /* namespace.tool, of the whole element */
	ROW_STATE,  /* of a namespace, coloured */
	ROW_VALUE,  /* of a setting, which may be empty */
	ROW_SOURCE, /* of a setting, of the whole record: which layer, and where in it */
	ROW_HERE,   /* of a setting: what this command's own layers say, where that is another value */
	ROW_USE	    /* of a server: "off" for one that is switched off */
};

struct row_column {
	const char *heading; /* with ">" in front: numbers, to the right */
	struct str member;
	enum row_kind kind;
	enum style style;
};

struct rows {
	struct str list;     /* the member that holds the array; empty: the answer is the array */
	const char *none;    /* said instead of an empty table */
	const char *none_on; /* NULL, or the same when servers are configured all the same */
	const struct row_column *columns;
	size_t column_count;
};

extern const struct rows rows_namespaces, rows_tools, rows_search, rows_artifacts, rows_servers,
	rows_settings;

void show_rows(struct cli *cli, const struct rows *rows, const struct json *root, struct buf *out);

#endif

/*
 * table.h - rows and columns, aligned.
 *
 *	table_init(&table, terminal, out);
 *	table_row(&table); table_cell(&table, STYLE_NAME, name); table_cell(&table, STYLE_PLAIN, description);
 *	table_end(&table);
 *
 * Cells are made one line each. Columns are as wide as their widest cell; on a terminal a row that is too
 * long is cut in its last column. A column that is empty in all rows is left out, with its heading.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "cli/terminal.h"

enum { TABLE_COLUMNS_MAX = 12 };

struct table_cell {
	size_t at, n; /* in `text` */
	enum style style;
};

struct table {
	const struct terminal *terminal;
	struct buf *out;
	struct buf text; /* of all cells */
	struct table_cell *cells;
	size_t cell_count, cell_room;
	size_t *rows; /* where each row's cells begin */
	size_t row_count, row_room;
	unsigned right; /* a bit for each column of numbers, which stand to the right */
	bool headed;	/* the first row is a heading */
};

/* Writes to `out` at table_end(), whose maximum bounds the table. */
void table_init(struct table *table, const struct terminal *terminal, struct buf *out);
/* A first row of headings. A name that begins with ">" is of a column of numbers. */
void table_heading(struct table *table, const char *const *names, size_t count);
void table_row(struct table *table);
/* Further cells than TABLE_COLUMNS_MAX are a BUG. */
void table_cell(struct table *table, enum style style, struct str text);
void table_cell_printf(struct table *table, enum style style, const char *format, ...) _printf_(3, 4);
/* Writes it and frees the storage. */
void table_end(struct table *table);

#endif

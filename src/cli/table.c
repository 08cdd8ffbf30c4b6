#include "base/base.h"
#include "cli/table.h"

#include "cli/display.h"

#include <stdarg.h>

enum {
	GAP = 2,	      /* blanks between two columns */
	CELL_TEXT_MAX = 1024, /* bytes of a formatted cell; longer ones are cut */
	LAST_COLUMN_MIN = 8,  /* the last column is not cut below this, whatever the terminal's width */
};

#define ELLIPSIS "\xe2\x80\xa6"

void table_init(struct table *table, const struct terminal *terminal, struct buf *out)
{
	*table = (struct table){ .terminal = terminal, .out = out };
	buf_init(&table->text, out->max);
}

void table_row(struct table *table)
{
	if (table->row_count == table->row_room) {
		table->row_room = table->row_room ? 2 * table->row_room : 16;
		table->rows = xrealloc(table->rows, table->row_room * sizeof(*table->rows));
	}
	table->rows[table->row_count++] = table->cell_count;
}

void table_cell(struct table *table, enum style style, struct str text)
{
	struct table_cell *cell;

	BUG_ON(table->row_count == 0);
	BUG_ON(table->cell_count - table->rows[table->row_count - 1] >= TABLE_COLUMNS_MAX);
	if (table->cell_count == table->cell_room) {
		table->cell_room = table->cell_room ? 2 * table->cell_room : 64;
		table->cells = xrealloc(table->cells, table->cell_room * sizeof(*table->cells));
	}
	cell = &table->cells[table->cell_count++];
	*cell = (struct table_cell){ .at = table->text.n, .style = style };
	display_line(&table->text, text);
	cell->n = table->text.n - cell->at;
}

void table_cell_printf(struct table *table, enum style style, const char *format, ...)
{
	char text[CELL_TEXT_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	table_cell(table, style, str_make(text, size_min(n < 0 ? 0 : (size_t)n, sizeof(text) - 1)));
}

void table_heading(struct table *table, const char *const *names, size_t count)
{
	table->headed = true;
	table_row(table);
	for (size_t i = 0; i < count; i++) {
		bool number = names[i][0] == '>';

		if (number)
			table->right |= 1U << i;
		table_cell(table, STYLE_FAINT, str_of(names[i] + number));
	}
}

/* -- writing --------------------------------------------------------------------------------------------- */

static struct str cell_text(const struct table *table, const struct table_cell *cell)
{
	return str_make(table->text.p + cell->at, cell->n);
}

/* The cells of a row: the first and how many. */
static size_t row_cells(const struct table *table, size_t row, const struct table_cell **ret_cells)
{
	size_t end = row + 1 < table->row_count ? table->rows[row + 1] : table->cell_count;

	*ret_cells = table->cells + table->rows[row];
	return end - table->rows[row];
}

/* The widths of all columns, 0 for one that is left out; returns the last that is not, plus one. */
static size_t measure(const struct table *table, size_t widths[TABLE_COLUMNS_MAX])
{
	bool filled[TABLE_COLUMNS_MAX] = { 0 };
	size_t last = 0;

	memset(widths, 0, TABLE_COLUMNS_MAX * sizeof(*widths));
	for (size_t row = 0; row < table->row_count; row++) {
		const struct table_cell *cells;
		size_t count = row_cells(table, row, &cells);

		for (size_t i = 0; i < count; i++) {
			widths[i] = size_max(widths[i], display_width(cell_text(table, &cells[i])));
			filled[i] |= cells[i].n > 0 && !(table->headed && row == 0);
		}
	}
	for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++) {
		if (!filled[i])
			widths[i] = 0;
		if (widths[i])
			last = i + 1;
	}
	return last;
}

static void write_blanks(struct buf *out, size_t count)
{
	while (count--)
		buf_append_char(out, ' ');
}

/* The last cell of a row that is longer than the terminal is wide. */
static void write_cut(const struct table *table, enum style style, struct str text, size_t room)
{
	terminal_style(table->terminal, table->out, style, display_cut(text, room - 1));
	buf_append(table->out, STR(ELLIPSIS));
}

static void write_cell(const struct table *table, const struct table_cell *cell, size_t column, size_t width,
		       size_t used, bool last)
{
	struct str text = cell_text(table, cell);
	size_t columns = display_width(text), total = table->terminal->width;
	size_t room = total > used + LAST_COLUMN_MIN ? total - used : LAST_COLUMN_MIN;
	bool right = table->right >> column & 1;

	if (last && total && columns > room) {
		write_cut(table, cell->style, text, room);
		return;
	}
	if (right)
		write_blanks(table->out, width - columns);
	terminal_style(table->terminal, table->out, cell->style, text);
	if (!right && !last)
		write_blanks(table->out, width - columns);
}

/* No blanks at the end of a line: the last cell that has text is the last of its row. */
static size_t row_end(const struct table_cell *cells, size_t count, const size_t widths[TABLE_COLUMNS_MAX])
{
	while (count && (cells[count - 1].n == 0 || widths[count - 1] == 0))
		count--;
	return count;
}

static void write_row(const struct table *table, size_t row, const size_t widths[TABLE_COLUMNS_MAX])
{
	const struct table_cell *cells;
	size_t count = row_cells(table, row, &cells);
	size_t used = 0;

	count = row_end(cells, count, widths);
	for (size_t i = 0; i < count; i++) {
		if (widths[i] == 0)
			continue;
		if (used)
			write_blanks(table->out, GAP);
		used += used ? GAP : 0;
		write_cell(table, &cells[i], i, widths[i], used, i + 1 == count);
		used += widths[i];
	}
	buf_append_char(table->out, '\n');
}

void table_end(struct table *table)
{
	size_t widths[TABLE_COLUMNS_MAX];

	if (!buf_failed(&table->text) && measure(table, widths) > 0)
		for (size_t row = 0; row < table->row_count; row++)
			write_row(table, row, widths);
	buf_release(&table->text);
	free_ptr(&table->cells);
	free_ptr(&table->rows);
}

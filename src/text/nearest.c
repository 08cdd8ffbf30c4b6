#include "base/base.h"
#include "text/nearest.h"

/* Three rows of the table of distances between prefixes (optimal string alignment): the current one and the
 * two above. */
struct rows {
	size_t row[3][NEAREST_WORD_MAX + 1];
	size_t *above2, *above, *current;
};

static void rows_turn(struct rows *rows)
{
	size_t *oldest = rows->above2;

	rows->above2 = rows->above;
	rows->above = rows->current;
	rows->current = oldest;
}

static size_t cell_distance(const struct rows *rows, struct str a, struct str b, size_t i, size_t j)
{
	size_t changed = rows->above[j - 1] + (a.p[i - 1] != b.p[j - 1]);
	size_t best = size_min(changed, size_min(rows->above[j], rows->current[j - 1]) + 1);

	if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
		best = size_min(best, rows->above2[j - 2] + 1);
	return best;
}

static size_t edit_distance(struct str a, struct str b)
{
	struct rows rows;

	rows.above2 = rows.row[0];
	rows.above = rows.row[1];
	rows.current = rows.row[2];
	for (size_t j = 0; j <= b.n; j++)
		rows.current[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		rows_turn(&rows);
		rows.current[0] = i;
		for (size_t j = 1; j <= b.n; j++)
			rows.current[j] = cell_distance(&rows, a, b, i, j);
	}
	return rows.current[b.n];
}

void nearest_init(struct nearest *nearest, struct str typed)
{
	*nearest = (struct nearest){ .typed = typed, .distance = typed.n / 3 + 1 };
}

void nearest_consider(struct nearest *nearest, struct str word)
{
	size_t distance;

	if (nearest->typed.n == 0 || nearest->typed.n > NEAREST_WORD_MAX || word.n == 0 ||
	    word.n > NEAREST_WORD_MAX)
		return;
	distance = edit_distance(nearest->typed, word);
	if (distance < nearest->distance) {
		nearest->distance = distance;
		nearest->best = word;
	}
}

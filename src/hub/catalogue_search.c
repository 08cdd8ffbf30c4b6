/*
 * Ranking by words. Each word of the query is looked for in the names and the description of each tool, all
 * folded; the weights say that a name is what people mean, and that a description is only a hint.
 */
#include "base/base.h"
#include "hub/catalogue.h"
#include "text/normal.h"

enum {
	SCORE_EXACT = 100,
	SCORE_PREFIX = 60,
	SCORE_SUBSTRING = 40,
	SCORE_FUNCTION = 30,
	SCORE_NAMESPACE = 20,
	SCORE_DESCRIPTION = 10,
	WORDS_MAX = 16, /* of a query; more say nothing new */
	FOLDED_MAX = 1 << 20,
};

struct query {
	struct str words[WORDS_MAX];
	size_t count;
};

/* One tool as it is compared: folded texts, in buffers that are used again for the next. */
struct folded {
	struct buf name, function, namespace, description;
};

static struct str fold(struct buf *buf, struct str text)
{
	buf_clear(buf, FOLDED_MAX);
	if (normal_fold(buf, text, NULL) < 0) {
		/* Not UTF-8, or longer than anyone would search: compared as it is. */
		buf_clear(buf, FOLDED_MAX);
		(void)buf_append(buf, str_slice(text, 0, FOLDED_MAX));
	}
	return buf_str(buf);
}

static bool word_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

static void query_split(struct query *query, struct str text)
{
	size_t at = 0;

	while (at < text.n && query->count < WORDS_MAX) {
		size_t end;

		while (at < text.n && word_separator(text.p[at]))
			at++;
		for (end = at; end < text.n && !word_separator(text.p[end]);)
			end++;
		if (end > at)
			query->words[query->count++] = str_slice(text, at, end - at);
		at = end;
	}
}

static unsigned score_word(const struct folded *folded, struct str word)
{
	struct str name = buf_str(&folded->name);
	unsigned score = 0;

	if (str_eq(name, word))
		score += SCORE_EXACT;
	else if (str_starts_with(name, word))
		score += SCORE_PREFIX;
	else if (str_find(name, word) != STR_NONE)
		score += SCORE_SUBSTRING;
	else if (str_find(buf_str(&folded->function), word) != STR_NONE)
		score += SCORE_FUNCTION;
	if (str_find(buf_str(&folded->namespace), word) != STR_NONE)
		score += SCORE_NAMESPACE;
	if (str_find(buf_str(&folded->description), word) != STR_NONE)
		score += SCORE_DESCRIPTION;
	return score;
}

/* Hits on every word rank above hits on some, whatever their sums: the count of words goes in front of the
 * score. */
static unsigned rank_tool(const struct query *query, const struct folded *folded, unsigned *ret_score)
{
	unsigned matched = 0, score = 0;

	for (size_t i = 0; i < query->count; i++) {
		unsigned one = score_word(folded, query->words[i]);

		matched += one > 0;
		score += one;
	}
	*ret_score = score;
	return matched == query->count ? 2 : matched > 0;
}

struct ranked {
	struct catalogue_hit hit;
	unsigned rank;
	size_t order;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->hit.score != y->hit.score)
		return x->hit.score > y->hit.score ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static size_t rank_snapshot(const struct query *query, const struct catalogue_snapshot *snapshot,
			    struct folded *folded, struct ranked *out, size_t count)
{
	fold(&folded->namespace, snapshot->namespace);
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct catalogue_tool *tool = &snapshot->tools[i];
		struct ranked *ranked = &out[count];

		fold(&folded->name, tool->name);
		fold(&folded->function, tool->function);
		fold(&folded->description, tool->description);
		ranked->hit = (struct catalogue_hit){ snapshot, tool, 0 };
		ranked->rank = rank_tool(query, folded, &ranked->hit.score);
		ranked->order = count;
		if (ranked->rank)
			count++;
	}
	return count;
}

size_t catalogue_search(const struct catalogue_snapshot *const *snapshots, size_t count,
			struct str query_text, struct catalogue_hit *hits, size_t room)
{
	_cleanup_buf_ struct buf text = { .max = FOLDED_MAX };
	struct folded folded = {
		{ .max = FOLDED_MAX }, { .max = FOLDED_MAX }, { .max = FOLDED_MAX }, { .max = FOLDED_MAX }
	};
	struct query query = { 0 };
	size_t total = 0, found = 0;
	struct ranked *ranked;

	query_split(&query, fold(&text, query_text));
	for (size_t i = 0; i < count; i++)
		total += snapshots[i]->count;
	ranked = xcalloc(total + 1, sizeof(*ranked));
	for (size_t i = 0; i < count; i++)
		found = rank_snapshot(&query, snapshots[i], &folded, ranked, found);
	qsort(ranked, found, sizeof(*ranked), ranked_compare);
	found = size_min(found, room);
	for (size_t i = 0; i < found; i++)
		hits[i] = ranked[i].hit;
	free(ranked);
	buf_release(&folded.name);
	buf_release(&folded.function);
	buf_release(&folded.namespace);
	buf_release(&folded.description);
	return found;
}

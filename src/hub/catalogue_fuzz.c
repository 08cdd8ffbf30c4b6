/* Any bytes as a cache file: it is refused, or each of its tools has names that nobody else has and that find
 * it, and what is written of it is read as the same again. */
#include "base/base.h"
#include "hub/catalogue.h"

enum { ROOM = 64 << 20, TOOLS_MAX = 1000, HITS_MAX = 4, NAME_MAX_LISTED = 64, SEED = 7 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const struct catalogue_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct catalogue_tool *tool = &snapshot->tools[i];
		const struct catalogue_tool *first = catalogue_find(snapshot, tool->name);

		BUG_ON(tool->listed_name.n == 0 || tool->listed_name.n > NAME_MAX_LISTED);
		BUG_ON(catalogue_find(snapshot, tool->listed_name) != tool);
		BUG_ON(catalogue_find(snapshot, tool->function) != tool);
		BUG_ON(!catalogue_find(snapshot, tool->full_name));
		BUG_ON(!first || !str_eq(first->name, tool->name) || tool->repeats != (first != tool));
	}
}

static void check_search(const struct catalogue_snapshot *snapshot)
{
	struct catalogue_hit hits[HITS_MAX];
	size_t found;

	if (snapshot->count == 0)
		return;
	found = catalogue_search(&snapshot, 1, snapshot->tools[0].name, hits, HITS_MAX);
	BUG_ON(found > HITS_MAX || found > snapshot->count);
	for (size_t i = 0; i < found; i++)
		BUG_ON(hits[i].tool < snapshot->tools || hits[i].tool >= snapshot->tools + snapshot->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make((const char *)data, size), namespace = STR("ns");
	struct catalogue_snapshot *snapshot, *again;
	_cleanup_buf_ struct buf out = { .max = ROOM };

	if (catalogue_decode(text, namespace, TOOLS_MAX, SEED, &snapshot, NULL) < 0)
		return 0;
	check_names(snapshot);
	check_search(snapshot);
	BUG_ON(catalogue_encode(snapshot, &out) < 0);
	BUG_ON(catalogue_decode(buf_str(&out), namespace, TOOLS_MAX, SEED, &again, NULL) < 0);
	BUG_ON(again->count != snapshot->count || again->hash != snapshot->hash);
	catalogue_unref(&snapshot);
	catalogue_unref(&again);
	return 0;
}

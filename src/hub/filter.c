#include "base/base.h"
#include "hub/filter.h"
#include "text/pattern.h"

static bool any_matches(struct setting_items patterns, struct str tool, bool when_malformed)
{
	for (size_t i = 0; i < patterns.count; i++) {
		struct pattern pattern;
		bool understood = pattern_parse(patterns.items[i], &pattern, NULL) == 0;

		if (understood ? pattern_matches(&pattern, tool) : when_malformed)
			return true;
	}
	return false;
}

bool filter_allows(const struct config_filter *filter, struct str tool)
{
	if (any_matches(filter->excluded, tool, true))
		return false;
	return (filter->tools.count == 0 && filter->extra.count == 0) ||
	       any_matches(filter->tools, tool, false) || any_matches(filter->extra, tool, false);
}

bool filter_hides(const struct config_filter *filter)
{
	return filter->tools.count || filter->extra.count || filter->excluded.count;
}

struct catalogue_snapshot *filter_apply(const struct config_filter *filter, struct catalogue_snapshot *all,
					uint64_t seed)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct catalogue_snapshot *shown;
	struct str *items;
	size_t count = 0;

	arena_init(&arena, 0);
	items = arena_array(&arena, struct str, all->count + 1);
	for (size_t i = 0; i < all->count; i++)
		if (filter_allows(filter, all->tools[i].name))
			items[count++] = all->tools[i].raw;
	if (count == all->count)
		return catalogue_ref(all);
	shown = catalogue_build(all->namespace, items, count, all->instructions, all->fetched_at, seed);
	shown->skipped = all->skipped;
	return shown;
}

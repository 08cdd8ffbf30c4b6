#include "base/base.h"
#include "artifacts/media.h"
#include "json/json.h"

/*
 * Any bytes: finding stays within them. JSON: what is found are values of it that do not overlap; replacing
 * none gives the same bytes, and replacing all gives JSON again.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCKS_MAX = 16 };

static bool is_json(struct str text)
{
	_cleanup_json_ struct json_doc doc = { 0 };

	return json_parse(&doc, text, NULL, NULL) == 0;
}

static void check_places(struct str value, const struct media_block *blocks, size_t count)
{
	const char *at = value.p;

	for (size_t i = 0; i < count; i++) {
		BUG_ON(blocks[i].raw.p < at);
		BUG_ON(!is_json(blocks[i].raw));
		at = blocks[i].raw.p + blocks[i].raw.n;
	}
	BUG_ON(at > value.p + value.n);
}

static void check_replacing(struct str value, const struct media_block *blocks, size_t count, bool all)
{
	static const struct artifact linked = { .uri = STR_INIT("u"),
						.name = STR_INIT("n"),
						.mime = STR_INIT("m/m") };
	const struct artifact *links[BLOCKS_MAX];
	struct buf out;

	for (size_t i = 0; i < count; i++)
		links[i] = all ? &linked : NULL;
	buf_init(&out, value.n + BLOCKS_MAX * 128);
	BUG_ON(media_replace(value, blocks, links, count, &out) < 0);
	BUG_ON(!all && !str_eq(buf_str(&out), value));
	BUG_ON(all && !is_json(buf_str(&out)));
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str value = str_make((const char *)data, size);
	struct media_block blocks[BLOCKS_MAX];
	struct arena arena;
	size_t count;

	arena_init(&arena, 0);
	count = media_find(value, &arena, blocks, BLOCKS_MAX);
	if (is_json(value)) {
		check_places(value, blocks, count);
		check_replacing(value, blocks, count, false);
		check_replacing(value, blocks, count, true);
	}
	arena_release(&arena);
	return 0;
}

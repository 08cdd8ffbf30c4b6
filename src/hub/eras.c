#include "base/base.h"
#include "hub/eras.h"
#include "base/map.h"
#include "json/json.h"
#include "json/writer.h"

static const struct str era_names[] = {
	[MCP_LEGACY] = STR_INIT("legacy"), [MCP_MODERN] = STR_INIT("modern")
};

struct hub_eras {
	struct map by_process; /* -> an element of era_names */
};

int eras_get(const struct hub_eras *eras, struct str process_id)
{
	const struct str *name = map_get(&eras->by_process, process_id);

	return name ? (int)(name - era_names) : -1;
}

bool eras_set(struct hub_eras *eras, struct str process_id, int era)
{
	if (eras_get(eras, process_id) == era)
		return false;
	if (era < 0)
		map_remove(&eras->by_process, process_id);
	else
		map_set(&eras->by_process, process_id, (void *)&era_names[era]);
	return true;
}

struct hub_eras *eras_new(struct str text, uint64_t seed)
{
	struct hub_eras *eras = xnew(struct hub_eras);
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *key, *value;

	map_init(&eras->by_process, seed);
	if (json_parse(&doc, text, NULL, NULL) < 0)
		return eras;
	json_for_each_member(key, value, json_root(&doc))
		for (size_t era = 0; era < ARRAY_LEN(era_names); era++)
			if (str_eq(json_str(value), era_names[era]))
				(void)eras_set(eras, json_str(key), (int)era);
	return eras;
}

void eras_free(struct hub_eras **eras)
{
	if (*eras)
		map_release(&(*eras)->by_process);
	free(take_ptr(*eras));
}

int eras_write(const struct hub_eras *eras, struct buf *out)
{
	const struct map_entry *entry;
	struct json_writer w;
	size_t cursor = 0;

	json_writer_init(&w, out, true);
	json_write_object_begin(&w);
	while ((entry = map_next(&eras->by_process, &cursor)))
		json_member_str(&w, entry->key, *(const struct str *)entry->value);
	json_write_object_end(&w);
	return buf_failed(out) ? ERR_TOO_LARGE : 0;
}

/* What one call asks for: the X-Mcpx-Settings header, written by a client and read by the daemon. */
#include "base/base.h"
#include "settings/settings.h"

#include "json/json.h"
#include "json/writer.h"
#include "settings/settings_private.h"

static bool client_decides(const struct settings *set, enum setting setting)
{
	enum setting_source source = settings_source(set, setting);

	return setting_declarations[setting].scope == SETTING_SCOPE_CALL &&
	       (source == SETTING_FROM_ENV || source == SETTING_FROM_FLAG);
}

int settings_write_header(const struct settings *set, struct buf *out)
{
	struct json_writer w;
	bool any = false;

	for (unsigned i = 0; i < SETTING_COUNT; i++)
		any = any || client_decides(set, (enum setting)i);
	if (!any)
		return 0;
	json_writer_init(&w, out, false);
	json_write_object_begin(&w);
	for (unsigned i = 0; i < SETTING_COUNT; i++)
		if (client_decides(set, (enum setting)i))
			json_member_str(&w, setting_declarations[i].path,
					settings_top(set, (enum setting)i)->value.text);
	json_write_object_end(&w);
	return buf_failed(out) ? ERR_TOO_LARGE : 0;
}

/* The layer for one member of the header; *ret_layer stays NULL when it is not for a call to decide. */
static int call_layer(struct setting_layer **ret_layer, const struct json *key, const struct json *value,
		      struct arena *arena, struct err *err)
{
	struct setting_layer *layer;
	enum setting setting;
	int r;

	*ret_layer = NULL;
	if (!setting_find(json_str(key), &setting) ||
	    setting_declarations[setting].scope != SETTING_SCOPE_CALL)
		return 0;
	layer = arena_new(arena, struct setting_layer);
	layer->setting = setting;
	layer->source = SETTING_FROM_CALL;
	r = setting_value_from_json(&layer->value, &setting_declarations[setting], value, arena, err);
	if (r == 0)
		r = setting_value_check(&layer->value, &setting_declarations[setting], err);
	if (r < 0)
		return err_prefix(err, r, "X-Mcpx-Settings: %s", setting_declarations[setting].path.p);
	*ret_layer = layer;
	return 0;
}

int settings_for_call(const struct settings **ret_set, const struct settings *base, struct str header,
		      struct arena *arena, struct err *err)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json_limits limits = { .depth_max =
						    (unsigned)settings_int(base, SETTING_JSON_MAX_DEPTH) };
	const struct json *key, *value;
	struct settings *set;
	int r;

	*ret_set = base;
	if (header.n == 0)
		return 0;
	r = json_parse(&doc, header, &limits, err);
	if (r < 0)
		return err_prefix(err, ERR_INVALID, "X-Mcpx-Settings");
	if (!json_is(json_root(&doc), JSON_OBJECT))
		return err_set(err, ERR_INVALID, "X-Mcpx-Settings: expected an object from path to text");
	set = arena_new(arena, struct settings);
	set->base = base;
	json_for_each_member(key, value, json_root(&doc)) {
		struct setting_layer *layer;

		r = call_layer(&layer, key, value, arena, err);
		if (r < 0)
			return r;
		if (!layer)
			continue;
		layer->farther = set->call;
		set->call = layer;
	}
	*ret_set = set;
	return 0;
}

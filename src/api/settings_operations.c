/* Operations on the daemon's settings: what is in force, why, and changes while it runs. */
#include "base/base.h"
#include "api/api.h"
#include "settings/record.h"
#include "settings/registry.h"

void api_settings_list(struct api_call *call)
{
	struct str scope = api_input_str(call, STR("scope"));
	struct setting_filter filter = {
		.plumbing = api_input_bool(call, STR("plumbing"), false),
		.changed = api_input_bool(call, STR("changed"), false),
		.scoped = scope.n > 0,
	};
	struct json_writer w;
	struct buf out;

	/* It is one of the words that the table of operations has. */
	BUG_ON(scope.n && !setting_scope_parse(scope, &filter.scope));
	api_writer_init(&w, &out);
	json_write_object_begin(&w);
	json_write_key(&w, STR("settings"));
	settings_write_records(call->settings, &filter, &w);
	json_write_object_end(&w);
	api_answer_written(call, &out);
}

/* The setting that the call is about; answers 404 itself. */
static bool find_setting(struct api_call *call, enum setting *ret_setting)
{
	struct err err;

	if (setting_named(api_input_str(call, STR("path")), ret_setting, &err) == 0)
		return true;
	api_answer_error(call, &err);
	return false;
}

void api_settings_get(struct api_call *call)
{
	enum setting setting;
	struct json_writer w;
	struct buf out;

	if (!find_setting(call, &setting))
		return;
	api_writer_init(&w, &out);
	setting_write_record(call->settings, setting, &w);
	api_answer_written(call, &out);
}

/* Whether the change is to last no longer than the daemon; answers itself when not. */
static bool lasts_here(struct api_call *call)
{
	struct str persist = api_input_str(call, STR("persist"));
	struct err err;

	if (!persist.n || str_eq(persist, STR("runtime")))
		return true;
	err_set(&err, ERR_UNSUPPORTED,
		"persist \"%.*s\" does not exist yet, nothing was changed: a value can be set until the daemon ends (persist \"runtime\"); for "
		"longer, write it to a configuration file",
		STR_ARG(persist));
	api_answer_status(call, 400, &err);
	return false;
}

void api_settings_set(struct api_call *call)
{
	struct setting_change change;
	enum setting setting;
	struct json_writer w;
	struct buf out;
	struct err err;

	if (!lasts_here(call) || !find_setting(call, &setting))
		return;
	if (settings_set_runtime(call->api->settings, setting, api_input_str(call, STR("value")), &change,
				 &err) < 0) {
		api_answer_error(call, &err);
		return;
	}
	if (change.applied)
		call->api->program.adjust(call->api->program.context);
	api_writer_init(&w, &out);
	setting_write_change(call->api->settings, setting, &change, &w);
	api_answer_written(call, &out);
}

void api_settings_unset(struct api_call *call)
{
	enum setting setting;
	struct json_writer w;
	struct buf out;
	bool removed;

	if (!find_setting(call, &setting))
		return;
	removed = settings_unset_runtime(call->api->settings, setting);
	if (removed)
		call->api->program.adjust(call->api->program.context);
	api_writer_init(&w, &out);
	setting_write_unset(call->api->settings, setting, removed, &w);
	api_answer_written(call, &out);
}

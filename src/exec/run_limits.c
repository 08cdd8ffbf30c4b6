#include "base/base.h"
#include "exec/run_limits.h"

void exec_limits_from_settings(const struct settings *set, struct exec_limits *ret_limits)
{
	*ret_limits = (struct exec_limits){
		.timeout_ms = settings_duration(set, SETTING_EXEC_TIMEOUT),
		.term_ms = settings_duration(set, SETTING_EXEC_TERM_GRACE),
		.kill_ms = settings_duration(set, SETTING_EXEC_KILL_GRACE),
		.probe_ms = settings_duration(set, SETTING_EXEC_PROBE_TIMEOUT),
		.keep_ms = settings_duration(set, SETTING_EXEC_KEEP),
		.keep_files = (size_t)settings_int(set, SETTING_EXEC_KEEP_FILES),
		.output_max = settings_bytes(set, SETTING_EXEC_OUTPUT_MAX),
		.frame_max = settings_bytes(set, SETTING_EXEC_FRAME_MAX),
		.depth_max = (unsigned)settings_int(set, SETTING_JSON_MAX_DEPTH),
		.stderr_keep = settings_bytes(set, SETTING_EXEC_STDERR_KEEP),
	};
}

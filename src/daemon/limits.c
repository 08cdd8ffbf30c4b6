#include "base/base.h"
#include "daemon/limits.h"

#include "base/arena.h"
#include "io/random.h"
#include "json/json.h"

/*
 * What a user may set at most is checked against what the code can hold. generate.py keeps every int within
 * an unsigned. What one message, body, frame or catalogue may have is a fraction of an arena, because
 * handling it takes a few copies.
 */
_Static_assert(MOST_JSON_MAX_DEPTH <= JSON_DEPTH_MAX, "json.maxDepth is more than the parser takes");
_Static_assert(MOST_POOL_LINE_MAX <= ARENA_INPUT_MAX, "pool.lineMax is more than an arena takes");
_Static_assert(MOST_CATALOG_MAX_BYTES <= ARENA_INPUT_MAX, "catalog.maxBytes is more than an arena takes");
_Static_assert(MOST_HTTP_CALL_BODY_LIMIT <= ARENA_INPUT_MAX,
	       "http.callBodyLimit is more than an arena takes");
_Static_assert(MOST_HTTP_BODY_LIMIT <= ARENA_INPUT_MAX, "http.bodyLimit is more than an arena takes");
_Static_assert(MOST_EXEC_FRAME_MAX <= ARENA_INPUT_MAX, "exec.frameMax is more than an arena takes");
_Static_assert(MOST_EXEC_OUTPUT_MAX <= ARENA_INPUT_MAX, "exec.outputMax is more than an arena takes");
_Static_assert(MOST_EXEC_SOURCE_MAX <= ARENA_INPUT_MAX, "exec.sourceMax is more than an arena takes");

void limits_of_http(const struct settings *set, struct http_limits *ret_limits)
{
	*ret_limits = (struct http_limits){
		.header_bytes = settings_bytes(set, SETTING_HTTP_HEADER_LIMIT),
		.header_fields = (unsigned)settings_int(set, SETTING_HTTP_HEADER_FIELDS),
		.target_bytes = settings_bytes(set, SETTING_HTTP_TARGET_LIMIT),
		.connections = (unsigned)settings_int(set, SETTING_HTTP_CONNECTIONS),
		.header_ms = settings_duration(set, SETTING_HTTP_READ_HEADER_TIMEOUT),
		.body_ms = settings_duration(set, SETTING_HTTP_BODY_TIMEOUT),
		.body_rate = settings_bytes(set, SETTING_HTTP_BODY_RATE),
		.idle_ms = settings_duration(set, SETTING_HTTP_IDLE_TIMEOUT),
		.write_ms = settings_duration(set, SETTING_HTTP_WRITE_TIMEOUT),
		.linger_ms = settings_duration(set, SETTING_HTTP_LINGER),
		.unsent_bytes = settings_bytes(set, SETTING_HTTP_UNSENT_LIMIT),
		.accept_retry_ms = settings_duration(set, SETTING_HTTP_ACCEPT_RETRY),
	};
}

void limits_of_artifacts(const struct settings *set, struct artifact_limits *ret_limits)
{
	*ret_limits = (struct artifact_limits){
		.max_bytes = settings_bytes(set, SETTING_ARTIFACTS_MAX_BYTES),
		.quota = settings_bytes(set, SETTING_ARTIFACTS_QUOTA),
		.count_max = (uint64_t)settings_int(set, SETTING_ARTIFACTS_MAX_COUNT),
		.ttl_ms = settings_duration(set, SETTING_ARTIFACTS_TTL),
		.sweep_ms = settings_duration(set, SETTING_ARTIFACTS_GC_INTERVAL),
		.name_max = (size_t)settings_int(set, SETTING_ARTIFACTS_NAME_MAX_LENGTH),
		.list_limit = (unsigned)settings_int(set, SETTING_ARTIFACTS_LIST_LIMIT),
		.collision_limit = (unsigned)settings_int(set, SETTING_ARTIFACTS_NAME_COLLISION_LIMIT),
		.buffer_bytes = settings_bytes(set, SETTING_ARTIFACTS_BUFFER),
		.busy_ms = settings_duration(set, SETTING_DB_BUSY_TIMEOUT),
		.cache_bytes = settings_bytes(set, SETTING_DB_CACHE),
	};
}

static void limits_of_pool(const struct settings *set, const char *supervisor, struct str client_info,
			   struct pool_limits *ret_limits)
{
	*ret_limits = (struct pool_limits){
		.supervisor = supervisor,
		.line_max = settings_bytes(set, SETTING_POOL_LINE_MAX),
		.depth_max = (unsigned)settings_int(set, SETTING_JSON_MAX_DEPTH),
		.stderr_keep = settings_bytes(set, SETTING_POOL_STDERR_KEEP),
		.noise_keep = settings_bytes(set, SETTING_POOL_NOISE_KEEP),
		.input_max = settings_bytes(set, SETTING_POOL_INPUT_MAX),
		.requests_max = (size_t)settings_int(set, SETTING_POOL_REQUESTS),
		.batch_max = (size_t)settings_int(set, SETTING_PROTO_BATCH_MAX),
		.waiting_max = (size_t)settings_int(set, SETTING_POOL_WAITING),
		.close_ms = settings_duration(set, SETTING_POOL_CLOSE_GRACE),
		.term_ms = settings_duration(set, SETTING_POOL_TERM_GRACE),
		.kill_ms = settings_duration(set, SETTING_POOL_KILL_GRACE),
		.backoff_step_ms = settings_duration(set, SETTING_POOL_BACKOFF_STEP),
		.backoff_max_ms = settings_duration(set, SETTING_POOL_BACKOFF_MAX),
		.backoff_jitter = (unsigned)settings_int(set, SETTING_POOL_BACKOFF_JITTER),
		.reap_ms = settings_duration(set, SETTING_DAEMON_REAP_INTERVAL),
		.probe_ms = settings_duration(set, SETTING_UPSTREAM_PROBE_TIMEOUT),
		.ping_ms = settings_duration(set, SETTING_POOL_PING_TIMEOUT),
		.client_info = client_info,
		.seed = random_u64(),
	};
}

void limits_of_hub(const struct settings *set, const struct places *places, const char *supervisor,
		   struct str client_info, struct hub_limits *ret_limits)
{
	*ret_limits = (struct hub_limits){
		.cache_dir = places->cache.p,
		.keep_ms = settings_duration(set, SETTING_CATALOG_KEEP),
		.keep_files = (size_t)settings_int(set, SETTING_CATALOG_KEEP_FILES),
		.keep_eras = settings_bool(set, SETTING_UPSTREAM_ERA_CACHE),
		.acquire_ms = settings_duration(set, SETTING_POOL_CALL_TIMEOUT),
		.call_max_ms = settings_duration(set, SETTING_POOL_CALL_MAX),
		.refresh_ms = settings_duration(set, SETTING_DAEMON_REFRESH_TIMEOUT),
		.list_ms = settings_duration(set, SETTING_CATALOG_WAIT),
		.tools_max = (size_t)settings_int(set, SETTING_CATALOG_MAX_TOOLS),
		.change_ms = settings_duration(set, SETTING_CATALOG_CHANGE_PAUSE),
		.reads_max = (unsigned)settings_int(set, SETTING_CATALOG_READ_MAX),
		.pages_max = (unsigned)settings_int(set, SETTING_CATALOG_MAX_PAGES),
		.list_max = settings_bytes(set, SETTING_CATALOG_MAX_BYTES),
		.seed = random_u64(),
		.warm = settings_bool(set, SETTING_DAEMON_WARM),
	};
	limits_of_pool(set, supervisor, client_info, &ret_limits->pool);
}

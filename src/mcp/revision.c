#include "base/base.h"
#include "mcp/revision.h"

/* Sets of revisions, a bit each. */
enum {
	R24 = 1 << MCP_2024_11_05,
	R25A = 1 << MCP_2025_03_26,
	R25B = 1 << MCP_2025_06_18,
	R25C = 1 << MCP_2025_11_25,
	R26 = 1 << MCP_2026_07_28,
	LEGACY = R24 | R25A | R25B | R25C,
	ALL = LEGACY | R26
};

static const struct str revision_names[MCP_REVISION_COUNT] = {
	[MCP_2024_11_05] = STR_INIT("2024-11-05"), [MCP_2025_03_26] = STR_INIT("2025-03-26"),
	[MCP_2025_06_18] = STR_INIT("2025-06-18"), [MCP_2025_11_25] = STR_INIT("2025-11-25"),
	[MCP_2026_07_28] = STR_INIT("2026-07-28"),
};

static const uint8_t features[MCP_FEATURE_COUNT] = {
	[MCP_HAS_HANDSHAKE] = LEGACY,
	[MCP_HAS_REQUEST_META] = R26,
	[MCP_HAS_STREAMABLE_HTTP] = R25A | R25B | R25C | R26,
	[MCP_HAS_HTTP_SESSIONS] = R25A | R25B | R25C,
	[MCP_HAS_VERSION_HEADER] = R25B | R25C | R26,
	[MCP_HAS_ROUTING_HEADERS] = R26,
	[MCP_HAS_STREAM_PRIMING] = R25C,
	[MCP_HAS_BATCHES] = R25A,
	[MCP_HAS_PROGRESS_MESSAGE] = ALL & ~R24,
	[MCP_HAS_AUDIO] = ALL & ~R24,
	[MCP_HAS_RESOURCE_LINK] = R25B | R25C | R26,
	[MCP_HAS_STRUCTURED_CONTENT] = R25B | R25C | R26,
	[MCP_HAS_ANY_STRUCTURED] = R26,
	[MCP_HAS_RESULT_TYPE] = R26,
	[MCP_HAS_CACHE_HINTS] = R26,
	[MCP_HAS_LISTEN] = R26,
	[MCP_HAS_SERVER_REQUESTS] = LEGACY,
	[MCP_HAS_COMPLETIONS_CAPABILITY] = ALL & ~R24,
	[MCP_HAS_ELICITATION] = R25B | R25C | R26,
	[MCP_HAS_CORE_TASKS] = R25C,
};

/* One row; what follows `when` are further fields. */
#define REQUEST(text, who, when, ...)                                                                        \
	{ .name = STR_INIT(text), .sender = (who), .revisions = (when), __VA_ARGS__ }
#define NOTICE(text, who, when) REQUEST(text, who, when, .notification = true)
#define ROUTED_BY(parameter) .routing_name = STR_INIT(parameter)
#define LISTS(member) .list_member = STR_INIT(member)

/* Client->server requests first, then what a legacy server may ask, then notifications. tasks/get,
 * tasks/update and tasks/cancel of 2026-07-28 belong to an extension, which the owner must have
 * negotiated. */
static const struct mcp_method_row methods[MCP_METHOD_COUNT] = {
	[MCP_METHOD_UNKNOWN] = { .name = STR_INIT("") },
	[MCP_INITIALIZE] = REQUEST("initialize", MCP_BY_CLIENT, LEGACY, ),
	[MCP_DISCOVER] = REQUEST("server/discover", MCP_BY_CLIENT, R26, ),
	[MCP_PING] = REQUEST("ping", MCP_BY_BOTH, LEGACY, ),
	[MCP_TOOLS_LIST] = REQUEST("tools/list", MCP_BY_CLIENT, ALL, LISTS("tools")),
	[MCP_TOOLS_CALL] = REQUEST("tools/call", MCP_BY_CLIENT, ALL, ROUTED_BY("name")),
	[MCP_RESOURCES_LIST] = REQUEST("resources/list", MCP_BY_CLIENT, ALL, LISTS("resources")),
	[MCP_RESOURCES_TEMPLATES_LIST] =
		REQUEST("resources/templates/list", MCP_BY_CLIENT, ALL, LISTS("resourceTemplates")),
	[MCP_RESOURCES_READ] = REQUEST("resources/read", MCP_BY_CLIENT, ALL, ROUTED_BY("uri")),
	[MCP_RESOURCES_SUBSCRIBE] = REQUEST("resources/subscribe", MCP_BY_CLIENT, LEGACY, ),
	[MCP_RESOURCES_UNSUBSCRIBE] = REQUEST("resources/unsubscribe", MCP_BY_CLIENT, LEGACY, ),
	[MCP_PROMPTS_LIST] = REQUEST("prompts/list", MCP_BY_CLIENT, ALL, LISTS("prompts")),
	[MCP_PROMPTS_GET] = REQUEST("prompts/get", MCP_BY_CLIENT, ALL, ROUTED_BY("name")),
	[MCP_COMPLETE] = REQUEST("completion/complete", MCP_BY_CLIENT, ALL, ),
	[MCP_SET_LEVEL] = REQUEST("logging/setLevel", MCP_BY_CLIENT, LEGACY, ),
	[MCP_LISTEN] = REQUEST("subscriptions/listen", MCP_BY_CLIENT, R26, ),
	[MCP_TASKS_GET] = REQUEST("tasks/get", MCP_BY_BOTH, R25C | R26, ROUTED_BY("taskId")),
	[MCP_TASKS_RESULT] = REQUEST("tasks/result", MCP_BY_BOTH, R25C, ),
	[MCP_TASKS_LIST] = REQUEST("tasks/list", MCP_BY_BOTH, R25C, LISTS("tasks")),
	[MCP_TASKS_CANCEL] = REQUEST("tasks/cancel", MCP_BY_BOTH, R25C | R26, ROUTED_BY("taskId")),
	[MCP_TASKS_UPDATE] = REQUEST("tasks/update", MCP_BY_CLIENT, R26, ROUTED_BY("taskId")),
	[MCP_SAMPLING_CREATE] = REQUEST("sampling/createMessage", MCP_BY_SERVER, LEGACY, ),
	[MCP_ELICITATION_CREATE] = REQUEST("elicitation/create", MCP_BY_SERVER, R25B | R25C, ),
	[MCP_ROOTS_LIST] = REQUEST("roots/list", MCP_BY_SERVER, LEGACY, ),
	[MCP_INITIALIZED] = NOTICE("notifications/initialized", MCP_BY_CLIENT, LEGACY),
	[MCP_CANCELLED] = NOTICE("notifications/cancelled", MCP_BY_BOTH, ALL),
	[MCP_PROGRESS] = NOTICE("notifications/progress", MCP_BY_BOTH, ALL),
	[MCP_LOG_MESSAGE] = NOTICE("notifications/message", MCP_BY_SERVER, ALL),
	[MCP_TOOLS_CHANGED] = NOTICE("notifications/tools/list_changed", MCP_BY_SERVER, ALL),
	[MCP_PROMPTS_CHANGED] = NOTICE("notifications/prompts/list_changed", MCP_BY_SERVER, ALL),
	[MCP_RESOURCES_CHANGED] = NOTICE("notifications/resources/list_changed", MCP_BY_SERVER, ALL),
	[MCP_RESOURCE_UPDATED] = NOTICE("notifications/resources/updated", MCP_BY_SERVER, ALL),
	[MCP_ROOTS_CHANGED] = NOTICE("notifications/roots/list_changed", MCP_BY_CLIENT, LEGACY),
	[MCP_ELICITATION_COMPLETE] = NOTICE("notifications/elicitation/complete", MCP_BY_SERVER, R25C),
	[MCP_TASKS_STATUS] = NOTICE("notifications/tasks/status", MCP_BY_BOTH, R25C),
	[MCP_TASKS_NOTICE] = NOTICE("notifications/tasks", MCP_BY_SERVER, R26),
	[MCP_ACKNOWLEDGED] = NOTICE("notifications/subscriptions/acknowledged", MCP_BY_SERVER, R26),
};

static const struct str per_hop_meta[] = {
	STR_INIT("progressToken"),
	STR_INIT(MCP_META_PROTOCOL_VERSION),
	STR_INIT(MCP_META_CLIENT_CAPABILITIES),
	STR_INIT(MCP_META_CLIENT_INFO),
	STR_INIT(MCP_META_SERVER_INFO),
	STR_INIT(MCP_META_LOG_LEVEL),
	STR_INIT(MCP_META_SUBSCRIPTION_ID),
};

static const struct str log_levels[MCP_LOG_LEVELS] = {
	[MCP_LOG_DEBUG] = STR_INIT("debug"),   [MCP_LOG_INFO] = STR_INIT("info"),
	[MCP_LOG_NOTICE] = STR_INIT("notice"), [MCP_LOG_WARNING] = STR_INIT("warning"),
	[MCP_LOG_ERROR] = STR_INIT("error"),   [MCP_LOG_CRITICAL] = STR_INIT("critical"),
	[MCP_LOG_ALERT] = STR_INIT("alert"),   [MCP_LOG_EMERGENCY] = STR_INIT("emergency"),
};

struct str mcp_revision_name(enum mcp_revision revision)
{
	BUG_ON((unsigned)revision >= MCP_REVISION_COUNT);
	return revision_names[revision];
}

bool mcp_revision_find(struct str name, enum mcp_revision *ret_revision)
{
	for (unsigned i = 0; i < MCP_REVISION_COUNT; i++)
		if (str_eq(revision_names[i], name)) {
			*ret_revision = (enum mcp_revision)i;
			return true;
		}
	return false;
}

enum mcp_revision mcp_negotiate(struct str requested)
{
	enum mcp_revision revision;

	if (mcp_revision_find(requested, &revision) && mcp_era_of(revision) == MCP_LEGACY)
		return revision;
	return MCP_LATEST_LEGACY;
}

void mcp_write_revisions(struct buf *out, enum mcp_era era)
{
	bool first = true;

	buf_append_char(out, '[');
	for (unsigned i = MCP_REVISION_COUNT; i-- > 0;) {
		if (mcp_era_of((enum mcp_revision)i) != era)
			continue;
		buf_printf(out, "%s\"%.*s\"", first ? "" : ",", STR_ARG(revision_names[i]));
		first = false;
	}
	buf_append_char(out, ']');
}

bool mcp_has(enum mcp_revision revision, enum mcp_feature feature)
{
	BUG_ON((unsigned)feature >= MCP_FEATURE_COUNT);
	return features[feature] >> revision & 1;
}

const struct mcp_method_row *mcp_method_row(enum mcp_method method)
{
	BUG_ON((unsigned)method >= MCP_METHOD_COUNT);
	return &methods[method];
}

enum mcp_method mcp_method_find(struct str name)
{
	for (unsigned i = MCP_METHOD_UNKNOWN + 1; i < MCP_METHOD_COUNT; i++)
		if (str_eq(methods[i].name, name))
			return (enum mcp_method)i;
	return MCP_METHOD_UNKNOWN;
}

bool mcp_method_exists(enum mcp_method method, enum mcp_revision revision)
{
	return mcp_method_row(method)->revisions >> revision & 1;
}

bool mcp_meta_is_per_hop(struct str key)
{
	for (size_t i = 0; i < ARRAY_LEN(per_hop_meta); i++)
		if (str_eq(per_hop_meta[i], key))
			return true;
	return false;
}

struct str mcp_log_level_name(enum mcp_log_level level)
{
	BUG_ON(level == MCP_LOG_NONE || (unsigned)level >= MCP_LOG_LEVELS);
	return log_levels[level];
}

bool mcp_log_level_find(struct str name, enum mcp_log_level *ret_level)
{
	for (unsigned i = MCP_LOG_NONE + 1; i < MCP_LOG_LEVELS; i++)
		if (str_eq(log_levels[i], name)) {
			*ret_level = (enum mcp_log_level)i;
			return true;
		}
	return false;
}

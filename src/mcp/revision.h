/*
 * revision.h - the five revisions of the Model Context Protocol, and what exists in which.
 *
 * Every difference between revisions that code decides by is a row of a table in revision.c; no other file
 * compares revision numbers. Two *eras* matter more than the revisions: in the legacy era a session opens
 * with `initialize`; in the modern era (2026-07-28) every request carries its own metadata in `params._meta`
 * and nothing is remembered between requests.
 *
 * Sources: modelcontextprotocol.io/specification/<revision>, schema/<revision>/schema.ts. Pure; any thread.
 */
#ifndef MCP_REVISION_H
#define MCP_REVISION_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* In order of time, so that they compare. */
enum mcp_revision { MCP_2024_11_05, MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25, MCP_2026_07_28 };
enum { MCP_REVISION_COUNT = MCP_2026_07_28 + 1 };
#define MCP_LATEST_LEGACY MCP_2025_11_25
#define MCP_LATEST MCP_2026_07_28

enum mcp_era { MCP_LEGACY, MCP_MODERN };

/* "2025-11-25". */
struct str mcp_revision_name(enum mcp_revision revision);

/* The revision of that name; false when there is none that we speak. */
bool mcp_revision_find(struct str name, enum mcp_revision *ret_revision);

static inline enum mcp_era mcp_era_of(enum mcp_revision revision)
{
	return revision >= MCP_2026_07_28 ? MCP_MODERN : MCP_LEGACY;
}

/* What a server answers to `initialize` with that `protocolVersion`: the same when it is a legacy revision,
 * else the latest legacy one (lifecycle, "Version Negotiation"). */
enum mcp_revision mcp_negotiate(struct str requested);

/* Appends the revisions of one era, newest first, as a JSON array of strings. */
void mcp_write_revisions(struct buf *out, enum mcp_era era);

/* -- features -------------------------------------------------------------------------------------------- */

enum mcp_feature {
	MCP_HAS_HANDSHAKE,	    /* initialize, notifications/initialized, ping, logging/setLevel */
	MCP_HAS_REQUEST_META,	    /* version and capabilities in every params._meta; server/discover */
	MCP_HAS_STREAMABLE_HTTP,    /* one endpoint for POST (and GET, DELETE where there are sessions) */
	MCP_HAS_HTTP_SESSIONS,	    /* Mcp-Session-Id, GET stream, DELETE */
	MCP_HAS_STREAM_PRIMING,	    /* a stream may begin with an event that says nothing but its id */
	MCP_HAS_VERSION_HEADER,	    /* MCP-Protocol-Version is required after initialize */
	MCP_HAS_ROUTING_HEADERS,    /* Mcp-Method, Mcp-Name */
	MCP_HAS_BATCHES,	    /* arrays of messages */
	MCP_HAS_PROGRESS_MESSAGE,   /* `message` in notifications/progress */
	MCP_HAS_AUDIO,		    /* audio content blocks */
	MCP_HAS_RESOURCE_LINK,	    /* resource_link content blocks */
	MCP_HAS_STRUCTURED_CONTENT, /* structuredContent and outputSchema, objects at least */
	MCP_HAS_ANY_STRUCTURED,	    /* ... of any JSON type */
	MCP_HAS_RESULT_TYPE,	    /* resultType on every result */
	MCP_HAS_CACHE_HINTS,	    /* ttlMs and cacheScope on list results */
	MCP_HAS_LISTEN,		    /* subscriptions/listen; change notices only there */
	MCP_HAS_SERVER_REQUESTS,    /* the server may send requests */
	MCP_HAS_COMPLETIONS_CAPABILITY,
	MCP_HAS_ELICITATION,
	MCP_HAS_CORE_TASKS,
	MCP_FEATURE_COUNT
};

bool mcp_has(enum mcp_revision revision, enum mcp_feature feature);

/* -- methods --------------------------------------------------------------------------------------------- */

enum mcp_method {
	MCP_METHOD_UNKNOWN,
	MCP_INITIALIZE,
	MCP_DISCOVER,
	MCP_PING,
	MCP_TOOLS_LIST,
	MCP_TOOLS_CALL,
	MCP_RESOURCES_LIST,
	MCP_RESOURCES_TEMPLATES_LIST,
	MCP_RESOURCES_READ,
	MCP_RESOURCES_SUBSCRIBE,
	MCP_RESOURCES_UNSUBSCRIBE,
	MCP_PROMPTS_LIST,
	MCP_PROMPTS_GET,
	MCP_COMPLETE,
	MCP_SET_LEVEL,
	MCP_LISTEN,
	MCP_TASKS_GET,
	MCP_TASKS_RESULT,
	MCP_TASKS_LIST,
	MCP_TASKS_CANCEL,
	MCP_TASKS_UPDATE,
	MCP_SAMPLING_CREATE,
	MCP_ELICITATION_CREATE,
	MCP_ROOTS_LIST,
	MCP_INITIALIZED,
	MCP_CANCELLED,
	MCP_PROGRESS,
	MCP_LOG_MESSAGE,
	MCP_TOOLS_CHANGED,
	MCP_PROMPTS_CHANGED,
	MCP_RESOURCES_CHANGED,
	MCP_RESOURCE_UPDATED,
	MCP_ROOTS_CHANGED,
	MCP_ELICITATION_COMPLETE,
	MCP_TASKS_STATUS,
	MCP_TASKS_NOTICE,
	MCP_ACKNOWLEDGED,
	MCP_METHOD_COUNT
};

/* Who may send it. */
enum mcp_sender { MCP_BY_CLIENT = 1, MCP_BY_SERVER = 2, MCP_BY_BOTH = 3 };

struct mcp_method_row {
	struct str name;
	bool notification;
	enum mcp_sender sender;
	uint8_t revisions;	 /* a bit per enum mcp_revision */
	struct str routing_name; /* the parameter that Mcp-Name repeats (2026-07-28); empty: none */
	struct str list_member;	 /* a list method's array in its result; empty: no list method */
};

/* The row of a method, MCP_METHOD_UNKNOWN included. */
const struct mcp_method_row *mcp_method_row(enum mcp_method method);
enum mcp_method mcp_method_find(struct str name);
bool mcp_method_exists(enum mcp_method method, enum mcp_revision revision);
static inline struct str mcp_method_name(enum mcp_method method)
{
	return mcp_method_row(method)->name;
}

/* -- names and numbers on the wire ----------------------------------------------------------------------- */

#define MCP_META_PREFIX "io.modelcontextprotocol/"
#define MCP_META_PROTOCOL_VERSION MCP_META_PREFIX "protocolVersion"
#define MCP_META_CLIENT_CAPABILITIES MCP_META_PREFIX "clientCapabilities"
#define MCP_META_CLIENT_INFO MCP_META_PREFIX "clientInfo"
#define MCP_META_SERVER_INFO MCP_META_PREFIX "serverInfo"
#define MCP_META_LOG_LEVEL MCP_META_PREFIX "logLevel"
#define MCP_META_SUBSCRIPTION_ID MCP_META_PREFIX "subscriptionId"

/* True for the `_meta` keys that belong to one hop and must not be relayed: the six above and
 * progressToken. */
bool mcp_meta_is_per_hop(struct str key);

#define MCP_HEADER_SESSION_ID "Mcp-Session-Id"
#define MCP_HEADER_PROTOCOL_VERSION "MCP-Protocol-Version"
#define MCP_HEADER_METHOD "Mcp-Method"
#define MCP_HEADER_NAME "Mcp-Name"

enum mcp_error_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL_ERROR = -32603,
	MCP_RESOURCE_NOT_FOUND = -32002,       /* legacy revisions */
	MCP_URL_ELICITATION_REQUIRED = -32042, /* 2025-11-25 */
	MCP_HEADER_MISMATCH = -32020,	       /* 2026-07-28, these three */
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
	/* From here to there every code is the specification's since 2026-07-28, defined or not yet. */
	MCP_RESERVED_LEAST = -32099,
	MCP_RESERVED_MOST = -32020
};

/* Severity of notifications/message (RFC 5424), the least first, so that they compare. */
enum mcp_log_level {
	MCP_LOG_NONE, /* as a threshold: nothing is sent; no name on the wire */
	MCP_LOG_DEBUG,
	MCP_LOG_INFO,
	MCP_LOG_NOTICE,
	MCP_LOG_WARNING,
	MCP_LOG_ERROR,
	MCP_LOG_CRITICAL,
	MCP_LOG_ALERT,
	MCP_LOG_EMERGENCY,
	MCP_LOG_LEVELS
};
struct str mcp_log_level_name(enum mcp_log_level level);
bool mcp_log_level_find(struct str name, enum mcp_log_level *ret_level);

/* Whether a message of that level passes the threshold. */
static inline bool mcp_log_admits(enum mcp_log_level threshold, enum mcp_log_level level)
{
	return threshold != MCP_LOG_NONE && level >= threshold;
}

#endif

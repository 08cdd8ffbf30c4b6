/*
 * client.h - an MCP client: one connection to one server, over any transport that carries whole messages.
 *
 * The owner gives the client a way to send (struct mcp_transport) and feeds it what arrives (mcp_client_receive(), mcp_client_closed()).
 * The client speaks all five revisions: mcp_open_start() finds out which era the server belongs to. After that any number of
 * requests run at once; each is a struct mcp_request that lives in its owner, and answers may come in any order. A result is handed
 * over as the server wrote it, byte for byte.
 *
 * All on the loop thread. Callbacks of requests never come from within the call that started them; those of arriving messages come from
 * within mcp_client_receive() and mcp_client_closed(). In any callback the owner may start and cancel requests; it must not call mcp_client_release()
 * there (free the client later, see loop_free_later()).
 */
#ifndef MCP_CLIENT_H
#define MCP_CLIENT_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "io/loop.h"
#include "mcp/jsonrpc.h"
#include "mcp/message.h"
#include "mcp/revision.h"

struct mcp_client;
struct mcp_request;

/* -- transport --------------------------------------------------------------------------------------------------------- */

struct mcp_transport {
	/* Sends one message; `line` is its text followed by one "\n" and holds no other. Copies what it needs. 0; ERR_BUSY when the
	 * peer does not take what was sent before (nothing was taken); ERR_CLOSED when there is no peer any more. Must not call
	 * mcp_client_closed() from within. */
	int (*send)(struct mcp_transport *transport, struct str line);
};

struct mcp_client_limits {
	size_t message_max;  /* bytes of one message, either way */
	unsigned depth_max;  /* nesting of one message; 0: JSON_DEPTH_MAX */
	size_t requests_max; /* requests in flight; one more fails with ERR_BUSY */
	size_t noise_keep;   /* bytes kept of the first line that was no message */
};

struct mcp_client_events {
	/* NULL, or a notification other than progress and cancelled: list_changed, log messages, unknown ones. */
	void (*notification)(struct mcp_client *client, enum mcp_method method,
			     const struct jsonrpc_message *message);
	/* NULL, or a request of the server other than ping. True: the owner answers it with mcp_client_answer() or
	 * mcp_client_refuse(), now or later. False: the client answers -32601. */
	bool (*request)(struct mcp_client *client, enum mcp_method method,
			const struct jsonrpc_message *message);
	/* NULL, or: the server cancelled a request of its own that the owner had taken. `id` is raw. */
	void (*request_cancelled)(struct mcp_client *client, struct str id);
};

/* What is known about the server once the client is open. Views belong to the client. */
struct mcp_server_facts {
	enum mcp_revision revision;
	struct mcp_implementation info; /* all empty when the server does not say */
	struct str capabilities;	/* raw object */
	struct str instructions;	/* decoded; .p NULL when absent */
	struct str supported;		/* raw array: supportedVersions of a modern server; else empty */
	bool tools, tools_changed;	/* capabilities.tools, .tools.listChanged */
	bool logging, prompts, resources, resources_subscribe, completions;
};

struct mcp_client {
	struct loop *loop;
	struct mcp_transport *transport;
	const struct mcp_client_events *events;
	void *owner;
	struct mcp_client_limits limits;

	bool open;   /* mcp_open_start() succeeded */
	bool closed; /* mcp_client_closed() was called */
	struct mcp_server_facts facts;

	/* counters for status displays */
	uint64_t sent, received; /* messages */
	uint64_t noise;		 /* lines that were no JSON-RPC message */
	uint64_t strays;	 /* answers to no running request: late after a time-out, or invented */
	uint64_t unsent;	 /* notifications and answers that the transport did not take */

	struct arena facts_arena;
	struct str client_info, client_capabilities; /* raw, sent to the server */
	struct str noise_first;
	struct list_node pending[64]; /* struct mcp_request by id */
	size_t pending_count;
	uint64_t last_id;
	struct buf out;
	struct err closed_why;
};

/* Ready to be opened. `transport`, `events` and `limits` outlive the client (limits are copied); `events` may be NULL. */
void mcp_client_init(struct mcp_client *client, struct loop *loop, struct mcp_transport *transport,
		     const struct mcp_client_limits *limits, const struct mcp_client_events *events,
		     void *owner);

/* Forgets everything. Running requests must have been cancelled or have ended (BUG otherwise); call mcp_client_closed() before to end them. Accepts a zeroed client. */
void mcp_client_release(struct mcp_client *client);

/* One message as it arrived, without its line end; blank lines are ignored. `too_long`: the line was longer than the transport keeps and was cut; it is
 * counted as noise, and its beginning is searched for the id of the request it answers, which then fails with ERR_TOO_LARGE. */
void mcp_client_receive(struct mcp_client *client, struct str line, bool too_long);

/* The transport has ended; `why` (may be NULL) is quoted in the errors. Every running request fails at once with ERR_CLOSED: its
 * callback comes from within this call. */
void mcp_client_closed(struct mcp_client *client, const struct err *why);

/* The first line that was no message, cut to limits.noise_keep; empty when there was none. */
static inline struct str mcp_client_noise(const struct mcp_client *client)
{
	return client->noise_first;
}

/* A notification of ours. `params` raw; empty: none. 0, ERR_BUSY, ERR_CLOSED. */
int mcp_client_notify(struct mcp_client *client, enum mcp_method method, struct str params);

/* Answers a request that events->request took. `id` and `result` raw. */
void mcp_client_answer(struct mcp_client *client, struct str id, struct str result);
void mcp_client_refuse(struct mcp_client *client, struct str id, const struct mcp_error *error);

/* -- requests ---------------------------------------------------------------------------------------------------------- */

struct mcp_message {
	enum mcp_method method;
	const struct json_member
		*params; /* key (decoded) and raw value; `type` is not looked at; `_meta` is skipped */
	size_t param_count;
	struct str
		meta; /* raw object: `_meta` of the caller, to be relayed; per-hop keys are dropped. Empty: none */
	enum mcp_log_level log_level; /* modern servers: the least level to send; MCP_LOG_NONE: none at all */
};

/* A request that waits without end is a defect: both times are required. */
struct mcp_patience {
	uint64_t idle_ms;			/* without answer or progress */
	uint64_t total_ms;			/* in all */
	struct str idle_setting, total_setting; /* named in the time-out's message; empty: not named */
};

enum mcp_outcome {
	MCP_ANSWERED,	    /* the server answered: a result, or an error of its own */
	MCP_NOT_SENT,	    /* the server has not seen the request: it may be repeated */
	MCP_OUTCOME_UNKNOWN /* it was sent, and what the server did is unknown */
};

struct mcp_answer {
	int code; /* 0: `result` is set; ERR_UPSTREAM: `error` is set; else no answer: TIMEOUT, CLOSED, BUSY, PROTOCOL, TOO_LARGE */
	enum mcp_outcome outcome;
	struct str result; /* raw, as the server wrote it */
	struct str
		result_type; /* modern servers: "complete", "input_required", ...; "complete" for a legacy server */
	struct mcp_error error;
	struct err err; /* for people; filled whenever code is not 0 */
};

/* Views in the answer are valid during the call. */
typedef void mcp_request_done(struct mcp_request *request, const struct mcp_answer *answer);
/* Zero or more times before `done`. `params` is the notification's raw parameter object. */
typedef void mcp_request_progressed(struct mcp_request *request, const struct mcp_progress *progress,
				    struct str params);

/* One request. Lives inside its owner; a zeroed one may be cancelled harmlessly. */
struct mcp_request {
	struct mcp_client *client; /* NULL when it is not running */
	uint64_t id;
	struct list_node node; /* in client->pending */
	struct timer idle, total;
	struct deferred refused; /* delivers a failure that was known at the start */
	int refused_code;
	bool sent;
	bool open_step; /* the handshake's: allowed before the client is open, never cancelled on the wire */
	enum mcp_method method;
	struct mcp_patience patience;
	uint64_t started; /* loop_now() */
	mcp_request_done *done;
	mcp_request_progressed *progressed;
	void *owner;
};

/* Sends the message. A progress token goes with it when `progressed` is not NULL. The message's texts are not needed after the call. */
void mcp_request_start(struct mcp_request *request, struct mcp_client *client,
		       const struct mcp_message *message, const struct mcp_patience *patience,
		       mcp_request_progressed *progressed, mcp_request_done *done, void *owner);

/* After this returns neither callback will come. The server is told with notifications/cancelled. Harmless on a request that
 * has ended or never began. `reason` empty: none. */
void mcp_request_cancel_because(struct mcp_request *request, struct str reason);
void mcp_request_cancel(struct mcp_request *request);

static inline bool mcp_request_running(const struct mcp_request *request)
{
	return request->client != NULL;
}

/* -- tools ------------------------------------------------------------------------------------------------------------- */

/* tools/call. `arguments` raw object, empty: absent; `meta` as in struct mcp_message. */
struct mcp_tool_call {
	struct str name;
	struct str arguments;
	struct str meta;
	enum mcp_log_level log_level;
};
void mcp_tool_call_start(struct mcp_request *request, struct mcp_client *client,
			 const struct mcp_tool_call *call, const struct mcp_patience *patience,
			 mcp_request_progressed *progressed, mcp_request_done *done, void *owner);

/* All pages of tools/list (or of another list method). */
struct mcp_listing;
typedef void mcp_listing_done(struct mcp_listing *listing, const struct err *err);

struct mcp_listing_limits {
	unsigned pages_max;
	size_t items_max;
	size_t bytes_max;	      /* of all items together */
	struct mcp_patience patience; /* per page */
};

struct mcp_listing {
	struct mcp_client *client;
	struct mcp_listing_limits limits;
	enum mcp_method method;
	struct arena arena; /* holds the items */
	struct str *items;  /* raw, each as the server wrote it */
	size_t count, room, bytes;
	unsigned pages;
	int64_t ttl_ms;	   /* modern: the least of all pages; 0 when there is no hint */
	bool cache_public; /* modern: every page said "public" */
	struct mcp_request request;
	struct str cursor;
	uint64_t cursors_seen[2]; /* loop detection */
	mcp_listing_done *done;
	void *owner;
};

/* `method` is one of the list methods of revision.c that return an array named after them. On success the items stay valid until mcp_listing_release(). A repeated
 * cursor, a page that is malformed, or more than the limits allow ends it with ERR_PROTOCOL or ERR_TOO_LARGE. */
void mcp_listing_start(struct mcp_listing *listing, struct mcp_client *client, enum mcp_method method,
		       const struct mcp_listing_limits *limits, mcp_listing_done *done, void *owner);
/* Cancels it if it runs, and frees the items. Accepts a zeroed listing. */
void mcp_listing_release(struct mcp_listing *listing);

/* -- opening ----------------------------------------------------------------------------------------------------------- */

enum mcp_open_order {
	MCP_PREFER_DISCOVER,   /* server/discover, then initialize when that is no modern server's answer */
	MCP_PREFER_INITIALIZE, /* initialize, then server/discover when that is refused */
	MCP_FORCE_DISCOVER,
	MCP_FORCE_INITIALIZE
};

struct mcp_open_options {
	enum mcp_open_order order;
	enum mcp_revision legacy_revision; /* offered in initialize; MCP_LATEST_LEGACY as a rule */
	struct str client_info;		   /* raw Implementation */
	struct str capabilities;	   /* raw ClientCapabilities; must be an object */
	uint64_t probe_ms;		   /* patience with the first handshake when another can follow */
	uint64_t open_ms;		   /* patience with the last one */
	struct str probe_setting, open_setting;
};

struct mcp_open;
/* `err` NULL: the client is open and client->facts is filled. ERR_CLOSED with open->probe_unanswered: the server ended upon the
 * first handshake; some legacy servers do that on anything but `initialize`, so start it again with MCP_FORCE_INITIALIZE. */
typedef void mcp_open_done(struct mcp_open *open, const struct err *err);

struct mcp_open {
	struct mcp_client *client;
	struct mcp_open_options options;
	unsigned step;
	bool probe_unanswered; /* the handshake that ran was server/discover as a probe, and no answer to it came */
	bool version_retried;
	struct mcp_request request;
	struct deferred later;
	struct err err;
	mcp_open_done *done;
	void *owner;
};

/* Texts in the options are copied. */
void mcp_open_start(struct mcp_open *open, struct mcp_client *client, const struct mcp_open_options *options,
		    mcp_open_done *done, void *owner);
void mcp_open_cancel(struct mcp_open *open);

#endif

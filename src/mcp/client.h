/*
 * client.h - an MCP client: one connection to one server, over any transport that carries whole messages.
 *
 * The owner gives the client a way to send (struct mcp_transport) and feeds it what arrives
 * (mcp_client_receive(), mcp_client_closed()). The client speaks all five revisions: mcp_open_start() finds
 * out which era the server belongs to. After that any number of requests run at once; each is a struct
 * mcp_request that lives in its owner, and answers may come in any order. A result is handed over as the
 * server wrote it, byte for byte.
 *
 * All on the loop thread. A request's callback never comes from within the call that started the request;
 * those of arriving messages come from within mcp_client_receive() and mcp_client_closed(). Any callback may
 * start and cancel requests; none may call mcp_client_release(): free the client from the loop (loop_defer(),
 * loop_free_later()).
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

/* -- the connection -------------------------------------------------------------------------------------- */

struct mcp_transport {
	/* Sends one message; `line` is its text followed by one "\n" and holds no other line end. Copies what
	 * it needs. 0; ERR_BUSY when the peer does not take what was sent before (nothing was taken then);
	 * ERR_CLOSED when there is no peer any more. Does not call mcp_client_closed() from within. */
	int (*send)(struct mcp_transport *transport, struct str line);
	/* NULL, or bytes of what was sent that the peer has not read yet. */
	size_t (*unread)(struct mcp_transport *transport);
};

struct mcp_client_limits {
	size_t message_max;	    /* bytes of one message, either way */
	struct str message_setting; /* a literal: what errors about message_max name; may be empty */
	unsigned depth_max;	    /* its nesting; 0: JSON_DEPTH_MAX */
	size_t requests_max;	    /* requests in flight; one more fails with ERR_BUSY */
	size_t batch_max;	    /* messages in one batch; a longer one is noise */
	/* bytes kept of the first line that was no message, and of the first id that no request had */
	size_t noise_keep;
};

/* Each may be NULL. Views are valid during the call. */
struct mcp_client_events {
	/* A notification other than progress and cancelled: list_changed, log messages, unknown ones. */
	void (*notification)(struct mcp_client *client, enum mcp_method method,
			     const struct jsonrpc_message *message);
	/* A request of a legacy server other than ping. True: the owner answers it with mcp_client_answer()
	 * or mcp_client_refuse(), now or later. False, or no handler: the client answers -32601 at once. */
	bool (*request)(struct mcp_client *client, enum mcp_method method,
			const struct jsonrpc_message *message);
	/* The server gave up a request of its own that the owner had taken. `id` is raw. */
	void (*request_cancelled)(struct mcp_client *client, struct str id);
};

/* What is known about the server once the client is open. Views belong to the client. */
struct mcp_server_facts {
	enum mcp_revision revision;
	struct mcp_implementation info; /* all empty when the server does not say */
	struct str capabilities;	/* raw object */
	struct str instructions;	/* decoded; .p NULL when absent */
	struct str supported;		/* raw array: supportedVersions of a modern server; else empty */
	bool tools, tools_changed;	/* capabilities.tools, capabilities.tools.listChanged */
	bool prompts, resources, resources_subscribe, completions, logging;
};

enum { MCP_CLIENT_BUCKETS = 64 };

struct mcp_client {
	struct loop *loop;
	struct mcp_transport *transport;
	const struct mcp_client_events *events;
	void *owner;
	struct mcp_client_limits limits;

	bool open;   /* a struct mcp_open succeeded */
	bool closed; /* mcp_client_closed() was called */
	struct mcp_server_facts facts;

	/* counters for status displays */
	uint64_t sent, received; /* messages */
	uint64_t noise;		 /* lines that were no message */
	uint64_t too_long;	 /* messages of the server that were longer than limits.message_max */
	uint64_t strays;	 /* answers to no running request, requests that must not come */
	uint64_t unsent;	 /* notifications and answers of ours that the transport did not take */
	uint64_t respelled;	 /* answers and progress with our number as text: taken all the same */
	uint64_t unasked;	 /* answers whose id no request ever had */

	/* the client's own */
	struct arena facts_arena;
	struct str client_info, client_capabilities; /* raw, sent to the server */
	struct str noise_first, unasked_first;
	struct list_node pending[MCP_CLIENT_BUCKETS]; /* struct mcp_request, by id */
	struct list_node refused; /* those that could not be sent and do not know it yet */
	size_t pending_count;
	uint64_t last_id;
	struct buf out;
	struct err closed_why;
};

/* Ready to be opened. `transport` and `events` outlive the client; `limits` are copied. `events` may be
 * NULL. */
void mcp_client_init(struct mcp_client *client, struct loop *loop, struct mcp_transport *transport,
		     const struct mcp_client_limits *limits, const struct mcp_client_events *events,
		     void *owner);

/* Frees what the client holds. No request may be running (BUG): cancel them, or end them all with
 * mcp_client_closed(). Accepts a zeroed client. */
void mcp_client_release(struct mcp_client *client);

/*
 * One message as it arrived, without its line end; a blank one is ignored. `too_long`: the transport kept
 * only the beginning. A line that is no message is counted as noise. A response that was too long or
 * malformed ends its request with an error when its id can be told. When it cannot, one that was too long may
 * have been the answer to any: it ends all requests that run.
 *
 * An id that is the number of a request as text is taken for that request, because some servers write all ids
 * as text. An answer with an id that was never sent can only be to the request that runs, when just one does:
 * it fails with ERR_PROTOCOL now rather than at its deadline. So does an error without id that says that a
 * request could not be read (JSON-RPC 2.0, section 5.1).
 */
void mcp_client_receive(struct mcp_client *client, struct str line, bool too_long);

/* The connection has ended; `why` (may be NULL) is quoted in the errors. Every running request fails, with
 * ERR_CLOSED unless it was not sent for another reason: its callback comes from within this call. Requests
 * that are started later fail too. */
void mcp_client_closed(struct mcp_client *client, const struct err *why);

/* The first line that was no message, cut to limits.noise_keep; empty when there was none. */
static inline struct str mcp_client_noise(const struct mcp_client *client)
{
	return client->noise_first;
}

/* The first id that no request ever had, as it was written; empty when there was none. */
static inline struct str mcp_client_unasked(const struct mcp_client *client)
{
	return client->unasked_first;
}

/* Bytes of what was sent that the server has not read yet. */
static inline size_t mcp_client_unread(const struct mcp_client *client)
{
	return client->transport->unread ? client->transport->unread(client->transport) : 0;
}

/* Sends a notification. `params` raw; empty: none. 0, or what the transport said. */
int mcp_client_notify(struct mcp_client *client, enum mcp_method method, struct str params);

/* Answers a request that events->request took. `id` and `result` raw. */
void mcp_client_answer(struct mcp_client *client, struct str id, struct str result);
void mcp_client_refuse(struct mcp_client *client, struct str id, const struct mcp_error *error);

/* -- requests -------------------------------------------------------------------------------------------- */

struct mcp_message {
	enum mcp_method method;
	/* decoded key and raw value; `type` is not looked at; `_meta` is skipped */
	const struct json_member *params;
	size_t param_count;
	struct str meta; /* raw: a caller's `_meta` to be relayed, without the per-hop keys; empty: none */
	/* to a modern server: the least level it may send; MCP_LOG_NONE: nothing */
	enum mcp_log_level log_level;
};

/* How long to wait. Both are required: a wait without end is a defect. */
struct mcp_patience {
	uint64_t idle_ms;  /* without an answer or progress */
	uint64_t total_ms; /* in all */
	struct str idle_setting,
		total_setting; /* literals: what the time-out's message names; may be empty */
};

enum mcp_outcome {
	MCP_ANSWERED,	    /* the server answered: a result, or an error of its own */
	MCP_NOT_SENT,	    /* the server has not seen the request: it may be repeated */
	MCP_OUTCOME_UNKNOWN /* it was sent; what the server did with it is unknown */
};

struct mcp_answer {
	/* 0: `result` is set. ERR_UPSTREAM: `error` is set. Else there is no usable answer: ERR_TIMEOUT,
	 * ERR_CLOSED, ERR_BUSY, ERR_PROTOCOL, ERR_TOO_LARGE. */
	int code;
	enum mcp_outcome outcome;
	struct str result; /* raw, as the server wrote it */
	/* A modern server's "complete" (also when it says nothing), "input_required" or "task"; "complete" of
	 * a legacy one. */
	struct str result_type;
	struct mcp_error error;
	struct err err; /* for people; filled whenever code is not 0 */
};

/* Called once; views in the answer are valid during the call. The request has ended: it may be started again
 * or freed. */
typedef void mcp_request_done(struct mcp_request *request, const struct mcp_answer *answer);
/* Called any number of times before `done`. `params` is the notification's raw parameter object. */
typedef void mcp_request_progressed(struct mcp_request *request, const struct mcp_progress *progress,
				    struct str params);

/* One request. Lives inside its owner; a zeroed one may be cancelled harmlessly. */
struct mcp_request {
	struct mcp_client *client; /* NULL when it is not running */
	enum mcp_method method;
	uint64_t id;
	uint64_t started; /* loop_now() */
	void *owner;

	uint64_t unasked_before; /* client->unasked at the start */
	struct list_node node;	 /* in client->pending or client->refused */
	struct timer idle, total;
	struct deferred refused; /* delivers a failure that was known at the start */
	int refused_code;
	size_t refused_running, refused_unread; /* requests and bytes that were in its way then */
	bool handshake; /* allowed before the client is open, and never cancelled on the wire */
	struct mcp_patience patience;
	mcp_request_done *done;
	mcp_request_progressed *progressed;
};

/* Sends the message, with a progress token when `progressed` is not NULL. The message's texts are not needed
 * after the call. */
void mcp_request_start(struct mcp_request *request, struct mcp_client *client,
		       const struct mcp_message *message, const struct mcp_patience *patience,
		       mcp_request_progressed *progressed, mcp_request_done *done, void *owner);

/* After this returns neither callback will come. The server is told with notifications/cancelled; `reason`
 * may be empty. Harmless on a request that has ended or never began. */
void mcp_request_cancel_because(struct mcp_request *request, struct str reason);
void mcp_request_cancel(struct mcp_request *request);

static inline bool mcp_request_running(const struct mcp_request *request)
{
	return request->client != NULL;
}

/* tools/call. `arguments` is a raw object, empty: absent. `meta` and `log_level` as in struct mcp_message. */
struct mcp_tool_call {
	struct str name;
	struct str arguments;
	struct str meta;
	enum mcp_log_level log_level;
};
void mcp_tool_call_start(struct mcp_request *request, struct mcp_client *client,
			 const struct mcp_tool_call *call, const struct mcp_patience *patience,
			 mcp_request_progressed *progressed, mcp_request_done *done, void *owner);

/* -- lists ----------------------------------------------------------------------------------------------- */

struct mcp_listing_limits {
	unsigned pages_max;
	size_t items_max;
	size_t bytes_max;	      /* of all items together */
	struct mcp_patience patience; /* per page */
};

struct mcp_listing;
typedef void mcp_listing_done(struct mcp_listing *listing, const struct err *err);

/* All pages of a list method. Lives inside its owner. */
struct mcp_listing {
	struct str *items; /* raw, each as the server wrote it */
	size_t count;
	int64_t ttl_ms;	   /* cache hints of a modern server: the least of all pages; 0 when there is none */
	bool cache_public; /* ... and whether every page said "public" */
	void *owner;

	struct mcp_client *client;
	enum mcp_method method;
	struct mcp_listing_limits limits;
	struct arena arena; /* holds the items */
	size_t room, bytes;
	unsigned pages;
	uint64_t *cursors; /* hashes of those seen */
	struct mcp_request request;
	mcp_listing_done *done;
};

/*
 * `method` is one whose row in revision.c has a list_member. On success (`err` NULL) the items stay until
 * mcp_listing_release(). A cursor that comes again or a malformed page ends it with ERR_PROTOCOL, more than
 * the limits allow with ERR_TOO_LARGE.
 */
void mcp_listing_start(struct mcp_listing *listing, struct mcp_client *client, enum mcp_method method,
		       const struct mcp_listing_limits *limits, mcp_listing_done *done, void *owner);
/* Cancels it if it runs, and frees the items. Accepts a zeroed listing. */
void mcp_listing_release(struct mcp_listing *listing);

/* -- opening --------------------------------------------------------------------------------------------- */

enum mcp_open_order {
	MCP_PREFER_DISCOVER,   /* server/discover; initialize when that brings no modern server's answer */
	MCP_PREFER_INITIALIZE, /* initialize; server/discover when that is refused */
	MCP_FORCE_DISCOVER,
	MCP_FORCE_INITIALIZE
};

struct mcp_open_options {
	enum mcp_open_order order;
	enum mcp_revision legacy_revision; /* offered in initialize; MCP_LATEST_LEGACY as a rule */
	struct str client_info;		   /* raw Implementation */
	struct str capabilities;	   /* raw ClientCapabilities, an object */
	uint64_t probe_ms;		   /* MCP_PREFER_DISCOVER: the wait before initialize is tried, too */
	uint64_t open_ms;		   /* for the whole opening */
	struct str open_setting;	   /* a literal: what the time-out's message names; may be empty */
};

struct mcp_open;
/*
 * `err` NULL: the client is open and client->facts is filled; the era to remember for this server is
 * mcp_era_of(client->facts.revision). ERR_CLOSED with open->probe_unanswered: the connection ended before the
 * server had answered server/discover as a probe. Some legacy servers end on anything but initialize: try a
 * new connection with MCP_FORCE_INITIALIZE.
 */
typedef void mcp_open_done(struct mcp_open *open, const struct err *err);

/* The handshake. Lives inside its owner. */
struct mcp_open {
	struct mcp_client *client; /* NULL when it is not running */
	bool probe_unanswered;
	void *owner;

	struct mcp_open_options options;
	struct mcp_request discover, initialize;
	struct timer probe; /* runs while initialize waits for discover */
	uint64_t started;
	bool version_retried, initialize_tried;
	struct err first_failure; /* of the handshake that failed while the other one runs */
	mcp_open_done *done;
};

/* Texts in the options are copied. Only once per client. */
void mcp_open_start(struct mcp_open *open, struct mcp_client *client, const struct mcp_open_options *options,
		    mcp_open_done *done, void *owner);
void mcp_open_cancel(struct mcp_open *open);

#endif

/*
 * server.h - the server's side of MCP, for any number of peers.
 *
 * A struct mcp_server says what is served: identity, limits and a handler. Each peer is a struct mcp_session,
 * which a transport owns (stdio_server.h, http_door.h, or your own) and feeds with messages. The session does
 * the protocol: it answers initialize, ping, server/discover, logging/setLevel and subscriptions/listen
 * itself, checks parameters, routes cancellations, and hands the handler one struct mcp_server_call per
 * request for a list, a tool or a resource. The handler answers each call exactly once, at once or later, in
 * any order.
 *
 * The handler sees the same calls whatever revision the peer speaks. What is sent to a peer is brought into
 * its revision on the way out (convert.h); where nothing needs to change, bytes pass unchanged.
 *
 * All on one thread.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "mcp/jsonrpc.h"
#include "mcp/message.h"
#include "mcp/revision.h"

struct mcp_server;
struct mcp_session;
struct mcp_server_call;

/* -- what is served -------------------------------------------------------------------------------------- */

struct mcp_handler {
	/* Answer with mcp_answer_list(). */
	void (*tools_list)(struct mcp_server_call *call);
	/* Answer with mcp_answer_result(), mcp_answer_tool_error(), mcp_answer_error(),
	 * mcp_answer_unknown_tool() or mcp_answer_missing_capability(). */
	void (*tools_call)(struct mcp_server_call *call);
	/* May be NULL. The raw Tool of that name as tools_list would answer it, for the HTTP headers that
	 * repeat its arguments (2026-07-28); empty when it is not known or marks none. At once. */
	struct str (*find_tool)(struct mcp_server *server, struct str name, struct arena *arena);
	/* These three together, or all NULL: the server offers no resources. There is no subscribing to any,
	 * and no notice of a changed list: the capability says neither. The lists are answered with
	 * mcp_answer_list(), a read with mcp_answer_contents(), mcp_answer_unknown_resource() or
	 * mcp_answer_error(). */
	void (*resources_list)(struct mcp_server_call *call);
	void (*resource_templates_list)(struct mcp_server_call *call);
	void (*resources_read)(struct mcp_server_call *call);
	/* The call is over without an answer: the peer cancelled it or has gone. Stop the work; the call is
	 * freed when this returns. `reason` may be empty. Never called from within the functions above or an
	 * answer, nor after an answer. */
	void (*cancelled)(struct mcp_server_call *call, struct str reason);
	/* These may be NULL. A legacy peer has finished its handshake (notifications/initialized). */
	void (*session_opened)(struct mcp_session *session);
	/* The session ends; its calls have been cancelled. Release what session->attached holds. */
	void (*session_closed)(struct mcp_session *session);
	/* A legacy peer has set session->log_level. */
	void (*log_level_set)(struct mcp_session *session);
};

struct mcp_server_limits {
	size_t message_max; /* bytes of one message to us; the transport refuses longer ones */
	unsigned depth_max; /* its nesting; 0: JSON_DEPTH_MAX; a deeper one is refused with -32600 */
	size_t answer_max;  /* bytes of one message from us; a larger result becomes -32603, which says so */
	size_t calls_max;   /* unanswered calls of one session; one more is refused with -32603 */
	size_t listens_max; /* open subscriptions of one session; one more is refused with -32603 */
	size_t batch_max;   /* messages in a batch (2025-03-26); a longer one is refused whole, with -32600 */
	size_t page_items;  /* items per page of a list */
	size_t page_bytes;  /* a page ends before it passes this, but has at least one item */
};

/* Filled by the owner after mcp_server_init(). Texts outlive the server; they may be replaced between
 * messages. */
struct mcp_server {
	struct str info;	 /* raw Implementation: name and version at least */
	struct str instructions; /* empty: none */
	bool logging;		 /* offers the logging capability */
	bool tools_changed;	 /* offers tools.listChanged */
	int64_t cache_ttl_ms;	 /* cache hints of lists, resources and server/discover, for modern peers */
	bool cache_public;
	enum mcp_log_level default_log_level; /* of legacy peers that set none */
	void *owner;

	const struct mcp_handler *handler;
	struct mcp_server_limits limits;
	struct list_node sessions;
	uint64_t last_session;
};

void mcp_server_init(struct mcp_server *server, const struct mcp_handler *handler,
		     const struct mcp_server_limits *limits, void *owner);

/* Tells every peer that wants to know that the list of tools has changed; nobody, unless that is offered. */
void mcp_server_tools_changed(struct mcp_server *server);

/* Sends a log message that belongs to no call to every legacy peer whose level admits it. */
void mcp_server_log(struct mcp_server *server, const struct mcp_log *log);

/* -- calls ----------------------------------------------------------------------------------------------- */

/* One request that the handler works on. It belongs to the session and is gone once it was answered or
 * cancelled. */
struct mcp_server_call {
	struct mcp_session *session;
	enum mcp_method method;
	enum mcp_revision revision; /* of the peer, for this request */
	struct str name;	    /* tools/call: the tool; resources/read: the URI; decoded */
	struct str arguments;	    /* tools/call: raw object; "{}" when the peer sent none */
	struct str params;	    /* raw object, all that the peer sent; may be empty */
	struct str meta;	    /* raw `_meta` of the params; may be empty */
	struct str progress_token;  /* raw; empty: the peer wants no progress */
	struct str client_info,
		client_capabilities; /* raw, of this request or of the session; may be empty */
	/* the least level of log messages that the peer wanted when it sent the request */
	enum mcp_log_level log_level;
	struct arena *arena; /* lives as long as the call; the handler may allocate from it too */
	void *owner;	     /* free for the handler */

	/* the session's own */
	struct str id; /* raw */
	void *route;   /* the transport's: where the answer goes */
	bool deaf;     /* nobody is there any more to hear the answer */
	struct arena storage;
	bool hears_tools;   /* subscriptions/listen: asked for changes of the list of tools */
	uint64_t list_from; /* of a list: index of the page's first item */
	bool listed;	    /* on session->calls or session->listens */
	struct list_node node;
};

/* The answer to a request for a list: all the items that there are, each a raw Tool, Resource or
 * ResourceTemplate object; the session cuts the page. */
void mcp_answer_list(struct mcp_server_call *call, const struct str *items, size_t count);

/* The answer to resources/read: a raw array of ResourceContents. */
void mcp_answer_contents(struct mcp_server_call *call, struct str contents);

/* The peer asked to read what does not exist: -32002 for a legacy peer, -32602 for a modern one, with the URI
 * in its data. `message` says what, or is empty. */
void mcp_answer_unknown_resource(struct mcp_server_call *call, struct str message);

/* `result` is a raw CallToolResult of any revision. */
void mcp_answer_result(struct mcp_server_call *call, struct str result);

/* A CallToolResult with isError and one text: what went wrong, for the model to read and act on. */
void mcp_answer_tool_error(struct mcp_server_call *call, struct str text);

/* A JSON-RPC error. Codes that would accuse the peer of something that it did not do here (-32020 to -32022
 * relayed from another hop), that its revision lacks, or that its revision keeps for itself (-32020 to -32099
 * in 2026-07-28) are sent as the nearest code that it knows. */
void mcp_answer_error(struct mcp_server_call *call, const struct mcp_error *error);

/* -32602. */
void mcp_answer_unknown_tool(struct mcp_server_call *call);

/* The tool cannot run because the peer did not declare a capability: -32021 for a modern peer, -32603 for a
 * legacy one. `required` is a raw object in the shape of ClientCapabilities. */
void mcp_answer_missing_capability(struct mcp_server_call *call, struct str required);

/* Progress of the call, any number of times before the answer. Nothing is sent when the peer gave no
 * token. */
void mcp_call_progress(struct mcp_server_call *call, const struct mcp_progress *progress);

/* A log message of the call; dropped below the level that the peer wants now. */
void mcp_call_log(struct mcp_server_call *call, const struct mcp_log *log);

/* -- sessions: for transports ---------------------------------------------------------------------------- */

enum mcp_outgoing_kind {
	MCP_OUT_ANSWER,	   /* the response to a request that came with `route` */
	MCP_OUT_RELATED,   /* a notification that belongs to a request that came with `route` */
	MCP_OUT_UNRELATED, /* a notification that belongs to no request; `route` is NULL */
	MCP_OUT_NOTHING	   /* the request that came with `route` ends without a response; no text */
};

struct mcp_outgoing {
	enum mcp_outgoing_kind kind;
	void *route;
	/* one message without line end; the transport may take its storage with buf_take() */
	struct buf *text;
	int64_t error_code; /* MCP_OUT_ANSWER: the code when it is an error, else 0 */
	bool refused;	    /* the protocol's error, not the handler's (HTTP: 400 or 404 if modern) */
	bool for_all;	    /* it answers the text that came with `route` as a whole, not one message in it */
	bool initialized;   /* it answers initialize with a result (HTTP: opens a session) */
};

struct mcp_session_transport {
	/* Sends it. False: an MCP_OUT_UNRELATED message has nowhere to go at present. Must not release the
	 * session. */
	bool (*send)(struct mcp_session *session, const struct mcp_outgoing *outgoing);
};

enum mcp_session_state { MCP_SESSION_NEW, MCP_SESSION_INITIALIZING, MCP_SESSION_OPEN };

struct mcp_session {
	struct mcp_server *server;
	uint64_t number;      /* from 1; no two sessions of a server have the same, ever */
	struct str principal; /* who the peer is, as the transport's owner proved; may be empty */
	void *peer;	      /* free for the transport's owner */
	void *attached;	      /* free for the handler */

	/* The legacy handshake. A modern peer's session stays MCP_SESSION_NEW: nothing is remembered of
	 * it. */
	enum mcp_session_state state;
	enum mcp_revision revision;	  /* negotiated */
	struct mcp_implementation client; /* all empty when the peer does not say */
	struct str client_capabilities;	  /* raw object */
	enum mcp_log_level log_level;

	/* its own */
	const struct mcp_session_transport *transport;
	struct arena arena; /* what is remembered of the peer */
	struct list_node node, calls, listens;
	size_t call_count, listen_count;
	bool in_batch;
	bool tools_changed_unsent;
};

void mcp_session_init(struct mcp_session *session, struct mcp_server *server,
		      const struct mcp_session_transport *transport, struct str principal);
/* Cancels its calls and ends its subscriptions (MCP_OUT_NOTHING for each), then calls
 * handler->session_closed. Accepts a zeroed session. */
void mcp_session_release(struct mcp_session *session);

/*
 * One arriving text: a message or, in a session of 2025-03-26, a batch. `route` comes back with every
 * outgoing message that belongs to it. Returns how many MCP_OUT_ANSWER or MCP_OUT_NOTHING it leads to, of
 * which some may have been sent already.
 */
size_t mcp_session_receive(struct mcp_session *session, struct str text, void *route);

/* The same for one message that was read already. *storage holds everything that *message points to; the
 * session takes it over and leaves it empty. */
size_t mcp_session_dispatch(struct mcp_session *session, const struct jsonrpc_message *message,
			    struct arena *storage, void *route);

/* Nobody listens on `route` any more. Its calls are cancelled, or, without `cancels`, go on while their
 * output is dropped; its subscriptions end. Nothing is sent for `route` after this. */
void mcp_session_route_gone(struct mcp_session *session, void *route, bool cancels);

/* MCP_OUT_UNRELATED messages have somewhere to go again: sends what had to wait. */
void mcp_session_unrelated_ready(struct mcp_session *session);

/* Ends all subscriptions with their result, as a graceful shutdown does. */
void mcp_session_end_listens(struct mcp_session *session);

#endif

/*
 * server.h - the server's side of MCP for any number of peers.
 *
 * A struct mcp_server says what is served: identity, capabilities, limits and a handler. Each peer is a struct mcp_session, which a
 * transport owns (stdio_server.h, http_door.h, or your own) and feeds with messages. The session does the protocol: it answers initialize, ping,
 * server/discover, logging/setLevel and subscriptions/listen itself, checks parameters, routes cancellations, and gives the handler one struct
 * mcp_server_call per tools/list and tools/call. The handler answers each call exactly once, at once or later, in any order.
 *
 * The handler sees the same calls whatever revision the peer speaks. What is sent to a peer is brought into its revision on the way out:
 * result types and cache hints added, content that an old peer could not read replaced (convert.h); otherwise bytes pass unchanged.
 *
 * All on the loop thread.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

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

struct mcp_server;
struct mcp_session;
struct mcp_server_call;

/* -- the handler ------------------------------------------------------------------------------------------------------- */

struct mcp_handler {
	/* Answer with mcp_answer_tools(). call->name and call->arguments are empty. */
	void (*tools_list)(struct mcp_server_call *call);
	/* Answer with mcp_answer_result(), mcp_answer_error() or mcp_answer_unknown_tool(). */
	void (*tools_call)(struct mcp_server_call *call);
	/* The call is over without an answer: the peer cancelled it or is gone. Stop the work; the call must not be touched after
	 * this returns. `reason` may be empty. Called at most once, and never after an answer. */
	void (*cancelled)(struct mcp_server_call *call, struct str reason);
	/* NULL, or: a legacy peer finished its handshake (notifications/initialized). */
	void (*session_opened)(struct mcp_session *session);
	/* NULL, or: the session ends; its calls have been cancelled. Release what session->attached holds. */
	void (*session_closed)(struct mcp_session *session);
	/* NULL, or: a legacy peer set session->log_level. */
	void (*log_level_set)(struct mcp_session *session);
};

struct mcp_server_limits {
	size_t message_max; /* bytes of one message to us */
	unsigned depth_max; /* its nesting; 0: JSON_DEPTH_MAX */
	size_t calls_max;   /* unanswered calls of one session; one more is refused with -32603 */
	size_t batch_max;   /* messages in a batch (2025-03-26) */
	size_t answer_max;  /* bytes of one message from us; a larger result becomes an error that says so */
	size_t page_items;  /* tools per page of tools/list */
	size_t page_bytes;  /* a page ends before it passes this, but has at least one tool */
	size_t listens_max; /* open subscriptions of one session */
};

/* What is served. All texts must outlive the server; they may be replaced between messages. */
struct mcp_server {
	const struct mcp_handler *handler;
	void *owner;
	struct mcp_server_limits limits;
	struct str info;	 /* raw Implementation: name and version at least */
	struct str instructions; /* decoded; empty: none */
	bool logging;		 /* offer the logging capability */
	bool tools_changed;	 /* offer tools.listChanged */
	int64_t tools_ttl_ms;	 /* cache hints of tools/list and server/discover for modern peers */
	bool cache_public;
	enum mcp_log_level default_log_level; /* for legacy peers that set none */
	struct list_node sessions;
};

void mcp_server_init(struct mcp_server *server, const struct mcp_handler *handler,
		     const struct mcp_server_limits *limits, void *owner);

/* Tells every peer that asked for it that the list of tools has changed. */
void mcp_server_tools_changed(struct mcp_server *server);

/* Sends a log message that belongs to no call to every legacy peer whose level admits it. */
void mcp_server_log(struct mcp_server *server, const struct mcp_log *log);

/* -- calls ------------------------------------------------------------------------------------------------------------- */

/* One request that the handler works on. It belongs to the session and is gone when it was answered or `cancelled` has returned. */
struct mcp_server_call {
	struct mcp_session *session;
	enum mcp_method method;
	enum mcp_revision revision;   /* that the answer will be written in */
	struct str name;	      /* the tool, decoded */
	struct str arguments;	      /* raw object; "{}" when the peer sent none */
	struct str params;	      /* raw object, everything the peer sent; may be empty */
	struct str meta;	      /* raw `_meta` object; may be empty */
	struct str progress_token;    /* raw; empty: the peer wants no progress */
	enum mcp_log_level log_level; /* the least level the peer wants on this call */
	struct str client_info,
		client_capabilities; /* raw; of this request (modern) or of the session (legacy) */
	void *owner;		     /* free for the handler */

	/* the session's own */
	struct arena *arena; /* lives as long as the call; the handler may allocate from it too */
	struct str id;	     /* raw */
	void *route;	     /* the transport's: where the answer goes */
	struct list_node node;
	size_t list_from; /* tools/list: index of the page's first item */
	bool answered;
};

/* The answer of tools/list: all the tools there are, each a raw Tool object; the session cuts the page. The array and texts are not needed
 * after the call. */
void mcp_answer_tools(struct mcp_server_call *call, const struct str *tools, size_t count);

/* `result` is a raw object in any revision's shape. */
void mcp_answer_result(struct mcp_server_call *call, struct str result);

/* A JSON-RPC error. A code that only a transport may use (-32020, -32021, -32022) is sent as -32603, because relaying it would
 * accuse the peer of something it did not do. */
void mcp_answer_error(struct mcp_server_call *call, const struct mcp_error *error);
/* -32602 "unknown tool: NAME". */
void mcp_answer_unknown_tool(struct mcp_server_call *call);
/* The tool cannot run because this peer did not declare a capability: -32021 with data.requiredCapabilities for a modern peer, -32603 for a legacy one. `required` is a raw
 * object in the shape of ClientCapabilities. */
void mcp_answer_missing_capability(struct mcp_server_call *call, struct str required, struct str message);
/* A tool result with isError and one text: what a model should read and act on. */
void mcp_answer_tool_error(struct mcp_server_call *call, struct str text);

/* Progress of the call; nothing is sent when the peer gave no token. May be called any number of times before the answer. */
void mcp_call_progress(struct mcp_server_call *call, const struct mcp_progress *progress);
/* A log message of the call; dropped below call->log_level. */
void mcp_call_log(struct mcp_server_call *call, const struct mcp_log *log);

/* -- sessions: for transports ------------------------------------------------------------------------------------------ */

enum mcp_outgoing_kind {
	MCP_OUT_ANSWER, /* the response to the request that came with `route`; nothing more will come for that request */
	MCP_OUT_RELATED,  /* a notification that belongs to the request that came with `route` */
	MCP_OUT_UNRELATED /* a notification that belongs to no request; route is NULL */
};

struct mcp_outgoing {
	enum mcp_outgoing_kind kind;
	void *route;
	struct buf
		*text; /* one message without line end; the transport may take its storage with buf_take() */
	int64_t error_code; /* MCP_OUT_ANSWER: the code when it is an error, else 0 */
	bool refused;	    /* the error was raised before the handler saw the request (HTTP: 400 or 404) */
	bool initialized;   /* the answer is a successful InitializeResult (HTTP: open a session) */
};

struct mcp_session_transport {
	/* Sends it. False: an MCP_OUT_UNRELATED message has nowhere to go now; the session keeps list_changed for later. */
	bool (*send)(struct mcp_session *session, struct mcp_outgoing *outgoing);
};

enum mcp_session_state { MCP_SESSION_NEW, MCP_SESSION_INITIALIZING, MCP_SESSION_OPEN };

struct mcp_session {
	struct mcp_server *server;
	const struct mcp_session_transport *transport;
	enum mcp_session_state state;	  /* of the legacy handshake; a modern peer stays MCP_SESSION_NEW */
	enum mcp_revision revision;	  /* negotiated; meaningful from MCP_SESSION_INITIALIZING on */
	struct mcp_implementation client; /* legacy */
	struct str client_capabilities;	  /* legacy, raw */
	enum mcp_log_level log_level;	  /* legacy */
	struct str principal;		  /* who the peer is, as the transport's owner proved; may be empty */
	void *peer;			  /* free for the transport's owner */
	void *attached;			  /* free for the handler */

	struct arena arena; /* what the session remembers of its peer */
	struct list_node node, calls, listens;
	size_t call_count, listen_count;
	bool tools_changed_unsent;
};

void mcp_session_init(struct mcp_session *session, struct mcp_server *server,
		      const struct mcp_session_transport *transport, struct str principal);
/* Cancels its calls (handler->cancelled for each), ends its subscriptions silently, then handler->session_closed. Accepts a zeroed session. */
void mcp_session_release(struct mcp_session *session);

/*
 * One arriving text: a message or, for a session of 2025-03-26, a batch. Parse errors and invalid requests are answered. `route` comes back with every outgoing message that belongs
 * to this one.
 */
void mcp_session_receive(struct mcp_session *session, struct str text, void *route);

/* The same for a message that was read already. `storage` holds everything *message points to; the session takes the arena over (it is
 * left empty) and frees it with the call. */
void mcp_session_dispatch(struct mcp_session *session, const struct jsonrpc_message *message,
			  struct arena *storage, void *route);

/* The peer of `route` has gone away or cancelled: ends the call or subscription that came with it. `tell`: a legacy peer that disconnects does
 * not cancel; then the call goes on and its answer is dropped. */
void mcp_session_route_gone(struct mcp_session *session, void *route, bool cancels);

/* Unrelated messages can be sent again (a stream was opened): sends what had to wait. */
void mcp_session_unrelated_ready(struct mcp_session *session);

/* Ends all subscriptions with their completion result (a graceful shutdown). */
void mcp_session_end_listens(struct mcp_session *session);

#endif

/*
 * http_door_private.h - the parts of the door: http_door.c keeps the sessions, http_post.c reads what a POST
 * brings, http_exchange.c answers it, http_stream.c answers a GET, http_replay.c keeps what was sent.
 */
#ifndef MCP_HTTP_DOOR_PRIVATE_H
#define MCP_HTTP_DOOR_PRIVATE_H

#include "base/ids.h"
#include "base/list.h"
#include "base/map.h"
#include "mcp/http_door.h"
#include "mcp/http_events.h"
#include "mcp/http_replay.h"
#include "mcp/incoming.h"
#include "mcp/server_private.h"

struct mcp_http_door {
	struct loop *loop;
	struct mcp_server *server;
	struct mcp_http_door_options options;
	struct replay_pool replays;
	struct map sessions;	    /* struct door_session by id: those that a client may name */
	struct list_node idle;	    /* of those, the ones that nothing uses, longest first */
	struct list_node exchanges; /* all */
	struct timer expiry;	    /* of the first on `idle` */
	bool draining;
};

/* A legacy session. It is freed when it is closed and nothing uses it any more. */
struct door_session {
	struct mcp_session session;
	struct mcp_http_door *door;
	char id_text[ID_TEXT_MAX];
	struct str id;		    /* empty: not one that a client may name (yet, or any more) */
	unsigned users;		    /* exchanges and streams */
	uint64_t idle_since;	    /* while users is 0 */
	struct list_node idle_node; /* in door->idle */
	struct list_node streams;   /* struct door_stream, newest last */
	size_t stream_count;
	struct replay replay;
	bool closed; /* `session` is released */
};

/* A session whose messages go through the door, for the peer of that request. */
void door_init_session(struct mcp_http_door *door, struct mcp_session *session, struct str principal,
		       const struct http_request *request);

/* For initialize. NULL: there are too many sessions, and all are in use. */
struct door_session *door_session_new(struct mcp_http_door *door, struct str principal,
				      const struct http_request *request);
/* Gives it an id and makes it known, when initialize has succeeded. */
void door_session_register(struct door_session *ds);
void door_session_use(struct door_session *ds);
void door_session_unuse(struct door_session *ds);
/* Ends the session: its calls are cancelled, its streams end, its id is unknown from now on. */
void door_session_close(struct door_session *ds);

/* The session that the request names, for the principal. NULL: the request was answered with 400 or 404. */
struct door_session *door_session_of(struct mcp_http_door *door, struct http_request *request,
				     struct str principal);

/* Answers with a JSON-RPC error; `id` may be empty. */
void door_refuse(struct http_request *request, unsigned status, struct str id, int64_t code,
		 struct str message);
void door_refuse_plainly(struct http_request *request, unsigned status, const char *message);

/* One POST, from the moment its headers were accepted to the end of its answer. */
struct door_exchange {
	struct mcp_http_door *door;
	struct http_request *request; /* what it is sent to: the POST, or the GET of a client that came back.
				       * NULL once it was answered or its client has gone */
	struct str principal;	      /* of the POST's arena, and gone with it: for reading its body */
	struct list_node node;	      /* in door->exchanges */

	struct door_session *ds; /* of a legacy message; in use */
	bool modern;		 /* of a modern one: `session` is initialised */
	struct mcp_session session;

	size_t expected, answered;
	bool batch;
	struct buf answers;   /* of a batch, so far: "[..."; never fails */
	struct events events; /* once streaming */
	bool streaming;
	struct replay_id stream; /* once streaming what can be resumed */
	bool detached;		 /* its client has gone, and may come back for the rest */
	struct timer silence;	 /* until an answer becomes a stream by itself */
	struct deferred over;
};

/* One that belongs to the request, and says so to it. */
struct door_exchange *exchange_new(struct mcp_http_door *door, struct http_request *request,
				   struct str principal);
void exchange_use(struct door_exchange *exchange, struct door_session *ds);

/* Reads the request's headers, then its body, then answers. */
void exchange_start(struct mcp_http_door *door, struct http_request *request, struct str principal);

/* The request's client has gone. */
void exchange_gone(struct http_request *request);
/* Nothing more is to be sent: the request is forgotten, and the exchange freed from the loop. */
void exchange_finish(struct door_exchange *exchange);
/* Answers with a JSON-RPC error; `id` may be empty. */
void exchange_refuse(struct door_exchange *exchange, unsigned status, struct str id, int64_t code,
		     struct str message);
/* What a session sends for it. */
void exchange_send(struct door_exchange *exchange, const struct mcp_outgoing *outgoing);
/* `expected` answers will come, or have come already; none: 202. */
void exchange_wait(struct door_exchange *exchange, size_t expected);

/* Sends to the GET what the answer to a POST has sent since `from`, and what is still to come. False: nothing
 * is known of it any more. */
bool exchange_resume(struct door_session *ds, struct http_request *request, struct replay_id from);

void exchanges_drain(struct mcp_http_door *door);
void exchanges_free(struct mcp_http_door *door);

/* Whether the events of the session get ids. */
bool door_session_is_resumable(const struct door_session *ds);
/* Sends again what was kept after `from`. */
void door_replay(struct door_session *ds, struct events *events, struct replay_id from);

/* One GET. It goes on with the stream of `from`, if that is any, and is refused with 409 when there are too
 * many. */
struct door_stream;
void stream_start(struct door_session *ds, struct http_request *request, struct replay_id from);
/* Sends to the newest stream of the session. False: there is none that takes it. */
bool streams_send(struct door_session *ds, struct buf *message);
void streams_end(struct door_session *ds);
void streams_free(struct door_session *ds);

#endif

/*
 * http_events.h - an answer as a stream of server-sent events, one JSON-RPC message each, with comments while
 * nothing is sent. Private to the room.
 *
 * What a slow reader has not taken is held by the HTTP server up to its limit. Beyond that one message waits
 * here; which further ones may be lost is for the owner to say. `room` is called when none waits any more.
 */
#ifndef MCP_HTTP_EVENTS_H
#define MCP_HTTP_EVENTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "io/http_server.h"
#include "io/loop.h"

struct events {
	struct http_stream stream;
	struct loop *loop;
	struct timer quiet;
	uint64_t keep_alive_ms; /* 0: no comments */
	struct buf waiting;	/* events that could not be written yet */
	bool ending;		/* ends when nothing waits any more */
	bool open;
	void (*room)(struct events *events); /* may be NULL */
};

void events_start(struct events *events, struct http_request *request, struct loop *loop,
		  uint64_t keep_alive_ms, void (*room)(struct events *events));

/* Sends one message, in which line ends become blanks, with an id unless that is empty. While another one
 * waits it is lost, and the value false, unless it `must` arrive: then it waits too. */
bool events_send(struct events *events, struct str id, struct buf *message, bool must);

/* An event that says nothing but its id (2025-11-25), and, unless 0, when to come back. To begin with. */
void events_prime(struct events *events, struct str id, uint64_t retry_ms);

/* Ends the answer, once what waits has been sent. The owner must stay until `room` has come if events_ended()
 * is false. */
void events_end(struct events *events);
static inline bool events_ended(const struct events *events)
{
	return !events->open;
}

/* Forgets the stream: the reader has gone, or the answer has ended. Accepts one that never started. */
void events_release(struct events *events);

#endif

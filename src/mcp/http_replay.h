/*
 * http_replay.h - the events of one legacy session that its client may ask for again (2025-03-26 to
 * 2025-11-25, transports, "Resumability and Redelivery"). Private to the room.
 *
 * Every event of a session has an id, which names its stream and its place: "post-3-17" is the event 17 of
 * the answer to a POST, "get-4-18" the event 18 of a stream that began with a GET. Numbers grow over the
 * whole session, so an id stands for all that its stream sent before it. A client that has lost a stream
 * sends the last id it saw in a GET, and gets what came after.
 *
 * What is kept is bounded by number, bytes and age. Where room is needed, progress and log messages go before
 * answers, and older events before younger ones; an event that is larger than the bound is not kept. All
 * sessions together have a bound of bytes, too: where it is reached, the session that keeps most makes room.
 */
#ifndef MCP_HTTP_REPLAY_H
#define MCP_HTTP_REPLAY_H

#include "base/base.h"
#include "base/list.h"
#include "base/str.h"
#include "io/loop.h"
#include "mcp/http_door.h"

enum replay_kind { REPLAY_POST, REPLAY_GET };

struct replay_id {
	enum replay_kind kind;
	uint64_t stream; /* from 1; 0: not a stream that can be resumed */
	uint64_t event;	 /* from 1 */
};

enum { REPLAY_ID_MAX = sizeof("post-18446744073709551615-18446744073709551615") };

/* What all sessions keep. */
struct replay_pool {
	struct loop *loop;
	const struct mcp_replay_limits *limits;
	struct list_node replays;
	size_t bytes;
};

struct replay {
	struct replay_pool *pool;
	struct list_node node;	 /* in pool->replays */
	struct list_node events; /* struct replay_event, oldest first */
	size_t count, bytes;
	uint64_t last_stream, last_event;
	struct timer aging; /* of the oldest */
};

struct replay_event {
	struct list_node node;
	struct replay_id id;
	bool hint; /* progress or a log message: no answer */
	uint64_t kept_at;
	struct str message;
};

/* The limits must stay. It must be empty at its end. */
void replay_pool_init(struct replay_pool *pool, struct loop *loop, const struct mcp_replay_limits *limits);

void replay_init(struct replay *replay, struct replay_pool *pool);
void replay_release(struct replay *replay);

/* A new stream, or another event of one. */
struct replay_id replay_stream(struct replay *replay, enum replay_kind kind);
void replay_next(struct replay *replay, struct replay_id *id);

/* As it travels; in `text`, which has REPLAY_ID_MAX bytes. */
struct str replay_id_write(struct replay_id id, char *text);
bool replay_id_read(struct str text, struct replay_id *ret_id);

void replay_keep(struct replay *replay, struct replay_id id, struct str message, bool hint);

/* The first event after `event` (NULL: of all) that belongs to the stream of `id` and came after it. NULL:
 * there is none. */
const struct replay_event *replay_after(const struct replay *replay, struct replay_id id,
					const struct replay_event *event);

/* Whether anything of the stream of `id` is kept. */
bool replay_knows(const struct replay *replay, struct replay_id id);

#endif

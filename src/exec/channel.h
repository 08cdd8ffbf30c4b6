/*
 * channel.h - what a script tells its runner, taken out of its stderr.
 *
 * A record is 0x1e, "mcpx", 0x1e, one JSON object and a line end (docs/internals/exec.md). It may begin
 * anywhere in a line. Everything else is text of the script's own. Bytes may come in any pieces. Pure.
 */
#ifndef EXEC_CHANNEL_H
#define EXEC_CHANNEL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum { EXEC_CHANNEL_HEAD = 64 }; /* bytes of a record that is too long that are kept: its kind stands there */

struct exec_channel;

struct exec_channel_events {
	/* One record's JSON text, not checked. Valid during the call. */
	void (*record)(struct exec_channel *channel, struct str json);
	/* A record of so many bytes was longer than the maximum; all but its `head` are gone. */
	void (*too_long)(struct exec_channel *channel, struct str head, uint64_t bytes);
	/* Bytes that are no record, as they come. */
	void (*text)(struct exec_channel *channel, struct str bytes);
};

enum exec_channel_state { EXEC_CHANNEL_TEXT, EXEC_CHANNEL_MARK, EXEC_CHANNEL_RECORD, EXEC_CHANNEL_SKIP };

struct exec_channel {
	const struct exec_channel_events *events;
	enum exec_channel_state state;
	size_t matched;		      /* bytes of the mark that have come */
	struct buf line;	      /* of a record */
	uint64_t skipped;	      /* bytes of a record that is too long */
	char head[EXEC_CHANNEL_HEAD]; /* its first bytes, as many as have come */
};

void exec_channel_init(struct exec_channel *channel, size_t record_max,
		       const struct exec_channel_events *events);
void exec_channel_release(struct exec_channel *channel);

void exec_channel_feed(struct exec_channel *channel, struct str bytes);
/* There are no more bytes. A record that was cut off is text. */
void exec_channel_end(struct exec_channel *channel);

#endif

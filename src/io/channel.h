/*
 * channel.h - a byte channel both ways on one descriptor, with bounded output.
 *
 * For connections that were upgraded away from HTTP. What cannot be written at once is held; a peer that is
 * behind by more than a maximum when something more is to be written is taken for gone. All on the loop
 * thread. The owner embeds it and ends it with channel_release(), not from within one of its callbacks.
 */
#ifndef IO_CHANNEL_H
#define IO_CHANNEL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct channel;

struct channel_events {
	/* Bytes came; valid during the call. */
	void (*received)(struct channel *channel, struct str bytes);
	/* The peer sends no more. It may still read. Once. */
	void (*ended)(struct channel *channel);
	/* The peer is gone, or was too slow; nothing more comes. Once, later. */
	void (*gone)(struct channel *channel);
	/* NULL, or: everything was written. Later. */
	void (*drained)(struct channel *channel);
};

struct channel {
	struct loop *loop;
	const struct channel_events *events;
	int fd;
	struct watch watch;
	struct buf unsent;
	size_t behind_max;
	struct deferred gone_later, drained_later;
	bool reading;
};

/* Takes over `fd`, which is non-blocking, also when it fails. At most 2 * `behind_max` bytes are held. */
int channel_start(struct channel *channel, struct loop *loop, int fd, size_t behind_max,
		  const struct channel_events *events, struct err *err);
/* Queues all of it, which is at most behind_max; or ERR_CLOSED when the peer is gone or too far behind. */
int channel_write(struct channel *channel, struct str bytes);
/* Closes it. Accepts a zeroed one. */
void channel_release(struct channel *channel);

#endif

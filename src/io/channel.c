#include "base/base.h"
#include "io/channel.h"

#include <errno.h>
#include <sys/socket.h>

enum {
	/* Bytes read in one turn of the loop, so that one busy peer does not hold up the others. */
	READ_PIECE = 64 * 1024,
};

static void channel_tell_gone(struct deferred *deferred)
{
	struct channel *channel = container_of(deferred, struct channel, gone_later);

	channel->events->gone(channel);
}

static void channel_tell_drained(struct deferred *deferred)
{
	struct channel *channel = container_of(deferred, struct channel, drained_later);

	channel->events->drained(channel);
}

/* Nothing more comes or goes; the descriptor stays until the owner releases it. */
static void channel_lost(struct channel *channel)
{
	watch_stop(&channel->watch);
	buf_release(&channel->unsent);
	deferred_cancel(&channel->drained_later);
	loop_defer(channel->loop, &channel->gone_later, channel_tell_gone);
}

static void channel_want(struct channel *channel)
{
	/* Reading notices every end. A peer that has stopped sending may still read, until it is gone. */
	watch_set(&channel->watch,
		  (channel->reading ? WATCH_READ : WATCH_GONE) | (channel->unsent.n ? WATCH_WRITE : 0));
}

static void channel_flush(struct channel *channel)
{
	size_t sent = 0;

	while (sent < channel->unsent.n) {
		ssize_t n =
			send(channel->fd, channel->unsent.p + sent, channel->unsent.n - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			channel_lost(channel);
			return;
		}
		sent += (size_t)n;
	}
	buf_drop(&channel->unsent, sent);
	if (channel->unsent.n == 0) {
		buf_clear(&channel->unsent, READ_PIECE);
		if (channel->events->drained)
			loop_defer(channel->loop, &channel->drained_later, channel_tell_drained);
	}
	channel_want(channel);
}

static void channel_read(struct channel *channel)
{
	char piece[READ_PIECE];
	ssize_t n = recv(channel->fd, piece, sizeof(piece), 0);

	if (n > 0) {
		channel->events->received(channel, str_make(piece, (size_t)n));
	} else if (n == 0) {
		channel->reading = false;
		channel_want(channel);
		channel->events->ended(channel);
	} else if (errno != EAGAIN && errno != EINTR) {
		channel_lost(channel);
	}
}

static void channel_ready(struct watch *watch, unsigned events)
{
	struct channel *channel = container_of(watch, struct channel, watch);

	if (events & WATCH_WRITE)
		channel_flush(channel);
	if ((events & WATCH_READ) && channel->watch.handle && channel->reading)
		channel_read(channel);
	else if ((events & WATCH_GONE) && channel->watch.handle)
		channel_lost(channel);
}

int channel_start(struct channel *channel, struct loop *loop, int fd, size_t behind_max,
		  const struct channel_events *events, struct err *err)
{
	*channel = (struct channel){
		.loop = loop, .events = events, .fd = fd, .behind_max = behind_max, .reading = true
	};
	buf_init(&channel->unsent, behind_max + behind_max);
	return watch_start(&channel->watch, loop, fd, WATCH_READ, channel_ready, err);
}

int channel_write(struct channel *channel, struct str bytes)
{
	if (!channel->watch.handle)
		return ERR_CLOSED;
	if (channel->unsent.n > channel->behind_max || buf_append(&channel->unsent, bytes) < 0) {
		channel_lost(channel);
		return ERR_CLOSED;
	}
	channel_flush(channel);
	return channel->watch.handle ? 0 : ERR_CLOSED;
}

void channel_release(struct channel *channel)
{
	if (!channel->loop)
		return;
	watch_stop(&channel->watch);
	deferred_cancel(&channel->gone_later);
	deferred_cancel(&channel->drained_later);
	buf_release(&channel->unsent);
	close_fd(&channel->fd);
	channel->loop = NULL;
}

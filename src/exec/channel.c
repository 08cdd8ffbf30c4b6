#include "base/base.h"
#include "exec/channel.h"

static const char mark[] = "\x1e"
			   "mcpx\x1e";

enum {
	MARK_LENGTH = sizeof(mark) - 1,
	LINE_KEEP = 64 * 1024 /* storage kept for the next record */
};

void exec_channel_init(struct exec_channel *channel, size_t record_max,
		       const struct exec_channel_events *events)
{
	*channel = (struct exec_channel){ .events = events };
	buf_init(&channel->line, record_max);
}

void exec_channel_release(struct exec_channel *channel)
{
	buf_release(&channel->line);
}

static void give_text(struct exec_channel *channel, struct str text)
{
	if (text.n)
		channel->events->text(channel, text);
}

/* Text up to the next byte that may begin a mark. */
static size_t feed_text(struct exec_channel *channel, struct str bytes)
{
	size_t at = size_min(str_find_char(bytes, mark[0]), bytes.n);

	give_text(channel, str_slice(bytes, 0, at));
	if (at == bytes.n)
		return at;
	channel->state = EXEC_CHANNEL_MARK;
	channel->matched = 1;
	return at + 1;
}

/* What only began like a mark was text; the byte that was different may begin one itself. */
static size_t feed_mark(struct exec_channel *channel, struct str bytes)
{
	if (bytes.p[0] == mark[channel->matched]) {
		if (++channel->matched == MARK_LENGTH)
			channel->state = EXEC_CHANNEL_RECORD;
		return 1;
	}
	channel->state = EXEC_CHANNEL_TEXT;
	give_text(channel, str_make(mark, channel->matched));
	return 0;
}

static void end_record(struct exec_channel *channel)
{
	channel->state = EXEC_CHANNEL_TEXT;
	channel->events->record(channel, buf_str(&channel->line));
	buf_clear(&channel->line, LINE_KEEP);
}

/* Counts bytes of a record that is too long, and keeps the first. */
static void skip(struct exec_channel *channel, struct str part)
{
	if (channel->skipped < EXEC_CHANNEL_HEAD) {
		struct str kept = str_slice(part, 0, EXEC_CHANNEL_HEAD - (size_t)channel->skipped);

		if (kept.n)
			memcpy(channel->head + channel->skipped, kept.p, kept.n);
	}
	channel->skipped += part.n;
}

static void end_skip(struct exec_channel *channel)
{
	size_t kept = channel->skipped < EXEC_CHANNEL_HEAD ? (size_t)channel->skipped : EXEC_CHANNEL_HEAD;

	channel->state = EXEC_CHANNEL_TEXT;
	channel->events->too_long(channel, str_make(channel->head, kept), channel->skipped);
}

static size_t feed_record(struct exec_channel *channel, struct str bytes)
{
	size_t end = str_find_char(bytes, '\n');
	struct str part = str_slice(bytes, 0, end);

	if (channel->line.n + part.n > channel->line.max) {
		channel->state = EXEC_CHANNEL_SKIP;
		channel->skipped = 0;
		skip(channel, buf_str(&channel->line));
		buf_clear(&channel->line, 0);
		return 0;
	}
	buf_append(&channel->line, part);
	if (end == STR_NONE)
		return bytes.n;
	end_record(channel);
	return end + 1;
}

static size_t feed_skip(struct exec_channel *channel, struct str bytes)
{
	size_t end = str_find_char(bytes, '\n');

	skip(channel, str_slice(bytes, 0, end));
	if (end == STR_NONE)
		return bytes.n;
	end_skip(channel);
	return end + 1;
}

void exec_channel_feed(struct exec_channel *channel, struct str bytes)
{
	static size_t (*const feed[])(struct exec_channel *channel, struct str bytes) = {
		[EXEC_CHANNEL_TEXT] = feed_text,
		[EXEC_CHANNEL_MARK] = feed_mark,
		[EXEC_CHANNEL_RECORD] = feed_record,
		[EXEC_CHANNEL_SKIP] = feed_skip,
	};

	while (bytes.n)
		bytes = str_from(bytes, feed[channel->state](channel, bytes));
}

void exec_channel_end(struct exec_channel *channel)
{
	enum exec_channel_state state = channel->state;

	channel->state = EXEC_CHANNEL_TEXT;
	if (state == EXEC_CHANNEL_MARK)
		give_text(channel, str_make(mark, channel->matched));
	else if (state == EXEC_CHANNEL_RECORD)
		give_text(channel, buf_str(&channel->line));
	else if (state == EXEC_CHANNEL_SKIP)
		end_skip(channel);
	buf_clear(&channel->line, 0);
}

/* However the bytes of stderr are cut into pieces, the same records and the same text come out. */
#include "base/base.h"
#include "exec/channel.h"

enum {
	RECORD_MAX = 64, /* short, so that records that are too long are met */
	STORY_MAX = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct listener {
	struct exec_channel channel;
	struct buf text, records, heads;
	uint64_t too_long;
};

static void took_record(struct exec_channel *channel, struct str json)
{
	struct listener *listener = container_of(channel, struct listener, channel);

	BUG_ON(json.n > RECORD_MAX || str_find_char(json, '\n') != STR_NONE);
	buf_append(&listener->records, json);
	buf_append_char(&listener->records, '\n');
}

static void took_too_long(struct exec_channel *channel, struct str head, uint64_t bytes)
{
	struct listener *listener = container_of(channel, struct listener, channel);

	BUG_ON(bytes <= RECORD_MAX || head.n > bytes || head.n > EXEC_CHANNEL_HEAD);
	buf_append(&listener->heads, head);
	listener->too_long += bytes;
}

static void took_text(struct exec_channel *channel, struct str bytes)
{
	struct listener *listener = container_of(channel, struct listener, channel);

	BUG_ON(bytes.n == 0);
	buf_append(&listener->text, bytes);
}

static const struct exec_channel_events events = { took_record, took_too_long, took_text };

static void listen(struct listener *listener, struct str bytes, size_t step)
{
	*listener = (struct listener){ .text = { .max = STORY_MAX },
				       .records = { .max = STORY_MAX },
				       .heads = { .max = STORY_MAX } };
	exec_channel_init(&listener->channel, RECORD_MAX, &events);
	for (size_t at = 0; at < bytes.n; at += step)
		exec_channel_feed(&listener->channel, str_slice(bytes, at, step));
	exec_channel_end(&listener->channel);
	exec_channel_release(&listener->channel);
}

static void release(struct listener *listener)
{
	buf_release(&listener->text);
	buf_release(&listener->records);
	buf_release(&listener->heads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = str_make((const char *)data, size_min(size, STORY_MAX / 2));
	struct listener whole, pieces;

	listen(&whole, bytes, bytes.n + 1);
	for (size_t step = 1; step < 4; step++) {
		listen(&pieces, bytes, step);
		BUG_ON(!str_eq(buf_str(&whole.text), buf_str(&pieces.text)));
		BUG_ON(!str_eq(buf_str(&whole.records), buf_str(&pieces.records)));
		BUG_ON(!str_eq(buf_str(&whole.heads), buf_str(&pieces.heads)));
		BUG_ON(whole.too_long != pieces.too_long);
		release(&pieces);
	}
	release(&whole);
	return 0;
}

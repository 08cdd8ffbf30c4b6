#include "base/base.h"
#include "io/byte_queue.h"

enum {
	QUEUE_FIRST = 512,
	QUEUE_KEEP = 16 * 1024, /* an empty queue keeps no more than this */
};

void byte_queue_release(struct byte_queue *queue)
{
	free(byte_queue_take_storage(queue));
}

void *byte_queue_take_storage(struct byte_queue *queue)
{
	void *storage = queue->storage;

	*queue = (struct byte_queue){ 0 };
	return storage;
}

static void byte_queue_grow(struct byte_queue *queue, size_t n)
{
	size_t length = byte_queue_length(queue);
	size_t capacity = size_max(size_max(queue->capacity * 2, QUEUE_FIRST), length + n);
	char *storage = xmalloc(capacity);

	if (length)
		memcpy(storage, queue->storage + queue->from, length);
	free(queue->storage);
	*queue = (struct byte_queue){ .storage = storage, .to = length, .capacity = capacity };
}

char *byte_queue_room(struct byte_queue *queue, size_t n, size_t *ret_room)
{
	size_t length = byte_queue_length(queue);

	/* Moving costs no more than what was taken out since the last move. */
	if (queue->capacity - queue->to < n && queue->from >= length && queue->capacity - length >= n &&
	    queue->from > 0) {
		memmove(queue->storage, queue->storage + queue->from, length);
		queue->from = 0;
		queue->to = length;
	}
	if (queue->capacity - queue->to < n)
		byte_queue_grow(queue, n);
	*ret_room = queue->capacity - queue->to;
	return queue->storage + queue->to;
}

void byte_queue_claim(struct byte_queue *queue, size_t n)
{
	BUG_ON(n > queue->capacity - queue->to);
	queue->to += n;
}

void byte_queue_append(struct byte_queue *queue, struct str bytes)
{
	size_t room;
	char *at = byte_queue_room(queue, bytes.n, &room);

	if (bytes.n)
		memcpy(at, bytes.p, bytes.n);
	byte_queue_claim(queue, bytes.n);
}

void byte_queue_drop(struct byte_queue *queue, size_t n)
{
	BUG_ON(n > byte_queue_length(queue));
	queue->from += n;
	if (queue->from < queue->to)
		return;
	queue->from = queue->to = 0;
	if (queue->capacity > QUEUE_KEEP)
		byte_queue_release(queue);
}

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

static void byte_queue_to_front(struct byte_queue *queue)
{
	size_t length = byte_queue_length(queue);

	if (queue->from == 0)
		return;
	memmove(queue->storage, queue->storage + queue->from, length);
	queue->from = 0;
	queue->to = length;
}

/* A large block grows in place or by moving its pages: realloc(3) then copies nothing and touches no new
 * memory. */
static void byte_queue_grow(struct byte_queue *queue, size_t n)
{
	size_t capacity = size_max(queue->capacity * 2, QUEUE_FIRST);

	byte_queue_to_front(queue);
	queue->capacity = size_max(capacity, queue->to + n);
	queue->storage = xrealloc(queue->storage, queue->capacity);
}

char *byte_queue_room(struct byte_queue *queue, size_t n, size_t *ret_room)
{
	size_t length = byte_queue_length(queue);

	/* Moving costs no more than what was taken out since the last move. */
	if (queue->capacity - queue->to < n && queue->from >= length && queue->capacity - length >= n)
		byte_queue_to_front(queue);
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

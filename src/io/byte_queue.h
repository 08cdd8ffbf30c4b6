/*
 * byte_queue.h - bytes that are put in at one end and taken out at the other, as between a pipe and what
 * reads or fills it.
 *
 * Each byte is moved a bounded number of times however the two ends alternate. The storage grows by doubling,
 * and a queue that becomes empty gives back all but a small piece of it. The maximum is the user's affair.
 * Begins zeroed. Not thread-safe.
 */
#ifndef IO_BYTE_QUEUE_H
#define IO_BYTE_QUEUE_H

#include "base/base.h"
#include "base/str.h"

struct byte_queue {
	char *storage;
	size_t from, to, capacity; /* the bytes are storage[from..to) */
};

/* Frees the storage; the queue is empty and may be used again. */
void byte_queue_release(struct byte_queue *queue);

/* The same, but hands the storage to the caller, because somebody still reads in it. May be NULL. */
void *byte_queue_take_storage(struct byte_queue *queue);

static inline size_t byte_queue_length(const struct byte_queue *queue)
{
	return queue->to - queue->from;
}

/* All of it, valid until the next change. */
static inline struct str byte_queue_str(const struct byte_queue *queue)
{
	return str_make(queue->storage ? queue->storage + queue->from : NULL, byte_queue_length(queue));
}

/* Room for at least `n` more bytes behind the last, to be claimed with byte_queue_claim(); *ret_room is how
 * many there are. */
char *byte_queue_room(struct byte_queue *queue, size_t n, size_t *ret_room);
void byte_queue_claim(struct byte_queue *queue, size_t n);

void byte_queue_append(struct byte_queue *queue, struct str bytes);

/* Takes the first `n` bytes out. */
void byte_queue_drop(struct byte_queue *queue, size_t n);

#endif

/*
 * tape.h - building the tree: nodes in the order of the text, one array, each container knowing how many it
 * spans. Private to the room.
 *
 * While a container is open, its node holds its parent's place and its parent's number of elements so far, so
 * that building needs no stack. Decoded strings and the text of numbers are packed into one block, each
 * followed by a NUL.
 */
#ifndef JSON_TAPE_H
#define JSON_TAPE_H

#include "base/base.h"
#include "json/json.h"

struct tape {
	struct json *nodes; /* at the start of the block until they outgrow their share of it */
	void *block;
	uint32_t used, capacity;
	uint32_t open;	/* the node of the innermost container */
	uint32_t count; /* its elements or members so far */
	char *text;	/* where the next string goes */
};

/* Takes room for all strings and numbers of a text of `text_size` bytes, with `slack` bytes behind them, and
 * for as many nodes as such a text typically has. */
void tape_init(struct tape *t, size_t text_size, size_t slack);

/* Twice the capacity for the nodes, outside of the block. Returns where they are now. */
struct json *tape_grow(struct json *nodes, uint32_t capacity, const void *block);

static inline __attribute__((always_inline)) struct json *tape_add(struct tape *t, enum json_type type)
{
	struct json *node;

	if (__builtin_expect(t->used == t->capacity, 0)) {
		t->nodes = tape_grow(t->nodes, t->capacity, t->block);
		t->capacity *= 2;
	}
	node = &t->nodes[t->used++];
	node->tag = type;
	return node;
}

static inline __attribute__((always_inline)) void tape_add_literal(struct tape *t, enum json_type type)
{
	struct json *node = tape_add(t, type);

	node->size = 0;
	node->u.count = 0;
	t->count++;
}

/* The string is already at t->text and ends at `end`. */
static inline __attribute__((always_inline)) void tape_add_string(struct tape *t, char *end)
{
	struct json *node = tape_add(t, JSON_STRING);

	node->size = (uint32_t)(end - t->text);
	node->u.text = t->text;
	*end = '\0';
	t->text = end + 1;
	t->count++;
}

static inline __attribute__((always_inline)) void tape_add_number(struct tape *t, struct str number)
{
	struct json *node = tape_add(t, JSON_NUMBER);

	node->size = (uint32_t)number.n;
	node->u.text = t->text;
	memcpy(t->text, number.p, number.n);
	t->text[number.n] = '\0';
	t->text += number.n + 1;
	t->count++;
}

static inline __attribute__((always_inline)) void tape_open(struct tape *t, enum json_type type)
{
	struct json *node = tape_add(t, type);

	node->size = t->count + 1;
	node->u.count = t->open;
	t->open = (uint32_t)(node - t->nodes);
	t->count = 0;
}

static inline __attribute__((always_inline)) void tape_close(struct tape *t)
{
	struct json *node = &t->nodes[t->open];
	uint32_t parent_count = node->size;

	node->size = t->used - t->open;
	t->open = (uint32_t)node->u.count;
	/* The names of members are counted like values, so that adding a string needs to know nothing. */
	node->u.count = node->tag == JSON_OBJECT ? t->count / 2 : t->count;
	t->count = parent_count;
}

#endif

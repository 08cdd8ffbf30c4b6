/*
 * list.h - intrusive doubly linked lists.
 *
 * A node is embedded in the object that is listed; the list owns nothing. A node that is on no list points to itself, so that
 * removing it twice is harmless; initialise nodes and lists before use.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include "base/base.h"

struct list_node {
	struct list_node *next, *prev;
};

static inline void list_init(struct list_node *node)
{
	node->next = node->prev = node;
}

static inline bool list_empty(const struct list_node *list)
{
	return list->next == list;
}

/* Puts `node`, which is on no list, at the end of `list`. */
static inline void list_append(struct list_node *list, struct list_node *node)
{
	node->prev = list->prev;
	node->next = list;
	list->prev->next = node;
	list->prev = node;
}

/* Takes `node` off its list; harmless when it is on none. */
static inline void list_remove(struct list_node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* The first object of a list that is not empty. */
#define list_first(list, type, member) container_of((list)->next, type, member)

/* Visits each object in order. The current object may be removed or freed by the body; no other may. */
#define list_for_each(item, list, member)                                                                    \
	for (struct list_node *_at = (list)->next, *_after = _at->next;                                      \
	     _at != (list) && ((item) = container_of(_at, __typeof__(*(item)), member), true);               \
	     _at = _after, _after = _at->next)

#endif

/*
 * list.h - intrusive doubly linked lists.
 *
 * A node is embedded in the object that is listed; the list owns nothing. A node that is on no list points to
 * itself, so that removing it twice is harmless; initialise nodes and lists before use.
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

/* Visits each object in order. The current object may be removed or freed by the body; no other may. The
 * hidden variables are named after the line, so that loops nest. */
#define list_for_each(item, list, member)                                                                    \
	for (struct list_node * LIST_VAR_(_at) = (list)->next, *LIST_VAR_(_after) = LIST_VAR_(_at)->next;    \
	     LIST_VAR_(_at) != (list) &&                                                                     \
	     ((item) = container_of(LIST_VAR_(_at), __typeof__(*(item)), member), true);                     \
	     LIST_VAR_(_at) = LIST_VAR_(_after), LIST_VAR_(_after) = LIST_VAR_(_at)->next)
#define LIST_VAR_(name) LIST_PASTE_(name, __LINE__)
#define LIST_PASTE_(a, b) LIST_PASTE2_(a, b)
#define LIST_PASTE2_(a, b) a##b

#endif

#include "base/base.h"
#include "json/tape.h"

/*
 * One block for strings and nodes is one call of malloc(), and lets glibc keep it: two of them together pass
 * the threshold at which it gives the top of the heap back to the system after every message, and fetching
 * those pages again costs more than parsing.
 */

/* One node for every 16 bytes is typical of messages. What a large text, which may be one string, leaves
 * unused is never touched. */
enum { TAPE_BYTES_PER_NODE = 16, TAPE_FIRST_LEAST = 8, TAPE_FIRST_MOST = 1 << 16 };

void tape_init(struct tape *t, size_t text_size, size_t slack)
{
	size_t guess = size_min(size_max(text_size / TAPE_BYTES_PER_NODE, TAPE_FIRST_LEAST), TAPE_FIRST_MOST);

	*t = (struct tape){ .capacity = (uint32_t)guess };
	t->block = t->nodes = xmalloc(guess * sizeof(*t->nodes) + text_size + 1 + slack);
	t->text = (char *)(t->nodes + guess);
}

/* A text of JSON_BYTES_MAX has at most 2^31 nodes, so that neither the capacity nor the number in use
 * overflows. */
struct json *tape_grow(struct json *nodes, uint32_t capacity, const void *block)
{
	size_t size = (size_t)capacity * sizeof(*nodes);
	struct json *grown;

	if (nodes != block)
		return xrealloc(nodes, size * 2);
	grown = xmalloc(size * 2);
	memcpy(grown, nodes, size);
	return grown;
}

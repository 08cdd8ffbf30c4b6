#include "base/base.h"
#include "json/tape.h"

/* One node for every 16 bytes is typical of messages; more come by doubling, so a guess beyond the largest costs little. */
enum { TAPE_BYTES_PER_NODE = 16, TAPE_FIRST_LEAST = 8, TAPE_FIRST_MOST = 1 << 16, TAPE_TRIM_LEAST = 1024 };

void tape_init(struct tape *t, size_t text_size, char *text)
{
	size_t guess = size_min(size_max(text_size / TAPE_BYTES_PER_NODE, TAPE_FIRST_LEAST), TAPE_FIRST_MOST);

	*t = (struct tape){
		.nodes = xmalloc(guess * sizeof(*t->nodes)),
		.capacity = (uint32_t)guess,
		.text = text,
	};
}

void tape_trim(struct tape *t)
{
	if (t->capacity > TAPE_TRIM_LEAST && t->used < t->capacity / 2)
		t->nodes = xrealloc(t->nodes, t->used * sizeof(*t->nodes));
}

/* No text of JSON_BYTES_MAX has more than 2^31 + 1 nodes, so the capacity does not overflow. */
struct json *tape_grow(struct json *nodes, uint32_t *capacity)
{
	*capacity = *capacity < UINT32_MAX / 2 ? *capacity * 2 : UINT32_MAX;
	return xrealloc(nodes, *capacity * sizeof(*nodes));
}

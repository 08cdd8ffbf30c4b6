#include "base/base.h"
#include "mcp/jsonrpc.h"

#include "base/fuzz_expand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was cut out of a text must lie within the text, and be JSON again. A text that holds half of a
 * surrogate pair is read from a copy. */
static void check_part(struct str part, struct str whole)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str mended;

	if (!part.n)
		return;
	arena_init(&arena, 0);
	BUG_ON((part.p < whole.p || part.p + part.n > whole.p + whole.n) &&
	       !json_mend_surrogates(whole, &arena, &mended));
	BUG_ON(json_check(part, NULL, NULL) != 0);
}

static void check_message(struct str text, struct arena *arena)
{
	struct jsonrpc_message message;
	struct jsonrpc_fault fault;

	if (jsonrpc_read(text, NULL, arena, &message, &fault) < 0) {
		check_part(fault.id, text);
		BUG_ON(fault.err.message[0] == '\0');
		return;
	}
	check_part(message.id, text);
	check_part(message.params, text);
	check_part(message.result, text);
	check_part(message.error_data, text);
	BUG_ON(message.id.n && !jsonrpc_id_equal(message.id, message.id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const struct str *items;
	_cleanup_buf_ struct buf expanded = { 0 };
	struct str text = fuzz_expand(&expanded, str_make((const char *)data, size)), item;
	struct jsonrpc_elements elements;
	struct jsonrpc_members members;
	size_t count;

	arena_init(&arena, 0);
	check_message(text, &arena);
	if (jsonrpc_split(text, NULL, &arena, 64, &items, &count, NULL) == 0)
		for (size_t i = 0; i < count; i++) {
			check_part(items[i], text);
			BUG_ON(!items[i].n);
			check_message(items[i], &arena);
		}
	if (jsonrpc_elements(text, NULL, &elements, NULL) == 0)
		while (jsonrpc_element(&elements, &item))
			BUG_ON(!item.n || item.p < text.p || item.p + item.n > text.p + text.n);
	if (jsonrpc_members(text, &arena, &members, NULL) == 0)
		for (size_t i = 0; i < members.count; i++)
			check_part(members.at[i].raw, text);
	check_part(jsonrpc_peek_id(text), text);
	jsonrpc_decode_str(text, &arena);
	return 0;
}

/* Nothing is read outside the bytes; every guess is a valid type; identifiers of any name are identifiers. */
#include "base/base.h"
#include "text/identifier.h"
#include "text/mime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_identifier(struct str name, enum identifier_use use)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str identifier;

	arena_init(&arena, 0);
	identifier = identifier_of(&arena, name, use);
	BUG_ON(!identifier_well_formed(identifier) || identifier_reserved(identifier, use));
	BUG_ON(identifier_of(&arena, identifier, use).p != identifier.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_make((const char *)data, size);
	struct str essence = mime_essence(input), by_content = mime_by_content(input);

	BUG_ON(!mime_valid(mime_guess(input, input)));
	BUG_ON(by_content.n && mime_extension(by_content).n == 0);
	BUG_ON(mime_valid(input) && !mime_valid(essence));
	BUG_ON(mime_is_text(input) != mime_is_text(essence));
	check_identifier(input, IDENTIFIER_NAMESPACE);
	check_identifier(input, IDENTIFIER_TOOL);
	return 0;
}

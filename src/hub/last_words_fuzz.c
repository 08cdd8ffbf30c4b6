/* Any bytes as what a program wrote to stderr: what is shown of it is text, on lines, without anything that a
 * terminal obeys. */
#include "base/base.h"
#include "hub/last_words.h"
#include "text/plain.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str text)
{
	BUG_ON(!utf8_valid(text));
	for (size_t i = 0; i < text.n; i++)
		BUG_ON((unsigned char)text.p[i] < ' ' && text.p[i] != '\n' && text.p[i] != '\t');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str words = str_make((const char *)data, size);
	_cleanup_arena_ struct arena arena = { 0 };

	arena_init(&arena, 0);
	check(plain_text(words, &arena));
	check(last_words_quote(words, &arena));
	return 0;
}

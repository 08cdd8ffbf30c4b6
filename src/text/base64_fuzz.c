/* What is accepted is spelled as it would be written, and fits exactly the room it needs; what is refused has
 * a place. The same bytes are also encoded and read back. */
#include "base/base.h"
#include "text/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_decoding(struct str text)
{
	_cleanup_buf_ struct buf bytes = { 0 }, exact = { 0 }, again = { 0 };
	struct err err = { 0 };

	buf_init(&bytes, base64_decoded_bound(text.n));
	if (base64_decode(&bytes, text, &err) < 0) {
		BUG_ON(err.code != ERR_INVALID || err.offset > text.n || strchr(err.message, '\n'));
		return;
	}
	buf_init(&exact, bytes.n);
	buf_init(&again, text.n);
	BUG_ON(base64_decode(&exact, text, NULL) < 0 || !str_eq(buf_str(&exact), buf_str(&bytes)));
	BUG_ON(base64_encode(&again, buf_str(&bytes)) < 0 || !str_eq(buf_str(&again), text));
}

static void check_encoding(struct str bytes)
{
	_cleanup_buf_ struct buf text = { 0 }, back = { 0 };

	buf_init(&text, base64_encoded_size(bytes.n));
	buf_init(&back, bytes.n);
	BUG_ON(base64_encode(&text, bytes) < 0);
	BUG_ON(base64_decode(&back, buf_str(&text), NULL) < 0 || !str_eq(buf_str(&back), bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_make((const char *)data, size);

	check_decoding(input);
	check_encoding(input);
	return 0;
}

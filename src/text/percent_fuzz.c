/* What is encoded reads back; what is accepted reads the same when encoded anew; in place is like
 * elsewhere. */
#include "base/base.h"
#include "text/percent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_encoding(struct str bytes)
{
	_cleanup_buf_ struct buf text = { 0 }, back = { 0 };

	buf_init(&text, 3 * bytes.n);
	buf_init(&back, 3 * bytes.n);
	BUG_ON(percent_encode(&text, bytes) < 0);
	BUG_ON(percent_decode(&back, buf_str(&text), PERCENT_PLUS_IS_SPACE, NULL) < 0);
	BUG_ON(!str_eq(buf_str(&back), bytes));
}

static void check_decoding(struct str text, unsigned flags)
{
	_cleanup_buf_ struct buf out = { 0 }, place = { 0 };
	struct err err = { 0 };
	size_t n = SIZE_MAX;

	buf_init(&out, text.n);
	buf_init(&place, text.n);
	buf_append(&place, text);
	if (percent_decode(&out, text, flags, &err) < 0) {
		BUG_ON(err.offset >= text.n || text.p[err.offset] != '%' || strchr(err.message, '\n'));
		return;
	}
	BUG_ON(percent_decode_into(place.p, buf_str(&place), flags, &n, NULL) < 0);
	BUG_ON(!str_eq(str_make(place.p, n), buf_str(&out)));
	check_encoding(buf_str(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_make((const char *)data, size);

	check_encoding(input);
	check_decoding(input, 0);
	check_decoding(input, PERCENT_PLUS_IS_SPACE);
	return 0;
}

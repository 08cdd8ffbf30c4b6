/* The first byte is the size of the pieces, the rest the text. Whole and by pieces give the same bytes or the
 * same error, and what is accepted is spelled as it would be written. The same bytes are also encoded and
 * read back. */
#include "base/base.h"
#include "text/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int decode_by(size_t piece, struct str text, struct buf *out, struct err *err)
{
	struct base64_decoder decoder = { 0 };

	for (size_t at = 0; at < text.n; at += piece) {
		int r = base64_decoder_add(&decoder, out, str_slice(text, at, piece), err);

		if (r < 0)
			return r;
	}
	return base64_decoder_end(&decoder, err);
}

static void encode_by(size_t piece, struct str bytes, struct buf *out)
{
	struct base64_encoder encoder = { 0 };

	for (size_t at = 0; at < bytes.n; at += piece)
		BUG_ON(base64_encoder_add(&encoder, out, str_slice(bytes, at, piece)) < 0);
	BUG_ON(base64_encoder_end(&encoder, out) < 0);
}

static void check_decoding(size_t piece, struct str text)
{
	_cleanup_buf_ struct buf whole = { 0 }, pieces = { 0 }, again = { 0 };
	struct err err = { 0 }, piece_err = { 0 };
	int r;

	buf_init(&whole, text.n);
	buf_init(&pieces, text.n);
	buf_init(&again, text.n);
	r = base64_decode(&whole, text, &err);
	BUG_ON(decode_by(piece, text, &pieces, &piece_err) != r);
	if (r < 0) {
		BUG_ON(strcmp(err.message, piece_err.message) != 0 || err.offset != piece_err.offset);
		BUG_ON(err.offset > text.n || strchr(err.message, '\n'));
		return;
	}
	BUG_ON(!str_eq(buf_str(&whole), buf_str(&pieces)));
	BUG_ON(base64_encode(&again, buf_str(&whole)) < 0 || !str_eq(buf_str(&again), text));
}

static void check_encoding(size_t piece, struct str bytes)
{
	_cleanup_buf_ struct buf whole = { 0 }, pieces = { 0 }, back = { 0 };

	buf_init(&whole, base64_encoded_size(bytes.n));
	buf_init(&pieces, whole.max);
	buf_init(&back, whole.max);
	BUG_ON(base64_encode(&whole, bytes) < 0);
	encode_by(piece, bytes, &pieces);
	BUG_ON(!str_eq(buf_str(&whole), buf_str(&pieces)));
	BUG_ON(base64_decode(&back, buf_str(&whole), NULL) < 0 || !str_eq(buf_str(&back), bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_make((const char *)data, size);
	size_t piece = size ? data[0] % 16 + 1 : 1;

	input = str_from(input, 1);
	check_decoding(piece, input);
	check_encoding(piece, input);
	return 0;
}

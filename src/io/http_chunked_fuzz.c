/* Cut anywhere, a body decodes to the same bytes with the same outcome; and it reads back when it is encoded
 * anew. The first byte says how the rest is cut. */
#include "base/base.h"
#include "io/http_chunked.h"

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	enum http_chunk result;
	size_t left;
	const char *problem;
};

static struct outcome decode(struct str input, size_t step, struct buf *body)
{
	struct http_chunked chunked = { 0 };
	struct outcome outcome = { .result = HTTP_CHUNK_MORE };

	while (outcome.result == HTTP_CHUNK_MORE && input.n) {
		struct str piece = str_slice(input, 0, step), part = { NULL, 0 };
		size_t offered = piece.n;

		while ((outcome.result = http_chunked_next(&chunked, &piece, &part)) == HTTP_CHUNK_DATA) {
			BUG_ON(part.n == 0);
			BUG_ON(buf_append(body, part) < 0);
		}
		input = str_from(input, offered - piece.n);
	}
	outcome.left = input.n;
	outcome.problem = http_chunked_problem(&chunked);
	return outcome;
}

static void check_again(struct str body)
{
	_cleanup_buf_ struct buf encoded = { 0 }, again = { 0 };
	size_t bounded = body.n + 64;

	buf_init(&encoded, bounded);
	buf_init(&again, bounded);
	if (body.n) {
		buf_printf(&encoded, "%zX\r\n", body.n);
		buf_append(&encoded, body);
		buf_append(&encoded, STR("\r\n"));
	}
	buf_append(&encoded, STR("0\r\n\r\n"));
	BUG_ON(decode(buf_str(&encoded), SIZE_MAX, &again).result != HTTP_CHUNK_END);
	BUG_ON(!str_eq(buf_str(&again), body));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_from(str_make((const char *)data, size), 1);
	_cleanup_buf_ struct buf whole = { 0 }, cut = { 0 };
	struct outcome a, b;

	buf_init(&whole, size);
	buf_init(&cut, size);
	a = decode(input, SIZE_MAX, &whole);
	b = decode(input, size ? 1 + data[0] % 16u : 1, &cut);
	BUG_ON(a.result != b.result || a.left != b.left || strcmp(a.problem, b.problem));
	BUG_ON(!str_eq(buf_str(&whole), buf_str(&cut)));
	BUG_ON(whole.n > input.n);
	if (a.result == HTTP_CHUNK_END)
		check_again(buf_str(&whole));
	return 0;
}

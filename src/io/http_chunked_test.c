#include "base/base.h"
#include "io/http_chunked.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { BODY_MAX = 1 << 16 };

struct decoded {
	enum http_chunk result;
	struct buf body;
	size_t left; /* input that was not used */
	const char *problem;
};

/* Decodes in pieces of `step` bytes. */
static struct decoded decode(struct str input, size_t step)
{
	struct decoded decoded = { .result = HTTP_CHUNK_MORE };
	struct http_chunked chunked = { 0 };

	buf_init(&decoded.body, BODY_MAX);
	while (decoded.result == HTTP_CHUNK_MORE && input.n) {
		struct str piece = str_slice(input, 0, step), part;
		size_t offered = piece.n;

		while ((decoded.result = http_chunked_next(&chunked, &piece, &part)) == HTTP_CHUNK_DATA) {
			assert_true(part.n > 0);
			buf_append(&decoded.body, part);
		}
		input = str_from(input, offered - piece.n);
	}
	decoded.left = input.n;
	decoded.problem = http_chunked_problem(&chunked);
	return decoded;
}

static void assert_decoded(struct str input, const char *body, const char *behind)
{
	for (size_t step = 1; step <= input.n; step++) {
		struct decoded decoded = decode(input, step);

		assert_int_equal(decoded.result, HTTP_CHUNK_END);
		assert_string_equal(buf_cstr(&decoded.body), body);
		assert_int_equal(decoded.left, strlen(behind));
		buf_release(&decoded.body);
	}
}

static void assert_bad(struct str input, const char *problem)
{
	for (size_t step = 1; step <= size_min(input.n, 16); step++) {
		struct decoded decoded = decode(input, step);

		assert_int_equal(decoded.result, HTTP_CHUNK_BAD);
		assert_string_equal(decoded.problem, problem);
		buf_release(&decoded.body);
	}
}

static void test_good(void **state)
{
	(void)state;
	assert_decoded(STR("0\r\n\r\n"), "", "");
	assert_decoded(STR("5\r\nhello\r\n0\r\n\r\n"), "hello", "");
	assert_decoded(STR("5\r\nhello\r\n00006\r\n world\r\n000\r\n\r\nGET"), "hello world", "GET");
	assert_decoded(STR("A;a=b;c=\"d\"\r\n0123456789\r\n0;x\r\n\r\n"), "0123456789", "");
	assert_decoded(STR("1\r\n\r\r\n0\r\nTrailer: a\r\nX:\r\n\r\n"), "\r", "");
}

static void test_bad(void **state)
{
	(void)state;
	assert_bad(STR("\r\n"), "A chunk's size is missing.");
	assert_bad(STR(";a\r\n"), "A chunk's size is missing.");
	assert_bad(STR(" 5\r\nhello"), "A chunk's size is missing.");
	assert_bad(STR("-5\r\nhello"), "A chunk's size is missing.");
	assert_bad(STR("5 \r\nhello"), "A chunk's size is not hexadecimal.");
	assert_bad(STR("0x5\r\nhello"), "A chunk's size is not hexadecimal.");
	assert_bad(STR("5\nhello"), "A chunk's size is not hexadecimal.");
	assert_bad(STR("5\rhello"), "A chunk's framing does not have CR LF where it must.");
	assert_bad(STR("5\r\nhello!\r\n"), "A chunk's framing does not have CR LF where it must.");
	assert_bad(STR("5\r\nhello\n0\r\n"), "A chunk's framing does not have CR LF where it must.");
	assert_bad(STR("5\r\nhello\rx"), "A chunk's framing does not have CR LF where it must.");
	assert_bad(STR("00000000000000005\r\n"), "A chunk's size has too many digits.");
	assert_bad(STR("8000000000000000\r\n"), "A chunk's size is out of range.");
	assert_bad(STR("ffffffffffffffff\r\n"), "A chunk's size is out of range.");
	assert_bad(STR("5;a\nb\r\n"), "A chunk's extension holds a control character.");
	assert_bad(STR("0\r\n folded\r\n\r\n"), "A trailer is not \"name: value\" on one line.");
	assert_bad(STR("0\r\nname\r\n\r\n"), "A trailer is not \"name: value\" on one line.");
	assert_bad(STR("0\r\nname : a\r\n\r\n"), "A trailer is not \"name: value\" on one line.");
	assert_bad(STR("0\r\n: a\r\n\r\n"), "A trailer is not \"name: value\" on one line.");
	assert_bad(STR("0\r\nname: a\0b\r\n\r\n"), "A trailer holds a control character.");
	assert_bad(STR("0\r\nname: a\n\r\n"), "A trailer holds a control character.");
	assert_bad(STR("0\r\nname: a\r\r\n"), "A chunk's framing does not have CR LF where it must.");
	assert_bad(STR("0\r\n\rX"), "A chunk's framing does not have CR LF where it must.");
}

static void test_is_bounded(void **state)
{
	_cleanup_buf_ struct buf input = { 0 };

	(void)state;
	buf_init(&input, BODY_MAX);
	/* The bounds are over the whole body: many small extensions count, too. */
	for (int i = 0; i < HTTP_CHUNK_EXTENSIONS_MAX / 4 + 1; i++)
		buf_append(&input, STR("1;abcd\r\nx\r\n"));
	assert_bad(buf_str(&input), "There are too many chunk extensions.");
	buf_clear(&input, SIZE_MAX);
	buf_append(&input, STR("0\r\n"));
	for (int i = 0; i < HTTP_TRAILERS_MAX / 4 + 1; i++)
		buf_append(&input, STR("X: y\r\n"));
	assert_bad(buf_str(&input), "The trailers are too long.");
	buf_clear(&input, SIZE_MAX);
	buf_append(&input, STR("0\r\n"));
	for (int i = 0; i < HTTP_TRAILERS_MAX + 1; i++)
		buf_append(&input, STR("X"));
	assert_bad(buf_str(&input), "The trailers are too long.");
}

/* A body that is refused stays refused, and one that is complete takes nothing more. */
static void test_after_the_end(void **state)
{
	struct http_chunked chunked = { 0 };
	struct str input = STR("x0\r\n\r\n"), part;

	(void)state;
	assert_int_equal(http_chunked_next(&chunked, &input, &part), HTTP_CHUNK_BAD);
	assert_int_equal(http_chunked_next(&chunked, &input, &part), HTTP_CHUNK_BAD);
	assert_int_equal(input.n, 5);
	chunked = (struct http_chunked){ 0 };
	assert_int_equal(http_chunked_next(&chunked, &input, &part), HTTP_CHUNK_END);
	input = STR("5\r\n");
	assert_int_equal(http_chunked_next(&chunked, &input, &part), HTTP_CHUNK_END);
	assert_int_equal(input.n, 3);
	assert_string_equal(http_chunked_problem(&chunked), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

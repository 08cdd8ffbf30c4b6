#include "base/base.h"
#include "io/http_chunked.h"

#include "base/character.h"
#include "io/http_syntax.h"

/* One byte at a time through the framing, whole spans through the data. */

enum {
	SIZE_MAX_DIGITS = 16 /* of a 64-bit number */
};

enum chunk_state {
	AT_SIZE, /* the beginning: a zeroed struct */
	AT_EXTENSION,
	AT_SIZE_LF,
	AT_DATA,
	AT_DATA_CR,
	AT_DATA_LF,
	AT_TRAILER_NAME, /* at the first byte of a trailer line or of the empty one */
	AT_TRAILER,
	AT_TRAILER_LF,
	AT_LAST_LF,
	AT_END,
	AT_FAULT
};

static unsigned fault(struct http_chunked *chunked, const char *problem)
{
	chunked->problem = problem;
	return AT_FAULT;
}

static unsigned expect(struct http_chunked *chunked, char c, char expected, unsigned next)
{
	return c == expected ? next : fault(chunked, "A chunk's framing does not have CR LF where it must.");
}

static unsigned at_size(struct http_chunked *chunked, char c)
{
	int digit = hex_value(c);

	if (digit >= 0) {
		if (chunked->digits++ == SIZE_MAX_DIGITS)
			return fault(chunked, "A chunk's size has too many digits.");
		chunked->left = chunked->left << 4 | (unsigned)digit;
		return AT_SIZE;
	}
	if (chunked->digits == 0)
		return fault(chunked, "A chunk's size is missing.");
	if (chunked->left > INT64_MAX)
		return fault(chunked, "A chunk's size is out of range.");
	if (c == ';')
		return AT_EXTENSION;
	return c == '\r' ? AT_SIZE_LF : fault(chunked, "A chunk's size is not hexadecimal.");
}

static bool is_text(char c)
{
	return http_is_field_value(str_make(&c, 1));
}

static unsigned at_extension(struct http_chunked *chunked, char c)
{
	if (c == '\r')
		return AT_SIZE_LF;
	if (!is_text(c))
		return fault(chunked, "A chunk's extension holds a control character.");
	if (++chunked->extension_bytes > HTTP_CHUNK_EXTENSIONS_MAX)
		return fault(chunked, "There are too many chunk extensions.");
	return AT_EXTENSION;
}

static unsigned after_size(struct http_chunked *chunked)
{
	chunked->digits = 0;
	return chunked->left ? AT_DATA : AT_TRAILER_NAME;
}

/* `digits` counts the bytes of the trailer's name here. */
static unsigned at_trailer_name(struct http_chunked *chunked, char c)
{
	if (c == '\r' && chunked->digits == 0)
		return AT_LAST_LF;
	if (++chunked->trailer_bytes > HTTP_TRAILERS_MAX)
		return fault(chunked, "The trailers are too long.");
	if (c == ':' && chunked->digits > 0) {
		chunked->digits = 0;
		return AT_TRAILER;
	}
	if (!http_is_token(str_make(&c, 1)))
		return fault(chunked, "A trailer is not \"name: value\" on one line.");
	chunked->digits = 1;
	return AT_TRAILER_NAME;
}

static unsigned at_trailer(struct http_chunked *chunked, char c)
{
	if (c == '\r')
		return AT_TRAILER_LF;
	if (!is_text(c))
		return fault(chunked, "A trailer holds a control character.");
	if (++chunked->trailer_bytes > HTTP_TRAILERS_MAX)
		return fault(chunked, "The trailers are too long.");
	return AT_TRAILER;
}

static unsigned next_state(struct http_chunked *chunked, char c)
{
	switch (chunked->state) {
	case AT_SIZE:
		return at_size(chunked, c);
	case AT_EXTENSION:
		return at_extension(chunked, c);
	case AT_SIZE_LF:
		return expect(chunked, c, '\n', after_size(chunked));
	case AT_DATA_CR:
		return expect(chunked, c, '\r', AT_DATA_LF);
	case AT_DATA_LF:
		return expect(chunked, c, '\n', AT_SIZE);
	case AT_TRAILER_NAME:
		return at_trailer_name(chunked, c);
	case AT_TRAILER:
		return at_trailer(chunked, c);
	case AT_TRAILER_LF:
		return expect(chunked, c, '\n', AT_TRAILER_NAME);
	case AT_LAST_LF:
		return expect(chunked, c, '\n', AT_END);
	}
	return AT_FAULT;
}

static void take_data(struct http_chunked *chunked, struct str *input, struct str *ret_data)
{
	*ret_data = str_slice(*input, 0, chunked->left);
	*input = str_from(*input, ret_data->n);
	chunked->left -= ret_data->n;
	if (chunked->left == 0)
		chunked->state = AT_DATA_CR;
}

enum http_chunk http_chunked_next(struct http_chunked *chunked, struct str *input, struct str *ret_data)
{
	while (chunked->state != AT_END && chunked->state != AT_FAULT) {
		if (input->n == 0)
			return HTTP_CHUNK_MORE;
		if (chunked->state == AT_DATA) {
			take_data(chunked, input, ret_data);
			return HTTP_CHUNK_DATA;
		}
		chunked->state = next_state(chunked, input->p[0]);
		*input = str_from(*input, 1);
	}
	return chunked->state == AT_END ? HTTP_CHUNK_END : HTTP_CHUNK_BAD;
}

const char *http_chunked_problem(const struct http_chunked *chunked)
{
	return chunked->problem ? chunked->problem : "";
}

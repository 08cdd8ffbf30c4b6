/* Cut anywhere, a head has the same outcome; and what is accepted is what the parser's table promises. The
 * first byte says how the rest is cut. */
#include "base/base.h"
#include "io/http_parser.h"

#include "base/arena.h"
#include "io/http_origin.h"
#include "io/http_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct http_parser_limits limits = { .header_bytes = 512,
						  .target_bytes = 64,
						  .header_fields = 8 };

/* Feeds pieces of `step` bytes, as a buffer that moves when it grows. */
static enum http_parse feed(struct http_parser *parser, struct str input, size_t step)
{
	enum http_parse result = HTTP_PARSE_MORE;
	size_t upto = 0;

	do {
		char *copy;

		upto = size_min(input.n, upto + step);
		copy = xmalloc(upto + 1);
		if (upto)
			memcpy(copy, input.p, upto);
		result = http_parser_feed(parser, str_make(copy, upto));
		free(copy);
	} while (result == HTTP_PARSE_MORE && upto < input.n);
	return result;
}

static void check_fields(const struct http_parser *parser, struct str input, const struct http_head *head)
{
	struct http_authority authority;
	unsigned hosts = 0, lengths = 0, codings = 0;

	BUG_ON(head->field_count > limits.header_fields);
	for (size_t i = 0; i < head->field_count; i++) {
		struct http_field field = http_parser_field(parser, input, i);

		BUG_ON(!http_is_token(field.name) || !http_is_field_value(field.value));
		BUG_ON(!str_eq(field.value, str_trim(field.value)));
		if (str_eq_ignoring_case(field.name, STR("host"))) {
			hosts++;
			BUG_ON(http_authority_parse(field.value, &authority) < 0);
		}
		lengths += str_eq_ignoring_case(field.name, STR("content-length"));
		codings += str_eq_ignoring_case(field.name, STR("transfer-encoding"));
	}
	BUG_ON(hosts != 1 || lengths + codings > 1);
	BUG_ON(head->has_length != (lengths == 1) || head->chunked != (codings == 1));
}

static void check_target(struct str target)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str path, query;

	arena_init(&arena, 0);
	http_target_split(target, &arena, &path, &query);
	if (str_eq(target, STR("*")))
		return;
	BUG_ON(!str_starts_with(path, STR("/")) || memchr(path.p, '\0', path.n));
	BUG_ON(str_find(path, STR("/../")) != STR_NONE || str_find(path, STR("/./")) != STR_NONE ||
	       str_find(path, STR("//")) != STR_NONE || str_ends_with(path, STR("/..")) ||
	       str_ends_with(path, STR("/.")));
	http_query_get(query, STR("q"), &arena);
}

static void check_accepted(const struct http_parser *parser, struct str input)
{
	struct http_head head = http_parser_head(parser, input);

	BUG_ON(head.bytes > input.n || head.bytes > limits.header_bytes);
	BUG_ON(!str_ends_with(str_slice(input, 0, head.bytes), STR("\r\n\r\n")));
	BUG_ON(!http_is_token(head.method) || head.method.n > HTTP_METHOD_MAX);
	BUG_ON(head.target.n > limits.target_bytes);
	BUG_ON(head.chunked && head.minor == 0);
	check_fields(parser, input, &head);
	check_target(head.target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_from(str_make((const char *)data, size), 1);
	struct http_parser *whole = http_parser_new(&limits), *cut = http_parser_new(&limits);
	enum http_parse result;

	if (size == 0)
		input = str_make("", 0);
	result = http_parser_feed(whole, input);
	BUG_ON(feed(cut, input, size ? 1 + data[0] % 16u : 1) != result);
	if (result == HTTP_PARSE_REFUSED) {
		BUG_ON(http_parser_status(whole) < 400 ||
		       http_parser_status(whole) != http_parser_status(cut));
		BUG_ON(strcmp(http_parser_problem(whole), http_parser_problem(cut)));
	}
	if (result == HTTP_PARSE_DONE)
		check_accepted(whole, input);
	http_parser_free(&whole);
	http_parser_free(&cut);
	return 0;
}

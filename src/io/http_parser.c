#include "base/base.h"
#include "io/http_parser.h"

#include "base/character.h"
#include "io/http_origin.h"
#include "io/http_target.h"

/* The head is taken line by line: http_next_line() finds a line and rejects control characters, then one
 * function per kind of line judges it. What is kept are offsets, because the caller's buffer may move while
 * the head arrives. */

struct span {
	uint32_t at, n;
};

struct field_span {
	struct span name, value;
};

struct http_parser {
	struct http_parser_limits limits;
	struct http_lines lines;
	unsigned status; /* of a refusal, 0 before */
	const char *problem;
	bool skipped_empty_line;
	bool has_request_line;
	bool is_head;
	struct span method, target;
	unsigned minor;
	bool has_host, has_length, has_coding, is_chunked, expects_continue;
	bool says_close, says_keep_alive;
	uint64_t length;
	size_t field_count;
	struct field_span fields[];
};

struct http_parser *http_parser_new(const struct http_parser_limits *limits)
{
	struct http_parser *parser =
		xcalloc(1, sizeof(*parser) + limits->header_fields * sizeof(parser->fields[0]));

	BUG_ON(limits->header_bytes > UINT32_MAX);
	parser->limits = *limits;
	return parser;
}

void http_parser_free(struct http_parser **parser)
{
	free(*parser);
	*parser = NULL;
}

void http_parser_reset(struct http_parser *parser)
{
	struct http_parser_limits limits = parser->limits;

	*parser = (struct http_parser){ .limits = limits };
}

static enum http_parse refuse(struct http_parser *parser, unsigned status, const char *problem)
{
	parser->status = status;
	parser->problem = problem;
	return HTTP_PARSE_REFUSED;
}

static struct span span_of(struct str part, struct str bytes)
{
	return (struct span){ part.n ? (uint32_t)(part.p - bytes.p) : 0, (uint32_t)part.n };
}

static struct str span_text(struct span span, struct str bytes)
{
	return str_make(bytes.p + span.at, span.n);
}

/* -- the request line ------------------------------------------------------------------------------------ */

static enum http_parse take_version(struct http_parser *parser, struct str version)
{
	if (version.n != 8 || !str_starts_with(version, STR("HTTP/")) || !is_digit(version.p[5]) ||
	    version.p[6] != '.' || !is_digit(version.p[7]))
		return refuse(parser, 400, "The request line does not end in an HTTP version.");
	if (version.p[5] != '1' || version.p[7] > '1')
		return refuse(parser, 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
	parser->minor = (unsigned)(version.p[7] - '0');
	return HTTP_PARSE_MORE;
}

static enum http_parse take_method(struct http_parser *parser, struct str method)
{
	if (!http_is_token(method))
		return refuse(parser, 400, "The method is not a token.");
	if (method.n > HTTP_METHOD_MAX)
		return refuse(parser, 501, "The method's name is too long to be one.");
	return HTTP_PARSE_MORE;
}

static enum http_parse take_target(struct http_parser *parser, struct str method, struct str target)
{
	const char *problem;

	if (target.n > parser->limits.target_bytes)
		return refuse(parser, 414, "The target is longer than this server accepts.");
	if (str_eq(target, STR("*"))) {
		if (str_eq(method, STR("OPTIONS")))
			return HTTP_PARSE_MORE;
		return refuse(parser, 400, "The target \"*\" is for OPTIONS only.");
	}
	if (target.n == 0 || target.p[0] != '/')
		return refuse(parser, 400, "The target does not begin with a slash.");
	problem = http_target_check(target);
	return problem ? refuse(parser, 400, problem) : HTTP_PARSE_MORE;
}

static enum http_parse take_request_line(struct http_parser *parser, struct str line, struct str bytes)
{
	struct str rest = line, method, target, version;

	if (!str_split(&rest, ' ', &method) || !str_split(&rest, ' ', &target) ||
	    !str_split(&rest, ' ', &version) || str_split(&rest, ' ', &rest))
		return refuse(parser, 400, "The request line is not METHOD, target and version.");
	parser->is_head = str_eq(method, STR("HEAD"));
	if (take_method(parser, method) == HTTP_PARSE_REFUSED ||
	    take_version(parser, version) == HTTP_PARSE_REFUSED ||
	    take_target(parser, method, target) == HTTP_PARSE_REFUSED)
		return HTTP_PARSE_REFUSED;
	parser->method = span_of(method, bytes);
	parser->target = span_of(target, bytes);
	parser->has_request_line = true;
	return HTTP_PARSE_MORE;
}

/* -- fields ---------------------------------------------------------------------------------------------- */

static enum http_parse take_host(struct http_parser *parser, struct str value)
{
	struct http_authority authority;

	if (parser->has_host)
		return refuse(parser, 400, "There is more than one Host field.");
	if (http_authority_parse(value, &authority) < 0)
		return refuse(parser, 400, "The Host field is not a host and an optional port.");
	parser->has_host = true;
	return HTTP_PARSE_MORE;
}

static enum http_parse take_length(struct http_parser *parser, struct str value)
{
	if (parser->has_length)
		return refuse(parser, 400, "There is more than one Content-Length field.");
	if (str_to_u64(value, &parser->length) < 0 || parser->length > INT64_MAX)
		return refuse(parser, 400, "The Content-Length field is not a number of bytes.");
	parser->has_length = true;
	return HTTP_PARSE_MORE;
}

static enum http_parse take_coding(struct http_parser *parser, struct str value)
{
	if (parser->has_coding)
		return refuse(parser, 400, "There is more than one Transfer-Encoding field.");
	parser->has_coding = true;
	parser->is_chunked = str_eq_ignoring_case(value, STR("chunked"));
	return HTTP_PARSE_MORE;
}

static enum http_parse take_expect(struct http_parser *parser, struct str value)
{
	if (!str_eq_ignoring_case(value, STR("100-continue")))
		return refuse(parser, 417, "The only expectation that can be met is 100-continue.");
	parser->expects_continue = true;
	return HTTP_PARSE_MORE;
}

/* What was packed is not what a handler would read or keep. */
static enum http_parse take_content_coding(struct http_parser *parser, struct str value)
{
	if (value.n && !str_eq_ignoring_case(value, STR("identity")))
		return refuse(parser, 415, "A body is taken without a Content-Encoding only.");
	return HTTP_PARSE_MORE;
}

static enum http_parse take_connection(struct http_parser *parser, struct str value)
{
	parser->says_close |= http_list_has(value, STR("close"));
	parser->says_keep_alive |= http_list_has(value, STR("keep-alive"));
	return HTTP_PARSE_MORE;
}

/* The fields that decide where a request ends, what its body is, and whom it is for. */
static const struct {
	struct str name;
	enum http_parse (*take)(struct http_parser *parser, struct str value);
} known_fields[] = {
	{ STR_INIT("host"), take_host },
	{ STR_INIT("content-length"), take_length },
	{ STR_INIT("transfer-encoding"), take_coding },
	{ STR_INIT("connection"), take_connection },
	{ STR_INIT("expect"), take_expect },
	{ STR_INIT("content-encoding"), take_content_coding },
};

static enum http_parse take_field(struct http_parser *parser, struct str line, struct str bytes)
{
	struct http_field field;

	if (http_parse_field(line, &field))
		return refuse(parser, 400, "A header field is not \"name: value\" on one line.");
	if (parser->field_count == parser->limits.header_fields)
		return refuse(parser, 431, "There are more header fields than this server accepts.");
	parser->fields[parser->field_count++] =
		(struct field_span){ span_of(field.name, bytes), span_of(field.value, bytes) };
	for (size_t i = 0; i < ARRAY_LEN(known_fields); i++)
		if (str_eq_ignoring_case(field.name, known_fields[i].name))
			return known_fields[i].take(parser, field.value);
	return HTTP_PARSE_MORE;
}

/* -- the head as a whole --------------------------------------------------------------------------------- */

static enum http_parse finish(struct http_parser *parser)
{
	if (!parser->has_host)
		return refuse(parser, 400, "There is no Host field.");
	if (parser->has_coding && parser->has_length)
		return refuse(parser, 400, "Content-Length and Transfer-Encoding exclude each other.");
	if (parser->has_coding && (!parser->is_chunked || parser->minor == 0))
		return refuse(parser, 501, "The only transfer coding is chunked, in HTTP/1.1.");
	return HTTP_PARSE_DONE;
}

static enum http_parse take_line(struct http_parser *parser, struct str line, struct str bytes)
{
	if (parser->has_request_line)
		return line.n ? take_field(parser, line, bytes) : finish(parser);
	if (line.n)
		return take_request_line(parser, line, bytes);
	if (parser->skipped_empty_line)
		return refuse(parser, 400, "There are empty lines where a request should begin.");
	parser->skipped_empty_line = true;
	return HTTP_PARSE_MORE;
}

/* The head did not end within its limit. It is the target's fault when that alone passed its own. */
static enum http_parse refuse_size(struct http_parser *parser, struct str bytes)
{
	struct str line = str_from(bytes, parser->lines.from);
	size_t blank = str_find_char(line, ' ');

	if (!parser->has_request_line && blank != STR_NONE &&
	    line.n - blank - 1 > parser->limits.target_bytes)
		return refuse(parser, 414, "The target is longer than this server accepts.");
	return refuse(parser, 431, "The header is longer than this server accepts.");
}

/* Nothing beyond the limit is ever looked at, so that the outcome does not depend on how the bytes were
 * cut. */
enum http_parse http_parser_feed(struct http_parser *parser, struct str bytes)
{
	struct str within = str_slice(bytes, 0, parser->limits.header_bytes), line;
	enum http_parse result = HTTP_PARSE_MORE;

	while (result == HTTP_PARSE_MORE) {
		switch (http_next_line(&parser->lines, within, &line)) {
		case HTTP_LINE_WHOLE:
			result = take_line(parser, line, bytes);
			break;
		case HTTP_LINE_BAD:
			return refuse(parser, 400,
				      "A line does not end in CR LF, or holds a control character.");
		case HTTP_LINE_MORE:
			return bytes.n > within.n ? refuse_size(parser, within) : HTTP_PARSE_MORE;
		}
	}
	return result;
}

/* RFC 9112 section 9.3. */
static bool keeps_alive(const struct http_parser *parser)
{
	return !parser->says_close && (parser->minor == 1 || parser->says_keep_alive);
}

struct http_head http_parser_head(const struct http_parser *parser, struct str bytes)
{
	return (struct http_head){
		.method = span_text(parser->method, bytes),
		.target = span_text(parser->target, bytes),
		.minor = parser->minor,
		.keep_alive = keeps_alive(parser),
		.chunked = parser->is_chunked,
		.has_length = parser->has_length,
		.length = parser->length,
		/* RFC 9110 section 10.1.1: a 1.0 peer cannot mean it. */
		.expect_continue = parser->expects_continue && parser->minor == 1,
		.field_count = parser->field_count,
		.bytes = parser->lines.at,
	};
}

struct http_field http_parser_field(const struct http_parser *parser, struct str bytes, size_t index)
{
	BUG_ON(index >= parser->field_count);
	return (struct http_field){ span_text(parser->fields[index].name, bytes),
				    span_text(parser->fields[index].value, bytes) };
}

unsigned http_parser_status(const struct http_parser *parser)
{
	return parser->status;
}

const char *http_parser_problem(const struct http_parser *parser)
{
	return parser->problem;
}

bool http_parser_is_head(const struct http_parser *parser)
{
	return parser->is_head;
}

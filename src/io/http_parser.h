/*
 * http_parser.h - the head of an HTTP/1.1 request: request line and fields, strict on purpose.
 *
 * What two programs could read in two ways is refused, so that nothing can be smuggled past whoever stands in
 * front of us:
 *
 *   bare CR or LF, NUL or another control character                                    400
 *   anything but "METHOD SP /target SP HTTP/d.d"; absolute-form, authority-form        400
 *   a version other than 1.0 and 1.1                                                   505
 *   a field name that is no token, a blank before the colon, obs-fold                  400
 *   no Host, two of them, an empty or malformed one                                    400
 *   Content-Length not all digits, too large, or more than once, even if equal         400
 *   Transfer-Encoding together with Content-Length, or more than once                  400
 *   Transfer-Encoding other than exactly "chunked", or in HTTP/1.0                     501
 *   Expect other than "100-continue"                                                   417
 *   Content-Encoding other than "identity"                                             415
 *   a method longer than HTTP_METHOD_MAX                                               501
 *   a target longer than its limit                                                     414
 *   a head longer than its limit, or with too many fields                              431
 *   a target with a broken or unsafe escape or a dot segment (http_target.h)           400
 *
 * One empty line in front of the request line is skipped (RFC 9112 section 2.2). The parser is pure. It takes
 * bytes as they arrive, cut anywhere, and looks at each once to find its line and once as a part of that
 * line; whole or cut, the outcome is the same.
 */
#ifndef IO_HTTP_PARSER_H
#define IO_HTTP_PARSER_H

#include "base/base.h"
#include "base/str.h"
#include "io/http_syntax.h"

enum { HTTP_METHOD_MAX = 32 };

struct http_parser_limits {
	size_t header_bytes; /* request line and all fields, with their line ends; below 4 GiB */
	size_t target_bytes;
	unsigned header_fields;
};

enum http_parse {
	HTTP_PARSE_MORE,   /* the head is not complete */
	HTTP_PARSE_DONE,   /* it is; http_parser_head() has it */
	HTTP_PARSE_REFUSED /* http_parser_status() and http_parser_problem() say why */
};

struct http_head {
	struct str method; /* as sent */
	struct str target; /* as sent: origin form, or "*" */
	unsigned minor;	   /* of HTTP/1.x */
	bool keep_alive;   /* the peer will send another request on this connection */
	bool chunked;
	bool has_length;
	bool expect_continue;
	uint64_t length; /* Content-Length, when has_length */
	size_t field_count;
	size_t bytes; /* how long the head was: the body begins there */
};

struct http_parser;

/* All memory it will ever need is allocated here: a few hundred bytes and 16 for each field allowed. */
struct http_parser *http_parser_new(const struct http_parser_limits *limits);
void http_parser_free(struct http_parser **parser);

/* Makes it ready for a new head. */
void http_parser_reset(struct http_parser *parser);

/* Goes on parsing. `bytes` are all bytes from the beginning of the head; those that were passed before must
 * not have changed, but may have moved. Bytes beyond the head are not looked at. */
enum http_parse http_parser_feed(struct http_parser *parser, struct str bytes);

/* After HTTP_PARSE_DONE: the head, and each field of it, as views into `bytes`, the same as were fed. */
struct http_head http_parser_head(const struct http_parser *parser, struct str bytes);
struct http_field http_parser_field(const struct http_parser *parser, struct str bytes, size_t index);

/* After HTTP_PARSE_REFUSED: the status to answer with, and a sentence for the person who sent it. */
unsigned http_parser_status(const struct http_parser *parser);
const char *http_parser_problem(const struct http_parser *parser);
/* Whether the method is known to be HEAD, whatever became of the rest: a refusal of it has no body either
 * (RFC 9110 section 9.3.2). */
bool http_parser_is_head(const struct http_parser *parser);

#endif

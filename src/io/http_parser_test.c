#include "base/base.h"
#include "io/http_parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Every request is fed whole, one byte at a time, and in two pieces cut at every place: the outcome must be
 * the same. */

static const struct http_parser_limits limits = { .header_bytes = 400,
						  .target_bytes = 60,
						  .header_fields = 6 };

/* The rule of the header, a request that breaks it, and the answer. */
static const struct refusal {
	const char *rule;
	struct str request;
	unsigned status;
	const char *problem;
} refusals[] = {
	/* Framing. These are the rows of the strictness table. */
	{ "two different lengths",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n"), 400,
	  "There is more than one Content-Length field." },
	{ "two equal lengths",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n"), 400,
	  "There is more than one Content-Length field." },
	{ "a list of lengths", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n"), 400,
	  "The Content-Length field is not a number of bytes." },
	{ "a length with a sign", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n"), 400,
	  "The Content-Length field is not a number of bytes." },
	{ "a negative length", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"), 400,
	  "The Content-Length field is not a number of bytes." },
	{ "a length in hexadecimal", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n"),
	  400, "The Content-Length field is not a number of bytes." },
	{ "no length", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n"), 400,
	  "The Content-Length field is not a number of bytes." },
	{ "a length over 2^63",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n"), 400,
	  "The Content-Length field is not a number of bytes." },
	{ "a length over 2^64",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\n"), 400,
	  "The Content-Length field is not a number of bytes." },
	{ "a length and a coding",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
	  400, "Content-Length and Transfer-Encoding exclude each other." },
	{ "a coding and a length",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"),
	  400, "Content-Length and Transfer-Encoding exclude each other." },
	{ "an unknown coding", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"),
	  501, "The only transfer coding is chunked, in HTTP/1.1." },
	{ "two codings in one field",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), 501,
	  "The only transfer coding is chunked, in HTTP/1.1." },
	{ "a quoted coding", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n"),
	  501, "The only transfer coding is chunked, in HTTP/1.1." },
	{ "an empty coding", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n"), 501,
	  "The only transfer coding is chunked, in HTTP/1.1." },
	{ "a vertical tab in front of the coding",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \vchunked\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "two coding fields",
	  STR_INIT(
		  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
	  400, "There is more than one Transfer-Encoding field." },
	{ "a coding in HTTP/1.0",
	  STR_INIT("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), 501,
	  "The only transfer coding is chunked, in HTTP/1.1." },
	{ "a blank in front of the colon", STR_INIT("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "a tab in front of the colon", STR_INIT("GET / HTTP/1.1\r\nHost\t: a\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "a folded line", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "a folded first line", STR_INIT("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "NUL in a value", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "DEL in a value", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nX: b\x7f\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "an escape character in a value", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nX: \x1b[1m\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "no Host", STR_INIT("GET / HTTP/1.1\r\n\r\n"), 400, "There is no Host field." },
	{ "no Host in HTTP/1.0", STR_INIT("GET / HTTP/1.0\r\n\r\n"), 400, "There is no Host field." },
	{ "two Hosts", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"), 400,
	  "There is more than one Host field." },
	{ "HTTP/1.9", STR_INIT("GET / HTTP/1.9\r\nHost: a\r\n\r\n"), 505,
	  "Only HTTP/1.1 and HTTP/1.0 are spoken here." },
	{ "HTTP/2.0", STR_INIT("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505,
	  "Only HTTP/1.1 and HTTP/1.0 are spoken here." },
	{ "the preface of HTTP/2", STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505,
	  "Only HTTP/1.1 and HTTP/1.0 are spoken here." },
	{ "bare LF", STR_INIT("GET / HTTP/1.1\nHost: a\n\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "bare LF behind a field", STR_INIT("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "bare LF at the end", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\n\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "bare CR", STR_INIT("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "CR CR LF", STR_INIT("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"), 400,
	  "A line does not end in CR LF, or holds a control character." },

	/* The request line. */
	{ "not HTTP at all", STR_INIT("\x16\x03\x01\x02"), 400,
	  "A line does not end in CR LF, or holds a control character." },
	{ "HTTP/0.9", STR_INIT("GET /\r\n"), 400, "The request line is not METHOD, target and version." },
	{ "two blanks", STR_INIT("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The request line is not METHOD, target and version." },
	{ "a blank in the target", STR_INIT("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The request line is not METHOD, target and version." },
	{ "a blank at the end", STR_INIT("GET / HTTP/1.1 \r\nHost: a\r\n\r\n"), 400,
	  "The request line is not METHOD, target and version." },
	{ "a tab as separator", STR_INIT("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The request line is not METHOD, target and version." },
	{ "a method that is no token", STR_INIT("G(T / HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The method is not a token." },
	{ "no method", STR_INIT(" / HTTP/1.1\r\nHost: a\r\n\r\n"), 400, "The method is not a token." },
	{ "a long method", STR_INIT("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\nHost: a\r\n\r\n"), 501,
	  "The method's name is too long to be one." },
	{ "a version in lower case", STR_INIT("GET / http/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The request line does not end in an HTTP version." },
	{ "a version with two digits", STR_INIT("GET / HTTP/1.10\r\nHost: a\r\n\r\n"), 400,
	  "The request line does not end in an HTTP version." },
	{ "absolute form", STR_INIT("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The target does not begin with a slash." },
	{ "authority form", STR_INIT("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The target does not begin with a slash." },
	{ "an asterisk for GET", STR_INIT("GET * HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The target \"*\" is for OPTIONS only." },
	{ "a dot segment", STR_INIT("GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The path holds a dot segment." },
	{ "a fragment", STR_INIT("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "The path holds a character that must be escaped." },
	{ "two empty lines in front", STR_INIT("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400,
	  "There are empty lines where a request should begin." },

	/* Fields. */
	{ "a field without a name", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "a field without a colon", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "a name that is no token", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nX(): b\r\n\r\n"), 400,
	  "A header field is not \"name: value\" on one line." },
	{ "an empty Host", STR_INIT("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400,
	  "The Host field is not a host and an optional port." },
	{ "a Host with a user", STR_INIT("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"), 400,
	  "The Host field is not a host and an optional port." },
	{ "a list of Hosts", STR_INIT("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"), 400,
	  "The Host field is not a host and an optional port." },
	{ "a Host with a bad port", STR_INIT("GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n"), 400,
	  "The Host field is not a host and an optional port." },
	{ "an unknown expectation", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n"), 417,
	  "The only expectation that can be met is 100-continue." },
	{ "a packed body", STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n\r\n"), 415,
	  "A body is taken without a Content-Encoding only." },
	{ "a body packed twice",
	  STR_INIT("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: identity, br\r\n\r\n"), 415,
	  "A body is taken without a Content-Encoding only." },
	{ "too many fields",
	  STR_INIT("GET / HTTP/1.1\r\nHost: a\r\n1: \r\n2: \r\n3: \r\n4: \r\n5: \r\n6: \r\n\r\n"), 431,
	  "There are more header fields than this server accepts." },
};

struct outcome {
	enum http_parse result;
	unsigned status;
	const char *problem;
	size_t bytes;
};

static void feed(struct http_parser *parser, struct str request, size_t upto, struct outcome *outcome)
{
	/* Moved each time, as a growing buffer would. */
	char *copy = xmalloc(upto ? upto : 1);

	memcpy(copy, request.p, upto);
	outcome->result = http_parser_feed(parser, str_make(copy, upto));
	outcome->status = http_parser_status(parser);
	outcome->problem = http_parser_problem(parser);
	if (outcome->result == HTTP_PARSE_DONE)
		outcome->bytes = http_parser_head(parser, str_make(copy, upto)).bytes;
	free(copy);
}

/* Feeds up to `cut`, then in steps of `step` bytes. */
static struct outcome parse(struct str request, size_t cut, size_t step)
{
	struct http_parser *parser = http_parser_new(&limits);
	struct outcome outcome = { .result = HTTP_PARSE_MORE };
	size_t upto = cut;

	feed(parser, request, upto, &outcome);
	while (outcome.result == HTTP_PARSE_MORE && upto < request.n) {
		upto = size_min(request.n, upto + step);
		feed(parser, request, upto, &outcome);
	}
	http_parser_free(&parser);
	assert_null(parser);
	return outcome;
}

static void assert_same(struct outcome a, struct outcome b)
{
	assert_int_equal(a.result, b.result);
	assert_int_equal(a.status, b.status);
	assert_int_equal(a.bytes, b.bytes);
	if (a.problem)
		assert_string_equal(a.problem, b.problem);
}

static struct outcome parse_every_way(struct str request)
{
	struct outcome whole = parse(request, request.n, 1);

	assert_same(parse(request, 0, 1), whole);
	for (size_t cut = 0; cut < request.n; cut++)
		assert_same(parse(request, cut, request.n), whole);
	return whole;
}

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct outcome outcome = parse_every_way(refusals[i].request);

		if (outcome.result != HTTP_PARSE_REFUSED || outcome.status != refusals[i].status ||
		    strcmp(outcome.problem, refusals[i].problem))
			fail_msg("%s: %d, %u %s", refusals[i].rule, outcome.result, outcome.status,
				 outcome.problem ? outcome.problem : "");
	}
}

/* A head of `n` bytes: `begin`, then as many "a" as fit, then `end`. */
static struct str padded(char *room, size_t n, const char *begin, const char *end)
{
	memset(room, 'a', n);
	memcpy(room, begin, strlen(begin));
	memcpy(room + n - strlen(end), end, strlen(end));
	return str_make(room, n);
}

static void test_sizes(void **state)
{
	char room[1024];
	struct outcome outcome;

	(void)state;
	outcome = parse_every_way(padded(room, 400, "GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n"));
	assert_int_equal(outcome.result, HTTP_PARSE_DONE);
	assert_int_equal(outcome.bytes, 400);
	outcome = parse_every_way(padded(room, 401, "GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n"));
	assert_int_equal(outcome.status, 431);
	assert_string_equal(outcome.problem, "The header is longer than this server accepts.");
	outcome = parse_every_way(padded(room, 1000, "GET / HTTP/1.1\r\nHost: a\r\nX: ", ""));
	assert_int_equal(outcome.status, 431);

	/* A target of 60 bytes, of 61, and one that never ends. */
	outcome = parse_every_way(padded(room, 60 + 26, "GET /", " HTTP/1.1\r\nHost: a\r\n\r\n"));
	assert_int_equal(outcome.result, HTTP_PARSE_DONE);
	outcome = parse_every_way(padded(room, 60 + 27, "GET /", " HTTP/1.1\r\nHost: a\r\n\r\n"));
	assert_int_equal(outcome.status, 414);
	assert_string_equal(outcome.problem, "The target is longer than this server accepts.");
	outcome = parse_every_way(padded(room, 1000, "GET /", ""));
	assert_int_equal(outcome.status, 414);
	outcome = parse_every_way(padded(room, 1000, "G", ""));
	assert_int_equal(outcome.status, 431);
}

static struct http_head parse_head(struct http_parser *parser, struct str request)
{
	http_parser_reset(parser);
	assert_int_equal(parse_every_way(request).result, HTTP_PARSE_DONE);
	assert_int_equal(http_parser_feed(parser, request), HTTP_PARSE_DONE);
	return http_parser_head(parser, request);
}

static void assert_str(struct str s, const char *expected)
{
	assert_int_equal(s.n, strlen(expected));
	assert_memory_equal(s.p, expected, s.n);
}

static void test_accepted(void **state)
{
	struct str request = STR("\r\nPOST /a/b?c=d HTTP/1.1\r\nHost: example.org:80\r\nContent-Length: 5\r\n"
				 "X-Empty:\r\nX:\t a b \xc3\xa4 \t\r\n\r\nhelloGET");
	struct http_parser *parser = http_parser_new(&limits);
	struct http_head head = parse_head(parser, request);

	(void)state;
	assert_str(head.method, "POST");
	assert_str(head.target, "/a/b?c=d");
	assert_int_equal(head.minor, 1);
	assert_true(head.keep_alive);
	assert_true(head.has_length);
	assert_false(head.chunked);
	assert_int_equal(head.length, 5);
	assert_int_equal(head.field_count, 4);
	assert_str(http_parser_field(parser, request, 0).value, "example.org:80");
	assert_str(http_parser_field(parser, request, 2).name, "X-Empty");
	assert_str(http_parser_field(parser, request, 2).value, "");
	assert_str(http_parser_field(parser, request, 3).value, "a b \xc3\xa4");
	assert_str(str_from(request, head.bytes), "helloGET");
	http_parser_free(&parser);
}

static void test_kinds(void **state)
{
	struct http_parser *parser = http_parser_new(&limits);
	struct http_head head;

	(void)state;
	head = parse_head(parser, STR("OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"));
	assert_str(head.target, "*");
	head = parse_head(parser, STR("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"));
	assert_true(head.chunked);
	head = parse_head(parser, STR("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0009\r\n\r\n"));
	assert_int_equal(head.length, 9);
	head = parse_head(parser, STR("GET / HTTP/1.1\r\nHost: a\r\nConnection: te, Close\r\n\r\n"));
	assert_false(head.keep_alive);
	head = parse_head(parser, STR("GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
	assert_false(head.keep_alive);
	assert_int_equal(head.minor, 0);
	head = parse_head(parser, STR("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"));
	assert_true(head.keep_alive);
	head = parse_head(parser, STR("PUT / HTTP/1.1\r\nHost: a\r\nContent-Encoding: Identity\r\n\r\n"));
	assert_true(head.keep_alive);
	head = parse_head(parser, STR("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n"));
	assert_true(head.expect_continue);
	head = parse_head(parser, STR("PUT / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"));
	assert_false(head.expect_continue);
	head = parse_head(parser, STR("M!#$%&'*+-.^_`|~9 / HTTP/1.1\r\nHost: a\r\n\r\n"));
	assert_str(head.method, "M!#$%&'*+-.^_`|~9");
	http_parser_free(&parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

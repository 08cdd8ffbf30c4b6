#include "base/base.h"
#include "io/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { OUT_MAX = 4096, EVENT_MAX = 64 };

/* Reads `stream` in pieces of `step` bytes and writes the events down as "event|id|data;". */
static int transcribe(struct str stream, size_t step, struct buf *out, uint64_t *ret_retry_ms,
		      struct err *err)
{
	struct sse_reader reader;
	struct sse_message message;
	int result = 0;

	sse_reader_init(&reader, EVENT_MAX);
	while (stream.n && result >= 0) {
		struct str piece = str_slice(stream, 0, step);

		stream = str_from(stream, piece.n);
		while ((result = sse_read(&reader, &piece, &message, err)) > 0)
			buf_printf(out, "%.*s|%.*s|%.*s;", STR_ARG(message.event), STR_ARG(message.id),
				   STR_ARG(message.data));
	}
	*ret_retry_ms = reader.retry_ms;
	sse_reader_release(&reader);
	return result;
}

static void assert_events(struct str stream, const char *expected)
{
	for (size_t step = 1; step <= stream.n; step++) {
		_cleanup_buf_ struct buf out = { 0 };
		uint64_t retry_ms;

		buf_init(&out, OUT_MAX);
		assert_int_equal(transcribe(stream, step, &out, &retry_ms, NULL), 0);
		assert_string_equal(buf_cstr(&out), expected);
	}
}

static void test_read(void **state)
{
	(void)state;
	/* The examples of the standard, 9.2.6. */
	assert_events(STR("data: YHOO\ndata: +2\ndata: 10\n\n"), "message||YHOO\n+2\n10;");
	assert_events(
		STR(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
		"message|1|first event;message||second event;message|| third event;");
	assert_events(STR("data\n\ndata\ndata\n\ndata:"), "message||;message||\n;");
	assert_events(STR("data:test\n\ndata: test\n\n"), "message||test;message||test;");

	assert_events(STR("event: add\ndata: 1\n\ndata: 2\n\n"), "add||1;message||2;");
	assert_events(STR("event: add\n\ndata: 1\n\n"), "message||1;");
	assert_events(STR("event: a\nevent: b\ndata: 1\n\n"), "b||1;");
	assert_events(STR("id: 7\n\ndata: 1\n\ndata: 2\n\n"), "message|7|1;message|7|2;");
	assert_events(STR("id: 7\nid: 8\0\ndata: 1\n\n"), "message|7|1;");
	assert_events(STR("unknown: x\ndata: 1\nDATA: 2\n\n"), "message||1;");
	assert_events(STR("data: cut off"), "");
	assert_events(STR("data: cut off\n"), "");
}

static void test_line_ends(void **state)
{
	(void)state;
	assert_events(STR("data: 1\r\ndata: 2\r\n\r\n"), "message||1\n2;");
	assert_events(STR("data: 1\rdata: 2\r\r"), "message||1\n2;");
	assert_events(STR("data: 1\r\n\rdata: 2\n\r\n"), "message||1;message||2;");
	assert_events(STR("\xEF\xBB\xBF"
			  "data: 1\n\n"),
		      "message||1;");
	assert_events(STR("\xEF\xBB\xBF\n\n\xEF\xBB\xBF"
			  "data: 1\n\n"),
		      "");
}

static void test_retry(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };
	uint64_t retry_ms;

	(void)state;
	buf_init(&out, OUT_MAX);
	transcribe(STR("data: 1\n\n"), 1, &out, &retry_ms, NULL);
	assert_true(retry_ms == UINT64_MAX);
	transcribe(STR("retry: 2500\nretry: soon\nretry: -1\n"), 1, &out, &retry_ms, NULL);
	assert_int_equal(retry_ms, 2500);
}

static void test_is_bounded(void **state)
{
	static const struct str streams[] = {
		STR_INIT("data: 0123456789012345678901234567890123456789012345678901234567890123456789"),
		STR_INIT("data: 012345678901234567890123456789\ndata: 012345678901234567890123456789\n"),
		STR_INIT(": 0123456789012345678901234567890123456789012345678901234567890123456789\n"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(streams); i++)
		for (size_t step = 1; step <= streams[i].n; step++) {
			_cleanup_buf_ struct buf out = { 0 };
			struct err err = { 0 };
			uint64_t retry_ms;

			buf_init(&out, OUT_MAX);
			assert_int_equal(transcribe(streams[i], step, &out, &retry_ms, &err), ERR_TOO_LARGE);
			assert_string_equal(err.message, "an event of the stream is larger than 64 bytes");
		}
	/* Each event has the whole maximum for itself. */
	assert_events(STR("data: 01234567890123456789012345678901234567890123456789\n\n"
			  "data: 01234567890123456789012345678901234567890123456789\n\n"),
		      "message||01234567890123456789012345678901234567890123456789;"
		      "message||01234567890123456789012345678901234567890123456789;");
}

static void test_write(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, OUT_MAX);
	assert_int_equal(sse_event(&out, STR("add"), STR("7"), STR("one\ntwo\r\nthree\r")), 0);
	assert_int_equal(sse_event(&out, STR(""), STR("8"), STR("")), 0);
	assert_int_equal(sse_event(&out, STR(""), STR("9"), str_make(NULL, 0)), 0);
	assert_int_equal(sse_comment(&out, STR("ping\nping")), 0);
	assert_int_equal(sse_retry(&out, 2000), 0);
	assert_string_equal(buf_cstr(&out), "event: add\nid: 7\ndata: one\ndata: two\ndata: three\ndata: \n\n"
					    "id: 8\ndata: \n\nid: 9\n\n: ping\n: ping\n\nretry: 2000\n\n");
	assert_events(buf_str(&out), "add|7|one\ntwo\nthree\n;message|8|;");
}

static void test_write_refuses(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 20);
	assert_int_equal(sse_event(&out, STR("a\nb"), STR(""), STR("x")), ERR_INVALID);
	assert_int_equal(sse_event(&out, STR(""), STR("a\rb"), STR("x")), ERR_INVALID);
	assert_int_equal(sse_event(&out, STR(""), STR("a\0b"), STR("x")), ERR_INVALID);
	assert_int_equal(out.n, 0);
	assert_int_equal(sse_event(&out, STR(""), STR(""), STR("012345678901234")), ERR_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),  cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_retry), cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_write), cmocka_unit_test(test_write_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

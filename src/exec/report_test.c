/* Frames as JSON and as text, and the document that they make together. */
#include "base/base.h"
#include "exec/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct exec_run run = {
	.id = "0123456789abcdef",
	.runtime = EXEC_NODE,
	.outcome = { .exit_code = 3, .duration_ms = 12, .calls = 2, .dropped_bytes = 9, .dropped_frames = 1 },
};
static const struct exec_run good = { .id = "0123456789abcdef", .outcome = { .duration_ms = 12 } };

#define VALUE(frame_kind, json) { .kind = frame_kind, .value = STR_INIT(json), .run = &run }
#define TEXT(frame_kind, bytes) { .kind = frame_kind, .text = STR_INIT(bytes), .run = &run }

static const struct {
	struct exec_frame frame;
	const char *json, *text, *with_logs;
} table[] = {
	{ TEXT(EXEC_FRAME_START, ""),
	  "{\"type\":\"start\",\"runId\":\"0123456789abcdef\",\"runtime\":\"node\"}", "", "" },
	{ { .kind = EXEC_FRAME_LOG,
	    .value = STR_INIT(
		    "{\"ts\":\"t\",\"level\":\"warn\",\"msg\":\"m\",\"attrs\":{\"a\":1,\"b\":\"x y\"}}"),
	    .text = STR_INIT("m"),
	    .level = LOG_LEVEL_WARN,
	    .run = &run },
	  "{\"type\":\"log\",\"ts\":\"t\",\"level\":\"warn\",\"msg\":\"m\",\"attrs\":{\"a\":1,\"b\":\"x y\"}}",
	  "",
	  "[warn] m a=1 b=\"x y\"\n" },
	{ VALUE(EXEC_FRAME_EMIT, "[1, 2]"), "{\"type\":\"emit\",\"value\":[1, 2]}", "[\n  1,\n  2\n]\n",
	  "[\n  1,\n  2\n]\n" },
	{ VALUE(EXEC_FRAME_EMIT, "\"a\\nb\""), "{\"type\":\"emit\",\"value\":\"a\\nb\"}", "a\nb\n",
	  "a\nb\n" },
	{ TEXT(EXEC_FRAME_STDOUT, "a\xff\n"), "{\"type\":\"stdout\",\"data\":\"a\xef\xbf\xbd\\n\"}",
	  "a\xff\n", "a\xff\n" },
	{ VALUE(EXEC_FRAME_CALL, "{\"server\":\"s\",\"ok\":true}"),
	  "{\"type\":\"call\",\"server\":\"s\",\"ok\":true}", "", "" },
	{ VALUE(EXEC_FRAME_ARTIFACT, "{\"id\":\"art-1\"}"), "{\"type\":\"artifact\",\"id\":\"art-1\"}", "",
	  "" },
	{ VALUE(EXEC_FRAME_RESULT, "{\"a\":{}}"), "{\"type\":\"result\",\"value\":{\"a\":{}}}",
	  "{\n  \"a\": {}\n}\n", "{\n  \"a\": {}\n}\n" },
	{ VALUE(EXEC_FRAME_RESULT, "\"text\\n\""), "{\"type\":\"result\",\"value\":\"text\\n\"}", "text\n",
	  "text\n" },
	{ VALUE(EXEC_FRAME_RESULT, "\"\""), "{\"type\":\"result\",\"value\":\"\"}", "\n", "\n" },
	{ { .kind = EXEC_FRAME_ERROR,
	    .value = STR_INIT("{\"stack\":[\"at a:1:2\",\"at b:3:4\"]}"),
	    .text = STR_INIT("it broke"),
	    .calls = STR_INIT("  s.t  ok, 1 ms\n"),
	    .run = &run },
	  "{\"type\":\"error\",\"error\":\"it broke\",\"errorDetail\":{\"stack\":[\"at a:1:2\",\"at b:3:4\"]}}",
	  "it broke\n    at a:1:2\n    at b:3:4\ntool calls made by then (2):\n  s.t  ok, 1 ms\n",
	  "it broke\n    at a:1:2\n    at b:3:4\ntool calls made by then (2):\n  s.t  ok, 1 ms\n" },
	{ TEXT(EXEC_FRAME_ERROR, "plain"), "{\"type\":\"error\",\"error\":\"plain\"}", "plain\n", "plain\n" },
	{ TEXT(EXEC_FRAME_END, ""),
	  "{\"type\":\"end\",\"exitCode\":3,\"durationMs\":12,\"timedOut\":false,\"dropped\":{\"bytes\":9,\"frames\":1}}",
	  "[dropped: 9 bytes, over exec.frameMax, exec.outputMax or json.maxDepth]\n", "" },
};

static void test_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		_cleanup_buf_ struct buf json = { .max = 4096 }, text = { .max = 4096 },
					 with_logs = { .max = 4096 };
		const struct exec_frame *frame = &table[i].frame;
		struct json_writer w;

		json_writer_init(&w, &json, false);
		exec_frame_write(&w, frame, frame->value);
		assert_string_equal(buf_cstr(&json), table[i].json);
		exec_text_append(&(struct exec_text){ .logs = false }, frame, frame->value, &text);
		assert_string_equal(buf_cstr(&text), table[i].text);
		exec_text_append(&(struct exec_text){ .logs = true }, frame, frame->value, &with_logs);
		assert_string_equal(buf_cstr(&with_logs), table[i].with_logs);
	}
}

static const char *document(const struct exec_report *report, const struct exec_run *of)
{
	static char text[4096];
	_cleanup_buf_ struct buf out = { .max = sizeof(text) };
	struct json_writer w;

	json_writer_init(&w, &out, false);
	exec_report_write(report, of, &w);
	snprintf(text, sizeof(text), "%s", buf_cstr(&out));
	return text;
}

static void test_a_whole_run(void **state)
{
	struct exec_report report;

	(void)state;
	exec_report_init(&report, true);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		exec_report_take(&report, &table[i].frame, table[i].frame.value);
	assert_string_equal(
		document(&report, &run),
		"{\"runId\":\"0123456789abcdef\",\"result\":\"\",\"emits\":[[1, 2],\"a\\nb\"],"
		"\"logs\":[{\"ts\":\"t\",\"level\":\"warn\",\"msg\":\"m\",\"attrs\":{\"a\":1,\"b\":\"x y\"}}],"
		"\"stdout\":\"a\xef\xbf\xbd\\n\",\"artifacts\":[{\"id\":\"art-1\"}],\"calls\":[{\"server\":\"s\",\"ok\":true}],"
		"\"exitCode\":3,\"durationMs\":12,\"runtime\":\"node\",\"timedOut\":false,\"error\":\"plain\","
		"\"dropped\":{\"bytes\":9,\"frames\":1}}");
	assert_true(str_starts_with(exec_report_text(&report),
				    STR("[warn] m a=1 b=\"x y\"\n[\n  1,\n  2\n]\na\nb\na\xff\n{\n")));
	exec_report_release(&report);
}

/* What is rewritten on its way counts, not what the script said. */
static void test_a_value_that_was_replaced(void **state)
{
	struct exec_report report;

	(void)state;
	exec_report_init(&report, true);
	exec_report_take(&report, &(struct exec_frame)VALUE(EXEC_FRAME_RESULT, "{\"data\":\"long\"}"),
			 STR("\"link\""));
	assert_non_null(strstr(document(&report, &good), "\"result\":\"link\""));
	assert_true(str_eq(exec_report_text(&report), STR("link\n")));
	exec_report_release(&report);
}

static const struct {
	const char *printed, *member;
} printed[] = {
	{ " {\"a\":1}\n", "\"result\":{\"a\":1}," },
	{ "17", "\"result\":17," },
	{ "{\"a\":1}\n{\"b\":2}\n", NULL },
	{ "text\n", NULL },
	{ "", NULL },
};

/* [[[... 1, 1, 1 ...]]]: laid out, each of its elements would stand behind 200 blanks. */
static void test_a_value_of_endless_elements(void **state)
{
	enum { LEVELS = 100, ELEMENTS = 1000000 };
	_cleanup_buf_ struct buf value = { .max = 16 << 20 }, out = { .max = 16 << 20 };
	struct exec_frame frame = { .kind = EXEC_FRAME_RESULT, .run = &run };
	struct exec_text text = { 0 };

	(void)state;
	for (unsigned i = 0; i < LEVELS; i++)
		buf_append_char(&value, '[');
	for (unsigned i = 0; i < ELEMENTS; i++)
		buf_append(&value, i ? STR(",1") : STR("1"));
	for (unsigned i = 0; i < LEVELS; i++)
		buf_append_char(&value, ']');
	frame.value = buf_str(&value);
	exec_text_append(&text, &frame, frame.value, &out);
	assert_false(buf_failed(&out));
	assert_int_equal(out.n, value.n + 1);
	assert_true(str_starts_with(buf_str(&out), buf_str(&value)));
}

static void test_printed_json_is_the_result_of_a_script_without_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(printed); i++) {
		struct exec_report report;
		const struct exec_frame frame = { .kind = EXEC_FRAME_STDOUT,
						  .text = str_of(printed[i].printed),
						  .run = &good };

		exec_report_init(&report, true);
		exec_report_take(&report, &frame, frame.value);
		if (printed[i].member)
			assert_non_null(strstr(document(&report, &good), printed[i].member));
		else
			assert_null(strstr(document(&report, &good), "\"result\""));
		exec_report_release(&report);
	}
}

/* Text that ends in no line does not run into what follows it, also where each frame is written by itself. */
static void test_lines_of_text_begin_on_their_own(void **state)
{
	struct exec_report report;

	(void)state;
	exec_report_init(&report, true);
	exec_report_take(&report, &(struct exec_frame)TEXT(EXEC_FRAME_STDOUT, "no end"), str_make(NULL, 0));
	exec_report_take(&report, &(struct exec_frame)VALUE(EXEC_FRAME_EMIT, "1"), STR("1"));
	exec_report_take(&report, &(struct exec_frame)TEXT(EXEC_FRAME_STDOUT, "more"), str_make(NULL, 0));
	exec_report_take(&report, &(struct exec_frame)VALUE(EXEC_FRAME_RESULT, "2"), STR("2"));
	assert_true(str_eq(exec_report_text(&report), STR("no end\n1\nmore\n2\n")));
	exec_report_release(&report);
}

static void append_alone(struct exec_text *text, const struct exec_frame *frame, const char *expected)
{
	_cleanup_buf_ struct buf out = { .max = 4096 };

	exec_text_append(text, frame, frame->value, &out);
	assert_string_equal(out.n ? buf_cstr(&out) : "", expected);
}

static void test_each_frame_by_itself(void **state)
{
	struct exec_text text = { .logs = false };

	(void)state;
	append_alone(&text, &(struct exec_frame)TEXT(EXEC_FRAME_STDOUT, "no end"), "no end");
	append_alone(&text, &(struct exec_frame)TEXT(EXEC_FRAME_LOG, "not shown"), "");
	append_alone(&text, &(struct exec_frame)VALUE(EXEC_FRAME_EMIT, "1"), "\n1\n");
	append_alone(&text, &(struct exec_frame)VALUE(EXEC_FRAME_EMIT, "2"), "2\n");
	append_alone(&text, &(struct exec_frame)TEXT(EXEC_FRAME_STDOUT, "end\n"), "end\n");
	append_alone(&text, &(struct exec_frame)VALUE(EXEC_FRAME_RESULT, "\"r\""), "r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_a_whole_run),
		cmocka_unit_test(test_a_value_that_was_replaced),
		cmocka_unit_test(test_a_value_of_endless_elements),
		cmocka_unit_test(test_printed_json_is_the_result_of_a_script_without_one),
		cmocka_unit_test(test_lines_of_text_begin_on_their_own),
		cmocka_unit_test(test_each_frame_by_itself),
	};

	return cmocka_run_group_tests_name("exec-report", tests, NULL, NULL);
}

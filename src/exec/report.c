#include "base/base.h"
#include "exec/report.h"
#include "json/json.h"

/* -- text ------------------------------------------------------------------------------------------------ */

enum {
	LAID_OUT_GROWTH = 8, /* a value that lines and blanks would make larger than that stays as it came */
	LAID_OUT_ALWAYS = 64 * 1024 /* bytes that it may have in any case */
};

/* JSON with two spaces. Elements far inside are mostly blanks then: of millions of them nobody reads, and
 * they would fill the memory. */
static void laid_out_text(const struct json *value, struct str raw, struct buf *out)
{
	_cleanup_buf_ struct buf text = { .max = raw.n * LAID_OUT_GROWTH + LAID_OUT_ALWAYS };
	struct json_writer w;

	json_writer_init(&w, &text, true);
	json_write_value(&w, value);
	buf_append(out, buf_failed(&text) ? raw : buf_str(&text));
}

/* A string as it is, anything else as JSON; with a line end. */
static void value_text(struct str raw, struct buf *out)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	size_t before = out->n;

	if (json_parse(&doc, raw, NULL, NULL) < 0)
		return;
	if (json_is(json_root(&doc), JSON_STRING))
		buf_append(out, json_str(json_root(&doc)));
	else
		laid_out_text(json_root(&doc), raw, out);
	if (!buf_failed(out) && (out->n == before || out->p[out->n - 1] != '\n'))
		buf_append_char(out, '\n');
}

/* What was printed without a line end does not run into what comes now. */
static void begin_line(struct exec_text *text, struct buf *out)
{
	if (text->open)
		buf_append_char(out, '\n');
	text->open = false;
}

/* "[warn] disk is nearly full free=3 path=/tmp" */
static void log_text(const struct exec_frame *frame, struct buf *out)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *name, *value;

	buf_printf(out, "[%s] %.*s", log_level_name(frame->level), STR_ARG(frame->text));
	if (json_parse(&doc, frame->value, NULL, NULL) == 0)
		json_for_each_member(name, value, json_get(json_root(&doc), STR("attrs"))) {
			struct json_writer w;

			buf_printf(out, " %.*s=", STR_ARG(json_str(name)));
			json_writer_init(&w, out, false);
			json_write_value(&w, value);
		}
	buf_append_char(out, '\n');
}

static void stack_text(struct str detail, struct buf *out)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *line;

	if (!detail.n || json_parse(&doc, detail, NULL, NULL) < 0)
		return;
	json_for_each(line, json_get(json_root(&doc), STR("stack")))
		buf_printf(out, "    %.*s\n", STR_ARG(json_str(line)));
}

static void error_text(const struct exec_frame *frame, struct buf *out)
{
	buf_append(out, frame->text);
	if (!str_ends_with(frame->text, STR("\n")))
		buf_append_char(out, '\n');
	stack_text(frame->value, out);
	if (!frame->calls.n)
		return;
	buf_printf(out, "tool calls made by then (%u):\n", frame->run->outcome.calls);
	buf_append(out, frame->calls);
}

static void dropped_text(struct exec_text *text, const struct exec_outcome *outcome, struct buf *out)
{
	if (!outcome->dropped_bytes && !outcome->dropped_frames)
		return;
	begin_line(text, out);
	buf_printf(out, "[dropped: %llu bytes, over exec.frameMax, exec.outputMax or json.maxDepth]\n",
		   (unsigned long long)outcome->dropped_bytes);
}

void exec_text_append(struct exec_text *text, const struct exec_frame *frame, struct str value,
		      struct buf *out)
{
	switch (frame->kind) {
	case EXEC_FRAME_STDOUT:
		buf_append(out, frame->text);
		text->open = !str_ends_with(frame->text, STR("\n"));
		break;
	case EXEC_FRAME_EMIT:
	case EXEC_FRAME_RESULT:
		begin_line(text, out);
		value_text(value, out);
		break;
	case EXEC_FRAME_ERROR:
		begin_line(text, out);
		error_text(frame, out);
		break;
	case EXEC_FRAME_LOG:
		if (!text->logs)
			break;
		begin_line(text, out);
		log_text(frame, out);
		break;
	case EXEC_FRAME_END:
		/* Log records have told of it, where they are read. */
		if (!text->logs)
			dropped_text(text, &frame->run->outcome, out);
		break;
	default:
		break;
	}
}

/* -- collecting ------------------------------------------------------------------------------------------ */

enum { REPORT_BUFS = 9 };

static void report_bufs(struct exec_report *report, struct buf *bufs[REPORT_BUFS])
{
	bufs[0] = &report->emits;
	bufs[1] = &report->logs;
	bufs[2] = &report->artifacts;
	bufs[3] = &report->calls;
	bufs[4] = &report->output;
	bufs[5] = &report->result;
	bufs[6] = &report->detail;
	bufs[7] = &report->error;
	bufs[8] = &report->transcript;
}

void exec_report_init(struct exec_report *report, bool text)
{
	struct buf *bufs[REPORT_BUFS];

	*report = (struct exec_report){ .wants_text = text, .text = { .logs = true } };
	report_bufs(report, bufs);
	for (size_t i = 0; i < REPORT_BUFS; i++)
		buf_init(bufs[i], ARENA_MAX_DEFAULT);
}

void exec_report_release(struct exec_report *report)
{
	struct buf *bufs[REPORT_BUFS];

	report_bufs(report, bufs);
	for (size_t i = 0; i < REPORT_BUFS; i++)
		buf_release(bufs[i]);
}

static void add_element(struct buf *elements, struct str raw)
{
	if (elements->n)
		buf_append_char(elements, ',');
	buf_append(elements, raw);
}

/* As a frame has it in a stream, without what says which kind it is: the document says that by where it
 * stands. */
static void add_members(struct buf *elements, struct str members)
{
	add_element(elements, members.n ? members : STR("{}"));
}

static void replace_text(struct buf *buf, struct str text)
{
	buf_clear(buf, 0);
	buf_append(buf, text);
}

void exec_report_take(struct exec_report *report, const struct exec_frame *frame, struct str value)
{
	switch (frame->kind) {
	case EXEC_FRAME_EMIT:
		add_element(&report->emits, value);
		break;
	case EXEC_FRAME_LOG:
		add_members(&report->logs, value);
		break;
	case EXEC_FRAME_CALL:
		add_members(&report->calls, value);
		break;
	case EXEC_FRAME_ARTIFACT:
		add_members(&report->artifacts, value);
		break;
	case EXEC_FRAME_STDOUT:
		buf_append(&report->output, frame->text);
		break;
	case EXEC_FRAME_RESULT:
		replace_text(&report->result, value);
		break;
	case EXEC_FRAME_ERROR:
		replace_text(&report->error, frame->text);
		replace_text(&report->detail, value);
		break;
	default:
		break;
	}
	if (report->wants_text)
		exec_text_append(&report->text, frame, value, &report->transcript);
}

/* -- the document ---------------------------------------------------------------------------------------- */

static void write_elements(struct json_writer *w, struct str key, const struct buf *elements)
{
	json_write_key(w, key);
	json_write_array_begin(w);
	if (elements->n)
		json_write_raw(w, buf_str(elements));
	json_write_array_end(w);
}

/* A script that gave no value and printed one JSON text meant that. */
static void write_result(struct json_writer *w, const struct exec_report *report)
{
	struct str printed = str_trim(buf_str(&report->output));

	if (report->result.n)
		json_member_raw(w, STR("result"), buf_str(&report->result));
	else if (printed.n && json_check(printed, NULL, NULL) == 0)
		json_member_raw(w, STR("result"), printed);
}

void exec_report_write(const struct exec_report *report, const struct exec_run *run, struct json_writer *w)
{
	json_write_object_begin(w);
	json_member_str(w, STR("runId"), str_of(run->id));
	write_result(w, report);
	write_elements(w, STR("emits"), &report->emits);
	write_elements(w, STR("logs"), &report->logs);
	json_member_str(w, STR("stdout"), buf_str(&report->output));
	write_elements(w, STR("artifacts"), &report->artifacts);
	write_elements(w, STR("calls"), &report->calls);
	json_member_i64(w, STR("exitCode"), run->outcome.exit_code);
	json_member_u64(w, STR("durationMs"), run->outcome.duration_ms);
	json_member_str(w, STR("runtime"), exec_runtime_name(run->runtime));
	json_member_bool(w, STR("timedOut"), run->outcome.timed_out);
	if (report->error.n)
		json_member_str(w, STR("error"), buf_str(&report->error));
	if (report->detail.n)
		json_member_raw(w, STR("errorDetail"), buf_str(&report->detail));
	exec_frame_write_dropped(w, &run->outcome);
	json_write_object_end(w);
}

struct str exec_report_text(const struct exec_report *report)
{
	return buf_str(&report->transcript);
}

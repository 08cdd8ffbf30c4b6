/*
 * report.h - a whole run in one document, collected from its frames.
 *
 *	{runId, result, emits[], logs[], stdout, artifacts[], calls[], exitCode, durationMs, runtime, timedOut, error?, errorDetail?, dropped?}
 *
 * `result` is the script's return value; a script that returned nothing and printed one JSON text has that as its result. The run bounds what comes in
 * (run.h), so a report has no bound of its own. Pure.
 */
#ifndef EXEC_REPORT_H
#define EXEC_REPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "exec/frame.h"
#include "json/writer.h"

struct exec_report {
	char *run_id;
	struct buf emits, logs, artifacts, calls; /* elements of arrays, with commas between them */
	struct buf output;
	struct buf result, error, detail, end; /* raw JSON; empty: none */
	struct buf transcript;		       /* what a person would have seen, in order */
	const char *runtime;
};

void exec_report_init(struct exec_report *report);
void exec_report_release(struct exec_report *report);

/* Takes a frame in, with `value` for frame->value as in exec_frame_write(). */
void exec_report_take(struct exec_report *report, const struct exec_frame *frame, struct str value);

/* The document. */
void exec_report_write(const struct exec_report *report, struct json_writer *w);

/* For people and models: what was printed, emitted and logged, in order, then the result: a string as it is, anything else as JSON with two spaces. */
void exec_report_text(const struct exec_report *report, struct buf *out);

/* A value as text in that way, with a line end. `raw` is one JSON value. */
void exec_value_text(struct str raw, struct buf *out);

#endif

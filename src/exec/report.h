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
#include "exec/run.h"
#include "json/writer.h"

struct exec_report {
	struct buf emits, logs, artifacts, calls; /* elements of arrays, with commas between them */
	struct buf output;			  /* stdout */
	struct buf result, detail;		  /* raw JSON; empty: none */
	struct buf error;			  /* text; empty: none */
	struct buf transcript;			  /* what a person would have seen, in order */
};

void exec_report_init(struct exec_report *report);
void exec_report_release(struct exec_report *report);

/* Takes a frame in, with `value` for frame->value as in exec_frame_write(). */
void exec_report_take(struct exec_report *report, const struct exec_frame *frame, struct str value);

/* The document, of a run that is over. */
void exec_report_write(const struct exec_report *report, const struct exec_run *run, struct json_writer *w);

/* What was printed, emitted and logged, in order, then the result, or what went wrong and what had been done by then: for people and models. */
struct str exec_report_text(const struct exec_report *report);

/* -- plain text ----------------------------------------------------------------------------------------------------------- */

/*
 * What a frame is in plain text; nothing for most. stdout is as it came; a result is as it is when it is a string, else JSON with two spaces; an
 * error is its text, the stack, and the calls that were made. With `everything`, emits and logs are there too, a line or more each.
 */
void exec_frame_text(const struct exec_frame *frame, struct str value, bool everything, struct buf *out);

/* One JSON value in that way, with a line end. */
void exec_value_text(struct str raw, struct buf *out);

#endif

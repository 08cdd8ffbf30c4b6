/*
 * report.h - a whole run in one document, collected from its frames.
 *
 * {runId, result, emits[], logs[], stdout, artifacts[], calls[], exitCode, durationMs, runtime, timedOut,
 * error?, errorDetail?, dropped?}
 *
 * `result` is the script's return value; a script that returned nothing and printed one JSON text has that as
 * its result. The run bounds what comes in (run.h), so a report has no bound of its own. Pure.
 */
#ifndef EXEC_REPORT_H
#define EXEC_REPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "exec/frame.h"
#include "exec/run.h"
#include "json/writer.h"

/* -- plain text ------------------------------------------------------------------------------------------ */

/*
 * A run in plain text, the same for everybody who asks for text: what the script printed, as it came, and
 * each value that it emitted, and in the end its result or what went wrong with the calls that were made by
 * then. A value is as it is when it is a string, else JSON with two spaces (as it came, when these would make
 * it many times as long); it begins and ends a line. Log records are left out, since who reads text has
 * another place for them (a terminal has stderr) or no use, unless `logs` asks for a line each; without them
 * a last line says how much was dropped.
 */
struct exec_text {
	bool logs;
	bool open; /* private: the last line has no end yet */
};

/* Appends what a frame is in text, with `value` for frame->value as in exec_frame_write(). Of many frames it
 * is nothing. */
void exec_text_append(struct exec_text *text, const struct exec_frame *frame, struct str value,
		      struct buf *out);

/* -- collecting ------------------------------------------------------------------------------------------ */

struct exec_report {
	struct buf emits, logs, artifacts, calls; /* elements of arrays, with commas between them */
	struct buf output;			  /* stdout */
	struct buf result, detail;		  /* raw JSON; empty: none */
	struct buf error;			  /* text; empty: none */
	bool wants_text;
	struct buf transcript; /* all of it as text, with the logs, when that is wanted */
	struct exec_text text; /* of the transcript */
};

/* `text`: exec_report_text() will be asked for. */
void exec_report_init(struct exec_report *report, bool text);
void exec_report_release(struct exec_report *report);

/* Takes a frame in, with `value` for frame->value as in exec_frame_write(). */
void exec_report_take(struct exec_report *report, const struct exec_frame *frame, struct str value);

/* The document, of a run that is over. */
void exec_report_write(const struct exec_report *report, const struct exec_run *run, struct json_writer *w);

/* What was printed, emitted and logged, in order, then the result, or what went wrong and what had been done
 * by then: for people and models. */
struct str exec_report_text(const struct exec_report *report);

#endif

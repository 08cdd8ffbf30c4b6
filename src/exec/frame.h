/*
 * frame.h - one thing that happened in a run, as its caller sees it.
 *
 * A run is told as frames, in this order:
 *
 *	start {runId, runtime}
 *	log | emit | stdout | call	interleaved, as they happen
 *	artifact			each one that the script made
 *	result | error			result only when there is a value
 *	end {exitCode, durationMs}
 *
 * A frame's JSON is one object without line breaks that begins with "type". docs/internals/exec.md has every
 * member. Pure.
 */
#ifndef EXEC_FRAME_H
#define EXEC_FRAME_H

#include "base/base.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "json/writer.h"

enum exec_frame_kind {
	EXEC_FRAME_START,
	EXEC_FRAME_LOG,
	EXEC_FRAME_EMIT,
	EXEC_FRAME_STDOUT,
	/* what the script wrote there itself: for terminals; it is not part of a stream or a document */
	EXEC_FRAME_STDERR,
	EXEC_FRAME_CALL,
	EXEC_FRAME_ARTIFACT,
	EXEC_FRAME_RESULT,
	EXEC_FRAME_ERROR,
	EXEC_FRAME_END
};

/* Views are valid during the callback that delivers the frame. */
struct exec_frame {
	enum exec_frame_kind kind;
	/* raw JSON. EMIT, RESULT: the value. LOG, CALL, ARTIFACT: an object with the frame's members. Else
	 * empty */
	struct str value;
	/* STDOUT, STDERR: bytes as they came. LOG: the message. CALL: server.tool. ERROR: what went
	 * wrong, for people */
	struct str text;
	/* ERROR: `text` without the end of it that STDERR frames have told already, for who shows those */
	struct str untold;
	/* ERROR: the tool calls that the script had made, a line of text each; the oldest are left out where
	 * they are many. */
	struct str calls;
	enum log_level level; /* LOG */
	const struct exec_run *run;
};

/* "start" and so on. */
struct str exec_frame_name(enum exec_frame_kind kind);

struct exec_outcome;

/* The member "dropped" of the `end` frame and of the document: {bytes, frames}; nothing when all was told. */
void exec_frame_write_dropped(struct json_writer *w, const struct exec_outcome *outcome);

/* The frame's JSON. `value` replaces frame->value, for those who rewrite it (media that became links); pass
 * frame->value otherwise. Not for EXEC_FRAME_STDERR. */
void exec_frame_write(struct json_writer *w, const struct exec_frame *frame, struct str value);

#endif

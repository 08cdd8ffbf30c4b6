/*
 * run.h - one execution of a script: the only place where a script is run, whoever asked.
 *
 * A run writes what the script needs into the work directory (the generated client, the snippet), starts deno
 * or node on it under a supervisor, reads what comes back (stdout; records of the script's channel on stderr,
 * docs/internals/exec.md), and tells it as frames (frame.h). The runtime starts in the caller's directory
 * with the caller's environment and the variables that the client needs to reach the daemon: MCPX_SOCKET,
 * MCPX_RUN, MCPX_SESSION, ...
 *
 * Bounds: everything that is told of a run (stdout, emits, logs, its result) counts against one budget,
 * output_max. Beyond three quarters of it stdout, emits and logs are dropped, so that the result still has
 * room; a result that has none is an error that says so. What was dropped is counted in the last frame. Past
 * timeout_ms the script is ended with TERM, then KILL; the exit code is 124 and the error says after how
 * long.
 *
 * An operation on the loop, as async.md says: `frame` and `done` never come from within exec_run_start();
 * after exec_run_cancel() nothing comes. Files are written on the worker pool.
 */
#ifndef EXEC_RUN_H
#define EXEC_RUN_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/str.h"
#include "exec/frame.h"
#include "exec/runtime.h"
#include "io/child.h"
#include "io/loop.h"

enum { EXEC_EXIT_TIMED_OUT = 124 };

enum exec_stdin {
	EXEC_STDIN_NONE, /* /dev/null */
	EXEC_STDIN_FD,	 /* inherits stdin_fd, which stays the caller's */
	EXEC_STDIN_BYTES /* stdin_bytes, then the end */
};

/* From settings. Sizes in bytes, 0 where it says so. */
struct exec_limits {
	uint64_t timeout_ms;	   /* 0: none */
	uint64_t term_ms, kill_ms; /* patience after SIGTERM, after SIGKILL (io/child.h) */
	uint64_t probe_ms;	   /* patience with `node --version` */
	uint64_t keep_ms;  /* files of the work directory that were not used for so long are removed */
	size_t keep_files; /* and the oldest beyond so many */
	size_t output_max; /* the budget; 0: none, for a caller that passes everything on and keeps nothing */
	size_t frame_max;  /* one record of the script's channel */
	unsigned depth_max; /* its nesting; 0: JSON_DEPTH_MAX */
	size_t stderr_keep; /* end of stderr that is kept for the error */
};

/* All of it is copied by exec_run_start(), except stdin_fd. Empty strings are absent. */
struct exec_spec {
	const char *supervisor; /* path of the supervisor program */
	/* work directory, absolute; created (0700) when it is missing. Its parent exists */
	struct str directory;
	/* the generated client in its plain form (client.h): GET /v1/client.ts?plain=true */
	struct str client;
	struct str source; /* a snippet, or a module (source.h tells which); or */
	struct str file;   /* a file, absolute or relative to cwd: runs from its own place */
	/* which export is called: the default one when empty. Modules and files only */
	struct str export_name;
	const struct str *arguments; /* for the script */
	size_t argument_count;
	struct str runtime;	 /* script.runtime */
	const struct str *order; /* script.runtimeOrder */
	size_t order_count;
	enum exec_stdin stdin_kind;
	int stdin_fd;
	struct str stdin_bytes;
	struct str cwd;		     /* absolute; ours when empty */
	const char *const *env;	     /* complete, NULL-terminated: what the script inherits */
	const struct str *variables; /* NAME=VALUE each, laid over env */
	size_t variable_count;
	struct str socket;	   /* the daemon's unix socket */
	struct str artifacts;	   /* directory that gets a copy of each artifact, absolute; empty: none */
	struct str session;	   /* "exec-<run id>" when empty */
	struct str parent_session; /* the one that the caller is part of; may be empty */
	struct str pid;		   /* the caller's process, in digits; empty: then the script's own counts */
	struct str config_path;	   /* the nearest configuration file, for the script to know */
	struct str script_directories; /* where names of scripts are looked up, with colons; for the same */
	struct str run_id;	       /* 16 hexadecimal digits; made when empty */
	bool capture_console;	       /* console.warn() and the like become log records */
	struct exec_limits limits;
};

struct exec_run;

struct exec_events {
	/* Something happened. Every call may use any function here but exec_run_cancel() of this run from
	 * within. */
	void (*frame)(struct exec_run *run, const struct exec_frame *frame);
	/* It is over: after the `end` frame, or, when it did not start, with no frame at all and run->err.
	 * The last callback. */
	void (*done)(struct exec_run *run);
};

/* What the run came to; complete when `done` is called. */
struct exec_outcome {
	bool started;  /* false: run->err says why not; the script did nothing */
	int exit_code; /* the script's own; 124 timed out; 128 + n ended by signal n; 1 an uncaught error */
	bool timed_out;
	bool stopped;		 /* by exec_run_stop() */
	const char *stopped_why; /* NULL: it did not say */
	bool failed;		 /* an error frame was told */
	uint64_t duration_ms;
	uint64_t dropped_bytes, dropped_frames; /* over the budget, or over frame_max */
	unsigned calls, calls_failed,
		calls_unknown; /* of tools: made; of these failed; of these with unknown outcome */
};

struct exec_run {
	const struct exec_events *events;
	void *owner;
	char id[ID_TEXT_MAX];
	struct str session;		/* valid until `done` or a cancel */
	enum exec_runtime_kind runtime; /* valid once started */
	struct exec_outcome outcome;
	struct err err;
	struct exec_process *process; /* private; NULL when nothing runs */
};

/* The struct is the owner's and must stay until `done` or exec_run_cancel(). Errors of the specification come
 * through `done` too. */
void exec_run_start(struct exec_run *run, struct loop *loop, const struct exec_spec *spec,
		    const struct exec_events *events, void *owner);

/* Ends the script with TERM, then KILL; frames go on and `done` comes. `why` is a constant that the error
 * tells, or NULL: who asked knows. */
void exec_run_stop(struct exec_run *run, const char *why);

/* Kills it with everything that came from it, silently; no callback any more. Harmless on one that is over or
 * never began (zeroed). */
void exec_run_cancel(struct exec_run *run);

/* Stops taking the script's stdout, and goes on: for slow readers. */
void exec_run_pause(struct exec_run *run);
void exec_run_resume(struct exec_run *run);

#endif

/*
 * run_private.h - the inside of a run. Private to the files that make it up:
 *
 *   run.c	  the sequence: prepare, find out about node, run, end
 *   run_prepare.c  what happens on the worker pool before anything starts: programs and files
 *   run_story.c	  from what the script says to frames, and the budget of it all
 *   run_calls.c	  the tool calls of a run
 */
#ifndef EXEC_RUN_PRIVATE_H
#define EXEC_RUN_PRIVATE_H

#include "base/base.h"
#include "base/list.h"
#include "json/json.h"
#include "exec/channel.h"
#include "exec/run.h"
#include "exec/words.h"
#include "io/child.h"

enum exec_state { EXEC_PREPARING, EXEC_PROBING, EXEC_RUNNING };

/* What the worker pool finds out and writes. In the arena of whoever has it: the job's, then the run's. */
struct exec_prepared {
	struct exec_candidate candidates[EXEC_CANDIDATES_MAX];
	size_t candidate_count;
	struct exec_names names; /* of what is evaluated: the user's file, or one of ours */
	size_t offset;		 /* columns in front of a snippet's first line */
	/* path of the module that calls the entry's export; empty for a snippet, which does by itself */
	struct str launcher;
	struct str client; /* path of the client */
	struct err err;	   /* code 0: all is there */
};

struct exec_preparation;

/* One tool call that has begun and not ended. */
struct exec_call {
	struct list_node node;
	uint64_t began;	    /* loop_now() */
	struct str id;	    /* raw */
	struct str members; /* raw: server, tool, argsHash, destructiveHint, without braces */
	struct str name;    /* "files.read" */
};

/* Exists from the start until `done` or a cancel. */
struct exec_process {
	struct exec_run *run;
	struct loop *loop;
	struct arena arena; /* of everything that is not freed before the end */
	struct exec_spec spec;
	enum exec_state state;
	struct exec_preparation *preparation; /* running, else NULL */
	struct exec_prepared prepared;
	size_t candidate; /* the one that is probed or runs */
	struct child child;
	struct timer timer; /* time-out of the probe or of the run */
	struct buf version; /* what the probe printed */
	uint64_t started;

	/* the story */
	struct exec_channel channel;
	char held[4]; /* the begin of a character at the end of stdout */
	size_t held_n;
	uint64_t told; /* bytes that counted against the budget */
	bool overflowed;
	struct buf artifacts; /* raw objects, one a line */
	unsigned artifacts_told;
	bool artifacts_cut; /* not every one is */
	struct buf result;  /* raw; empty: none */
	struct buf error;   /* raw record; empty: none */
	/* why a result or an error, or what may have been one, could not be taken; empty: none was lost */
	struct buf lost;
	unsigned drops_told; /* log records about records that were dropped */
	struct buf words;    /* end of what the script wrote to stderr itself */
	/* the script has run, or its words have outgrown `words`: until then they are held back */
	bool begun;

	/* the calls */
	struct list_node calls;
	unsigned calls_listed;
	struct buf call_lines;
};

/* -- run_prepare.c --------------------------------------------------------------------------------------- */

struct exec_preparation {
	struct job job;
	struct exec_process *process; /* NULL when it was cancelled */
	struct arena arena;
	struct exec_spec spec; /* the parts that are looked at, copied */
	struct str path;       /* PATH of the environment */
	struct exec_prepared prepared;
	void (*done)(struct exec_process *process, struct exec_preparation *preparation);
};

/* Begins it on the worker pool. `done` moves the result on; the preparation frees itself afterwards. */
void exec_prepare_start(struct exec_process *process,
			void (*done)(struct exec_process *process, struct exec_preparation *preparation));
void exec_prepare_cancel(struct exec_process *process);

/* -- run_story.c ----------------------------------------------------------------------------------------- */

void exec_story_init(struct exec_process *process);
void exec_story_release(struct exec_process *process);
void exec_story_begin(struct exec_process *process);
void exec_story_stdout(struct exec_process *process, struct str bytes);
void exec_story_stderr(struct exec_process *process, struct str bytes);
/* Everything was said: tells what was held back, what went wrong (`why` is the reason when the script gave
 * none; empty: nothing did), and the end. */
void exec_story_end(struct exec_process *process, const struct child_status *status);

void exec_tell(struct exec_process *process, enum exec_frame_kind kind, struct str value, struct str text,
	       enum log_level level);

/* -- run_calls.c ----------------------------------------------------------------------------------------- */

void exec_calls_init(struct exec_process *process);
void exec_calls_begin(struct exec_process *process, const struct json_member *members, size_t count);
void exec_calls_end(struct exec_process *process, const struct json_member *members, size_t count);
/* The run is over: nobody knows how those that are under way ended. */
void exec_calls_lose(struct exec_process *process);
void exec_calls_release(struct exec_process *process);

#endif

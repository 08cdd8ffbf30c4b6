/*
 * completion.h - what could come next on a command line that is being typed.
 *
 * Everything is read from the tables: commands, their inputs, settings with their flags. What only the daemon
 * knows (namespaces, tools and their arguments, artifacts) is asked of it through a function that the caller
 * hands in, so that this works, and is tested, without one; whoever asks bounds the time, and no answer means
 * no candidates. Files are not listed here: shells do that better, with ~ and variables, so it is only said
 * that one belongs there.
 *
 * Text that a server chose becomes part of a command line, so a candidate with characters that a terminal
 * obeys is left out.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"
#include "cli/command.h"
#include "settings/environment.h"
#include "settings/settings.h"

/* The words after `mcpx`, as the program would get them: without quotes. */
struct completion_line {
	const struct str *words; /* before the one with the cursor */
	size_t count;
	struct str current; /* the one with the cursor, up to the cursor; often empty */
	bool redirects;	    /* the one with the cursor is the file of a redirection, and no word of ours */
};

/* Asks the running daemon for `target`, such as "/v1/namespaces", and gives its answer's JSON; empty when
 * there is none. */
typedef struct str completion_ask(void *owner, struct str target);

struct completion_context {
	const struct environment *environment;
	struct str cwd; /* absolute: where scripts are looked for */
	struct arena *arena;
	completion_ask *ask;
	void *owner; /* of `ask` */
};

struct candidate {
	struct str text; /* of the whole word */
	struct str note; /* one line for people, or empty */
	bool open;	 /* the word goes on behind it, so no blank follows: "files.", "path=" */
};

enum { CANDIDATES_MAX = 4096 }; /* further ones are dropped: nobody reads a longer list */

struct candidates {
	struct candidate *items;
	size_t count, room;
	/* A file's name may stand here too, from the byte `files_at` of the current word on: "--output=" is 9
	 * bytes long. */
	bool files;
	size_t files_at;
};

/*
 * Everything that may stand in the place of the current word, also what does not begin like it, for shells
 * that match in their own ways. What the current word begins like does decide what kind of thing is offered:
 * flags for "-", the tools of a namespace for "files.". Strings are the tables', the line's or the arena's.
 */
void completion_find(struct candidates *candidates, const struct completion_line *line,
		     const struct completion_context *context);

/* Keeps only the candidates that begin like the current word. */
void candidates_narrow(struct candidates *candidates, struct str current);

/*
 * The settings that the flags on the line decide, added to `set`: which daemon is meant may depend on them.
 * Words that are wrong are passed over.
 */
void completion_add_flags(struct settings *set, const struct completion_line *line,
			  const struct completion_context *context);

#endif

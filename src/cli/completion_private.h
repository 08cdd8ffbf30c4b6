/*
 * completion_private.h - what the files of completion share: the place of the cursor, and how candidates are
 * added.
 */
#ifndef CLI_COMPLETION_PRIVATE_H
#define CLI_COMPLETION_PRIVATE_H

#include "cli/completion.h"
#include "settings/registry.h"

/* What the words before the cursor say. */
struct completion_place {
	const struct command *command;
	struct str family; /* "artifact", when that was all */
	bool flags_ended;
	size_t positionals; /* how many positional arguments and further words were given */
	struct str first;   /* the first of them */
	size_t after_first; /* the word that comes after it */
	/* The current word is the value of this flag. */
	const struct operation_input *input;
	const struct setting_declaration *setting;
};

struct completion {
	struct candidates *to;
	const struct completion_line *line;
	const struct completion_context *context;
	struct completion_place place;
	struct str head; /* the part of the current word that stays: "--ns=", "a,b," */
	struct str text; /* what comes after it, up to the cursor */
};

/* What stands behind the flag's name, or in place of an argument. */
enum completion_source {
	SOURCE_NOTHING,
	SOURCE_FILE,
	SOURCE_SCRIPT,
	SOURCE_COMMAND,	      /* a command, one word at a time */
	SOURCE_NAMESPACE,     /* "files" */
	SOURCE_NAMESPACES,    /* "files,git" */
	SOURCE_TYPES,	      /* "files,git.log" */
	SOURCE_TOOL,	      /* "files.read" */
	SOURCE_ARGUMENT,      /* "path=README.md", of the tool that was named before */
	SOURCE_ARTIFACT,      /* an artifact's handle */
	SOURCE_SETTING,	      /* "pool.callTimeout" */
	SOURCE_SETTING_VALUE, /* of the setting that was named before */
};

void completion_add(struct completion *completion, struct str text, struct str note);
void completion_add_open(struct completion *completion, struct str text, struct str note);

/* Moves `n` more bytes of the text to the head. */
void completion_advance(struct completion *completion, size_t n);

/* A file's name may stand behind the head. */
void completion_expect_file(struct completion *completion);

/* The words of a choice, "a|b|c". */
void completion_add_choices(struct completion *completion, struct str choices);
void completion_add_truth(struct completion *completion); /* true and false */

/* The text behind the head is the value of `input`, or of a setting's flag. */
void completion_add_input(struct completion *completion, const struct operation_input *input);
void completion_add_setting(struct completion *completion, const struct setting_declaration *setting);

/* The word that comes next in commands whose words so far are `words`; empty for the first. */
void completion_add_commands(struct completion *completion, struct str words);
void completion_add_scripts(struct completion *completion);

/* What the daemon knows. */
void completion_add_namespaces(struct completion *completion);
void completion_add_tools(struct completion *completion);
void completion_add_types(struct completion *completion); /* namespaces, or a namespace's tools */
void completion_add_arguments(struct completion *completion);
void completion_add_artifacts(struct completion *completion);

/* Whether every row of the table that says which input wants which kind of value is about an input that there
 * is. For the test. */
bool completion_sources_are_true(void);

#endif

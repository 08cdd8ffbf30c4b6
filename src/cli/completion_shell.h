/*
 * completion_shell.h - completion as each shell wants it: the script that it sources, how it tells the line,
 * how it is answered.
 *
 * The scripts only carry bytes. For each completion they run `mcpx completion words -- SHELL ...` and hand
 * its answer to the shell:
 *
 *	bash LINE TEXT
 *		LINE is the command line up to the cursor, quotes and all, and TEXT its end that bash will
 *		replace, which begins behind the last of the characters in COMP_WORDBREAKS, such as "=" and
 *		":". The answer is a line "nospace", "files" or "-", a line with the number of bytes of TEXT
 *		that stand before a file's name, and the replacements for TEXT, quoted as LINE is.
 *	zsh WORD... PREFIX
 *		Without quotes, the program first. The answer is a line with the number of bytes of PREFIX
 *		before a file's name, or "-" for no file, then the words as _describe takes them ("word:note"
 *		with backslashes before backslashes and colons), each behind a "w", or an "o" when no blank
 *		is to follow.
 *	fish WORD... TOKEN
 *		The words without quotes, the program first; the token with its quotes. The answer is the
 *		same line as for zsh, then "word<tab>note".
 *
 * zsh and fish match candidates with the word in ways that users configure, so they get all; bash gets those
 * that begin like the word.
 */
#ifndef CLI_COMPLETION_SHELL_H
#define CLI_COMPLETION_SHELL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/completion.h"

enum completion_shell { COMPLETION_BASH, COMPLETION_ZSH, COMPLETION_FISH };

/* "bash", "zsh" or "fish": false for another. */
bool completion_shell_find(struct str name, enum completion_shell *ret_shell);

/* The script. */
struct str completion_script(enum completion_shell shell);

/* What a shell told. */
struct completion_request {
	enum completion_shell shell;
	struct completion_line line;
	/* bash only */
	char quote;  /* that is open at the cursor, or NUL */
	size_t kept; /* bytes of the current word, without quotes, that bash does not replace */
};

/* `words` are those after `completion words --`. ERR_INVALID when they are none that a script of ours hands
 * over. */
int completion_request_read(struct completion_request *request, const char *const *words, size_t count,
			    struct arena *arena, struct err *err);

/* Writes the answer; narrows the candidates where the shell does not do it. */
void completion_reply_write(struct buf *out, const struct completion_request *request,
			    struct candidates *candidates);

#endif

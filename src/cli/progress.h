/*
 * progress.h - how far a long call is, on one line of standard error that is written over and wiped at the
 * end.
 *
 *	[############            ]  50%  reading files
 *
 * Without a total the bar is left out and the count shown. With output.progress always, and no terminal on
 * which a line could be written over, each step is a line of its own.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/terminal.h"
#include "json/json.h"
#include "settings/settings.h"

/* To the start of the line, and wipe it (ECMA-48 section 8.3.41). */
#define PROGRESS_WIPE "\r\033[K"

struct progress {
	const struct terminal *terminal; /* standard error */
	bool shown;			 /* something stands on the line */
};

/* Whether progress is to be shown, as output.progress and the terminal say. */
bool progress_wanted(const struct settings *set, const struct terminal *terminal);

/* Whether it is one line that is written over. */
bool progress_is_one_line(const struct terminal *terminal);

/* `params` of a notifications/progress: progress, total, message. */
void progress_show(struct progress *progress, const struct json *params);

/* Wipes the line. */
void progress_end(struct progress *progress);

/* The line itself, without what moves the cursor; for tests. `width` is the terminal's. */
void progress_line(struct buf *out, const struct json *params, size_t width);

#endif

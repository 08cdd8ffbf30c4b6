/*
 * err.h - how a failure is told: a negative code for the program, a message and a position for the person.
 *
 * A function that can fail returns 0 or one of the codes below and, when the caller passed a struct err,
 * fills it. Pass NULL when only the code matters. A message says what was wrong, where, and what to do next;
 * it has no trailing newline or full stop. Errors are values: copy them freely, nothing needs to be released.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/base.h"

enum err_code {
	ERR_INVALID = -1,      /* malformed input or argument: the sender must change it */
	ERR_NOT_FOUND = -2,    /* no such thing */
	ERR_EXISTS = -3,       /* there is one already */
	ERR_TOO_LARGE = -4,    /* over a limit that the message names */
	ERR_TIMEOUT = -5,      /* a deadline passed; the message says what was waited for */
	ERR_CANCELLED = -6,    /* whoever asked has gone or changed their mind */
	ERR_CLOSED = -7,       /* the peer closed or died */
	ERR_IO = -8,	       /* the operating system refused; the message carries its reason */
	ERR_BUSY = -9,	       /* try again later */
	ERR_DENIED = -10,      /* a rule or permission forbids it */
	ERR_PROTOCOL = -11,    /* a peer broke its protocol */
	ERR_UPSTREAM = -12,    /* an upstream server failed or answered with an error */
	ERR_UNSUPPORTED = -13, /* understood, and not offered */
	/* failed before and is not tried again yet; the message says how it failed and when it is tried */
	ERR_UNAVAILABLE = -14,
	ERR_FULL = -15 /* no space is left on a disk, or in its quota: free some and try again */
};

/* Holds a path, a reason and the last lines of a child's stderr; small enough to live on any stack. */
enum { ERR_MESSAGE_MAX = 1024 };

struct err {
	int code;		       /* an enum err_code, or 0 */
	unsigned line, column;	       /* in a text: 1-based, column in bytes; 0 when unknown */
	size_t offset;		       /* in a text: bytes from its start; meaningful when line is set */
	char message[ERR_MESSAGE_MAX]; /* NUL-terminated UTF-8; cut at a character boundary when too long */
};

/* Fills *err when it is not NULL. Returns `code`, so that `return err_set(...)` is one line. Clears the
 * position. */
int err_set(struct err *err, int code, const char *format, ...) _printf_(3, 4);

/* The same for a failed system call: appends ": " and the text of errno. The code is ERR_NOT_FOUND for
 * ENOENT, ERR_EXISTS for EEXIST, ERR_DENIED for EACCES and EPERM, ERR_FULL for ENOSPC and EDQUOT, else
 * ERR_IO. */
int err_errno(struct err *err, const char *format, ...) _printf_(2, 3);

/* Puts "format: " in front of a message that is already there, to say where it happened. Returns err->code,
 * or `code` when err is NULL. */
int err_prefix(struct err *err, int code, const char *format, ...) _printf_(3, 4);

/* Puts more behind a message that is already there; nothing when err is NULL. */
void err_append(struct err *err, const char *format, ...) _printf_(2, 3);

/* The short name of a code, such as "not found". */
const char *err_code_name(int code);

#endif

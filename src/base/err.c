#include "base/base.h"
#include "base/err.h"
#include "base/utf8_character.h"

#include <errno.h>
#include <stdarg.h>

/* Takes a character off the end of which vsnprintf() has left only a part. */
static void err_cut(char *message, size_t size)
{
	size_t n = strnlen(message, size - 1), last = n - 1;

	if (n < size - 1)
		return;
	while (last > 0 && n - last < UTF8_BYTES_MAX && utf8_is_tail((unsigned char)message[last]))
		last--;
	if (utf8_length(message + last, message + n) == 0)
		message[last] = '\0';
}

_printf_(3, 0) static void err_fill(struct err *err, int code, const char *format, va_list args)
{
	err->code = code;
	err->line = err->column = 0;
	err->offset = 0;
	vsnprintf(err->message, sizeof(err->message), format, args);
	err_cut(err->message, sizeof(err->message));
}

int err_set(struct err *err, int code, const char *format, ...)
{
	va_list args;

	BUG_ON(code >= 0);
	if (!err)
		return code;
	va_start(args, format);
	err_fill(err, code, format, args);
	va_end(args);
	return code;
}

static int err_code_of_errno(int error)
{
	switch (error) {
	case ENOENT:
		return ERR_NOT_FOUND;
	case EEXIST:
		return ERR_EXISTS;
	case EACCES:
	case EPERM:
		return ERR_DENIED;
	case ENOSPC:
	case EDQUOT:
		return ERR_FULL;
	default:
		return ERR_IO;
	}
}

int err_errno(struct err *err, const char *format, ...)
{
	int error = errno;
	int code = err_code_of_errno(error);
	const char *reason = strerrordesc_np(error);
	size_t n;
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	err_fill(err, code, format, args);
	va_end(args);
	n = strlen(err->message);
	if (reason)
		snprintf(err->message + n, sizeof(err->message) - n, ": %s", reason);
	else
		snprintf(err->message + n, sizeof(err->message) - n, ": error %d", error);
	err_cut(err->message, sizeof(err->message));
	return code;
}

int err_prefix(struct err *err, int code, const char *format, ...)
{
	char old[ERR_MESSAGE_MAX];
	size_t n;
	va_list args;

	if (!err)
		return code;
	memcpy(old, err->message, sizeof(old));
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	n = strlen(err->message);
	snprintf(err->message + n, sizeof(err->message) - n, ": %s", old);
	err_cut(err->message, sizeof(err->message));
	return err->code;
}

void err_append(struct err *err, const char *format, ...)
{
	va_list args;
	size_t n;

	if (!err)
		return;
	n = strlen(err->message);
	va_start(args, format);
	vsnprintf(err->message + n, sizeof(err->message) - n, format, args);
	va_end(args);
	err_cut(err->message, sizeof(err->message));
}

const char *err_code_name(int code)
{
	static const char *const names[] = {
		"ok",	     "invalid",	    "not found",   "exists", "too large", "timed out",
		"cancelled", "closed",	    "i/o",	   "busy",   "denied",	  "protocol",
		"upstream",  "unsupported", "unavailable", "full",
	};
	size_t at = (size_t)(0 - (long)code);

	return code <= 0 && at < ARRAY_LEN(names) ? names[at] : "unknown";
}

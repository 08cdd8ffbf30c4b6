/*
 * log.h - structured log records: typed fields, one line each, as text, JSON or logfmt.
 *
 * Only programs log (CONTRIBUTING.md): they hold a struct logger, which drops what is below its level and
 * hands whole lines to a sink. Whatever a message, key or value holds, a record stays one line that cannot be
 * mistaken for another: control characters, newlines and broken UTF-8 are escaped or replaced, keys are
 * reduced to [A-Za-z0-9_.-]. Values of fields whose key marks a secret are replaced by "[redacted]". Values
 * and lines have maxima. Pure: clock and sink are given. Not thread-safe.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON, LOG_FORMAT_LOGFMT };

/* "debug", "info", "warn", "error"; and back. ERR_INVALID names the allowed words. */
const char *log_level_name(enum log_level level);
int log_level_parse(struct str text, enum log_level *ret_level, struct err *err);
/* The same for "text", "json", "logfmt". */
const char *log_format_name(enum log_format format);
int log_format_parse(struct str text, enum log_format *ret_format, struct err *err);

/* -- records --------------------------------------------------------------------------------------------- */

enum log_field_type {
	LOG_FIELD_END, /* ends a list of fields */
	LOG_FIELD_STR,
	LOG_FIELD_INT,
	LOG_FIELD_UINT,
	LOG_FIELD_BOOL,
	LOG_FIELD_DURATION, /* milliseconds; "wait=1.5s", in JSON "waitMs":1500 */
	LOG_FIELD_ERR	    /* the message, and a second field with the code: "error_code=timed out" */
};

struct log_field {
	enum log_field_type type;
	struct str key;
	union {
		struct str s;
		int64_t i;
		uint64_t u;
		bool b;
		const struct err *err;
	} value;
};

static inline struct log_field log_str(const char *key, struct str value)
{
	return (struct log_field){ LOG_FIELD_STR, str_of(key), { .s = value } };
}
static inline struct log_field log_cstr(const char *key, const char *value)
{
	return log_str(key, str_of(value));
}
static inline struct log_field log_int(const char *key, int64_t value)
{
	return (struct log_field){ LOG_FIELD_INT, str_of(key), { .i = value } };
}
static inline struct log_field log_uint(const char *key, uint64_t value)
{
	return (struct log_field){ LOG_FIELD_UINT, str_of(key), { .u = value } };
}
static inline struct log_field log_bool(const char *key, bool value)
{
	return (struct log_field){ LOG_FIELD_BOOL, str_of(key), { .b = value } };
}
static inline struct log_field log_duration(const char *key, uint64_t ms)
{
	return (struct log_field){ LOG_FIELD_DURATION, str_of(key), { .u = ms } };
}
static inline struct log_field log_err(const char *key, const struct err *err)
{
	return (struct log_field){ LOG_FIELD_ERR, str_of(key), { .err = err } };
}

/* The fields of one record: LOG_FIELDS(log_str("server", name), log_duration("wait", ms)). NULL stands for
 * none. */
#define LOG_FIELDS(...)                                                                                      \
	((const struct log_field[]){ __VA_ARGS__, { LOG_FIELD_END, { NULL, 0 }, { .u = 0 } } })

struct log_record {
	uint64_t wall_ms; /* since 1970 */
	enum log_level level;
	struct str message;
	const struct log_field *fields; /* until LOG_FIELD_END; may be NULL */
};

struct log_bounds {
	size_t value_max; /* bytes of one value or of the message, as written; cut values end in "..." */
	size_t line_max;  /* bytes of the line with its newline, at least LOG_LINE_MIN */
};
enum {
	LOG_LINE_MIN = 512,
	LOG_KEY_MAX = 64 /* longer keys are cut */
};

/*
 * Appends the record as one line with its newline. Fields that do not fit are left out, and "truncated=true"
 * says so. The keys "time", "level", "msg" and "truncated" belong to the record: a field of that name gets a
 * "_" behind it. ERR_TOO_LARGE when `out` has failed, which a maximum of bounds->line_max prevents.
 */
int log_render(struct buf *out, enum log_format format, const struct log_bounds *bounds,
	       const struct log_record *record);

/*
 * Whether a key names a secret: one of its words, as divided by case, "-", "_" and ".", is token, secret,
 * password, passwd, passphrase, authorization, credential, cookie, bearer, jwt, apikey, privatekey (or the
 * plural of most) or ends in one of these, or two together are api key, access key, private key, signing key
 * or encryption key. "tokens" is none: it counts.
 */
bool log_key_is_secret(struct str key);

/* -- loggers --------------------------------------------------------------------------------------------- */

struct logger {
	enum log_level level; /* may be changed at any time, as may the format */
	enum log_format format;
	struct log_bounds bounds;
	uint64_t (*clock)(void);					    /* milliseconds since 1970 */
	void (*sink)(void *context, enum log_level level, struct str line); /* with its newline */
	void *context;
	struct buf line; /* private; set up by the first record */
};

/* Frees what the logger allocated. A logger is made by an initialiser; its fields are its parameters. */
void logger_release(struct logger *logger);

static inline bool logger_wants(const struct logger *logger, enum log_level level)
{
	return level >= logger->level;
}

/* Hands one line to the sink, or nothing when the level is too low. The line is valid during the call of the
 * sink. */
void logger_log(struct logger *logger, enum log_level level, struct str message,
		const struct log_field *fields);

#endif

#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/log.h"

#define TIME_IN_TEXT "2026-07-28T09:08:07.123Z"
#define TIME_MS UINT64_C(1785229687123)

static const struct log_bounds wide = { .value_max = 1000, .line_max = 4000 };

static void expect_line(enum log_format format, const struct log_bounds *bounds, struct str message,
			const struct log_field *fields, const char *expected)
{
	const struct log_record record = { TIME_MS, LOG_LEVEL_INFO, message, fields };
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, bounds->line_max);
	assert_int_equal(log_render(&out, format, bounds, &record), 0);
	assert_string_equal(buf_cstr(&out), expected);
	assert_int_equal(out.n, strlen(expected));
}

static void expect_all(struct str message, const struct log_field *fields, const char *text, const char *json,
		       const char *logfmt)
{
	expect_line(LOG_FORMAT_TEXT, &wide, message, fields, text);
	expect_line(LOG_FORMAT_JSON, &wide, message, fields, json);
	expect_line(LOG_FORMAT_LOGFMT, &wide, message, fields, logfmt);
}

#define TEXT_HEAD TIME_IN_TEXT " info  "
#define JSON_HEAD "{\"time\":\"" TIME_IN_TEXT "\",\"level\":\"info\",\"msg\":"
#define LOGFMT_HEAD "time=" TIME_IN_TEXT " level=info msg="

static void test_no_fields(void **state)
{
	(void)state;
	expect_all(STR("daemon started"), NULL, TEXT_HEAD "daemon started\n",
		   JSON_HEAD "\"daemon started\"}\n", LOGFMT_HEAD "\"daemon started\"\n");
	expect_all(STR("ready"), LOG_FIELDS(log_bool("first", true)), TEXT_HEAD "ready first=true\n",
		   JSON_HEAD "\"ready\",\"first\":true}\n", LOGFMT_HEAD "ready first=true\n");
}

static void test_every_type(void **state)
{
	(void)state;
	expect_all(
		STR("x"),
		LOG_FIELDS(log_str("server", STR("files")), log_cstr("cwd", "/a b"), log_int("i", INT64_MIN),
			   log_uint("u", UINT64_MAX), log_bool("b", false), log_duration("wait", 90500)),
		TEXT_HEAD "x server=files cwd=\"/a b\" i=-9223372036854775808 u=18446744073709551615 b=false "
			  "wait=1m30.5s\n",
		JSON_HEAD "\"x\",\"server\":\"files\",\"cwd\":\"/a b\",\"i\":-9223372036854775808,"
			  "\"u\":18446744073709551615,\"b\":false,\"waitMs\":90500}\n",
		LOGFMT_HEAD "x server=files cwd=\"/a b\" i=-9223372036854775808 u=18446744073709551615 "
			    "b=false wait=1m30.5s\n");
}

static void test_errors(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_TIMEOUT, "no answer after %s", "5s");
	expect_all(STR("x"), LOG_FIELDS(log_err("error", &err)),
		   TEXT_HEAD "x error=\"no answer after 5s\" error_code=\"timed out\"\n",
		   JSON_HEAD "\"x\",\"error\":\"no answer after 5s\",\"error_code\":\"timed out\"}\n",
		   LOGFMT_HEAD "x error=\"no answer after 5s\" error_code=\"timed out\"\n");
	err.line = 3;
	err.column = 7;
	expect_line(LOG_FORMAT_JSON, &wide, STR("x"), LOG_FIELDS(log_err("why", &err)),
		    JSON_HEAD
		    "\"x\",\"why\":\"no answer after 5s\",\"why_code\":\"timed out\",\"why_line\":3,"
		    "\"why_column\":7}\n");
	expect_line(LOG_FORMAT_TEXT, &wide, STR("x"), LOG_FIELDS(log_err("error", NULL)),
		    TEXT_HEAD "x error=none\n");
}

static void test_levels(void **state)
{
	static const char *const expected[] = {
		TIME_IN_TEXT " debug x\n",
		TIME_IN_TEXT " info  x\n",
		TIME_IN_TEXT " warn  x\n",
		TIME_IN_TEXT " error x\n",
	};

	(void)state;
	for (int level = LOG_LEVEL_DEBUG; level <= LOG_LEVEL_ERROR; level++) {
		const struct log_record record = { TIME_MS, (enum log_level)level, STR("x"), NULL };
		_cleanup_buf_ struct buf out = { 0 };
		enum log_level back;

		buf_init(&out, wide.line_max);
		assert_int_equal(log_render(&out, LOG_FORMAT_TEXT, &wide, &record), 0);
		assert_string_equal(buf_cstr(&out), expected[level]);
		assert_int_equal(log_level_parse(str_of(log_level_name((enum log_level)level)), &back, NULL),
				 0);
		assert_int_equal(back, level);
	}
}

static void test_names(void **state)
{
	struct err err = { 0 };
	enum log_level level = LOG_LEVEL_WARN;
	enum log_format format;

	(void)state;
	for (int i = LOG_FORMAT_TEXT; i <= LOG_FORMAT_LOGFMT; i++) {
		assert_int_equal(log_format_parse(str_of(log_format_name((enum log_format)i)), &format, &err),
				 0);
		assert_int_equal(format, i);
	}
	assert_int_equal(log_level_parse(STR("warning"), &level, &err), ERR_INVALID);
	assert_string_equal(err.message, "\"warning\" is no log level; use debug, info, warn or error");
	assert_int_equal(level, LOG_LEVEL_WARN);
	assert_int_equal(log_level_parse(STR("WARN"), &level, &err), ERR_INVALID);
	assert_int_equal(log_level_parse(STR(""), &level, &err), ERR_INVALID);
	assert_int_equal(log_format_parse(STR("xml"), &format, &err), ERR_INVALID);
	assert_string_equal(err.message, "\"xml\" is no log format; use text, json or logfmt");
}

/* What a peer writes stays inside its quotes and its line. */
static void test_forgery(void **state)
{
	const struct log_field *fields =
		LOG_FIELDS(log_str("name", STR("a\n" TIME_IN_TEXT " error forged\r\x1b[2J\0\x7f\xc2\x9b")));
	static const char escaped[] = "a\\n" TIME_IN_TEXT " error forged\\r\\u001b[2J\\u0000\\u007f\\u009b";
	char text[400], json[400], logfmt[400];

	(void)state;
	snprintf(text, sizeof(text), TEXT_HEAD "x name=\"%s\"\n", escaped);
	snprintf(json, sizeof(json), JSON_HEAD "\"x\",\"name\":\"%s\"}\n", escaped);
	snprintf(logfmt, sizeof(logfmt), LOGFMT_HEAD "x name=\"%s\"\n", escaped);
	expect_all(STR("x"), fields, text, json, logfmt);
}

static void test_forged_message(void **state)
{
	(void)state;
	expect_all(STR("a\nb"), NULL, TEXT_HEAD "\"a\\nb\"\n", JSON_HEAD "\"a\\nb\"}\n",
		   LOGFMT_HEAD "\"a\\nb\"\n");
	expect_all(STR("a level=error"), NULL, TEXT_HEAD "\"a level=error\"\n",
		   JSON_HEAD "\"a level=error\"}\n", LOGFMT_HEAD "\"a level=error\"\n");
	expect_all(STR(""), NULL, TEXT_HEAD "\"\"\n", JSON_HEAD "\"\"}\n", LOGFMT_HEAD "\"\"\n");
	expect_all(STR(" "), NULL, TEXT_HEAD "\" \"\n", JSON_HEAD "\" \"}\n", LOGFMT_HEAD "\" \"\n");
}

static void test_quoting(void **state)
{
	(void)state;
	expect_all(
		STR("x"),
		LOG_FIELDS(log_cstr("a", ""), log_cstr("b", "k=v"), log_cstr("c", "say \"hi\""),
			   log_cstr("d", "C:\\x"), log_cstr("e", "t\tt"), log_cstr("f", "h\xc3\xa9")),
		TEXT_HEAD "x a=\"\" b=\"k=v\" c=\"say \\\"hi\\\"\" d=\"C:\\\\x\" e=\"t\\tt\" f=h\xc3\xa9\n",
		JSON_HEAD "\"x\",\"a\":\"\",\"b\":\"k=v\",\"c\":\"say \\\"hi\\\"\",\"d\":\"C:\\\\x\",\"e\":"
			  "\"t\\tt\",\"f\":\"h\xc3\xa9\"}\n",
		LOGFMT_HEAD
		"x a=\"\" b=\"k=v\" c=\"say \\\"hi\\\"\" d=\"C:\\\\x\" e=\"t\\tt\" f=h\xc3\xa9\n");
}

static void test_broken_utf8(void **state)
{
	(void)state;
	expect_all(STR("x"),
		   LOG_FIELDS(log_str("a", STR("<\xff\xe2\x82>")), log_str("b", STR("\xe2\x80\xae"))),
		   TEXT_HEAD "x a=\"<\xef\xbf\xbd\xef\xbf\xbd>\" b=\"\\u202e\"\n",
		   JSON_HEAD "\"x\",\"a\":\"<\xef\xbf\xbd\xef\xbf\xbd>\",\"b\":\"\\u202e\"}\n",
		   LOGFMT_HEAD "x a=\"<\xef\xbf\xbd\xef\xbf\xbd>\" b=\"\\u202e\"\n");
}

static void test_keys(void **state)
{
	char longest[LOG_KEY_MAX + 10], expected[300];

	(void)state;
	expect_all(STR("x"),
		   LOG_FIELDS(log_int("a b=c\"\n", 1), log_int("", 2), log_int("x.y-z_9", 3),
			      log_int("level", 4), log_int("time", 5), log_int("msg", 6),
			      log_int("truncated", 7), log_int("h\xc3\xa9", 8)),
		   TEXT_HEAD "x a_b_c__=1 _=2 x.y-z_9=3 level_=4 time_=5 msg_=6 truncated_=7 h__=8\n",
		   JSON_HEAD "\"x\",\"a_b_c__\":1,\"_\":2,\"x.y-z_9\":3,\"level_\":4,\"time_\":5,\"msg_\":6,"
			     "\"truncated_\":7,\"h__\":8}\n",
		   LOGFMT_HEAD "x a_b_c__=1 _=2 x.y-z_9=3 level_=4 time_=5 msg_=6 truncated_=7 h__=8\n");
	memset(longest, 'k', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	snprintf(expected, sizeof(expected), TEXT_HEAD "x %.*s=1\n", LOG_KEY_MAX, longest);
	expect_line(LOG_FORMAT_TEXT, &wide, STR("x"), LOG_FIELDS(log_int(longest, 1)), expected);
}

static void test_redaction(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, ERR_DENIED, "hunter2 is wrong");
	expect_all(
		STR("x"),
		LOG_FIELDS(log_cstr("token", "hunter2"), log_cstr("userPassword", "hunter2"),
			   log_int("api_key", 4711), log_err("secret", &err), log_duration("cookie", 4711),
			   log_bool("MY_TOKEN", true), log_uint("tokens", 12)),
		TEXT_HEAD "x token=[redacted] userPassword=[redacted] api_key=[redacted] secret=[redacted] "
			  "cookie=[redacted] MY_TOKEN=[redacted] tokens=12\n",
		JSON_HEAD "\"x\",\"token\":\"[redacted]\",\"userPassword\":\"[redacted]\",\"api_key\":"
			  "\"[redacted]\",\"secret\":\"[redacted]\",\"cookie\":\"[redacted]\",\"MY_TOKEN\":"
			  "\"[redacted]\",\"tokens\":12}\n",
		LOGFMT_HEAD "x token=[redacted] userPassword=[redacted] api_key=[redacted] "
			    "secret=[redacted] cookie=[redacted] MY_TOKEN=[redacted] tokens=12\n");
}

static void test_secret_keys(void **state)
{
	static const char *const secret[] = {
		"token",
		"TOKEN",
		"auth_token",
		"authToken",
		"authtoken",
		"HTTPToken",
		"GITHUB_TOKEN",
		"token-id",
		"secret",
		"secrets",
		"db.password",
		"passwd",
		"passphrase",
		"authorization",
		"Authorization",
		"Proxy-Authorization",
		"credential",
		"credentials",
		"cookie",
		"Set-Cookie",
		"bearer",
		"apikey",
		"APIKEY",
		"api_key",
		"apiKey",
		"X-Api-Key",
		"api.keys",
		"APIKey",
		"access_key",
		"privateKey",
		"private-key",
		"signing_key",
		"client_secret_2",
		"jwt",
		"MYSQL_ROOT_PASSWORD",
	};
	static const char *const open[] = {
		"",	      "tokens",	 "key",	      "keys", "public_key", "monkey",	    "api",
		"pass",	      "keyword", "secretary", "toke", "author",	    "authorize",    "passed",
		"api_monkey", "ns",	 "server",    "___",  "tokenizer",  "cookiecutter",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(secret); i++)
		if (!log_key_is_secret(str_of(secret[i])))
			fail_msg("%s is a secret", secret[i]);
	for (size_t i = 0; i < ARRAY_LEN(open); i++)
		if (log_key_is_secret(str_of(open[i])))
			fail_msg("%s is none", open[i]);
}

static void test_value_bound(void **state)
{
	const struct log_bounds narrow = { .value_max = 20, .line_max = 600 };

	(void)state;
	expect_line(LOG_FORMAT_TEXT, &narrow, STR("x"), LOG_FIELDS(log_cstr("a", "12345678901234567890")),
		    TEXT_HEAD "x a=12345678901234567890\n");
	expect_line(LOG_FORMAT_TEXT, &narrow, STR("x"), LOG_FIELDS(log_cstr("a", "123456789012345678901")),
		    TEXT_HEAD "x a=12345678901234567...\n");
	/* An escape or a character is not torn: the cut comes before it. */
	expect_line(LOG_FORMAT_JSON, &narrow, STR("x"), LOG_FIELDS(log_cstr("a", "1234567890123456\nabcdef")),
		    JSON_HEAD "\"x\",\"a\":\"1234567890123456...\"}\n");
	expect_line(LOG_FORMAT_JSON, &narrow, STR("x"),
		    LOG_FIELDS(log_cstr("a", "1234567890123456\xe2\x82\xac"
					     "bcdef")),
		    JSON_HEAD "\"x\",\"a\":\"1234567890123456...\"}\n");
	expect_line(LOG_FORMAT_TEXT, &narrow, STR("123456789 123456789 123456789"), NULL,
		    TEXT_HEAD "123456789 1234567...\n");
	expect_line(LOG_FORMAT_TEXT, &(struct log_bounds){ 0, 600 }, STR("123456789 123456789"), NULL,
		    TEXT_HEAD "123456789 123...\n");
}

static void fill_line(struct log_field *fields, size_t count, char *value, size_t size)
{
	memset(value, '\x01', size);
	for (size_t i = 0; i < count; i++)
		fields[i] = log_str("field", str_make(value, size));
	fields[count] = (struct log_field){ 0 };
}

static void test_line_bound(void **state)
{
	static const char *const tails[] = { " last=1 truncated=true\n", ",\"last\":1,\"truncated\":true}\n",
					     " last=1 truncated=true\n" };
	const struct log_bounds tight = { .value_max = 300, .line_max = LOG_LINE_MIN };
	struct log_field fields[12];
	char value[1000];

	(void)state;
	fill_line(fields, 10, value, sizeof(value));
	fields[10] = log_int("last", 1);
	fields[11] = (struct log_field){ 0 };
	for (int format = LOG_FORMAT_TEXT; format <= LOG_FORMAT_LOGFMT; format++) {
		const struct log_record record = { TIME_MS, LOG_LEVEL_ERROR, str_make(value, sizeof(value)),
						   fields };
		_cleanup_buf_ struct buf out = { 0 };

		buf_init(&out, LOG_LINE_MIN);
		assert_int_equal(log_render(&out, (enum log_format)format, &tight, &record), 0);
		assert_in_range(out.n, 300, LOG_LINE_MIN);
		assert_true(str_ends_with(buf_str(&out), str_of(tails[format])));
		assert_int_equal(str_find_char(buf_str(&out), '\n'), out.n - 1);
	}
}

/* Whatever the sizes, a line never passes its maximum, so that a buffer of that size is enough. */
static void test_line_bound_by_bytes(void **state)
{
	char value[700];

	(void)state;
	memset(value, 'v', sizeof(value));
	for (size_t n = 0; n < sizeof(value); n++) {
		const struct log_bounds bounds = { .value_max = 1000, .line_max = LOG_LINE_MIN };
		const struct log_record record = { TIME_MS, LOG_LEVEL_INFO, STR("x"),
						   LOG_FIELDS(log_str("v", str_make(value, n))) };
		_cleanup_buf_ struct buf out = { 0 };

		buf_init(&out, LOG_LINE_MIN);
		assert_int_equal(log_render(&out, LOG_FORMAT_JSON, &bounds, &record), 0);
		assert_true(str_ends_with(buf_str(&out), n < 410   ? STR("\"}\n")
							 : n > 450 ? STR("\"x\",\"truncated\":true}\n")
								   : STR("}\n")));
	}
}

static void test_appends(void **state)
{
	const struct log_record record = { TIME_MS, LOG_LEVEL_INFO, STR("x"), NULL };
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, LOG_LINE_MIN + 39);
	assert_int_equal(
		log_render(&out, LOG_FORMAT_TEXT, &(struct log_bounds){ 100, LOG_LINE_MIN }, &record), 0);
	assert_int_equal(
		log_render(&out, LOG_FORMAT_TEXT, &(struct log_bounds){ 100, LOG_LINE_MIN }, &record), 0);
	assert_string_equal(buf_cstr(&out), TEXT_HEAD "x\n" TEXT_HEAD "x\n");
	assert_int_equal(
		log_render(&out, LOG_FORMAT_TEXT, &(struct log_bounds){ 100, LOG_LINE_MIN }, &record),
		ERR_TOO_LARGE);
}

/* -- logger ---------------------------------------------------------------------------------------------- */

struct caught {
	char line[600];
	enum log_level level;
	unsigned count;
};

static void catch_line(void *context, enum log_level level, struct str line)
{
	struct caught *caught = context;

	assert_true(line.n < sizeof(caught->line));
	memcpy(caught->line, line.p, line.n);
	caught->line[line.n] = '\0';
	caught->level = level;
	caught->count++;
}

static uint64_t fixed_clock(void)
{
	return TIME_MS;
}

static void test_logger(void **state)
{
	struct caught caught = { 0 };
	struct logger logger = {
		.level = LOG_LEVEL_INFO,
		.format = LOG_FORMAT_TEXT,
		.bounds = { 100, LOG_LINE_MIN },
		.clock = fixed_clock,
		.sink = catch_line,
		.context = &caught,
	};

	(void)state;
	assert_false(logger_wants(&logger, LOG_LEVEL_DEBUG));
	assert_true(logger_wants(&logger, LOG_LEVEL_INFO));
	logger_log(&logger, LOG_LEVEL_DEBUG, STR("no"), NULL);
	assert_int_equal(caught.count, 0);
	logger_log(&logger, LOG_LEVEL_INFO, STR("yes"), LOG_FIELDS(log_int("n", 1)));
	assert_string_equal(caught.line, TEXT_HEAD "yes n=1\n");
	assert_int_equal(caught.level, LOG_LEVEL_INFO);
	logger.level = LOG_LEVEL_ERROR;
	logger.format = LOG_FORMAT_JSON;
	logger.bounds.line_max = 550;
	logger_log(&logger, LOG_LEVEL_WARN, STR("no"), NULL);
	logger_log(&logger, LOG_LEVEL_ERROR, STR("bad"), NULL);
	assert_int_equal(caught.count, 2);
	assert_int_equal(caught.level, LOG_LEVEL_ERROR);
	assert_string_equal(caught.line,
			    "{\"time\":\"" TIME_IN_TEXT "\",\"level\":\"error\",\"msg\":\"bad\"}\n");
	logger_release(&logger);
	logger_log(&logger, LOG_LEVEL_ERROR, STR("again"), NULL);
	assert_int_equal(caught.count, 3);
	logger_release(&logger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_fields),
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_forgery),
		cmocka_unit_test(test_forged_message),
		cmocka_unit_test(test_quoting),
		cmocka_unit_test(test_broken_utf8),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_redaction),
		cmocka_unit_test(test_secret_keys),
		cmocka_unit_test(test_value_bound),
		cmocka_unit_test(test_line_bound),
		cmocka_unit_test(test_line_bound_by_bytes),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_logger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

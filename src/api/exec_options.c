#include "base/base.h"
#include "api/exec_options.h"
#include "base/units.h"
#include "json/json.h"

/* Of arguments, variables and names: more than the kernel passes to a program (MAX_ARG_STRLEN, ARG_MAX). */
enum { STRINGS_MAX = 100000 };
#define STRINGS_MAX_TEXT "100000"

/* What is being read, and into what. */
struct reading {
	struct api_call *call;
	struct exec_options *options;
};

static int wrong(struct str name, const char *must_be, struct err *err)
{
	return err_set(err, ERR_INVALID, "options.%.*s must be %s", STR_ARG(name), must_be);
}

/* A string that stays. It becomes a path, a variable or a word of a command, none of which can hold a NUL. */
static int take_str(struct reading *r, struct str name, const struct json *value, struct str *ret,
		    struct err *err)
{
	if (!json_is(value, JSON_STRING) || memchr(json_str(value).p, '\0', json_str(value).n))
		return wrong(name, "a string without NUL", err);
	*ret = arena_copy(r->call->arena, json_str(value));
	return 0;
}

static int take_strings(struct reading *r, struct str name, const struct json *value,
			const struct str **ret_strings, size_t *ret_count, struct err *err)
{
	const struct json *item;
	struct str *strings;
	size_t n = 0;

	if (!json_is(value, JSON_ARRAY))
		return wrong(name, "an array of strings", err);
	if (json_count(value) > STRINGS_MAX)
		return wrong(name, "at most " STRINGS_MAX_TEXT " strings", err);
	strings = arena_array(r->call->arena, struct str, json_count(value) + 1);
	json_for_each(item, value) {
		if (!json_is(item, JSON_STRING) || memchr(json_str(item).p, '\0', json_str(item).n))
			return wrong(name, "an array of strings without NUL", err);
		strings[n++] = arena_copy(r->call->arena, json_str(item));
	}
	*ret_strings = strings;
	*ret_count = n;
	return 0;
}

/* -- one option each ------------------------------------------------------------------------------------- */

static int read_runtime(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	return take_str(r, name, value, &r->options->runtime, err);
}

static int read_session(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	/* Whose instances it uses is not a model's to say. */
	if (r->call->mcp)
		return err_set(err, ERR_INVALID,
			       "options.session is not for tools: a script of a model uses its own session");
	return take_str(r, name, value, &r->options->session, err);
}

static int read_export(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	return take_str(r, name, value, &r->options->export_name, err);
}

static int read_cwd(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	if (take_str(r, name, value, &r->options->cwd, err) < 0)
		return err->code;
	return str_starts_with(r->options->cwd, STR("/")) ? 0 : wrong(name, "an absolute path", err);
}

static int read_stdin(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	if (!json_is(value, JSON_STRING))
		return wrong(name, "a string", err);
	r->options->has_stdin = true;
	r->options->stdin_bytes = arena_copy(r->call->arena, json_str(value));
	return 0;
}

static int read_timeout(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	if (!json_is(value, JSON_STRING) ||
	    duration_parse(json_str(value), &r->options->timeout_ms, NULL) < 0)
		return wrong(name, "a duration such as \"30s\"; \"0\" for no limit", err);
	r->options->has_timeout = true;
	return 0;
}

static int read_output(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	static const struct str words[] = { [EXEC_OUTPUT_STRUCTURED] = STR_INIT("structured"),
					    [EXEC_OUTPUT_TEXT] = STR_INIT("text"),
					    [EXEC_OUTPUT_STREAM] = STR_INIT("stream") };

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (str_eq(json_str(value), words[i])) {
			r->options->output = i;
			return 0;
		}
	return wrong(name, "text, structured or stream", err);
}

static int read_capture(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	if (!json_is_bool(value))
		return wrong(name, "true or false", err);
	r->options->capture_console = json_is(value, JSON_TRUE);
	return 0;
}

static int read_args(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	return take_strings(r, name, value, &r->options->arguments, &r->options->argument_count, err);
}

static int read_env(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	struct arena *arena = r->call->arena;
	const struct json *key, *text;
	struct str *variables;
	size_t n = 0;

	if (!json_is(value, JSON_OBJECT))
		return wrong(name, "an object of strings", err);
	if (json_count(value) > STRINGS_MAX)
		return wrong(name, "at most " STRINGS_MAX_TEXT " variables", err);
	variables = arena_array(arena, struct str, json_count(value) + 1);
	json_for_each_member(key, text, value) {
		struct str variable = json_str(key);

		if (!json_is(text, JSON_STRING) || !variable.n || str_find_char(variable, '=') != STR_NONE ||
		    memchr(variable.p, '\0', variable.n) || memchr(json_str(text).p, '\0', json_str(text).n))
			return wrong(name, "an object from names of variables to strings", err);
		variables[n++] = arena_concat(arena, variable, STR("="), json_str(text));
	}
	r->options->variables = variables;
	r->options->variable_count = n;
	return 0;
}

/* "a,b,c" */
static struct str join_names(struct arena *arena, const struct str *names, size_t count)
{
	size_t n = 0, at = 0;
	char *text;

	for (size_t i = 0; i < count; i++)
		n += names[i].n + 1;
	text = arena_alloc(arena, n + 1);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			text[at++] = ',';
		memcpy(text + at, names[i].p, names[i].n);
		at += names[i].n;
	}
	text[at] = '\0';
	return str_make(text, at);
}

static int read_ns(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	const struct str *names;
	size_t count;

	if (json_is(value, JSON_STRING))
		return take_str(r, name, value, &r->options->selection, err);
	if (take_strings(r, name, value, &names, &count, err) < 0)
		return err->code;
	r->options->selection = join_names(r->call->arena, names, count);
	return 0;
}

static int read_capabilities(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	const struct json *item;

	if (!json_is(value, JSON_ARRAY))
		return wrong(name, "an array of strings", err);
	json_for_each(item, value)
		r->options->links |= str_eq(json_str(item), STR("artifacts"));
	return 0;
}

/* A caller over the unix socket is on this machine and this user; what a remote one names would be a path on
 * the wrong side. */
static bool sees_our_files(const struct api_call *call)
{
	return call->http && call->http->peer->local;
}

static int read_directory(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	if (!sees_our_files(r->call))
		return err_set(
			err, ERR_UNSUPPORTED,
			"options.%.*s is for callers over the unix socket; fetch the artifacts by their ids",
			STR_ARG(name));
	return take_str(r, name, value, &r->options->directory, err);
}

static int read_artifacts(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	const struct json *key, *member;

	if (!json_is(value, JSON_OBJECT))
		return wrong(name, "an object", err);
	r->options->links = true;
	json_for_each_member(key, member, value) {
		struct str word = json_str(key);

		if (str_eq(word, STR("maxBytes"))) {
			uint64_t bytes;

			if (json_u64(member, &bytes) < 0)
				return wrong(STR("artifacts.maxBytes"), "a number of bytes", err);
			r->options->inline_max = size_min(r->options->inline_max, bytes);
		} else if (str_eq(word, STR("delivery"))) {
			r->options->inline_artifacts = str_eq(json_str(member), STR("inline"));
			if (!r->options->inline_artifacts && !str_eq(json_str(member), STR("reference")))
				return wrong(STR("artifacts.delivery"), "reference or inline", err);
		} else if (str_eq(word, STR("dir")) || str_eq(word, STR("sharedFs"))) {
			struct str full = arena_concat(r->call->arena, STR("artifacts."), word, STR(""));

			if (read_directory(r, full, member, err) < 0)
				return err->code;
		} else {
			return err_set(
				err, ERR_UNSUPPORTED,
				"options.artifacts.%.*s is not there; there are delivery, dir, maxBytes and sharedFs",
				STR_ARG(word));
		}
	}
	return 0;
}

/* -- all of them ----------------------------------------------------------------------------------------- */

static const struct {
	struct str name;
	int (*read)(struct reading *r, struct str name, const struct json *value, struct err *err);
} readers[] = {
	{ STR_INIT("args"), read_args },
	{ STR_INIT("artifacts"), read_artifacts },
	{ STR_INIT("capabilities"), read_capabilities },
	{ STR_INIT("captureConsole"), read_capture },
	{ STR_INIT("cwd"), read_cwd },
	{ STR_INIT("env"), read_env },
	{ STR_INIT("export"), read_export },
	{ STR_INIT("ns"), read_ns },
	{ STR_INIT("output"), read_output },
	{ STR_INIT("runtime"), read_runtime },
	{ STR_INIT("session"), read_session },
	{ STR_INIT("stdin"), read_stdin },
	{ STR_INIT("timeout"), read_timeout },
};

static int read_option(struct reading *r, struct str name, const struct json *value, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (str_eq(name, readers[i].name))
			return json_is(value, JSON_NULL) ? 0 : readers[i].read(r, name, value, err);
	return err_set(
		err, ERR_UNSUPPORTED,
		"there is no option %.*s; there are args, artifacts, capabilities, captureConsole, cwd, env, export, "
		"ns, output, runtime, session, stdin and timeout",
		STR_ARG(name));
}

/* The tool of the MCP server says its patience in seconds. */
static int read_timeout_sec(struct api_call *call, struct exec_options *options, struct err *err)
{
	double seconds = api_input_number(call, STR("timeoutSec"), -1);

	if (seconds < 0)
		return 0;
	if (seconds * MS_PER_SECOND > (double)DURATION_MAX_MS)
		return err_set(err, ERR_INVALID, "timeoutSec is too long");
	options->has_timeout = true;
	options->timeout_ms = (uint64_t)(seconds * MS_PER_SECOND);
	/* 0 is no limit at all, and not the shortest one. */
	if (seconds > 0 && options->timeout_ms == 0)
		options->timeout_ms = 1;
	return 0;
}

/* A directory that is not absolute is the caller's, as everything in cwd is. */
static int resolve_directory(const struct api_call *call, struct exec_options *options, struct err *err)
{
	struct str cwd = options->cwd.n ? options->cwd : call->caller.cwd;

	if (!options->directory.n || str_starts_with(options->directory, STR("/")))
		return 0;
	if (!cwd.n)
		return err_set(
			err, ERR_INVALID,
			"artifacts.dir is relative, and the caller has no directory: give an absolute one");
	options->directory =
		arena_printf(call->arena, "%.*s/%.*s", STR_ARG(cwd), STR_ARG(options->directory));
	return 0;
}

int exec_options_read(struct api_call *call, struct exec_options *ret_options, struct err *err)
{
	struct reading r = { call, ret_options };
	_cleanup_json_ struct json_doc doc = { 0 };
	struct str raw = api_input_raw(call, STR("options"));
	const struct json *key, *value;

	*ret_options = (struct exec_options){
		.capture_console = settings_bool(call->settings, SETTING_SCRIPT_CAPTURE_CONSOLE),
		.inline_max = settings_bytes(call->settings, SETTING_ARTIFACTS_INLINE_MAX_BYTES),
	};
	if (sees_our_files(call))
		ret_options->directory = settings_string(call->settings, SETTING_ARTIFACTS_DIR);
	if (read_timeout_sec(call, ret_options, err) < 0)
		return err->code;
	if (!raw.n)
		return resolve_directory(call, ret_options, err);
	if (json_parse(&doc, raw, NULL, err) < 0)
		return err_prefix(err, ERR_INVALID, "options");
	json_for_each_member(key, value, json_root(&doc))
		if (read_option(&r, json_str(key), value, err) < 0)
			return err->code;
	return resolve_directory(call, ret_options, err);
}

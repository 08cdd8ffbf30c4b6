/* The options of a run, as callers of the API and models give them: what is taken, and how each mistake is
 * named. */
#include "base/base.h"
#include "api/call_fixture.h"
#include "api/exec_options.h"
#include "base/units.h"

/* Reads the options out of a whole input, as the daemon does. */
static int read_input(void **state, const char *input, struct exec_options *ret_options, struct err *err)
{
	struct api_call *call = begin(state, OPERATION_EXEC);

	assert_int_equal(api_take_object(call, str_of(input), err), 0);
	return exec_options_read(call, ret_options, err);
}

static struct exec_options takes(void **state, const char *options)
{
	struct fixture *f = *state;
	struct exec_options read;
	struct err err = { .message = "" };
	struct str input = arena_printf(&f->arena, "{\"options\":%s}", options);

	if (read_input(state, input.p, &read, &err) < 0)
		fail_msg("%s: %s", options, err.message);
	return read;
}

static void refuses_with(void **state, const char *options, int code, const char *message)
{
	struct fixture *f = *state;
	struct exec_options read;
	struct err err;

	assert_int_equal(
		read_input(state, arena_printf(&f->arena, "{\"options\":%s}", options).p, &read, &err), code);
	assert_string_equal(err.message, message);
}

static void refuses(void **state, const char *options, const char *message)
{
	refuses_with(state, options, ERR_INVALID, message);
}

static void check_str(struct str got, const char *expected)
{
	assert_int_equal(got.n, strlen(expected));
	assert_memory_equal(got.p, expected, got.n);
}

/* -- what is taken --------------------------------------------------------------------------------------- */

static void check_defaults(const struct exec_options *options)
{
	assert_int_equal(options->output, EXEC_OUTPUT_STRUCTURED);
	assert_true(options->capture_console);
	assert_false(options->has_timeout || options->has_stdin || options->links ||
		     options->inline_artifacts);
	assert_int_equal(options->inline_max, 1024 * 1024);
	assert_int_equal(options->runtime.n + options->session.n + options->cwd.n + options->export_name.n +
				 options->selection.n + options->argument_count + options->variable_count,
			 0);
}

static void what_is_not_given_has_its_default(void **state)
{
	struct exec_options options;

	assert_int_equal(read_input(state, "{}", &options, NULL), 0);
	check_defaults(&options);
	options = takes(state, "{}");
	check_defaults(&options);
	/* A caller's language may say null for what it leaves out. */
	options = takes(state,
			"{\"args\":null,\"artifacts\":null,\"capabilities\":null,\"captureConsole\":null,"
			"\"cwd\":null,\"env\":null,\"export\":null,\"ns\":null,\"output\":null,"
			"\"runtime\":null,\"session\":null,\"stdin\":null,\"timeout\":null}");
	check_defaults(&options);
}

static void words_are_taken(void **state)
{
	struct exec_options options = takes(
		state,
		"{\"runtime\":\"node\",\"session\":\"s\\u0031\",\"export\":\"main\",\"cwd\":\"/kept\"}");

	check_str(options.runtime, "node");
	check_str(options.session, "s1");
	check_str(options.export_name, "main");
	check_str(options.cwd, "/kept");
}

static void arguments_and_variables_are_lists(void **state)
{
	struct exec_options options =
		takes(state, "{\"args\":[\"a b\",\"\",\"--x\"],\"env\":{\"A\":\"1=2\",\"B\":\"\"}}");

	assert_int_equal(options.argument_count, 3);
	check_str(options.arguments[0], "a b");
	check_str(options.arguments[1], "");
	check_str(options.arguments[2], "--x");
	assert_int_equal(options.variable_count, 2);
	check_str(options.variables[0], "A=1=2");
	check_str(options.variables[1], "B=");
}

/* No input, and an input without bytes: a script that reads sees the end at once in both, but only the second
 * was given. */
static void stdin_is_any_text(void **state)
{
	struct exec_options options = takes(state, "{\"stdin\":\"\"}");

	assert_true(options.has_stdin);
	assert_int_equal(options.stdin_bytes.n, 0);
	options = takes(state, "{\"stdin\":\"a\\u0000b\\n\"}");
	assert_int_equal(options.stdin_bytes.n, 4);
	assert_memory_equal(options.stdin_bytes.p, "a\0b\n", 4);
}

static void namespaces_are_a_list_or_a_text(void **state)
{
	check_str(takes(state, "{\"ns\":\"a, b\"}").selection, "a, b");
	check_str(takes(state, "{\"ns\":[\"a\",\"b\",\"c\"]}").selection, "a,b,c");
	check_str(takes(state, "{\"ns\":[]}").selection, "");
}

static void time_outs_are_durations(void **state)
{
	struct exec_options options = takes(state, "{\"timeout\":\"1m30s\"}");

	assert_true(options.has_timeout);
	assert_int_equal(options.timeout_ms, 90000);
	options = takes(state, "{\"timeout\":\"0\"}");
	assert_true(options.has_timeout);
	assert_int_equal(options.timeout_ms, 0);
}

static void a_model_says_seconds(void **state)
{
	struct exec_options options;
	struct err err;

	assert_int_equal(read_input(state, "{\"timeoutSec\":1.5}", &options, NULL), 0);
	assert_true(options.has_timeout);
	assert_int_equal(options.timeout_ms, 1500);
	/* The options say it more exactly, and win. */
	assert_int_equal(
		read_input(state, "{\"timeoutSec\":60,\"options\":{\"timeout\":\"1ms\"}}", &options, NULL),
		0);
	assert_int_equal(options.timeout_ms, 1);
	assert_int_equal(read_input(state, "{\"timeoutSec\":0.0001}", &options, NULL), 0);
	assert_int_equal(options.timeout_ms, 1);
	assert_int_equal(read_input(state, "{\"timeoutSec\":0}", &options, NULL), 0);
	assert_int_equal(options.timeout_ms, 0);
	assert_int_equal(read_input(state, "{\"timeoutSec\":1e300}", &options, &err), ERR_INVALID);
	assert_string_equal(err.message, "timeoutSec is too long");
}

static void outputs_are_three(void **state)
{
	assert_int_equal(takes(state, "{\"output\":\"structured\"}").output, EXEC_OUTPUT_STRUCTURED);
	assert_int_equal(takes(state, "{\"output\":\"text\"}").output, EXEC_OUTPUT_TEXT);
	assert_int_equal(takes(state, "{\"output\":\"stream\"}").output, EXEC_OUTPUT_STREAM);
	assert_false(takes(state, "{\"captureConsole\":false}").capture_console);
}

/* Who can take links says so in one of two ways; other capabilities are for other versions to know. */
static void links_are_for_who_takes_them(void **state)
{
	struct exec_options options;

	assert_false(takes(state, "{\"capabilities\":[]}").links);
	assert_false(takes(state, "{\"capabilities\":[\"future\",1]}").links);
	assert_true(takes(state, "{\"capabilities\":[\"future\",\"artifacts\"]}").links);
	options = takes(state, "{\"artifacts\":{}}");
	assert_true(options.links);
	assert_false(options.inline_artifacts);
	options = takes(state, "{\"artifacts\":{\"delivery\":\"reference\"}}");
	assert_false(options.inline_artifacts);
}

/* What a caller asks for stays under the daemon's own ceiling. */
static void inline_bytes_have_a_ceiling(void **state)
{
	struct exec_options options =
		takes(state, "{\"artifacts\":{\"delivery\":\"inline\",\"maxBytes\":100}}");

	assert_true(options.links && options.inline_artifacts);
	assert_int_equal(options.inline_max, 100);
	options = takes(state, "{\"artifacts\":{\"delivery\":\"inline\",\"maxBytes\":99999999999}}");
	assert_int_equal(options.inline_max, 1024 * 1024);
}

/* -- mistakes -------------------------------------------------------------------------------------------- */

static void wrong_types_are_named(void **state)
{
	static const char *const texts[] = { "runtime", "session", "export", "cwd" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct str message =
			arena_printf(&f->arena, "options.%s must be a string without NUL", texts[i]);

		refuses(state, arena_printf(&f->arena, "{\"%s\":1}", texts[i]).p, message.p);
		refuses(state, arena_printf(&f->arena, "{\"%s\":\"/a\\u0000b\"}", texts[i]).p, message.p);
	}
	refuses(state, "{\"stdin\":1}", "options.stdin must be a string");
	refuses(state, "{\"args\":\"a\"}", "options.args must be an array of strings");
	refuses(state, "{\"args\":[1]}", "options.args must be an array of strings without NUL");
	refuses(state, "{\"args\":[\"a\\u0000\"]}", "options.args must be an array of strings without NUL");
	refuses(state, "{\"ns\":{}}", "options.ns must be an array of strings");
	refuses(state, "{\"capabilities\":\"artifacts\"}",
		"options.capabilities must be an array of strings");
	refuses(state, "{\"captureConsole\":1}", "options.captureConsole must be true or false");
	refuses(state, "{\"artifacts\":true}", "options.artifacts must be an object");
}

static void wrong_values_are_named(void **state)
{
	refuses(state, "{\"cwd\":\"here\"}", "options.cwd must be an absolute path");
	refuses(state, "{\"cwd\":\"\"}", "options.cwd must be an absolute path");
	refuses(state, "{\"output\":\"yaml\"}", "options.output must be text, structured or stream");
	refuses(state, "{\"timeout\":30}",
		"options.timeout must be a duration such as \"30s\"; \"0\" for no limit");
	refuses(state, "{\"timeout\":\"soon\"}",
		"options.timeout must be a duration such as \"30s\"; \"0\" for no limit");
	refuses(state, "{\"artifacts\":{\"delivery\":\"pigeon\"}}",
		"options.artifacts.delivery must be reference or inline");
	refuses(state, "{\"artifacts\":{\"maxBytes\":\"1KiB\"}}",
		"options.artifacts.maxBytes must be a number of bytes");
	refuses(state, "{\"artifacts\":{\"maxBytes\":-1}}",
		"options.artifacts.maxBytes must be a number of bytes");
}

/* A variable with a "=" in its name would be another variable. */
static void variables_have_names(void **state)
{
	refuses(state, "{\"env\":[\"A=1\"]}", "options.env must be an object of strings");
	refuses(state, "{\"env\":{\"\":\"x\"}}",
		"options.env must be an object from names of variables to strings");
	refuses(state, "{\"env\":{\"A=B\":\"x\"}}",
		"options.env must be an object from names of variables to strings");
	refuses(state, "{\"env\":{\"A\":1}}",
		"options.env must be an object from names of variables to strings");
	refuses(state, "{\"env\":{\"A\\u0000\":\"x\"}}",
		"options.env must be an object from names of variables to strings");
	refuses(state, "{\"env\":{\"A\":\"x\\u0000\"}}",
		"options.env must be an object from names of variables to strings");
}

/* A misspelt option must not run a script without it. */
static void unknown_options_are_refused(void **state)
{
	refuses_with(
		state, "{\"timeOut\":\"1s\"}", ERR_UNSUPPORTED,
		"there is no option timeOut; there are args, artifacts, capabilities, captureConsole, cwd, "
		"env, export, ns, output, runtime, session, stdin and timeout");
	refuses_with(
		state, "{\"artifacts\":{\"directory\":\"/kept\"}}", ERR_UNSUPPORTED,
		"options.artifacts.directory is not there; there are delivery, dir, maxBytes and sharedFs");
}

/* A path of one machine means nothing on another. */
static void directories_are_for_callers_here(void **state)
{
	struct fixture *f = *state;
	struct http_peer peer = { .local = true };
	struct http_request request = { .peer = &peer };

	refuses_with(
		state, "{\"artifacts\":{\"dir\":\"/kept\"}}", ERR_UNSUPPORTED,
		"options.artifacts.dir is for callers over the unix socket; fetch the artifacts by their ids");
	f->call.http = &request;
	check_str(takes(state, "{\"artifacts\":{\"dir\":\"/kept/a\"}}").directory, "/kept/a");
	check_str(takes(state, "{\"artifacts\":{\"sharedFs\":\"/kept/b\"}}").directory, "/kept/b");
	refuses(state, "{\"artifacts\":{\"dir\":\"/kept\\u0000\"}}",
		"options.artifacts.dir must be a string without NUL");
	/* A relative one is below the caller's directory, which may be given or be known. */
	refuses(state, "{\"artifacts\":{\"dir\":\"out\"}}",
		"artifacts.dir is relative, and the caller has no directory: give an absolute one");
	check_str(takes(state, "{\"cwd\":\"/here\",\"artifacts\":{\"dir\":\"out\"}}").directory, "/here/out");
	f->call.caller.cwd = STR("/there");
	check_str(takes(state, "{\"artifacts\":{\"dir\":\"out\"}}").directory, "/there/out");
	peer.local = false;
	refuses_with(
		state, "{\"artifacts\":{\"sharedFs\":\"/kept\"}}", ERR_UNSUPPORTED,
		"options.artifacts.sharedFs is for callers over the unix socket; fetch the artifacts by their ids");
}

#define WITH_FIXTURE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static struct buf many_strings(const char *before, size_t count)
{
	struct buf text = { .max = 8 * count + 64 };

	buf_append(&text, str_of(before));
	for (size_t i = 0; i < count; i++)
		buf_append(&text, i ? STR(",\"a\"") : STR("\"a\""));
	buf_append(&text, STR("]}"));
	return text;
}

/* A body of a few hundred kilobytes names many: they cost what they are, and not the square of it. */
static void many_names_cost_what_they_are(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf names = many_strings("{\"ns\":[", 50000);
	_cleanup_buf_ struct buf too_many = many_strings("{\"args\":[", 100001);
	struct exec_options read = takes(state, buf_cstr(&names));

	assert_int_equal(read.selection.n, 2 * 50000 - 1);
	assert_true(str_ends_with(read.selection, STR(",a,a")));
	assert_in_range(f->arena.total, 1, 50000 * 100);
	refuses(state, buf_cstr(&too_many), "options.args must be at most 100000 strings");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(what_is_not_given_has_its_default),
		WITH_FIXTURE(words_are_taken),
		WITH_FIXTURE(arguments_and_variables_are_lists),
		WITH_FIXTURE(stdin_is_any_text),
		WITH_FIXTURE(namespaces_are_a_list_or_a_text),
		WITH_FIXTURE(time_outs_are_durations),
		WITH_FIXTURE(a_model_says_seconds),
		WITH_FIXTURE(outputs_are_three),
		WITH_FIXTURE(links_are_for_who_takes_them),
		WITH_FIXTURE(inline_bytes_have_a_ceiling),
		WITH_FIXTURE(wrong_types_are_named),
		WITH_FIXTURE(wrong_values_are_named),
		WITH_FIXTURE(variables_have_names),
		WITH_FIXTURE(unknown_options_are_refused),
		WITH_FIXTURE(directories_are_for_callers_here),
		WITH_FIXTURE(many_names_cost_what_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Inputs, as they come from JSON, a query or a path: what is taken, and how each mistake is named. */
#include "base/base.h"
#include "api/call_fixture.h"

static void takes(struct api_call *call, const char *object)
{
	struct err err = { 0 };

	assert_int_equal(api_take_object(call, str_of(object), &err), 0);
}

static void refuses(void **state, enum operation_id id, const char *object, const char *message)
{
	struct err err;

	assert_int_equal(api_take_object(begin(state, id), str_of(object), &err), ERR_INVALID);
	assert_string_equal(err.message, message);
}

static void refuses_query(void **state, enum operation_id id, const char *query, const char *message)
{
	struct err err;

	assert_int_equal(api_take_query(begin(state, id), str_of(query), &err), ERR_INVALID);
	assert_string_equal(err.message, message);
}

static void inputs_come_from_json(void **state)
{
	struct api_call *call = begin(state, OPERATION_CALL);

	takes(call,
	      "{\"server\":\"a\\u0062\",\"name\":\"t\",\"args\":{ \"x\": 1.50 },\"timeoutMs\":7,\"relay\":true}");
	assert_true(str_eq(api_input_str(call, STR("server")), STR("ab")));
	assert_true(str_eq(api_input_str(call, STR("tool")), STR("t"))); /* "name" is an alias of it */
	assert_true(str_eq(api_input_raw(call, STR("args")), STR("{ \"x\": 1.50 }")));
	assert_int_equal(api_input_int(call, STR("timeoutMs"), 0), 7);
	assert_true(api_input_bool(call, STR("relay"), false));
	assert_int_equal(api_check_required(call, NULL), 0);
}

static void what_is_absent_or_null_has_its_default(void **state)
{
	struct api_call *call = begin(state, OPERATION_CALL);

	takes(call, "{\"timeoutMs\":null,\"links\":null,\"args\":null,\"server\":null}");
	assert_int_equal(api_input_int(call, STR("timeoutMs"), 5), 5);
	assert_true(api_input_bool(call, STR("links"), true));
	assert_int_equal(api_input_raw(call, STR("args")).n, 0);
	assert_null(api_input_str(call, STR("server")).p);
	takes(call, "");
}

static void unknown_inputs_are_refused(void **state)
{
	refuses(state, OPERATION_CALL, "{\"future\":[1,2]}",
		"call has no input \"future\"; there are: server, tool, args, timeoutMs, context, session, relay, links");
	refuses(state, OPERATION_CALL, "{\"sesion\":null}",
		"call has no input \"sesion\"; there are: session, server, tool, args, timeoutMs, context, relay, links");
	refuses(state, OPERATION_HEALTH, "{\"\":{}}", "health takes no input, and was given \"\"");
	/* For the command line alone, so that no client can name a file of the daemon's. */
	refuses(state, OPERATION_ARTIFACT_PUT, "{\"file\":5}",
		"artifact_put has no input \"file\"; there are: name, mime, run, session, ttl, dir");
}

static void only_a_list_takes_an_array(void **state)
{
	struct api_call *call = begin(state, OPERATION_TYPES);

	takes(call, "{\"ns\":[\"a\",\"b\\u002cc\",\"\"]}");
	assert_true(str_eq(api_input_str(call, STR("ns")), STR("a,b,c,")));
	call = begin(state, OPERATION_TYPES);
	takes(call, "{\"namespaces\":[]}");
	assert_int_equal(api_input_str(call, STR("ns")).n, 0);
	refuses(state, OPERATION_TYPES, "{\"ns\":[\"a\",5]}",
		"\"ns\" must be a string, or an array of strings, and is [\"a\",5]");
	refuses(state, OPERATION_TYPES, "{\"ns\":[[]]}",
		"\"ns\" must be a string, or an array of strings, and is [[]]");
	refuses(state, OPERATION_EXEC, "{\"source\":[\"a\",\"b\"]}",
		"\"source\" must be a string, and is [\"a\",\"b\"]");
	refuses(state, OPERATION_SETTINGS_SET, "{\"value\":[\"a\"]}",
		"\"value\" must be a string, and is [\"a\"]");
}

static void the_whole_body_may_be_one_input(void **state)
{
	struct api_call *call = begin(state, OPERATION_CALL_TOOL);

	takes(call, " {\"server\": 5, \"x\": null} ");
	assert_true(str_eq(api_input_raw(call, STR("args")), STR("{\"server\": 5, \"x\": null}")));
	assert_null(api_input_str(call, STR("server")).p);
	takes(begin(state, OPERATION_CALL_TOOL), "");
	refuses(state, OPERATION_CALL_TOOL, "[]",
		"the input is not a JSON object: line 1, column 1: expected an object");
	refuses(state, OPERATION_CALL_TOOL, "5",
		"the input is not a JSON object: line 1, column 1: expected an object");
	refuses(state, OPERATION_CALL_TOOL, "{\"a\":1}x",
		"the input is not a JSON object: line 1, column 8: expected the end of the text");
}

static void required_inputs_are_asked_for(void **state)
{
	struct err err;
	struct api_call *call = begin(state, OPERATION_CALL);

	takes(call, "{\"server\":\"s\"}");
	assert_int_equal(api_check_required(call, &err), ERR_INVALID);
	assert_string_equal(err.message, "\"tool\" is missing: the tool's name");
}

/* What scripts and other programs in JavaScript send, of strings that were cut within a pair. */
static void halves_of_pairs_become_characters(void **state)
{
	struct api_call *call = begin(state, OPERATION_CALL);
	struct err err;

	takes(call, "{\"server\":\"s\\ud83d\",\"args\":{\"\\udc00\":[\"\\ud83d\\ude00\"]}}");
	assert_true(str_eq(api_input_str(call, STR("server")), STR("s\xef\xbf\xbd")));
	assert_true(str_eq(api_input_raw(call, STR("args")), STR("{\"\\ufffd\":[\"\\ud83d\\ude00\"]}")));
	call = begin(state, OPERATION_CALL_TOOL);
	takes(call, "{\"a\":\"\\udbff\"}");
	assert_true(str_eq(api_input_raw(call, STR("args")), STR("{\"a\":\"\\ufffd\"}")));
	assert_int_equal(
		api_take_object(begin(state, OPERATION_CALL), STR("{\"server\":\"\\ud83d\",}"), &err),
		ERR_INVALID);
	assert_string_equal(
		err.message,
		"the input is not a JSON object: line 1, column 20: expected a member name in double quotes");
}

static void wrong_types_are_named(void **state)
{
	refuses(state, OPERATION_CALL, "{\"server\":5}", "\"server\" must be a string, and is 5");
	refuses(state, OPERATION_CALL, "{\"name\":{}}", "\"tool\" must be a string, and is {}");
	refuses(state, OPERATION_CALL, "{\"args\":[]}", "\"args\" must be an object, and is []");
	refuses(state, OPERATION_CALL, "{\"relay\":\"true\"}",
		"\"relay\" must be a boolean, and is \"true\"");
	refuses(state, OPERATION_CALL, "{\"timeoutMs\":0}",
		"\"timeoutMs\" must be an integer of at least 1, and is 0");
	refuses(state, OPERATION_CALL, "{\"timeoutMs\":1.5}",
		"\"timeoutMs\" must be an integer of at least 1, and is 1.5");
	refuses(state, OPERATION_CALL, "{\"timeoutMs\":9223372036854775808}",
		"\"timeoutMs\" must be an integer of at most 9223372036854775807, and is 9223372036854775808");
	refuses(state, OPERATION_CALL, "{\"timeoutMs\":-99999999999999999999}",
		"\"timeoutMs\" must be an integer of at least 1, and is -99999999999999999999");
	refuses(state, OPERATION_CALL, "{\"timeoutMs\":1e30}",
		"\"timeoutMs\" must be an integer of at least 1, and is 1e30");
	refuses(state, OPERATION_EXEC, "{\"timeoutSec\":-0.5}",
		"\"timeoutSec\" must be a number of at least 0, and is -0.5");
	refuses(state, OPERATION_EXEC, "{\"timeoutSec\":1e999}",
		"\"timeoutSec\" must be a number of at least 0, and is 1e999");
	/* What is too long to repeat is said in words. */
	refuses(state, OPERATION_CALL, "{\"server\":{\"a\":\"0123456789012345678901234567890123456789\"}}",
		"\"server\" must be a string, and is an object");
}

static void words_of_a_choice_are_listed(void **state)
{
	takes(begin(state, OPERATION_SETTINGS_LIST), "{\"scope\":\"call\"}");
	refuses(state, OPERATION_SETTINGS_LIST, "{\"scope\":\"calls\"}",
		"\"scope\" must be one of daemon, client, call, plugin, and is \"calls\"");
	refuses(state, OPERATION_SETTINGS_LIST, "{\"scope\":[\"call\"]}",
		"\"scope\" must be one of daemon, client, call, plugin, and is [\"call\"]");
	refuses_query(state, OPERATION_SETTINGS_LIST,
		      "scope=", "\"scope\" must be one of daemon, client, call, plugin, and is \"\"");
}

static void nothing_is_given_twice(void **state)
{
	struct api_call *call = begin(state, OPERATION_SETTINGS_SET);
	struct err err;

	refuses(state, OPERATION_CALL, "{\"tool\":\"a\",\"tool\":\"b\"}", "\"tool\" is given twice");
	refuses(state, OPERATION_CALL, "{\"server\":\"a\",\"namespace\":\"a\"}", "\"server\" is given twice");
	refuses_query(state, OPERATION_SEARCH, "q=a&q=b", "\"q\" is given twice");
	call = begin(state, OPERATION_SETTINGS_SET);
	assert_int_equal(api_take_text(call, operation_input_find(call->operation, STR("path")),
				       STR("pool.max"), &err),
			 0);
	assert_int_equal(api_take_object(call, STR("{\"path\":\"pool.min\",\"value\":\"1\"}"), &err),
			 ERR_INVALID);
	assert_string_equal(err.message, "\"path\" is given twice");
}

static const char *nested_input(struct buf *out, size_t depth)
{
	buf_clear(out, 0);
	buf_append(out, STR("{\"args\":{\"x\":"));
	for (size_t i = 2; i < depth; i++)
		buf_append_char(out, '[');
	for (size_t i = 2; i < depth; i++)
		buf_append_char(out, ']');
	buf_append(out, STR("}}"));
	return buf_cstr(out);
}

/* As deep as everything else from outside: json.maxDepth, 128 unless it is set. */
static void inputs_nest_so_deep_at_most(void **state)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 4096);
	takes(begin(state, OPERATION_CALL), nested_input(&text, 128));
	refuses(state, OPERATION_CALL, nested_input(&text, 129),
		"the input: line 1, column 140: more than 128 levels of nested arrays and objects");
}

static void what_is_no_object_is_refused(void **state)
{
	refuses(state, OPERATION_CALL, "[]",
		"the input is not a JSON object: line 1, column 1: expected an object");
	refuses(state, OPERATION_CALL, "{\"a\":1}x",
		"the input is not a JSON object: line 1, column 8: expected the end of the text");
	refuses(state, OPERATION_CALL, "{\"a\":\"\xff\"}",
		"the input is not a JSON object: line 1, column 7: expected valid UTF-8");
}

static void inputs_come_from_a_query(void **state)
{
	struct api_call *call = begin(state, OPERATION_SEARCH);

	assert_int_equal(api_take_query(call, STR("&q=two+w%C3%B6rds%26&&limit=3&"), NULL), 0);
	assert_true(str_eq(api_input_str(call, STR("q")), STR("two w\xc3\xb6rds&")));
	assert_int_equal(api_input_int(call, STR("limit"), 0), 3);
	assert_int_equal(api_take_query(begin(state, OPERATION_SEARCH), str_make(NULL, 0), NULL), 0);
}

static void a_name_alone_switches_on(void **state)
{
	struct api_call *call = begin(state, OPERATION_SETTINGS_LIST);

	assert_int_equal(api_take_query(call, STR("plumbing&changed=0"), NULL), 0);
	assert_true(api_input_bool(call, STR("plumbing"), false));
	assert_false(api_input_bool(call, STR("changed"), true));
	call = begin(state, OPERATION_TOOLS);
	assert_int_equal(api_take_query(call, STR("ns"), NULL), 0);
	assert_int_equal(api_input_str(call, STR("ns")).n, 0);
}

static void mistakes_in_a_query_are_named(void **state)
{
	refuses_query(state, OPERATION_SEARCH, "limit=0",
		      "\"limit\" must be an integer of at least 1, and is \"0\"");
	refuses_query(state, OPERATION_SEARCH, "limit=1e3",
		      "\"limit\" must be an integer of at least 1, and is \"1e3\"");
	refuses_query(state, OPERATION_SETTINGS_LIST, "plumbing=maybe",
		      "\"plumbing\" must be a boolean, and is \"maybe\"");
	refuses_query(state, OPERATION_SEARCH, "limitt=1",
		      "search has no input \"limitt\"; there are: limit, q");
	refuses_query(state, OPERATION_SEARCH, "=", "search has no input \"\"; there are: q, limit");
	refuses_query(state, OPERATION_SEARCH, "q=%zz", "the query has a malformed escape in \"q=%zz\"");
}

/* The path is the place of this input: a query cannot give it. */
static void a_query_gives_no_path_parameter(void **state)
{
	refuses_query(state, OPERATION_ARTIFACT_GET, "id=art-1",
		      "\"id\" is what the path says, and not for the query");
}

static void each_error_has_a_status(void **state)
{
	(void)state;
	assert_int_equal(api_status_of(ERR_INVALID), 400);
	assert_int_equal(api_status_of(ERR_DENIED), 403);
	assert_int_equal(api_status_of(ERR_NOT_FOUND), 404);
	assert_int_equal(api_status_of(ERR_EXISTS), 409);
	assert_int_equal(api_status_of(ERR_TOO_LARGE), 413);
	assert_int_equal(api_status_of(ERR_IO), 500);
	assert_int_equal(api_status_of(ERR_UNSUPPORTED), 501);
	assert_int_equal(api_status_of(ERR_UPSTREAM), 502);
	assert_int_equal(api_status_of(ERR_BUSY), 503);
	assert_int_equal(api_status_of(ERR_UNAVAILABLE), 503);
	assert_int_equal(api_status_of(ERR_TIMEOUT), 504);
	assert_int_equal(api_status_of(ERR_FULL), 507);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(inputs_nest_so_deep_at_most),
		TEST(inputs_come_from_json),
		TEST(what_is_absent_or_null_has_its_default),
		TEST(unknown_inputs_are_refused),
		TEST(only_a_list_takes_an_array),
		TEST(the_whole_body_may_be_one_input),
		TEST(required_inputs_are_asked_for),
		TEST(halves_of_pairs_become_characters),
		TEST(wrong_types_are_named),
		TEST(words_of_a_choice_are_listed),
		TEST(nothing_is_given_twice),
		TEST(what_is_no_object_is_refused),
		TEST(inputs_come_from_a_query),
		TEST(a_name_alone_switches_on),
		TEST(mistakes_in_a_query_are_named),
		TEST(a_query_gives_no_path_parameter),
		TEST(each_error_has_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

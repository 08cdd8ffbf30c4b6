#include "base/base.h"
#include "api/operation.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/json.h"

static enum operation_id route(const char *method, const char *path, const char *parameter)
{
	struct operation_parameters found = { { STR("?") }, 9 };
	const struct operation *operation = operation_route(str_of(method), str_of(path), &found);

	assert_int_equal(found.count, *parameter ? 1 : 0);
	assert_true(str_eq(found.at[0], str_of(parameter)));
	return operation ? operation->id : OPERATION_COUNT;
}

static void each_operation_is_found_by_its_route(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		const struct operation *operation = &operations[i];
		struct operation_parameters parameters;
		size_t count = 0;

		assert_ptr_equal(operation_route(operation->method, operation->route, &parameters),
				 operation);
		assert_int_equal(operation->id, i);
		for (size_t k = 0; k < operation->input_count; k++)
			count += operation->inputs[k].place == INPUT_PATH;
		assert_int_equal(parameters.count, count);
	}
}

static void a_parameter_is_one_segment(void **state)
{
	(void)state;
	assert_int_equal(route("GET", "/v1/artifacts/art-1", "art-1"), OPERATION_ARTIFACT_GET);
	assert_int_equal(route("PUT", "/v1/settings/pool.max", "pool.max"), OPERATION_SETTINGS_SET);
	assert_int_equal(route("GET", "/v1/artifacts/", ""), OPERATION_COUNT);
	assert_int_equal(route("GET", "/v1/artifacts/a/b", ""), OPERATION_COUNT);
	assert_int_equal(route("GET", "/v1/health/", ""), OPERATION_COUNT);
	assert_int_equal(route("GET", "/v1/healthy", ""), OPERATION_COUNT);
	assert_int_equal(route("GET", "", ""), OPERATION_COUNT);
}

static void the_last_of_two_parameters_takes_the_rest(void **state)
{
	struct operation_parameters found;

	(void)state;
	assert_ptr_equal(operation_route(STR("POST"), STR("/v1/call/files/read/it"), &found),
			 &operations[OPERATION_CALL_TOOL]);
	assert_int_equal(found.count, 2);
	assert_true(str_eq(found.at[0], STR("files")));
	assert_true(str_eq(found.at[1], STR("read/it")));
	assert_int_equal(route("POST", "/v1/call/files", ""), OPERATION_COUNT);
	assert_int_equal(route("POST", "/v1/call/files/", ""), OPERATION_COUNT);
	assert_int_equal(route("POST", "/v1/call//read", ""), OPERATION_COUNT);
	assert_int_equal(route("GET", "/v1/call/files/read", ""), OPERATION_COUNT);
}

static void methods_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(route("HEAD", "/v1/health", ""), OPERATION_HEALTH);
	assert_int_equal(route("HEAD", "/v1/artifacts/x", "x"), OPERATION_ARTIFACT_GET);
	assert_int_equal(route("HEAD", "/v1/call", ""), OPERATION_COUNT);
	assert_int_equal(route("get", "/v1/health", ""), OPERATION_COUNT);
	assert_int_equal(route("POST", "/v1/artifacts", ""), OPERATION_ARTIFACT_PUT);
	assert_int_equal(route("GET", "/v1/artifacts", ""), OPERATION_ARTIFACTS);
	assert_int_equal(route("PATCH", "/v1/settings/x", ""), OPERATION_COUNT);
}

static void allow_is(const char *path, const char *methods)
{
	char storage[OPERATION_ALLOW_MAX];

	assert_true(str_eq(operation_allow(str_of(path), storage), str_of(methods)));
}

static void a_path_tells_all_its_methods(void **state)
{
	(void)state;
	allow_is("/v1/health", "GET, HEAD");
	allow_is("/v1/call", "POST");
	allow_is("/v1/artifacts", "POST, GET, HEAD");
	allow_is("/v1/settings/pool.max", "GET, HEAD, PUT, DELETE");
	allow_is("/v1/nothing", "");
}

static void inputs_have_aliases(void **state)
{
	const struct operation *call = &operations[OPERATION_CALL];

	(void)state;
	assert_ptr_equal(operation_input_find(call, STR("arguments")),
			 operation_input_find(call, STR("args")));
	assert_non_null(operation_input_find(call, STR("namespace")));
	assert_null(operation_input_find(call, STR("argument")));
	assert_null(operation_input_find(call, STR("")));
}

static void tools_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(operation_tool(STR("mcpx_call")), &operations[OPERATION_CALL]);
	assert_null(operation_tool(STR("mcpx_shutdown")));
	/* Operations without a tool have the empty name. */
	assert_null(operation_tool(STR("")));
}

/* Parses what was written, and gives its root. */
static const struct json *parsed(struct json_doc *doc, const struct buf *out)
{
	struct err err = { 0 };

	assert_int_equal(json_parse(doc, buf_str(out), NULL, &err), 0);
	return json_root(doc);
}

static void a_tool_tells_what_it_takes(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;
	const struct json *tool;

	(void)state;
	buf_init(&out, SIZE_MAX);
	json_writer_init(&w, &out, false);
	operation_write_tool(&operations[OPERATION_ARTIFACT_DELETE], &w);
	tool = parsed(&doc, &out);
	assert_true(str_eq(json_str(json_get(tool, STR("name"))), STR("mcpx_artifact_delete")));
	assert_true(str_eq(json_str(json_pointer(tool, STR("/inputSchema/required/0"))), STR("id")));
	assert_false(json_bool_or(json_pointer(tool, STR("/annotations/readOnlyHint")), true));
	assert_true(json_bool_or(json_pointer(tool, STR("/annotations/destructiveHint")), false));
	assert_true(json_bool_or(json_pointer(tool, STR("/annotations/idempotentHint")), false));
	assert_false(json_bool_or(json_pointer(tool, STR("/annotations/openWorldHint")), true));
}

/* POST /v1/exec takes a file as well; the tool has nothing but the source. */
static void a_tool_may_need_what_the_route_does_not(void **state)
{
	_cleanup_json_ struct json_doc tool_doc = { 0 }, api_doc = { 0 };
	_cleanup_buf_ struct buf tool = { 0 }, api = { 0 };
	const struct json *body;
	struct json_writer w;

	(void)state;
	buf_init(&tool, SIZE_MAX);
	json_writer_init(&w, &tool, false);
	operation_write_input_schema(&operations[OPERATION_EXEC], &w);
	assert_true(
		str_eq(json_str(json_pointer(parsed(&tool_doc, &tool), STR("/required/0"))), STR("source")));
	buf_init(&api, SIZE_MAX);
	json_writer_init(&w, &api, false);
	operation_write_openapi(&w, STR("1.2.3"));
	body = json_pointer(parsed(&api_doc, &api),
			    STR("/paths/~1v1~1exec/post/requestBody/content/application~1json/schema"));
	assert_non_null(json_pointer(body, STR("/properties/source")));
	assert_null(json_get(body, STR("required")));
}

static void a_tool_lists_its_own_names_for_its_inputs(void **state)
{
	_cleanup_json_ struct json_doc call_doc = { 0 }, types_doc = { 0 };
	_cleanup_buf_ struct buf call = { 0 }, types = { 0 };
	const struct json *schema;
	struct json_writer w;

	(void)state;
	buf_init(&call, SIZE_MAX);
	json_writer_init(&w, &call, false);
	operation_write_input_schema(&operations[OPERATION_CALL], &w);
	schema = parsed(&call_doc, &call);
	assert_true(str_eq(json_str(json_pointer(schema, STR("/required/0"))), STR("namespace")));
	assert_non_null(json_pointer(schema, STR("/properties/arguments")));
	assert_null(json_pointer(schema, STR("/properties/args")));
	assert_null(json_pointer(schema, STR("/properties/context")));
	buf_init(&types, SIZE_MAX);
	json_writer_init(&w, &types, false);
	operation_write_input_schema(&operations[OPERATION_TYPES], &w);
	schema = json_pointer(parsed(&types_doc, &types), STR("/properties/namespaces"));
	assert_true(str_eq(json_str(json_get(schema, STR("type"))), STR("array")));
	assert_true(str_eq(json_str(json_pointer(schema, STR("/items/type"))), STR("string")));
}

static void what_is_for_the_command_line_alone_is_in_no_schema(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;
	const struct json *properties;

	(void)state;
	buf_init(&out, SIZE_MAX);
	json_writer_init(&w, &out, false);
	operation_write_input_schema(&operations[OPERATION_ARTIFACT_PUT], &w);
	properties = json_get(parsed(&doc, &out), STR("properties"));
	assert_non_null(json_get(properties, STR("mime")));
	assert_null(json_get(properties, STR("file")));
}

static void openapi_has_every_route(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;
	const struct json *paths;

	(void)state;
	buf_init(&out, SIZE_MAX);
	json_writer_init(&w, &out, false);
	operation_write_openapi(&w, STR("1.2.3"));
	paths = json_get(parsed(&doc, &out), STR("paths"));
	for (size_t i = 0; i < OPERATION_COUNT; i++) {
		const struct json *path = json_get(paths, operations[i].route);
		char method[16];

		snprintf(method, sizeof(method), "%.*s", STR_ARG(operations[i].method));
		for (char *c = method; *c; c++)
			*c = (char)(*c | 0x20);
		assert_true(str_eq(json_str(json_get(json_get(path, str_of(method)), STR("operationId"))),
				   operations[i].name));
	}
	assert_true(str_eq(json_str(json_pointer(json_root(&doc), STR("/info/version"))), STR("1.2.3")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operation_is_found_by_its_route),
		cmocka_unit_test(a_parameter_is_one_segment),
		cmocka_unit_test(the_last_of_two_parameters_takes_the_rest),
		cmocka_unit_test(methods_are_told_apart),
		cmocka_unit_test(a_path_tells_all_its_methods),
		cmocka_unit_test(inputs_have_aliases),
		cmocka_unit_test(tools_are_found_by_name),
		cmocka_unit_test(a_tool_tells_what_it_takes),
		cmocka_unit_test(a_tool_may_need_what_the_route_does_not),
		cmocka_unit_test(a_tool_lists_its_own_names_for_its_inputs),
		cmocka_unit_test(what_is_for_the_command_line_alone_is_in_no_schema),
		cmocka_unit_test(openapi_has_every_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "exec/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROOM = 1 << 20 };

/* Two namespaces, the second with what real servers offer at their worst. */
static const struct str plain_tools[] = {
	STR_INIT(
		"{\"name\":\"read-file\",\"description\":\"Reads a file.\\nAll of it.\",\"inputSchema\":{\"type\":\"object\","
		"\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"the file\"}},\"required\":[\"path\"]},"
		"\"outputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]},"
		"\"annotations\":{\"readOnlyHint\":true},\"icons\":[{\"src\":\"data:secret\"}]}"),
	STR_INIT(
		"{\"name\":\"wipe\",\"inputSchema\":{\"type\":\"object\",\"properties\":{}},\"annotations\":{\"destructiveHint\":true}}"),
};
static const struct str odd_tools[] = {
	STR_INIT(
		"{\"name\":\"refs\",\"inputSchema\":{\"type\":\"object\",\"$defs\":{\"A\":{\"type\":\"object\",\"properties\":"
		"{\"next\":{\"$ref\":\"#/$defs/A\"}}}},\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"}}}}"),
	STR_INIT(
		"{\"name\":\"toplevel_oneof\",\"inputSchema\":{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":{}}},"
		"{\"type\":\"object\",\"properties\":{\"b\":{}}}]}}"),
	STR_INIT("{\"name\":\"notype\",\"inputSchema\":{\"properties\":{\"x\":{\"type\":\"string\"}}}}"),
	STR_INIT("{\"name\":\"noschema\",\"description\":\"ends */ here\"}"),
	STR_INIT("{\"name\":\"schema is text\",\"inputSchema\":\"none\",\"outputSchema\":[1]}"),
	STR_INIT("{\"name\":\"weird name/with:chars.\xc3\xa9\"}"),
	STR_INIT("{\"name\":\"__proto__\"}"),
	STR_INIT("{\"name\":\"then\"}"),
	STR_INIT("{\"name\":\"noschema\"}"),
};

struct built {
	struct catalogue_snapshot *snapshots[2];
	struct exec_catalogue catalogue;
};

static void build(struct built *built)
{
	static const struct str servers[] = { STR_INIT("plain server"), STR_INIT("odd") };
	static const struct str descriptions[] = { STR_INIT("Files."), { NULL, 0 } };

	built->snapshots[0] =
		catalogue_build(STR("plain"), plain_tools, ARRAY_LEN(plain_tools), STR("Be */ kind."), 0, 1);
	built->snapshots[1] =
		catalogue_build(STR("odd"), odd_tools, ARRAY_LEN(odd_tools), str_make(NULL, 0), 0, 1);
	built->catalogue = (struct exec_catalogue){
		.snapshots = (const struct catalogue_snapshot *const *)built->snapshots,
		.count = 2,
		.servers = servers,
		.descriptions = descriptions,
	};
}

static void release(struct built *built)
{
	catalogue_unref(&built->snapshots[0]);
	catalogue_unref(&built->snapshots[1]);
}

/* The declarations behind the part that is always the same. */
static const char *types(const char *selection, bool instructions)
{
	static char text[ROOM];
	_cleanup_buf_ struct buf out = { .max = ROOM };
	struct built built;
	const char *begin;

	build(&built);
	exec_types_write(&out, &built.catalogue, str_of(selection), instructions);
	snprintf(text, sizeof(text), "%s", buf_cstr(&out));
	release(&built);
	begin = strstr(text, "\n}\n\n");
	assert_non_null(begin);
	assert_non_null(strstr(text, "declare function call(server: string"));
	return begin + 4;
}

static void test_declarations(void **state)
{
	(void)state;
	assert_string_equal(types("plain", false),
			    "/** Files. */\n"
			    "declare const plain: {\n"
			    "\t/**\n"
			    "\t * Reads a file.\n"
			    "\t * All of it.\n"
			    "\t */\n"
			    "\tread_file(args: {\n"
			    "\t\t/** the file */\n"
			    "\t\tpath: string;\n"
			    "\t}, options?: CallOptions): Promise<Result<{ text: string }>>;\n"
			    "\twipe(args?: {}, options?: CallOptions): Promise<any>;\n"
			    "};\n");
	assert_string_equal(types("plain.wipe", true),
			    "/**\n"
			    " * Files.\n"
			    " *\n"
			    " * Be *\\/ kind.\n"
			    " */\n"
			    "declare const plain: {\n"
			    "\twipe(args?: {}, options?: CallOptions): Promise<any>;\n"
			    "};\n");
}

static void test_odd_tools_spoil_nothing(void **state)
{
	(void)state;
	assert_string_equal(
		types("odd", false),
		"type odd$refs$A = { next?: odd$refs$A };\n"
		"declare const odd: {\n"
		"\trefs(args?: { a?: odd$refs$A }, options?: CallOptions): Promise<any>;\n"
		"\ttoplevel_oneof(args: { a?: unknown } | { b?: unknown }, options?: CallOptions): Promise<any>;\n"
		"\tnotype(args?: { x?: string }, options?: CallOptions): Promise<any>;\n"
		"\t/** ends *\\/ here */\n"
		"\tnoschema(args?: Record<string, unknown>, options?: CallOptions): Promise<any>;\n"
		"\tschema_is_text(args?: Record<string, unknown>, options?: CallOptions): Promise<any>;\n"
		"\tweird_name_with_chars__(args?: Record<string, unknown>, options?: CallOptions): Promise<any>;\n"
		"\t__proto___(args?: Record<string, unknown>, options?: CallOptions): Promise<any>;\n"
		"\tthen_(args?: Record<string, unknown>, options?: CallOptions): Promise<any>;\n"
		"\tnoschema_2(args?: Record<string, unknown>, options?: CallOptions): Promise<any>;\n"
		"};\n");
	assert_non_null(strstr(types("", false), "declare const plain: {"));
	assert_non_null(strstr(types(" odd , plain.read-file", false), "read_file(args"));
	assert_null(strstr(types("odd,plain.read_file", false), "wipe"));
	/* Of two tools with one name each is selected by its own. */
	assert_null(strstr(types("odd.noschema", false), "noschema_2"));
	assert_null(strstr(types("odd.noschema_2", false), "noschema("));
}

static void test_selections_are_checked(void **state)
{
	struct built built;
	struct err err;

	(void)state;
	build(&built);
	assert_int_equal(exec_selection_check(&built.catalogue, STR(""), &err), 0);
	assert_int_equal(
		exec_selection_check(&built.catalogue, STR("odd, plain.read-file,plain.read_file"), &err), 0);
	assert_int_equal(exec_selection_check(&built.catalogue, STR("odd,plian"), &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "there is no namespace \"plian\"; there are: plain, odd");
	assert_int_equal(exec_selection_check(&built.catalogue, STR("plain.nothing"), &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "plain has no tool \"nothing\"; its declarations name those it has");
	built.catalogue.count = 0;
	assert_int_equal(exec_selection_check(&built.catalogue, STR("x"), &err), ERR_NOT_FOUND);
	assert_string_equal(err.message, "there is no namespace \"x\"; there are: none");
	release(&built);
}

/* Whether a runtime takes it is tested with runtimes (tests/e2e); here: what is in it. */
static void test_the_module(void **state)
{
	_cleanup_buf_ struct buf plain = { .max = ROOM }, typed = { .max = ROOM }, one = { .max = ROOM };
	struct built built;

	(void)state;
	build(&built);
	exec_client_write(&plain, &built.catalogue, str_make(NULL, 0), true);
	exec_client_write(&typed, &built.catalogue, str_make(NULL, 0), false);
	exec_client_write(&one, &built.catalogue, STR("odd"), true);
	assert_non_null(strstr(
		buf_cstr(&plain),
		"})([[\"plain\",\"plain server\",[[\"read_file\",\"read-file\"],[\"wipe\",\"wipe\",2]]],[\"odd\","));
	assert_non_null(strstr(buf_cstr(&plain), "const $0 = $mcpx.tools.plain; export { $0 as plain };\n"));
	assert_non_null(strstr(buf_cstr(&plain), "const $tools = $mcpx.tools;\nexport default $tools;\n"));
	assert_null(strstr(buf_cstr(&plain), "data:secret"));
	assert_null(strstr(buf_cstr(&plain), "declare "));
	assert_non_null(strstr(buf_cstr(&typed), "type odd$refs$A = { next?: odd$refs$A };\n"));
	assert_non_null(strstr(buf_cstr(&typed),
			       "const $tools: { plain: typeof $0; odd: typeof $1; } = $mcpx.tools;\n"));
	assert_null(strstr(buf_cstr(&one), "plain server"));
	release(&built);
}

static void test_a_client_that_is_too_long(void **state)
{
	_cleanup_buf_ struct buf out = { .max = 1000 };
	struct built built;

	(void)state;
	build(&built);
	exec_client_write(&out, &built.catalogue, str_make(NULL, 0), false);
	assert_true(buf_failed(&out));
	release(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_odd_tools_spoil_nothing),
		cmocka_unit_test(test_selections_are_checked),
		cmocka_unit_test(test_the_module),
		cmocka_unit_test(test_a_client_that_is_too_long),
	};

	return cmocka_run_group_tests_name("exec-client", tests, NULL, NULL);
}

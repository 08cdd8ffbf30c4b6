#include "base/base.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "mcp/jsonrpc.h"

static void assert_str(struct str actual, const char *expected)
{
	assert_true(str_eq(actual, str_of(expected)));
}

static void messages_are_classified_and_keep_their_text(void **state)
{
	static const struct {
		const char *text;
		enum jsonrpc_kind kind;
		const char *id, *method, *params, *result;
	} rows[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", JSONRPC_REQUEST, "1", "ping", "",
		  "" },
		{ " {\"method\" : \"a\\u002fb\" ,\"params\":{ \"x\" : 1.50 },\"id\":\"q\\u0061\",\"jsonrpc\":\"2.0\"}\n",
		  JSONRPC_REQUEST, "\"q\\u0061\"", "a/b", "{ \"x\" : 1.50 }", "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":-123456789012345678901234567890,\"method\":\"m\",\"params\":null}",
		  JSONRPC_REQUEST, "-123456789012345678901234567890", "m", "", "" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\",\"extra\":[1]}",
		  JSONRPC_NOTIFICATION, "", "notifications/initialized", "", "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":[1, 2]}}", JSONRPC_RESULT, "7", "", "",
		  "{\"a\":[1, 2]}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"result\":null}", JSONRPC_RESULT, "\"\"", "", "",
		  "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{},\"error\":null}", JSONRPC_RESULT, "7", "", "",
		  "{}" },
		{ "{\"j\\u0073onrpc\":\"2\\u002e0\",\"id\":0,\"method\":\"m\"}", JSONRPC_REQUEST, "0", "m",
		  "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_arena_ struct arena arena = { 0 };
		struct jsonrpc_message m;
		struct jsonrpc_fault fault;

		arena_init(&arena, 0);
		assert_int_equal(jsonrpc_read(str_of(rows[i].text), NULL, &arena, &m, &fault), 0);
		assert_int_equal(m.kind, rows[i].kind);
		assert_str(m.id, rows[i].id);
		assert_str(m.method, rows[i].method);
		assert_str(m.params, rows[i].params);
		assert_str(m.result, rows[i].result);
	}
}

/* JavaScript sends one for a string that was cut within a pair. */
static void halves_of_pairs_do_not_cost_the_message(void **state)
{
	static const struct str text = STR_INIT(
		"{\"jsonrpc\":\"2.0\",\"id\":\"\\uD83D\",\"method\":\"a\\udc00\",\"params\":{\"\\ud83d\":\"\\\\ud83d\\ud83d\\ude00\"}}");
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_message m;
	struct jsonrpc_fault fault;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(jsonrpc_read(text, NULL, &arena, &m, &fault), 0);
	assert_int_equal(m.kind, JSONRPC_REQUEST);
	assert_str(m.id, "\"\\ufffd\"");
	assert_str(m.method, "a\xef\xbf\xbd");
	assert_str(m.params, "{\"\\ufffd\":\"\\\\ud83d\\ud83d\\ude00\"}");
}

static void halves_of_pairs_do_not_cost_the_batch(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const struct str *items;
	struct err err;
	size_t count;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(jsonrpc_split(STR(" [1, \"\\udbff\"]"), NULL, &arena, 2, &items, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_str(items[1], "\"\\ufffd\"");
	assert_int_equal(jsonrpc_split(STR("[\"\\udbff\", x]"), NULL, &arena, 2, &items, &count, &err),
			 ERR_INVALID);
	assert_string_equal(err.message, "line 1, column 12: expected a value");
}

static void errors_are_read_however_they_look(void **state)
{
	static const struct {
		const char *error;
		int64_t code;
		const char *message, *data;
	} rows[] = {
		{ "{\"code\":-32601,\"message\":\"no \\\"x\\\"\",\"data\":{\"a\": 1}}", -32601, "no \"x\"",
		  "{\"a\": 1}" },
		{ "{\"code\":-32601,\"message\":\"m\"}", -32601, "m", "" },
		{ "{\"message\":\"no code\"}", -32603, "no code", "" },
		{ "{\"code\":\"E1\",\"message\":3}", -32603, "", "" },
		{ "{\"code\":99999999999999999999}", -32603, "", "" },
		{ "\"plain words\"", -32603, "plain words", "" },
		{ "null", -32603, "", "" },
		{ "[]", -32603, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_arena_ struct arena arena = { 0 };
		struct jsonrpc_message m;
		struct jsonrpc_fault fault;
		struct str text;

		arena_init(&arena, 0);
		text = arena_printf(&arena, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":%s}", rows[i].error);
		assert_int_equal(jsonrpc_read(text, NULL, &arena, &m, &fault), 0);
		assert_int_equal(m.kind, JSONRPC_ERROR);
		assert_int_equal(m.error_code, rows[i].code);
		assert_str(m.error_message, rows[i].message);
		assert_str(m.error_data, rows[i].data);
	}
}

static void faults_say_what_to_answer(void **state)
{
	static const struct {
		const char *text;
		int64_t code;
		const char *id, *message;
	} rows[] = {
		{ "{\"jsonrpc\":", -32700, "", "expected a value" },
		{ "hello", -32700, "", "expected a value" },
		{ "", -32700, "", "expected a value" },
		{ "[1,", -32700, "", "expected a value" },
		{ "17", -32600, "", "a message is a JSON object" },
		{ "[]", -32600, "", "a message is a JSON object" },
		{ "{}", -32600, "", "\"jsonrpc\" must be \"2.0\"" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", -32600, "1",
		  "\"jsonrpc\" must be \"2.0\"" },
		{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", -32600, "1", "\"jsonrpc\" must be \"2.0\"" },
		{ "{\"id\":1,\"result\":{}}", 0, "1", "\"jsonrpc\" must be \"2.0\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "1",
		  "a message needs a method, a result or an error" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", -32600, "1", "\"method\" must be a string" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", -32600, "",
		  "\"id\" must be a string or an integer" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", -32600, "",
		  "\"id\" must be a string or an integer" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1e3,\"method\":\"m\"}", -32600, "",
		  "\"id\" must be a string or an integer" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", -32600, "",
		  "\"id\" must be a string or an integer" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[1]}", -32600, "1",
		  "\"params\" must be an object" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":{}}", -32600, "1",
		  "a message has a method, a result or an error, not two of them" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"m\"}", -32600, "",
		  "a member of the message comes twice" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"m\\u0065thod\":\"n\"}", -32600, "",
		  "a member of the message comes twice" },
		{ "{\"jsonrpc\":\"2.0\",\"result\":{}}", 0, "", "a result needs the id of its request" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", 0, "1",
		  "a response has a result or an error, not both" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_arena_ struct arena arena = { 0 };
		struct jsonrpc_message m;
		struct jsonrpc_fault fault;

		arena_init(&arena, 0);
		assert_int_equal(jsonrpc_read(str_of(rows[i].text), NULL, &arena, &m, &fault), ERR_INVALID);
		assert_int_equal(fault.code, rows[i].code);
		assert_str(fault.id, rows[i].id);
		assert_non_null(strstr(fault.err.message, rows[i].message));
	}
}

static void limits_are_invalid_requests(void **state)
{
	const struct json_limits deep = { .depth_max = 3 }, small = { .bytes_max = 20 };
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_message m;
	struct jsonrpc_fault fault;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(
		jsonrpc_read(
			STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":[[[1]]]}}"),
			&deep, &arena, &m, &fault),
		ERR_TOO_LARGE);
	assert_int_equal(fault.code, -32600);
	assert_int_equal(jsonrpc_read(STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}"), &small, &arena,
				      &m, &fault),
			 ERR_TOO_LARGE);
	assert_int_equal(fault.code, -32600);
	assert_int_equal(
		jsonrpc_read(STR("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,"
				 "\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1}"),
			     NULL, &arena, &m, &fault),
		ERR_TOO_LARGE);
	assert_int_equal(fault.code, -32600);
}

static void arrays_split_into_their_elements(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		const char *items[4];
	} rows[] = {
		{ "[]", 0, { 0 } },
		{ " [ ] ", 0, { 0 } },
		{ "[1]", 1, { "1" } },
		{ "\n[ {\"a\":\"],[\"} , [1,[2]],\"\\\"]\\\\\",-1.5e3 ]",
		  4,
		  { "{\"a\":\"],[\"}", "[1,[2]]", "\"\\\"]\\\\\"", "-1.5e3" } },
	};
	_cleanup_arena_ struct arena arena = { 0 };
	const struct str *items;
	size_t count;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(jsonrpc_split(str_of(rows[i].text), NULL, &arena, 4, &items, &count, NULL),
				 0);
		assert_int_equal(count, rows[i].count);
		for (size_t k = 0; k < count; k++)
			assert_str(items[k], rows[i].items[k]);
	}
}

/* Elements may be a byte long: neither visiting them nor counting too many of them takes memory. */
static void many_elements_take_no_memory(void **state)
{
	enum { MANY = 100000 };
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_buf_ struct buf text = { .max = 2 * MANY + 1 };
	struct jsonrpc_elements elements;
	const struct str *items;
	struct str item;
	size_t count = 0;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < MANY; i++)
		buf_append(&text, i ? STR(",0") : STR("[0"));
	buf_append_char(&text, ']');
	assert_int_equal(jsonrpc_elements(buf_str(&text), NULL, &elements, &err), 0);
	for (; jsonrpc_element(&elements, &item); count++)
		assert_str(item, "0");
	assert_int_equal(count, MANY);
	assert_false(jsonrpc_element(&elements, &item));
	assert_int_equal(jsonrpc_split(buf_str(&text), NULL, &arena, MANY - 1, &items, &count, &err),
			 ERR_TOO_LARGE);
	assert_string_equal(err.message, "more than 99999 elements in one array");
	assert_int_equal(arena.total, 0);
	assert_int_equal(jsonrpc_split(buf_str(&text), NULL, &arena, MANY, &items, &count, &err), 0);
	assert_in_range(arena.total, MANY * sizeof(*items), MANY * sizeof(*items) + 4096);
}

static void what_is_no_array_does_not_split(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *message;
	} rows[] = {
		{ "{}", ERR_INVALID, "expected an array" },
		{ "", ERR_INVALID, "expected an array" },
		{ "[1", ERR_INVALID, "expected" },
		{ "[{\"a\":]}]", ERR_INVALID, "expected" },
		{ "[1,2,3]", ERR_TOO_LARGE, "more than 2 elements in one array" },
	};
	_cleanup_arena_ struct arena arena = { 0 };
	const struct str *items;
	size_t count;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(jsonrpc_split(str_of(rows[i].text), NULL, &arena, 2, &items, &count, &err),
				 rows[i].code);
		assert_non_null(strstr(err.message, rows[i].message));
	}
}

static void an_id_is_found_in_a_cut_message(void **state)
{
	static const struct {
		const char *text, *id;
	} rows[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"content\":[{\"text\":\"xxx", "17" },
		{ "{ \"id\" : \"a\" , \"result", "\"a\"" },
		{ "{\"result\":{\"id\":1},\"id\":2}", "2" },
		{ "{\"result\":{\"id\":1,\"x\":\"", "" },
		{ "{\"id\":17", "" }, /* perhaps 170 */
		{ "{\"id\":-1,", "-1" },
		{ "{\"id\":123456789012345678901234567890,", "123456789012345678901234567890" },
		{ "{\"id\":1.5,", "" },
		{ "{\"id\":null,", "" },
		{ "{\"id\":[1],", "" },
		{ "{\"id\":01,", "" },
		{ "{\"id\":\"\\q\",", "" },
		{ "{\"id\":\"\xff\",", "" },
		{ "{\"id\":\"a\" \"b\",", "" },
		{ "{\"id\" 1,", "" },
		{ "{\"id", "" },
		{ "{", "" },
		{ "id", "" },
		{ "", "" },
		{ "{\"a\\", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_str(jsonrpc_peek_id(str_of(rows[i].text)), rows[i].id);
}

static void ids_are_equal_by_value(void **state)
{
	(void)state;
	assert_true(jsonrpc_id_equal(STR("1"), STR("1")));
	assert_true(jsonrpc_id_equal(STR("\"a\""), STR("\"\\u0061\"")));
	assert_false(jsonrpc_id_equal(STR("\"a\""), STR("\"\\u0062\"")));
	assert_false(jsonrpc_id_equal(STR("1"), STR("\"1\"")));
	assert_false(jsonrpc_id_equal(STR("123456789012345678901234567890"),
				      STR("123456789012345678901234567891")));
}

static void members_are_found_by_their_decoded_name(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_members members;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(
		jsonrpc_members(STR("{\"a\":1,\"\\u0062\":\"x\\ny\",\"a\":{ }}"), &arena, &members, &err), 0);
	assert_int_equal(members.count, 3);
	assert_str(jsonrpc_member(&members, STR("a")), "{ }");
	assert_str(jsonrpc_member_str(&members, STR("b"), &arena), "x\ny");
	assert_null(jsonrpc_member_str(&members, STR("a"), &arena).p);
	assert_null(jsonrpc_member_find(&members, STR("c")));
	assert_int_equal(jsonrpc_members(STR(""), &arena, &members, &err), 0);
	assert_int_equal(members.count, 0);
	assert_int_equal(jsonrpc_members(STR("[]"), &arena, &members, &err), ERR_INVALID);
	assert_non_null(strstr(err.message, "expected an object"));
}

static void messages_are_written_whole(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 4096);
	jsonrpc_write_request(&out, STR("\"x\""), STR("tools/call"), STR("{\"name\":\"a\"}"));
	assert_string_equal(
		buf_cstr(&out),
		"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}");
	buf_clear(&out, 0);
	jsonrpc_write_notification(&out, STR("n\""), STR(""));
	assert_string_equal(buf_cstr(&out), "{\"jsonrpc\":\"2.0\",\"method\":\"n\\\"\"}");
	buf_clear(&out, 0);
	jsonrpc_write_result(&out, STR("99999999999999999999"), STR("{ }"));
	assert_string_equal(buf_cstr(&out),
			    "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"result\":{ }}");
	buf_clear(&out, 0);
	jsonrpc_write_error(&out, STR(""), -32700, STR("bad\n"), STR("[1]"));
	assert_string_equal(
		buf_cstr(&out),
		"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"bad\\n\",\"data\":[1]}}");
}

static void a_message_becomes_one_line(void **state)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 64);
	buf_append(&out, STR("a\nb\n{\r\n\t\"a\": 1\r}\n"));
	jsonrpc_make_line(&out, 4);
	assert_string_equal(buf_cstr(&out), "a\nb\n{  \t\"a\": 1 } ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_classified_and_keep_their_text),
		cmocka_unit_test(halves_of_pairs_do_not_cost_the_message),
		cmocka_unit_test(halves_of_pairs_do_not_cost_the_batch),
		cmocka_unit_test(errors_are_read_however_they_look),
		cmocka_unit_test(faults_say_what_to_answer),
		cmocka_unit_test(limits_are_invalid_requests),
		cmocka_unit_test(arrays_split_into_their_elements),
		cmocka_unit_test(many_elements_take_no_memory),
		cmocka_unit_test(what_is_no_array_does_not_split),
		cmocka_unit_test(an_id_is_found_in_a_cut_message),
		cmocka_unit_test(ids_are_equal_by_value),
		cmocka_unit_test(members_are_found_by_their_decoded_name),
		cmocka_unit_test(messages_are_written_whole),
		cmocka_unit_test(a_message_becomes_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

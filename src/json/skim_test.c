#include "base/base.h"
#include "json/json.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

enum { ROOM = 8 };

struct skimmed {
	struct arena arena;
	struct json_member members[ROOM];
	size_t count;
	struct err err;
};

static int skim(struct skimmed *k, struct str text, size_t room)
{
	k->count = SIZE_MAX;
	return json_skim(text, NULL, &k->arena, k->members, room, &k->count, &k->err);
}

static int setup(void **state)
{
	struct skimmed *k = xnew(struct skimmed);

	arena_init(&k->arena, 0);
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	struct skimmed *k = *state;

	arena_release(&k->arena);
	free(k);
	return 0;
}

static void assert_member(const struct json_member *m, struct str key, struct str raw, enum json_type type)
{
	assert_int_equal(m->key.n, key.n);
	assert_memory_equal(m->key.p, key.p, key.n);
	assert_int_equal(m->raw.n, raw.n);
	assert_memory_equal(m->raw.p, raw.p, raw.n);
	assert_int_equal(m->type, type);
}

static void test_members_in_order(void **state)
{
	static const struct str text =
		STR_INIT(" { \"id\" : 123456789012345678901234567890 ,\n\"params\":{ \"a\" : [1, 2] } "
			 ",\"s\":\"\\u0041\" , \"t\":true,\"f\":false, \"n\" :null,\"l\":[ ] }\n");
	struct skimmed *k = *state;

	assert_int_equal(skim(k, text, ROOM), 0);
	assert_int_equal(k->count, 7);
	assert_member(&k->members[0], STR("id"), STR("123456789012345678901234567890"), JSON_NUMBER);
	assert_member(&k->members[1], STR("params"), STR("{ \"a\" : [1, 2] }"), JSON_OBJECT);
	assert_member(&k->members[2], STR("s"), STR("\"\\u0041\""), JSON_STRING);
	assert_member(&k->members[3], STR("t"), STR("true"), JSON_TRUE);
	assert_member(&k->members[4], STR("f"), STR("false"), JSON_FALSE);
	assert_member(&k->members[5], STR("n"), STR("null"), JSON_NULL);
	assert_member(&k->members[6], STR("l"), STR("[ ]"), JSON_ARRAY);
	/* Values and names without escapes are not copied. */
	assert_ptr_equal(k->members[0].key.p, text.p + 4);
	assert_int_equal(k->arena.total, 0);
	/* What is inside. */
	assert_int_equal(skim(k, k->members[1].raw, ROOM), 0);
	assert_int_equal(k->count, 1);
	assert_member(&k->members[0], STR("a"), STR("[1, 2]"), JSON_ARRAY);
}

static void test_empty_objects(void **state)
{
	struct skimmed *k = *state;

	assert_int_equal(skim(k, STR("{}"), ROOM), 0);
	assert_int_equal(k->count, 0);
	assert_int_equal(skim(k, STR("\t{ \r\n} "), ROOM), 0);
	assert_int_equal(k->count, 0);
}

static void test_names_are_decoded(void **state)
{
	struct skimmed *k = *state;

	assert_int_equal(skim(k,
			      STR("{\"\\u0069d\":1,\"a\\\"b\\\\\" :2,"
				  "\"\\u0000\":3,\"\":4,\"\\ud83d\\ude00\xc3\xa9\":5}"),
			      ROOM),
			 0);
	assert_int_equal(k->count, 5);
	assert_member(&k->members[0], STR("id"), STR("1"), JSON_NUMBER);
	assert_member(&k->members[1], STR("a\"b\\"), STR("2"), JSON_NUMBER);
	assert_member(&k->members[2], STR("\0"), STR("3"), JSON_NUMBER);
	assert_member(&k->members[3], STR(""), STR("4"), JSON_NUMBER);
	assert_member(&k->members[4], STR("\xf0\x9f\x98\x80\xc3\xa9"), STR("5"), JSON_NUMBER);
}

static void test_find(void **state)
{
	struct skimmed *k = *state;

	assert_int_equal(skim(k, STR("{\"id\":1,\"method\":2,\"\\u0069d\":3}"), ROOM), 0);
	assert_ptr_equal(json_member_find(k->members, k->count, STR("id")), &k->members[2]);
	assert_ptr_equal(json_member_find(k->members, k->count, STR("method")), &k->members[1]);
	assert_null(json_member_find(k->members, k->count, STR("ID")));
	assert_null(json_member_find(NULL, 0, STR("id")));
}

static void test_room(void **state)
{
	struct skimmed *k = *state;

	assert_int_equal(skim(k, STR("{\"a\":1,\"b\":2}"), 2), 0);
	assert_int_equal(skim(k, STR("{\"a\":1,\"b\":2,\"c\":3}"), 2), ERR_TOO_LARGE);
	assert_string_equal(k->err.message, "line 1, column 14: more than 2 members in one object");
	assert_int_equal(k->count, SIZE_MAX);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "", "line 1, column 1: the text ends, expected an object" },
		{ "[{}]", "line 1, column 1: expected an object" },
		{ "{", "line 1, column 2: the text ends, expected a member name in double quotes" },
		{ "{\"a\":1,}", "line 1, column 8: expected a member name in double quotes" },
		{ "{\"a\":1 \"b\":2}", "line 1, column 8: expected ',' or '}' after a member" },
		{ "{\"a\":[1,]}", "line 1, column 9: expected a value" },
		{ "{\"a\":\"\xff\"}", "line 1, column 7: expected valid UTF-8" },
		{ "{\"a\":\"\\ud800\"}", "line 1, column 7: expected a surrogate pair, high before low" },
		{ "{\"a\" 1}", "line 1, column 6: expected ':' after a member name" },
		{ "{\"a\":1}\n x", "line 2, column 2: expected the end of the text" },
		{ "{\"a\":1}/**/", "line 1, column 8: expected the end of the text" },
		{ "{\"a\":", "line 1, column 6: the text ends, expected a value" },
		{ "{\"\\x\":1}", "line 1, column 4: expected one of \" \\ / b f n r t u after a backslash" },
	};
	struct skimmed *k = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(skim(k, str_of(rows[i].text), ROOM), ERR_INVALID);
		assert_string_equal(k->err.message, rows[i].message);
		assert_int_equal(k->count, SIZE_MAX);
	}
}

static void test_limits(void **state)
{
	const struct json_limits limits = { .bytes_max = 14, .depth_max = 3 };
	struct skimmed *k = *state;

	assert_int_equal(json_skim(STR("{\"a\":[{}],\"b\":1}"), &limits, &k->arena, k->members, ROOM,
				   &k->count, &k->err),
			 ERR_TOO_LARGE);
	assert_string_equal(k->err.message, "16 bytes of JSON, and no more than 14 are allowed");
	assert_int_equal(
		json_skim(STR("{\"a\":[{}]}"), &limits, &k->arena, k->members, ROOM, &k->count, NULL), 0);
	assert_int_equal(
		json_skim(STR("{\"a\":[[[]]]}"), &limits, &k->arena, k->members, ROOM, &k->count, &k->err),
		ERR_TOO_LARGE);
	assert_string_equal(k->err.message,
			    "line 1, column 8: more than 3 levels of nested arrays and objects");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_members_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_are_decoded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "json/json.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

/* The document of RFC 6901, section 5, and some more: every number is the answer. */
static const char document[] =
	"{\"foo\":[10,11],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,"
	"\" \":7,\"m~n\":8,\"~1\":12,\"o\":{\"o\":{\"0\":13}},\"d\":14,\"d\":15,\"\\u0000\":16}";

static void test_found(void **state)
{
	static const struct {
		struct str pointer;
		int64_t value;
	} rows[] = {
		{ STR_INIT("/foo/0"), 10 }, { STR_INIT("/foo/1"), 11 }, { STR_INIT("/"), 0 },
		{ STR_INIT("/a~1b"), 1 },   { STR_INIT("/c%d"), 2 },	{ STR_INIT("/e^f"), 3 },
		{ STR_INIT("/g|h"), 4 },    { STR_INIT("/i\\j"), 5 },	{ STR_INIT("/k\"l"), 6 },
		{ STR_INIT("/ "), 7 },	    { STR_INIT("/m~0n"), 8 },	{ STR_INIT("/~01"), 12 },
		{ STR_INIT("/o/o/0"), 13 }, { STR_INIT("/d"), 15 },	{ STR_INIT("/\0"), 16 },
	};
	_cleanup_json_ struct json_doc doc = { 0 };

	(void)state;
	assert_int_equal(json_parse(&doc, str_of(document), NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t value;

		assert_int_equal(json_i64(json_pointer(json_root(&doc), rows[i].pointer), &value), 0);
		assert_int_equal(value, rows[i].value);
	}
	assert_ptr_equal(json_pointer(json_root(&doc), STR("")), json_root(&doc));
	assert_int_equal(json_count(json_pointer(json_root(&doc), STR("/foo"))), 2);
}

static void test_not_found(void **state)
{
	static const char *const pointers[] = {
		"foo",	   "foo/0",   "/foo/2",	 "/foo/-",  "/foo/", "/foo/00", "/foo/01",
		"/foo/+1", "/foo/1x", "/foo/-1", "/foo/0/", "/none", "/fo",	"/fooo",
		"/m~n",	   "/m~",     "/m~2n",	 "/o/x/0",  "/a/b",  "//",	"/foo/18446744073709551616",
	};
	_cleanup_json_ struct json_doc doc = { 0 };

	(void)state;
	assert_int_equal(json_parse(&doc, str_of(document), NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(pointers); i++)
		assert_null(json_pointer(json_root(&doc), str_of(pointers[i])));
	assert_null(json_pointer(NULL, STR("/foo")));
	assert_null(json_pointer(NULL, STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

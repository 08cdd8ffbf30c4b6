#include "base/base.h"
#include "json/json.h"

#include "base/buf.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static const struct json *parse(struct json_doc *doc, struct str text)
{
	struct err err = { 0 };

	if (json_parse(doc, text, NULL, &err) < 0)
		fail_msg("%.*s: %s", STR_ARG(text), err.message);
	return json_root(doc);
}

static void assert_str_equal(struct str s, struct str expected)
{
	assert_int_equal(s.n, expected.n);
	assert_memory_equal(s.p, expected.p, expected.n);
}

static void test_types(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root = parse(&doc, STR("[null,false,true,-1,\"\",[],{}]"));

	(void)state;
	for (enum json_type type = JSON_NULL; type <= JSON_OBJECT; type++) {
		const struct json *v = json_at(root, type);

		assert_int_equal(json_type(v), type);
		for (enum json_type other = JSON_NULL; other <= JSON_OBJECT; other++)
			assert_int_equal(json_is(v, other), type == other);
		assert_int_equal(json_is_bool(v), type == JSON_FALSE || type == JSON_TRUE);
		assert_int_equal(json_str(v).p != NULL, type == JSON_STRING);
		assert_int_equal(json_number_text(v).p != NULL, type == JSON_NUMBER);
		assert_int_equal(json_count(v), 0);
	}
	assert_int_equal(json_count(root), 7);
	assert_null(json_at(root, 7));
	assert_null(json_at(root, SIZE_MAX));
}

static void test_absent_values(void **state)
{
	const struct json *key, *value;
	size_t visited = 0;

	(void)state;
	assert_int_equal(json_type(NULL), JSON_NULL);
	assert_false(json_is(NULL, JSON_NULL));
	assert_false(json_is_bool(NULL));
	assert_null(json_str(NULL).p);
	assert_null(json_number_text(NULL).p);
	assert_int_equal(json_count(NULL), 0);
	assert_null(json_get(NULL, STR("a")));
	assert_null(json_at(NULL, 0));
	assert_null(json_first(NULL));
	assert_false(json_has_duplicates(NULL));
	json_for_each(value, NULL)
		visited++;
	json_for_each_member(key, value, NULL)
		visited++;
	assert_int_equal(visited, 0);
}

static void test_defaults(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root = parse(&doc, STR("{\"s\":\"text\",\"yes\":true,\"no\":false,\"n\":0}"));

	(void)state;
	assert_str_equal(json_str_or(json_get(root, STR("s")), STR("x")), STR("text"));
	assert_str_equal(json_str_or(json_get(root, STR("n")), STR("x")), STR("x"));
	assert_str_equal(json_str_or(NULL, STR("x")), STR("x"));
	assert_true(json_bool_or(json_get(root, STR("yes")), false));
	assert_false(json_bool_or(json_get(root, STR("no")), true));
	assert_true(json_bool_or(json_get(root, STR("n")), true));
	assert_false(json_bool_or(NULL, false));
}

static void test_strings_are_counted_and_terminated(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root = parse(&doc, STR("{\"a\\u0000b\":\"c\\u0000d\",\"a\":12}"));

	(void)state;
	assert_str_equal(json_str(json_first(root)), STR("a\0b"));
	assert_str_equal(json_str(json_get(root, STR("a\0b"))), STR("c\0d"));
	assert_int_equal(json_str(json_first(root)).p[3], '\0');
	assert_str_equal(json_number_text(json_get(root, STR("a"))), STR("12"));
	assert_null(json_get(root, STR("a\0c")));
	assert_null(json_get(root, STR("A")));
}

static void test_members(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root = parse(&doc, STR("{\"\":1,\"b\":[{\"b\":2},[3]],\"c\":4,\"b\":5}"));
	const struct json *key, *value;
	char seen[16];
	size_t n = 0;

	(void)state;
	json_for_each_member(key, value, root) {
		seen[n++] = json_str(key).n ? json_str(key).p[0] : '-';
		seen[n++] = json_is(value, JSON_NUMBER) ? json_number_text(value).p[0] : '[';
	}
	assert_int_equal(n, 8);
	assert_memory_equal(seen, "-1b[c4b5", n);
	assert_int_equal(json_count(root), 4);
	assert_str_equal(json_number_text(json_get(root, STR(""))), STR("1"));
	assert_str_equal(json_number_text(json_get(root, str_make(NULL, 0))), STR("1"));
	assert_str_equal(json_number_text(json_get(root, STR("b"))), STR("5"));
	assert_null(json_get(root, STR("d")));
	assert_null(json_at(root, 0));
	json_for_each(value, root)
		fail_msg("an object has no elements");
}

static void test_loops_nest(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root = parse(&doc, STR("[[1,2],[],[3,[9],4]]")), *row, *item;
	size_t rows = 0, numbers = 0;

	(void)state;
	json_for_each(row, root) {
		rows++;
		json_for_each(item, row)
			numbers += json_is(item, JSON_NUMBER);
	}
	assert_int_equal(rows, 3);
	assert_int_equal(numbers, 4);
	json_for_each(row, root)
		if (json_count(row) == 0)
			break;
	assert_ptr_equal(row, json_at(root, 1));
	assert_ptr_equal(json_after(row), json_at(root, 2));
	assert_null(json_first(row));
}

static void test_duplicates(void **state)
{
	static const struct {
		const char *text;
		bool duplicates;
	} rows[] = {
		{ "{}", false },
		{ "{\"a\":1}", false },
		{ "{\"a\":1,\"A\":1,\"ab\":1,\"\":1}", false },
		{ "{\"a\":1,\"b\":2,\"a\":1}", true },
		{ "{\"a\":1,\"\\u0061\":1}", true },
		{ "{\"a\\u0000\":1,\"a\":1}", false },
		{ "[1,1]", false },
		{ "\"a\"", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };

		assert_int_equal(json_has_duplicates(parse(&doc, str_of(rows[i].text))), rows[i].duplicates);
	}
}

/* Many more nodes than the first guess has room for, so that the tape moves out of the block, more than
 * once. */
static void test_dense_documents(void **state)
{
	enum { ELEMENTS = 100000 };
	_cleanup_json_ struct json_doc doc = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	const struct json *v;
	size_t n = 0;

	(void)state;
	buf_init(&text, 4 * ELEMENTS);
	for (size_t i = 0; i < ELEMENTS; i++)
		buf_append(&text, i == 0 ? STR("[0") : STR(",7"));
	buf_append_char(&text, ']');
	json_for_each(v, parse(&doc, buf_str(&text)))
		assert_int_equal(json_number_text(v).p[0], n++ == 0 ? '0' : '7');
	assert_int_equal(n, ELEMENTS);
	assert_int_equal(json_count(json_root(&doc)), ELEMENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),	   cmocka_unit_test(test_absent_values),
		cmocka_unit_test(test_defaults),   cmocka_unit_test(test_strings_are_counted_and_terminated),
		cmocka_unit_test(test_members),	   cmocka_unit_test(test_loops_nest),
		cmocka_unit_test(test_duplicates), cmocka_unit_test(test_dense_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

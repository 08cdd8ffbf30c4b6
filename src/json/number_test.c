#include "base/base.h"
#include "json/number.h"
#include "json/json.h"

#include <float.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static void parse(struct json_doc *doc, const char *text)
{
	assert_int_equal(json_parse(doc, str_of(text), NULL, NULL), 0);
}

static void test_i64(void **state)
{
	static const struct {
		const char *text;
		int code;
		int64_t value;
	} rows[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "-0.0e5", 0, 0 },
		{ "0e999999999999999999999", 0, 0 },
		{ "17", 0, 17 },
		{ "9007199254740991", 0, 9007199254740991 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", ERR_TOO_LARGE, 0 },
		{ "-9223372036854775809", ERR_TOO_LARGE, 0 },
		{ "123456789012345678901234567890", ERR_TOO_LARGE, 0 },
		{ "1e400", ERR_TOO_LARGE, 0 },
		{ "1e99999999999999999999999", ERR_TOO_LARGE, 0 },
		{ "1.0", 0, 1 },
		{ "-2.500e1", 0, -25 },
		{ "1e2", 0, 100 },
		{ "1E+18", 0, 1000000000000000000 },
		{ "12000e-3", 0, 12 },
		{ "0.0001e4", 0, 1 },
		{ "0.922337203685477580700e19", 0, INT64_MAX },
		{ "1.5", ERR_INVALID, 0 },
		{ "0.1", ERR_INVALID, 0 },
		{ "1e-1", ERR_INVALID, 0 },
		{ "1e-99999999999999999999999", ERR_INVALID, 0 },
		{ "\"1\"", ERR_INVALID, 0 },
		{ "null", ERR_INVALID, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		int64_t value = 42;

		parse(&doc, rows[i].text);
		assert_int_equal(json_i64(json_root(&doc), &value), rows[i].code);
		assert_true(value == (rows[i].code < 0 ? 42 : rows[i].value));
	}
}

static void test_u64(void **state)
{
	static const struct {
		const char *text;
		int code;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "1844674407370955161.5e1", 0, UINT64_MAX },
		{ "18446744073709551616", ERR_TOO_LARGE, 0 },
		{ "100000000000000000000", ERR_TOO_LARGE, 0 },
		{ "-1", ERR_TOO_LARGE, 0 },
		{ "-1.5", ERR_INVALID, 0 },
		{ "true", ERR_INVALID, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		uint64_t value = 42;

		parse(&doc, rows[i].text);
		assert_int_equal(json_u64(json_root(&doc), &value), rows[i].code);
		assert_true(value == (rows[i].code < 0 ? 42 : rows[i].value));
	}
	assert_int_equal(json_u64(NULL, &(uint64_t){ 0 }), ERR_INVALID);
}

static void test_double(void **state)
{
	static const struct {
		const char *text;
		int code;
		double value;
	} rows[] = {
		{ "0.1", 0, 0.1 },
		{ "-2.5e-3", 0, -0.0025 },
		{ "9007199254740993", 0, 9007199254740992.0 },
		{ "1.7976931348623157e308", 0, DBL_MAX },
		{ "5e-324", 0, 5e-324 },
		{ "1e-400", 0, 0 },
		{ "1e400", ERR_TOO_LARGE, 0 },
		{ "-1e400", ERR_TOO_LARGE, 0 },
		{ "[]", ERR_INVALID, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_json_ struct json_doc doc = { 0 };
		double value = 42;

		parse(&doc, rows[i].text);
		assert_int_equal(json_double(json_root(&doc), &value), rows[i].code);
		assert_true(value == (rows[i].code < 0 ? 42 : rows[i].value));
	}
	assert_int_equal(json_double(NULL, &(double){ 0 }), ERR_INVALID);
}

/* Inside of arrays, where another number follows at once. */
static void test_neighbours(void **state)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	double sum = 0, value;
	const struct json *v;

	(void)state;
	parse(&doc, "[1,2.5,3e0]");
	json_for_each(v, json_root(&doc)) {
		assert_int_equal(json_double(v, &value), 0);
		sum += value;
	}
	assert_true(sum == 6.5);
}

static void test_equality(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "1", "1", true },
		{ "1", "1.0", true },
		{ "100", "1e2", true },
		{ "1.50e1", "15", true },
		{ "0", "-0.0e7", true },
		{ "0", "0e99999999999999999999999999", true },
		{ "0.001", "1e-3", true },
		{ "1", "-1", false },
		{ "1", "10", false },
		{ "12", "13", false },
		{ "1", "1.00000000000000000000000000000000000001", false },
		{ "9007199254740993", "9007199254740992", false },
		{ "123456789012345678901234567890", "1.2345678901234567890123456789e29", true },
		{ "1e400", "10e399", true },
		{ "1e400", "1e401", false },
		{ "1e400", "1e-400", false },
		{ "1e-1", "1e1", false },
		{ "1e99999999999999999999999999", "10e99999999999999999999999998", true },
		{ "1e100000000000000000000000000", "10e99999999999999999999999999", true },
		{ "1e100000000000000000000000000", "1e99999999999999999999999999", false },
		{ "1e-100000000000000000000000000", "0.1e-99999999999999999999999999", true },
		{ "1e100000000000000000000000000", "1e-100000000000000000000000000", false },
		{ "1e0000000000000000000000000001", "10", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(number_equal(str_of(rows[i].a), str_of(rows[i].b)), rows[i].equal);
		assert_int_equal(number_equal(str_of(rows[i].b), str_of(rows[i].a)), rows[i].equal);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_i64),	 cmocka_unit_test(test_u64),
		cmocka_unit_test(test_double),	 cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_equality),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

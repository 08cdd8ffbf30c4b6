#include "base/base.h"
#include "settings/spot.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/json.h"

static const struct str text = STR_INIT("// a file\n"
					"{\n"
					"  \"a\": [1, \"x,]\\\"y\", {\"p\": -2.5e3, \"q\": null}],\n"
					"  /* { \" } */ \"b\" : true,\n"
					"  \"c\":{\"d\":{}, \"e\" : [ [], {} ] /*,*/ , },\n"
					"  \"f\"//:\n"
					"  :\n"
					"  false\n"
					"}\n");

static void is_at(const struct spot *spot, unsigned line, unsigned column)
{
	struct spot_position position = spot_find(spot, text);

	assert_int_equal(position.line, line);
	assert_int_equal(position.column, column);
}

static void members_and_elements_are_found(void **state)
{
	struct json_doc doc;
	struct spot a = { NULL, 0 }, b = { NULL, 1 }, c = { NULL, 2 }, f = { NULL, 3 };
	struct spot a1 = { &a, 1 }, a2 = { &a, 2 }, a2q = { &a2, 1 };
	struct spot ce = { &c, 1 }, ce1 = { &ce, 1 };

	(void)state;
	assert_int_equal(json_parse_jsonc(&doc, text, NULL, NULL), 0);
	json_release(&doc);
	is_at(NULL, 2, 1);
	is_at(&a, 3, 3);
	is_at(&a1, 3, 12);
	is_at(&a2, 3, 22);
	is_at(&a2q, 3, 36);
	is_at(&b, 4, 15);
	is_at(&c, 5, 3);
	is_at(&ce, 5, 16);
	is_at(&ce1, 5, 28);
	is_at(&f, 6, 3);
}

static void a_way_that_leads_nowhere_stays_within_the_text(void **state)
{
	struct spot beyond = { NULL, 99 }, within = { &beyond, 3 }, scalar = { NULL, 1 },
		    in_scalar = { &scalar, 2 };
	static const struct str odd[] = { STR_INIT(""),	 STR_INIT("\""), STR_INIT("{\"a"),
					  STR_INIT("/"), STR_INIT("[1"), STR_INIT("/*") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		assert_in_range(spot_find(&within, odd[i]).line, 1, 1);
		assert_in_range(spot_find(NULL, odd[i]).column, 1, 4);
	}
	assert_in_range(spot_find(&within, text).line, 1, 10);
	assert_in_range(spot_find(&in_scalar, text).line, 1, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_and_elements_are_found),
		cmocka_unit_test(a_way_that_leads_nowhere_stays_within_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/base.h"
#include "settings/spot.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
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

static struct spot_finder finder;

static void is_at(const struct spot *spot, unsigned line, unsigned column)
{
	struct spot_position position = spot_find(&finder, spot);

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
	spot_finder_init(&finder, text);
	/* In order, and then back. */
	for (int i = 0; i < 2; i++) {
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
		is_at(&ce, 5, 16);
		is_at(&a2q, 3, 36);
		is_at(&a1, 3, 12);
	}
}

static void what_lies_deeper_than_is_remembered_is_found(void **state)
{
	static const struct str deep = STR_INIT("[[[[[[[[[[0, [1,\n2], 3]]]]]]]]]]");
	struct spot way[11] = { { NULL, 0 } };

	(void)state;
	for (size_t i = 1; i < 11; i++)
		way[i] = (struct spot){ &way[i - 1], i == 9 || i == 10 };
	spot_finder_init(&finder, deep);
	is_at(&way[8], 1, 10);
	is_at(&way[10], 2, 1);
	is_at(&way[9], 1, 14);
	is_at(&way[10], 2, 1);
}

/* One walk over the text is all that the places of its members cost. */
static void all_members_are_found_in_one_walk(void **state)
{
	enum { MANY = 200000 };
	_cleanup_buf_ struct buf out = { .max = 16 * MANY };
	struct spot_position position;

	(void)state;
	buf_append_char(&out, '{');
	for (unsigned i = 0; i < MANY; i++)
		buf_printf(&out, "\"%06u\":{},%s", i, i % 2 ? "\n" : "");
	buf_append_char(&out, '}');
	spot_finder_init(&finder, buf_str(&out));
	for (unsigned i = 0; i < MANY; i++) {
		struct spot spot = { NULL, i }, inside = { &spot, 0 };

		position = spot_find(&finder, &spot);
		assert_int_equal(position.line, i / 2 + 1);
		assert_int_equal(position.column, i == 0 ? 2 : i == 1 ? 14 : i % 2 ? 13 : 1);
		position = spot_find(&finder, &inside);
		assert_int_equal(position.line, i / 2 + 1);
	}
}

static void a_way_that_leads_nowhere_stays_within_the_text(void **state)
{
	struct spot beyond = { NULL, 99 }, within = { &beyond, 3 }, scalar = { NULL, 1 },
		    in_scalar = { &scalar, 2 };
	static const struct str odd[] = { STR_INIT(""),	 STR_INIT("\""), STR_INIT("{\"a"),
					  STR_INIT("/"), STR_INIT("[1"), STR_INIT("/*") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		spot_finder_init(&finder, odd[i]);
		assert_in_range(spot_find(&finder, &within).line, 1, 1);
		assert_in_range(spot_find(&finder, NULL).column, 1, 4);
	}
	spot_finder_init(&finder, text);
	assert_in_range(spot_find(&finder, &within).line, 1, 10);
	assert_in_range(spot_find(&finder, &in_scalar).line, 1, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_and_elements_are_found),
		cmocka_unit_test(what_lies_deeper_than_is_remembered_is_found),
		cmocka_unit_test(all_members_are_found_in_one_walk),
		cmocka_unit_test(a_way_that_leads_nowhere_stays_within_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

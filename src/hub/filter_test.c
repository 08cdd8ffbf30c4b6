#include "base/base.h"
#include "hub/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Up to three patterns of each kind. */
static bool allows(const char *const tools[3], const char *const extra[3], const char *const excluded[3],
		   const char *name)
{
	const char *const *const lists[] = { tools, extra, excluded };
	struct setting_items items[ARRAY_LEN(lists)];
	struct str storage[ARRAY_LEN(lists)][3];
	struct config_filter filter;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		items[i] = (struct setting_items){ storage[i], 0 };
		while (items[i].count < 3 && lists[i][items[i].count]) {
			storage[i][items[i].count] = str_of(lists[i][items[i].count]);
			items[i].count++;
		}
	}
	filter = (struct config_filter){ .tools = items[0], .extra = items[1], .excluded = items[2] };
	return filter_allows(&filter, str_of(name));
}

#define L(...) ((const char *const[3]){ __VA_ARGS__ })
#define NONE L(NULL)

static void without_lists_everything_is_there(void **state)
{
	(void)state;
	assert_true(allows(NONE, NONE, NONE, "anything"));
}

static void an_allow_list_hides_the_rest(void **state)
{
	(void)state;
	assert_true(allows(L("get_*", "list"), NONE, NONE, "get_it"));
	assert_true(allows(L("get_*", "list"), NONE, NONE, "list"));
	assert_false(allows(L("get_*", "list"), NONE, NONE, "list_all"));
	assert_false(allows(L("get_*", "list"), NONE, NONE, "Get_it"));
}

static void extra_tools_add_to_it_or_are_it(void **state)
{
	(void)state;
	assert_true(allows(L("get_*"), L("put"), NONE, "put"));
	assert_true(allows(L("get_*"), L("put"), NONE, "get_it"));
	assert_true(allows(NONE, L("put"), NONE, "put"));
	assert_false(allows(NONE, L("put"), NONE, "get_it"));
}

static void exclusion_wins_over_both(void **state)
{
	(void)state;
	assert_false(allows(L("get_*"), L("put"), L("*t"), "put"));
	assert_false(allows(L("get_*"), L("put"), L("*t"), "get_it"));
	assert_true(allows(L("get_*"), L("put"), L("*t"), "get_all"));
	assert_true(allows(NONE, NONE, L("[a-c]?"), "b"));
	assert_false(allows(NONE, NONE, L("[a-c]?"), "bx"));
}

/* They never come from settings, which refuse them: should one get here, it must not open anything. */
static void what_is_not_understood_hides(void **state)
{
	(void)state;
	assert_false(allows(NONE, NONE, L("/re/"), "anything"));
	assert_false(allows(L("/.*/"), NONE, NONE, "anything"));
	assert_true(allows(L("/.*/", "x"), NONE, NONE, "x"));
}

static void nothing_hidden_is_the_same_snapshot(void **state)
{
	const struct str items[] = { STR("{\"name\":\"a\", \"x\":1e400}"), STR("{\"name\":\"b\"}"),
				     STR("17") };
	struct catalogue_snapshot *all = catalogue_build(STR("ns"), items, 3, STR("be kind"), 1000, 7),
				  *shown;
	struct str b = STR("b");
	struct config_filter filter = { .tools = { NULL, 0 } };

	(void)state;
	shown = filter_apply(&filter, all, 7);
	assert_ptr_equal(shown, all);
	assert_int_equal(all->users, 2);
	catalogue_unref(&shown);
	filter.excluded = (struct setting_items){ &b, 1 };
	shown = filter_apply(&filter, all, 7);
	assert_int_equal(shown->count, 1);
	assert_true(str_eq(shown->tools[0].raw, items[0]));
	assert_true(str_eq(shown->instructions, STR("be kind")));
	assert_int_equal(shown->skipped, 1);
	assert_int_equal(shown->fetched_at, 1000);
	assert_false(shown->hash == all->hash);
	catalogue_unref(&shown);
	catalogue_unref(&all);
}

static void hidden_names_do_not_repeat(void **state)
{
	const struct str items[] = { STR("{\"name\":\"a\"}"), STR("{\"name\":\"a\",\"title\":\"A\"}"),
				     STR("{\"name\":\"b\"}") };
	struct catalogue_snapshot *all = catalogue_build(STR("ns"), items, 3, STR(""), 1000, 7), *shown;
	struct str a = STR("a"), b = STR("b");
	struct config_filter filter = { .excluded = { &b, 1 } };

	(void)state;
	shown = filter_apply(&filter, all, 7);
	assert_int_equal(shown->count, 2);
	assert_int_equal(shown->repeated, 1);
	assert_true(str_eq(shown->tools[1].listed_name, all->tools[1].listed_name));
	catalogue_unref(&shown);
	filter.excluded.items = &a;
	shown = filter_apply(&filter, all, 7);
	assert_int_equal(shown->count, 1);
	assert_int_equal(shown->repeated, 0);
	catalogue_unref(&shown);
	catalogue_unref(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_lists_everything_is_there),
		cmocka_unit_test(an_allow_list_hides_the_rest),
		cmocka_unit_test(extra_tools_add_to_it_or_are_it),
		cmocka_unit_test(exclusion_wins_over_both),
		cmocka_unit_test(what_is_not_understood_hides),
		cmocka_unit_test(nothing_hidden_is_the_same_snapshot),
		cmocka_unit_test(hidden_names_do_not_repeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

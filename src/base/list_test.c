#include "base/base.h"
#include "base/list.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

struct item {
	int number;
	struct list_node node;
	struct list_node other;
};

/* The numbers on the list as the digits of one. */
static int digits(struct list_node *list)
{
	struct item *item;
	int n = 0;

	list_for_each(item, list, node)
		n = n * 10 + item->number;
	return n;
}

static void make_items(struct item *items, int count, struct list_node *list)
{
	list_init(list);
	for (int i = 0; i < count; i++) {
		items[i].number = i + 1;
		list_init(&items[i].node);
		list_init(&items[i].other);
		list_append(list, &items[i].node);
	}
}

static void test_order(void **state)
{
	struct list_node list;
	struct item items[3];

	(void)state;
	list_init(&list);
	assert_true(list_empty(&list));
	assert_int_equal(digits(&list), 0);
	make_items(items, 3, &list);
	assert_false(list_empty(&list));
	assert_int_equal(digits(&list), 123);
	assert_ptr_equal(list_first(&list, struct item, node), &items[0]);
}

static void test_removal(void **state)
{
	struct list_node list;
	struct item items[3];

	(void)state;
	make_items(items, 3, &list);
	list_remove(&items[1].node);
	assert_int_equal(digits(&list), 13);
	list_remove(&items[1].node);
	assert_int_equal(digits(&list), 13);
	list_remove(&items[0].node);
	list_append(&list, &items[1].node);
	assert_int_equal(digits(&list), 32);
	list_remove(&items[2].node);
	list_remove(&items[1].node);
	assert_true(list_empty(&list));
	/* A node that was never on a list. */
	list_remove(&items[0].other);
}

static void test_removal_while_visiting(void **state)
{
	struct list_node list, kept;
	struct item *item;

	(void)state;
	list_init(&list);
	list_init(&kept);
	for (int i = 1; i <= 9; i++) {
		item = xnew(struct item);
		item->number = i;
		list_append(&list, &item->node);
	}
	list_for_each(item, &list, node) {
		list_remove(&item->node);
		if (item->number % 2)
			free(item);
		else
			list_append(&kept, &item->node);
	}
	assert_true(list_empty(&list));
	assert_int_equal(digits(&kept), 2468);
	list_for_each(item, &kept, node) {
		list_remove(&item->node);
		free(item);
	}
	assert_true(list_empty(&kept));
}

static void test_loops_nest_and_break(void **state)
{
	struct list_node list;
	struct item items[4], *outer, *inner;
	int pairs = 0;

	(void)state;
	make_items(items, 4, &list);
	list_for_each(outer, &list, node) {
		list_for_each(inner, &list, node) {
			if (inner == outer)
				break;
			pairs++;
		}
	}
	assert_int_equal(pairs, 6);
	list_for_each(outer, &list, node)
		if (outer->number == 3)
			break;
	assert_ptr_equal(outer, &items[2]);
}

static void test_two_lists_at_once(void **state)
{
	struct list_node list, others;
	struct item items[3], *item;
	int n = 0;

	(void)state;
	make_items(items, 3, &list);
	list_init(&others);
	list_append(&others, &items[2].other);
	list_append(&others, &items[0].other);
	list_remove(&items[0].node);
	list_for_each(item, &others, other)
		n = n * 10 + item->number;
	assert_int_equal(n, 31);
	assert_int_equal(digits(&list), 23);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_removal_while_visiting),
		cmocka_unit_test(test_loops_nest_and_break),
		cmocka_unit_test(test_two_lists_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

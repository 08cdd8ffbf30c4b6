#include "base/base.h"
#include "hub/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct catalogue_snapshot *build(const char *namespace, const char *const *tools, size_t count)
{
	struct str items[32];

	assert_true(count <= ARRAY_LEN(items));
	for (size_t i = 0; i < count; i++)
		items[i] = str_of(tools[i]);
	return catalogue_build(str_of(namespace), items, count, STR("be kind"), 1000, 7);
}

#define BUILD(namespace, ...)                                                                                \
	build(namespace, (const char *const[]){ __VA_ARGS__ },                                               \
	      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

#define assert_str(actual, expected)                                                                         \
	do {                                                                                                 \
		struct str _actual = (actual);                                                               \
		assert_int_equal(_actual.n, strlen(expected));                                               \
		assert_memory_equal(_actual.p ? _actual.p : "", expected, _actual.n);                        \
	} while (0)

static void test_tool_is_kept_byte_for_byte(void **state)
{
	static const char odd[] =
		"{ \"inputSchema\" : {\"oneOf\":[{\"$ref\":\"#/x\"}, 1e400]} ,\"name\":\"a\\u0062\", \"unknown\":{\"k\":[1, 2]} }";
	struct catalogue_snapshot *s = BUILD("ns", odd);

	(void)state;
	assert_int_equal(s->count, 1);
	assert_str(s->tools[0].raw, odd);
	assert_str(s->tools[0].name, "ab");
	assert_str(s->tools[0].full_name, "ns__ab");
	assert_str(s->tools[0].listed_name, "ns__ab");
	assert_str(s->instructions, "be kind");
	catalogue_unref(&s);
	assert_null(s);
}

static void test_entries_that_are_no_tools_are_skipped_and_counted(void **state)
{
	struct catalogue_snapshot *s = BUILD("ns", "17", "{\"description\":\"no name\"}", "{\"name\":\"\"}",
					     "{\"name\":3}", "{\"name\":\"good\"}");

	(void)state;
	assert_int_equal(s->count, 1);
	assert_int_equal(s->skipped, 4);
	assert_str(s->tools[0].name, "good");
	catalogue_unref(&s);
}

static void test_hints_have_the_defaults_of_the_specification(void **state)
{
	struct catalogue_snapshot *s = BUILD(
		"ns", "{\"name\":\"bare\"}", "{\"name\":\"reads\",\"annotations\":{\"readOnlyHint\":true}}",
		"{\"name\":\"writes\",\"annotations\":{\"destructiveHint\":false}}",
		"{\"name\":\"odd\",\"annotations\":\"text\"}");

	(void)state;
	assert_false(s->tools[0].read_only);
	assert_true(s->tools[0].destructive);
	assert_true(s->tools[1].read_only);
	assert_false(s->tools[1].destructive);
	assert_false(s->tools[2].read_only);
	assert_false(s->tools[2].destructive);
	assert_true(s->tools[3].destructive);
	catalogue_unref(&s);
}

static void assert_api_name(struct str name)
{
	assert_in_range(name.n, 1, 64);
	for (size_t i = 0; i < name.n; i++)
		assert_non_null(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
				       name.p[i]));
}

static void test_names_that_no_api_takes_get_a_short_form(void **state)
{
	static const char longest[] =
		"{\"name\":\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\"}";
	struct catalogue_snapshot *s = BUILD("ns", longest, "{\"name\":\"weird name/with:chars.\xc3\xa9\"}",
					     "{\"name\":\"dotted.name\"}");
	struct catalogue_snapshot *again = BUILD("ns", "{\"name\":\"dotted.name\"}", longest);

	(void)state;
	for (size_t i = 0; i < s->count; i++) {
		assert_api_name(s->tools[i].listed_name);
		assert_false(str_eq(s->tools[i].listed_name, s->tools[i].full_name));
		/* Both forms are callable. */
		assert_ptr_equal(catalogue_find(s, s->tools[i].listed_name), &s->tools[i]);
		assert_ptr_equal(catalogue_find(s, s->tools[i].full_name), &s->tools[i]);
	}
	assert_int_equal(s->tools[0].listed_name.n, 64);
	/* The short form depends on nothing but the names. */
	assert_true(str_eq(again->tools[1].listed_name, s->tools[0].listed_name));
	assert_true(str_eq(again->tools[0].listed_name, s->tools[2].listed_name));
	catalogue_unref(&s);
	catalogue_unref(&again);
}

/* The names of all tools of a server may make one function's name: that costs neither memory nor time that
 * grows faster than the list. */
static void test_many_tools_of_one_function_get_one_name_each(void **state)
{
	enum { MANY = 3000, BITS = 12 };
	_cleanup_arena_ struct arena arena = { 0 };
	struct str *items = xcalloc(MANY, sizeof(*items));
	struct catalogue_snapshot *s;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < MANY; i++) {
		char bits[BITS + 1] = "";

		for (size_t bit = 0; bit < BITS; bit++)
			bits[bit] = i >> bit & 1 ? '-' : '.';
		items[i] = arena_printf(&arena, "{\"name\":\"odd%sname\"}", bits);
	}
	s = catalogue_build(STR("ns"), items, MANY, STR(""), 1000, 7);
	assert_int_equal(s->count, MANY);
	assert_str(s->tools[0].function, "odd____________name");
	assert_str(s->tools[1].function, "odd____________name_2");
	assert_str(s->tools[MANY - 1].function, "odd____________name_3000");
	for (size_t i = 2; i < MANY; i++)
		assert_ptr_equal(catalogue_find(s, s->tools[i].listed_name), &s->tools[i]);
	assert_in_range(s->arena.total, 1, MANY * 512);
	catalogue_unref(&s);
	free(items);
}

static void test_ambiguous_namespaces_list_short_forms_only(void **state)
{
	static const char *const namespaces[] = { "a__b", "a_" };
	struct catalogue_snapshot *plain = BUILD("a", "{\"name\":\"b__c\"}", "{\"name\":\"_c\"}");

	(void)state;
	/* The same full names: "a__b" has "c", and "a_" has "c" too. */
	for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
		struct catalogue_snapshot *s = BUILD(namespaces[i], "{\"name\":\"c\"}");

		assert_true(str_eq(s->tools[0].full_name, plain->tools[i].full_name));
		assert_true(str_eq(plain->tools[i].listed_name, plain->tools[i].full_name));
		assert_false(str_eq(s->tools[0].listed_name, s->tools[0].full_name));
		assert_true(str_starts_with(s->tools[0].listed_name, s->tools[0].full_name));
		assert_api_name(s->tools[0].listed_name);
		catalogue_unref(&s);
	}
	catalogue_unref(&plain);
}

static void test_name_of_exactly_64_is_listed_as_it_is(void **state)
{
	/* "ns__" and 60 letters */
	struct catalogue_snapshot *s =
		BUILD("ns", "{\"name\":\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff\"}");

	(void)state;
	assert_true(str_eq(s->tools[0].listed_name, s->tools[0].full_name));
	assert_int_equal(s->tools[0].full_name.n, 64);
	catalogue_unref(&s);
}

static void test_name_that_comes_again_gets_names_of_its_own(void **state)
{
	static const char first[] = "{\"name\":\"echo\",\"title\":\"1\"}",
			  second[] = "{\"name\":\"echo\",\"title\":\"2\"}",
			  third[] = "{\"name\":\"echo\",\"title\":\"3\"}";
	struct catalogue_snapshot *s = BUILD("ns", first, "{\"name\":\"other\"}", second, third);
	/* Another order, and one fewer. */
	struct catalogue_snapshot *again = BUILD("ns", "{\"name\":\"other\"}", first, third);

	(void)state;
	assert_int_equal(s->count, 4);
	assert_int_equal(s->repeated, 2);
	assert_str(s->repeated_name, "echo");
	assert_false(s->tools[0].repeats);
	assert_str(s->tools[0].listed_name, "ns__echo");
	assert_str(s->tools[0].function, "echo");
	for (size_t i = 2; i < s->count; i++) {
		const struct catalogue_tool *tool = &s->tools[i];

		assert_true(tool->repeats);
		assert_str(tool->name, "echo");
		assert_api_name(tool->listed_name);
		assert_true(str_starts_with(tool->listed_name, STR("ns__echo_")));
		assert_ptr_equal(catalogue_find(s, tool->listed_name), tool);
		assert_ptr_equal(catalogue_find(s, tool->function), tool);
	}
	assert_str(s->tools[2].raw, second);
	assert_str(s->tools[2].function, "echo_2");
	assert_str(s->tools[3].function, "echo_3");
	assert_false(str_eq(s->tools[2].listed_name, s->tools[3].listed_name));
	assert_ptr_equal(catalogue_find(s, STR("echo")), &s->tools[0]);
	assert_ptr_equal(catalogue_find(s, STR("ns__echo")), &s->tools[0]);
	/* As long as its definition stays what it is, so does the name. */
	assert_true(str_eq(again->tools[2].listed_name, s->tools[3].listed_name));
	catalogue_unref(&s);
	catalogue_unref(&again);
}

/* Nothing tells these apart but their order. It costs neither memory nor time that grows faster than the
 * list. */
static void test_many_copies_of_one_tool_get_one_name_each(void **state)
{
	enum { MANY = 3000 };
	struct str *items = xcalloc(MANY, sizeof(*items));
	struct catalogue_snapshot *s;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		items[i] = STR("{\"name\":\"same\"}");
	s = catalogue_build(STR("ns"), items, MANY, STR(""), 1000, 7);
	assert_int_equal(s->count, MANY);
	assert_int_equal(s->repeated, MANY - 1);
	assert_str(s->tools[MANY - 1].function, "same_3000");
	for (size_t i = 0; i < MANY; i++)
		assert_ptr_equal(catalogue_find(s, s->tools[i].listed_name), &s->tools[i]);
	assert_in_range(s->arena.total, 1, MANY * 512);
	catalogue_unref(&s);
	free(items);
}

static void test_functions_are_identifiers_and_unique(void **state)
{
	struct catalogue_snapshot *s = BUILD("ns", "{\"name\":\"get-it\"}", "{\"name\":\"get.it\"}",
					     "{\"name\":\"get_it\"}", "{\"name\":\"3d\"}");

	(void)state;
	/* The tool that is really called so keeps it. */
	assert_str(s->tools[2].function, "get_it");
	assert_str(s->tools[0].function, "get_it_2");
	assert_str(s->tools[1].function, "get_it_3");
	assert_str(s->tools[3].function, "_3d");
	assert_ptr_equal(catalogue_find(s, STR("get_it")), &s->tools[2]);
	assert_ptr_equal(catalogue_find(s, STR("get_it_3")), &s->tools[1]);
	catalogue_unref(&s);
}

static void test_hash_tells_a_change(void **state)
{
	struct catalogue_snapshot *a = BUILD("ns", "{\"name\":\"x\"}", "{\"name\":\"y\"}");
	struct catalogue_snapshot *b = BUILD("ns", "{\"name\":\"x\"}", "{\"name\":\"y\"}");
	struct catalogue_snapshot *c = BUILD("ns", "{\"name\":\"y\"}", "{\"name\":\"x\"}");

	(void)state;
	assert_true(a->hash == b->hash);
	assert_false(a->hash == c->hash);
	catalogue_unref(&a);
	catalogue_unref(&b);
	catalogue_unref(&c);
}

static void test_reference_keeps_a_snapshot(void **state)
{
	struct catalogue_snapshot *s = BUILD("ns", "{\"name\":\"x\"}");
	struct catalogue_snapshot *held = catalogue_ref(s);

	(void)state;
	catalogue_unref(&s);
	assert_str(held->tools[0].name, "x");
	catalogue_unref(&held);
}

static void test_cache_file_gives_the_same_back(void **state)
{
	struct catalogue_snapshot *s = BUILD("ns", "{\"name\":\"x\", \"n\":1e400}", "{\"name\":\"y\"}",
					     "{\"name\":\"y\"}"),
				  *back;
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 1 << 16);
	assert_int_equal(catalogue_encode(s, &out), 0);
	assert_int_equal(catalogue_decode(buf_str(&out), STR("other"), 4, 7, &back, NULL), 0);
	assert_int_equal(back->count, 3);
	assert_int_equal(back->repeated, 1);
	assert_true(back->hash == s->hash);
	assert_int_equal(back->fetched_at, 1000);
	assert_str(back->tools[0].raw, "{\"name\":\"x\", \"n\":1e400}");
	assert_str(back->tools[0].full_name, "other__x");
	assert_str(back->instructions, "be kind");
	catalogue_unref(&s);
	catalogue_unref(&back);
}

static void test_damaged_cache_file_is_refused(void **state)
{
	static const char *const damaged[] = { "",
					       "[]",
					       "{\"format\":1,\"fetchedAt\":1",
					       "{\"format\":99,\"fetchedAt\":1,\"tools\":[]}",
					       "{\"format\":1,\"tools\":[]}",
					       "{\"format\":1,\"fetchedAt\":1,\"tools\":{}}",
					       "{\"format\":1,\"fetchedAt\":1}" };
	struct catalogue_snapshot *back = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		assert_int_equal(catalogue_decode(str_of(damaged[i]), STR("ns"), 4, 7, &back, NULL),
				 ERR_INVALID);
		assert_null(back);
	}
}

static void test_cache_that_does_not_fit_is_an_error(void **state)
{
	struct catalogue_snapshot *s = BUILD("ns", "{\"name\":\"x\"}");
	_cleanup_buf_ struct buf out = { 0 };

	(void)state;
	buf_init(&out, 10);
	assert_int_equal(catalogue_encode(s, &out), ERR_TOO_LARGE);
	catalogue_unref(&s);
}

/* -- searching ------------------------------------------------------------------------------------------- */

static void test_search_ranks_names_above_descriptions(void **state)
{
	struct catalogue_snapshot *s = BUILD(
		"files", "{\"name\":\"note\",\"description\":\"Read and write\"}", "{\"name\":\"read_file\"}",
		"{\"name\":\"read\"}", "{\"name\":\"spread\"}", "{\"name\":\"other\"}");
	const struct catalogue_snapshot *const all[] = { s };
	struct catalogue_hit hits[8];
	size_t n = catalogue_search(all, 1, STR("READ"), hits, 8);

	(void)state;
	assert_int_equal(n, 4);
	assert_str(hits[0].tool->name, "read");
	assert_int_equal(hits[0].score, 100);
	assert_str(hits[1].tool->name, "read_file");
	assert_int_equal(hits[1].score, 60);
	assert_str(hits[2].tool->name, "spread");
	assert_int_equal(hits[2].score, 40);
	assert_str(hits[3].tool->name, "note");
	assert_int_equal(hits[3].score, 10);
	catalogue_unref(&s);
}

static void test_search_puts_all_words_before_some(void **state)
{
	struct catalogue_snapshot *a = BUILD("git", "{\"name\":\"log\"}",
					     "{\"name\":\"x\",\"description\":\"the log of the deploy\"}");
	struct catalogue_snapshot *b = BUILD("log", "{\"name\":\"log\"}");
	const struct catalogue_snapshot *const all[] = { a, b };
	struct catalogue_hit hits[8];
	size_t n = catalogue_search(all, 2, STR("log deploy"), hits, 8);

	(void)state;
	assert_int_equal(n, 3);
	assert_str(hits[0].tool->name, "x");
	assert_ptr_equal(hits[1].snapshot, b); /* its namespace counts too */
	assert_ptr_equal(hits[2].snapshot, a);
	assert_int_equal(catalogue_search(all, 2, STR("log deploy"), hits, 1), 1);
	assert_int_equal(catalogue_search(all, 2, STR("nothing-like-it"), hits, 8), 0);
	catalogue_unref(&a);
	catalogue_unref(&b);
}

static void test_search_folds_and_takes_any_bytes(void **state)
{
	struct catalogue_snapshot *s = BUILD("ns", "{\"name\":\"caf\xc3\xa9\"}");
	const struct catalogue_snapshot *const all[] = { s };
	struct catalogue_hit hits[2];

	(void)state;
	assert_int_equal(catalogue_search(all, 1, STR("CAFE\xcc\x81"), hits, 2), 1);
	assert_int_equal(catalogue_search(all, 1, STR("\xff\xfe"), hits, 2), 0);
	assert_int_equal(catalogue_search(all, 1, STR(""), hits, 2), 1);
	assert_int_equal(catalogue_search(all, 1, STR(" , \t"), hits, 2), 1);
	catalogue_unref(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tool_is_kept_byte_for_byte),
		cmocka_unit_test(test_entries_that_are_no_tools_are_skipped_and_counted),
		cmocka_unit_test(test_hints_have_the_defaults_of_the_specification),
		cmocka_unit_test(test_names_that_no_api_takes_get_a_short_form),
		cmocka_unit_test(test_many_tools_of_one_function_get_one_name_each),
		cmocka_unit_test(test_ambiguous_namespaces_list_short_forms_only),
		cmocka_unit_test(test_name_of_exactly_64_is_listed_as_it_is),
		cmocka_unit_test(test_name_that_comes_again_gets_names_of_its_own),
		cmocka_unit_test(test_many_copies_of_one_tool_get_one_name_each),
		cmocka_unit_test(test_functions_are_identifiers_and_unique),
		cmocka_unit_test(test_hash_tells_a_change),
		cmocka_unit_test(test_reference_keeps_a_snapshot),
		cmocka_unit_test(test_cache_file_gives_the_same_back),
		cmocka_unit_test(test_damaged_cache_file_is_refused),
		cmocka_unit_test(test_cache_that_does_not_fit_is_an_error),
		cmocka_unit_test(test_search_ranks_names_above_descriptions),
		cmocka_unit_test(test_search_puts_all_words_before_some),
		cmocka_unit_test(test_search_folds_and_takes_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

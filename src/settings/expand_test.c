#include "base/base.h"
#include "settings/expand.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/scratch.h"

static int expand_with(struct arena *arena, size_t budget, const char *text, struct str *ret_text,
		       struct err *err)
{
	struct environment environment = ENVIRONMENT("TOKEN=s3cret", "EMPTY=", "HOME=/home/u", "_x9=under");
	struct expander expander = { &environment, arena, budget };

	return expand(&expander, str_of(text), ret_text, err);
}

static void variables_become_their_values(void **state)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "${TOKEN}", "s3cret" },
		{ "a${TOKEN}b${HOME}c", "as3cretb/home/uc" },
		{ "${EMPTY}", "" },
		{ "${_x9}", "under" },
		{ "${NONE:-fallback}", "fallback" },
		{ "${EMPTY:-fallback}", "fallback" },
		{ "${TOKEN:-fallback}", "s3cret" },
		{ "${NONE:-}", "" },
		{ "$TOKEN $5 $ {x} }", "$TOKEN $5 $ {x} }" },
		{ "$${TOKEN}", "${TOKEN}" },
		{ "a$$b", "a$$b" },
	};
	struct arena arena;
	struct str out;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(expand_with(&arena, EXPAND_BUDGET, cases[i][0], &out, NULL), 0);
		assert_string_equal(out.p, cases[i][1]);
	}
	arena_release(&arena);
}

static void what_cannot_be_expanded_is_told(void **state)
{
	static const char *const cases[][2] = {
		{ "${NONE}",
		  "the variable NONE is not set (set it, and `mcpx stop` a daemon that was started "
		  "without it; or give a default: ${NONE:-text})" },
		{ "x${", "${ is not closed by } (write $${ where ${ stands for itself)" },
		{ "${}", "${} does not name a variable (write $${ where ${ stands for itself)" },
		{ "${input:key}",
		  "${input:key} does not name a variable (write $${ where ${ stands for itself)" },
		{ "${9x}", "${9x} does not name a variable (write $${ where ${ stands for itself)" },
	};
	struct arena arena;
	struct str out;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(expand_with(&arena, EXPAND_BUDGET, cases[i][0], &out, &err), ERR_INVALID);
		assert_string_equal(err.message, cases[i][1]);
	}
	arena_release(&arena);
}

static void expansion_has_a_bound(void **state)
{
	struct arena arena;
	struct str out;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(expand_with(&arena, 11, "${TOKEN}${TOKEN}", &out, &err), ERR_TOO_LARGE);
	assert_string_equal(err.message,
			    "the variables in the configuration come to more than 33554432 bytes");
	assert_int_equal(expand_with(&arena, 12, "${TOKEN}${TOKEN}", &out, &err), 0);
	arena_release(&arena);
}

static void an_environment_is_overlaid_by_variables(void **state)
{
	struct environment environment = ENVIRONMENT("A=1", "B=2", "AB=3");
	const struct variable variables[] = { { STR("A"), STR("x") },
					      { STR("C"), STR("y") },
					      { STR("A"), STR("z") } };
	struct arena arena;
	const char *const *entries;

	(void)state;
	arena_init(&arena, 0);
	entries = environment_with(&environment, variables, ARRAY_LEN(variables), &arena);
	assert_string_equal(entries[0], "B=2");
	assert_string_equal(entries[1], "AB=3");
	assert_string_equal(entries[2], "C=y");
	assert_string_equal(entries[3], "A=z");
	assert_null(entries[4]);
	assert_string_equal(environment_get(&environment, STR("AB")).p, "3");
	assert_null(environment_get(&environment, STR("ABC")).p);
	assert_null(environment_get(&environment, STR("")).p);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_become_their_values),
		cmocka_unit_test(what_cannot_be_expanded_is_told),
		cmocka_unit_test(expansion_has_a_bound),
		cmocka_unit_test(an_environment_is_overlaid_by_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

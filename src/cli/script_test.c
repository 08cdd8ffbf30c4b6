#include "base/base.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/script.h"
#include "settings/scratch.h"

struct fixture {
	struct scratch scratch;
	struct environment environment; /* HOME and XDG_CONFIG_HOME below the root */
};

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	const char **entries;

	scratch_init(&f->scratch);
	entries = arena_array(&f->scratch.arena, const char *, 3);
	entries[0] = arena_printf(&f->scratch.arena, "HOME=%s/home", f->scratch.root.p).p;
	entries[1] = arena_printf(&f->scratch.arena, "XDG_CONFIG_HOME=%s/xdg", f->scratch.root.p).p;
	f->environment.entries = entries;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	scratch_release(&f->scratch);
	free(f);
	return 0;
}

static int find(struct fixture *f, const char *word, struct script *script, struct err *err)
{
	return script_find(script, str_of(word), &f->environment, scratch_path(&f->scratch, "work/below"),
			   &f->scratch.arena, err);
}

/* `word`, looked up in work/below, is the file `name` of the root; NULL: there is none. */
static void expect_found(struct fixture *f, const char *word, const char *name)
{
	struct script script = { 0 };
	struct err err;

	assert_int_equal(find(f, word, &script, &err), name ? 1 : 0);
	if (name)
		assert_string_equal(script.path.p, scratch_path(&f->scratch, name).p);
	else
		assert_null(script.path.p);
}

static void write_script(struct fixture *f, const char *name)
{
	scratch_write(&f->scratch, name, "export default () => 1;\n");
}

/* Each place that is filled hides those that were filled before it. */
static void test_the_nearest_wins(void **state)
{
	static const char *const from_far_to_near[] = {
		"home/.config/mcpx/scripts/tour.js",
		"xdg/mcpx/scripts/tour.ts",
		".config/mcpx/scripts/tour.ts",
		".mcpx/scripts/tour.js",
		"work/.config/mcpx/scripts/tour.ts",
		"work/.mcpx/scripts/tour.ts",
		"work/below/.config/mcpx/scripts/tour.js",
		"work/below/.mcpx/scripts/tour.ts",
	};
	struct fixture *f = *state;

	expect_found(f, "tour", NULL);
	for (size_t i = 0; i < ARRAY_LEN(from_far_to_near); i++) {
		write_script(f, from_far_to_near[i]);
		expect_found(f, "tour", from_far_to_near[i]);
	}
	expect_found(f, "tou", NULL);
}

static void test_two_in_one_place_are_refused(void **state)
{
	struct fixture *f = *state;
	struct script script;
	struct str expected;
	struct err err;

	write_script(f, "work/.mcpx/scripts/tour.ts");
	write_script(f, "work/.mcpx/scripts/tour.js");
	expected = arena_printf(
		&f->scratch.arena,
		"both %s/work/.mcpx/scripts/tour.ts and %s/work/.mcpx/scripts/tour.js are there: "
		"name one of them with its path",
		f->scratch.root.p, f->scratch.root.p);
	assert_int_equal(find(f, "tour", &script, &err), ERR_INVALID);
	assert_string_equal(err.message, expected.p);
	/* One that is nearer is the one that is meant. */
	write_script(f, "work/below/.mcpx/scripts/tour.ts");
	expect_found(f, "tour", "work/below/.mcpx/scripts/tour.ts");
}

/* What a script is told of where names are looked up: what is there, nearest first. */
static void test_the_search_path_has_what_is_there(void **state)
{
	struct fixture *f = *state;
	struct arena *arena = &f->scratch.arena;
	struct str work = scratch_path(&f->scratch, "work/below");

	assert_int_equal(script_search_path(&f->environment, work, arena).n, 0);
	write_script(f, "home/.config/mcpx/scripts/tour.js");
	write_script(f, "work/.mcpx/scripts/tour.js");
	write_script(f, "work/below/.config/mcpx/scripts/tour.js");
	write_script(f, "xdg/mcpx/scripts"); /* no directory */
	assert_string_equal(
		script_search_path(&f->environment, work, arena).p,
		arena_printf(
			arena,
			"%s/work/below/.config/mcpx/scripts:%s/work/.mcpx/scripts:%s/home/.config/mcpx/scripts",
			f->scratch.root.p, f->scratch.root.p, f->scratch.root.p)
			.p);
}

/* Colons stand between the directories. */
static void test_the_search_path_leaves_out_what_it_cannot_say(void **state)
{
	struct fixture *f = *state;
	struct arena *arena = &f->scratch.arena;

	write_script(f, "a:b/.mcpx/scripts/tour.js");
	write_script(f, ".mcpx/scripts/tour.js");
	assert_string_equal(script_search_path(&f->environment, scratch_path(&f->scratch, "a:b"), arena).p,
			    scratch_path(&f->scratch, ".mcpx/scripts").p);
}

static void test_paths_are_taken_as_they_are(void **state)
{
	static const char *const names[] = { "a.ts", "b.mts", "c.js" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		write_script(f, names[i]);
		expect_found(f, scratch_path(&f->scratch, names[i]).p, names[i]);
	}
	/* A path is looked up nowhere else, also when a script of that name is in place. */
	write_script(f, "work/below/.mcpx/scripts/x.ts");
	expect_found(f, "x.ts", NULL);
	expect_found(f, "./x", NULL);
	expect_found(f, "../below/x", NULL);
}

static void test_what_is_no_script(void **state)
{
	struct fixture *f = *state;

	write_script(f, "notes.txt");
	expect_found(f, scratch_path(&f->scratch, "notes.txt").p, NULL);
	write_script(f, "folder.ts/inside.txt");
	expect_found(f, scratch_path(&f->scratch, "folder.ts").p, NULL);
	write_script(f, "work/.mcpx/scripts/folder.ts/inside.txt");
	expect_found(f, "folder", NULL);
	write_script(f, "work/.mcpx/scripts/.hidden.ts");
	expect_found(f, ".hidden", NULL);
	expect_found(f, "", NULL);
	/* Only a path says .mts: names stand for .ts and .js. */
	write_script(f, "work/.mcpx/scripts/module.mts");
	expect_found(f, "module", NULL);
}

static void test_a_name_with_a_nul_is_none(void **state)
{
	struct fixture *f = *state;
	struct script script = { 0 };

	write_script(f, "work/.mcpx/scripts/tour.ts");
	assert_int_equal(script_find(&script, STR("tour\0x"), &f->environment,
				     scratch_path(&f->scratch, "work"), &f->scratch.arena, NULL),
			 0);
	assert_null(script.path.p);
}

/* Directories of the environment that are not absolute would mean another place in each working directory. */
static void test_relative_homes_are_not_looked_in(void **state)
{
	struct fixture *f = *state;
	struct environment relative = ENVIRONMENT("HOME=home", "XDG_CONFIG_HOME=xdg");
	struct environment none = ENVIRONMENT("PATH=/bin");
	struct script script = { 0 };
	struct str cwd = scratch_path(&f->scratch, "work");

	write_script(f, "home/.config/mcpx/scripts/tour.ts");
	write_script(f, "xdg/mcpx/scripts/tour.ts");
	assert_int_equal(script_find(&script, STR("tour"), &relative, cwd, &f->scratch.arena, NULL), 0);
	assert_int_equal(script_find(&script, STR("tour"), &none, cwd, &f->scratch.arena, NULL), 0);
	assert_int_equal(
		script_find(&script, STR("tour"), &f->environment, STR("/"), &f->scratch.arena, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_nearest_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_in_one_place_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_search_path_has_what_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_search_path_leaves_out_what_it_cannot_say, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_paths_are_taken_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_script, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_name_with_a_nul_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_relative_homes_are_not_looked_in, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

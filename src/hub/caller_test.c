#include "base/base.h"
#include "hub/caller.h"
#include "base/err.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

/* A directory of its own for every test, with a repository, a linked work tree and a place outside of
 * both. */
struct place {
	char root[64];
	struct arena arena;
};

static void make_directory(const struct place *place, const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", place->root, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

static void make_file(const struct place *place, const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", place->root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	struct place *place = xnew(struct place);
	char text[256];

	snprintf(place->root, sizeof(place->root), "%s", "/tmp/caller-test-XXXXXX");
	assert_non_null(mkdtemp(place->root));
	arena_init(&place->arena, 0);
	make_directory(place, "repo");
	make_directory(place, "repo/.git");
	make_directory(place, "repo/.git/worktrees");
	make_directory(place, "repo/.git/worktrees/side");
	make_file(place, "repo/.git/worktrees/side/commondir", "../..\n");
	make_directory(place, "repo/deep");
	make_directory(place, "side");
	snprintf(text, sizeof(text), "gitdir: %s/repo/.git/worktrees/side\n", place->root);
	make_file(place, "side/.git", text);
	make_directory(place, "outside");
	make_file(place, "outside/.git", "not a git file");
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	static const char *const made[] = { "outside/.git",
					    "outside",
					    "side/.git",
					    "side",
					    "repo/deep",
					    "repo/.git/worktrees/side/commondir",
					    "repo/.git/worktrees/side",
					    "repo/.git/worktrees",
					    "repo/.git",
					    "repo",
					    "" };
	char full[256];

	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		snprintf(full, sizeof(full), "%s/%s", place->root, made[i]);
		assert_int_equal(remove(full), 0);
	}
	arena_release(&place->arena);
	free(place);
	return 0;
}

static struct str key(struct place *place, enum hub_scope scope, const struct hub_caller *caller)
{
	return hub_scope_key(scope, caller, STR("fresh"), &place->arena);
}

static struct str at(struct place *place, const char *path)
{
	return arena_printf(&place->arena, "%s/%s", place->root, path);
}

static void assert_key(struct str actual, struct str prefix, struct str value)
{
	assert_true(str_starts_with(actual, prefix));
	assert_true(str_eq(str_from(actual, prefix.n), value));
}

static void test_each_scope_has_its_word(void **state)
{
	static const char *const words[] = { "global",	"repo",		  "worktree", "cwd",
					     "session", "parent-session", "pid",      "call" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		assert_string_equal(hub_scope_name((enum hub_scope)i), words[i]);
}

static void test_each_scope_has_its_value(void **state)
{
	struct place *place = *state;
	const struct hub_caller caller = { .session = STR("s1"),
					   .parent_session = STR("p1"),
					   .call_id = STR("c1"),
					   .cwd = at(place, "outside"),
					   .pid = 42 };

	assert_key(key(place, HUB_SCOPE_GLOBAL, &caller), STR("global"), STR(""));
	assert_key(key(place, HUB_SCOPE_CWD, &caller), STR("cwd:"), caller.cwd);
	assert_key(key(place, HUB_SCOPE_SESSION, &caller), STR("session:"), STR("s1"));
	assert_key(key(place, HUB_SCOPE_PARENT_SESSION, &caller), STR("psession:"), STR("p1"));
	assert_key(key(place, HUB_SCOPE_PID, &caller), STR("pid:"), STR("42"));
	assert_key(key(place, HUB_SCOPE_CALL, &caller), STR("call:"), STR("c1"));
}

static void test_what_has_no_value_degrades(void **state)
{
	struct place *place = *state;
	const struct hub_caller nobody = { .pid = 0 };
	const struct hub_caller session = { .session = STR("s1"), .cwd = at(place, "outside") };

	assert_key(key(place, HUB_SCOPE_SESSION, &nobody), STR("call:"), STR("fresh"));
	assert_key(key(place, HUB_SCOPE_PID, &nobody), STR("call:"), STR("fresh"));
	assert_key(key(place, HUB_SCOPE_CWD, &nobody), STR("call:"), STR("fresh"));
	assert_key(key(place, HUB_SCOPE_REPO, &nobody), STR("call:"), STR("fresh"));
	assert_key(key(place, HUB_SCOPE_CALL, &nobody), STR("call:"), STR("fresh"));
	assert_key(key(place, HUB_SCOPE_PARENT_SESSION, &session), STR("psession:"), STR("s1"));
	/* A file .git that is none of git's makes no work tree. */
	assert_key(key(place, HUB_SCOPE_REPO, &session), STR("cwd:"), session.cwd);
	assert_key(key(place, HUB_SCOPE_WORKTREE, &session), STR("cwd:"), session.cwd);
}

/* Whoever calls may say anything. */
static void test_what_is_no_directory_is_none(void **state)
{
	static const enum hub_scope scopes[] = { HUB_SCOPE_CWD, HUB_SCOPE_REPO, HUB_SCOPE_WORKTREE };
	struct place *place = *state;
	char deep[100000];

	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? 'a' : '/';
	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		const struct hub_caller relative = { .cwd = STR("repo") };
		const struct hub_caller endless = { .cwd = str_make(deep, sizeof(deep)) };
		const struct hub_caller deepest = { .cwd = str_make(deep, PATH_MAX - 1) };

		assert_key(key(place, scopes[i], &relative), STR("call:"), STR("fresh"));
		assert_key(key(place, scopes[i], &endless), STR("call:"), STR("fresh"));
		assert_key(key(place, scopes[i], &deepest), STR("cwd:"), str_make(deep, PATH_MAX - 2));
	}
	assert_in_range(place->arena.total, 0, 1 << 20);
}

static void test_a_slash_at_the_end_says_nothing(void **state)
{
	struct place *place = *state;
	const struct hub_caller outside = { .cwd = at(place, "outside//") };
	const struct hub_caller repo = { .cwd = at(place, "repo/") };
	const struct hub_caller root = { .cwd = STR("//") };

	assert_key(key(place, HUB_SCOPE_CWD, &outside), STR("cwd:"), at(place, "outside"));
	assert_key(key(place, HUB_SCOPE_WORKTREE, &repo), STR("worktree:"), at(place, "repo"));
	assert_key(key(place, HUB_SCOPE_CWD, &root), STR("cwd:"), STR("/"));
}

static void test_repository_and_work_tree(void **state)
{
	struct place *place = *state;
	const struct hub_caller deep = { .cwd = at(place, "repo/deep") };
	const struct hub_caller side = { .cwd = at(place, "side") };

	assert_key(key(place, HUB_SCOPE_WORKTREE, &deep), STR("worktree:"), at(place, "repo"));
	assert_key(key(place, HUB_SCOPE_REPO, &deep), STR("repo:"), at(place, "repo/.git"));
	/* A linked work tree is another tree of the same repository. */
	assert_key(key(place, HUB_SCOPE_WORKTREE, &side), STR("worktree:"), at(place, "side"));
	assert_key(key(place, HUB_SCOPE_REPO, &side), STR("repo:"), at(place, "repo/.git"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_scope_has_its_word),
		cmocka_unit_test_setup_teardown(test_each_scope_has_its_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_has_no_value_degrades, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_directory_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_slash_at_the_end_says_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repository_and_work_tree, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

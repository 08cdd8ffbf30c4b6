/* Runs of scripts, with deno and with node, beside a daemon that the test plays. */
#include "base/base.h"
#include "exec/run_fixture.h"

static const char *runtimes[] = { "deno", "node" };

/* Runs `source` on each runtime that is there and checks with `check`. */
#define ON_EACH_RUNTIME(scene)                                                                               \
	for (size_t runtime_at = 0;                                                                          \
	     runtime_at < ARRAY_LEN(runtimes) && (scene_init(&(scene), runtimes[runtime_at]), true);         \
	     scene_release(&(scene)), runtime_at++)

static void test_value_of_a_snippet(void **state)
{
	struct scene scene;

	(void)state;
	ON_EACH_RUNTIME(scene)
	{
		scene_run(&scene, "const x: number = 1; return { x, big: 2n, list: new Set([1]) }");
		assert_member(&scene, "result", 0, "/value", "{\"x\":1,\"big\":\"2\",\"list\":[1]}");
		assert_member(&scene, "end", 0, "/exitCode", "0");
		assert_member(&scene, "error", 0, "", NULL);
		assert_true(scene.run.outcome.started);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_of_a_snippet),
	};

	return cmocka_run_group_tests_name("exec-run", tests, NULL, NULL);
}

#include "base/base.h"
#include "hub/pool_fixture.h"

#include <signal.h>

/* -- failure --------------------------------------------------------------------------------------------- */

static void a_failed_start_pauses_the_command(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	scene.limits.backoff_step_ms = 5000;
	scratch_write(&hub_scratch, "broken", "");
	COMMAND(server_program(), "--fail-while", in_scratch("broken"), "--starts", in_scratch("starts"));
	scene.definition.order = MCP_FORCE_INITIALIZE;
	group = use_group();
	take(&a, group, "cwd:/a");
	take(&b, group, "cwd:/a");
	expect_failure(
		&a, ERR_CLOSED,
		"server files exited with code 3 before it was ready; its stderr ends: reading the key\nfatal: there is no key");
	expect_failure(&b, ERR_CLOSED, "fatal: there is no key");
	assert_int_equal(scene.pause, 5000);
	assert_int_equal(pool_group_error(group)->code, ERR_CLOSED);
	take(&a, group, "cwd:/b");
	expect_failure(&a, ERR_UNAVAILABLE, "1 failed start, next try in ");
	assert_has(a.message, ": server files exited with code 3 before it was ready");
	assert_int_equal(count_lines("starts"), 1);
	assert_int_equal(pool_group_live(group), 0);
	close_group(&group);
}

static void pauses_grow_with_jitter_up_to_a_bound(void **state)
{
	static const uint64_t least[] = { 10, 20, 25, 25 };
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	scene.limits.backoff_step_ms = 10;
	scene.limits.backoff_max_ms = 25;
	scene.limits.backoff_jitter = 100;
	scratch_write(&hub_scratch, "broken", "");
	COMMAND(server_program(), "--fail-while", in_scratch("broken"));
	scene.definition.order = MCP_FORCE_INITIALIZE;
	group = use_group();
	for (size_t i = 0; i < ARRAY_LEN(least); i++) {
		AWAIT(pool_group_retry_in(group) == 0);
		take(&a, group, "cwd:/a");
		expect_failure(&a, ERR_CLOSED, "there is no key");
		assert_in_range(scene.pause, least[i], 2 * least[i]);
	}
	/* A success forgets them. */
	remove_in_scratch("broken");
	AWAIT(pool_group_retry_in(group) == 0);
	take_now(&a, group, "cwd:/a");
	assert_int_equal(pool_group_error(group)->code, 0);
	assert_int_equal(pool_group_retry_in(group), 0);
	/* ... so that the next failure is the first again, but one after having been ready is none. */
	scratch_write(&hub_scratch, "broken", "");
	AWAIT(a.instance->child.pid);
	assert_int_equal(kill(a.instance->child.pid, SIGKILL), 0);
	AWAIT(scene.stopped == 5);
	assert_int_equal(scene.pause, 0);
	take(&b, group, "cwd:/a");
	expect_failure(&b, ERR_CLOSED, "there is no key");
	assert_in_range(scene.pause, 10, 20);
	give_back(&a);
	close_group(&group);
}

static void seeds_keep_daemons_out_of_step(void **state)
{
	unsigned different = 0;
	uint64_t first = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct pool_group *group;
		struct taker a;

		pool_scene_init();
		scene.limits.backoff_jitter = 100;
		scene.limits.seed = seed * 0x9e3779b97f4a7c15;
		COMMAND("/bin/false");
		scene.definition.order = MCP_FORCE_INITIALIZE;
		group = use_group();
		take(&a, group, "cwd:/a");
		expect_failure(&a, ERR_CLOSED, "exited with code 1");
		assert_in_range(scene.pause, PLENTY_MS, 2 * PLENTY_MS);
		first = first ? first : scene.pause;
		different += scene.pause != first;
		close_group(&group);
	}
	assert_true(different > 0);
}

static void a_server_that_hangs_at_start_fails_those_who_wait_at_once(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	COMMAND(server_program(), "--hang");
	scene.definition.start_ms = SHORT_MS;
	group = use_group();
	take(&a, group, "cwd:/a");
	/* A slow ladder is not waited for. */
	expect_failure(
		&a, ERR_TIMEOUT,
		"server files did not start: no answer to the handshake within 30ms (pool.startTimeout)");
	take(&b, group, "cwd:/a");
	expect_failure(&b, ERR_UNAVAILABLE, "1 failed start, next try in ");
	AWAIT(scene.stopped == 1);
	/* Its end is no second failure. */
	take(&b, group, "cwd:/a");
	expect_failure(&b, ERR_UNAVAILABLE, "1 failed start, next try in ");
	close_group(&group);
}

static void a_crashed_one_is_replaced_for_the_next(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	COMMAND(server_program(), "--starts", in_scratch("starts"));
	scene.definition.max = 1;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	AWAIT(a.instance->child.pid);
	assert_int_equal(kill(a.instance->child.pid, SIGKILL), 0);
	AWAIT(scene.stopped);
	assert_has(scene.reason, "server files was killed by signal 9 (KILL)");
	assert_int_equal(pool_group_live(group), 0);
	/* Its holder still holds it, and that keeps nobody from going on. */
	take_now(&b, group, "cwd:/a");
	assert_ptr_not_equal(a.instance, b.instance);
	assert_int_equal(count_lines("starts"), 2);
	give_back(&a);
	give_back(&b);
	close_group(&group);
}

enum { NO_ERA = -1 };

/* A caller of that era takes and gives back; so many processes were started by then. */
static void expect_starts(struct pool_group *group, const char *key, int era, size_t count)
{
	struct taker taker;

	take_now_as(&taker, group, key, era);
	assert_int_equal(count_lines("starts"), count);
	give_back(&taker);
}

static void what_was_learnt_of_the_era_saves_a_process(void **state)
{
	struct pool_group *group;

	(void)state;
	COMMAND(server_program(), "--only-initialize", "--starts", in_scratch("starts"));
	group = use_group();
	expect_starts(group, "call:1", NO_ERA, 2);
	expect_starts(group, "call:2", NO_ERA, 3);
	pool_group_drop(&group);
	/* And what an earlier life knew. */
	scene.definition.id = STR("another");
	scene.definition.known_era = MCP_LEGACY;
	group = use_group();
	expect_starts(group, "call:3", NO_ERA, 4);
	close_group(&group);
}

/* --only-initialize ends a process that is asked anything else first, so that two starts mean server/discover
 * came first. */
static void a_group_that_follows_opens_in_the_era_of_whom_it_is_for(void **state)
{
	struct pool_group *group;

	(void)state;
	COMMAND(server_program(), "--only-initialize", "--starts", in_scratch("starts"));
	scene.definition.follows = true;
	group = use_group();
	expect_starts(group, "call:1", MCP_LEGACY, 1);
	/* What was learnt of the server gives way. */
	expect_starts(group, "call:2", MCP_MODERN, 3);
	/* Whoever has no era gets the one that was learnt. */
	expect_starts(group, "call:3", NO_ERA, 4);
	pool_group_drop(&group);
	/* Others do not follow. */
	scene.definition.follows = false;
	scene.definition.id = STR("another");
	scene.definition.known_era = MCP_LEGACY;
	group = use_group();
	expect_starts(group, "call:4", MCP_MODERN, 5);
	close_group(&group);
}

/* -- its life -------------------------------------------------------------------------------------------- */

static void a_dropped_group_refuses_who_waits_and_lets_who_holds_finish(void **state)
{
	int gate = gate_make("gate");
	struct pool_group *group;
	struct taker held, idle, waiting, starting;

	(void)state;
	scene.limits.close_ms = 1; /* one that waits at the gate does not look at its input */
	COMMAND(server_program(), "--gate", in_scratch("gate"));
	scene.definition.max = 3;
	group = use_group();
	gate_pass(gate);
	take_now(&held, group, "cwd:/held");
	gate_pass(gate);
	take_now(&idle, group, "cwd:/idle");
	give_back(&idle);
	take(&starting, group, "cwd:/starting");
	take(&idle, group, "cwd:/idle"); /* given, not told */
	take(&waiting, group, "cwd:/waiting");
	pool_group_drop(&group);
	assert_null(group);
	expect_failure(&waiting, ERR_CLOSED, "server files: its configuration changed; call again");
	expect_failure(&starting, ERR_CLOSED, "server files: its configuration changed; call again");
	AWAIT(idle.done);
	assert_non_null(idle.instance);
	AWAIT(scene.stopped == 1);
	assert_int_equal(held.instance->state, INSTANCE_READY);
	give_back(&idle);
	AWAIT(scene.stopped == 2);
	assert_string_equal(scene.reason,
			    "server files was stopped: its server was removed from the configuration");
	give_back(&held);
	AWAIT(scene.stopped == 3);
	close_pool();
	close(gate);
}

static void a_group_that_is_used_again_keeps_what_it_has(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	pool_group_drop(&group);
	group = use_group();
	take_now(&b, group, "cwd:/a");
	assert_ptr_equal(a.instance, b.instance);
	give_back(&a);
	give_back(&b);
	assert_int_equal(scene.stopped, 0);
	assert_int_equal(scene.started, 1);
	close_group(&group);
}

static void a_group_takes_other_limits_in_place(void **state)
{
	struct pool_group *group, *other;
	struct taker a, b, c, e;

	(void)state;
	scene.definition.max = 1;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	take(&b, group, "cwd:/b");
	take(&c, group, "cwd:/c");
	/* More room is used at once. */
	scene.definition.id = STR("more");
	scene.definition.max = 3;
	assert_true(pool_group_adapt(group, &scene.definition, 1));
	AWAIT(b.done && c.done);
	/* Less room ends what is idle, and what is held when it is released. */
	give_back(&c);
	scene.definition.id = STR("less");
	scene.definition.max = 1;
	assert_true(pool_group_adapt(group, &scene.definition, 1));
	AWAIT(scene.stopped == 1);
	assert_string_equal(scene.reason, "server files was stopped: fewer of it are allowed now");
	give_back(&a);
	AWAIT(scene.stopped == 2);
	give_back(&b);
	let_pass(2);
	assert_int_equal(pool_group_live(group), 1);
	/* Found by its new id, and not where another stands or somebody else would be affected. */
	other = use_group();
	assert_ptr_equal(group, other);
	scene.definition.id = STR("again");
	assert_false(pool_group_adapt(group, &scene.definition, 1));
	pool_group_drop(&other);
	other = use_group();
	assert_ptr_not_equal(group, other);
	assert_false(pool_group_adapt(group, &scene.definition, 1));
	take_now(&e, group, "cwd:/b");
	assert_int_equal(scene.started, 3);
	give_back(&e);
	pool_group_drop(&other);
	close_group(&group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_POOL(a_failed_start_pauses_the_command),
		IN_POOL(pauses_grow_with_jitter_up_to_a_bound),
		IN_POOL(seeds_keep_daemons_out_of_step),
		IN_POOL(a_server_that_hangs_at_start_fails_those_who_wait_at_once),
		IN_POOL(a_crashed_one_is_replaced_for_the_next),
		IN_POOL(what_was_learnt_of_the_era_saves_a_process),
		IN_POOL(a_group_that_follows_opens_in_the_era_of_whom_it_is_for),
		IN_POOL(a_dropped_group_refuses_who_waits_and_lets_who_holds_finish),
		IN_POOL(a_group_that_is_used_again_keeps_what_it_has),
		IN_POOL(a_group_takes_other_limits_in_place),
	};

	return RUN_IN_HUB(tests);
}

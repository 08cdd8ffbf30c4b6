#include "base/base.h"
#include "hub/pool_fixture.h"

#include <signal.h>
#include <sys/wait.h>

static struct pool_scene scene;

/* -- sharing ------------------------------------------------------------------------------------------------------------- */

static void fifty_who_ask_at_once_start_one_process(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker takers[50];

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--starts", in_scratch("starts"));
	group = pool_group_use(scene.pool, &d);
	for (size_t i = 0; i < ARRAY_LEN(takers); i++)
		take(&takers[i], group, "cwd:/a");
	for (size_t i = 0; i < ARRAY_LEN(takers); i++) {
		AWAIT(takers[i].done);
		assert_non_null(takers[i].instance);
		assert_ptr_equal(takers[i].instance, takers[0].instance);
	}
	assert_int_equal(count_lines("starts"), 1);
	assert_int_equal(scene.started, 1);
	assert_int_equal(pool_group_live(group), 1);
	assert_int_equal(takers[0].instance->holders, 50);
	assert_int_equal(takers[0].instance->calls, 50);
	for (size_t i = 0; i < ARRAY_LEN(takers); i++)
		give_back(&takers[i]);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void equal_definitions_share_and_others_do_not(void **state)
{
	struct pool_group *first, *same, *other;
	struct pool_definition d;
	struct taker a, b, c;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	first = pool_group_use(scene.pool, &d);
	d.name = STR("alias");
	same = pool_group_use(scene.pool, &d);
	d.id = STR("fedcba9876543210");
	other = pool_group_use(scene.pool, &d);
	assert_ptr_equal(first, same);
	assert_ptr_not_equal(first, other);
	take_now(&a, first, "cwd:/a");
	take_now(&b, same, "cwd:/a");
	take_now(&c, other, "cwd:/a");
	assert_ptr_equal(a.instance, b.instance);
	assert_ptr_not_equal(a.instance, c.instance);
	assert_str(a.instance->id, "files#1");
	assert_str(c.instance->id, "alias#1");
	give_back(&a);
	give_back(&c);
	pool_group_drop(&first);
	assert_null(first);
	/* One user is left. */
	assert_int_equal(b.instance->state, INSTANCE_READY);
	give_back(&b);
	assert_int_equal(pool_group_live(same), 1);
	pool_group_drop(&same);
	pool_group_drop(&other);
	pool_group_drop(&other); /* NULL by now */
	pool_scene_close(&scene);
}

static void each_key_has_its_own(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b, again;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	group = pool_group_use(scene.pool, &d);
	assert_int_equal(pool_group_scope(group), HUB_SCOPE_CWD);
	take_now(&a, group, "cwd:/a");
	take_now(&b, group, "cwd:/b");
	take_now(&again, group, "cwd:/a");
	assert_ptr_not_equal(a.instance, b.instance);
	assert_ptr_equal(a.instance, again.instance);
	give_back(&a);
	give_back(&b);
	give_back(&again);
	pool_release(&a.instance); /* NULL: harmless */
	/* Kept for the next. */
	take_now(&again, group, "cwd:/b");
	assert_int_equal(scene.started, 2);
	give_back(&again);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void an_exclusive_one_has_one_holder_at_a_time(void **state)
{
	struct taker takers[3];
	struct pool_definition d;
	struct pool_group *group;
	struct instance *first;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--starts", in_scratch("starts"));
	d.exclusive = true;
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	for (size_t i = 0; i < ARRAY_LEN(takers); i++)
		take(&takers[i], group, "cwd:/a");
	AWAIT(takers[0].done);
	first = takers[0].instance;
	for (size_t i = 0; i < ARRAY_LEN(takers); i++) {
		AWAIT(takers[i].done);
		assert_ptr_equal(takers[i].instance, first);
		assert_int_equal(first->holders, 1);
		for (size_t k = i + 1; k < ARRAY_LEN(takers); k++)
			assert_int_equal(takers[k].done, 0);
		give_back(&takers[i]);
	}
	assert_int_equal(count_lines("starts"), 1);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void exclusive_ones_multiply_up_to_max(void **state)
{
	struct taker takers[3];
	struct pool_definition d;
	struct pool_group *group;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.exclusive = true;
	d.max = 2;
	group = pool_group_use(scene.pool, &d);
	for (size_t i = 0; i < ARRAY_LEN(takers); i++)
		take(&takers[i], group, "cwd:/a");
	AWAIT(takers[0].done && takers[1].done);
	assert_ptr_not_equal(takers[0].instance, takers[1].instance);
	assert_int_equal(takers[2].done, 0);
	assert_int_equal(pool_group_live(group), 2);
	give_back(&takers[1]);
	AWAIT(takers[2].done);
	give_back(&takers[0]);
	give_back(&takers[2]);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

/* -- room ---------------------------------------------------------------------------------------------------------------- */

static void the_one_idle_longest_makes_room(void **state)
{
	struct taker a, b, c, again;
	struct pool_definition d;
	struct pool_group *group;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.max = 2;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take_now(&b, group, "cwd:/b");
	give_back(&b);
	let_pass(2);
	give_back(&a);
	take_now(&c, group, "cwd:/c");
	/* b was released first. */
	assert_int_equal(scene.stopped, 1);
	assert_string_equal(scene.reason, "server files was stopped: another caller needs its place");
	take_now(&again, group, "cwd:/a");
	assert_int_equal(scene.started, 3);
	assert_int_equal(pool_group_live(group), 2);
	give_back(&c);
	give_back(&again);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void each_who_waits_gets_a_place_of_its_own(void **state)
{
	struct taker a, b, c, e;
	struct pool_definition d;
	struct pool_group *group;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.max = 2;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take_now(&b, group, "cwd:/b");
	give_back(&a);
	give_back(&b);
	/* Two who need two places: both idle ones go, none twice. */
	take(&c, group, "cwd:/c");
	take(&e, group, "cwd:/e");
	AWAIT(c.done && e.done);
	assert_non_null(c.instance);
	assert_non_null(e.instance);
	assert_int_equal(scene.stopped, 2);
	give_back(&c);
	give_back(&e);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void one_who_waits_too_long_is_told_why(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take_within(&b, group, "cwd:/b", SHORT_MS);
	expect_failure(
		&b, ERR_TIMEOUT,
		"server files: no instance became free within 30ms: 1 of at most 1 are in use (raise max, or set sharing to "
		"\"shared\")");
	give_back(&a);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void one_who_waits_too_long_for_a_start_is_told_that(void **state)
{
	int gate = gate_make("gate");
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--gate", in_scratch("gate"));
	group = pool_group_use(scene.pool, &d);
	take_within(&a, group, "cwd:/a", SHORT_MS);
	expect_failure(
		&a, ERR_TIMEOUT,
		"server files is still starting after 30ms; call again later, or allow the call more time");
	/* The start goes on for whoever comes next. */
	take(&b, group, "cwd:/a");
	gate_pass(gate);
	AWAIT(b.done);
	assert_non_null(b.instance);
	assert_int_equal(scene.started, 1);
	give_back(&b);
	pool_group_drop(&group);
	pool_scene_close(&scene);
	close(gate);
}

static void more_than_may_wait_are_sent_away(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.waiting_max = 1;
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take(&b, group, "cwd:/b");
	take(&c, group, "cwd:/c");
	expect_failure(&c, ERR_BUSY,
		       "server files: 1 calls are waiting for an instance already; try again later");
	assert_int_equal(b.done, 0);
	/* The counter forgets those who have left. */
	pool_acquire_cancel(&b.acquire);
	take(&c, group, "cwd:/c");
	give_back(&a);
	AWAIT(c.done);
	assert_non_null(c.instance);
	give_back(&c);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

/* -- rest ---------------------------------------------------------------------------------------------------------------- */

static void idle_ones_are_ended_down_to_min(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.reap_ms = 1;
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.idle_ms = 1;
	d.min = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take_now(&b, group, "cwd:/b");
	take_now(&c, group, "cwd:/c");
	give_back(&a);
	give_back(&b);
	AWAIT(scene.stopped == 2);
	assert_string_equal(scene.reason, "server files was stopped: it was idle");
	/* In use, or the last: kept. */
	let_pass(SHORT_MS);
	assert_int_equal(pool_group_live(group), 1);
	give_back(&c);
	let_pass(SHORT_MS);
	assert_int_equal(pool_group_live(group), 1);
	assert_int_equal(scene.stopped, 2);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void those_on_their_way_out_do_not_count_as_spared(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;
	pid_t stopping = 0;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.reap_ms = 1;
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--stubborn");
	d.idle_ms = 1;
	d.min = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take_now(&b, group, "cwd:/b");
	AWAIT(a.instance->child.pid && b.instance->child.pid);
	stopping = a.instance->child.pid;
	give_back(&a);
	/* a leaves but slowly; b is the last that serves. */
	let_pass(SHORT_MS);
	assert_int_equal(pool_group_live(group), 2);
	pool_release(&b.instance);
	let_pass(SHORT_MS);
	take(&b, group, "cwd:/b");
	AWAIT(b.done);
	assert_int_equal(scene.started, 2);
	assert_int_equal(kill(stopping, SIGKILL), 0);
	AWAIT(scene.stopped == 1);
	assert_int_equal(kill(b.instance->child.pid, SIGKILL), 0);
	give_back(&b);
	AWAIT(scene.stopped == 2);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void an_idle_timeout_of_nought_is_never(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.reap_ms = 1;
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.idle_ms = 0;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	give_back(&a);
	let_pass(SHORT_MS);
	assert_int_equal(scene.stopped, 0);
	assert_int_equal(pool_group_live(group), 1);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void the_one_of_a_client_that_is_gone_is_ended(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	char gone[32], here[32];
	struct taker a, b, c;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(gone, sizeof(gone), "pid:%d", pid);
	snprintf(here, sizeof(here), "pid:%d", getpid());
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.scope = HUB_SCOPE_PID;
	d.idle_ms = PLENTY_MS;
	d.min = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, gone);
	take_now(&b, group, here);
	take_now(&c, group, "pid:nonsense");
	give_back(&a);
	give_back(&b);
	give_back(&c);
	scene.limits.reap_ms = 1;
	pool_adjust(scene.pool, &scene.limits);
	AWAIT(scene.stopped);
	assert_string_equal(scene.reason, "server files was stopped: its client is gone");
	let_pass(SHORT_MS);
	assert_int_equal(scene.stopped, 1);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void the_end_of_a_session_ends_what_it_had(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b, other, again;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.scope = HUB_SCOPE_SESSION;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "session:s1");
	take_now(&b, group, "psession:s1");
	take_now(&other, group, "session:s2");
	give_back(&a);
	give_back(&other);
	assert_int_equal(pool_end_session(scene.pool, STR("s1")), 2);
	assert_int_equal(pool_end_session(scene.pool, STR("s1")), 0);
	AWAIT(scene.stopped == 1);
	assert_string_equal(scene.reason, "server files was stopped: its session is over");
	/* One in use serves its holder to the end, and nobody else. */
	assert_int_equal(b.instance->state, INSTANCE_READY);
	take_now(&again, group, "psession:s1");
	assert_ptr_not_equal(again.instance, b.instance);
	give_back(&b);
	AWAIT(scene.stopped == 2);
	give_back(&again);
	assert_int_equal(pool_group_live(group), 2);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void one_that_serves_one_call_ends_with_it(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, unwanted;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	/* Also where the scope is another and only this caller had no value for it. */
	d.scope = HUB_SCOPE_SESSION;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "call:1");
	give_back(&a);
	AWAIT(scene.stopped == 1);
	assert_string_equal(scene.reason, "server files was stopped: its call is over");
	take(&unwanted, group, "call:2");
	pool_acquire_cancel(&unwanted.acquire);
	AWAIT(scene.stopped == 2);
	assert_int_equal(pool_group_live(group), 0);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

/* -- failure ------------------------------------------------------------------------------------------------------------- */

static void a_failed_start_pauses_the_command(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.backoff_step_ms = 5000;
	pool_scene_open(&scene);
	scratch_write(&hub_scratch, "broken", "");
	DEFINITION(&d, server_program(), "--fail-while", in_scratch("broken"), "--starts",
		   in_scratch("starts"));
	d.order = MCP_FORCE_INITIALIZE;
	group = pool_group_use(scene.pool, &d);
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
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void pauses_grow_with_jitter_up_to_a_bound(void **state)
{
	static const uint64_t least[] = { 10, 20, 25, 25 };
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.backoff_step_ms = 10;
	scene.limits.backoff_max_ms = 25;
	scene.limits.backoff_jitter = 100;
	pool_scene_open(&scene);
	scratch_write(&hub_scratch, "broken", "");
	DEFINITION(&d, server_program(), "--fail-while", in_scratch("broken"));
	d.order = MCP_FORCE_INITIALIZE;
	group = pool_group_use(scene.pool, &d);
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
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void seeds_keep_daemons_out_of_step(void **state)
{
	unsigned different = 0;
	uint64_t first = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 4; seed++) {
		struct pool_definition d;
		struct pool_group *group;
		struct taker a;

		pool_scene_init(&scene);
		scene.limits.backoff_jitter = 100;
		scene.limits.seed = seed * 0x9e3779b97f4a7c15;
		pool_scene_open(&scene);
		DEFINITION(&d, "/bin/false");
		d.order = MCP_FORCE_INITIALIZE;
		group = pool_group_use(scene.pool, &d);
		take(&a, group, "cwd:/a");
		expect_failure(&a, ERR_CLOSED, "exited with code 1");
		assert_in_range(scene.pause, PLENTY_MS, 2 * PLENTY_MS);
		first = first ? first : scene.pause;
		different += scene.pause != first;
		pool_group_drop(&group);
		pool_scene_close(&scene);
	}
	assert_true(different > 0);
}

static void a_server_that_hangs_at_start_fails_those_who_wait_at_once(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--hang");
	d.start_ms = SHORT_MS;
	group = pool_group_use(scene.pool, &d);
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
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void a_crashed_one_is_replaced_for_the_next(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--starts", in_scratch("starts"));
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
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
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void what_was_learnt_of_the_era_saves_a_process(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--only-initialize", "--starts", in_scratch("starts"));
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "call:1");
	assert_int_equal(count_lines("starts"), 2);
	give_back(&a);
	take_now(&a, group, "call:2");
	assert_int_equal(count_lines("starts"), 3);
	give_back(&a);
	pool_group_drop(&group);
	/* And what an earlier life knew. */
	d.id = STR("another");
	d.known_era = MCP_LEGACY;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "call:3");
	assert_int_equal(count_lines("starts"), 4);
	give_back(&a);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

/* --only-initialize ends a process that is asked anything else first, so that two starts mean server/discover came first. */
static void a_group_that_follows_opens_in_the_era_of_whom_it_is_for(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--only-initialize", "--starts", in_scratch("starts"));
	d.follows = true;
	group = pool_group_use(scene.pool, &d);
	take_now_as(&a, group, "call:1", MCP_LEGACY);
	assert_int_equal(count_lines("starts"), 1);
	give_back(&a);
	/* What was learnt of the server gives way. */
	take_now_as(&a, group, "call:2", MCP_MODERN);
	assert_int_equal(count_lines("starts"), 3);
	give_back(&a);
	/* Whoever has no era gets the one that was learnt. */
	take_now(&a, group, "call:3");
	assert_int_equal(count_lines("starts"), 4);
	give_back(&a);
	pool_group_drop(&group);
	/* Others do not follow. */
	d.follows = false;
	d.id = STR("another");
	d.known_era = MCP_LEGACY;
	group = pool_group_use(scene.pool, &d);
	take_now_as(&a, group, "call:4", MCP_MODERN);
	assert_int_equal(count_lines("starts"), 5);
	give_back(&a);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

/* -- changes of mind ----------------------------------------------------------------------------------------------------- */

static void an_acquire_can_be_cancelled_in_every_state(void **state)
{
	int gate = gate_make("gate");
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--gate", in_scratch("gate"));
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	/* Never begun. */
	a = (struct taker){ 0 };
	pool_acquire_cancel(&a.acquire);
	/* While the process starts; the start goes on. */
	take(&a, group, "cwd:/a");
	take(&b, group, "cwd:/a");
	pool_acquire_cancel(&a.acquire);
	pool_acquire_cancel(&a.acquire);
	gate_pass(gate);
	AWAIT(b.done);
	/* In the queue. */
	take(&c, group, "cwd:/c");
	pool_acquire_cancel(&c.acquire);
	/* Given, but not told yet. */
	take(&c, group, "cwd:/a");
	assert_int_equal(b.instance->holders, 2);
	pool_acquire_cancel(&c.acquire);
	assert_int_equal(b.instance->holders, 1);
	/* Ended. */
	pool_acquire_cancel(&b.acquire);
	assert_int_equal(b.instance->holders, 1);
	give_back(&b);
	let_pass(2);
	assert_int_equal(a.done, 0);
	assert_int_equal(c.done, 0);
	pool_group_drop(&group);
	pool_scene_close(&scene);
	close(gate);
}

static void a_refusal_can_be_cancelled_before_it_is_told(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	group = pool_group_use(scene.pool, &d);
	scene.limits.waiting_max = 0;
	pool_adjust(scene.pool, &scene.limits);
	take(&a, group, "cwd:/a");
	pool_acquire_cancel(&a.acquire);
	let_pass(2);
	assert_int_equal(a.done, 0);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void a_cancelled_holder_makes_room(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.exclusive = true;
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	give_back(&a);
	take(&a, group, "cwd:/a");
	take(&b, group, "cwd:/a");
	pool_acquire_cancel(&a.acquire);
	AWAIT(b.done);
	assert_non_null(b.instance);
	give_back(&b);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void a_dropped_group_refuses_who_waits_and_lets_who_holds_finish(void **state)
{
	int gate = gate_make("gate");
	struct pool_definition d;
	struct pool_group *group;
	struct taker held, idle, waiting, starting;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.close_ms = 1; /* one that waits at the gate does not look at its input */
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--gate", in_scratch("gate"));
	d.max = 3;
	group = pool_group_use(scene.pool, &d);
	gate_pass(gate);
	take_now(&held, group, "cwd:/held");
	gate_pass(gate);
	take_now(&idle, group, "cwd:/idle");
	give_back(&idle);
	take(&starting, group, "cwd:/starting");
	d.max = 3;
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
	pool_scene_close(&scene);
	close(gate);
}

static void a_group_that_is_used_again_keeps_what_it_has(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	pool_group_drop(&group);
	group = pool_group_use(scene.pool, &d);
	take_now(&b, group, "cwd:/a");
	assert_ptr_equal(a.instance, b.instance);
	give_back(&a);
	give_back(&b);
	assert_int_equal(scene.stopped, 0);
	assert_int_equal(scene.started, 1);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void a_group_takes_other_limits_in_place(void **state)
{
	struct pool_group *group, *other;
	struct pool_definition d;
	struct taker a, b, c, e;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	take(&b, group, "cwd:/b");
	take(&c, group, "cwd:/c");
	/* More room is used at once. */
	d.id = STR("more");
	d.max = 3;
	assert_true(pool_group_adapt(group, &d, 1));
	AWAIT(b.done && c.done);
	/* Less room ends what is idle, and what is held when it is released. */
	give_back(&c);
	d.id = STR("less");
	d.max = 1;
	assert_true(pool_group_adapt(group, &d, 1));
	AWAIT(scene.stopped == 1);
	assert_string_equal(scene.reason, "server files was stopped: fewer of it are allowed now");
	give_back(&a);
	AWAIT(scene.stopped == 2);
	give_back(&b);
	let_pass(2);
	assert_int_equal(pool_group_live(group), 1);
	/* Found by its new id, and not where another stands or somebody else would be affected. */
	other = pool_group_use(scene.pool, &d);
	assert_ptr_equal(group, other);
	d.id = STR("again");
	assert_false(pool_group_adapt(group, &d, 1));
	pool_group_drop(&other);
	other = pool_group_use(scene.pool, &d);
	assert_ptr_not_equal(group, other);
	assert_false(pool_group_adapt(group, &d, 1));
	take_now(&e, group, "cwd:/b");
	assert_int_equal(scene.started, 3);
	give_back(&e);
	pool_group_drop(&other);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

/* -- the end ------------------------------------------------------------------------------------------------------------- */

static void an_empty_pool_stops_later_too(void **state)
{
	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	pool_scene_close(&scene);
	pool_free(&scene.pool); /* NULL by now */
}

static void stopping_ends_stubborn_servers_and_everyone_who_waits(void **state)
{
	struct taker a, starting, waiting, late;
	struct pool_definition d, hanging;
	struct pool_group *group, *other;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.close_ms = scene.limits.term_ms = 1;
	pool_scene_open(&scene);
	DEFINITION(&d, server_program(), "--stubborn");
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	DEFINITION(&hanging, server_program(), "--hang", "--stubborn");
	hanging.id = STR("hanging");
	other = pool_group_use(scene.pool, &hanging);
	take_now(&a, group, "cwd:/a");
	take(&waiting, group, "cwd:/b");
	take(&starting, other, "cwd:/a");
	pool_scene_stop(&scene);
	expect_failure(&waiting, ERR_CLOSED, "server files: the hub is shutting down");
	expect_failure(&starting, ERR_CLOSED, "server files: the hub is shutting down");
	take(&late, group, "cwd:/a");
	expect_failure(&late, ERR_CLOSED, "the hub is shutting down");
	/* A holder need not hurry. */
	AWAIT(scene.stopped == 2);
	assert_int_equal(pool_group_retry_in(other), 0);
	give_back(&a);
	pool_group_drop(&group);
	pool_group_drop(&other);
	pool_scene_close(&scene);
}

/* -- requests on instances ----------------------------------------------------------------------------------------------- */

static struct {
	struct mcp_request request;
	struct pool_group *groups[3];
	struct taker takers[3];
	unsigned answered;
} requests;

static void ask(struct instance *instance, const char *tool, mcp_request_done *done)
{
	const struct mcp_tool_call call = { .name = str_of(tool) };
	const struct mcp_patience patience = { PLENTY_MS, PLENTY_MS, STR(""), STR("") };

	requests.answered = 0;
	mcp_tool_call_start(&requests.request, &instance->client, &call, &patience, NULL, done, NULL);
}

static void count_answer(struct mcp_request *request, const struct mcp_answer *answer)
{
	(void)request;
	(void)answer;
	requests.answered++;
}

static void drop_everything(struct mcp_request *request, const struct mcp_answer *answer)
{
	count_answer(request, answer);
	assert_int_equal(answer->code, ERR_CLOSED);
	for (size_t i = ARRAY_LEN(requests.groups); i-- > 0;) {
		pool_release(&requests.takers[i].instance);
		pool_group_drop(&requests.groups[i]);
	}
}

static void who_is_told_of_the_end_may_drop_everything(void **state)
{
	static const char *const ids[] = { "a", "b", "c" };
	struct pool_definition d;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		DEFINITION(&d, server_program());
		d.id = str_of(ids[i]);
		requests.groups[i] = pool_group_use(scene.pool, &d);
	}
	/* The last has nothing but its user: it would go at once. */
	take_now(&requests.takers[0], requests.groups[0], "cwd:/a");
	take_now(&requests.takers[1], requests.groups[1], "cwd:/a");
	ask(requests.takers[0].instance, "silent", drop_everything);
	pool_scene_stop(&scene);
	assert_int_equal(requests.answered, 1);
	pool_scene_close(&scene);
	assert_int_equal(scene.stopped, 2);
}

static void notifications_come_with_their_group(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	ask(a.instance, "change", count_answer);
	AWAIT(requests.answered);
	assert_int_equal(scene.notified, 1);
	give_back(&a);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void one_that_takes_no_more_messages_is_replaced(void **state)
{
	struct pool_definition d;
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	pool_scene_init(&scene);
	scene.limits.close_ms = 1;
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	d.max = 1;
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	ask(a.instance, "shut", count_answer);
	AWAIT(requests.answered);
	/* A write to it fails as soon as the supervisor, too, has let go of the pipe. */
	while (!a.instance->retired) {
		ask(a.instance, "echo", count_answer);
		let_pass(1);
		mcp_request_cancel(&requests.request);
	}
	take(&b, group, "cwd:/a");
	assert_int_equal(scene.stopped, 0);
	give_back(&a);
	AWAIT(b.done);
	assert_non_null(b.instance);
	assert_string_equal(scene.reason, "server files was stopped: it takes no more messages");
	give_back(&b);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

static void status_shows_every_instance(void **state)
{
	_cleanup_buf_ struct buf out = { .max = 1 << 16 };
	struct pool_definition d;
	struct pool_group *group;
	struct json_writer w;
	struct taker a;

	(void)state;
	pool_scene_init(&scene);
	pool_scene_open(&scene);
	DEFINITION(&d, server_program());
	group = pool_group_use(scene.pool, &d);
	take_now(&a, group, "cwd:/a");
	json_writer_init(&w, &out, false);
	pool_group_describe(group, &w);
	assert_has(buf_cstr(&out), "[{\"id\":\"files#1\",\"pid\":");
	assert_has(buf_cstr(&out), "\"state\":\"ready\",\"holders\":1,\"key\":\"cwd:/a\",\"calls\":1,");
	give_back(&a);
	pool_group_drop(&group);
	pool_scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HUB(fifty_who_ask_at_once_start_one_process),
		IN_HUB(equal_definitions_share_and_others_do_not),
		IN_HUB(each_key_has_its_own),
		IN_HUB(an_exclusive_one_has_one_holder_at_a_time),
		IN_HUB(exclusive_ones_multiply_up_to_max),
		IN_HUB(the_one_idle_longest_makes_room),
		IN_HUB(each_who_waits_gets_a_place_of_its_own),
		IN_HUB(one_who_waits_too_long_is_told_why),
		IN_HUB(one_who_waits_too_long_for_a_start_is_told_that),
		IN_HUB(more_than_may_wait_are_sent_away),
		IN_HUB(idle_ones_are_ended_down_to_min),
		IN_HUB(those_on_their_way_out_do_not_count_as_spared),
		IN_HUB(an_idle_timeout_of_nought_is_never),
		IN_HUB(the_one_of_a_client_that_is_gone_is_ended),
		IN_HUB(the_end_of_a_session_ends_what_it_had),
		IN_HUB(one_that_serves_one_call_ends_with_it),
		IN_HUB(a_failed_start_pauses_the_command),
		IN_HUB(pauses_grow_with_jitter_up_to_a_bound),
		IN_HUB(seeds_keep_daemons_out_of_step),
		IN_HUB(a_server_that_hangs_at_start_fails_those_who_wait_at_once),
		IN_HUB(a_crashed_one_is_replaced_for_the_next),
		IN_HUB(what_was_learnt_of_the_era_saves_a_process),
		IN_HUB(a_group_that_follows_opens_in_the_era_of_whom_it_is_for),
		IN_HUB(an_acquire_can_be_cancelled_in_every_state),
		IN_HUB(a_refusal_can_be_cancelled_before_it_is_told),
		IN_HUB(a_cancelled_holder_makes_room),
		IN_HUB(a_dropped_group_refuses_who_waits_and_lets_who_holds_finish),
		IN_HUB(a_group_that_is_used_again_keeps_what_it_has),
		IN_HUB(a_group_takes_other_limits_in_place),
		IN_HUB(an_empty_pool_stops_later_too),
		IN_HUB(stopping_ends_stubborn_servers_and_everyone_who_waits),
		IN_HUB(who_is_told_of_the_end_may_drop_everything),
		IN_HUB(status_shows_every_instance),
		IN_HUB(notifications_come_with_their_group),
		IN_HUB(one_that_takes_no_more_messages_is_replaced),
	};

	return RUN_IN_HUB(tests);
}

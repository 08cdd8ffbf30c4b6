#include "base/base.h"
#include "hub/pool_fixture.h"

/* -- room ------------------------------------------------------------------------------------------------ */

static void the_one_idle_longest_makes_room(void **state)
{
	struct taker a, b, c, again;
	struct pool_group *group;

	(void)state;
	scene.definition.max = 2;
	group = use_group();
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
	close_group(&group);
}

static void each_who_waits_gets_a_place_of_its_own(void **state)
{
	struct taker a, b, c, e;
	struct pool_group *group;

	(void)state;
	scene.definition.max = 2;
	group = use_group();
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
	close_group(&group);
}

static void one_who_waits_too_long_is_told_why(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	scene.definition.max = 1;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	take_within(&b, group, "cwd:/b", SHORT_MS);
	expect_failure(
		&b, ERR_TIMEOUT,
		"server files: no instance became free within 30ms: 1 of at most 1 are in use (raise max, or set sharing to "
		"\"shared\")");
	give_back(&a);
	close_group(&group);
}

static void one_who_waits_too_long_for_a_start_is_told_that(void **state)
{
	int gate = gate_make("gate");
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	COMMAND(server_program(), "--gate", in_scratch("gate"));
	group = use_group();
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
	close_group(&group);
	close(gate);
}

static void more_than_may_wait_are_sent_away(void **state)
{
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	scene.limits.waiting_max = 1;
	scene.definition.max = 1;
	group = use_group();
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
	close_group(&group);
}

static void a_start_that_nobody_waits_for_makes_room(void **state)
{
	int gate = gate_make("gate");
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	scene.limits.close_ms = 1; /* one that waits at the gate does not look at its input */
	COMMAND(server_program(), "--gate", in_scratch("gate"));
	scene.definition.max = 1;
	group = use_group();
	take(&a, group, "cwd:/a");
	take(&b, group, "cwd:/b");
	let_pass(2);
	assert_int_equal(scene.stopped, 0);
	pool_acquire_cancel(&a.acquire);
	AWAIT(scene.stopped == 1);
	assert_string_equal(scene.reason, "server files was stopped: another caller needs its place");
	/* That was no failure. */
	assert_int_equal(scene.pause, 0);
	/* The same for one whose patience ends, and nobody else's place is taken. */
	pool_acquire_cancel(&b.acquire);
	take_within(&b, group, "cwd:/b", SHORT_MS);
	take(&c, group, "cwd:/c");
	expect_failure(&b, ERR_TIMEOUT, "is still starting after 30ms");
	AWAIT(scene.stopped == 2);
	gate_pass(gate);
	AWAIT(c.done);
	assert_non_null(c.instance);
	assert_int_equal(scene.stopped, 2);
	give_back(&c);
	close_group(&group);
	close(gate);
}

/* -- changes of mind ------------------------------------------------------------------------------------- */

static void an_acquire_can_be_cancelled_in_every_state(void **state)
{
	int gate = gate_make("gate");
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	COMMAND(server_program(), "--gate", in_scratch("gate"));
	scene.definition.max = 1;
	group = use_group();
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
	close_group(&group);
	close(gate);
}

static void a_refusal_can_be_cancelled_before_it_is_told(void **state)
{
	struct pool_group *group;
	struct taker a;

	(void)state;
	group = use_group();
	scene.limits.waiting_max = 0;
	pool_adjust(scene.pool, &scene.limits);
	take(&a, group, "cwd:/a");
	pool_acquire_cancel(&a.acquire);
	let_pass(2);
	assert_int_equal(a.done, 0);
	close_group(&group);
}

static void a_cancelled_holder_makes_room(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	scene.definition.exclusive = true;
	scene.definition.max = 1;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	give_back(&a);
	take(&a, group, "cwd:/a");
	take(&b, group, "cwd:/a");
	pool_acquire_cancel(&a.acquire);
	AWAIT(b.done);
	assert_non_null(b.instance);
	give_back(&b);
	close_group(&group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_POOL(the_one_idle_longest_makes_room),
		IN_POOL(each_who_waits_gets_a_place_of_its_own),
		IN_POOL(one_who_waits_too_long_is_told_why),
		IN_POOL(one_who_waits_too_long_for_a_start_is_told_that),
		IN_POOL(more_than_may_wait_are_sent_away),
		IN_POOL(a_start_that_nobody_waits_for_makes_room),
		IN_POOL(an_acquire_can_be_cancelled_in_every_state),
		IN_POOL(a_refusal_can_be_cancelled_before_it_is_told),
		IN_POOL(a_cancelled_holder_makes_room),
	};

	return RUN_IN_HUB(tests);
}

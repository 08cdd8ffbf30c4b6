#include "base/base.h"
#include "hub/pool_fixture.h"

#include <signal.h>
#include <sys/wait.h>

static struct pool_scene scene;

/* -- sharing --------------------------------------------------------------------------------------------- */

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

/* -- rest ------------------------------------------------------------------------------------------------ */

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

/* -- the end --------------------------------------------------------------------------------------------- */

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

/* -- requests on instances ------------------------------------------------------------------------------- */

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
		IN_HUB(idle_ones_are_ended_down_to_min),
		IN_HUB(those_on_their_way_out_do_not_count_as_spared),
		IN_HUB(an_idle_timeout_of_nought_is_never),
		IN_HUB(the_one_of_a_client_that_is_gone_is_ended),
		IN_HUB(the_end_of_a_session_ends_what_it_had),
		IN_HUB(one_that_serves_one_call_ends_with_it),
		IN_HUB(an_empty_pool_stops_later_too),
		IN_HUB(stopping_ends_stubborn_servers_and_everyone_who_waits),
		IN_HUB(who_is_told_of_the_end_may_drop_everything),
		IN_HUB(notifications_come_with_their_group),
		IN_HUB(one_that_takes_no_more_messages_is_replaced),
		IN_HUB(status_shows_every_instance),
	};

	return RUN_IN_HUB(tests);
}

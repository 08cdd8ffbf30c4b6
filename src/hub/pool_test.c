#include "base/base.h"
#include "hub/pool_fixture.h"

#include <signal.h>
#include <sys/wait.h>

/* -- sharing --------------------------------------------------------------------------------------------- */

static void fifty_who_ask_at_once_start_one_process(void **state)
{
	struct pool_group *group;
	struct taker takers[50];

	(void)state;
	COMMAND(server_program(), "--starts", in_scratch("starts"));
	group = use_group();
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
	for (size_t i = 0; i < ARRAY_LEN(takers); i++)
		give_back(&takers[i]);
	close_group(&group);
}

static void equal_definitions_share_and_others_do_not(void **state)
{
	struct pool_group *first, *same, *other;
	struct taker a, b, c;

	(void)state;
	first = use_group();
	scene.definition.name = STR("alias");
	same = use_group();
	scene.definition.id = STR("fedcba9876543210");
	other = use_group();
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
	close_pool();
}

static void each_key_has_its_own(void **state)
{
	struct pool_group *group;
	struct taker a, b, again;

	(void)state;
	group = use_group();
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
	close_group(&group);
}

static void an_exclusive_one_has_one_holder_at_a_time(void **state)
{
	struct taker takers[3];
	struct pool_group *group;
	struct instance *first;

	(void)state;
	COMMAND(server_program(), "--starts", in_scratch("starts"));
	scene.definition.exclusive = true;
	scene.definition.max = 1;
	group = use_group();
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
	close_group(&group);
}

static void exclusive_ones_multiply_up_to_max(void **state)
{
	struct taker takers[3];
	struct pool_group *group;

	(void)state;
	scene.definition.exclusive = true;
	scene.definition.max = 2;
	group = use_group();
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
	close_group(&group);
}

/* -- rest ------------------------------------------------------------------------------------------------ */

static void idle_ones_are_ended_down_to_min(void **state)
{
	struct pool_group *group;
	struct taker a, b, c;

	(void)state;
	scene.limits.reap_ms = 1;
	scene.definition.idle_ms = 1;
	scene.definition.min = 1;
	group = use_group();
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
	close_group(&group);
}

static void those_on_their_way_out_do_not_count_as_spared(void **state)
{
	struct pool_group *group;
	struct taker a, b;
	pid_t stopping = 0;

	(void)state;
	scene.limits.reap_ms = 1;
	COMMAND(server_program(), "--stubborn");
	scene.definition.idle_ms = 1;
	scene.definition.min = 1;
	group = use_group();
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
	close_group(&group);
}

static void an_idle_timeout_of_nought_is_never(void **state)
{
	struct pool_group *group;
	struct taker a;

	(void)state;
	scene.limits.reap_ms = 1;
	scene.definition.idle_ms = 0;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	give_back(&a);
	let_pass(SHORT_MS);
	assert_int_equal(scene.stopped, 0);
	assert_int_equal(pool_group_live(group), 1);
	close_group(&group);
}

static void the_one_of_a_client_that_is_gone_is_ended(void **state)
{
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
	scene.definition.scope = HUB_SCOPE_PID;
	scene.definition.idle_ms = PLENTY_MS;
	scene.definition.min = 1;
	group = use_group();
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
	close_group(&group);
}

static void the_end_of_a_session_ends_what_it_had(void **state)
{
	struct pool_group *group;
	struct taker a, b, other, again;

	(void)state;
	scene.definition.scope = HUB_SCOPE_SESSION;
	group = use_group();
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
	close_group(&group);
}

static void one_that_serves_one_call_ends_with_it(void **state)
{
	struct pool_group *group;
	struct taker a, unwanted;

	(void)state;
	/* Also where the scope is another and only this caller had no value for it. */
	scene.definition.scope = HUB_SCOPE_SESSION;
	group = use_group();
	take_now(&a, group, "call:1");
	give_back(&a);
	AWAIT(scene.stopped == 1);
	assert_string_equal(scene.reason, "server files was stopped: its call is over");
	take(&unwanted, group, "call:2");
	pool_acquire_cancel(&unwanted.acquire);
	AWAIT(scene.stopped == 2);
	assert_int_equal(pool_group_live(group), 0);
	close_group(&group);
}

/* -- the end --------------------------------------------------------------------------------------------- */

static void an_empty_pool_stops_later_too(void **state)
{
	(void)state;
	open_pool();
	close_pool();
	pool_free(&scene.pool); /* NULL by now */
}

static void stopping_ends_stubborn_servers_and_everyone_who_waits(void **state)
{
	struct taker a, starting, waiting, late;
	struct pool_group *group, *other;

	(void)state;
	scene.limits.close_ms = scene.limits.term_ms = 1;
	COMMAND(server_program(), "--stubborn");
	scene.definition.max = 1;
	group = use_group();
	COMMAND(server_program(), "--hang", "--stubborn");
	scene.definition.id = STR("hanging");
	other = use_group();
	take_now(&a, group, "cwd:/a");
	take(&waiting, group, "cwd:/b");
	take(&starting, other, "cwd:/a");
	stop_pool();
	expect_failure(&waiting, ERR_CLOSED, "server files: mcpx is shutting down");
	expect_failure(&starting, ERR_CLOSED, "server files: mcpx is shutting down");
	take(&late, group, "cwd:/a");
	expect_failure(&late, ERR_CLOSED, "mcpx is shutting down");
	/* A holder need not hurry. */
	AWAIT(scene.stopped == 2);
	assert_int_equal(pool_group_retry_in(other), 0);
	give_back(&a);
	pool_group_drop(&group);
	pool_group_drop(&other);
	close_pool();
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

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		scene.definition.id = str_of(ids[i]);
		requests.groups[i] = use_group();
	}
	/* The last has nothing but its user: it would go at once. */
	take_now(&requests.takers[0], requests.groups[0], "cwd:/a");
	take_now(&requests.takers[1], requests.groups[1], "cwd:/a");
	ask(requests.takers[0].instance, "silent", drop_everything);
	stop_pool();
	assert_int_equal(requests.answered, 1);
	close_pool();
	assert_int_equal(scene.stopped, 2);
}

static void notifications_come_with_their_group(void **state)
{
	struct pool_group *group;
	struct taker a;

	(void)state;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	ask(a.instance, "change", count_answer);
	AWAIT(requests.answered);
	assert_int_equal(scene.notified, 1);
	give_back(&a);
	close_group(&group);
}

static void one_that_takes_no_more_messages_is_replaced(void **state)
{
	struct pool_group *group;
	struct taker a, b;

	(void)state;
	scene.limits.close_ms = 1;
	scene.definition.max = 1;
	group = use_group();
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
	close_group(&group);
}

static void status_shows_every_instance(void **state)
{
	_cleanup_buf_ struct buf out = { .max = 1 << 16 };
	struct pool_group *group;
	struct json_writer w;
	struct taker a;

	(void)state;
	group = use_group();
	take_now(&a, group, "cwd:/a");
	json_writer_init(&w, &out, false);
	pool_group_describe(group, &w);
	assert_has(buf_cstr(&out), "[{\"id\":\"files#1\",\"pid\":");
	assert_has(buf_cstr(&out), "\"state\":\"ready\",\"holders\":1,\"key\":\"cwd:/a\",\"calls\":0,");
	give_back(&a);
	close_group(&group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_POOL(fifty_who_ask_at_once_start_one_process),
		IN_POOL(equal_definitions_share_and_others_do_not),
		IN_POOL(each_key_has_its_own),
		IN_POOL(an_exclusive_one_has_one_holder_at_a_time),
		IN_POOL(exclusive_ones_multiply_up_to_max),
		IN_POOL(idle_ones_are_ended_down_to_min),
		IN_POOL(those_on_their_way_out_do_not_count_as_spared),
		IN_POOL(an_idle_timeout_of_nought_is_never),
		IN_POOL(the_one_of_a_client_that_is_gone_is_ended),
		IN_POOL(the_end_of_a_session_ends_what_it_had),
		IN_POOL(one_that_serves_one_call_ends_with_it),
		IN_POOL(an_empty_pool_stops_later_too),
		IN_POOL(stopping_ends_stubborn_servers_and_everyone_who_waits),
		IN_POOL(who_is_told_of_the_end_may_drop_everything),
		IN_POOL(notifications_come_with_their_group),
		IN_POOL(one_that_takes_no_more_messages_is_replaced),
		IN_POOL(status_shows_every_instance),
	};

	return RUN_IN_HUB(tests);
}

#include "base/base.h"
#include "hub/refresh.h"
#include "hub/scene_fixture.h"

static struct hub_scene scene;

/* -- lists ----------------------------------------------------------------------------------------------- */

static const char three_servers[] = "{\"mcpServers\":{\"good\":{\"command\":\"@\"},"
				    "\"gone\":{\"command\":\"no-such-program\"},"
				    "\"bad\":{\"command\":\"@\",\"mcpx\":{\"mode\":1}},"
				    "\"lost\":{\"command\":\"@\",\"args\":[\"--list-error\"]},"
				    "\"dies\":{\"command\":\"@\",\"args\":[\"--list-die\"]},"
				    "\"odd\":{\"command\":\"@\",\"args\":[\"--odd\"]},"
				    "\"off\":{\"command\":\"@\",\"mcpx\":{\"disabled\":true}},"
				    "\"bare\":{\"command\":\"@\",\"args\":[\"--bare\"]}}}";

static void no_server_s_trouble_hides_another(void **state)
{
	const struct catalogue_tool *refs;

	(void)state;
	open_hub(&scene, three_servers);
	all_ready(&scene);
	assert_int_equal(snapshot_count(&scene), 3);
	assert_true(lists(&scene, "good", "echo"));
	assert_int_equal(server_named(&scene, "bare")->snapshot->count, 0);
	assert_has(describe_server(&scene, "gone"),
		   "\"live\":0,\"calls\":0,\"lastError\":\"server gone did not start: cannot run ");
	assert_has(describe_server(&scene, "bad"), "\"lastError\":\"");
	assert_has(describe_server(&scene, "bad"), "unknown key \\\"mode\\\"");
	assert_has(describe_server(&scene, "bad"), "\"instances\":[]}");
	assert_has(describe_server(&scene, "lost"),
		   "\"lastError\":\"tools/list: the server answered with error -32000: the list is lost\"");
	assert_has(describe_server(&scene, "dies"), "server dies exited with code 5");
	/* What is no tool is counted; what is odd is kept as it came. */
	assert_has(describe_server(&scene, "odd"), "\"skippedTools\":2");
	refs = catalogue_find(server_named(&scene, "odd")->snapshot, STR("refs"));
	assert_non_null(refs);
	assert_str(refs->raw, "{\"name\":\"refs\",\"inputSchema\":{\"$defs\":{}},\"x\":[1, 2e400]}");
	assert_null(hub_server_find(scene.hub, STR("off"), NULL));
	hub_scene_close(&scene);
}

static void pages_are_put_together(void **state)
{
	const struct catalogue_snapshot *snapshot;

	(void)state;
	open_hub(&scene, one_server("\"--tools\",\"9\",\"--page\",\"4\"", ""));
	all_ready(&scene);
	snapshot = server_named(&scene, "files")->snapshot;
	assert_str(snapshot->tools[0].name, "echo");
	assert_str(snapshot->tools[snapshot->count - 1].name, "tool8");
	assert_str(snapshot->tools[snapshot->count - 9].name, "tool0");
	assert_str(snapshot->instructions, "be kind");
	hub_scene_close(&scene);
}

static void a_list_over_its_limits_is_refused(void **state)
{
	(void)state;
	hub_scene_init(&scene);
	scene.limits.pages_max = 2;
	hub_scene_open(&scene, one_server("\"--page\",\"4\"", ""));
	all_ready(&scene);
	assert_null(server_named(&scene, "files")->snapshot);
	assert_has(describe_server(&scene, "files"),
		   "\"lastError\":\"tools/list: the list has more than 2 pages\"");
	hub_scene_close(&scene);
}

static void a_list_that_never_comes_is_given_up(void **state)
{
	(void)state;
	hub_scene_init(&scene);
	scene.limits.refresh_ms = SHORT_MS;
	hub_scene_open(&scene, one_server("\"--list-silent\"", ""));
	/* A start may take longer than this, and then counts as well. */
	AWAIT((all_ready(&scene), events_of(&scene, "30 ms (daemon.refreshTimeout)")));
	assert_has(
		describe_server(&scene, "files"),
		"\"lastError\":\"tools/list: no answer within 30 ms (daemon.refreshTimeout); if it does not answer a ping within 1m it is replaced\"");
	hub_scene_close(&scene);
}

static void a_change_is_read_and_told(void **state)
{
	struct caller c;
	unsigned changes;
	uint64_t generation;

	(void)state;
	open_hub(&scene, one_server("", ""));
	all_ready(&scene);
	assert_int_equal(scene.changes, 1);
	changes = scene.changes;
	generation = scene.hub->generation;
	assert_false(lists(&scene, "files", "new0"));
	(void)call_now(&c, &scene, "files", "change", "{}");
	AWAIT(scene.changes > changes);
	assert_true(lists(&scene, "files", "new0"));
	assert_true(scene.hub->generation > generation);
	hub_scene_close(&scene);
}

static void a_list_that_changes_while_it_is_read_is_read_again(void **state)
{
	(void)state;
	open_hub(&scene, one_server("\"--changes\",\"3\"", ""));
	all_ready(&scene);
	AWAIT(lists(&scene, "files", "new2"));
	AWAIT(!server_named(&scene, "files")->refresh);
	hub_scene_close(&scene);
}

static void one_who_cries_wolf_is_read_now_and_then(void **state)
{
	struct waiter waiter;
	unsigned before;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.change_ms = PLENTY_MS;
	hub_scene_open(&scene, one_server("\"--changes\",\"1000\"", ""));
	all_ready(&scene);
	/* The first notice was followed at once, the one that came with that list waits. */
	AWAIT(lists(&scene, "files", "new1"));
	AWAIT(timer_running(&server_named(&scene, "files")->change));
	before = scene.changes;
	let_pass(SHORT_MS);
	assert_int_equal(scene.changes, before);
	/* Who asks is served. */
	wait_for(&scene, &waiter, "files", true, PLENTY_MS);
	AWAIT(waiter.done);
	assert_true(lists(&scene, "files", "new2"));
	/* Its time has come: from the one that told of it, if that still runs. */
	timer_start(&server_named(&scene, "files")->change, stage_loop, 0,
		    server_named(&scene, "files")->change.done);
	AWAIT(lists(&scene, "files", "new3"));
	hub_scene_close(&scene);
}

static void a_change_told_by_one_that_is_gone_is_read_from_another(void **state)
{
	struct hub_server *server;
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.change_ms = PLENTY_MS;
	hub_scene_open(&scene, one_server("\"--changes\",\"1000\"", ""));
	all_ready(&scene);
	server = server_named(&scene, "files");
	AWAIT(timer_running(&server->change));
	call(&c, &scene, "files", "kill", "{}");
	expect_error(&c, ERR_CLOSED, MCP_OUTCOME_UNKNOWN, "");
	AWAIT(pool_group_live(server->group) == 0);
	timer_start(&server->change, stage_loop, 0, server->change.done);
	AWAIT(events_of(&scene, "server.start") == 2);
	AWAIT(!server->refresh);
	hub_scene_close(&scene);
}

static void the_same_list_again_is_no_news(void **state)
{
	struct waiter waiter;

	(void)state;
	open_hub(&scene, one_server("", ""));
	all_ready(&scene);
	wait_for(&scene, &waiter, "files", true, PLENTY_MS);
	AWAIT(waiter.done);
	assert_int_equal(scene.changes, 1);
	hub_scene_close(&scene);
}

static void a_failed_refresh_keeps_what_was_known(void **state)
{
	struct catalogue_snapshot *before;
	struct waiter waiter;
	struct caller c;

	(void)state;
	scratch_write(&hub_scratch, "broken", "");
	remove_in_scratch("broken");
	open_hub(&scene, one_server("\"--fail-while\",\"~/broken\"", ""));
	all_ready(&scene);
	before = server_named(&scene, "files")->snapshot;
	scratch_write(&hub_scratch, "broken", "");
	call(&c, &scene, "files", "kill", "{}");
	expect_error(&c, ERR_CLOSED, MCP_OUTCOME_UNKNOWN, "");
	wait_for(&scene, &waiter, NULL, true, PLENTY_MS);
	AWAIT(waiter.done);
	assert_ptr_equal(server_named(&scene, "files")->snapshot, before);
	assert_has(describe_server(&scene, "files"), "\"schemaAgeSec\":0");
	assert_has(describe_server(&scene, "files"),
		   "\"lastError\":\"server files exited with code 3 before it was ready");
	hub_scene_close(&scene);
}

static void log_messages_are_events(void **state)
{
	struct caller c;

	(void)state;
	open_hub(&scene, one_server("", ""));
	(void)call_now(&c, &scene, "files", "log", "{}");
	AWAIT(events_of(&scene, "server.log files"));
	assert_has(buf_cstr(&scene.events), "{\"level\":\"info\",\"data\":\"hi\"}");
	hub_scene_close(&scene);
}

/* -- readiness ------------------------------------------------------------------------------------------- */

static const char slow_and_fast[] =
	"{\"mcpServers\":{\"slow\":{\"command\":\"@\",\"args\":[\"--gate\",\"~/gate\"]},"
	"\"fast\":{\"command\":\"@\"}}}";

/* One that waits at the gate does not look at its input, and so does not see it closed. */
static void open_gated(const char *config)
{
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene, config);
}

static void who_waits_gets_what_there_is_at_the_deadline(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, only, fast, gone;

	(void)state;
	open_gated(slow_and_fast);
	wait_for(&scene, &all, NULL, false, PLENTY_MS);
	wait_for(&scene, &only, "slow", false, SHORT_MS);
	wait_for(&scene, &fast, "fast", false, PLENTY_MS);
	wait_for(&scene, &gone, NULL, false, PLENTY_MS);
	hub_ready_cancel(&gone.ready);
	hub_ready_cancel(&gone.ready);
	AWAIT(fast.done);
	AWAIT(only.done);
	assert_int_equal(snapshot_count(&scene), 1);
	assert_int_equal(all.done, 0);
	gate_pass(gate);
	AWAIT(all.done);
	assert_int_equal(snapshot_count(&scene), 2);
	assert_int_equal(gone.done, 0);
	hub_ready_cancel(&all.ready);
	gone.ready = (struct hub_ready){ 0 };
	hub_ready_cancel(&gone.ready);
	hub_scene_close(&scene);
	close(gate);
}

/* Whoever waits for all is held up once; whoever names it waits again, and nobody waits for what failed
 * before. */
static void one_that_hangs_holds_nobody_up_twice(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, again, named;

	(void)state;
	open_gated(slow_and_fast);
	wait_for(&scene, &all, NULL, false, SHORT_MS);
	AWAIT(all.done);
	AWAIT(server_named(&scene, "fast")->snapshot);
	wait_for(&scene, &again, NULL, false, SHORT_MS);
	assert_non_null(again.ready.later.call);
	AWAIT(again.done);
	wait_for(&scene, &again, NULL, false, PLENTY_MS);
	wait_for(&scene, &named, "slow", false, SHORT_MS);
	assert_null(again.ready.later.call);
	assert_null(named.ready.later.call);
	AWAIT(named.done);
	server_named(&scene, "slow")->refresh_failures = 1;
	hub_check_readies(scene.hub);
	AWAIT(again.done);
	gate_pass(gate);
	AWAIT(server_named(&scene, "slow")->snapshot);
	assert_int_equal(server_named(&scene, "slow")->waited_ms, 0);
	hub_scene_close(&scene);
	close(gate);
}

static void a_fresh_list_is_read_anew_also_while_one_is_read(void **state)
{
	int gate = gate_make("gate");
	struct waiter plain, fresh;

	(void)state;
	hub_scene_init(&scene);
	hub_scene_open(&scene, one_server("\"--gate\",\"~/gate\",\"--changes\",\"1\"", ""));
	wait_for(&scene, &plain, NULL, false, PLENTY_MS);
	wait_for(&scene, &fresh, NULL, true, PLENTY_MS);
	gate_pass(gate);
	AWAIT(fresh.done);
	assert_int_equal(plain.done, 1);
	assert_true(lists(&scene, "files", "new0"));
	assert_null(server_named(&scene, "files")->refresh);
	hub_scene_close(&scene);
	close(gate);
}

static void who_waits_follows_a_reload(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, removed;

	(void)state;
	open_gated(one_server("\"--gate\",\"~/gate\"", ""));
	wait_for(&scene, &all, NULL, false, PLENTY_MS);
	wait_for(&scene, &removed, "files", false, PLENTY_MS);
	hub_scene_reload(&scene, "{\"mcpServers\":{\"other\":{\"command\":\"@\"}}}");
	assert_int_equal(scene.added, 1);
	assert_int_equal(scene.removed, 1);
	AWAIT(removed.done);
	AWAIT(all.done);
	/* It was asked because somebody waits for all. */
	assert_true(lists(&scene, "other", "echo"));
	hub_scene_close(&scene);
	close(gate);
}

static void stopping_ends_waiting(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, late;

	(void)state;
	open_gated(one_server("\"--gate\",\"~/gate\"", ""));
	wait_for(&scene, &all, NULL, false, PLENTY_MS);
	hub_scene_stop(&scene);
	AWAIT(all.done);
	wait_for(&scene, &late, NULL, true, PLENTY_MS);
	AWAIT(late.done);
	/* A reload is taken, and starts nothing. */
	hub_scene_reload(&scene, "{\"mcpServers\":{\"other\":{\"command\":\"@\"}}}");
	assert_int_equal(scene.added, 1);
	let_pass(2);
	assert_int_equal(events_of(&scene, "server.start"), 0);
	hub_scene_close(&scene);
	close(gate);
}

/* -- warmth ---------------------------------------------------------------------------------------------- */

static void a_warm_hub_reads_and_retries_by_itself(void **state)
{
	(void)state;
	hub_scene_init(&scene);
	scene.limits.warm = true;
	scene.limits.pool.backoff_step_ms = scene.limits.pool.backoff_max_ms = 1;
	scratch_write(&hub_scratch, "broken", "");
	hub_scene_open(
		&scene,
		"{\"mcpServers\":{\"good\":{\"command\":\"@\"},"
		"\"late\":{\"command\":\"@\",\"args\":[\"--fail-while\",\"~/broken\",\"--starts\",\"~/starts\"]}}}");
	AWAIT(lists(&scene, "good", "echo"));
	AWAIT(count_lines("starts") >= 3);
	/* A start that fails is told once. */
	AWAIT(events_of(&scene, "server.stop late") >= 2);
	assert_int_equal(events_of(&scene, "server.list late"), 0);
	remove_in_scratch("broken");
	AWAIT(lists(&scene, "late", "echo"));
	/* Enough is enough. */
	let_pass(SHORT_MS);
	assert_int_equal(events_of(&scene, "server.start good"), 1);
	assert_false(timer_running(&scene.hub->retry));
	hub_scene_close(&scene);
}

static void a_list_that_fails_is_asked_for_less_and_less(void **state)
{
	unsigned failures;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.warm = true;
	scene.limits.pool.backoff_step_ms = 1;
	hub_scene_open(&scene, one_server("\"--list-error\"", ""));
	AWAIT(server_named(&scene, "files")->refresh_failures >= 3);
	failures = server_named(&scene, "files")->refresh_failures;
	assert_true(server_named(&scene, "files")->refresh_at >= failures);
	assert_int_equal(events_of(&scene, "server.start"), 1);
	assert_has(describe_server(&scene, "files"), "the list is lost");
	hub_scene_close(&scene);
}

static void a_warm_hub_reads_what_a_reload_brings(void **state)
{
	(void)state;
	hub_scene_init(&scene);
	scene.limits.warm = true;
	hub_scene_open(&scene, "{}");
	let_pass(2);
	hub_scene_reload(&scene, one_server("", ""));
	AWAIT(lists(&scene, "files", "echo"));
	hub_scene_close(&scene);
}

/* -- calls before anything is known ---------------------------------------------------------------------- */

static void a_server_that_was_never_seen_knows_each_name_too(void **state)
{
	struct caller c;

	(void)state;
	open_hub(&scene, one_server("\"--starts\",\"~/starts\"", ""));
	assert_has(call_now(&c, &scene, "files", "files__echo", "{\"a\":1}"), "\"echo\":{\"a\":1}");
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
}

static void a_list_that_does_not_come_holds_up_no_second_call(void **state)
{
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.list_ms = SHORT_MS;
	hub_scene_open(&scene, one_server("\"--list-silent\"", ""));
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "\"echo\":{}");
	assert_int_equal(server_named(&scene, "files")->waited_ms, SHORT_MS);
	call(&c, &scene, "files", "echo", "{}");
	AWAIT(c.done || c.call.state == HUB_CALL_SEND || c.call.state == HUB_CALL_LIST);
	assert_true(c.done || c.call.state == HUB_CALL_SEND);
	AWAIT(c.done);
	call_end(&c);
	hub_scene_close(&scene);
}

static void who_waits_for_the_first_list_may_go_away(void **state)
{
	struct caller c;

	(void)state;
	open_hub(&scene, one_server("\"--list-silent\"", ""));
	call(&c, &scene, "files", "echo", "{}");
	AWAIT(c.call.state == HUB_CALL_LIST);
	hub_call_cancel(&c.call, STR("gone"));
	call_end(&c);
	hub_scene_close(&scene);
}

/* -- turns ----------------------------------------------------------------------------------------------- */

static const char five_servers[] =
	"{\"mcpServers\":{"
	"\"a\":{\"command\":\"@\",\"args\":[\"--tools\",\"1\",\"--gate\",\"~/gate\",\"--starts\",\"~/starts\"]},"
	"\"b\":{\"command\":\"@\",\"args\":[\"--tools\",\"2\",\"--gate\",\"~/gate\",\"--starts\",\"~/starts\"]},"
	"\"c\":{\"command\":\"@\",\"args\":[\"--tools\",\"3\",\"--gate\",\"~/gate\",\"--starts\",\"~/starts\"]},"
	"\"d\":{\"command\":\"@\",\"args\":[\"--tools\",\"4\",\"--gate\",\"~/gate\",\"--starts\",\"~/starts\"]},"
	"\"e\":{\"command\":\"@\",\"args\":[\"--tools\",\"5\",\"--gate\",\"~/gate\",\"--starts\",\"~/starts\"]}}}";

static unsigned starting(void)
{
	struct hub_server *server;
	unsigned count = 0;

	list_for_each(server, &scene.hub->servers, node)
		count += pool_group_live(server->group) > 0 && !server->snapshot;
	return count;
}

static void lists_are_read_a_few_at_a_time(bool warm)
{
	int gate = gate_make("gate");
	struct waiter all = { .done = 1 };

	hub_scene_init(&scene);
	scene.limits.warm = warm;
	scene.limits.reads_max = 2;
	hub_scene_open(&scene, five_servers);
	if (!warm)
		wait_for(&scene, &all, NULL, false, PLENTY_MS);
	for (unsigned read = 0; read < 5; read++) {
		AWAIT(starting() == (read < 4 ? 2 : 1));
		assert_int_equal(scene.hub->reading, read < 4 ? 2 : 1);
		gate_pass(gate);
		AWAIT(snapshot_count(&scene) == read + 1);
	}
	AWAIT(all.done);
	assert_int_equal(scene.hub->reading, 0);
	hub_scene_close(&scene);
	remove_in_scratch("gate");
	close(gate);
}

static void lists_are_read_a_few_at_a_time_whoever_asks(void **state)
{
	(void)state;
	lists_are_read_a_few_at_a_time(true);
	lists_are_read_a_few_at_a_time(false);
}

static void who_is_asked_for_comes_first(void **state)
{
	struct hub_server *d;
	struct waiter named;
	struct caller c;
	int gate = gate_make("gate");

	(void)state;
	hub_scene_init(&scene);
	scene.limits.warm = true;
	scene.limits.reads_max = 1;
	scene.limits.pool.close_ms = scene.limits.pool.term_ms = 1;
	hub_scene_open(&scene, five_servers);
	AWAIT(starting() == 1);
	assert_int_equal(pool_group_live(server_named(&scene, "a")->group), 1);
	/* One that is named does not wait for its turn, nor does a call. */
	wait_for(&scene, &named, "e", false, PLENTY_MS);
	assert_int_equal(pool_group_live(server_named(&scene, "e")->group), 1);
	call(&c, &scene, "c", "pid", "{}");
	assert_int_equal(pool_group_live(server_named(&scene, "c")->group), 1);
	d = server_named(&scene, "d");
	assert_int_equal(pool_group_live(server_named(&scene, "b")->group) + pool_group_live(d->group), 0);
	/* As of a server that nobody knows yet, while b is known from the cache. */
	refresh_hurry(d, false);
	for (unsigned read = 0; read < 5; read++)
		gate_pass(gate);
	/* And before anybody asks for b as well. */
	AWAIT(named.done && c.done && d->snapshot);
	call_end(&c);
	all_ready(&scene);
	assert_true(str_find(buf_str(&scene.events), STR("server.start d")) <
		    str_find(buf_str(&scene.events), STR("server.start b")));
	assert_int_equal(snapshot_count(&scene), 5);
	hub_scene_close(&scene);
	close(gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HUB(no_server_s_trouble_hides_another),
		IN_HUB(pages_are_put_together),
		IN_HUB(a_list_over_its_limits_is_refused),
		IN_HUB(a_list_that_never_comes_is_given_up),
		IN_HUB(a_change_is_read_and_told),
		IN_HUB(a_list_that_changes_while_it_is_read_is_read_again),
		IN_HUB(one_who_cries_wolf_is_read_now_and_then),
		IN_HUB(a_change_told_by_one_that_is_gone_is_read_from_another),
		IN_HUB(the_same_list_again_is_no_news),
		IN_HUB(a_failed_refresh_keeps_what_was_known),
		IN_HUB(log_messages_are_events),
		IN_HUB(who_waits_gets_what_there_is_at_the_deadline),
		IN_HUB(one_that_hangs_holds_nobody_up_twice),
		IN_HUB(a_fresh_list_is_read_anew_also_while_one_is_read),
		IN_HUB(who_waits_follows_a_reload),
		IN_HUB(stopping_ends_waiting),
		IN_HUB(a_warm_hub_reads_and_retries_by_itself),
		IN_HUB(a_list_that_fails_is_asked_for_less_and_less),
		IN_HUB(a_warm_hub_reads_what_a_reload_brings),
		IN_HUB(lists_are_read_a_few_at_a_time_whoever_asks),
		IN_HUB(who_is_asked_for_comes_first),
		IN_HUB(a_server_that_was_never_seen_knows_each_name_too),
		IN_HUB(a_list_that_does_not_come_holds_up_no_second_call),
		IN_HUB(who_waits_for_the_first_list_may_go_away),
	};

	return RUN_IN_HUB(tests);
}

#include "base/base.h"
#include "hub/eras.h"
#include "hub/refresh.h"
#include "hub/save.h"
#include "hub/scene_fixture.h"
#include "io/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static struct hub_scene scene;

static void open_hub(const char *config)
{
	hub_scene_init(&scene);
	hub_scene_open(&scene, config);
}

static const char *cache_dir(void)
{
	const char *path = in_scratch("cache");

	assert_int_equal(directory_make_private(path, NULL), 0);
	return path;
}

/* With what it learns kept on disk. */
static void open_keeping(const char *config)
{
	hub_scene_init(&scene);
	scene.limits.cache_dir = cache_dir();
	scene.limits.keep_eras = true;
	hub_scene_open(&scene, config);
}

/* As if written so many hours ago. */
static void grow_old(const char *name, unsigned hours)
{
	const time_t then = (time_t)(loop_wall_ms() / 1000) - (time_t)hours * 3600;
	const struct timespec times[] = { { .tv_sec = then }, { .tv_sec = then } };

	assert_int_equal(utimensat(AT_FDCWD, in_scratch(name), times, 0), 0);
}

/* -- waiting for lists --------------------------------------------------------------------------------------------------- */

struct waiter {
	struct hub_ready ready;
	unsigned done;
};

static void waiter_done(struct hub_ready *ready)
{
	((struct waiter *)ready->owner)->done++;
}

static void wait_for(struct waiter *waiter, const char *only, bool fresh, uint64_t deadline_ms)
{
	const struct hub_wait wait = { only ? str_of(only) : STR(""), fresh, deadline_ms };

	waiter->done = 0;
	hub_ready_start(&waiter->ready, scene.hub, &wait, waiter_done, waiter);
	/* Never from within the start. */
	assert_int_equal(waiter->done, 0);
}

static void all_ready(void)
{
	struct waiter waiter;

	wait_for(&waiter, NULL, false, PLENTY_MS);
	AWAIT(waiter.done);
	assert_int_equal(waiter.done, 1);
}

static size_t snapshot_count(void)
{
	_cleanup_arena_ struct arena arena = { 0 };
	size_t count;

	arena_init(&arena, 0);
	(void)hub_snapshots(scene.hub, &arena, &count);
	return count;
}

static bool lists(const char *server, const char *tool)
{
	const struct catalogue_snapshot *snapshot = server_named(&scene, server)->snapshot;

	return snapshot && catalogue_find(snapshot, str_of(tool));
}

/* -- lists --------------------------------------------------------------------------------------------------------------- */

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
	open_hub(three_servers);
	all_ready();
	assert_int_equal(snapshot_count(), 3);
	assert_true(lists("good", "echo"));
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
	open_hub(one_server("\"--tools\",\"9\",\"--page\",\"4\"", ""));
	all_ready();
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
	all_ready();
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
	AWAIT((all_ready(), events_of(&scene, "30 ms (daemon.refreshTimeout)")));
	assert_has(describe_server(&scene, "files"),
		   "\"lastError\":\"tools/list: no answer within 30 ms (daemon.refreshTimeout)\"");
	hub_scene_close(&scene);
}

static void a_change_is_read_and_told(void **state)
{
	struct caller c;
	unsigned changes;
	uint64_t generation;

	(void)state;
	open_hub(one_server("", ""));
	all_ready();
	assert_int_equal(scene.changes, 1);
	changes = scene.changes;
	generation = scene.hub->generation;
	assert_false(lists("files", "new0"));
	(void)call_now(&c, &scene, "files", "change", "{}");
	AWAIT(scene.changes > changes);
	assert_true(lists("files", "new0"));
	assert_true(scene.hub->generation > generation);
	hub_scene_close(&scene);
}

static void a_list_that_changes_while_it_is_read_is_read_again(void **state)
{
	(void)state;
	open_hub(one_server("\"--changes\",\"3\"", ""));
	all_ready();
	AWAIT(lists("files", "new2"));
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
	all_ready();
	/* The first notice was followed at once, the one that came with that list waits. */
	AWAIT(lists("files", "new1"));
	AWAIT(timer_running(&server_named(&scene, "files")->change));
	before = scene.changes;
	let_pass(SHORT_MS);
	assert_int_equal(scene.changes, before);
	/* Who asks is served. */
	wait_for(&waiter, "files", true, PLENTY_MS);
	AWAIT(waiter.done);
	assert_true(lists("files", "new2"));
	/* Its time has come: from the one that told of it, if that still runs. */
	timer_start(&server_named(&scene, "files")->change, stage_loop, 0,
		    server_named(&scene, "files")->change.done);
	AWAIT(lists("files", "new3"));
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
	all_ready();
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
	open_hub(one_server("", ""));
	all_ready();
	wait_for(&waiter, "files", true, PLENTY_MS);
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
	open_hub(one_server("\"--fail-while\",\"~/broken\"", ""));
	all_ready();
	before = server_named(&scene, "files")->snapshot;
	scratch_write(&hub_scratch, "broken", "");
	call(&c, &scene, "files", "kill", "{}");
	expect_error(&c, ERR_CLOSED, MCP_OUTCOME_UNKNOWN, "");
	wait_for(&waiter, NULL, true, PLENTY_MS);
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
	open_hub(one_server("", ""));
	(void)call_now(&c, &scene, "files", "log", "{}");
	AWAIT(events_of(&scene, "server.log files"));
	assert_has(buf_cstr(&scene.events), "{\"level\":\"info\",\"data\":\"hi\"}");
	hub_scene_close(&scene);
}

/* -- readiness ----------------------------------------------------------------------------------------------------------- */

static void who_waits_gets_what_there_is_at_the_deadline(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, only, fast, gone;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene,
		       "{\"mcpServers\":{\"slow\":{\"command\":\"@\",\"args\":[\"--gate\",\"~/gate\"]},"
		       "\"fast\":{\"command\":\"@\"}}}");
	wait_for(&all, NULL, false, PLENTY_MS);
	wait_for(&only, "slow", false, SHORT_MS);
	wait_for(&fast, "fast", false, PLENTY_MS);
	wait_for(&gone, NULL, false, PLENTY_MS);
	hub_ready_cancel(&gone.ready);
	hub_ready_cancel(&gone.ready);
	AWAIT(fast.done);
	AWAIT(only.done);
	assert_int_equal(snapshot_count(), 1);
	assert_int_equal(all.done, 0);
	gate_pass(gate);
	AWAIT(all.done);
	assert_int_equal(snapshot_count(), 2);
	assert_int_equal(gone.done, 0);
	hub_ready_cancel(&all.ready);
	gone.ready = (struct hub_ready){ 0 };
	hub_ready_cancel(&gone.ready);
	hub_scene_close(&scene);
	close(gate);
}

/* Whoever waits for all is held up once; whoever names it waits again, and nobody waits for what failed before. */
static void one_that_hangs_holds_nobody_up_twice(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, again, named;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene,
		       "{\"mcpServers\":{\"slow\":{\"command\":\"@\",\"args\":[\"--gate\",\"~/gate\"]},"
		       "\"fast\":{\"command\":\"@\"}}}");
	wait_for(&all, NULL, false, SHORT_MS);
	AWAIT(all.done);
	AWAIT(server_named(&scene, "fast")->snapshot);
	wait_for(&again, NULL, false, SHORT_MS);
	assert_non_null(again.ready.later.call);
	AWAIT(again.done);
	wait_for(&again, NULL, false, PLENTY_MS);
	wait_for(&named, "slow", false, SHORT_MS);
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
	wait_for(&plain, NULL, false, PLENTY_MS);
	wait_for(&fresh, NULL, true, PLENTY_MS);
	gate_pass(gate);
	AWAIT(fresh.done);
	assert_int_equal(plain.done, 1);
	assert_true(lists("files", "new0"));
	assert_null(server_named(&scene, "files")->refresh);
	hub_scene_close(&scene);
	close(gate);
}

static void who_waits_follows_a_reload(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, removed;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene, one_server("\"--gate\",\"~/gate\"", ""));
	wait_for(&all, NULL, false, PLENTY_MS);
	wait_for(&removed, "files", false, PLENTY_MS);
	hub_scene_reload(&scene, "{\"mcpServers\":{\"other\":{\"command\":\"@\"}}}");
	assert_int_equal(scene.added, 1);
	assert_int_equal(scene.removed, 1);
	AWAIT(removed.done);
	AWAIT(all.done);
	/* It was asked because somebody waits for all. */
	assert_true(lists("other", "echo"));
	hub_scene_close(&scene);
	close(gate);
}

static void stopping_ends_waiting(void **state)
{
	int gate = gate_make("gate");
	struct waiter all, late;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene, one_server("\"--gate\",\"~/gate\"", ""));
	wait_for(&all, NULL, false, PLENTY_MS);
	hub_scene_stop(&scene);
	AWAIT(all.done);
	wait_for(&late, NULL, true, PLENTY_MS);
	AWAIT(late.done);
	/* A reload is taken, and starts nothing. */
	hub_scene_reload(&scene, "{\"mcpServers\":{\"other\":{\"command\":\"@\"}}}");
	assert_int_equal(scene.added, 1);
	let_pass(2);
	assert_int_equal(events_of(&scene, "server.start"), 0);
	hub_scene_close(&scene);
	close(gate);
}

/* -- reloading ----------------------------------------------------------------------------------------------------------- */

static void an_unchanged_server_keeps_its_process(void **state)
{
	const char *pid;
	struct caller c;

	(void)state;
	open_hub(
		"{\"mcpServers\":{\"stays\":{\"command\":\"@\",\"mcpx\":{\"description\":\"old\"}},\"goes\":{\"command\":\"@\",\"args\":[\"--odd\"]}}}");
	pid = call_now(&c, &scene, "stays", "pid", "{}");
	(void)call_now(&c, &scene, "goes", "pid", "{}");
	hub_scene_reload(
		&scene,
		"{\"mcpServers\":{\"comes\":{\"command\":\"@\",\"args\":[\"--noise\"]},"
		"\"stays\":{\"command\":\"@\",\"mcpx\":{\"description\":\"new\",\"callTimeout\":\"7s\"}}}}");
	assert_int_equal(scene.added, 1);
	assert_int_equal(scene.removed, 1);
	assert_string_equal(call_now(&c, &scene, "stays", "pid", "{}"), pid);
	assert_has(
		describe_server(&scene, "stays"),
		"\"name\":\"stays\",\"namespace\":\"stays\",\"description\":\"new\",\"sharing\":\"shared\","
		"\"scope\":\"global\",\"max\":1,\"live\":1,");
	assert_int_equal(hub_server_limits(server_named(&scene, "stays"))->call_ms, 7000);
	AWAIT(events_of(&scene, "server.stop") == 0 && snapshot_count() == 1);
	/* In the new order. */
	assert_ptr_equal(list_first(&scene.hub->servers, struct hub_server, node),
			 server_named(&scene, "comes"));
	hub_scene_close(&scene);
}

static void a_change_of_limits_keeps_the_process_and_its_list(void **state)
{
	struct catalogue_snapshot *before;
	struct caller c;
	const char *pid;

	(void)state;
	open_keeping(one_server("", "\"idleTimeout\":\"1h\""));
	all_ready();
	before = server_named(&scene, "files")->all;
	pid = call_now(&c, &scene, "files", "pid", "{}");
	hub_scene_reload(&scene, one_server("", "\"idleTimeout\":\"2h\",\"startTimeout\":\"9s\""));
	assert_string_equal(call_now(&c, &scene, "files", "pid", "{}"), pid);
	assert_ptr_equal(server_named(&scene, "files")->all, before);
	hub_scene_close(&scene);
	/* ... on disk, too. */
	open_keeping(one_server("", "\"idleTimeout\":\"3h\""));
	assert_true(lists("files", "echo"));
	hub_scene_close(&scene);
}

static void catalogues_that_no_server_has_go_with_age_and_number(void **state)
{
	static const char *const others[] = { "schemas-0000000000000001.json",
					      "schemas-0000000000000002.json",
					      "schemas-0000000000000003.json" };
	const char *used;
	struct caller c;

	(void)state;
	open_keeping(one_server("", ""));
	call_now(&c, &scene, "files", "pid", "{}");
	know_tools(&scene, "files");
	used = arena_printf(&hub_scratch.arena, "cache/schemas-%.*s.json",
			    STR_ARG(server_named(&scene, "files")->process_id))
		       .p;
	hub_scene_close(&scene);
	assert_true(in_scratch_is(used));
	/* All written an hour ago and more, the first longest. */
	grow_old(used, 99);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const char *name = arena_printf(&hub_scratch.arena, "cache/%s", others[i]).p;

		scratch_write(&hub_scratch, name, "{}");
		grow_old(name, (unsigned)(ARRAY_LEN(others) - i));
	}
	scratch_write(&hub_scratch, "cache/" ERAS_FILE,
		      "{\"0000000000000001\":\"legacy\",\"0000000000000003\":\"modern\"}");
	scratch_write(&hub_scratch, "cache/notes.json", "{}");
	/* By their number first, then by their age. */
	hub_scene_init(&scene);
	scene.limits.cache_dir = cache_dir();
	scene.limits.keep_eras = true;
	scene.limits.keep_ms = (uint64_t)90 * 60 * 1000;
	scene.limits.keep_files = 2;
	hub_scene_open(&scene, one_server("", ""));
	AWAIT(!scene.hub->prune);
	assert_false(in_scratch_is("cache/schemas-0000000000000001.json"));
	assert_false(in_scratch_is("cache/schemas-0000000000000002.json"));
	assert_true(in_scratch_is("cache/schemas-0000000000000003.json"));
	assert_true(in_scratch_is("cache/notes.json"));
	/* What a server has stays, however old. Eras go with their catalogues. */
	assert_true(in_scratch_is(used));
	assert_int_equal(eras_get(scene.hub->eras, STR("0000000000000001")), -1);
	assert_int_equal(eras_get(scene.hub->eras, STR("0000000000000003")), MCP_MODERN);
	/* Once no server has it, it is like the others. */
	hub_scene_reload(&scene, "{}");
	AWAIT(!scene.hub->prune);
	assert_false(in_scratch_is(used));
	hub_scene_close(&scene);
}

/* Two servers with one process, and members of their mcpx blocks. */
static const char *two_servers(const char *a, const char *b)
{
	return arena_printf(
		       &hub_scratch.arena,
		       "{\"mcpServers\":{\"a\":{\"command\":\"@\",\"mcpx\":{%s}},\"b\":{\"command\":\"@\",\"mcpx\":{%s}}}}",
		       a, b)
		.p;
}

static void servers_that_share_a_process_change_together_or_part(void **state)
{
	struct caller c;
	const char *pid;

	(void)state;
	open_hub(two_servers("", ""));
	pid = call_now(&c, &scene, "a", "pid", "{}");
	assert_string_equal(call_now(&c, &scene, "b", "pid", "{}"), pid);
	/* The same for both: nothing ends. */
	hub_scene_reload(&scene, two_servers("\"idleTimeout\":\"2h\"", "\"idleTimeout\":\"2h\""));
	assert_string_equal(call_now(&c, &scene, "a", "pid", "{}"), pid);
	assert_string_equal(call_now(&c, &scene, "b", "pid", "{}"), pid);
	/* For one of them: it gets a process of its own. */
	hub_scene_reload(&scene, two_servers("\"idleTimeout\":\"3h\"", "\"idleTimeout\":\"2h\""));
	assert_string_not_equal(call_now(&c, &scene, "a", "pid", "{}"), pid);
	assert_string_equal(call_now(&c, &scene, "b", "pid", "{}"), pid);
	/* One of them breaks, and the other changes. */
	hub_scene_reload(&scene, two_servers("\"idleTimeout\":\"2h\"", "\"idleTimeout\":\"2h\""));
	assert_string_equal(call_now(&c, &scene, "a", "pid", "{}"), pid);
	hub_scene_reload(&scene, two_servers("\"idleTimeout\":\"4h\"", "\"mode\":1"));
	assert_non_null(call_now(&c, &scene, "a", "pid", "{}"));
	call(&c, &scene, "b", "pid", "{}");
	expect_error(&c, ERR_INVALID, MCP_NOT_SENT, "unknown key \"mode\"");
	hub_scene_close(&scene);
}

static void hot_settings_reach_what_runs(void **state)
{
	struct hub_limits limits;
	struct setting_change change;
	struct caller c, held, waits;
	const char *pid;

	(void)state;
	open_hub(two_servers("\"scope\":\"session\",\"sharing\":\"exclusive\",\"max\":1", ""));
	pid = call_now(&c, &scene, "b", "pid", "{}");
	call(&held, &scene, "a", "silent", "{}");
	AWAIT(held.call.state == HUB_CALL_SEND);
	limits = scene.limits;
	limits.pool.waiting_max = 1;
	limits.acquire_ms = SHORT_MS;
	assert_int_equal(settings_set_runtime(scene.set, SETTING_POOL_MAX, STR("1"), &change, NULL), 0);
	assert_int_equal(
		settings_set_runtime(scene.set, SETTING_POOL_START_TIMEOUT, STR("1ms"), &change, NULL), 0);
	assert_int_equal(
		settings_set_runtime(scene.set, SETTING_POOL_CALL_TIMEOUT, STR("20ms"), &change, NULL), 0);
	hub_adjust(scene.hub, &limits);
	/* No process was lost, nor what is known of it. */
	assert_string_equal(call_now(&c, &scene, "b", "pid", "{}"), pid);
	assert_int_equal(server_named(&scene, "b")->limits.max, 1);
	/* What begins now has other patience: with a place, with room to wait, and with an answer. */
	call(&waits, &scene, "a", "echo", "{}");
	call(&c, &scene, "a", "echo", "{}");
	expect_error(&c, ERR_BUSY, MCP_NOT_SENT, "1 calls are waiting for an instance already");
	expect_error(&waits, ERR_TIMEOUT, MCP_NOT_SENT, "server a:");
	call(&c, &scene, "b", "silent", "{}");
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN, "pool.callTimeout");
	hub_call_cancel(&held.call, STR("enough"));
	call_end(&held);
	hub_scene_close(&scene);
}

static void a_removed_server_s_process_ends(void **state)
{
	struct caller c;
	uint64_t pid;

	(void)state;
	open_hub(one_server("", ""));
	assert_int_equal(str_to_u64(str_of(call_now(&c, &scene, "files", "pid", "{}")), &pid), 0);
	hub_scene_reload(&scene, "{}");
	/* Whoever asked for it is no server any more: the process says when it is over. */
	AWAIT(kill((pid_t)pid, 0) < 0);
	hub_scene_close(&scene);
}

static void a_changed_server_gets_another_process_and_forgets_its_list(void **state)
{
	struct caller c;
	const char *pid;

	(void)state;
	open_hub(one_server("", ""));
	all_ready();
	pid = call_now(&c, &scene, "files", "pid", "{}");
	hub_scene_reload(&scene, one_server("\"--tools\",\"1\"", ""));
	assert_int_equal(scene.added + scene.removed, 0);
	assert_null(server_named(&scene, "files")->snapshot);
	all_ready();
	assert_true(lists("files", "tool0"));
	assert_string_not_equal(call_now(&c, &scene, "files", "pid", "{}"), pid);
	hub_scene_close(&scene);
}

static void a_broken_entry_lists_nothing_until_it_is_mended(void **state)
{
	(void)state;
	open_hub(one_server("", ""));
	all_ready();
	hub_scene_reload(&scene, one_server("", "\"mode\":1"));
	assert_int_equal(snapshot_count(), 0);
	assert_null(server_named(&scene, "files")->group);
	all_ready();
	hub_scene_reload(&scene, one_server("", ""));
	all_ready();
	assert_true(lists("files", "echo"));
	hub_scene_close(&scene);
}

static void a_reload_during_a_refresh_is_survived(void **state)
{
	struct waiter waiter;

	(void)state;
	open_hub(one_server("\"--list-silent\"", ""));
	wait_for(&waiter, NULL, false, PLENTY_MS);
	AWAIT(events_of(&scene, "server.start files"));
	hub_scene_reload(&scene, one_server("\"--list-silent\"", "\"description\":\"same process\""));
	assert_non_null(server_named(&scene, "files")->refresh);
	let_pass(2);
	assert_int_equal(waiter.done, 0);
	/* Another process: what was asked of the old one is of no use. */
	hub_scene_reload(&scene, one_server("", ""));
	AWAIT(waiter.done);
	assert_true(lists("files", "echo"));
	hub_scene_close(&scene);
}

static void two_names_of_one_definition_share_a_process(void **state)
{
	struct caller c;

	(void)state;
	open_hub(
		"{\"mcpServers\":{\"one\":{\"command\":\"@\",\"args\":[\"--starts\",\"~/starts\"],\"env\":{\"A\":\"1\",\"B\":\"2\"}},"
		"\"two\":{\"command\":\"@\",\"args\":[\"--starts\",\"~/starts\"],\"env\":{\"B\":\"2\",\"A\":\"1\"}},"
		"\"alias\":{\"aliasOf\":\"one\",\"mcpx\":{\"tools\":[\"echo\"]}},"
		"\"else\":{\"command\":\"@\",\"args\":[\"--starts\",\"~/starts\"],\"env\":{\"A\":\"2\",\"B\":\"1\"}}}}");
	assert_string_equal(call_now(&c, &scene, "one", "pid", "{}"),
			    call_now(&c, &scene, "two", "pid", "{}"));
	assert_has(call_now(&c, &scene, "alias", "echo", "{}"), "echo");
	assert_int_equal(count_lines("starts"), 1);
	assert_string_not_equal(call_now(&c, &scene, "one", "pid", "{}"),
				call_now(&c, &scene, "else", "pid", "{}"));
	all_ready();
	/* Each filters for itself. */
	assert_int_equal(server_named(&scene, "alias")->snapshot->count, 1);
	assert_true(server_named(&scene, "one")->snapshot->count > 1);
	hub_scene_close(&scene);
}

/* -- filters ------------------------------------------------------------------------------------------------------------- */

static void hidden_tools_are_in_no_list(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const struct catalogue_snapshot *const *all;
	struct catalogue_hit hits[4];
	size_t count;

	(void)state;
	arena_init(&arena, 0);
	open_hub(
		"{\"pool\":{\"excludeTools\":[\"k*\"]},\"mcpServers\":{\"files\":{\"command\":\"@\",\"mcpx\":{"
		"\"tools\":[\"e*\",\"kill\"],\"extraIncludeTools\":[\"pid\"],\"excludeTools\":[\"error\"]}}}}");
	all_ready();
	assert_int_equal(server_named(&scene, "files")->snapshot->count, 3);
	assert_true(lists("files", "echo") && lists("files", "env") && lists("files", "pid"));
	assert_false(lists("files", "kill") || lists("files", "error") || lists("files", "hold"));
	assert_has(describe_server(&scene, "files"), "\"tools\":3,\"hiddenTools\":");
	all = hub_snapshots(scene.hub, &arena, &count);
	assert_int_equal(catalogue_search(all, count, STR("kill"), hits, ARRAY_LEN(hits)), 0);
	hub_scene_close(&scene);
}

static void a_change_of_filters_needs_no_process(void **state)
{
	struct caller c;
	const char *pid;

	(void)state;
	open_hub(one_server("\"--starts\",\"~/starts\"", "\"excludeTools\":[\"echo\"]"));
	all_ready();
	pid = call_now(&c, &scene, "files", "pid", "{}");
	assert_false(lists("files", "echo"));
	hub_scene_reload(&scene, one_server("\"--starts\",\"~/starts\"", "\"excludeTools\":[\"die\"]"));
	assert_true(lists("files", "echo"));
	assert_false(lists("files", "die"));
	assert_string_equal(call_now(&c, &scene, "files", "pid", "{}"), pid);
	hub_scene_reload(&scene, one_server("\"--starts\",\"~/starts\"", ""));
	assert_true(lists("files", "die"));
	assert_lacks(describe_server(&scene, "files"), "hiddenTools");
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
}

/* -- names at the door --------------------------------------------------------------------------------------------------- */

static const struct setting_items nobody = { NULL, 0 };

static void assert_resolves(const char *name, const struct setting_items *passthrough, const char *server,
			    const char *tool)
{
	struct hub_server *found;
	struct str found_tool;
	struct err err;

	if (hub_resolve_tool(scene.hub, str_of(name), passthrough, &hub_scratch.arena, &found, &found_tool,
			     &err) < 0)
		fail_msg("%s", err.message);
	assert_str(found->namespace, server);
	assert_str(found_tool, tool);
}

static void assert_unknown(const char *name, const struct setting_items *passthrough)
{
	struct hub_server *found;
	struct str tool;
	char expected[200];
	struct err err;

	assert_int_equal(hub_resolve_tool(scene.hub, str_of(name), passthrough, &hub_scratch.arena, &found,
					  &tool, &err),
			 ERR_NOT_FOUND);
	snprintf(expected, sizeof(expected), "no tool is called \"%s\"", name);
	assert_string_equal(err.message, expected);
}

static void names_are_resolved_before_and_after_lists_are_known(void **state)
{
	(void)state;
	open_hub(
		"{\"mcpServers\":{\"a\":{\"command\":\"@\"},\"a_b\":{\"command\":\"@\",\"args\":[\"--tools\",\"1\"],\"mcpx\":{\"excludeTools\":[\"die\"]}}}}");
	for (int round = 0; round < 2; round++) {
		assert_resolves("a__echo", &nobody, "a", "echo");
		assert_resolves("a_b__echo", &nobody, "a_b", "echo");
		assert_resolves("a__not-known-yet", &nobody, "a", "not-known-yet");
		assert_unknown("echo", &nobody);
		assert_unknown("a__", &nobody);
		assert_unknown("c__echo", &nobody);
		assert_unknown("a_b__die", &nobody);
		all_ready();
	}
	assert_resolves("a_b__tool0", &nobody, "a_b", "tool0");
	hub_scene_close(&scene);
}

static void namespaces_that_begin_alike_are_kept_apart(void **state)
{
	(void)state;
	open_hub(
		"{\"mcpServers\":{\"a\":{\"command\":\"@\"},\"a--b\":{\"command\":\"@\",\"args\":[\"--odd\"]},\"a_\":{\"command\":\"@\",\"args\":[\"--noise\"]}}}");
	/* Of two that could be meant, the longer. */
	assert_resolves("a__b__echo", &nobody, "a__b", "echo");
	all_ready();
	assert_resolves("a__b__echo", &nobody, "a__b", "echo");
	assert_resolves("a__b__other", &nobody, "a__b", "other");
	assert_resolves("a__echo", &nobody, "a", "echo");
	assert_resolves("a___echo", &nobody, "a_", "echo");
	/* What the longer ones list cannot be mistaken. */
	assert_resolves(
		arena_cstr(&hub_scratch.arena, server_named(&scene, "a__b")->snapshot->tools[0].listed_name),
		&nobody, "a__b", "refs");
	assert_false(str_eq(server_named(&scene, "a__b")->snapshot->tools[0].listed_name, STR("a__b__refs")));
	hub_scene_close(&scene);
}

static void passed_through_servers_have_bare_names(void **state)
{
	const struct str names[] = { STR("my-files"), STR("git") };
	const struct setting_items both = { names, 2 }, one = { names + 1, 1 };

	(void)state;
	open_hub(
		"{\"mcpServers\":{\"my-files\":{\"command\":\"@\",\"args\":[\"--tools\",\"1\"]},\"git\":{\"command\":\"@\"}}}");
	assert_unknown("echo", &both);
	all_ready();
	assert_resolves("tool0", &both, "my_files", "tool0");
	/* Both have it: the longer namespace wins, as ever. */
	assert_resolves("echo", &both, "my_files", "echo");
	assert_resolves("echo", &one, "git", "echo");
	assert_resolves("git__echo", &both, "git", "echo");
	assert_unknown("tool0", &one);
	hub_scene_close(&scene);
}

/* -- what is kept on disk ------------------------------------------------------------------------------------------------ */

static const char *cached_schemas(void)
{
	DIR *directory = opendir(in_scratch("cache"));
	struct dirent *entry;
	const char *found = NULL;
	unsigned others = 0;

	while ((entry = readdir(directory)))
		if (str_starts_with(str_of(entry->d_name), STR("schemas-")))
			found = arena_printf(&hub_scratch.arena, "cache/%s", entry->d_name).p;
		else
			others += entry->d_name[0] != '.' &&
				  !str_eq(str_of(entry->d_name), STR("upstream-eras.json"));
	closedir(directory);
	assert_int_equal(others, 0);
	return found;
}

static void what_was_read_answers_before_any_server_starts(void **state)
{
	const char *config = one_server("\"--starts\",\"~/starts\",\"--tools\",\"2\"", "");

	(void)state;
	open_keeping(config);
	all_ready();
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
	assert_non_null(cached_schemas());
	/* Another life, from another terminal. */
	stage_environment[4] = "WINDOWID=17";
	open_keeping(config);
	assert_true(lists("files", "tool1"));
	all_ready();
	assert_int_equal(count_lines("starts"), 1);
	assert_has(describe_server(&scene, "files"), "\"schemaAgeSec\":");
	hub_scene_close(&scene);
}

static void a_damaged_cache_is_as_good_as_none(void **state)
{
	static const char *const damaged[] = {
		"", "{\"format\":1,\"fetchedAt\":1,\"instructions\":\"\",\"tools\":[{\"na", "[1,2,3]"
	};
	const char *config = one_server("\"--starts\",\"~/starts\"", "");
	const char *file;

	(void)state;
	open_keeping(config);
	all_ready();
	hub_scene_close(&scene);
	file = cached_schemas();
	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		scratch_write(&hub_scratch, file, damaged[i]);
		open_keeping(config);
		assert_null(server_named(&scene, "files")->snapshot);
		all_ready();
		assert_true(lists("files", "echo"));
		assert_int_equal(count_lines("starts"), i + 2);
		hub_scene_close(&scene);
	}
	/* A clock that was wrong then. */
	scratch_write(
		&hub_scratch, file,
		"{\"format\":1,\"fetchedAt\":99999999999999,\"instructions\":\"\",\"tools\":[{\"name\":\"x\"}]}");
	open_keeping(config);
	assert_has(describe_server(&scene, "files"), "\"schemaAgeSec\":0");
	hub_scene_close(&scene);
}

static void the_newest_list_is_the_one_on_disk(void **state)
{
	struct caller c;

	(void)state;
	open_keeping(one_server("", ""));
	all_ready();
	for (int i = 0; i < 5; i++)
		(void)call_now(&c, &scene, "files", "change", "{}");
	AWAIT(lists("files", "new4"));
	/* Files still being written are waited for. */
	hub_scene_close(&scene);
	open_keeping(one_server("", ""));
	assert_true(lists("files", "new4"));
	hub_scene_close(&scene);
}

static void a_cache_that_cannot_be_written_costs_nothing_else(void **state)
{
	(void)state;
	hub_scene_init(&scene);
	scene.limits.cache_dir = in_scratch("not-there");
	scene.limits.keep_eras = true;
	hub_scene_open(&scene, one_server("", ""));
	all_ready();
	assert_true(lists("files", "echo"));
	AWAIT(events_of(&scene, "cache.write ") >= 2);
	assert_has(buf_cstr(&scene.events), "not-there");
	hub_scene_close(&scene);
}

static void the_era_of_a_server_is_remembered(void **state)
{
	const char *config = one_server(
		"\"--only-initialize\",\"--fail-while\",\"~/broken\",\"--starts\",\"~/starts\"", "");
	struct caller c;

	(void)state;
	open_keeping(config);
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(count_lines("starts"), 2);
	hub_scene_close(&scene);
	open_keeping(config);
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(count_lines("starts"), 3);
	hub_scene_close(&scene);
	/* A start that fails casts doubt on it. */
	scratch_write(&hub_scratch, "broken", "");
	open_keeping(config);
	call(&c, &scene, "files", "echo", "{}");
	expect_error(&c, ERR_CLOSED, MCP_NOT_SENT, "there is no key");
	hub_scene_close(&scene);
	remove_in_scratch("broken");
	assert_int_equal(count_lines("starts"), 4);
	open_keeping(config);
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(count_lines("starts"), 6);
	hub_scene_close(&scene);
}

/* -- warmth -------------------------------------------------------------------------------------------------------------- */

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
	AWAIT(lists("good", "echo"));
	AWAIT(count_lines("starts") >= 3);
	/* A start that fails is told once. */
	AWAIT(events_of(&scene, "server.stop late") >= 2);
	assert_int_equal(events_of(&scene, "server.list late"), 0);
	remove_in_scratch("broken");
	AWAIT(lists("late", "echo"));
	/* Enough is enough. */
	let_pass(SHORT_MS);
	assert_int_equal(events_of(&scene, "server.start good"), 1);
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

static void a_warm_hub_looks_behind_its_cache(void **state)
{
	const char *config = one_server("\"--starts\",\"~/starts\"", "");

	(void)state;
	open_keeping(config);
	all_ready();
	hub_scene_close(&scene);
	scratch_write(&hub_scratch, cached_schemas(),
		      "{\"format\":1,\"fetchedAt\":1,\"instructions\":\"\",\"tools\":[{\"name\":\"old\"}]}");
	hub_scene_init(&scene);
	scene.limits.warm = true;
	scene.limits.cache_dir = cache_dir();
	hub_scene_open(&scene, config);
	/* Known at once, and then known better. */
	assert_true(lists("files", "old"));
	AWAIT(lists("files", "echo"));
	assert_false(lists("files", "old"));
	assert_int_equal(scene.changes, 1);
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
	AWAIT(lists("files", "echo"));
	hub_scene_close(&scene);
}

/* -- settings that are hot ----------------------------------------------------------------------------------------------- */

static void hot_settings_take_effect_without_a_reload(void **state)
{
	struct setting_change change;
	struct caller c;

	(void)state;
	open_hub(one_server("", ""));
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(
		settings_set_runtime(scene.set, SETTING_POOL_CALL_TIMEOUT, STR("30ms"), &change, NULL), 0);
	assert_true(change.applied);
	call(&c, &scene, "files", "silent", "{}");
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN, "within 30 ms (pool.callTimeout)");
	/* Others want to be looked at. */
	assert_int_equal(
		settings_set_runtime(scene.set, SETTING_POOL_IDLE_TIMEOUT, STR("1ms"), &change, NULL), 0);
	scene.limits.pool.reap_ms = 1;
	hub_adjust(scene.hub, &scene.limits);
	(void)call_now(&c, &scene, "files", "echo", "{}");
	AWAIT(events_of(&scene, "it was idle"));
	hub_scene_close(&scene);
}

static struct str text_of(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	return str_of(copy);
}

static void stopping_waits_for_what_is_under_way(void **state)
{
	struct waiter waiter;
	struct str text;

	(void)state;
	open_keeping(one_server("\"--stubborn\"", ""));
	scene.limits.pool.close_ms = scene.limits.pool.term_ms = 1;
	hub_adjust(scene.hub, &scene.limits);
	all_ready();
	wait_for(&waiter, NULL, true, PLENTY_MS);
	assert_non_null(server_named(&scene, "files")->refresh);
	/* Of what is to be written while a file is being written, only the newest is. */
	save_file(scene.hub, STR("some.json"), text_of("first"));
	save_file(scene.hub, STR("some.json"), text_of("second"));
	save_file(scene.hub, STR("some.json"), text_of("third"));
	hub_scene_stop(&scene);
	assert_null(server_named(&scene, "files")->refresh);
	AWAIT(waiter.done);
	hub_scene_close(&scene);
	assert_int_equal(file_read(in_scratch("cache/some.json"), 100, &text, NULL), 0);
	assert_str(text, "third");
	free((char *)text.p);
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
		IN_HUB(an_unchanged_server_keeps_its_process),
		IN_HUB(a_change_of_limits_keeps_the_process_and_its_list),
		IN_HUB(catalogues_that_no_server_has_go_with_age_and_number),
		IN_HUB(servers_that_share_a_process_change_together_or_part),
		IN_HUB(hot_settings_reach_what_runs),
		IN_HUB(a_removed_server_s_process_ends),
		IN_HUB(a_changed_server_gets_another_process_and_forgets_its_list),
		IN_HUB(a_broken_entry_lists_nothing_until_it_is_mended),
		IN_HUB(a_reload_during_a_refresh_is_survived),
		IN_HUB(two_names_of_one_definition_share_a_process),
		IN_HUB(hidden_tools_are_in_no_list),
		IN_HUB(a_change_of_filters_needs_no_process),
		IN_HUB(names_are_resolved_before_and_after_lists_are_known),
		IN_HUB(namespaces_that_begin_alike_are_kept_apart),
		IN_HUB(passed_through_servers_have_bare_names),
		IN_HUB(what_was_read_answers_before_any_server_starts),
		IN_HUB(a_damaged_cache_is_as_good_as_none),
		IN_HUB(the_newest_list_is_the_one_on_disk),
		IN_HUB(a_cache_that_cannot_be_written_costs_nothing_else),
		IN_HUB(the_era_of_a_server_is_remembered),
		IN_HUB(a_warm_hub_reads_and_retries_by_itself),
		IN_HUB(a_list_that_fails_is_asked_for_less_and_less),
		IN_HUB(a_warm_hub_looks_behind_its_cache),
		IN_HUB(a_warm_hub_reads_what_a_reload_brings),
		IN_HUB(hot_settings_take_effect_without_a_reload),
		IN_HUB(stopping_waits_for_what_is_under_way),
	};

	return RUN_IN_HUB(tests);
}

#include "base/base.h"
#include "hub/save.h"
#include "hub/scene_fixture.h"
#include "io/files.h"

#include <signal.h>

static struct hub_scene scene;

/* -- reloading ------------------------------------------------------------------------------------------- */

static void an_unchanged_server_keeps_its_process(void **state)
{
	const char *pid;
	struct caller c;

	(void)state;
	open_hub(
		&scene,
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
		"\"name\":\"stays\",\"namespace\":\"stays\",\"description\":\"new\",\"state\":\"running\",\"sharing\":\"shared\","
		"\"scope\":\"global\",\"max\":1,\"live\":1,");
	assert_int_equal(hub_server_limits(server_named(&scene, "stays"))->call_ms, 7000);
	AWAIT(events_of(&scene, "server.stop") == 0 && snapshot_count(&scene) == 1);
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
	open_keeping(&scene, one_server("", "\"idleTimeout\":\"1h\""));
	all_ready(&scene);
	before = server_named(&scene, "files")->all;
	pid = call_now(&c, &scene, "files", "pid", "{}");
	hub_scene_reload(&scene, one_server("", "\"idleTimeout\":\"2h\",\"startTimeout\":\"9s\""));
	assert_string_equal(call_now(&c, &scene, "files", "pid", "{}"), pid);
	assert_ptr_equal(server_named(&scene, "files")->all, before);
	hub_scene_close(&scene);
	/* ... on disk, too. */
	open_keeping(&scene, one_server("", "\"idleTimeout\":\"3h\""));
	assert_true(lists(&scene, "files", "echo"));
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
	open_hub(&scene, two_servers("", ""));
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
	open_hub(&scene, two_servers("\"scope\":\"session\",\"sharing\":\"exclusive\",\"max\":1", ""));
	pid = call_now(&c, &scene, "b", "pid", "{}");
	call_and_leave(&held, &scene, "a", "silent");
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
	open_hub(&scene, one_server("", ""));
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
	open_hub(&scene, one_server("", ""));
	all_ready(&scene);
	pid = call_now(&c, &scene, "files", "pid", "{}");
	hub_scene_reload(&scene, one_server("\"--tools\",\"1\"", ""));
	assert_int_equal(scene.added + scene.removed, 0);
	assert_null(server_named(&scene, "files")->snapshot);
	all_ready(&scene);
	assert_true(lists(&scene, "files", "tool0"));
	assert_string_not_equal(call_now(&c, &scene, "files", "pid", "{}"), pid);
	hub_scene_close(&scene);
}

static void a_broken_entry_lists_nothing_until_it_is_mended(void **state)
{
	(void)state;
	open_hub(&scene, one_server("", ""));
	all_ready(&scene);
	hub_scene_reload(&scene, one_server("", "\"mode\":1"));
	assert_int_equal(snapshot_count(&scene), 0);
	assert_null(server_named(&scene, "files")->group);
	all_ready(&scene);
	hub_scene_reload(&scene, one_server("", ""));
	all_ready(&scene);
	assert_true(lists(&scene, "files", "echo"));
	hub_scene_close(&scene);
}

static void a_reload_during_a_refresh_is_survived(void **state)
{
	struct waiter waiter;

	(void)state;
	open_hub(&scene, one_server("\"--list-silent\"", ""));
	wait_for(&scene, &waiter, NULL, false, PLENTY_MS);
	AWAIT(events_of(&scene, "server.start files"));
	hub_scene_reload(&scene, one_server("\"--list-silent\"", "\"description\":\"same process\""));
	assert_non_null(server_named(&scene, "files")->refresh);
	let_pass(2);
	assert_int_equal(waiter.done, 0);
	/* Another process: what was asked of the old one is of no use. */
	hub_scene_reload(&scene, one_server("", ""));
	AWAIT(waiter.done);
	assert_true(lists(&scene, "files", "echo"));
	hub_scene_close(&scene);
}

static void two_names_of_one_definition_share_a_process(void **state)
{
	struct caller c;

	(void)state;
	open_hub(
		&scene,
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
	all_ready(&scene);
	/* Each filters for itself. */
	assert_int_equal(server_named(&scene, "alias")->snapshot->count, 1);
	assert_true(server_named(&scene, "one")->snapshot->count > 1);
	hub_scene_close(&scene);
}

static void assert_state(const char *state)
{
	const struct hub_server *server = server_named(&scene, "files");

	assert_str(hub_server_state(server), state);
	assert_has(describe_server(&scene, "files"),
		   arena_printf(&hub_scratch.arena, "\"state\":\"%s\",", state).p);
	assert_int_equal(hub_server_error(server)->code != 0, strcmp(state, "failed") == 0);
}

static void a_server_s_state_is_one_word(void **state)
{
	int gate = gate_make("gate");
	struct setting_change change;
	struct caller c;

	(void)state;
	open_hub(&scene, one_server("\"--gate\",\"~/gate\"", ""));
	assert_state("unknown");
	call(&c, &scene, "files", "echo", "{}");
	assert_state("starting");
	gate_pass(gate);
	AWAIT(c.done);
	call_end(&c);
	know_tools(&scene, "files");
	assert_state("running");
	assert_int_equal(
		settings_set_runtime(scene.set, SETTING_POOL_IDLE_TIMEOUT, STR("1ms"), &change, NULL), 0);
	scene.limits.pool.reap_ms = 1;
	hub_adjust(scene.hub, &scene.limits);
	AWAIT(events_of(&scene, "it was idle"));
	assert_state("ready");
	hub_scene_reload(&scene, one_server("\"--gate\",\"~/gate\"", "\"mode\":1"));
	assert_state("failed");
	hub_scene_close(&scene);
	close(gate);
}

/* -- filters --------------------------------------------------------------------------------------------- */

static void hidden_tools_are_in_no_list(void **state)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const struct catalogue_snapshot *const *all;
	struct catalogue_hit hits[4];
	size_t count;

	(void)state;
	arena_init(&arena, 0);
	open_hub(
		&scene,
		"{\"pool\":{\"excludeTools\":[\"k*\"]},\"mcpServers\":{\"files\":{\"command\":\"@\",\"mcpx\":{"
		"\"tools\":[\"e*\",\"kill\"],\"extraIncludeTools\":[\"pid\"],\"excludeTools\":[\"error\"]}}}}");
	all_ready(&scene);
	assert_int_equal(server_named(&scene, "files")->snapshot->count, 3);
	assert_true(lists(&scene, "files", "echo") && lists(&scene, "files", "env") &&
		    lists(&scene, "files", "pid"));
	assert_false(lists(&scene, "files", "kill") || lists(&scene, "files", "error") ||
		     lists(&scene, "files", "hold"));
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
	open_hub(&scene, one_server("\"--starts\",\"~/starts\"", "\"excludeTools\":[\"echo\"]"));
	all_ready(&scene);
	pid = call_now(&c, &scene, "files", "pid", "{}");
	assert_false(lists(&scene, "files", "echo"));
	hub_scene_reload(&scene, one_server("\"--starts\",\"~/starts\"", "\"excludeTools\":[\"die\"]"));
	assert_true(lists(&scene, "files", "echo"));
	assert_false(lists(&scene, "files", "die"));
	assert_string_equal(call_now(&c, &scene, "files", "pid", "{}"), pid);
	hub_scene_reload(&scene, one_server("\"--starts\",\"~/starts\"", ""));
	assert_true(lists(&scene, "files", "die"));
	assert_lacks(describe_server(&scene, "files"), "hiddenTools");
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
}

/* -- names ----------------------------------------------------------------------------------------------- */

static void assert_not_found(const char *expected)
{
	struct err err;

	assert_null(hub_server_find(scene.hub, STR("nobody"), &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(err.message, expected);
}

static void who_asks_for_no_server_is_told_which_there_are(void **state)
{
	_cleanup_buf_ struct buf config = { .max = 1 << 20 };
	struct err err;

	(void)state;
	open_hub(&scene, "{}");
	assert_not_found("no server is called \"nobody\"; none is configured");
	hub_scene_reload(&scene, two_servers("", ""));
	assert_not_found("no server is called \"nobody\"; there are: a, b");
	hub_scene_reload(&scene, "{\"mcpServers\":{\n\"nobody\":{\"command\":\"@\",\"disabled\":true}}}");
	assert_null(hub_server_find(scene.hub, STR("nobody"), &err));
	assert_true(str_starts_with(str_of(err.message), STR("the server \"nobody\" is switched off (")));
	assert_true(str_ends_with(str_of(err.message), STR(":2)")));
	buf_append(&config, STR("{\"mcpServers\":{"));
	for (unsigned i = 0; i < 500; i++)
		buf_printf(&config, "%s\"server%u\":{\"command\":\"@\"}", i ? "," : "", i);
	buf_append(&config, STR("}}"));
	hub_scene_reload(&scene, buf_cstr(&config));
	assert_not_found("no server is called \"nobody\"; `mcpx ls` lists those there are");
	hub_scene_close(&scene);
}

/* -- names at the door ----------------------------------------------------------------------------------- */

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
		&scene,
		"{\"mcpServers\":{\"a\":{\"command\":\"@\"},\"a_b\":{\"command\":\"@\",\"args\":[\"--tools\",\"1\"],\"mcpx\":{\"excludeTools\":[\"die\"]}}}}");
	for (int round = 0; round < 2; round++) {
		assert_resolves("a__echo", &nobody, "a", "echo");
		assert_resolves("a_b__echo", &nobody, "a_b", "echo");
		assert_resolves("a__not-known-yet", &nobody, "a", "not-known-yet");
		assert_unknown("echo", &nobody);
		assert_unknown("a__", &nobody);
		assert_unknown("c__echo", &nobody);
		assert_unknown("a_b__die", &nobody);
		all_ready(&scene);
	}
	assert_resolves("a_b__tool0", &nobody, "a_b", "tool0");
	hub_scene_close(&scene);
}

static void namespaces_that_begin_alike_are_kept_apart(void **state)
{
	(void)state;
	open_hub(
		&scene,
		"{\"mcpServers\":{\"a\":{\"command\":\"@\"},\"a--b\":{\"command\":\"@\",\"args\":[\"--odd\"]},\"a_\":{\"command\":\"@\",\"args\":[\"--noise\"]}}}");
	/* Of two that could be meant, the longer. */
	assert_resolves("a__b__echo", &nobody, "a__b", "echo");
	all_ready(&scene);
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
		&scene,
		"{\"mcpServers\":{\"my-files\":{\"command\":\"@\",\"args\":[\"--tools\",\"1\"]},\"git\":{\"command\":\"@\"}}}");
	assert_unknown("echo", &both);
	all_ready(&scene);
	assert_resolves("tool0", &both, "my_files", "tool0");
	/* Both have it: the longer namespace wins, as ever. */
	assert_resolves("echo", &both, "my_files", "echo");
	assert_resolves("echo", &one, "git", "echo");
	assert_resolves("git__echo", &both, "git", "echo");
	assert_unknown("tool0", &one);
	hub_scene_close(&scene);
}

/* -- settings that are hot ------------------------------------------------------------------------------- */

static void hot_settings_take_effect_without_a_reload(void **state)
{
	struct setting_change change;
	struct caller c;

	(void)state;
	open_hub(&scene, one_server("", ""));
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
	open_keeping(&scene, one_server("\"--stubborn\"", ""));
	scene.limits.pool.close_ms = scene.limits.pool.term_ms = 1;
	hub_adjust(scene.hub, &scene.limits);
	all_ready(&scene);
	wait_for(&scene, &waiter, NULL, true, PLENTY_MS);
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
		IN_HUB(an_unchanged_server_keeps_its_process),
		IN_HUB(a_change_of_limits_keeps_the_process_and_its_list),
		IN_HUB(servers_that_share_a_process_change_together_or_part),
		IN_HUB(hot_settings_reach_what_runs),
		IN_HUB(a_removed_server_s_process_ends),
		IN_HUB(a_changed_server_gets_another_process_and_forgets_its_list),
		IN_HUB(a_broken_entry_lists_nothing_until_it_is_mended),
		IN_HUB(a_reload_during_a_refresh_is_survived),
		IN_HUB(two_names_of_one_definition_share_a_process),
		IN_HUB(a_server_s_state_is_one_word),
		IN_HUB(hidden_tools_are_in_no_list),
		IN_HUB(a_change_of_filters_needs_no_process),
		IN_HUB(who_asks_for_no_server_is_told_which_there_are),
		IN_HUB(names_are_resolved_before_and_after_lists_are_known),
		IN_HUB(namespaces_that_begin_alike_are_kept_apart),
		IN_HUB(passed_through_servers_have_bare_names),
		IN_HUB(hot_settings_take_effect_without_a_reload),
		IN_HUB(stopping_waits_for_what_is_under_way),
	};

	return RUN_IN_HUB(tests);
}

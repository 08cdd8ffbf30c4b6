#include "base/base.h"
#include "hub/scene_fixture.h"

#include <signal.h>

static struct hub_scene scene;

static void open_one(const char *arguments, const char *block)
{
	hub_scene_init(&scene);
	hub_scene_open(&scene, one_server(arguments, block));
}

/* -- names ----------------------------------------------------------------------------------------------- */

static void a_tool_is_found_by_each_of_its_names(void **state)
{
	static const char *const names[] = { "tool0", "my_files__tool0" };
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	hub_scene_open(&scene,
		       "{\"mcpServers\":{\"my-files\":{\"command\":\"@\",\"args\":[\"--tools\",\"1\"]}}}");
	assert_has(call_now(&c, &scene, "my-files", "echo", "{\"a\":1}"), "\"echo\":{\"a\":1}");
	know_tools(&scene, "my_files");
	assert_has(call_now(&c, &scene, "my_files", "my_files__echo", "{\"a\":1}"), "\"echo\":{\"a\":1}");
	/* tool0 exists and does nothing: the server's own answer. */
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_string_equal(call_now(&c, &scene, "my-files", names[i], ""), "no such tool");
	hub_scene_close(&scene);
}

static void a_tool_that_nobody_knows_is_the_servers_business(void **state)
{
	struct caller c;

	(void)state;
	open_one("", "");
	know_tools(&scene, "files");
	call(&c, &scene, "files", "never-heard-of", "{}");
	expect_answer(&c, "\"isError\":true");
	hub_scene_close(&scene);
}

static void an_unknown_server_names_those_that_exist(void **state)
{
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	hub_scene_open(&scene,
		       "{\"mcpServers\":{\"git\":{\"command\":\"@\"},\"my-files\":{\"command\":\"@\"}}}");
	call(&c, &scene, "fils", "echo", "{}");
	expect_error(&c, ERR_NOT_FOUND, MCP_NOT_SENT,
		     "no server is called \"fils\"; there are: git, my_files");
	hub_scene_reload(&scene, "{}");
	call(&c, &scene, "git", "echo", "{}");
	expect_error(&c, ERR_NOT_FOUND, MCP_NOT_SENT, "no server is called \"git\"; none is configured");
	hub_scene_close(&scene);
}

static void a_broken_entry_says_what_is_wrong_with_it(void **state)
{
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	hub_scene_open(&scene,
		       "{\"mcpServers\":{\"bad\":{\"command\":\"@\",\"mcpx\":{\"mode\":1}},"
		       "\"far\":{\"url\":\"https://example.com/mcp\"},\"good\":{\"command\":\"@\"}}}");
	call(&c, &scene, "bad", "echo", "{}");
	expect_error(&c, ERR_INVALID, MCP_NOT_SENT, "mcpx: unknown key \"mode\"");
	call(&c, &scene, "far", "echo", "{}");
	expect_error(&c, ERR_UNSUPPORTED, MCP_NOT_SENT,
		     "remote servers (url) are not part of this version yet: start it with command");
	assert_has(call_now(&c, &scene, "good", "echo", "{}"), "\"echo\":{}");
	hub_scene_close(&scene);
}

static void hidden_tools_are_not_called_by_any_name(void **state)
{
	static const char *const hidden[] = { "die", "files__die", "kill" };
	struct caller c;

	(void)state;
	open_one("\"--starts\",\"~/starts\"", "\"excludeTools\":[\"die\",\"k*l\"]");
	/* Before anything is known of the server, and before it is started. */
	call(&c, &scene, "files", "die", "{}");
	expect_error(
		&c, ERR_DENIED, MCP_NOT_SENT,
		"files: the tool \"die\" is hidden by the configuration (tools, excludeTools, preconditions)");
	assert_int_equal(count_lines("starts"), 0);
	know_tools(&scene, "files");
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
		call(&c, &scene, "files", hidden[i], "{}");
		expect_error(&c, ERR_DENIED, MCP_NOT_SENT, "is hidden by the configuration");
	}
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "echo");
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
}

/* Some servers would take it for one that is hidden. */
static void a_name_that_nobody_knows_does_not_pass_a_filter(void **state)
{
	struct caller c;

	(void)state;
	open_one("", "\"excludeTools\":[\"die\"]");
	know_tools(&scene, "files");
	call(&c, &scene, "files", "Die", "{}");
	expect_error(&c, ERR_NOT_FOUND, MCP_NOT_SENT,
		     "files: no tool is called \"Die\" (a server with tools");
	call(&c, &scene, "files", "ecHo", "{}");
	expect_error(&c, ERR_NOT_FOUND, MCP_NOT_SENT,
		     "files: no tool is called \"ecHo\"; did you mean \"echo\"? (a server with tools or "
		     "excludeTools is called by names of its list only; `mcpx refresh` reads that anew)");
	hub_scene_close(&scene);
}

/* -- answers --------------------------------------------------------------------------------------------- */

static void arguments_and_results_pass_byte_for_byte(void **state)
{
	static const char odd[] =
		"{\"n\": 1.50,\"big\":123456789012345678901234567890, \"x\":[1e400 ,{}],\"\\u00e9\":\"\\u0000\\/\", "
		"\"a\":1,\"a\":2}";
	struct caller c;

	(void)state;
	open_one("", "");
	call(&c, &scene, "files", "echo", odd);
	AWAIT(c.done);
	assert_int_equal(c.outcome, MCP_ANSWERED);
	assert_str(buf_str(&c.result),
		   arena_printf(&hub_scratch.arena, "{\"content\":[], \"echo\":%s}", odd).p);
	assert_lacks(buf_cstr(&c.result), "isError");
	call_end(&c);
	/* No arguments are an empty object. */
	assert_has(call_now(&c, &scene, "files", "echo", ""), "\"echo\":{}}");
	assert_int_equal(server_named(&scene, "files")->calls, 2);
	hub_scene_close(&scene);
}

static void calls_are_answered_out_of_order(void **state)
{
	struct caller held[3], c;

	(void)state;
	open_one("\"--starts\",\"~/starts\"", "");
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		call(&held[i], &scene, "files", "hold", "{}");
	assert_has(call_now(&c, &scene, "files", "echo", "{\"b\":2}"), "\"echo\":{\"b\":2}");
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		assert_int_equal(held[i].done, 0);
	assert_string_equal(call_now(&c, &scene, "files", "free", "{}"), "freed");
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		char id[64];

		AWAIT(held[i].done);
		/* The server's answer is the id of the request that it belongs to. */
		snprintf(id, sizeof(id), "\"text\":\"%llu\"", (unsigned long long)held[i].call.upstream.id);
		assert_has(buf_cstr(&held[i].result), id);
		call_end(&held[i]);
	}
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
}

static void an_error_of_the_server_passes_whole(void **state)
{
	struct caller c;

	(void)state;
	open_one("", "");
	call(&c, &scene, "files", "error", "{}");
	AWAIT(c.done);
	assert_int_equal(c.outcome, MCP_ANSWERED);
	assert_int_equal(c.code, 0);
	assert_int_equal(c.upstream_code, -32050);
	assert_string_equal(c.upstream_message, "no luck \xe2\x98\x83");
	assert_string_equal(c.upstream_data, "{\"k\":[1, 2.50]}");
	hub_scene_close(&scene);
	call_end(&c);
}

static void a_malformed_answer_ends_its_call_and_no_other(void **state)
{
	struct caller held, c;

	(void)state;
	open_one("", "");
	call(&held, &scene, "files", "hold", "{}");
	call(&c, &scene, "files", "malformed", "{}");
	expect_error(&c, ERR_PROTOCOL, MCP_OUTCOME_UNKNOWN,
		     "files.malformed: tools/call: the server's answer is malformed");
	assert_string_equal(call_now(&c, &scene, "files", "free", "{}"), "freed");
	expect_answer(&held, "\"content\"");
	hub_scene_close(&scene);
}

static void ids_that_are_not_ours_are_told(void **state)
{
	struct caller c, held;

	(void)state;
	open_one("", "");
	assert_has(describe_server(&scene, "files"), "\"instances\":[]");
	assert_string_equal(call_now(&c, &scene, "files", "text_id", "{}"), "mine is text");
	call(&c, &scene, "files", "wrong_id", "{}");
	expect_error(
		&c, ERR_PROTOCOL, MCP_OUTCOME_UNKNOWN,
		"files.wrong_id: tools/call: the server answered with the id \"nobody's\", which no request has, while only this one ran");
	assert_has(
		describe_server(&scene, "files"),
		"\"warnings\":[\"1 of its answers had our id as text instead of as a number; they were taken all the "
		"same\",\"1 of its answers had an id that no request has; the first: \\\"nobody's\\\"\"]");
	/* With two calls nobody can say whose it is. */
	call(&held, &scene, "files", "hold", "{}");
	call_spec(&c, &scene,
		  &(struct hub_call_spec){
			  .server = STR("files"), .tool = STR("wrong_id"), .timeout_ms = SHORT_MS });
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN,
		     "1 answer came meanwhile with ids that no request has");
	assert_false(held.done);
	call_drop(&held);
	hub_scene_close(&scene);
}

static void noise_between_answers_is_skipped(void **state)
{
	struct caller c;

	(void)state;
	open_one("\"--noise\"", "");
	assert_string_equal(call_now(&c, &scene, "files", "noisy", "{}"), "noisy");
	assert_has(describe_server(&scene, "files"),
		   "\"noiseLines\":10,\"noiseFirst\":\"Starting server v1.0 ");
	hub_scene_close(&scene);
}

static void a_question_of_the_server_is_declined_at_once(void **state)
{
	struct caller asking, c;

	(void)state;
	open_one("", "");
	call(&asking, &scene, "files", "ask", "{}");
	AWAIT(strstr(call_now(&c, &scene, "files", "seen", "{}"), "'id':'q1'"));
	assert_has(call_now(&c, &scene, "files", "seen", "{}"), "'code':-32601");
	assert_string_equal(call_now(&c, &scene, "files", "free", "{}"), "freed");
	expect_answer(&asking, "\"content\"");
	hub_scene_close(&scene);
}

static void the_server_has_its_environment_and_directory(void **state)
{
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	hub_scene_open(
		&scene,
		"{\"mcpServers\":{\"a\":{\"command\":\"@\",\"env\":{\"TEST_SERVER_WORD\":\"hello\"},\"cwd\":\"/\"},"
		"\"b\":{\"command\":\"@\"}}}");
	assert_string_equal(call_now(&c, &scene, "a", "env", "{}"), "hello");
	assert_string_equal(call_now(&c, &scene, "b", "env", "{}"), "none");
	assert_string_equal(call_now(&c, &scene, "a", "cwd", "{}"), "/");
	assert_string_equal(call_now(&c, &scene, "b", "cwd", "{}"), hub_scratch.root.p);
	hub_scene_close(&scene);
}

/* -- log messages ---------------------------------------------------------------------------------------- */

static unsigned logs;
static char last_log[128];

static void logged(struct hub_call *hub_call, const struct mcp_log *log)
{
	const struct caller *caller = hub_call->owner;

	assert_int_equal(caller->done, 0);
	logs++;
	snprintf(last_log, sizeof(last_log), "%.*s %.*s", STR_ARG(mcp_log_level_name(log->level)),
		 STR_ARG(log->data));
}

static void call_and_hear(struct caller *caller, const char *tool)
{
	call_spec(caller, &scene,
		  &(struct hub_call_spec){ .server = STR("files"), .tool = str_of(tool), .logged = logged });
}

static void a_log_message_reaches_the_only_call(void **state)
{
	struct caller held, c;

	(void)state;
	logs = 0;
	open_one("", "");
	call_and_hear(&c, "log");
	AWAIT(c.done);
	assert_int_equal(logs, 1);
	assert_string_equal(last_log, "info \"hi\"");
	call_end(&c);
	/* Which of two calls it belongs to, nobody can know: neither is told. */
	call_and_hear(&held, "hold");
	call_and_hear(&c, "log");
	AWAIT(c.done);
	call_end(&c);
	call_now(&c, &scene, "files", "free", "{}");
	expect_answer(&held, "\"content\"");
	assert_int_equal(logs, 1);
	/* The program's log has them all, and a call that does not listen is none the worse. */
	call_now(&c, &scene, "files", "log", "{}");
	assert_int_equal(events_of(&scene, "server.log files"), 3);
	hub_scene_close(&scene);
}

static void servers_are_asked_for_the_lowest_level_that_somebody_wants(void **state)
{
	struct caller c;
	const char *seen;

	(void)state;
	open_one("", "\"scope\":\"session\"");
	/* Those who ask for nothing get "info": nobody's wish for less takes it from them. */
	assert_lacks(call_now(&c, &scene, "files", "seen", "{}"), "setLevel");
	hub_want_logs(scene.hub, MCP_LOG_ERROR);
	assert_has(call_now(&c, &scene, "files", "seen", "{}"), "{'level':'info'}");
	hub_want_logs(scene.hub, MCP_LOG_DEBUG);
	hub_want_logs(scene.hub, MCP_LOG_WARNING);
	hub_want_logs(scene.hub, MCP_LOG_NONE);
	seen = call_now(&c, &scene, "files", "seen", "{}");
	assert_has(seen, "{'level':'debug'}");
	assert_lacks(seen, "warning");
	/* A process that starts later is told, too, and before its first call. */
	call_spec(&c, &scene,
		  &(struct hub_call_spec){
			  .server = STR("files"), .tool = STR("seen"), .caller.session = STR("other") });
	AWAIT(c.done);
	assert_has_(buf_str(&c.result), STR("{'level':'debug'}"), __LINE__);
	assert_lacks_(buf_str(&c.result), STR("info"), __LINE__);
	call_end(&c);
	hub_scene_close(&scene);
}

static void a_modern_server_is_asked_in_each_call(void **state)
{
	struct caller c;

	(void)state;
	open_one("\"--modern\"", "");
	hub_want_logs(scene.hub, MCP_LOG_DEBUG);
	assert_lacks(call_now(&c, &scene, "files", "seen", "{}"), "setLevel");
	hub_scene_close(&scene);
}

/* -- time ------------------------------------------------------------------------------------------------ */

static void a_call_without_answer_times_out_and_the_server_is_told(void **state)
{
	struct caller c;

	(void)state;
	open_one("", "\"callTimeout\":\"30ms\"");
	(void)call_now(&c, &scene, "files", "echo", "{}");
	call(&c, &scene, "files", "silent", "{}");
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN,
		     "files.silent: tools/call: no answer and no progress within 30 ms (pool.callTimeout)");
	assert_has(call_now(&c, &scene, "files", "seen", "{}"), "'method':'notifications/cancelled'");
	assert_has(call_now(&c, &scene, "files", "seen", "{}"), "'reason':'timed out'");
	hub_scene_close(&scene);
}

static void a_caller_may_have_less_patience(void **state)
{
	const struct hub_call_spec spec = { .server = STR("files"),
					    .tool = STR("silent"),
					    .timeout_ms = SHORT_MS };
	struct caller c;

	(void)state;
	open_one("", "");
	(void)call_now(&c, &scene, "files", "echo", "{}");
	call_spec(&c, &scene, &spec);
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN,
		     "no answer and no progress within 30 ms (the caller's time-out)");
	hub_scene_close(&scene);
}

static void a_caller_s_patience_bounds_the_wait_for_a_start_too(void **state)
{
	const struct hub_call_spec spec = { .server = STR("files"),
					    .tool = STR("echo"),
					    .timeout_ms = SHORT_MS };
	int gate = gate_make("gate");
	struct caller c;

	(void)state;
	open_one("\"--gate\",\"~/gate\"", "");
	call_spec(&c, &scene, &spec);
	expect_error(&c, ERR_TIMEOUT, MCP_NOT_SENT, "server files is still starting after 30ms");
	gate_pass(gate);
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "echo");
	hub_scene_close(&scene);
	close(gate);
}

static void a_short_call_timeout_does_not_shorten_a_start(void **state)
{
	int gate = gate_make("gate");
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.acquire_ms = 1;
	hub_scene_open(&scene, one_server("\"--gate\",\"~/gate\"", ""));
	call(&c, &scene, "files", "echo", "{}");
	let_pass(SHORT_MS);
	assert_int_equal(c.done, 0);
	gate_pass(gate);
	expect_answer(&c, "\"echo\":{}");
	hub_scene_close(&scene);
	close(gate);
}

static void timeouts_of_nought_are_no_limits(void **state)
{
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.acquire_ms = 0;
	hub_scene_open(&scene, one_server("", "\"callTimeout\":\"0s\""));
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "echo");
	call(&c, &scene, "files", "silent", "{}");
	let_pass(SHORT_MS);
	assert_int_equal(c.done, 0);
	hub_call_cancel(&c.call, STR(""));
	scene.limits.call_max_ms = SHORT_MS;
	hub_adjust(scene.hub, &scene.limits);
	call(&c, &scene, "files", "silent", "{}");
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN, "within 30 ms (pool.callMax)");
	hub_scene_close(&scene);
}

static void progress_puts_the_deadline_off_whether_or_not_anyone_listens(void **state)
{
	struct caller loud = { 0 }, quiet = { 0 }, c;
	uint64_t loud_due, quiet_due;

	(void)state;
	open_one("", "");
	(void)call_now(&c, &scene, "files", "echo", "{}");
	call_with_progress(&loud, &scene, "files", "progress");
	call(&quiet, &scene, "files", "progress", "{}");
	AWAIT(loud.call.state == HUB_CALL_SEND && quiet.call.state == HUB_CALL_SEND);
	loud_due = loud.call.upstream.idle.due;
	quiet_due = quiet.call.upstream.idle.due;
	/* Reports come in a later millisecond, or again. */
	AWAIT(loud.progress >= 3);
	assert_string_equal(loud.last_progress, "3/3 step 3");
	AWAIT(loud.call.upstream.idle.due >= loud_due && quiet.call.upstream.idle.due >= quiet_due);
	(void)call_now(&c, &scene, "files", "free", "{}");
	AWAIT(loud.done && quiet.done);
	assert_int_equal(loud.progress, 3);
	assert_int_equal(quiet.progress, 0);
	/* Answered with its token: it was given one. */
	assert_has(buf_cstr(&quiet.result), "\"text\":\"");
	call_end(&loud);
	call_end(&quiet);
	hub_scene_close(&scene);
}

/* -- cancelling ------------------------------------------------------------------------------------------ */

static void a_cancelled_call_is_silent_and_the_server_is_told_why(void **state)
{
	struct caller gone, c;

	(void)state;
	open_one("", "");
	call_and_leave(&gone, &scene, "files", "hold");
	hub_call_cancel(&gone.call, STR("the caller has gone"));
	hub_call_cancel(&gone.call, STR("again"));
	assert_has(call_now(&c, &scene, "files", "seen", "{}"), "'reason':'the caller has gone'");
	assert_lacks(call_now(&c, &scene, "files", "seen", "{}"), "again");
	/* Its answer comes all the same, and goes nowhere. */
	(void)call_now(&c, &scene, "files", "free", "{}");
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(gone.done, 0);
	hub_scene_close(&scene);
}

static void a_call_can_be_cancelled_in_every_state(void **state)
{
	int gate = gate_make("gate");
	struct caller c;

	(void)state;
	open_one("\"--gate\",\"~/gate\"", "");
	c = (struct caller){ 0 };
	hub_call_cancel(&c.call, STR("never begun"));
	call(&c, &scene, "nobody", "echo", "{}");
	assert_int_equal(c.call.state, HUB_CALL_REFUSED);
	hub_call_cancel(&c.call, STR("refused"));
	assert_int_equal(c.done, 0);
	call(&c, &scene, "files", "echo", "{}");
	assert_int_equal(c.call.state, HUB_CALL_ACQUIRE);
	hub_call_cancel(&c.call, STR("waiting"));
	gate_pass(gate);
	know_tools(&scene, "files");
	call(&c, &scene, "files", "echo", "{}");
	/* An instance is given, but not told. */
	hub_call_cancel(&c.call, STR("given"));
	let_pass(2);
	assert_int_equal(c.done, 0);
	assert_true(list_empty(&scene.hub->calls));
	call(&c, &scene, "files", "echo", "{}");
	AWAIT(c.done);
	hub_call_cancel(&c.call, STR("ended"));
	call_end(&c);
	hub_scene_close(&scene);
	close(gate);
}

static void cancel_self(struct caller *caller)
{
	hub_call_cancel(&caller->call, STR("enough"));
}

static void a_call_can_be_cancelled_by_its_own_progress(void **state)
{
	struct caller gone = { .on_progress = cancel_self }, c;

	(void)state;
	open_one("", "");
	call_with_progress(&gone, &scene, "files", "progress");
	AWAIT(gone.progress);
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(gone.progress, 1);
	assert_int_equal(gone.done, 0);
	hub_scene_close(&scene);
}

static struct caller next, other;

static void go_on(struct caller *caller)
{
	(void)caller;
	hub_call_cancel(&other.call, STR("no longer needed"));
	call(&next, &scene, "files", "echo", "{\"next\":1}");
}

static void the_end_of_a_call_may_begin_and_cancel_others(void **state)
{
	struct caller first = { .on_done = go_on };

	(void)state;
	open_one("", "\"sharing\":\"exclusive\"");
	call_with_progress(&first, &scene, "files", "echo");
	call(&other, &scene, "files", "echo", "{}");
	AWAIT(next.done);
	assert_has(buf_cstr(&next.result), "\"echo\":{\"next\":1}");
	assert_int_equal(other.done, 0);
	call_end(&first);
	call_end(&next);
	hub_scene_close(&scene);
}

/* -- crashes --------------------------------------------------------------------------------------------- */

static void a_crash_in_a_call_is_told_and_not_repeated(void **state)
{
	struct caller held, c;

	(void)state;
	open_one("\"--starts\",\"~/starts\"", "");
	call(&held, &scene, "files", "hold", "{}");
	call(&c, &scene, "files", "die", "{}");
	expect_error(
		&c, ERR_CLOSED, MCP_OUTCOME_UNKNOWN,
		"files.die: tools/call: the request was sent, and whether the server acted on it is unknown: server files exited "
		"with code 7; its stderr ends: first words\nthese were my last words");
	expect_error(&held, ERR_CLOSED, MCP_OUTCOME_UNKNOWN, "files.hold: ");
	assert_int_equal(count_lines("starts"), 1);
	/* The next call gets a new process, at once. */
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "echo");
	assert_int_equal(count_lines("starts"), 2);
	assert_int_equal(events_of(&scene, "server.stop files 2: server files exited with code 7"), 1);
	hub_scene_close(&scene);
}

static void a_call_by_signal_says_so(void **state)
{
	struct caller c;

	(void)state;
	open_one("", "");
	call(&c, &scene, "files", "kill", "{}");
	expect_error(&c, ERR_CLOSED, MCP_OUTCOME_UNKNOWN,
		     "server files was killed by signal 9 (KILL); it wrote nothing to stderr");
	hub_scene_close(&scene);
}

static void a_request_that_was_never_sent_goes_to_a_new_process(void **state)
{
	struct instance *instance;
	struct caller held, c;

	(void)state;
	open_one("\"--starts\",\"~/starts\"", "");
	call_and_leave(&held, &scene, "files", "hold");
	instance = held.call.instance;
	call(&c, &scene, "files", "echo", "{\"again\":true}");
	assert_ptr_equal(c.call.acquire.instance, instance);
	/* It ends after it was given, and before it is told. */
	instance_stop(instance, "the test says so");
	assert_int_equal(held.done, 1);
	AWAIT(c.done);
	assert_int_equal(c.outcome, MCP_ANSWERED);
	assert_true(c.call.repeated);
	assert_has(buf_cstr(&c.result), "\"again\":true");
	assert_int_equal(count_lines("starts"), 2);
	call_end(&c);
	call_end(&held);
	hub_scene_close(&scene);
}

static struct caller doomed;

static void stop_at_start(struct hub_scene *at, struct str event, struct str server)
{
	(void)at;
	(void)server;
	if (str_eq(event, STR("server.start")))
		instance_stop(doomed.call.acquire.instance, "the test says so");
}

static void it_is_sent_once_more_and_not_for_ever(void **state)
{
	(void)state;
	open_one("\"--starts\",\"~/starts\"", "");
	scene.on_event = stop_at_start;
	call(&doomed, &scene, "files", "echo", "{}");
	expect_error(&doomed, ERR_CLOSED, MCP_NOT_SENT,
		     "files.echo: tools/call: not sent: server files was stopped: the test says so");
	assert_int_equal(count_lines("starts"), 2);
	hub_scene_close(&scene);
}

static void a_failed_start_is_quoted(void **state)
{
	struct caller c;

	(void)state;
	scratch_write(&hub_scratch, "broken", "");
	open_one("\"--fail-while\",\"~/broken\"", "");
	call(&c, &scene, "files", "echo", "{}");
	expect_error(
		&c, ERR_CLOSED, MCP_NOT_SENT,
		"server files exited with code 3 before it was ready; its stderr ends: reading the key\nfatal: there is no key");
	call(&c, &scene, "files", "echo", "{}");
	expect_error(&c, ERR_UNAVAILABLE, MCP_NOT_SENT, "1 failed start, next try in ");
	assert_has(describe_server(&scene, "files"),
		   "\"lastError\":\"server files exited with code 3 before it was ready");
	assert_has(describe_server(&scene, "files"), "\"retryInSec\":");
	hub_scene_close(&scene);
}

static void a_server_that_does_not_read_does_not_fill_our_memory(void **state)
{
	char big[60000];
	struct caller c, many[4];

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.input_max = 100000;
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene, one_server("", ""));
	memset(big, ' ', sizeof(big));
	big[0] = '{';
	big[sizeof(big) - 2] = '}';
	big[sizeof(big) - 1] = '\0';
	assert_string_equal(call_now(&c, &scene, "files", "starve", "{}"), "starving");
	/* The pipe takes 64 KiB, the queue 100 kB. */
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		call(&many[i], &scene, "files", "echo", big);
	expect_error(&many[3], ERR_BUSY, MCP_NOT_SENT,
		     "files.echo: tools/call: not sent: the server does not read what it was sent before: ");
	assert_has(describe_server(&scene, "files"), "\"warnings\":[\"it has not read ");
	hub_call_cancel(&many[0].call, STR(""));
	call_spec(&many[0], &scene,
		  &(struct hub_call_spec){
			  .server = STR("files"), .tool = STR("echo"), .timeout_ms = SHORT_MS });
	expect_error(&many[0], ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN,
		     "(the caller's time-out); the server has not read ");
	for (size_t i = 1; i < ARRAY_LEN(many) - 1; i++)
		if (!many[i].done)
			hub_call_cancel(&many[i].call, STR(""));
		else
			call_end(&many[i]);
	hub_scene_close(&scene);
}

static void too_many_and_too_large_requests_are_refused(void **state)
{
	struct caller held, c;
	char big[5000];

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.requests_max = 1;
	scene.limits.pool.line_max = 4096;
	hub_scene_open(&scene, one_server("", ""));
	know_tools(&scene, "files");
	memset(big, ' ', sizeof(big));
	big[0] = '{';
	big[sizeof(big) - 2] = '}';
	big[sizeof(big) - 1] = '\0';
	call(&c, &scene, "files", "echo", big);
	expect_error(&c, ERR_TOO_LARGE, MCP_NOT_SENT,
		     "files.echo: tools/call: not sent: the request is longer than 4096 bytes");
	call_and_leave(&held, &scene, "files", "hold");
	call(&c, &scene, "files", "echo", "{}");
	expect_error(&c, ERR_BUSY, MCP_NOT_SENT, "not sent: 1 requests are running already");
	hub_call_cancel(&held.call, STR(""));
	hub_scene_close(&scene);
}

/* Neither it nor those who come after it wait for their time-out. */
static void a_line_without_end_fails_the_calls_and_the_next_has_another_process(void **state)
{
	static const char *const tools[] = { "endless", "flood" };
	struct caller held, c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.line_max = 8192;
	scene.limits.pool.close_ms = SHORT_MS;
	hub_scene_open(&scene, one_server("\"--starts\",\"~/starts\"", ""));
	know_tools(&scene, "files");
	for (unsigned i = 0; i < ARRAY_LEN(tools); i++) {
		call(&held, &scene, "files", "hold", "{}");
		call(&c, &scene, "files", tools[i], "{}");
		AWAIT(c.done);
		assert_has(c.message, "longer than 8192 bytes (pool.lineMax)");
		expect_error(&c, ERR_TOO_LARGE, MCP_OUTCOME_UNKNOWN,
			     i ? "perhaps the answer" : "the server's answer is");
		assert_int_equal(held.done, i);
		/* This one waits until it is known what becomes of the process. */
		assert_has(call_now(&c, &scene, "files", "echo", "{\"a\":1}"), "\"echo\":{\"a\":1}");
		assert_int_equal(count_lines("starts"), 2 + i);
		expect_error(&held, i ? ERR_TOO_LARGE : ERR_CLOSED, MCP_OUTCOME_UNKNOWN, "(pool.lineMax)");
	}
	hub_scene_close(&scene);
}

static void an_answer_that_is_too_long_leaves_the_process_as_it_is(void **state)
{
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.line_max = 8192;
	hub_scene_open(&scene, one_server("\"--starts\",\"~/starts\"", ""));
	know_tools(&scene, "files");
	call(&c, &scene, "files", "long", "{}");
	expect_error(&c, ERR_TOO_LARGE, MCP_OUTCOME_UNKNOWN,
		     "files.long: tools/call: the server's answer is longer than 8192 bytes (pool.lineMax)");
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "\"echo\":{}");
	assert_int_equal(count_lines("starts"), 1);
	hub_scene_close(&scene);
}

/* -- who shares ------------------------------------------------------------------------------------------ */

static const char *pid_for(struct hub_caller who)
{
	struct hub_call_spec spec = { .server = STR("files"), .tool = STR("pid"), .caller = who };
	struct caller c;
	const char *pid;

	call_spec(&c, &scene, &spec);
	AWAIT(c.done);
	assert_int_equal(c.code, 0);
	pid = arena_copy(&hub_scratch.arena, buf_str(&c.result)).p;
	call_end(&c);
	return pid;
}

static void a_session_has_a_process_of_its_own(void **state)
{
	const struct hub_caller one = { .session = STR("s1") }, two = { .session = STR("s2") }, none = { 0 };

	(void)state;
	open_one("", "\"scope\":\"session\"");
	assert_string_equal(pid_for(one), pid_for(one));
	assert_string_not_equal(pid_for(one), pid_for(two));
	/* Without a session each call stands for itself, and leaves no process behind. */
	assert_string_not_equal(pid_for(none), pid_for(none));
	AWAIT(pool_group_live(server_named(&scene, "files")->group) == 2);
	assert_int_equal(pool_end_session(scene.hub->pool, STR("s1")), 1);
	AWAIT(pool_group_live(server_named(&scene, "files")->group) == 1);
	hub_scene_close(&scene);
}

static void each_call_has_a_process_of_its_own_when_asked(void **state)
{
	static const char *const blocks[] = { "\"scope\":\"call\"",
					      "\"scope\":\"call\",\"sharing\":\"exclusive\",\"max\":1" };
	static const char *const arguments[] = { "", "\"--bare\"" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(blocks) * ARRAY_LEN(arguments); i++) {
		open_one(arguments[i / 2], blocks[i % 2]);
		assert_string_not_equal(pid_for((struct hub_caller){ 0 }), pid_for((struct hub_caller){ 0 }));
		AWAIT(pool_group_live(server_named(&scene, "files")->group) == 0);
		hub_scene_close(&scene);
	}
}

/* A server with one call at a time, and one that has it. */
static void open_exclusive(struct caller *held, const char *arguments)
{
	open_one(arguments, "\"sharing\":\"exclusive\"");
	know_tools(&scene, "files");
	call_and_leave(held, &scene, "files", "hold");
}

static void an_exclusive_server_has_one_call_at_a_time(void **state)
{
	struct caller held, waiting, c;

	(void)state;
	open_exclusive(&held, "");
	call(&waiting, &scene, "files", "echo", "{}");
	let_pass(2);
	assert_int_equal(waiting.call.state, HUB_CALL_ACQUIRE);
	hub_call_cancel(&held.call, STR("let another in"));
	expect_answer(&waiting, "\"echo\":{}");
	assert_has(call_now(&c, &scene, "files", "seen", "{}"), "let another in");
	hub_scene_close(&scene);
}

/* -- the ground moves ------------------------------------------------------------------------------------ */

static void a_running_call_outlives_a_change_of_its_server(void **state)
{
	struct caller held, waiting, c;
	struct instance *instance;

	(void)state;
	open_exclusive(&held, "\"--starts\",\"~/starts\"");
	instance = held.call.instance;
	call(&waiting, &scene, "files", "echo", "{\"moved\":1}");
	hub_scene_reload(&scene, one_server("\"--tools\",\"2\"", ""));
	/* One who waits is served by the new process; one who is served by the old keeps it. */
	expect_answer(&waiting, "\"moved\":1");
	assert_int_equal(held.done, 0);
	assert_int_equal(instance->state, INSTANCE_READY);
	hub_call_cancel(&held.call, STR(""));
	AWAIT(events_of(&scene, "server.stop") + events_of(&scene, "server.start") == 2);
	assert_has(call_now(&c, &scene, "files", "echo", "{}"), "echo");
	hub_scene_close(&scene);
}

static void a_running_call_outlives_the_removal_of_its_server(void **state)
{
	struct caller held, waiting, c;

	(void)state;
	open_exclusive(&held, "");
	call(&waiting, &scene, "files", "echo", "{}");
	hub_scene_reload(&scene, "{}");
	assert_int_equal(scene.removed, 1);
	call(&c, &scene, "files", "echo", "{}");
	expect_error(&c, ERR_NOT_FOUND, MCP_NOT_SENT, "no server is called \"files\"");
	/* Both were accepted before, and are served; the second in its turn. */
	hub_call_cancel(&held.call, STR(""));
	expect_answer(&waiting, "\"echo\":{}");
	hub_scene_close(&scene);
}

static void a_call_that_waits_for_a_server_that_breaks_is_told(void **state)
{
	int gate = gate_make("gate");
	struct caller c;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = 1;
	hub_scene_open(&scene, one_server("\"--gate\",\"~/gate\"", ""));
	call(&c, &scene, "files", "echo", "{}");
	hub_scene_reload(&scene, one_server("", "\"mode\":1"));
	expect_error(&c, ERR_INVALID, MCP_NOT_SENT, "mcpx: unknown key \"mode\"");
	hub_scene_close(&scene);
	close(gate);
}

static void stopping_fails_every_call(void **state)
{
	int gate = gate_make("gate");
	struct caller running, starting, refused, late;

	(void)state;
	hub_scene_init(&scene);
	scene.limits.pool.close_ms = scene.limits.pool.term_ms = 1;
	hub_scene_open(&scene, "{\"mcpServers\":{\"files\":{\"command\":\"@\",\"args\":[\"--stubborn\"]},"
			       "\"slow\":{\"command\":\"@\",\"args\":[\"--gate\",\"~/gate\"]}}}");
	call_and_leave(&running, &scene, "files", "silent");
	call(&starting, &scene, "slow", "echo", "{}");
	call(&refused, &scene, "nobody", "echo", "{}");
	hub_scene_stop(&scene);
	expect_error(&running, ERR_CLOSED, MCP_OUTCOME_UNKNOWN,
		     "server files was stopped: mcpx is shutting down");
	call(&late, &scene, "files", "echo", "{}");
	expect_error(&starting, ERR_CLOSED, MCP_NOT_SENT, "server slow: mcpx is shutting down");
	expect_error(&refused, ERR_NOT_FOUND, MCP_NOT_SENT, "nobody");
	expect_error(&late, ERR_CLOSED, MCP_NOT_SENT, "mcpx is shutting down");
	hub_scene_close(&scene);
	close(gate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HUB(a_tool_is_found_by_each_of_its_names),
		IN_HUB(a_tool_that_nobody_knows_is_the_servers_business),
		IN_HUB(an_unknown_server_names_those_that_exist),
		IN_HUB(a_broken_entry_says_what_is_wrong_with_it),
		IN_HUB(hidden_tools_are_not_called_by_any_name),
		IN_HUB(a_name_that_nobody_knows_does_not_pass_a_filter),
		IN_HUB(arguments_and_results_pass_byte_for_byte),
		IN_HUB(calls_are_answered_out_of_order),
		IN_HUB(an_error_of_the_server_passes_whole),
		IN_HUB(a_malformed_answer_ends_its_call_and_no_other),
		IN_HUB(ids_that_are_not_ours_are_told),
		IN_HUB(noise_between_answers_is_skipped),
		IN_HUB(a_question_of_the_server_is_declined_at_once),
		IN_HUB(the_server_has_its_environment_and_directory),
		IN_HUB(a_log_message_reaches_the_only_call),
		IN_HUB(servers_are_asked_for_the_lowest_level_that_somebody_wants),
		IN_HUB(a_modern_server_is_asked_in_each_call),
		IN_HUB(a_call_without_answer_times_out_and_the_server_is_told),
		IN_HUB(a_caller_may_have_less_patience),
		IN_HUB(a_caller_s_patience_bounds_the_wait_for_a_start_too),
		IN_HUB(a_short_call_timeout_does_not_shorten_a_start),
		IN_HUB(timeouts_of_nought_are_no_limits),
		IN_HUB(progress_puts_the_deadline_off_whether_or_not_anyone_listens),
		IN_HUB(a_cancelled_call_is_silent_and_the_server_is_told_why),
		IN_HUB(a_call_can_be_cancelled_in_every_state),
		IN_HUB(a_call_can_be_cancelled_by_its_own_progress),
		IN_HUB(the_end_of_a_call_may_begin_and_cancel_others),
		IN_HUB(a_crash_in_a_call_is_told_and_not_repeated),
		IN_HUB(a_call_by_signal_says_so),
		IN_HUB(a_request_that_was_never_sent_goes_to_a_new_process),
		IN_HUB(it_is_sent_once_more_and_not_for_ever),
		IN_HUB(a_failed_start_is_quoted),
		IN_HUB(a_server_that_does_not_read_does_not_fill_our_memory),
		IN_HUB(too_many_and_too_large_requests_are_refused),
		IN_HUB(a_line_without_end_fails_the_calls_and_the_next_has_another_process),
		IN_HUB(an_answer_that_is_too_long_leaves_the_process_as_it_is),
		IN_HUB(a_session_has_a_process_of_its_own),
		IN_HUB(each_call_has_a_process_of_its_own_when_asked),
		IN_HUB(an_exclusive_server_has_one_call_at_a_time),
		IN_HUB(a_running_call_outlives_a_change_of_its_server),
		IN_HUB(a_running_call_outlives_the_removal_of_its_server),
		IN_HUB(a_call_that_waits_for_a_server_that_breaks_is_told),
		IN_HUB(stopping_fails_every_call),
	};

	return RUN_IN_HUB(tests);
}

#include "base/base.h"
#include "hub/scene_fixture.h"

#include <signal.h>

static struct hub_scene scene;

/* One server that is ended without ado, on a hub whose pings wait for `ping_ms`. */
static void open_with_ping(const char *arguments, uint64_t ping_ms)
{
	hub_scene_init(&scene);
	scene.limits.pool.ping_ms = ping_ms;
	scene.limits.pool.close_ms = scene.limits.pool.term_ms = 1;
	hub_scene_open(&scene, one_server(arguments, ""));
	know_tools(&scene, "files");
}

static void call_within(struct caller *caller, const char *tool, uint64_t timeout_ms)
{
	call_spec(caller, &scene,
		  &(struct hub_call_spec){
			  .server = STR("files"), .tool = str_of(tool), .timeout_ms = timeout_ms });
}

static void times_out(const char *tool, const char *part)
{
	struct caller c;

	call_within(&c, tool, SHORT_MS);
	expect_error(&c, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN, part);
}

/* -- pings ----------------------------------------------------------------------------------------------- */

static void one_that_hangs_is_replaced(const char *arguments)
{
	struct caller c;
	const char *before;

	open_with_ping(arguments, SHORT_MS);
	before = call_now(&c, &scene, "files", "pid", "{}");
	times_out("freeze", "no answer and no progress within 30 ms (the caller's time-out)"
			    "; if it does not answer a ping within 30ms it is replaced");
	AWAIT(events_of(&scene,
			"server.silent files 2: files#1 is replaced: it did not answer a ping after a call "
			"timed out (pool.pingTimeout)"));
	assert_string_not_equal(call_now(&c, &scene, "files", "pid", "{}"), before);
	assert_int_equal(
		events_of(&scene,
			  "server files was stopped: it did not answer a ping after a call timed out"),
		1);
	hub_scene_close(&scene);
}

static void a_server_that_hangs_is_replaced(void **state)
{
	(void)state;
	one_that_hangs_is_replaced("");
	one_that_hangs_is_replaced("\"--modern\"");
}

/* A server whose pings have time, and a call that keeps its process. */
static struct instance *open_and_hold(struct caller *held, const char *arguments)
{
	open_with_ping(arguments, PLENTY_MS);
	call_and_leave(held, &scene, "files", "hold");
	return held->call.instance;
}

static void one_that_answers_a_ping_stays(const char *arguments)
{
	struct instance *instance;
	struct caller held;

	instance = open_and_hold(&held, arguments);
	times_out("silent", "; if it does not answer a ping within 1m it is replaced");
	AWAIT(!timer_running(&instance->doubt));
	assert_null(instance->retired);
	call_drop(&held);
	hub_scene_close(&scene);
}

static void a_server_that_answers_a_ping_stays(void **state)
{
	(void)state;
	one_that_answers_a_ping_stays("");
	one_that_answers_a_ping_stays("\"--modern\"");
}

static void any_message_is_a_sign_of_life(void **state)
{
	struct instance *instance;
	struct caller held;

	(void)state;
	instance = open_and_hold(&held, "");
	times_out("freeze", "; if it does not answer a ping");
	assert_true(timer_running(&instance->doubt));
	mcp_client_receive(&instance->client, STR("no message"), false);
	mcp_client_receive(&instance->client, STR("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"), false);
	timer_start(&instance->doubt, stage_loop, 0, instance->doubt.done);
	AWAIT(!timer_running(&instance->doubt));
	assert_null(instance->retired);
	/* Noise is none. */
	times_out("silent", "; if it does not answer a ping");
	mcp_client_receive(&instance->client, STR("no message"), false);
	timer_start(&instance->doubt, stage_loop, 0, instance->doubt.done);
	AWAIT(instance->retired);
	call_drop(&held);
	hub_scene_close(&scene);
}

static void an_instance_is_asked_once_at_a_time(void **state)
{
	struct instance *instance;
	struct caller held;
	uint64_t id;

	(void)state;
	instance = open_and_hold(&held, "");
	times_out("freeze", "; if it does not answer a ping");
	id = instance->ping.id;
	times_out("silent", "; if it does not answer a ping");
	assert_int_equal(instance->ping.id, id);
	assert_true(mcp_request_running(&instance->ping));
	call_drop(&held);
	hub_scene_close(&scene);
}

static void who_has_more_patience_keeps_the_silent_one(void **state)
{
	struct caller held, next, late;
	const char *before;

	(void)state;
	open_with_ping("", SHORT_MS);
	before = call_now(&held, &scene, "files", "pid", "{}");
	call_and_leave(&held, &scene, "files", "hold");
	times_out("freeze", "; if it does not answer a ping");
	AWAIT(held.call.instance->retired);
	assert_has(
		describe_server(&scene, "files"),
		"\"warnings\":[\"it gets no new calls and ends after those it has: it did not answer a ping "
		"after a call timed out\"");
	call(&next, &scene, "files", "pid", "{}");
	call_within(&late, "pid", SHORT_MS);
	expect_error(
		&late, ERR_TIMEOUT, MCP_NOT_SENT,
		"no instance became free within 30ms: files#1 gets no new calls and has not ended those it "
		"has (it did not answer a ping after a call timed out)");
	assert_int_equal(held.done + next.done, 0);
	timer_start(&held.call.upstream.idle, stage_loop, 0, held.call.upstream.idle.done);
	expect_error(&held, ERR_TIMEOUT, MCP_OUTCOME_UNKNOWN,
		     "; it is replaced: it did not answer a ping after a call timed out");
	AWAIT(next.done);
	assert_int_equal(next.outcome, MCP_ANSWERED);
	assert_lacks(buf_cstr(&next.result), before);
	call_end(&next);
	hub_scene_close(&scene);
}

static void a_list_that_is_not_told_raises_the_same_doubt(void **state)
{
	struct waiter waiter;
	struct caller c;

	(void)state;
	open_with_ping("", SHORT_MS);
	call_and_leave(&c, &scene, "files", "freeze");
	call_drop(&c);
	scene.hub->limits.refresh_ms = SHORT_MS;
	wait_for(&scene, &waiter, NULL, true, PLENTY_MS);
	AWAIT(waiter.done);
	assert_has(
		describe_server(&scene, "files"),
		"no answer within 30 ms (daemon.refreshTimeout); if it does not answer a ping within 30ms it "
		"is replaced");
	scene.hub->limits.refresh_ms = PLENTY_MS;
	AWAIT(events_of(&scene, "server.silent files"));
	(void)call_now(&c, &scene, "files", "pid", "{}");
	hub_scene_close(&scene);
}

/* -- noise ----------------------------------------------------------------------------------------------- */

static void noise_instead_of_an_answer_is_told(void **state)
{
	(void)state;
	open_with_ping("", PLENTY_MS);
	times_out("babble",
		  "a ping within 1m it is replaced; it wrote 5 lines that were no messages, the first: "
		  "\"Starting server v1.0 \xf0\x9f\x9a\x80\"");
	times_out("babble",
		  "; it wrote 5 lines that were no messages, the first since it started: \"Starting");
	times_out(
		"silent",
		"within 30 ms (the caller's time-out); if it does not answer a ping within 1m it is replaced");
	hub_scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HUB(a_server_that_hangs_is_replaced),
		IN_HUB(a_server_that_answers_a_ping_stays),
		IN_HUB(any_message_is_a_sign_of_life),
		IN_HUB(an_instance_is_asked_once_at_a_time),
		IN_HUB(who_has_more_patience_keeps_the_silent_one),
		IN_HUB(a_list_that_is_not_told_raises_the_same_doubt),
		IN_HUB(noise_instead_of_an_answer_is_told),
	};

	return RUN_IN_HUB(tests);
}

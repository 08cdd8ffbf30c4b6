#include "base/base.h"
#include "hub/hub_fixture.h"
#include "hub/instance.h"
#include "mcp/client.h"

#include <signal.h>

/* One instance and what it said. */
struct subject {
	struct instance_definition definition;
	struct instance *instance; /* held; dropped by ended_clean() */
	unsigned opened, failed, ended, notified, recovered;
	char reason[ERR_MESSAGE_MAX];
	int code;
};

static void subject_opened(struct instance *instance)
{
	struct subject *s = instance->owner;

	s->opened++;
	assert_int_equal(instance->state, INSTANCE_READY);
}

static void subject_failed(struct instance *instance)
{
	struct subject *s = instance->owner;

	s->failed++;
	assert_int_equal(s->ended, 0);
	assert_int_not_equal(instance->ended.code, 0);
}

static void subject_ended(struct instance *instance)
{
	struct subject *s = instance->owner;

	s->ended++;
	assert_int_equal(instance->state, INSTANCE_ENDED);
	s->code = instance->ended.code;
	snprintf(s->reason, sizeof(s->reason), "%s", instance->ended.message);
}

static void subject_notified(struct instance *instance, enum mcp_method method,
			     const struct jsonrpc_message *message)
{
	(void)message;
	((struct subject *)instance->owner)->notified += method == MCP_TOOLS_CHANGED;
}

static void subject_recovered(struct instance *instance)
{
	assert_false(instance->choked);
	((struct subject *)instance->owner)->recovered++;
}

/* silence_test.c has what comes of it. */
static void subject_silent(struct instance *instance)
{
	assert_non_null(instance->retired);
}

static const struct instance_events subject_events = {
	.opened = subject_opened,
	.failed = subject_failed,
	.ended = subject_ended,
	.recovered = subject_recovered,
	.silent = subject_silent,
	.notified = subject_notified,
};

static void subject_init(struct subject *s, const char *const *argv)
{
	struct pool_limits limits;

	test_pool_limits(&limits);
	*s = (struct subject){
		.definition = { .name = STR("files"),
				.argv = argv,
				.env = stage_environment,
				.supervisor = limits.supervisor,
				.line_max = limits.line_max,
				.stderr_keep = limits.stderr_keep,
				.noise_keep = limits.noise_keep,
				.input_max = limits.input_max,
				.requests_max = limits.requests_max,
				.close_ms = PLENTY_MS,
				.term_ms = PLENTY_MS,
				.kill_ms = PLENTY_MS,
				.start_ms = PLENTY_MS,
				.probe_ms = PLENTY_MS,
				.client_info = limits.client_info },
	};
}

#define SUBJECT(s, ...) subject_init(s, (const char *const[]){ __VA_ARGS__, NULL })

static void subject_start(struct subject *s)
{
	s->instance = instance_start(stage_loop, &s->definition, &subject_events, s);
	instance_hold(s->instance);
	/* Never from within the start. */
	assert_int_equal(s->opened + s->failed + s->ended, 0);
}

/* Starts it and waits until it serves. */
static void subject_open(struct subject *s)
{
	subject_start(s);
	AWAIT(s->opened);
}

static void subject_end(struct subject *s)
{
	instance_stop(s->instance, "the test is over");
	AWAIT(s->ended);
	assert_int_equal(s->ended, 1);
	instance_drop(&s->instance);
	assert_null(s->instance);
}

/* The supervisor holds the child's stdin too until it knows that the child runs. */
static bool nobody_else_reads(const struct subject *s)
{
	char path[64];

	if (!s->instance->child.pid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/0", parent_of(s->instance->child.pid));
	return access(path, F_OK) < 0;
}

static const char *describe(const struct instance *instance)
{
	static struct buf out = { .max = 1 << 16 };
	struct json_writer w;

	buf_clear(&out, 1 << 16);
	json_writer_init(&w, &out, false);
	instance_describe(instance, &w);
	return buf_cstr(&out);
}

/* -- becoming ready -------------------------------------------------------------------------------------- */

static void a_legacy_server_opens(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--starts", in_scratch("starts"));
	subject_start(&s);
	assert_has(describe(s.instance), "\"state\":\"starting\"");
	AWAIT(s.opened);
	assert_int_equal(mcp_era_of(s.instance->client.facts.revision), MCP_LEGACY);
	assert_str(s.instance->client.facts.instructions, "be kind");
	assert_true(s.instance->was_ready);
	assert_int_equal(count_lines("starts"), 1);
	assert_has(describe(s.instance), "\"state\":\"ready\",\"holders\":1");
	assert_has(describe(s.instance), "\"protocolVersion\":\"2025-11-25\"");
	subject_end(&s);
	assert_int_equal(s.code, ERR_CLOSED);
	assert_string_equal(s.reason, "server files was stopped: the test is over");
	assert_int_equal(s.failed, 0);
}

static void a_modern_server_opens(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--modern");
	subject_open(&s);
	assert_int_equal(mcp_era_of(s.instance->client.facts.revision), MCP_MODERN);
	subject_end(&s);
}

static void a_server_that_ends_upon_the_probe_gets_a_second_process(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--only-initialize", "--starts", in_scratch("starts"));
	subject_open(&s);
	assert_int_equal(count_lines("starts"), 2);
	assert_int_equal(mcp_era_of(s.instance->client.facts.revision), MCP_LEGACY);
	subject_end(&s);
}

static void a_known_legacy_server_needs_no_second_process(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--only-initialize", "--starts", in_scratch("starts"));
	s.definition.order = MCP_PREFER_INITIALIZE;
	subject_open(&s);
	assert_int_equal(count_lines("starts"), 1);
	subject_end(&s);
}

static void a_server_that_ignores_the_probe_is_initialized(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--no-probe");
	s.definition.probe_ms = SHORT_MS;
	subject_open(&s);
	assert_int_equal(mcp_era_of(s.instance->client.facts.revision), MCP_LEGACY);
	subject_end(&s);
}

static void noise_is_skipped_counted_and_shown(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--noise");
	subject_open(&s);
	assert_has(describe(s.instance), "\"noiseLines\":5,\"noiseFirst\":\"Starting server v1.0 ");
	subject_end(&s);
}

/* -- not becoming ready ---------------------------------------------------------------------------------- */

static void assert_never_ready(const struct subject *s)
{
	assert_int_equal(s->opened, 0);
	assert_int_equal(s->ended, 1);
	assert_false(s->instance->was_ready);
	assert_false(s->instance->asked);
}

static void a_command_that_is_not_there(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, "no-such-program-anywhere");
	subject_start(&s);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.code, ERR_UPSTREAM);
	assert_has(s.reason,
		   "server files did not start: cannot run \"no-such-program-anywhere\" in the directory /");
	assert_has(s.reason, "searching PATH /usr/bin:/bin: No such file or directory");
	instance_drop(&s.instance);
}

static void a_supervisor_that_is_not_there(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	s.definition.supervisor = in_scratch("no-supervisor");
	subject_start(&s);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.code, ERR_UPSTREAM);
	assert_has(s.reason, "server files did not start: ");
	assert_has(s.reason, "no-supervisor");
	instance_drop(&s.instance);
}

static void one_that_was_never_started_can_be_stopped(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	s.definition.supervisor = in_scratch("no-supervisor");
	subject_start(&s);
	instance_stop(s.instance, "nobody wants it");
	subject_end(&s);
	assert_has(s.reason, "no-supervisor");
}

static void a_failed_start_quotes_stderr(void **state)
{
	struct subject s;

	(void)state;
	assert_non_null(scratch_write(&hub_scratch, "broken", "").p);
	SUBJECT(&s, server_program(), "--fail-while", in_scratch("broken"), "--starts", in_scratch("starts"));
	s.definition.order = MCP_FORCE_INITIALIZE;
	subject_start(&s);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.code, ERR_CLOSED);
	assert_string_equal(
		s.reason,
		"server files exited with code 3 before it was ready; its stderr ends: reading the key\nfatal: there is no key");
	assert_int_equal(count_lines("starts"), 1);
	instance_drop(&s.instance);
}

static void only_the_end_of_a_long_stderr_is_quoted(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, "/bin/sh", "-c",
		"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $i "
		"0123456789012345678901234567890123456789 >&2; done; echo last >&2; exit 9");
	s.definition.order = MCP_FORCE_INITIALIZE;
	subject_start(&s);
	AWAIT(s.ended);
	assert_has(s.reason, "exited with code 9 before it was ready; its stderr ends: ");
	assert_has(s.reason, "\nlast");
	assert_lacks(s.reason, "ends: 1 0");
	/* From the beginning of a line. */
	assert_lacks(s.reason, "ends: 0");
	instance_drop(&s.instance);
}

static void a_failed_start_says_when_stderr_is_empty(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, "/bin/sh", "-c", "exit 6");
	subject_start(&s);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_string_equal(
		s.reason, "server files exited with code 6 before it was ready; it wrote nothing to stderr");
	instance_drop(&s.instance);
}

static void a_server_that_hangs_is_given_up(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--hang", "--stubborn", "--starts", in_scratch("starts"));
	s.definition.start_ms = SHORT_MS;
	s.definition.close_ms = s.definition.term_ms = 1;
	subject_start(&s);
	AWAIT(s.failed);
	assert_int_equal(s.ended, 0);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.failed, 1);
	assert_int_equal(s.code, ERR_TIMEOUT);
	assert_string_equal(
		s.reason,
		"server files did not start: no answer to the handshake within 30ms (pool.startTimeout); it wrote nothing to stderr");
	instance_drop(&s.instance);
}

static void a_server_that_closes_its_stdin_and_hangs_is_given_up(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--shut", "--starts", in_scratch("starts"));
	s.definition.close_ms = 1;
	subject_start(&s);
	AWAIT(count_lines("starts") && nobody_else_reads(&s));
	/* The probe is over, unless the pipe was closed before it: now initialize meets one that nobody
	 * reads. */
	if (timer_running(&s.instance->open.probe))
		timer_start(&s.instance->open.probe, stage_loop, 0, s.instance->open.probe.done);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.code, ERR_CLOSED);
	assert_string_equal(
		s.reason,
		"server files did not start: it closed its standard input and went on running; it wrote "
		"nothing to stderr");
	instance_drop(&s.instance);
}

static void a_server_that_closes_its_stdout_is_given_up(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--mute");
	s.definition.close_ms = SHORT_MS;
	subject_start(&s);
	AWAIT(s.failed);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.failed, 1);
	assert_int_equal(s.code, ERR_CLOSED);
	assert_string_equal(
		s.reason,
		"server files did not start: it closed its standard output and went on running; it wrote "
		"nothing to stderr");
	instance_drop(&s.instance);
}

static void a_handshake_that_is_refused(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--modern");
	s.definition.order = MCP_FORCE_INITIALIZE;
	subject_start(&s);
	AWAIT(s.ended);
	assert_never_ready(&s);
	assert_int_equal(s.failed, 1);
	assert_has(
		s.reason,
		"server files did not start: initialize: the server answered with error -32601: no such method");
	instance_drop(&s.instance);
}

/* -- ending ---------------------------------------------------------------------------------------------- */

static void a_server_that_is_killed(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	subject_start(&s);
	AWAIT(s.opened && s.instance->child.pid);
	assert_int_equal(kill(s.instance->child.pid, SIGKILL), 0);
	AWAIT(s.ended);
	assert_int_equal(s.code, ERR_CLOSED);
	assert_string_equal(s.reason,
			    "server files was killed by signal 9 (KILL); it wrote nothing to stderr");
	assert_false(s.instance->asked);
	/* Harmless now. */
	instance_stop(s.instance, "too late");
	instance_drop(&s.instance);
}

static void a_supervisor_that_is_killed(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	subject_start(&s);
	AWAIT(s.opened && s.instance->child.pid);
	assert_int_equal(kill(parent_of(s.instance->child.pid), SIGKILL), 0);
	AWAIT(s.ended);
	assert_string_equal(s.reason, "server files: the supervisor of the process was killed by signal 9");
	/* The kernel ends the server itself, and nobody is told when it has. */
	assert_true(wait_until_unmarked(LONG_MS));
	instance_drop(&s.instance);
}

static void a_stubborn_server_is_killed_at_the_end_of_the_ladder(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--stubborn");
	s.definition.close_ms = s.definition.term_ms = 1;
	subject_open(&s);
	instance_stop(s.instance, "first");
	instance_stop(s.instance, "second");
	assert_int_equal(s.ended, 0);
	assert_has(describe(s.instance), "\"state\":\"stopping\"");
	AWAIT(s.ended);
	assert_true(s.instance->asked);
	assert_string_equal(s.reason, "server files was stopped: first");
	instance_drop(&s.instance);
}

static void a_server_that_starts_can_be_stopped(void **state)
{
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program(), "--hang");
	subject_start(&s);
	subject_end(&s);
	assert_int_equal(s.opened + s.failed, 0);
	assert_true(s.code);
}

static void holders_keep_its_memory_and_nothing_else(void **state)
{
	struct subject s;
	struct instance *second;

	(void)state;
	SUBJECT(&s, server_program());
	subject_start(&s);
	second = s.instance;
	instance_hold(second);
	AWAIT(s.opened);
	instance_drop(&second);
	instance_stop(s.instance, "enough");
	AWAIT(s.ended);
	assert_int_equal(s.instance->holders, 1);
	assert_has(describe(s.instance), "\"state\":\"ended\"");
	instance_drop(&s.instance);
	instance_drop(&s.instance); /* NULL by now */
}

/* -- requests on it -------------------------------------------------------------------------------------- */

struct asked {
	struct mcp_request request;
	unsigned done;
	int code;
	enum mcp_outcome outcome;
	char message[ERR_MESSAGE_MAX];
	struct instance **drop; /* given back in the callback */
};

static void asked_done(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct asked *asked = request->owner;

	asked->done++;
	asked->code = answer->code;
	asked->outcome = answer->outcome;
	snprintf(asked->message, sizeof(asked->message), "%s", answer->code ? answer->err.message : "");
	if (asked->drop)
		instance_drop(asked->drop);
}

static void ask(struct asked *asked, struct instance *instance, const char *tool)
{
	const struct mcp_tool_call call = { .name = str_of(tool) };
	const struct mcp_patience patience = { PLENTY_MS, PLENTY_MS, STR(""), STR("") };

	*asked = (struct asked){ 0 };
	mcp_tool_call_start(&asked->request, &instance->client, &call, &patience, NULL, asked_done, asked);
}

static void ask_now(struct asked *asked, struct instance *instance, const char *tool)
{
	ask(asked, instance, tool);
	AWAIT(asked->done);
}

static void requests_end_with_the_process_and_may_drop_the_last_hold(void **state)
{
	struct asked first, second;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	subject_open(&s);
	ask(&first, s.instance, "silent");
	ask(&second, s.instance, "die");
	second.drop = &s.instance;
	AWAIT(first.done && second.done);
	assert_int_equal(first.code, ERR_CLOSED);
	assert_int_equal(first.outcome, MCP_OUTCOME_UNKNOWN);
	assert_string_equal(
		second.message,
		"tools/call: the request was sent, and whether the server acted on it is unknown: server files exited with code 7; its stderr "
		"ends: first words\nthese were my last words");
	AWAIT(s.ended);
	assert_null(s.instance);
}

static void requests_end_at_once_when_it_is_stopped(void **state)
{
	struct asked asked;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	subject_open(&s);
	ask(&asked, s.instance, "silent");
	instance_stop(s.instance, "mcpx is shutting down");
	assert_int_equal(asked.done, 1);
	assert_has(asked.message, "server files was stopped: mcpx is shutting down");
	subject_end(&s);
}

static void notifications_are_passed_on(void **state)
{
	struct asked asked;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	subject_open(&s);
	ask_now(&asked, s.instance, "change");
	assert_int_equal(asked.code, 0);
	assert_int_equal(s.notified, 1);
	subject_end(&s);
}

static void one_that_closed_its_stdin_is_retired(void **state)
{
	struct asked asked;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	s.definition.close_ms = 1;
	subject_open(&s);
	ask_now(&asked, s.instance, "shut");
	assert_null(s.instance->retired);
	AWAIT(nobody_else_reads(&s));
	ask_now(&asked, s.instance, "echo");
	assert_int_equal(asked.code, ERR_CLOSED);
	assert_int_equal(asked.outcome, MCP_NOT_SENT);
	assert_string_equal(s.instance->retired, "it takes no more messages");
	subject_end(&s);
}

/* What it was asked ends with an error that says so, rather than at its time-out. */
static void one_that_closed_its_stdout_is_ended(void **state)
{
	struct asked asked;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	s.definition.close_ms = SHORT_MS;
	subject_open(&s);
	ask_now(&asked, s.instance, "mute");
	assert_int_equal(asked.code, ERR_CLOSED);
	assert_int_equal(asked.outcome, MCP_OUTCOME_UNKNOWN);
	assert_has(asked.message, "closed its standard output and went on running");
	assert_string_equal(s.instance->retired, "it has closed its standard output");
	AWAIT(s.ended);
	subject_end(&s);
}

/* -- lines that are too long ----------------------------------------------------------------------------- */

static void an_answer_that_is_too_long_is_dropped_and_nothing_else(void **state)
{
	struct asked asked;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	s.definition.line_max = 4096;
	subject_open(&s);
	ask_now(&asked, s.instance, "long");
	assert_int_equal(asked.code, ERR_TOO_LARGE);
	assert_has(asked.message, "the server's answer is longer than 4096 bytes (pool.lineMax)");
	AWAIT(s.recovered);
	ask_now(&asked, s.instance, "echo");
	assert_int_equal(asked.code, 0);
	assert_has(
		describe(s.instance),
		"\"warnings\":[\"1 of its messages were longer than 4096 bytes (pool.lineMax) and were dropped\"]");
	subject_end(&s);
}

static void one_that_writes_a_line_without_end_is_ended(void **state)
{
	struct asked endless, lost;
	struct subject s;

	(void)state;
	SUBJECT(&s, server_program());
	s.definition.line_max = 4096;
	s.definition.close_ms = SHORT_MS;
	subject_open(&s);
	ask(&lost, s.instance, "silent");
	ask(&endless, s.instance, "endless");
	AWAIT(endless.done);
	assert_int_equal(endless.code, ERR_TOO_LARGE);
	assert_has(describe(s.instance), "; the last has not ended yet");
	AWAIT(lost.done);
	assert_int_equal(lost.code, ERR_CLOSED);
	assert_has(lost.message,
		   "server files writes a line without end, of more than 4096 bytes (pool.lineMax)");
	AWAIT(s.ended);
	assert_int_equal(s.recovered + s.failed, 0);
	subject_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HUB(a_legacy_server_opens),
		IN_HUB(a_modern_server_opens),
		IN_HUB(a_server_that_ends_upon_the_probe_gets_a_second_process),
		IN_HUB(a_known_legacy_server_needs_no_second_process),
		IN_HUB(a_server_that_ignores_the_probe_is_initialized),
		IN_HUB(noise_is_skipped_counted_and_shown),
		IN_HUB(a_command_that_is_not_there),
		IN_HUB(a_supervisor_that_is_not_there),
		IN_HUB(one_that_was_never_started_can_be_stopped),
		IN_HUB(a_failed_start_quotes_stderr),
		IN_HUB(only_the_end_of_a_long_stderr_is_quoted),
		IN_HUB(a_failed_start_says_when_stderr_is_empty),
		IN_HUB(a_server_that_hangs_is_given_up),
		IN_HUB(a_server_that_closes_its_stdout_is_given_up),
		IN_HUB(a_server_that_closes_its_stdin_and_hangs_is_given_up),
		IN_HUB(a_handshake_that_is_refused),
		IN_HUB(a_server_that_is_killed),
		IN_HUB(a_supervisor_that_is_killed),
		IN_HUB(a_stubborn_server_is_killed_at_the_end_of_the_ladder),
		IN_HUB(a_server_that_starts_can_be_stopped),
		IN_HUB(holders_keep_its_memory_and_nothing_else),
		IN_HUB(requests_end_with_the_process_and_may_drop_the_last_hold),
		IN_HUB(requests_end_at_once_when_it_is_stopped),
		IN_HUB(notifications_are_passed_on),
		IN_HUB(one_that_closed_its_stdin_is_retired),
		IN_HUB(one_that_closed_its_stdout_is_ended),
		IN_HUB(an_answer_that_is_too_long_is_dropped_and_nothing_else),
		IN_HUB(one_that_writes_a_line_without_end_is_ended),
	};

	return RUN_IN_HUB(tests);
}

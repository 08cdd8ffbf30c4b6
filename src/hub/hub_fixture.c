#include "base/base.h"
#include "hub/hub_fixture.h"
#include "io/files.h"

#include <fcntl.h>

enum {
	TURNS_MAX = 15000, /* of one millisecond at least */
	FILE_MAX = 1 << 20,
};

struct scratch hub_scratch;

int hub_set_up(void **state)
{
	scratch_init(&hub_scratch);
	return stage_set_up(state);
}

int hub_tear_down(void **state)
{
	scratch_release(&hub_scratch);
	return stage_tear_down(state);
}

/* -- waiting --------------------------------------------------------------------------------------------- */

static void turn_over(struct timer *timer)
{
	(void)timer;
	loop_stop(stage_loop);
}

void let_pass(unsigned ms)
{
	struct timer timer = { 0 };

	timer_start(&timer, stage_loop, ms, turn_over);
	loop_run(stage_loop);
	timer_stop(&timer);
}

void await_turn(unsigned turn, const char *condition)
{
	if (turn >= TURNS_MAX)
		fail_msg("waited in vain for: %s", condition);
	let_pass(1);
}

/* -- places ---------------------------------------------------------------------------------------------- */

const char *server_program(void)
{
	const char *path = getenv("MCPX_TEST_SERVER");

	assert_non_null(path);
	return path;
}

const char *in_scratch(const char *name)
{
	return scratch_path(&hub_scratch, name).p;
}

unsigned count_lines(const char *name)
{
	struct str text;
	unsigned lines = 0;

	if (file_read(in_scratch(name), FILE_MAX, &text, NULL) < 0)
		return 0;
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	free((char *)text.p);
	return lines;
}

bool in_scratch_is(const char *name)
{
	return access(in_scratch(name), F_OK) == 0;
}

void remove_in_scratch(const char *name)
{
	assert_int_equal(unlink(in_scratch(name)), 0);
}

int gate_make(const char *name)
{
	int gate;

	assert_int_equal(mkfifo(in_scratch(name), 0600), 0);
	/* Open for both, so that neither side waits for the other to open it. */
	gate = open(in_scratch(name), O_RDWR | O_CLOEXEC);
	assert_true(gate >= 0);
	return gate;
}

void gate_pass(int gate)
{
	assert_int_equal(write(gate, "x", 1), 1);
}

/* -- limits and texts ------------------------------------------------------------------------------------ */

void test_pool_limits(struct pool_limits *limits)
{
	*limits = (struct pool_limits){
		.supervisor = getenv("MCPX_SUPERVISOR"),
		.line_max = 1 << 20,
		.stderr_keep = 4096,
		.noise_keep = 100,
		.input_max = 1 << 20,
		.requests_max = 100,
		.batch_max = 100,
		.waiting_max = 100,
		.close_ms = PLENTY_MS,
		.term_ms = PLENTY_MS,
		.kill_ms = PLENTY_MS,
		.backoff_step_ms = PLENTY_MS,
		.backoff_max_ms = PLENTY_MS,
		.reap_ms = PLENTY_MS,
		.probe_ms = PLENTY_MS,
		.ping_ms = PLENTY_MS,
		.client_info = STR("{\"name\":\"hub-test\",\"version\":\"1\"}"),
		.seed = 1,
	};
}

void assert_has_(struct str text, struct str part, int line)
{
	if (str_find(text, part) == STR_NONE)
		fail_msg("line %d: \"%.*s\" is not in \"%.*s\"", line, STR_ARG(part), STR_ARG(text));
}

void assert_lacks_(struct str text, struct str part, int line)
{
	if (str_find(text, part) != STR_NONE)
		fail_msg("line %d: \"%.*s\" is in \"%.*s\"", line, STR_ARG(part), STR_ARG(text));
}

void assert_str_(struct str actual, struct str expected, int line)
{
	if (!str_eq(actual, expected))
		fail_msg("line %d: got \"%.*s\" for \"%.*s\"", line, STR_ARG(actual), STR_ARG(expected));
}

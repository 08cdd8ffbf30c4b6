/* Two handshakes, of which one may follow the other. */
#include "base/base.h"
#include "mcp/client_fixture.h"

static void initialize_fills_the_facts(void **state)
{
	struct rig *rig = *state;
	const struct mcp_server_facts *facts = &rig->client.facts;

	open_legacy(rig);
	assert_true(rig->client.open);
	assert_int_equal(facts->revision, MCP_2025_06_18);
	assert_true(str_eq(facts->info.name, STR("srv")));
	assert_true(str_eq(facts->info.title, STR("T")));
	assert_true(str_eq(facts->info.raw, STR("{\"name\":\"srv\",\"version\":\"2\",\"title\":\"T\"}")));
	assert_true(str_eq(facts->instructions, STR("be\nkind")));
	assert_true(facts->tools && facts->tools_changed && facts->logging);
	assert_false(facts->prompts || facts->resources || facts->completions);
	assert_int_equal(rig->client.sent, 2);
	assert_int_equal(rig->client.received, 1);
}

static void discover_fills_the_facts(void **state)
{
	struct rig *rig = *state;
	const struct mcp_server_facts *facts = &rig->client.facts;

	open_modern(rig);
	assert_int_equal(facts->revision, MCP_2026_07_28);
	assert_true(str_eq(facts->info.name, STR("new")));
	assert_true(str_eq(facts->supported, STR("[\"2027-01-01\",\"2026-07-28\"]")));
	assert_null(facts->instructions.p);
	assert_true(facts->tools && facts->resources && facts->resources_subscribe);
	assert_false(facts->tools_changed || facts->logging);
}

/* What a server may answer to the probe, and that initialize follows. */
static void anything_but_a_modern_answer_leads_to_initialize(void **state)
{
	static const char *const answers[] = {
		HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}",
		HEAD "\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid request parameters\"}}",
		HEAD "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\"}}",
		HEAD
		"\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2025-11-25\"]}}}",
		HEAD "\"id\":1,\"result\":{}}",
		HEAD "\"id\":1,\"result\":[]}",
		HEAD "\"id\":1,\"result\":{\"supportedVersions\":[\"2025-11-25\"]}}",
		HEAD "\"id\":1,\"result\":{\"supportedVersions\":\"2026-07-28\"}}",
		HEAD "\"id\":1,\"result\":{\"resultType\":\"odd\",\"supportedVersions\":[\"2026-07-28\"]}}",
		HEAD "\"id\":1,\"result\":{},\"error\":{}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct rig *rig;
		struct mcp_open open;

		if (i > 0)
			rig_setup(state);
		rig = *state;
		start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
		expect_sent(rig, DISCOVER("1"));
		feed(rig, answers[i]);
		expect_sent(rig, INITIALIZE("2"));
		feed(rig, HEAD "\"id\":2," INITIALIZE_RESULT);
		expect_sent(rig, INITIALIZED);
		assert_int_equal(rig->opens, 1);
		assert_int_equal(rig->open_code, 0);
		assert_int_equal(rig->client.facts.revision, MCP_2025_06_18);
		if (i + 1 < ARRAY_LEN(answers))
			rig_teardown(state);
	}
}

static void an_unsupported_version_is_retried_once(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_DISCOVER, 1000, 60000);
	expect_sent(rig, DISCOVER("1"));
	feed(rig, HEAD
	     "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"x\"}}}");
	expect_sent(rig, DISCOVER("2"));
	feed(rig, HEAD
	     "\"id\":2,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->open_code, ERR_UPSTREAM);
	assert_string_equal(rig->open_text, "server/discover: the server answered with error -32022: no");
}

struct late {
	struct rig *rig;
	struct timer timer;
	const char *lines[3];
};

static void late_feed(struct timer *timer)
{
	struct late *late = container_of(timer, struct late, timer);

	for (size_t i = 0; i < ARRAY_LEN(late->lines) && late->lines[i]; i++)
		feed(late->rig, late->lines[i]);
}

/* The server is silent until initialize has been sent beside the probe, then says `lines`. */
static void open_slow_server(struct rig *rig, struct mcp_open *open, const char *first, const char *second)
{
	struct late late = { .rig = rig, .lines = { first, second } };

	start_open(rig, open, MCP_PREFER_DISCOVER, 1, 60000);
	timer_start(&late.timer, rig->loop, 30, late_feed);
	run(rig);
	expect_sent(rig, DISCOVER("1"));
	expect_sent(rig, INITIALIZE("2"));
}

static void a_silent_probe_gets_initialize_beside_it(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	open_slow_server(rig, &open, HEAD "\"id\":2," INITIALIZE_RESULT, NULL);
	expect_sent(rig, INITIALIZED);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2025_06_18);
	feed(rig, HEAD "\"id\":1," DISCOVER_RESULT);
	assert_int_equal(rig->client.strays, 1);
	assert_int_equal(rig->opens, 1);
}

/* Whether it is gone or only slow decides what its owner makes of it. */
static void a_server_that_takes_no_notification_is_not_open(void **state)
{
	static const int codes[] = { ERR_BUSY, ERR_CLOSED };

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct rig *rig;
		struct mcp_open open;

		if (i > 0)
			rig_setup(state);
		rig = *state;
		start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
		expect_sent(rig, INITIALIZE("1"));
		rig->send_code = codes[i];
		feed(rig, HEAD "\"id\":1," INITIALIZE_RESULT);
		assert_int_equal(rig->open_code, codes[i]);
		assert_string_equal(rig->open_text,
				    "initialize: the server does not take notifications/initialized");
		if (i + 1 < ARRAY_LEN(codes))
			rig_teardown(state);
	}
}

static void a_slow_modern_server_is_still_modern(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	open_slow_server(rig, &open, HEAD "\"id\":1," DISCOVER_RESULT,
			 HEAD "\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no\"}}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2026_07_28);
	assert_int_equal(rig->client.strays, 1);
}

static void an_early_refusal_waits_for_the_probe(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	open_slow_server(rig, &open, HEAD "\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no\"}}",
			 HEAD "\"id\":1," DISCOVER_RESULT);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2026_07_28);
}

static void a_refused_initialize_leads_to_discover(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32022,\"message\":\"modern only\"}}");
	expect_sent(rig, DISCOVER("2"));
	feed(rig, HEAD "\"id\":2," DISCOVER_RESULT);
	assert_int_equal(rig->open_code, 0);
	assert_int_equal(rig->client.facts.revision, MCP_2026_07_28);
}

static void the_first_refusal_is_reported_when_both_fail(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_INITIALIZE, 1000, 60000);
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no licence\"}}");
	feed(rig, HEAD "\"id\":2,\"error\":{\"code\":-32601,\"message\":\"unknown\"}}");
	assert_int_equal(rig->open_code, ERR_UPSTREAM);
	assert_string_equal(rig->open_text, "initialize: the server answered with error -32000: no licence");
}

static void a_forced_handshake_does_not_try_the_other(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}");
	expect_sent(rig, NULL);
	assert_int_equal(rig->open_code, ERR_UPSTREAM);
}

static void a_foreign_revision_is_refused(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1,\"result\":{\"protocolVersion\":\"1999-01-01\",\"capabilities\":{}}}");
	assert_int_equal(rig->open_code, ERR_PROTOCOL);
	assert_string_equal(
		rig->open_text,
		"initialize: the server wants protocol version \"1999-01-01\", which this client does not speak");
}

static void a_server_that_dies_on_the_probe_is_told_apart(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;
	struct err why;

	start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
	err_set(&why, ERR_CLOSED, "the server exited with code 1");
	mcp_client_closed(&rig->client, &why);
	assert_int_equal(rig->open_code, ERR_CLOSED);
	assert_true(open.probe_unanswered);
	assert_string_equal(rig->open_text,
			    "server/discover: the request was sent, and whether the server acted on it is "
			    "unknown: the server exited with code 1");
}

static void a_server_that_dies_on_initialize_is_not(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
	feed(rig, HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}");
	mcp_client_closed(&rig->client, NULL);
	assert_int_equal(rig->open_code, ERR_CLOSED);
	assert_false(open.probe_unanswered);
}

static void opening_ends_at_its_deadline(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1, 20);
	run(rig);
	assert_int_equal(rig->open_code, ERR_TIMEOUT);
	assert_string_equal(rig->open_text, "initialize: no answer within 20 ms (startTimeout)");
	expect_sent(rig, INITIALIZE("1"));
	expect_sent(rig, NULL); /* initialize is never cancelled */
}

static void a_cancelled_opening_is_silent(void **state)
{
	struct rig *rig = *state;
	struct mcp_open open;

	start_open(rig, &open, MCP_PREFER_DISCOVER, 1000, 60000);
	mcp_open_cancel(&open);
	mcp_open_cancel(&open);
	feed(rig, HEAD "\"id\":1," DISCOVER_RESULT);
	assert_int_equal(rig->opens, 0);
	assert_int_equal(rig->client.strays, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(initialize_fills_the_facts),
		RIGGED(discover_fills_the_facts),
		RIGGED(anything_but_a_modern_answer_leads_to_initialize),
		RIGGED(an_unsupported_version_is_retried_once),
		RIGGED(a_silent_probe_gets_initialize_beside_it),
		RIGGED(a_server_that_takes_no_notification_is_not_open),
		RIGGED(a_slow_modern_server_is_still_modern),
		RIGGED(an_early_refusal_waits_for_the_probe),
		RIGGED(a_refused_initialize_leads_to_discover),
		RIGGED(the_first_refusal_is_reported_when_both_fail),
		RIGGED(a_forced_handshake_does_not_try_the_other),
		RIGGED(a_foreign_revision_is_refused),
		RIGGED(a_server_that_dies_on_the_probe_is_told_apart),
		RIGGED(a_server_that_dies_on_initialize_is_not),
		RIGGED(opening_ends_at_its_deadline),
		RIGGED(a_cancelled_opening_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

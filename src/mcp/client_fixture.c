#include "base/base.h"
#include "mcp/client_fixture.h"

#include <stdio.h>

struct rig *rig_of(struct mcp_client *client)
{
	return client->owner;
}

void copy_text(char *out, size_t size, struct str s)
{
	snprintf(out, size, "%.*s", STR_ARG(s));
}

static int rig_send(struct mcp_transport *transport, struct str line)
{
	struct rig *rig = container_of(transport, struct rig, transport);

	if (rig->send_code < 0)
		return rig->send_code;
	assert_int_equal(str_find_char(line, '\n'), line.n - 1);
	buf_append(&rig->sent, line);
	return 0;
}

static void rig_notification(struct mcp_client *client, enum mcp_method method,
			     const struct jsonrpc_message *message)
{
	(void)method;
	rig_of(client)->notifications++;
	copy_text(rig_of(client)->noted, sizeof(rig_of(client)->noted), message->method);
}

static bool rig_request(struct mcp_client *client, enum mcp_method method,
			const struct jsonrpc_message *message)
{
	(void)method;
	copy_text(rig_of(client)->noted, sizeof(rig_of(client)->noted), message->id);
	return rig_of(client)->take_requests;
}

static void rig_request_cancelled(struct mcp_client *client, struct str id)
{
	rig_of(client)->cancelled_requests++;
	copy_text(rig_of(client)->noted, sizeof(rig_of(client)->noted), id);
}

static const struct mcp_client_events rig_events = { rig_notification, rig_request, rig_request_cancelled };
const struct mcp_client_limits rig_limits = {
	.message_max = 4096,
	.requests_max = 3,
	.batch_max = 4,
	.noise_keep = 8,
};

int rig_setup(void **state)
{
	struct rig *rig = xnew(struct rig);

	assert_int_equal(loop_new(&rig->loop, NULL), 0);
	buf_init(&rig->sent, 1 << 20);
	rig->transport.send = rig_send;
	mcp_client_init(&rig->client, rig->loop, &rig->transport, &rig_limits, &rig_events, rig);
	*state = rig;
	return 0;
}

int rig_teardown(void **state)
{
	struct rig *rig = *state;

	mcp_client_release(&rig->client);
	loop_free(&rig->loop);
	buf_release(&rig->sent);
	free(rig);
	return 0;
}

void expect_sent(struct rig *rig, const char *line)
{
	struct str sent = rig->sent.n ? buf_str(&rig->sent) : STR("");
	size_t n = str_find_char(sent, '\n');

	if (!line) {
		assert_int_equal(sent.n, 0);
		return;
	}
	assert_int_not_equal(n, STR_NONE);
	rig->sent.p[n] = '\0';
	assert_string_equal(rig->sent.p, line);
	buf_drop(&rig->sent, n + 1);
}

/* Runs the loop until a callback has come. */
void run(struct rig *rig)
{
	rig->running = true;
	loop_run(rig->loop);
	rig->running = false;
}

void feed(struct rig *rig, const char *line)
{
	mcp_client_receive(&rig->client, str_of(line), false);
}

static void rig_opened(struct mcp_open *open, const struct err *err)
{
	struct rig *rig = open->owner;

	rig->opens++;
	rig->open_code = err ? err->code : 0;
	copy_text(rig->open_text, sizeof(rig->open_text), err ? str_of(err->message) : STR(""));
	if (rig->running)
		loop_stop(rig->loop);
}

void start_open(struct rig *rig, struct mcp_open *open, enum mcp_open_order order, uint64_t probe_ms,
		uint64_t open_ms)
{
	const struct mcp_open_options options = {
		.order = order,
		.legacy_revision = MCP_LATEST_LEGACY,
		.client_info = STR(CLIENT_INFO),
		.capabilities = STR("{}"),
		.probe_ms = probe_ms,
		.open_ms = open_ms,
		.open_setting = STR("startTimeout"),
	};

	mcp_open_start(open, &rig->client, &options, rig_opened, rig);
}

void open_legacy(struct rig *rig)
{
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_INITIALIZE, 1000, 60000);
	expect_sent(rig, INITIALIZE("1"));
	feed(rig, HEAD "\"id\":1," INITIALIZE_RESULT);
	expect_sent(rig, INITIALIZED);
	assert_int_equal(rig->opens, 1);
	assert_int_equal(rig->open_code, 0);
}

void open_modern(struct rig *rig)
{
	struct mcp_open open;

	start_open(rig, &open, MCP_FORCE_DISCOVER, 1000, 60000);
	expect_sent(rig, DISCOVER("1"));
	feed(rig, HEAD "\"id\":1," DISCOVER_RESULT);
	expect_sent(rig, NULL);
	assert_int_equal(rig->opens, 1);
	assert_int_equal(rig->open_code, 0);
}

void rig_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct rig *rig = request->owner;

	rig->answers++;
	rig->code = answer->code;
	rig->outcome = answer->outcome;
	rig->error_code = answer->error.code;
	copy_text(rig->text, sizeof(rig->text), answer->code ? str_of(answer->err.message) : answer->result);
	copy_text(rig->type, sizeof(rig->type), answer->result_type);
	if (rig->running)
		loop_stop(rig->loop);
}

void rig_progressed(struct mcp_request *request, const struct mcp_progress *progress, struct str params)
{
	struct rig *rig = request->owner;

	assert_true(str_starts_with(params, STR("{\"progressToken\":")));
	rig->progressed++;
	snprintf(rig->progress, sizeof(rig->progress), "%.*s/%.*s %.*s", STR_ARG(progress->progress),
		 STR_ARG(progress->total), STR_ARG(progress->message));
}

const struct mcp_patience patient = { 60000, 120000, STR_INIT("idleTimeout"), STR_INIT("callTimeout") };

void call_tool(struct rig *rig, struct mcp_request *request, const char *name, const char *arguments,
	       bool progress)
{
	const struct mcp_tool_call call = { .name = str_of(name), .arguments = str_of(arguments) };

	mcp_tool_call_start(request, &rig->client, &call, &patient, progress ? rig_progressed : NULL,
			    rig_answered, rig);
}

void call_tool_within(struct rig *rig, struct mcp_request *request, uint64_t ms)
{
	const struct mcp_tool_call call = { .name = STR("a") };
	const struct mcp_patience patience = { .idle_ms = ms, .total_ms = ms };

	mcp_tool_call_start(request, &rig->client, &call, &patience, NULL, rig_answered, rig);
}

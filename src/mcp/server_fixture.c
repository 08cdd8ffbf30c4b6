#include "base/base.h"
#include "mcp/server_fixture.h"

#include <stdio.h>

static struct rig *rig_of(struct mcp_session *session)
{
	return session->server->owner;
}

static const struct str tools[] = {
	STR_INIT("{\"name\":\"a\", \"inputSchema\":{\"type\":\"object\"}}"),
	STR_INIT(
		"{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"array\"}}"),
	STR_INIT(
		"{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\"}}"),
};

static void rig_tools_list(struct mcp_server_call *call)
{
	mcp_answer_list(call, tools, ARRAY_LEN(tools));
}

static const struct {
	struct str name, result;
} canned[] = {
	{ STR_INIT("echo"), STR_INIT(TEXT("hi")) },
	{ STR_INIT("spaced"), STR_INIT("{\n \"content\" :\r\n[ ] }") },
	{ STR_INIT("audio"),
	  STR_INIT("{\"content\":[{\"type\":\"audio\",\"data\":\"UklG\",\"mimeType\":\"audio/wav\"},"
		   "{\"type\":\"text\",\"text\":\"x\"}]}") },
	{ STR_INIT("link"),
	  STR_INIT("{\"content\":[{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"file:///n\","
		   "\"mimeType\":\"a/b\",\"description\":\"d\"}]}") },
	{ STR_INIT("object"), STR_INIT("{\"content\":[],\"structuredContent\":{\"a\":1}}") },
	{ STR_INIT("array"), STR_INIT("{\"content\":[],\"structuredContent\":[1],\"isError\":false}") },
	{ STR_INIT("bare"), STR_INIT("{\"structuredContent\":7,\"isError\":false}") },
	{ STR_INIT("both"),
	  STR_INIT(
		  "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"structuredContent\":7,\"isError\":false}") },
	{ STR_INIT("modern"),
	  STR_INIT("{\"resultType\":\"complete\",\"content\":[],\"_meta\":{\"a/b\":1,"
		   "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"up\",\"version\":\"0\"}}}") },
	{ STR_INIT("odd"), STR_INIT("[1]") },
};

static void rig_answer(struct mcp_server_call *call)
{
	for (size_t i = 0; i < ARRAY_LEN(canned); i++)
		if (str_eq(call->name, canned[i].name)) {
			mcp_answer_result(call, canned[i].result);
			return;
		}
	mcp_answer_unknown_tool(call);
}

static void rig_tools_call(struct mcp_server_call *call)
{
	struct rig *rig = rig_of(call->session);

	snprintf(rig->seen, sizeof(rig->seen), "%.*s|%.*s|%.*s|%.*s|%.*s|%.*s", STR_ARG(call->name),
		 STR_ARG(call->arguments), STR_ARG(call->progress_token),
		 STR_ARG(mcp_revision_name(call->revision)), STR_ARG(call->client_info),
		 STR_ARG(call->client_capabilities));
	if (str_eq(call->name, STR("hold")))
		rig->held[rig->held_count++] = call;
	else if (str_eq(call->name, STR("fail")))
		mcp_answer_error(call,
				 &(struct mcp_error){ -32022, STR("upstream \"x\""), STR("{\"a\": 1}") });
	else if (str_eq(call->name, STR("sorry")))
		mcp_answer_tool_error(call, STR("no \"disk\""));
	else if (str_eq(call->name, STR("needs")))
		mcp_answer_missing_capability(call, STR("{\"sampling\":{}}"));
	else
		rig_answer(call);
}

static void rig_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct rig *rig = rig_of(call->session);

	rig->cancelled++;
	snprintf(rig->reason, sizeof(rig->reason), "%.*s", STR_ARG(reason));
	for (unsigned i = 0; i < rig->held_count; i++)
		if (rig->held[i] == call)
			rig->held[i] = NULL;
}

static void rig_opened(struct mcp_session *session)
{
	rig_of(session)->opened++;
}

static void rig_closed(struct mcp_session *session)
{
	rig_of(session)->closed++;
}

static void rig_level_set(struct mcp_session *session)
{
	rig_of(session)->levels++;
}

const struct mcp_handler rig_handler = {
	.tools_list = rig_tools_list,
	.tools_call = rig_tools_call,
	.cancelled = rig_cancelled,
	.session_opened = rig_opened,
	.session_closed = rig_closed,
	.log_level_set = rig_level_set,
};

static const struct mcp_server_limits rig_limits = {
	.message_max = 1000,
	.answer_max = 2000,
	.calls_max = 2,
	.listens_max = 1,
	.batch_max = 3,
	.page_items = 2,
	.page_bytes = 1000,
};

static int rig_output(struct mcp_stdio_server *stdio, struct str line)
{
	struct rig *rig = stdio->owner;

	assert_int_equal(str_find_char(line, '\n'), line.n - 1);
	return buf_append(&rig->sent, line);
}

int rig_setup(void **state)
{
	struct rig *rig = xnew(struct rig);

	buf_init(&rig->sent, 1 << 20);
	mcp_server_init(&rig->server, &rig_handler, &rig_limits, rig);
	rig->server.info = STR(INFO);
	rig->server.logging = true;
	rig->server.tools_changed = true;
	mcp_stdio_init(&rig->stdio, &rig->server, STR("uid:1"), rig_output, rig);
	*state = rig;
	return 0;
}

int rig_teardown(void **state)
{
	struct rig *rig = *state;

	mcp_stdio_release(&rig->stdio);
	buf_release(&rig->sent);
	free(rig);
	return 0;
}

void send_line(struct rig *rig, const char *line)
{
	mcp_stdio_feed(&rig->stdio, str_of(line));
	mcp_stdio_feed(&rig->stdio, STR("\n"));
}

void expect(struct rig *rig, const char *line)
{
	struct str sent = rig->sent.n ? buf_str(&rig->sent) : STR("");
	size_t n = str_find_char(sent, '\n');

	if (!line) {
		if (sent.n)
			fail_msg("unexpected: %.*s", STR_ARG(sent));
		return;
	}
	assert_int_not_equal(n, STR_NONE);
	rig->sent.p[n] = '\0';
	assert_string_equal(rig->sent.p, line);
	buf_drop(&rig->sent, n + 1);
}

void exchange(struct rig *rig, const char *in, const char *out)
{
	send_line(rig, in);
	expect(rig, out);
	expect(rig, NULL);
}

void open_session(struct rig *rig, const char *initialize)
{
	send_line(rig, initialize);
	buf_clear(&rig->sent, 0);
	exchange(rig, INITIALIZED, NULL);
	assert_int_equal(rig->stdio.session.state, MCP_SESSION_OPEN);
}

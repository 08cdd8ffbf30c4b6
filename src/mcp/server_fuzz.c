/* A session fed with random lines. The first byte of the input says how the handler answers, and whether it
 * has resources; the rest is what the peer sends. */
#include "base/base.h"
#include "mcp/stdio_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITHOUT_RESOURCES = 128 };

struct fuzz {
	uint8_t how;
	struct mcp_server_call *held;
};

static void fuzz_list(struct mcp_server_call *call)
{
	static const struct str tools[] = {
		STR_INIT("{\"name\":\"a\",\"inputSchema\":{},\"outputSchema\":{\"type\":7}}"),
		STR_INIT("{\"name\":\"b\"}"),
		STR_INIT("7"),
	};

	mcp_answer_list(call, tools, ARRAY_LEN(tools));
}

/* Its own lists are longer than a page, in items or in bytes. */
static void fuzz_resources(struct mcp_server_call *call)
{
	static const struct str resources[] = {
		STR_INIT("{\"uri\":\"a:1\",\"name\":\"1\"}"),
		STR_INIT(
			"{\"uri\":\"a:2\",\"name\":\"a name that fills most of a page when it stands there\"}"),
		STR_INIT("{\"uri\":\"a:3\",\"name\":\"3\"}"),
		STR_INIT("[]"),
	};

	mcp_answer_list(call, resources, call->method == MCP_RESOURCES_LIST ? ARRAY_LEN(resources) : 1);
}

static void fuzz_release_held(struct fuzz *fuzz, struct str text)
{
	struct mcp_server_call *held = fuzz->held;

	fuzz->held = NULL;
	if (held && held->method == MCP_RESOURCES_READ)
		mcp_answer_unknown_resource(held, text);
	else if (held)
		mcp_answer_tool_error(held, text);
}

static void fuzz_read(struct mcp_server_call *call)
{
	struct fuzz *fuzz = call->session->server->owner;
	const struct mcp_progress progress = { STR("1"), { 0 }, call->name };

	BUG_ON(!call->name.p || !call->params.n);
	mcp_call_progress(call, &progress);
	switch (fuzz->how % 5) {
	case 0:
		mcp_answer_contents(call, arena_concat(call->arena, STR("["), call->params, STR("]")));
		break;
	case 1:
		mcp_answer_unknown_resource(call, call->name);
		break;
	case 2:
		mcp_answer_error(call, &(struct mcp_error){ -32042, call->name, call->params });
		break;
	case 3:
		fuzz_release_held(fuzz, call->name);
		fuzz->held = call;
		break;
	default:
		mcp_answer_unknown_resource(call, (struct str){ 0 });
		break;
	}
}

/* Whatever came as arguments goes back as a result, in one of the ways there are. */
static void fuzz_call(struct mcp_server_call *call)
{
	struct fuzz *fuzz = call->session->server->owner;
	const struct mcp_progress progress = { STR("1"), STR("2"), call->name };
	const struct mcp_log log = { MCP_LOG_ALERT, call->name, call->arguments };

	mcp_call_progress(call, &progress);
	mcp_call_log(call, &log);
	switch (fuzz->how % 5) {
	case 0:
		mcp_answer_result(call, call->arguments);
		break;
	case 1:
		mcp_answer_error(call, &(struct mcp_error){ -32002, call->name, call->arguments });
		break;
	case 2:
		mcp_answer_missing_capability(call, call->arguments);
		break;
	case 3:
		fuzz_release_held(fuzz, call->name);
		fuzz->held = call;
		break;
	default:
		mcp_answer_unknown_tool(call);
		break;
	}
}

static void fuzz_cancelled(struct mcp_server_call *call, struct str reason)
{
	struct fuzz *fuzz = call->session->server->owner;

	(void)reason;
	BUG_ON(fuzz->held != call);
	fuzz->held = NULL;
}

/* What leaves us is always one line of JSON. */
static int fuzz_output(struct mcp_stdio_server *stdio, struct str line)
{
	(void)stdio;
	BUG_ON(str_find_char(line, '\n') != line.n - 1);
	BUG_ON(json_check(line, NULL, NULL) != 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mcp_handler without = {
		.tools_list = fuzz_list,
		.tools_call = fuzz_call,
		.cancelled = fuzz_cancelled,
	};
	static const struct mcp_handler with = {
		.tools_list = fuzz_list,
		.tools_call = fuzz_call,
		.resources_list = fuzz_resources,
		.resource_templates_list = fuzz_resources,
		.resources_read = fuzz_read,
		.cancelled = fuzz_cancelled,
	};
	static const struct mcp_server_limits limits = { 4096, 32, 65536, 3, 2, 4, 2, 100 };
	struct mcp_stdio_server stdio;
	struct mcp_server server;
	struct fuzz fuzz = { .how = size ? data[0] : 0 };
	struct str text = str_make((const char *)data, size);

	mcp_server_init(&server, fuzz.how & WITHOUT_RESOURCES ? &without : &with, &limits, &fuzz);
	server.logging = server.tools_changed = true;
	mcp_stdio_init(&stdio, &server, STR("fuzz"), fuzz_output, NULL);
	mcp_stdio_feed(&stdio, str_from(text, 1));
	mcp_server_tools_changed(&server);
	mcp_stdio_feed(&stdio, STR("\n"));
	mcp_session_end_listens(&stdio.session);
	mcp_stdio_release(&stdio);
	BUG_ON(fuzz.held);
	return 0;
}

/*
 * Prints one message of every kind that this room writes, for every revision: the revision, the name of its
 * definition in the official schema, and the message, separated by tabs. schema_test.py holds them against
 * the schemas.
 */
#include "base/base.h"

#include <stdio.h>

#include "mcp/client.h"
#include "mcp/stdio_server.h"

static enum mcp_revision revision;
static const char *definition; /* of what is sent next; NULL: not of interest */

static void show(struct str line)
{
	if (definition)
		printf("%.*s\t%s\t%.*s", STR_ARG(mcp_revision_name(revision)), definition, STR_ARG(line));
	definition = NULL;
}

/* -- the server ------------------------------------------------------------------------------------------ */

static struct mcp_server_call *held;

static void list_tools(struct mcp_server_call *call)
{
	static const struct str tools[] = {
		STR_INIT(
			"{\"name\":\"a\",\"title\":\"A\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"array\"}}"),
		STR_INIT(
			"{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}}"),
	};

	mcp_answer_list(call, tools, ARRAY_LEN(tools));
}

static void list_resources(struct mcp_server_call *call)
{
	static const struct str resources[] = { STR_INIT("{\"uri\":\"a:1\",\"name\":\"1\"}") };

	mcp_answer_list(call, resources, ARRAY_LEN(resources));
}

static void list_templates(struct mcp_server_call *call)
{
	static const struct str templates[] = { STR_INIT("{\"uriTemplate\":\"a:{n}\",\"name\":\"n\"}") };

	mcp_answer_list(call, templates, ARRAY_LEN(templates));
}

static void read_resource(struct mcp_server_call *call)
{
	if (str_eq(call->name, STR("a:1")))
		mcp_answer_contents(call, STR("[{\"uri\":\"a:1\",\"blob\":\"AAAA\"}]"));
	else
		mcp_answer_unknown_resource(call, (struct str){ 0 });
}

static void hold_call(struct mcp_server_call *call)
{
	held = call;
}

static void drop_call(struct mcp_server_call *call, struct str reason)
{
	(void)call;
	(void)reason;
}

static int show_output(struct mcp_stdio_server *stdio, struct str line)
{
	(void)stdio;
	show(line);
	return 0;
}

/* Sends a request with what its era puts into its parameters; `params` ends in a comma or is empty. */
static void ask(struct mcp_stdio_server *stdio, const char *expect, const char *method, const char *params)
{
	static const char modern[] = ",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
				     "\"io.modelcontextprotocol/clientCapabilities\":{},"
				     "\"io.modelcontextprotocol/logLevel\":\"debug\"";
	struct buf line;

	buf_init(&line, JSON_BYTES_MAX);
	buf_printf(
		&line,
		"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"%s\",\"params\":{%s\"_meta\":{\"progressToken\":1%s}}}\n",
		method, params, mcp_era_of(revision) == MCP_MODERN ? modern : "");
	definition = expect;
	mcp_stdio_feed(stdio, buf_str(&line));
	buf_release(&line);
}

static void answer_calls(struct mcp_stdio_server *stdio)
{
	static const char call[] = "\"name\":\"a\",";
	const struct mcp_progress progress = { STR("1.5"), STR("3"), STR("half") };
	const struct mcp_log log = { MCP_LOG_ERROR, STR("l"), STR("{\"a\":1}") };

	ask(stdio, NULL, "tools/call", call);
	definition = "ProgressNotification";
	mcp_call_progress(held, &progress);
	definition = "LoggingMessageNotification";
	mcp_call_log(held, &log);
	definition = "CallToolResult";
	mcp_answer_result(
		held, STR("{\"content\":[{\"type\":\"audio\",\"data\":\"UklG\",\"mimeType\":\"audio/wav\"},"
			  "{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"file:///n\"}],"
			  "\"structuredContent\":[1],\"resultType\":\"complete\"}"));
	ask(stdio, NULL, "tools/call", call);
	definition = "CallToolResult";
	mcp_answer_tool_error(held, STR("no"));
	ask(stdio, NULL, "tools/call", call);
	definition = "error";
	mcp_answer_unknown_tool(held);
	ask(stdio, NULL, "tools/call", call);
	definition = mcp_era_of(revision) == MCP_MODERN ? "MissingRequiredClientCapabilityError" : "error";
	mcp_answer_missing_capability(held, STR("{\"sampling\":{}}"));
}

static void serve_legacy(struct mcp_stdio_server *stdio)
{
	char params[128];

	snprintf(params, sizeof(params), "\"protocolVersion\":\"%.*s\",\"capabilities\":{},",
		 STR_ARG(mcp_revision_name(revision)));
	ask(stdio, "InitializeResult", "initialize", params);
	mcp_stdio_feed(stdio, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
	ask(stdio, "EmptyResult", "ping", "");
	ask(stdio, "EmptyResult", "logging/setLevel", "\"level\":\"debug\",");
	definition = "ToolListChangedNotification";
	mcp_server_tools_changed(stdio->session.server);
}

static void serve_modern(struct mcp_stdio_server *stdio)
{
	ask(stdio, "DiscoverResult", "server/discover", "");
	ask(stdio, "SubscriptionsAcknowledgedNotification", "subscriptions/listen",
	    "\"notifications\":{\"toolsListChanged\":true},");
	definition = "ToolListChangedNotification";
	mcp_server_tools_changed(stdio->session.server);
	definition = "SubscriptionsListenResult";
	mcp_session_end_listens(&stdio->session);
	definition = "UnsupportedProtocolVersionError";
	mcp_stdio_feed(stdio,
		       STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
			   "\"io.modelcontextprotocol/protocolVersion\":\"v9\","
			   "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n"));
}

static void show_server(void)
{
	static const struct mcp_handler handler = { .tools_list = list_tools,
						    .tools_call = hold_call,
						    .resources_list = list_resources,
						    .resource_templates_list = list_templates,
						    .resources_read = read_resource,
						    .cancelled = drop_call };
	static const struct mcp_server_limits limits = { 10000, 0, 10000, 10, 1, 10, 1, 10000 };
	struct mcp_stdio_server stdio;
	struct mcp_server server;

	mcp_server_init(&server, &handler, &limits, NULL);
	server.info = STR("{\"name\":\"s\",\"version\":\"1\"}");
	server.instructions = STR("be kind");
	server.logging = server.tools_changed = true;
	mcp_stdio_init(&stdio, &server, STR(""), show_output, NULL);
	if (mcp_era_of(revision) == MCP_MODERN)
		serve_modern(&stdio);
	else
		serve_legacy(&stdio);
	ask(&stdio, "ListToolsResult", "tools/list", "");
	ask(&stdio, "ListToolsResult", "tools/list", "\"cursor\":\"from:1\",");
	ask(&stdio, "ListResourcesResult", "resources/list", "");
	ask(&stdio, "ListResourceTemplatesResult", "resources/templates/list", "");
	ask(&stdio, "ReadResourceResult", "resources/read", "\"uri\":\"a:1\",");
	ask(&stdio, "error", "resources/read", "\"uri\":\"a:2\",");
	ask(&stdio, "error", "no/such", "");
	answer_calls(&stdio);
	mcp_stdio_release(&stdio);
}

/* -- the client ------------------------------------------------------------------------------------------ */

static int show_sent(struct mcp_transport *transport, struct str line)
{
	(void)transport;
	show(line);
	return 0;
}

static void opened(struct mcp_open *open, const struct err *err)
{
	(void)open;
	BUG_ON(err);
}

static void answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	(void)request;
	(void)answer;
}

static void progressed(struct mcp_request *request, const struct mcp_progress *progress, struct str params)
{
	(void)request;
	(void)progress;
	(void)params;
}

static void open_client(struct mcp_client *client)
{
	bool modern = mcp_era_of(revision) == MCP_MODERN;
	const struct mcp_open_options options = {
		.order = modern ? MCP_FORCE_DISCOVER : MCP_FORCE_INITIALIZE,
		.legacy_revision = modern ? MCP_LATEST_LEGACY : revision,
		.client_info = STR("{\"name\":\"c\",\"version\":\"1\"}"),
		.capabilities = STR("{}"),
		.probe_ms = 1000,
		.open_ms = 1000,
	};
	struct mcp_open open;
	char line[256];

	definition = modern ? "DiscoverRequest" : "InitializeRequest";
	mcp_open_start(&open, client, &options, opened, NULL);
	definition = modern ? NULL : "InitializedNotification";
	snprintf(line, sizeof(line),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"%s\":%s\"%.*s\"%s,\"capabilities\":{}}}",
		 modern ? "supportedVersions" : "protocolVersion", modern ? "[" : "",
		 STR_ARG(mcp_revision_name(revision)), modern ? "]" : "");
	mcp_client_receive(client, str_of(line), false);
}

static void show_client(struct loop *loop)
{
	static const struct mcp_client_limits limits = {
		.message_max = 10000, .depth_max = 0, .requests_max = 10, .batch_max = 10, .noise_keep = 100
	};
	static const struct mcp_patience patience = { 1000, 1000, { 0 }, { 0 } };
	const struct mcp_tool_call call = { STR("t"), STR("{\"a\":1}"), STR("{\"traceparent\":\"x\"}"),
					    MCP_LOG_INFO };
	const struct mcp_message list = { .method = MCP_TOOLS_LIST };
	struct mcp_transport transport = { .send = show_sent };
	struct mcp_client client;
	struct mcp_request request = { 0 };

	mcp_client_init(&client, loop, &transport, &limits, NULL, NULL);
	open_client(&client);
	definition = "ListToolsRequest";
	mcp_request_start(&request, &client, &list, &patience, NULL, answered, NULL);
	mcp_request_cancel(&request);
	definition = "CallToolRequest";
	mcp_tool_call_start(&request, &client, &call, &patience, progressed, answered, NULL);
	definition = "CancelledNotification";
	mcp_request_cancel_because(&request, STR("bored"));
	if (mcp_has(revision, MCP_HAS_SERVER_REQUESTS)) {
		definition = "error";
		mcp_client_receive(&client, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}"),
				   false);
		definition = "EmptyResult";
		mcp_client_receive(&client, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"), false);
	}
	mcp_client_closed(&client, NULL);
	mcp_client_release(&client);
}

int main(void)
{
	struct loop *loop;

	BUG_ON(loop_new(&loop, NULL) < 0);
	for (unsigned i = 0; i < MCP_REVISION_COUNT; i++) {
		revision = (enum mcp_revision)i;
		show_server();
		show_client(loop);
	}
	loop_free(&loop);
	return 0;
}

/* Lists of tools and resources, and how peers hear that one has changed. */
#include "base/base.h"
#include "mcp/server_fixture.h"

#include <stdio.h>

static void tools_are_listed_in_pages(void **state)
{
	struct rig *rig = *state;

	open_session(rig, INITIALIZE("2025-11-25"));
	exchange(rig, HEAD "\"id\":1,\"method\":\"tools/list\"}",
		 HEAD
		 "\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\", \"inputSchema\":{\"type\":\"object\"}},"
		 "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":\"from:2\"}}");
	exchange(
		rig, HEAD "\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:2\"}}",
		HEAD
		"\"id\":2,\"result\":{\"tools\":[{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":"
		"{\"type\":\"object\"}}]}}");
	exchange(rig, HEAD "\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:99999999999\"}}",
		 HEAD "\"id\":3,\"result\":{\"tools\":[]}}");
	rig->server.limits.page_bytes = 1;
	exchange(
		rig, HEAD "\"id\":4,\"method\":\"tools/list\",\"params\":{\"cursor\":null}}",
		HEAD
		"\"id\":4,\"result\":{\"tools\":[{\"name\":\"a\", \"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":"
		"\"from:1\"}}");
	rig->server.limits.answer_max = 60;
	exchange(rig, HEAD "\"id\":5,\"method\":\"tools/list\"}",
		 HEAD "\"id\":5,\"error\":{\"code\":-32603,\"message\":\"the error's text is too long\"}}");
}

static void modern_lists_have_their_extras(void **state)
{
	struct rig *rig = *state;

	rig->server.cache_ttl_ms = 5000;
	rig->server.cache_public = true;
	exchange(
		rig, HEAD "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"from:1\"," META "}}}",
		HEAD
		"\"id\":1,\"result\":{\"resultType\":\"complete\",\"tools\":[{\"name\":\"b\",\"inputSchema\":{\"type\":"
		"\"object\"},\"outputSchema\":{\"type\":\"array\"}},{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"},"
		"\"outputSchema\":{\"type\":\"object\"}}],\"ttlMs\":5000,\"cacheScope\":\"public\"," SERVER_META
		"}}");
}

static void rig_resources_list(struct mcp_server_call *call)
{
	static const struct str resources[] = { STR_INIT("{\"uri\":\"a:1\",\"name\":\"1\"}"),
						STR_INIT("{\"uri\":\"a:2\",\"name\":\"2\"}"),
						STR_INIT("{\"uri\":\"a:3\",\"name\":\"3\"}") };

	mcp_answer_list(call, resources, ARRAY_LEN(resources));
}

static void rig_templates_list(struct mcp_server_call *call)
{
	static const struct str templates[] = { STR_INIT("{\"uriTemplate\":\"a:{n}\",\"name\":\"n\"}") };

	mcp_answer_list(call, templates, ARRAY_LEN(templates));
}

static void rig_resources_read(struct mcp_server_call *call)
{
	if (str_eq(call->name, STR("a:1")))
		mcp_answer_contents(call, STR("[{\"uri\":\"a:1\",\"text\":\"one\"}]"));
	else
		mcp_answer_unknown_resource(call, str_eq(call->name, STR("a:gone")) ? STR("it is gone")
										    : (struct str){ 0 });
}

static void resources_are_listed_and_read(void **state)
{
	static const struct {
		const char *method, *params, *answer;
	} rows[] = {
		{ "resources/list", "",
		  "\"result\":{\"resources\":[{\"uri\":\"a:1\",\"name\":\"1\"},{\"uri\":\"a:2\",\"name\":\"2\"}],\"nextCursor\":\"from:2\"}" },
		{ "resources/list", "\"cursor\":\"from:2\"",
		  "\"result\":{\"resources\":[{\"uri\":\"a:3\",\"name\":\"3\"}]}" },
		{ "resources/list", "\"cursor\":5",
		  "\"error\":{\"code\":-32602,\"message\":\"\\\"cursor\\\" is not one that this server gave\"}" },
		{ "resources/templates/list", "",
		  "\"result\":{\"resourceTemplates\":[{\"uriTemplate\":\"a:{n}\",\"name\":\"n\"}]}" },
		{ "resources/read", "\"uri\":\"a:1\"",
		  "\"result\":{\"contents\":[{\"uri\":\"a:1\",\"text\":\"one\"}]}" },
		{ "resources/read", "\"uri\":\"a:9\"",
		  "\"error\":{\"code\":-32002,\"message\":\"unknown resource: a:9\",\"data\":{\"uri\":\"a:9\"}}" },
		{ "resources/read", "\"uri\":\"a:gone\"",
		  "\"error\":{\"code\":-32002,\"message\":\"it is gone\",\"data\":{\"uri\":\"a:gone\"}}" },
		{ "resources/read", "\"uri\":5",
		  "\"error\":{\"code\":-32602,\"message\":\"\\\"uri\\\" must be a string\"}" },
		{ "resources/subscribe", "\"uri\":\"a:1\"",
		  "\"error\":{\"code\":-32601,\"message\":\"unknown method \\\"resources/subscribe\\\"\"}" },
	};
	struct rig *rig = *state;
	struct mcp_handler handler = *rig->server.handler;

	open_session(rig, INITIALIZE("2025-06-18"));
	exchange(rig, HEAD "\"id\":1,\"method\":\"resources/list\"}",
		 HEAD "\"id\":1,\"error\":{\"code\":-32601,\"message\":\"resources are not offered\"}}");
	handler.resources_list = rig_resources_list;
	handler.resource_templates_list = rig_templates_list;
	handler.resources_read = rig_resources_read;
	rig->server.handler = &handler;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char in[256], out[512];

		snprintf(in, sizeof(in), HEAD "\"id\":1,\"method\":\"%s\",\"params\":{%s}}", rows[i].method,
			 rows[i].params);
		snprintf(out, sizeof(out), HEAD "\"id\":1,%s}", rows[i].answer);
		exchange(rig, in, out);
	}
	exchange(
		rig, HEAD "\"id\":2,\"method\":\"resources/read\",\"params\":{\"uri\":\"a:9\"," META "}}}",
		HEAD
		"\"id\":2,\"error\":{\"code\":-32602,\"message\":\"unknown resource: a:9\",\"data\":{\"uri\":\"a:9\"}}}");
	exchange(
		rig, HEAD "\"id\":3,\"method\":\"resources/read\",\"params\":{\"uri\":\"a:1\"," META "}}}",
		HEAD
		"\"id\":3,\"result\":{\"resultType\":\"complete\",\"contents\":[{\"uri\":\"a:1\",\"text\":\"one\"}],"
		"\"ttlMs\":0,\"cacheScope\":\"private\"," SERVER_META "}}");
	exchange(
		rig, HEAD "\"id\":\"d\",\"method\":\"server/discover\",\"params\":{" META "}}}",
		HEAD
		"\"id\":\"d\",\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
		"\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{},\"logging\":{}},\"ttlMs\":0,"
		"\"cacheScope\":\"private\"," SERVER_META "}}");
	/* The rig ends with the handler that it began with. */
	rig->server.handler = &rig_handler;
}

/* -- changes of the list --------------------------------------------------------------------------------- */

static void legacy_peers_hear_of_changes_once_they_are_open(void **state)
{
	struct rig *rig = *state;

	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	exchange(rig, INITIALIZE("2025-06-18"), INITIALIZE_RESULT("2025-06-18"));
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	exchange(rig, INITIALIZED, HEAD "\"method\":\"notifications/tools/list_changed\"}");
	mcp_server_tools_changed(&rig->server);
	expect(rig, HEAD "\"method\":\"notifications/tools/list_changed\"}");
	mcp_session_unrelated_ready(&rig->stdio.session);
	expect(rig, NULL);
	rig->server.tools_changed = false;
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
}

#define LISTEN(id, filter)                                                                                   \
	HEAD "\"id\":" id ",\"method\":\"subscriptions/listen\",\"params\":{" filter META "}}}"
#define SUBSCRIPTION(id) "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}"

static void modern_peers_hear_of_changes_where_they_listen(void **state)
{
	struct rig *rig = *state;

	exchange(
		rig,
		LISTEN("\"s\"", "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true},"),
		HEAD
		"\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true}," SUBSCRIPTION(
			"\"s\"") "}}");
	mcp_server_tools_changed(&rig->server);
	expect(rig, HEAD
	       "\"method\":\"notifications/tools/list_changed\",\"params\":{" SUBSCRIPTION("\"s\"") "}}");
	expect(rig, NULL);
	exchange(
		rig, LISTEN("2", "\"notifications\":{},"),
		HEAD
		"\"id\":2,\"error\":{\"code\":-32603,\"message\":\"1 requests of this client are running already: wait for one to "
		"end\"}}");
	exchange(rig, HEAD "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"s\"}}", NULL);
	assert_int_equal(rig->cancelled, 0);
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	exchange(
		rig, LISTEN("3", "\"notifications\":{},"),
		HEAD
		"\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{}," SUBSCRIPTION(
			"3") "}}");
	mcp_server_tools_changed(&rig->server);
	expect(rig, NULL);
	mcp_session_end_listens(&rig->stdio.session);
	expect(rig, HEAD "\"id\":3,\"result\":{\"resultType\":\"complete\"," SUBSCRIPTION("3") "}}");
	assert_int_equal(rig->stdio.session.listen_count, 0);
}

static void bad_filters_are_refused(void **state)
{
	static const char *const filters[] = { "", "\"notifications\":[],",
					       "\"notifications\":{\"toolsListChanged\":1}," };
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		char in[512];

		snprintf(in, sizeof(in), LISTEN("1", "%s"), filters[i]);
		exchange(
			rig, in,
			HEAD
			"\"id\":1,\"error\":{\"code\":-32602,\"message\":\"\\\"notifications\\\" must be an object, and its "
			"\\\"toolsListChanged\\\" a boolean\"}}");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(tools_are_listed_in_pages),
		RIGGED(modern_lists_have_their_extras),
		RIGGED(resources_are_listed_and_read),
		RIGGED(legacy_peers_hear_of_changes_once_they_are_open),
		RIGGED(modern_peers_hear_of_changes_where_they_listen),
		RIGGED(bad_filters_are_refused),
	};

	return cmocka_run_group_tests_name("mcp/server_list", tests, NULL, NULL);
}

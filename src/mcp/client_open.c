/*
 * Two handshakes, of which one may follow the other (2026-07-28, versioning, "Dual-era clients").
 * server/discover is a probe: anything but a modern server's answer to it leads to initialize. When no answer
 * comes in time, initialize is sent beside it, because a server that is only slow to start will answer both,
 * in order, and then the first answer tells the era.
 */
#include "base/base.h"
#include "mcp/client.h"

#include "mcp/client_private.h"

static void open_discover(struct mcp_open *open);
static void open_initialize(struct mcp_open *open);

/* -- the end --------------------------------------------------------------------------------------------- */

static void open_stop(struct mcp_open *open)
{
	timer_stop(&open->probe);
	mcp_request_cancel(&open->discover);
	mcp_request_cancel(&open->initialize);
	open->client = NULL;
}

static void open_succeed(struct mcp_open *open)
{
	open->client->open = true;
	open_stop(open);
	open->done(open, NULL);
}

static void open_fail(struct mcp_open *open, const struct err *err)
{
	struct err why = *err;

	open_stop(open);
	open->done(open, &why);
}

static void open_closed(struct mcp_open *open, const struct mcp_answer *answer, bool discover_unanswered)
{
	open->probe_unanswered = discover_unanswered && open->options.order == MCP_PREFER_DISCOVER;
	open_fail(open, &answer->err);
}

static bool open_may_initialize(const struct mcp_open *open)
{
	return open->options.order != MCP_FORCE_DISCOVER && !open->initialize_tried;
}

/* A handshake failed. The other one follows, or runs already, or both have failed. */
static void open_discover_failed(struct mcp_open *open, const struct err *err)
{
	if (open_may_initialize(open)) {
		open->first_failure = *err;
		open_initialize(open);
	} else if (!mcp_request_running(&open->initialize)) {
		open_fail(open, open->first_failure.code ? &open->first_failure : err);
	}
}

static void open_initialize_failed(struct mcp_open *open, const struct err *err)
{
	bool may_discover = open->options.order == MCP_PREFER_INITIALIZE && err->code == ERR_UPSTREAM;

	if (may_discover) {
		open->first_failure = *err;
		open_discover(open);
	} else if (mcp_request_running(&open->discover)) {
		open->first_failure = *err;
	} else {
		open_fail(open, err);
	}
}

/* -- what the server says about itself ------------------------------------------------------------------- */

static void read_capabilities(struct mcp_server_facts *facts)
{
	_cleanup_json_ struct json_doc doc = { 0 };
	const struct json *root;

	if (json_parse(&doc, facts->capabilities, NULL, NULL) < 0)
		return;
	root = json_root(&doc);
	facts->tools = json_is(json_get(root, STR("tools")), JSON_OBJECT);
	facts->prompts = json_is(json_get(root, STR("prompts")), JSON_OBJECT);
	facts->resources = json_is(json_get(root, STR("resources")), JSON_OBJECT);
	facts->logging = json_is(json_get(root, STR("logging")), JSON_OBJECT);
	facts->completions = json_is(json_get(root, STR("completions")), JSON_OBJECT);
	facts->tools_changed = json_bool_or(json_pointer(root, STR("/tools/listChanged")), false);
	facts->resources_subscribe = json_bool_or(json_pointer(root, STR("/resources/subscribe")), false);
}

/* `members` are of a copy in the facts' arena. serverInfo is a member (legacy, and drafts of the modern
 * result) or in `_meta`. */
static void read_facts(struct mcp_client *client, const struct jsonrpc_members *members,
		       enum mcp_revision revision)
{
	struct mcp_server_facts *facts = &client->facts;
	struct arena *arena = &client->facts_arena;
	const struct json_member *capabilities = jsonrpc_member_find(members, STR("capabilities"));
	struct jsonrpc_members meta = { 0 };
	struct str info = jsonrpc_member(members, STR("serverInfo"));

	*facts = (struct mcp_server_facts){ .revision = revision, .capabilities = STR("{}") };
	if (!info.n && jsonrpc_members(jsonrpc_member(members, STR("_meta")), arena, &meta, NULL) == 0)
		info = jsonrpc_member(&meta, STR(MCP_META_SERVER_INFO));
	mcp_implementation_read(info, arena, &facts->info);
	facts->instructions = jsonrpc_member_str(members, STR("instructions"), arena);
	facts->supported = jsonrpc_member(members, STR("supportedVersions"));
	if (capabilities && capabilities->type == JSON_OBJECT)
		facts->capabilities = capabilities->raw;
	read_capabilities(facts);
}

/* The newest revision of one era in a raw array of names; false when there is none. */
static bool pick_revision(struct str array, enum mcp_era era, enum mcp_revision *ret_revision)
{
	struct jsonrpc_elements names;
	enum mcp_revision revision;
	struct str name;
	bool found = false;

	if (jsonrpc_elements(array, NULL, &names, NULL) < 0)
		return false;
	while (jsonrpc_element(&names, &name)) {
		_cleanup_arena_ struct arena arena = { 0 };

		arena_init(&arena, 0);
		if (!mcp_revision_find(jsonrpc_decode_str(name, &arena), &revision) ||
		    mcp_era_of(revision) != era || (found && revision < *ret_revision))
			continue;
		*ret_revision = revision;
		found = true;
	}
	return found;
}

/* -- server/discover ------------------------------------------------------------------------------------- */

/* A result without supportedVersions proves nothing: lax legacy servers answer any method with {}. */
static void discover_result(struct mcp_open *open, struct str result)
{
	struct mcp_client *client = open->client;
	struct jsonrpc_members members;
	struct str supported;
	enum mcp_revision revision;
	struct err err;

	if (jsonrpc_members(arena_copy(&client->facts_arena, result), &client->facts_arena, &members, NULL) <
	    0)
		members = (struct jsonrpc_members){ 0 };
	supported = jsonrpc_member(&members, STR("supportedVersions"));
	if (pick_revision(supported, MCP_MODERN, &revision)) {
		read_facts(client, &members, revision);
		open_succeed(open);
		return;
	}
	if (supported.n)
		err_set(&err, ERR_PROTOCOL,
			"server/discover: the server speaks no modern revision that we do: %.*s",
			STR_ARG(supported));
	else
		err_set(&err, ERR_PROTOCOL, "server/discover: the answer has no supportedVersions");
	open_discover_failed(open, &err);
}

/* -32022 with a list is a modern server's answer, even when the list names the version that we sent: once
 * more with what it wants. */
static bool discover_retry(struct mcp_open *open, const struct mcp_error *error)
{
	struct arena *arena = &open->client->facts_arena;
	struct jsonrpc_members data;
	enum mcp_revision revision;

	if (error->code != MCP_UNSUPPORTED_VERSION || open->version_retried ||
	    jsonrpc_members(arena_copy(arena, error->data), arena, &data, NULL) < 0 ||
	    !pick_revision(jsonrpc_member(&data, STR("supported")), MCP_MODERN, &revision))
		return false;
	open->version_retried = true;
	open->client->facts.revision = revision;
	open_discover(open);
	return true;
}

static void discover_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct mcp_open *open = request->owner;

	timer_stop(&open->probe);
	if (answer->code == ERR_CLOSED)
		open_closed(open, answer, answer->outcome == MCP_OUTCOME_UNKNOWN);
	else if (answer->code == 0)
		discover_result(open, answer->result);
	else if (answer->code != ERR_UPSTREAM || !discover_retry(open, &answer->error))
		open_discover_failed(open, &answer->err);
}

static void probe_over(struct timer *timer)
{
	struct mcp_open *open = container_of(timer, struct mcp_open, probe);

	open_initialize(open);
}

/* What is left of open_ms. */
static struct mcp_patience open_patience(const struct mcp_open *open)
{
	uint64_t due = open->started + open->options.open_ms, now = loop_now(open->client->loop);
	uint64_t left = due > now ? due - now : 1;

	return (struct mcp_patience){ left, left, open->options.open_setting, open->options.open_setting };
}

static void open_discover(struct mcp_open *open)
{
	const struct mcp_message message = { .method = MCP_DISCOVER };
	const struct mcp_patience patience = open_patience(open);

	if (!mcp_has(open->client->facts.revision, MCP_HAS_REQUEST_META))
		open->client->facts.revision = MCP_LATEST;
	mcp_request_start(&open->discover, open->client, &message, &patience, NULL, discover_answered, open);
	if (open_may_initialize(open))
		timer_start(&open->probe, open->client->loop, open->options.probe_ms, probe_over);
}

/* -- initialize ------------------------------------------------------------------------------------------ */

static void initialize_result(struct mcp_open *open, struct str result)
{
	struct mcp_client *client = open->client;
	struct jsonrpc_members members;
	enum mcp_revision revision;
	struct str version;
	struct err err;
	int r;

	if (jsonrpc_members(arena_copy(&client->facts_arena, result), &client->facts_arena, &members, NULL) <
	    0) {
		err_set(&err, ERR_PROTOCOL, "initialize: the result is no object");
		open_initialize_failed(open, &err);
		return;
	}
	version = jsonrpc_member_str(&members, STR("protocolVersion"), &client->facts_arena);
	if (!mcp_revision_find(version, &revision) || mcp_era_of(revision) != MCP_LEGACY) {
		err_set(&err, ERR_PROTOCOL,
			"initialize: the server wants protocol version \"%.*s\", which this client does not speak",
			STR_ARG(version));
		open_initialize_failed(open, &err);
		return;
	}
	read_facts(client, &members, revision);
	r = mcp_client_notify(client, MCP_INITIALIZED, (struct str){ 0 });
	if (r < 0) {
		err_set(&err, r, "initialize: the server does not take notifications/initialized");
		open_fail(open, &err);
		return;
	}
	open_succeed(open);
}

static void initialize_answered(struct mcp_request *request, const struct mcp_answer *answer)
{
	struct mcp_open *open = request->owner;

	if (answer->code == 0)
		initialize_result(open, answer->result);
	else if (answer->code == ERR_CLOSED)
		open_closed(open, answer, mcp_request_running(&open->discover));
	else
		open_initialize_failed(open, &answer->err);
}

static void open_initialize(struct mcp_open *open)
{
	struct mcp_client *client = open->client;
	struct str version = mcp_revision_name(open->options.legacy_revision);
	const struct mcp_patience patience = open_patience(open);
	const struct json_member params[] = {
		{ .key = STR("protocolVersion"),
		  .raw = arena_concat(&client->facts_arena, STR("\""), version, STR("\"")) },
		{ .key = STR("capabilities"), .raw = client->client_capabilities },
		{ .key = STR("clientInfo"), .raw = client->client_info },
	};
	const struct mcp_message message = { MCP_INITIALIZE, params, ARRAY_LEN(params), { 0 }, MCP_LOG_NONE };

	open->initialize_tried = true;
	mcp_request_start(&open->initialize, client, &message, &patience, NULL, initialize_answered, open);
}

/* -- the start ------------------------------------------------------------------------------------------- */

void mcp_open_start(struct mcp_open *open, struct mcp_client *client, const struct mcp_open_options *options,
		    mcp_open_done *done, void *owner)
{
	BUG_ON(client->open || mcp_era_of(options->legacy_revision) != MCP_LEGACY);
	*open = (struct mcp_open){
		.client = client,
		.options = *options,
		.started = loop_now(client->loop),
		.done = done,
		.owner = owner,
	};
	client->client_info = arena_copy(&client->facts_arena, options->client_info);
	client->client_capabilities = arena_copy(&client->facts_arena, options->capabilities);
	if (options->order == MCP_PREFER_DISCOVER || options->order == MCP_FORCE_DISCOVER)
		open_discover(open);
	else
		open_initialize(open);
}

void mcp_open_cancel(struct mcp_open *open)
{
	if (open->client)
		open_stop(open);
}

#include "base/base.h"
#include "mcp/client.h"

#include "json/writer.h"
#include "mcp/client_private.h"

enum {
	OUT_KEEP = 64 * 1024, /* storage of the outgoing message that is kept between messages, in bytes */
	METHOD_WITHIN = 256,  /* where to look for what tells a request or notification from an answer */
};

void mcp_client_init(struct mcp_client *client, struct loop *loop, struct mcp_transport *transport,
		     const struct mcp_client_limits *limits, const struct mcp_client_events *events,
		     void *owner)
{
	static const struct mcp_client_events none;

	*client = (struct mcp_client){
		.loop = loop,
		.transport = transport,
		.limits = *limits,
		.events = events ? events : &none,
		.owner = owner,
		.client_capabilities = STR("{}"),
		.facts.revision = MCP_LATEST_LEGACY,
	};
	arena_init(&client->facts_arena, 0);
	buf_init(&client->out, limits->message_max + 1);
	for (size_t i = 0; i < MCP_CLIENT_BUCKETS; i++)
		list_init(&client->pending[i]);
	list_init(&client->refused);
}

void mcp_client_release(struct mcp_client *client)
{
	if (!client->loop)
		return;
	BUG_ON(client->pending_count > 0 || !list_empty(&client->refused));
	buf_release(&client->out);
	arena_release(&client->facts_arena);
	*client = (struct mcp_client){ 0 };
}

/* -- sending --------------------------------------------------------------------------------------------- */

struct buf *client_out(struct mcp_client *client)
{
	BUG_ON(client->out.n > 0);
	return &client->out;
}

static int send_line(struct mcp_client *client)
{
	if (client->closed)
		return ERR_CLOSED;
	jsonrpc_make_line(&client->out, 0);
	if (buf_append_char(&client->out, '\n') < 0)
		return ERR_TOO_LARGE;
	return client->transport->send(client->transport, buf_str(&client->out));
}

int client_send(struct mcp_client *client)
{
	int code = send_line(client);

	/* Now, and not before the next message: that may be long in coming. */
	buf_clear(&client->out, OUT_KEEP);
	if (code == 0)
		client->sent++;
	return code;
}

int client_send_unasked(struct mcp_client *client)
{
	int code = client_send(client);

	if (code < 0)
		client->unsent++;
	return code;
}

int mcp_client_notify(struct mcp_client *client, enum mcp_method method, struct str params)
{
	jsonrpc_write_notification(client_out(client), mcp_method_name(method), params);
	return client_send_unasked(client);
}

void mcp_client_answer(struct mcp_client *client, struct str id, struct str result)
{
	jsonrpc_write_result(client_out(client), id, result);
	client_send_unasked(client);
}

void mcp_client_refuse(struct mcp_client *client, struct str id, const struct mcp_error *error)
{
	jsonrpc_write_error(client_out(client), id, error->code, error->message, error->data);
	client_send_unasked(client);
}

/* -- receiving ------------------------------------------------------------------------------------------- */

struct mcp_request *client_pending(const struct mcp_client *client, struct str id)
{
	struct mcp_request *request;
	uint64_t number;

	if (str_to_u64(id, &number) < 0)
		return NULL;
	list_for_each(request, &client->pending[number % MCP_CLIENT_BUCKETS], node)
		if (request->id == number)
			return request;
	return NULL;
}

/* The digits of an id that is a number as text; others as they are. */
static struct str id_unquoted(struct str id)
{
	return id.n > 2 && id.p[0] == '"' ? str_slice(id, 1, id.n - 2) : id;
}

/* The running request that a server means by an id or progress token. */
static struct mcp_request *client_meant(struct mcp_client *client, struct str id)
{
	struct mcp_request *request = client_pending(client, id);

	if (request)
		return request;
	request = client_pending(client, id_unquoted(id));
	if (request)
		client->respelled++;
	return request;
}

/* The request that runs when no other does. */
static struct mcp_request *client_only_request(const struct mcp_client *client)
{
	for (size_t i = 0; client->pending_count == 1 && i < MCP_CLIENT_BUCKETS; i++)
		if (!list_empty(&client->pending[i]))
			return list_first(&client->pending[i], struct mcp_request, node);
	return NULL;
}

static void count_noise(struct mcp_client *client, struct str line)
{
	if (client->noise++ == 0)
		client->noise_first =
			arena_copy(&client->facts_arena, str_slice(line, 0, client->limits.noise_keep));
}

static void receive_progress(struct mcp_client *client, const struct jsonrpc_message *message,
			     struct arena *arena)
{
	struct mcp_progress progress;
	struct str token;
	struct mcp_request *request;

	if (!mcp_progress_read(message->params, arena, &progress, &token))
		return;
	request = client_meant(client, token);
	if (request)
		request_progressed(request, &progress, message->params);
}

static void receive_notification(struct mcp_client *client, const struct jsonrpc_message *message,
				 struct arena *arena)
{
	enum mcp_method method = mcp_method_find(message->method);
	struct jsonrpc_members params;

	if (method == MCP_PROGRESS) {
		receive_progress(client, message, arena);
	} else if (method == MCP_CANCELLED) {
		if (client->events->request_cancelled &&
		    jsonrpc_members(message->params, arena, &params, NULL) == 0)
			client->events->request_cancelled(client, jsonrpc_member(&params, STR("requestId")));
	} else if (client->events->notification) {
		client->events->notification(client, method, message);
	}
}

/* A modern server sends no requests, and gets no answers if it does (2026-07-28, basic, "Messages"). */
static void receive_request(struct mcp_client *client, const struct jsonrpc_message *message)
{
	enum mcp_method method = mcp_method_find(message->method);
	struct err err;

	if (client->open && !mcp_has(client->facts.revision, MCP_HAS_SERVER_REQUESTS)) {
		client->strays++;
		return;
	}
	if (method == MCP_PING) {
		mcp_client_answer(client, message->id, STR("{}"));
		return;
	}
	if (client->events->request && client->events->request(client, method, message))
		return;
	err_set(&err, ERR_UNSUPPORTED, "%.*s: this client does not offer that", STR_ARG(message->method));
	mcp_client_refuse(
		client, message->id,
		&(struct mcp_error){ .code = MCP_METHOD_NOT_FOUND, .message = str_of(err.message) });
}

static void count_unasked(struct mcp_client *client, struct str id)
{
	if (client->unasked++ == 0)
		client->unasked_first =
			arena_copy(&client->facts_arena, str_slice(id, 0, client->limits.noise_keep));
}

/* Whether a request had that id, now or once. */
static bool was_asked(const struct mcp_client *client, struct str id)
{
	uint64_t number;

	return str_to_u64(id_unquoted(id), &number) == 0 && number > 0 && number <= client->last_id;
}

/* An answer to a request that was cancelled, or to none that there ever was. */
static void receive_stray(struct mcp_client *client, struct str id)
{
	struct mcp_request *only = client_only_request(client);

	client->strays++;
	if (was_asked(client, id))
		return;
	count_unasked(client, id);
	if (only)
		request_fail(
			only, ERR_PROTOCOL, MCP_OUTCOME_UNKNOWN,
			"the server answered with the id %.*s, which no request has, while only this one ran",
			STR_ARG(str_slice(id, 0, client->limits.noise_keep)));
}

/* An error that has no id is about a message that the server could not read, or about a notification, which
 * must not be answered. */
static void receive_anonymous(struct mcp_client *client, const struct jsonrpc_message *message,
			      struct arena *arena)
{
	struct mcp_request *only = client_only_request(client);

	client->strays++;
	count_unasked(client, STR("null"));
	if (only && (message->error_code == MCP_PARSE_ERROR || message->error_code == MCP_INVALID_REQUEST))
		request_answered(only, message, arena);
}

static void receive_response(struct mcp_client *client, const struct jsonrpc_message *message,
			     struct arena *arena)
{
	struct mcp_request *request = client_meant(client, message->id);

	if (request)
		request_answered(request, message, arena);
	else if (message->id.n)
		receive_stray(client, message->id);
	else
		receive_anonymous(client, message, arena);
}

/* The id that an unusable line answers to. Nothing else that a server writes has an id of ours and no
 * method. */
static struct str unusable_id(struct str line, const struct jsonrpc_fault *fault)
{
	if (fault->code == 0)
		return fault->id;
	if (str_find(line, STR("\"method\"")) != STR_NONE)
		return (struct str){ 0 };
	return fault->id.n ? fault->id : jsonrpc_peek_id(line);
}

/* What looks like the answer to a request and cannot be used ends the request now rather than at its
 * deadline. */
static void receive_unusable(struct mcp_client *client, struct str line, const struct jsonrpc_fault *fault)
{
	struct mcp_request *request = client_meant(client, unusable_id(line, fault));

	if (!request && fault->code == 0 && !fault->id.n)
		request = client_only_request(client);
	if (!request) {
		count_noise(client, line);
		return;
	}
	request_fail(request, ERR_PROTOCOL, MCP_OUTCOME_UNKNOWN, "the server's answer is malformed: %s",
		     fault->err.message);
}

/* Those that run now, not those that their callbacks start. In a bucket they stand in the order of their
 * ids. */
static void fail_all_too_long(struct mcp_client *client)
{
	uint64_t last = client->last_id;

	for (size_t i = 0; i < MCP_CLIENT_BUCKETS; i++)
		while (!list_empty(&client->pending[i])) {
			struct mcp_request *request =
				list_first(&client->pending[i], struct mcp_request, node);

			if (request->id > last)
				break;
			request_fail_long(request, MCP_OUTCOME_UNKNOWN,
					  "the server wrote a message, perhaps the answer,");
		}
}

static void receive_too_long(struct mcp_client *client, struct str beginning)
{
	struct str id = jsonrpc_peek_id(beginning);
	struct mcp_request *request = client_meant(client, id);

	client->too_long++;
	if (request) {
		request_fail_long(request, MCP_OUTCOME_UNKNOWN, "the server's answer is");
		return;
	}
	count_noise(client, beginning);
	if (!was_asked(client, id) &&
	    str_find(str_slice(beginning, 0, METHOD_WITHIN), STR("\"method\"")) == STR_NONE)
		fail_all_too_long(client);
}

static void receive_one(struct mcp_client *client, struct str text)
{
	_cleanup_arena_ struct arena arena = { 0 };
	const struct json_limits limits = { client->limits.message_max, client->limits.depth_max };
	struct jsonrpc_message message;
	struct jsonrpc_fault fault;

	arena_init(&arena, 0);
	if (jsonrpc_read(text, &limits, &arena, &message, &fault) < 0) {
		receive_unusable(client, text, &fault);
		return;
	}
	client->received++;
	switch (message.kind) {
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		receive_response(client, &message, &arena);
		break;
	case JSONRPC_NOTIFICATION:
		receive_notification(client, &message, &arena);
		break;
	case JSONRPC_REQUEST:
		receive_request(client, &message);
		break;
	}
}

/* Batches exist in 2025-03-26 only; a server that sends them elsewhere is understood all the same. */
static void receive_batch(struct mcp_client *client, struct str text)
{
	const struct json_limits limits = { client->limits.message_max, client->limits.depth_max };
	_cleanup_arena_ struct arena arena = { 0 };
	const struct str *items;
	size_t count;

	arena_init(&arena, 0);
	if (jsonrpc_split(text, &limits, &arena, client->limits.batch_max, &items, &count, NULL) < 0 ||
	    count == 0) {
		count_noise(client, text);
		return;
	}
	for (size_t i = 0; i < count; i++)
		receive_one(client, items[i]);
}

void mcp_client_receive(struct mcp_client *client, struct str line, bool too_long)
{
	line = str_trim(line);
	if (!line.n)
		return;
	if (too_long)
		receive_too_long(client, line);
	else if (jsonrpc_is_batch(line))
		receive_batch(client, line);
	else
		receive_one(client, line);
}

/* Those that there are now: what their callbacks start is for the loop, or an owner that tries again would
 * never return. */
static void deliver_refusals(struct mcp_client *client)
{
	struct list_node now;

	list_init(&now);
	while (!list_empty(&client->refused)) {
		struct list_node *node = client->refused.next;

		list_remove(node);
		list_append(&now, node);
	}
	while (!list_empty(&now))
		request_deliver_refusal(list_first(&now, struct mcp_request, node));
}

void mcp_client_closed(struct mcp_client *client, const struct err *why)
{
	if (client->closed)
		return;
	client->closed = true;
	if (why)
		client->closed_why = *why;
	else
		err_set(&client->closed_why, ERR_CLOSED, "the server closed the connection");
	/* Callbacks may cancel other requests; none can be added any more. */
	for (size_t i = 0; i < MCP_CLIENT_BUCKETS; i++)
		while (!list_empty(&client->pending[i]))
			request_fail(
				list_first(&client->pending[i], struct mcp_request, node), ERR_CLOSED,
				MCP_OUTCOME_UNKNOWN,
				"the request was sent, and whether the server acted on it is unknown: %s",
				client->closed_why.message);
	deliver_refusals(client);
}

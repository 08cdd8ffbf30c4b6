#include "base/base.h"
#include "api/caller.h"

#include "mcp/jsonrpc.h"

struct caller_text {
	struct str field;   /* lower case, as http_field() wants it */
	struct str context; /* name of the member */
	size_t offset;	    /* of the text in struct hub_caller */
};

static const struct caller_text texts[] = {
	{ STR_INIT("x-mcpx-session"), STR_INIT("sessionId"), offsetof(struct hub_caller, session) },
	{ STR_INIT("x-mcpx-parent-session"), STR_INIT("parentSessionId"),
	  offsetof(struct hub_caller, parent_session) },
	{ STR_INIT("x-mcpx-call"), STR_INIT("callId"), offsetof(struct hub_caller, call_id) },
	{ STR_INIT("x-mcpx-cwd"), STR_INIT("cwd"), offsetof(struct hub_caller, cwd) },
	{ STR_INIT("x-mcpx-run"), STR_INIT("run"), offsetof(struct hub_caller, run) },
};

static struct str *text_at(struct hub_caller *caller, const struct caller_text *text)
{
	return (struct str *)((char *)caller + text->offset);
}

static int take_pid(struct hub_caller *caller, struct str digits)
{
	uint64_t number;

	if (str_to_u64(digits, &number) < 0 || number > INT32_MAX)
		return ERR_INVALID;
	caller->pid = (uint32_t)number;
	return 0;
}

struct hub_caller caller_of_request(const struct http_request *request)
{
	struct hub_caller caller = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*text_at(&caller, &texts[i]) = http_field(request, texts[i].field);
	(void)take_pid(&caller, http_field(request, STR("x-mcpx-pid")));
	return caller;
}

struct hub_caller caller_for_session(const struct http_request *request, struct arena *arena)
{
	struct hub_caller caller = caller_of_request(request);

	caller.call_id = str_make(NULL, 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct str *text = text_at(&caller, &texts[i]);

		*text = arena_copy(arena, *text);
	}
	return caller;
}

static const struct caller_text *text_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (str_eq(texts[i].context, name))
			return &texts[i];
	return NULL;
}

static int take_member(struct hub_caller *caller, const struct json_member *member, struct arena *arena,
		       struct err *err)
{
	const struct caller_text *text = text_named(member->key);
	struct str value;

	if (member->type == JSON_NULL)
		return 0;
	if (str_eq(member->key, STR("pid")))
		return take_pid(caller, member->raw) < 0
			       ? err_set(err, ERR_INVALID, "\"context.pid\" must be the number of a process")
			       : 0;
	if (!text)
		return err_set(
			err, ERR_INVALID,
			"\"context\" has no member \"%.*s\"; there are: sessionId, parentSessionId, callId, cwd, pid, run",
			STR_ARG(member->key));
	if (member->type != JSON_STRING)
		return err_set(err, ERR_INVALID, "\"context.%.*s\" must be a string", STR_ARG(member->key));
	value = jsonrpc_decode_str(member->raw, arena);
	if (value.n)
		*text_at(caller, text) = value;
	return 0;
}

int caller_take_context(struct hub_caller *caller, struct str context, struct arena *arena, struct err *err)
{
	struct jsonrpc_members members = { 0 };

	if (jsonrpc_members(context, arena, &members, err) < 0)
		return err_prefix(err, ERR_INVALID, "context");
	for (size_t i = 0; i < members.count; i++)
		if (take_member(caller, &members.at[i], arena, err) < 0)
			return err->code;
	return 0;
}

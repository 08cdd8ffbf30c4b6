/*
 * A call is told when it ends. What had begun when the run ended is told then, as unknown: whoever reads why
 * a run failed must know what it may already have done.
 */
#include "base/base.h"
#include "exec/run_private.h"
#include "json/json.h"
#include "mcp/jsonrpc.h"
#include "text/utf8.h"

enum {
	CALLS_MAX = 10000,	    /* of one run that are told; more are counted only */
	CALL_NAMES_MAX = 1024,	    /* bytes of what names one; one with more is counted only */
	CALL_ERROR_MAX = 1000,	    /* bytes of one call's error: the script has the whole */
	CALL_LINES_MAX = 16 * 1024, /* bytes of the text that lists calls */
	CALL_LINE_ERROR_MAX = 200,  /* bytes of an error within it */
};

static struct str raw_member(const struct json_member *members, size_t count, struct str key,
			     enum json_type type)
{
	const struct json_member *member = json_member_find(members, count, key);

	return member && member->type == type ? member->raw : str_make(NULL, 0);
}

/* One that is a boolean, whichever. */
static struct str raw_bool(const struct json_member *members, size_t count, struct str key)
{
	const struct json_member *member = json_member_find(members, count, key);

	return member && (member->type == JSON_TRUE || member->type == JSON_FALSE) ? member->raw
										   : str_make(NULL, 0);
}

static void free_call(struct exec_call *call)
{
	list_remove(&call->node);
	free((char *)call->id.p);
	free((char *)call->members.p);
	free((char *)call->name.p);
	free(call);
}

static struct str own(struct str s)
{
	char *copy = xmalloc(s.n + 1);

	memcpy(copy, s.n ? s.p : "", s.n);
	copy[s.n] = '\0';
	return str_make(copy, s.n);
}

static struct str call_name(struct arena *arena, struct str server, struct str tool)
{
	return arena_concat(arena, jsonrpc_decode_str(server, arena), STR("."),
			    jsonrpc_decode_str(tool, arena));
}

void exec_calls_begin(struct exec_process *process, const struct json_member *members, size_t count)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct str id = raw_member(members, count, STR("id"), JSON_NUMBER);
	struct str server = raw_member(members, count, STR("server"), JSON_STRING);
	struct str tool = raw_member(members, count, STR("tool"), JSON_STRING);
	struct str hash = raw_member(members, count, STR("argsHash"), JSON_STRING);
	struct str hint = raw_bool(members, count, STR("destructiveHint"));
	struct exec_call *call;

	if (!id.n || !server.n || !tool.n || !hash.n)
		return;
	process->run->outcome.calls++;
	if (process->calls_listed == CALLS_MAX || id.n + server.n + tool.n + hash.n > CALL_NAMES_MAX)
		return;
	process->calls_listed++;
	arena_init(&arena, 0);
	call = xnew(struct exec_call);
	call->began = loop_now(process->loop);
	call->id = own(id);
	call->name = own(call_name(&arena, server, tool));
	call->members = own(arena_printf(&arena, "\"server\":%.*s,\"tool\":%.*s,\"argsHash\":%.*s%s%.*s",
					 STR_ARG(server), STR_ARG(tool), STR_ARG(hash),
					 hint.n ? ",\"destructiveHint\":" : "", STR_ARG(hint)));
	list_append(&process->calls, &call->node);
}

/* -- ends ------------------------------------------------------------------------------------------------ */

struct ending {
	bool ok;
	struct str outcome; /* "answered", "not-sent", "unknown"; empty when it went well */
	struct str error;
	uint64_t duration_ms;
};

/* The oldest lines go when there are too many: the last calls say more about a failure. */
static void list_call(struct exec_process *process, const struct exec_call *call, const struct ending *ending)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct buf *lines = &process->call_lines;
	struct str line, error = utf8_cut(ending->error, CALL_LINE_ERROR_MAX);

	arena_init(&arena, 0);
	error = str_slice(error, 0, str_find_char(error, '\n'));
	if (ending->ok)
		line = arena_printf(&arena, "  %.*s  ok, %llu ms\n",
				    STR_ARG(utf8_cut(call->name, CALL_LINE_ERROR_MAX)),
				    (unsigned long long)ending->duration_ms);
	else
		line = arena_printf(&arena, "  %.*s  %s: %.*s\n",
				    STR_ARG(utf8_cut(call->name, CALL_LINE_ERROR_MAX)),
				    str_eq(ending->outcome, STR("unknown")) ? "outcome unknown" : "failed",
				    STR_ARG(error));
	while (lines->n + line.n > lines->max)
		buf_drop(lines, str_find_char(buf_str(lines), '\n') + 1);
	buf_append(lines, line);
}

static void tell_call(struct exec_process *process, const struct exec_call *call, const struct ending *ending)
{
	_cleanup_buf_ struct buf value = { .max = ARENA_MAX_DEFAULT };
	struct exec_outcome *outcome = &process->run->outcome;

	outcome->calls_failed += !ending->ok;
	outcome->calls_unknown += str_eq(ending->outcome, STR("unknown"));
	list_call(process, call, ending);
	buf_printf(&value, "{%.*s,\"durationMs\":%llu,\"ok\":%s", STR_ARG(call->members),
		   (unsigned long long)ending->duration_ms, ending->ok ? "true" : "false");
	if (ending->outcome.n) {
		buf_append(&value, STR(",\"outcome\":"));
		json_quote(&value, ending->outcome);
	}
	if (!ending->ok) {
		buf_append(&value, STR(",\"error\":"));
		json_quote(&value, utf8_cut(ending->error, CALL_ERROR_MAX));
	}
	buf_append_char(&value, '}');
	exec_tell(process, EXEC_FRAME_CALL, buf_str(&value), call->name, LOG_LEVEL_INFO);
}

static struct exec_call *find_call(struct exec_process *process, struct str id)
{
	struct exec_call *call;

	list_for_each(call, &process->calls, node)
		if (str_eq(call->id, id))
			return call;
	return NULL;
}

void exec_calls_end(struct exec_process *process, const struct json_member *members, size_t count)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct exec_call *call = find_call(process, raw_member(members, count, STR("id"), JSON_NUMBER));
	struct ending ending = { .ok = str_eq(raw_bool(members, count, STR("ok")), STR("true")) };

	if (!call)
		return;
	arena_init(&arena, 0);
	(void)str_to_u64(raw_member(members, count, STR("durationMs"), JSON_NUMBER), &ending.duration_ms);
	ending.outcome = jsonrpc_decode_str(raw_member(members, count, STR("outcome"), JSON_STRING), &arena);
	ending.error = jsonrpc_decode_str(raw_member(members, count, STR("error"), JSON_STRING), &arena);
	tell_call(process, call, &ending);
	free_call(call);
}

void exec_calls_lose(struct exec_process *process)
{
	while (!list_empty(&process->calls)) {
		struct exec_call *call = list_first(&process->calls, struct exec_call, node);
		const struct ending ending = {
			.outcome = STR("unknown"),
			.error = STR("the run ended before the call was answered"),
			.duration_ms = loop_now(process->loop) - call->began,
		};

		tell_call(process, call, &ending);
		free_call(call);
	}
}

void exec_calls_release(struct exec_process *process)
{
	while (!list_empty(&process->calls))
		free_call(list_first(&process->calls, struct exec_call, node));
	buf_release(&process->call_lines);
}

void exec_calls_init(struct exec_process *process)
{
	list_init(&process->calls);
	buf_init(&process->call_lines, CALL_LINES_MAX);
}

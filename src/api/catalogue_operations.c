/* Operations that look tools up: they wait for servers that were never seen, and answer from what is known
 * otherwise. */
#include "base/base.h"
#include "api/api.h"
#include "mcp/jsonrpc.h"

struct ready_state {
	struct hub_ready ready;
};

static void ready_cancelled(struct api_call *call)
{
	struct ready_state *state = call->state;

	hub_ready_cancel(&state->ready);
}

struct hub_wait api_wait_for(const struct api_call *call, struct str namespaces)
{
	return (struct hub_wait){
		.only = namespaces,
		.deadline_ms =
			settings_duration(call->api->settings,
					  namespaces.n ? SETTING_POOL_START_TIMEOUT : SETTING_CATALOG_WAIT),
	};
}

void api_when_ready(struct api_call *call, void (*then)(struct hub_ready *ready))
{
	struct ready_state *state = arena_new(call->arena, struct ready_state);
	bool selects = operation_input_find(call->operation, STR("ns")) != NULL;
	struct hub_wait wait = api_wait_for(call, selects ? api_input_str(call, STR("ns")) : STR(""));

	call->state = state;
	call->cancelled = ready_cancelled;
	hub_ready_start(&state->ready, call->api->hub, &wait, then, call);
}

/* -- tools and search ------------------------------------------------------------------------------------ */

static void write_member_of(const struct jsonrpc_members *members, struct str key, struct json_writer *w)
{
	struct str raw = jsonrpc_member(members, key);

	if (raw.n)
		json_member_raw(w, key, raw);
}

static void write_tool(struct api_call *call, const struct catalogue_snapshot *snapshot,
		       const struct catalogue_tool *tool, int score, struct json_writer *w)
{
	const struct hub_server *server = hub_server_find(call->api->hub, snapshot->namespace, NULL);
	_cleanup_arena_ struct arena arena = { 0 };
	struct jsonrpc_members members = { 0 };

	arena_init(&arena, 0);
	(void)jsonrpc_members(tool->raw, &arena, &members, NULL);
	json_write_object_begin(w);
	json_member_str(w, STR("namespace"), snapshot->namespace);
	json_member_str(w, STR("server"), server ? server->name : snapshot->namespace);
	json_member_str(w, STR("tool"), tool->name);
	json_member_str(w, STR("function"), tool->function);
	if (tool->repeats)
		json_member_bool(w, STR("repeats"), true);
	write_member_of(&members, STR("title"), w);
	write_member_of(&members, STR("description"), w);
	write_member_of(&members, STR("inputSchema"), w);
	write_member_of(&members, STR("outputSchema"), w);
	write_member_of(&members, STR("annotations"), w);
	write_member_of(&members, STR("execution"), w);
	write_member_of(&members, STR("icons"), w);
	write_member_of(&members, STR("_meta"), w);
	if (score >= 0)
		json_member_i64(w, STR("score"), score);
	json_write_object_end(w);
}

/* "namespace", or "namespace.tool" for one tool by any of its names. */
struct tool_selection {
	const struct hub_server *server; /* NULL: all */
	struct str tool;		 /* empty: all of it */
};

/* No tool of that name is something else than a server without tools. */
static int check_tool(const struct tool_selection *selection, struct err *err)
{
	const struct catalogue_snapshot *snapshot = selection->server->snapshot;
	struct str namespace = snapshot->namespace, nearest;

	if (catalogue_find(snapshot, selection->tool))
		return 0;
	nearest = catalogue_nearest(snapshot, selection->tool);
	if (nearest.n)
		return err_set(err, ERR_NOT_FOUND, "no tool is called \"%.*s.%.*s\"; did you mean %.*s.%.*s?",
			       STR_ARG(namespace), STR_ARG(selection->tool), STR_ARG(namespace),
			       STR_ARG(nearest));
	return err_set(err, ERR_NOT_FOUND,
		       "no tool is called \"%.*s.%.*s\"; ask for %.*s alone to see those it has",
		       STR_ARG(namespace), STR_ARG(selection->tool), STR_ARG(namespace));
}

static int select_tools(struct api_call *call, struct tool_selection *selection, struct err *err)
{
	struct str name = api_input_str(call, STR("ns"));
	size_t dot = str_find_char(name, '.');

	*selection = (struct tool_selection){ 0 };
	if (!name.n)
		return 0;
	selection->server = hub_server_find(call->api->hub, name, NULL);
	if (selection->server)
		return hub_server_check_listed(selection->server, err);
	selection->server = hub_server_find(call->api->hub, str_slice(name, 0, dot), err);
	if (!selection->server)
		return ERR_NOT_FOUND;
	if (dot != STR_NONE)
		selection->tool = str_from(name, dot + 1);
	if (hub_server_check_listed(selection->server, err) < 0)
		return err->code;
	return selection->tool.n ? check_tool(selection, err) : 0;
}

static bool selects(const struct tool_selection *selection, const struct catalogue_snapshot *snapshot,
		    const struct catalogue_tool *tool)
{
	if (!selection->server)
		return true;
	return selection->server->snapshot == snapshot &&
	       (!selection->tool.n || catalogue_find(snapshot, selection->tool) == tool);
}

static void tools_ready(struct hub_ready *ready)
{
	struct api_call *call = ready->owner;
	const struct catalogue_snapshot *const *snapshots;
	struct tool_selection selection;
	struct json_writer w;
	struct buf out;
	struct err err;
	size_t count;

	if (select_tools(call, &selection, &err) < 0) {
		api_answer_error(call, &err);
		return;
	}
	snapshots = hub_snapshots(call->api->hub, call->arena, &count);
	api_writer_init(&w, &out);
	json_write_array_begin(&w);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < snapshots[i]->count; k++)
			if (selects(&selection, snapshots[i], &snapshots[i]->tools[k]))
				write_tool(call, snapshots[i], &snapshots[i]->tools[k], -1, &w);
	json_write_array_end(&w);
	api_answer_json(call, 200, &out);
}

void api_tools(struct api_call *call)
{
	api_when_ready(call, tools_ready);
}

static void search_ready(struct hub_ready *ready)
{
	struct api_call *call = ready->owner;
	int64_t limit = api_input_int(call, STR("limit"), settings_int(call->settings, SETTING_SEARCH_LIMIT));
	const struct catalogue_snapshot *const *snapshots;
	struct catalogue_hit *hits;
	struct json_writer w;
	struct buf out;
	size_t count, room = 0, found;

	snapshots = hub_snapshots(call->api->hub, call->arena, &count);
	for (size_t i = 0; i < count; i++)
		room += snapshots[i]->count;
	hits = arena_array(call->arena, struct catalogue_hit, room + 1);
	found = catalogue_search(snapshots, count, api_input_str(call, STR("q")), hits,
				 size_min((size_t)limit, room));
	api_writer_init(&w, &out);
	json_write_array_begin(&w);
	for (size_t i = 0; i < found; i++)
		write_tool(call, hits[i].snapshot, hits[i].tool, (int)hits[i].score, &w);
	json_write_array_end(&w);
	api_answer_json(call, 200, &out);
}

void api_search(struct api_call *call)
{
	api_when_ready(call, search_ready);
}

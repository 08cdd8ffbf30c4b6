/* Which tools the door lists, and under which names: no name stands there twice. */
#include "base/base.h"
#include "api/door_private.h"
#include "base/map.h"
#include "mcp/jsonrpc.h"

enum {
	ESCAPED_LONGEST = 6, /* bytes that one byte of a string takes at most: \\u0001 */
	RENAMED_EXTRA = 16,  /* {"name":"",} */
	LIST_COPIES = 16,    /* of a snapshot, at most: its tools, renamed, and views of their members */
};

/* The Tool object with another name: every other member as the server wrote it, in its order. */
static struct str tool_renamed(struct str raw, struct str name, struct arena *arena)
{
	struct jsonrpc_members members;
	struct json_writer w;
	struct buf out;
	struct str text;

	/* A name grows at most sixfold when it is escaped. */
	buf_init(&out, raw.n + RENAMED_EXTRA + ESCAPED_LONGEST * name.n);
	json_writer_init(&w, &out, false);
	if (jsonrpc_members(raw, arena, &members, NULL) < 0)
		return raw;
	json_write_object_begin(&w);
	json_member_str(&w, STR("name"), name);
	for (size_t i = 0; i < members.count; i++)
		if (!str_eq(members.at[i].key, STR("name")))
			json_member_raw(&w, members.at[i].key, members.at[i].raw);
	json_write_object_end(&w);
	text = arena_copy(arena, buf_str(&out));
	buf_release(&out);
	return text;
}

bool door_passes_through(const struct api_door *door, const struct hub_server *server)
{
	for (size_t i = 0; i < door->passthrough.count; i++)
		if (str_eq(door->passthrough.items[i], server->name) ||
		    str_eq(door->passthrough.items[i], server->namespace))
			return true;
	return false;
}

/* -- names ----------------------------------------------------------------------------------------------- */

/* What the facade has keeps its name; a server's tool that is called so stands there with its namespace. */
static bool has_own_name(const struct api_door *door, const struct hub_server *server,
			 const struct catalogue_tool *tool)
{
	return door_passes_through(door, server) && !tool->repeats &&
	       (door->full || !operation_tool(tool->name));
}

static struct str name_at_door(const struct api_door *door, const struct hub_server *server,
			       const struct catalogue_tool *tool)
{
	return has_own_name(door, server, tool) ? tool->name : tool->listed_name;
}

static int refuse_name(const struct hub_server *one, const struct hub_server *other, struct str name,
		       struct err *err)
{
	return err_set(
		err, ERR_EXISTS,
		"the servers %.*s and %.*s both have a tool called \"%.*s\": leave one of them out of mcp.passthrough "
		"(--passthrough), or hide its tool with excludeTools",
		STR_ARG(one->name), STR_ARG(other->name), STR_ARG(name));
}

int door_check_name(const struct api_door *door, struct str name, struct err *err)
{
	const struct hub_server *server, *holder = NULL;

	list_for_each(server, &door->api->hub->servers, node) {
		const struct catalogue_tool *tool =
			server->snapshot ? catalogue_find(server->snapshot, name) : NULL;

		if (!tool || (!door->full && !door_passes_through(door, server)) ||
		    !str_eq(name_at_door(door, server, tool), name))
			continue;
		if (holder)
			return refuse_name(holder, server, name, err);
		holder = server;
	}
	return 0;
}

/* Every name of `passthrough` is that of a server. */
static int check_servers(const struct api_door *door, struct err *err)
{
	for (size_t i = 0; i < door->passthrough.count; i++)
		if (!hub_server_find(door->api->hub, door->passthrough.items[i], err))
			return err_prefix(err, ERR_INVALID, "mcp.passthrough (--passthrough)");
	return 0;
}

/* -- the list -------------------------------------------------------------------------------------------- */

static void list_server(struct api_door *door, struct map *names, struct hub_server *server)
{
	if (!server->snapshot || (!door->full && !door_passes_through(door, server)))
		return;
	for (size_t i = 0; i < server->snapshot->count; i++) {
		const struct catalogue_tool *tool = &server->snapshot->tools[i];
		struct str name = name_at_door(door, server, tool);
		const struct hub_server *holder = map_get(names, name);

		if (holder) {
			if (!door->names_err.code)
				(void)refuse_name(holder, server, name, &door->names_err);
			continue;
		}
		map_set(names, name, server);
		door->tools[door->tool_count++] = str_eq(name, tool->name)
							  ? arena_copy(&door->list_arena, tool->raw)
							  : tool_renamed(tool->raw, name, &door->list_arena);
	}
}

static void list_facade(struct api_door *door)
{
	for (size_t i = 0; i < OPERATION_COUNT && !door->full; i++) {
		_cleanup_buf_ struct buf out = { 0 };
		struct json_writer w;

		if (!operations[i].tool.n)
			continue;
		api_writer_init(&w, &out);
		operation_write_tool(&operations[i], &w);
		door->tools[door->tool_count++] = arena_copy(&door->list_arena, buf_str(&out));
	}
}

/* The list is made once for each state of the catalogue: clients ask for it more often than it changes. */
void door_make_list(struct api_door *door)
{
	struct hub *hub = door->api->hub;
	struct hub_server *server;
	size_t room = OPERATION_COUNT, held = ARENA_MAX_DEFAULT;
	struct map names;

	if (door->generation == hub->generation)
		return;
	arena_release(&door->list_arena);
	door->tool_count = 0;
	door->generation = hub->generation;
	door->names_err = (struct err){ 0 };
	(void)check_servers(door, &door->names_err);
	/* Each server's list has a maximum of its own, and there may be many servers. */
	list_for_each(server, &hub->servers, node)
		if (server->snapshot) {
			room += server->snapshot->count;
			held += LIST_COPIES * server->snapshot->arena.total;
		}
	arena_init(&door->list_arena, held);
	door->tools = arena_array(&door->list_arena, struct str, room);
	list_facade(door);
	map_init(&names, hub->limits.seed);
	list_for_each(server, &hub->servers, node)
		list_server(door, &names, server);
	map_release(&names);
}

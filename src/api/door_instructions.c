/* What the door tells a client at the start: what it is, and what the servers say of themselves whose tools
 * it shows. */
#include "base/base.h"
#include "api/door_private.h"
#include "text/utf8.h"

static const char facade_text[] =
	"mcpx gives you every configured MCP server through a few tools. mcpx_namespaces lists the servers, mcpx_search finds tools, "
	"mcpx_types shows how they are called. Prefer mcpx_exec for anything that takes more than one call: write a short TypeScript "
	"snippet in which each namespace is an object and each tool a function that takes one object, for example "
	"`const { content } = await files.read_text_file({ path: 'README.md' }); return content.length`. Only what the snippet returns, emits or logs "
	"comes back. Pass bytes to `await artifact(name, data)` and return its link instead of the bytes.";

/* The server, when it is shown and has something to say; the facade shows none. */
static const struct catalogue_snapshot *told_by(const struct api_door *door, const struct hub_server *server)
{
	if (!server->snapshot || !server->snapshot->instructions.n ||
	    (!door->full && !door_passes_through(door, server)))
		return NULL;
	return server->snapshot;
}

static void write_separator(struct buf *out)
{
	if (out->n)
		buf_append(out, STR("\n\n"));
}

/* Where a tool of a server is called as one of ours is, the name alone would not say so. */
static void write_hidden(const struct api_door *door, const struct hub_server *server, struct buf *out)
{
	for (size_t i = 0; server->snapshot && i < OPERATION_COUNT; i++) {
		const struct catalogue_tool *tool =
			operations[i].tool.n ? catalogue_find(server->snapshot, operations[i].tool) : NULL;

		if (!tool || door->full || !door_passes_through(door, server) ||
		    !str_eq(tool->name, operations[i].tool))
			continue;
		write_separator(out);
		buf_printf(out, "%.*s is the tool of mcpx; the tool of that name of the server %.*s is %.*s.",
			   STR_ARG(tool->name), STR_ARG(server->name), STR_ARG(tool->listed_name));
	}
}

/* Each server gets an equal share of what all may take, so that none can crowd out another. */
static void write_told(const struct hub_server *server, struct str told, size_t share, struct buf *out)
{
	struct str shown = utf8_cut(told, share);

	write_separator(out);
	buf_printf(out, "Instructions of the server %.*s", STR_ARG(server->name));
	if (!str_eq(server->name, server->namespace))
		buf_printf(out, " (%.*s)", STR_ARG(server->namespace));
	buf_append(out, STR(":\n"));
	buf_append(out, shown);
	if (shown.n < told.n)
		buf_printf(out, " [the first %zu of %zu bytes: mcp.instructionsMax]", shown.n, told.n);
}

void door_describe(struct api_door *door)
{
	size_t max = settings_bytes(door->api->settings, SETTING_MCP_INSTRUCTIONS_MAX), count = 0;
	const struct hub_server *server;
	struct json_writer w;
	struct buf out;

	api_writer_init(&w, &out);
	if (!door->full)
		buf_append(&out, str_of(facade_text));
	list_for_each(server, &door->api->hub->servers, node) {
		write_hidden(door, server, &out);
		count += told_by(door, server) != NULL;
	}
	list_for_each(server, &door->api->hub->servers, node)
		if (told_by(door, server) && max > 0)
			write_told(server, told_by(door, server)->instructions, max / count, &out);
	buf_release(&door->instructions);
	door->instructions = out;
	door->server.instructions = buf_str(&door->instructions);
}

/*
 * door.h - the MCP server that the daemon is: which tools it lists, and what calling one does.
 *
 * In mode code-mode it lists the facade: one tool for each operation of the table that has one. In mode full
 * it lists every tool of every upstream server as "<namespace>__<tool>". The servers named in `passthrough`
 * show their tools under their own names in either mode. One door serves the MCP endpoint; each `mcpx serve`
 * brings a door of its own with its own mode.
 *
 * A name stands for one tool. Where a passed-through tool is called as one of the facade, the facade's keeps
 * the name, the other is listed with its namespace, and the instructions say so. Where two passed-through
 * servers have one name, or there is no server of a name in `passthrough`, the list is an error that says
 * which: a client must not call one tool when it means another.
 */
#ifndef API_DOOR_H
#define API_DOOR_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mcp/server.h"
#include "settings/settings.h"

struct api;
struct http_request;

/* What an mcp_server_call at a door owns, first in a larger struct: how it is stopped when its caller is
 * gone. */
struct door_work {
	void (*cancelled)(struct mcp_server_call *call, struct str reason);
};

struct api_door {
	struct api *api;
	struct mcp_server server;
	bool full;
	struct setting_items passthrough;
	struct arena arena;	 /* of the texts that the server points to */
	struct arena list_arena; /* of the list below */
	struct str *tools;	 /* raw Tool objects */
	size_t tool_count;
	uint64_t generation;  /* of the hub, that the list was made for; UINT64_MAX: none yet */
	struct err names_err; /* why that is no list; code 0: it is one */
	struct buf instructions;
};

/* `mode` is a CHOICE_SERVE_MODE_ constant. The items are copied. */
void door_init(struct api_door *door, struct api *api, unsigned mode, struct setting_items passthrough);
/* Takes the limits that the settings now say. For a door whose peers come and go: a channel keeps those that
 * it began with. */
void door_adjust(struct api_door *door);
void door_release(struct api_door *door);
/* Whether it can list what it is asked to, as far as is known: ERR_INVALID for an unknown server, ERR_EXISTS
 * for a name that two servers have. */
int door_check(struct api_door *door, struct err *err);
/* The servers or their tools are others: tells the clients. */
void door_tools_changed(struct api_door *door);

/* Handles GET /v1/stdio: upgrades the connection to a channel of lines and serves MCP on it, with the query's
 * mode, passthrough and pageSize. */
void door_stdio_request(struct api *api, struct http_request *request);
/* Ends the channels as soon as nothing runs on them any more; api->program.emptied tells when the last has
 * ended. */
void door_stdio_drain(struct api *api);
/* Closes them all at once. Not from within a callback of one. */
void door_stdio_close(struct api *api);
/* Tells the clients of all channels. */
void door_stdio_tools_changed(struct api *api);

#endif
